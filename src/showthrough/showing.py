"""How objects show themselves in notebooks: pages stand above what they show, so who draws is told from above."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in the package itself, which loads this first
if TYPE_CHECKING:
    from typing import Any

_pages: list[str] = []


def drawn_by(module: str) -> None:
    """Name the module whose `fragment` turns objects into HTML; it is loaded when something is to be shown."""
    _pages[:] = [module]


def page_maker() -> Any:
    """The module that makes pages."""
    return import_module(_pages[0])


class Showable:
    """Something that a notebook shows as HTML."""

    def _repr_html_(self) -> str | None:
        """Called by notebooks; None where the libraries for it are missing: then they print the repr."""
        found: str | None = page_maker().fragment(self)
        return found
