"""Options that take a list: ``--tables 2024.csv 2025.csv`` is ``--tables 2024.csv --tables 2025.csv``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from typer.core import TyperCommand

LISTS = ("--tables",)


class WithLists(TyperCommand):
    """A command some of whose options take everything up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Called by Click."""
        return super().parse_args(ctx, repeated(args, LISTS))


def repeated(args: Sequence[str], lists: Collection[str]) -> list[str]:
    """The arguments with each option of ``lists`` before every entry of its list.

    >>> repeated(["a.csv", "--tables", "1.csv", "2.csv", "--quiet"], ["--tables"])
    ['a.csv', '--tables', '1.csv', '--tables', '2.csv', '--quiet']
    """
    found: list[str] = []
    option, entries = "", 0
    for argument in args:
        if argument.startswith("-") and argument != "-":
            option, entries = argument if argument in lists else "", 0
        elif option:
            if entries:
                found.append(option)
            entries += 1
        found.append(argument)
    return found
