"""Packages whose public names load on first use, as those of ``showthrough`` itself do."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # as typing has it, which takes its time to load
if TYPE_CHECKING:
    from typing import Any


class Room(ModuleType):
    """What such a package is made to be: ``_HOME`` maps each name to the file that it stands in.

    The import of a file that is called like its function (compose.py) would hide the function: it does not here.
    """

    _HOME: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_HOME"]
        if name not in home:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(import_module(home[name]), name)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return sorted(self.__dict__["_HOME"])

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in self.__dict__["_HOME"] and isinstance(value, ModuleType)):
            super().__setattr__(name, value)
