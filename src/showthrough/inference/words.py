"""Persons, lists and groups in words: what every sentence of a proof is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.inference.history import History
from showthrough.inference.problem import Problem
from showthrough.table.arrays import Ints

LISTED = 12
LETTERS = 160  # of a list of groups, whose names may be long: beyond it they are counted


@dataclass(frozen=True)
class Crowd:
    """Persons by their ids, and how many more there are whom nobody names.

    >>> listed(Crowd((1, 2), 40))
    '1, 2 and 40 unnamed'
    """

    ids: tuple[Any, ...] = ()
    unnamed: int = 0

    def __len__(self) -> int:
        return len(self.ids) + self.unnamed


def listed(items: Iterable[Any] | Crowd, *, joint: str = "and", most: int | None = LISTED) -> str:
    """1, 2 and 3; long lists end in "and 40 others"."""
    texts = [str(i) for i in (items.ids if isinstance(items, Crowd) else items)]
    texts += [f"{items.unnamed} unnamed"] if isinstance(items, Crowd) and items.unnamed else []
    if most is not None and len(texts) > most:
        texts = [*texts[: most - 2], f"{len(texts) - most + 2} others"]
    if len(texts) < 2:
        return "".join(texts)
    return ", ".join(texts[:-1]) + f" {joint} {texts[-1]}"


class Naming:
    """Names the persons and groups of one history; signatures are told as the persons that share them."""

    def __init__(self, history: History, problem: Problem, of_person: Ints) -> None:
        self.history = history
        self.problem = problem
        self.most: int | None = LISTED
        self._order = np.argsort(of_person, kind="stable")
        self._first = np.searchsorted(of_person[self._order], np.arange(problem.signatures + 1))

    def at_length(self) -> Naming:
        """The same, with every list in full."""
        found = copy(self)
        found.most = None
        return found

    def persons(self, signatures: Iterable[int]) -> Crowd:
        """The persons behind signatures."""
        people = [self._order[self._first[s] : self._first[s + 1]] for s in signatures]
        if not people:
            return Crowd()
        history, everybody = self.history, np.sort(np.concatenate(people))
        known = everybody[everybody < history.named]
        count = everybody.size if history.weight is None else int(history.weight[everybody].sum())
        return Crowd(tuple(history.ids[int(p)] for p in known), count - known.size)

    def groups(self, groups: Sequence[int]) -> str:
        """Group 1 of D1; groups 1 and 2 of D2; 40 groups of D3, where their names would take too much room."""
        release = self.history.names[self.history.release_of(groups[0])]
        if len(groups) == 1:
            return f"group {self.history.group_name(groups[0])} of {release}"
        names = listed((self.history.group_name(g) for g in groups), most=self.most)
        if self.most is not None and len(names) > LETTERS:
            return f"{len(groups)} groups of {release}"
        return f"groups {names} of {release}"

    def listed(self, items: Iterable[Any] | Crowd, *, joint: str = "and") -> str:
        """A list as long as this naming makes them."""
        return listed(items, joint=joint, most=self.most)


def within(people: Crowd) -> str:
    """The persons in brackets."""
    return f" ({listed(people)})" if people else ""


def persons(people: Crowd) -> str:
    """Person 1; persons 1 and 2."""
    return f"{'person' if len(people) == 1 else 'persons'} {listed(people)}"


def are(people: Crowd) -> str:
    """The verb of some persons."""
    return "is" if len(people) == 1 else "are"


def number(people: Crowd) -> str:
    """How many persons."""
    return "nobody" if not people else "1 person" if len(people) == 1 else f"{len(people)} persons"


def number_of(people: Crowd) -> str:
    """How many of them."""
    return "one" if len(people) == 1 else f"{len(people)} of them"
