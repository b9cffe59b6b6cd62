"""Weighings of counts in sentences that a steward understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from showthrough.errors import InternalError
from showthrough.inference import weighing
from showthrough.inference.arrays import Flags, Ints
from showthrough.inference.history import ABSENT, History
from showthrough.inference.problem import Problem

LISTED = 12


def listed(items: Iterable[Any], *, joint: str = "and") -> str:
    """1, 2 and 3; long lists end in "and 40 others"."""
    texts = [str(i) for i in items]
    if len(texts) > LISTED:
        texts = [*texts[: LISTED - 2], f"{len(texts) - LISTED + 2} others"]
    if len(texts) < 2:
        return "".join(texts)
    return ", ".join(texts[:-1]) + f" {joint} {texts[-1]}"


class Narrator:
    """Tells weighings of one history; signatures are told as the persons that share them."""

    def __init__(self, history: History, problem: Problem, of_person: Ints) -> None:
        self.history = history
        self.problem = problem
        self._order = np.argsort(of_person, kind="stable")
        self._first = np.searchsorted(of_person[self._order], np.arange(problem.signatures + 1))

    def persons(self, signatures: Iterable[int]) -> list[Any]:
        """The ids of the persons behind signatures."""
        people = [self._order[self._first[s] : self._first[s + 1]] for s in signatures]
        return [self.history.ids[int(p)] for p in np.sort(np.concatenate(people))] if people else []

    def groups(self, groups: Sequence[int]) -> str:
        """Group 1 of D1; groups 1 and 2 of D2."""
        release = self.history.names[self.history.release_of(groups[0])]
        word = "group" if len(groups) == 1 else "groups"
        return f"{word} {listed(self.history.group_label(g) for g in groups)} of {release}"

    def tell(self, weights: Ints, possible: Flags) -> str:
        """A cut if the weights are one, otherwise the sum itself."""
        rows = np.flatnonzero(weights)
        plus, minus = rows[weights[rows] > 0], rows[weights[rows] < 0]
        value = np.unique(self.problem.row_value[rows])
        releases = [np.unique(self.problem.row_release[part]) for part in (plus, minus)]
        simple = value.size == 1 and np.abs(weights[rows]).max() == 1
        one_each = releases[0].size == 1 and releases[1].size <= 1
        if simple and one_each and not np.array_equal(releases[0], releases[1]):
            return self._cut(plus, minus, int(value[0]), possible)
        return self._sum(rows, weights, possible)

    def missing_in(self, signature: int, code: int) -> str:
        """Why a value is outside the common subset."""
        h = self.history
        for group in self._own_groups(signature):
            values = h.values_in(group)
            if h.values[code] not in values:
                where = self.groups([group])
                return f"{h.values[code]} is not among the values of {where}, where this person is: {listed(values)}."
        raise InternalError("A value outside the common subset is missing in no group.")

    def only_common(self, signature: int) -> str:
        """Why a value is certain by the sets."""
        groups = self._own_groups(signature)
        where = listed(self.groups([g]) for g in groups)
        return f"It is the only value {'common to' if len(groups) > 1 else 'of'} {where}, where this person is."

    def others_excluded(self, signature: int, removed: Sequence[int]) -> str:
        """Why one value is left when the arguments above excluded the others."""
        problem, values = self.problem, self.history.values
        where = listed(self.groups([g]) for g in self._own_groups(signature))
        span = range(int(problem.start[signature]), int(problem.start[signature + 1]))
        common = listed((values[int(problem.value[v])] for v in span), joint="or")
        gone = listed(values[int(problem.value[v])] for v in removed)
        verb = "are" if len(removed) > 1 else "is"
        return f"This person is in {where}, so only {common} are possible; {gone} {verb} excluded by the counts above."

    def _own_groups(self, signature: int) -> list[int]:
        return [int(g) for g in self.problem.groups[:, signature] if g != ABSENT]

    def _cut(self, plus: Ints, minus: Ints, value: int, possible: Flags) -> str:
        problem, word = self.problem, self.history.values[value]
        in_plus, in_minus = self._holders(plus, possible), self._holders(minus, possible)
        free = self.persons(sorted(in_plus - in_minus))
        shared = self.persons(sorted(in_plus & in_minus))
        others = self.persons(sorted(in_minus - in_plus))
        n_plus, n_minus = int(problem.count[plus].sum()), int(problem.count[minus].sum())
        left = self.groups([int(g) for g in problem.row_group[plus]])
        publish = "publishes" if plus.size == 1 else "publish"
        opening = f"{left[0].upper()}{left[1:]} {publish} {n_plus} × {word}"
        if not minus.size:
            if n_plus > len(free):
                return f"{opening}, but only {len(free)} of the persons there can have it{_in(free)}."
            whom = "that person has" if len(free) == 1 else "each of them has"
            rest = self._barred(plus, in_plus, value)
            return f"{opening}, and only {listed(free)} of the persons there can have it{rest}: {whom} {word}."
        right = self.groups([int(g) for g in problem.row_group[minus]])
        verb = "publishes" if minus.size == 1 else "publish"
        apart = f"{listed(free)} {'is' if len(free) == 1 else 'are'} not in {right}; " if free else ""
        rest = "the others who can have it" if free else "the persons who can have it"
        text = f"{opening}. {apart and apart[0].upper() + apart[1:]}{rest}{_in(shared)} are all in {right}, "
        text = text if apart else text.replace(". the persons", ". The persons")
        text += f"which {verb} {n_minus} in all. "
        if n_plus > n_minus + len(free):
            return text + f"That is not enough: {n_plus} cannot be more than {n_minus} + {len(free)}."
        ends = []
        if free:
            ends.append(f"{listed(free)} must have {word}")
        if others:
            ends.append(f"nobody else in {right} has {word}, so not {listed(others, joint='or')}")
        sum_text = f"{n_plus} = {n_minus} + {len(free)}, so " if free else "None is left over: "
        return text + sum_text + ", and ".join(ends) + "."

    def _barred(self, rows: Ints, holders: set[int], value: int) -> str:
        """Who in the groups of the rows cannot have the value because another group lacks it."""
        problem = self.problem
        inside = np.isin(problem.groups, problem.row_group[rows]).any(axis=0)
        may = {int(s) for s in problem.signature[problem.value == value]}
        barred = self.persons(int(s) for s in np.flatnonzero(inside) if int(s) not in may | holders)
        if not barred:
            return ""
        their = "is, in another release, in a group" if len(barred) == 1 else "are, in another release, in groups"
        return f" ({listed(barred)} {their} without it)"

    def _holders(self, rows: Ints, possible: Flags) -> set[int]:
        """Signatures that may still have the value of the rows."""
        hit = np.isin(self.problem.row, rows).any(axis=0) & possible
        return {int(s) for s in self.problem.signature[hit]}

    def _sum(self, rows: Ints, weights: Ints, possible: Flags) -> str:
        problem = self.problem
        terms = [
            f"{int(weights[r]):+d} × {self.history.values[int(problem.row_value[r])]} in "
            f"{self.groups([int(problem.row_group[r])])} ({int(problem.count[r])} published)"
            for r in rows
        ]
        score = weighing.scores(problem, weights)
        best = weighing.best_scores(problem, possible, score)
        reach = weighing.surplus(problem, best, weights)
        total = int(sum(int(problem.count[r]) * int(weights[r]) for r in rows))
        text = f"Add up, with these weights: {'; '.join(terms)}. The published counts give {total}. "
        if reach < 0:
            return text + f"But whoever has what, the persons can give at most {total + reach}."
        return text + (
            "Whoever has what, the persons cannot give more than that, and they give it only if everybody has "
            "a value with the highest weight open to them: values of lower weight are impossible."
        )


def _in(people: Sequence[Any]) -> str:
    return f" ({listed(people)})" if people else ""
