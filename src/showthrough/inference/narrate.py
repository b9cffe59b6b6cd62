"""Weighings of counts in sentences that a steward understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from showthrough.errors import InternalError
from showthrough.inference.history import ABSENT, History
from showthrough.inference.problem import STATEMENT, Problem
from showthrough.inference.rows import Rows
from showthrough.inference.weighing import Weighed
from showthrough.table.arrays import Flags, Ints

LISTED = 12


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


def listed(items: Iterable[Any] | Crowd, *, joint: str = "and") -> str:
    """1, 2 and 3; long lists end in "and 40 others"."""
    texts = [str(i) for i in (items.ids if isinstance(items, Crowd) else items)]
    texts += [f"{items.unnamed} unnamed"] if isinstance(items, Crowd) and items.unnamed else []
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
        """Group 1 of D1; groups 1 and 2 of D2."""
        release = self.history.names[self.history.release_of(groups[0])]
        word = "group" if len(groups) == 1 else "groups"
        return f"{word} {listed(self.history.group_name(g) for g in groups)} of {release}"

    def tell(self, weighed: Weighed) -> str:
        """A cut if the weights are one, otherwise the sum itself."""
        weights = weighed.weights
        rows = np.flatnonzero(weights)
        plus, minus = rows[weights[rows] > 0], rows[weights[rows] < 0]
        releases = [np.unique(self.problem.row_release[part]) for part in (plus, minus)]
        simple = np.unique(self.problem.row_value[rows]).size == 1 and np.abs(weights[rows]).max() == 1
        apart = max(r.size for r in releases) == 1 and not np.array_equal(releases[0], releases[1])
        exact = self.problem.rows.exact and not (self.problem.row_release[rows] == STATEMENT).any()
        if simple and apart and exact and not self._unsure(rows):
            return _Cut(self, plus, minus, weighed).text()
        return self._sum(rows, weighed)

    def missing_in(self, signature: int, code: int) -> str:
        """Why a value is outside the common subset."""
        h = self.history
        for groups in self._places(signature):
            values = {v: None for g in groups for v in h.values_in(g)}
            if h.values[code] not in values:
                where = self._one_of(groups)
                return f"{h.values[code]} is not among the values of {where}, where this person is: {listed(values)}."
        raise InternalError("A value outside the common subset is missing in no group.")

    def only_common(self, signature: int) -> str:
        """Why a value is certain by the sets."""
        places = self._places(signature)
        where = listed(self._one_of(groups) for groups in places)
        return f"It is the only value {'common to' if len(places) > 1 else 'of'} {where}, where this person is."

    def others_excluded(self, signature: int, removed: Sequence[int]) -> str:
        """Why one value is left when the arguments above excluded the others."""
        problem, values = self.problem, self.history.values
        where = listed(self._one_of(groups) for groups in self._places(signature))
        span = range(int(problem.start[signature]), int(problem.start[signature + 1]))
        common = listed(dict.fromkeys(values[int(problem.value[v])] for v in span), joint="or")
        gone = list(dict.fromkeys(values[int(problem.value[v])] for v in removed))
        verb = "are" if len(gone) > 1 else "is"
        only = f"so only {common} are possible; {listed(gone)} {verb} excluded by the counts above."
        return f"This person is in {where}, {only}" if where else f"This person may be in no release, {only}"

    def nothing_left(self, signature: int) -> str:
        """Who has no value left."""
        return f"Nothing is left for {_persons(self.persons([signature]))}."

    def _places(self, signature: int) -> list[list[int]]:
        """For each release in which the persons surely are, the groups in which they can be."""
        places = self.problem.places
        fits = [sorted(set(places.groups_of(r, signature))) for r in range(places.releases)]
        return [groups for groups in fits if ABSENT not in groups]

    def _one_of(self, groups: list[int]) -> str:
        return self.groups(groups) if len(groups) == 1 else f"one of the {self.groups(groups)}"

    def _unsure(self, rows: Ints) -> bool:
        """Whether somebody who fits several groups could be counted in the rows."""
        if not self.problem.rows.seats:
            return False
        on = np.zeros(self.problem.rows.size, dtype=bool)
        on[rows] = True
        return bool(self.problem.unsure[self.problem.signature[self.problem.rows.touching(on)]].any())

    def _sum(self, rows: Ints, weighed: Weighed) -> str:
        terms = [self._term(int(r), int(weighed.weights[r]), weighed.rows) for r in rows]
        total = weighed.rows.reach(weighed.weights)
        given = "The published counts give" if weighed.rows.exact else "What is known gives at least"
        text = f"Add up, with these weights: {'; '.join(terms)}. {given} {total}. "
        if weighed.overfull:
            return text + f"But whoever has what, the persons can give at most {total + weighed.surplus}."
        return text + (
            "Whoever has what, the persons cannot give more than that, and they give it only if everybody has "
            f"a value{' in a group' if self._unsure(rows) else ''} with the highest weight open to them: values of "
            "lower weight are impossible."
        )

    def _term(self, row: int, weight: int, rows: Rows) -> str:
        """A weighed row with what is known of its count."""
        low, high = int(rows.lower[row]), int(rows.upper[row])
        if self.problem.row_release[row] == STATEMENT:
            known = f"{low}" if low == high else f"{low} to {high}"
            return f"{weight:+d} × the statement {self.problem.statement(row)} ({known})"
        value = self.history.values[int(self.problem.row_value[row])]
        published = f"{low} published" if low == high else f"{low} to {high} published"
        return f"{weight:+d} × {value} in {self.groups([int(self.problem.row_group[row])])} ({published})"


class _Cut:
    """One value; groups of one release against groups of another (or against nothing).

    Persons who can still have the value, by where they are and what else they can have:
    *free* in the first groups only, *shared* in both, *bound* in the second groups only and with no
    other value left, *others* in the second groups only with a choice. The sum that is told is the
    surplus of the weighing: free − bound − (first − second).
    """

    def __init__(self, narrator: Narrator, plus: Ints, minus: Ints, weighed: Weighed) -> None:
        problem = narrator.problem
        self.narrator, self.problem = narrator, problem
        self.plus, self.minus = plus, minus
        self.code = int(problem.row_value[plus[0] if plus.size else minus[0]])
        self.word = str(narrator.history.values[self.code])
        possible = weighed.alive[: problem.variables]
        choices = np.add.reduceat(possible.astype(np.int64), problem.start[:-1])
        in_plus, in_minus = self._holders(plus, possible), self._holders(minus, possible)
        only = {s for s in in_minus - in_plus if choices[s] == 1}
        self.free, self.shared = self._people(in_plus - in_minus), self._people(in_plus & in_minus)
        self.bound, self.others = self._people(only), self._people(in_minus - in_plus - only)
        self.barred = self._people(self._without(plus) - in_plus)
        self.first, self.second = int(problem.count[plus].sum()), int(problem.count[minus].sum())
        self.surplus = weighed.surplus
        if self.surplus != len(self.free) - len(self.bound) - (self.first - self.second):
            raise InternalError("A cut is told with another sum than it weighs.")

    def text(self) -> str:
        """The argument in sentences."""
        if not self.minus.size:
            return self._alone(self.plus, self.first, self.free)
        if not self.plus.size:
            return self._used_up()
        return self._both()

    def _alone(self, rows: Ints, count: int, people: Crowd) -> str:
        opening = f"{self._publishes(rows, count)}, "
        if self.surplus < 0:
            return f"{opening}but only {_number(people)} there can have it{_in(people)}."
        barred = ""
        if self.barred:
            place = (
                "is, in another release, in a group" if len(self.barred) == 1 else "are, in another release, in groups"
            )
            barred = f" ({listed(self.barred)} {place} without it)"
        whom = "that person has" if len(people) == 1 else "each of them has"
        return f"{opening}and only {_persons(people)} can have it{barred}: {whom} {self.word}."

    def _used_up(self) -> str:
        have = "has" if len(self.bound) == 1 else "have"
        opening = f"{self._publishes(self.minus, self.second)}, and {_persons(self.bound)} {have} it for certain"
        if self.surplus < 0:
            return f"{opening}: that is more than {self.second}."
        return f"{opening}: nobody else there has {self.word}, so not {listed(self.others, joint='or')}."

    def _both(self) -> str:
        right = self._groups(self.minus)
        verb = "publishes" if self.minus.size == 1 else "publish"
        parts = [f"{self._publishes(self.plus, self.first)}."]
        if self.free:
            parts.append(
                f"Of those who can have it, {_persons(self.free)} {_are(self.free)} not in {right}; the others"
            )
        else:
            parts.append("The persons who can have it")
        parts.append(f"{_in(self.shared).strip()} are all in {right}, which {verb} {self.second} in all.".strip())
        left = f"{self.second}"
        if self.bound:
            have = "has" if len(self.bound) == 1 else "have"
            parts.append(f"Of these, {_persons(self.bound)} {have} {_number_of(self.bound)} for certain.")
            left = f"{self.second} − {len(self.bound)}"
        if self.surplus < 0:
            parts.append(f"That is not enough: {self.first} cannot be more than {left} + {len(self.free)}.")
            return " ".join(parts)
        ends = []
        if self.free:
            ends.append(f"{_persons(self.free)} must have {self.word}")
        if self.others:
            ends.append(f"nobody else in {right} has {self.word}, so not {listed(self.others, joint='or')}")
        told = f"{self.first} = {left} + {len(self.free)}, so " if self.free or self.bound else "None is left over: "
        parts.append(told + ", and ".join(ends) + ".")
        return " ".join(parts)

    def _publishes(self, rows: Ints, count: int) -> str:
        where = self._groups(rows)
        return f"{where[0].upper()}{where[1:]} {'publishes' if rows.size == 1 else 'publish'} {count} × {self.word}"

    def _groups(self, rows: Ints) -> str:
        return self.narrator.groups([int(g) for g in self.problem.row_group[rows]])

    def _people(self, signatures: set[int]) -> Crowd:
        return self.narrator.persons(sorted(signatures))

    def _on(self, rows: Ints) -> Flags:
        on = np.zeros(self.problem.rows.size, dtype=bool)
        on[rows] = True
        return on

    def _holders(self, rows: Ints, possible: Flags) -> set[int]:
        """Signatures that may still have the value of the rows."""
        touching = self.problem.rows.touching(self._on(rows))
        return {int(s) for s in self.problem.signature[touching & possible]}

    def _without(self, rows: Ints) -> set[int]:
        """Signatures in the groups of the rows that cannot have the value because another group lacks it."""
        if not rows.size:
            return set()
        release = int(self.problem.row_release[rows[0]])
        signature, group = self.problem.places.fits(release)
        inside = np.zeros(self.problem.signatures, dtype=bool)
        inside[signature[np.isin(group, self.problem.row_group[rows])]] = True
        may = np.zeros(self.problem.signatures, dtype=bool)
        may[self.problem.signature[self.problem.value == self.code]] = True
        return {int(s) for s in np.flatnonzero(inside & ~may)}


def _in(people: Crowd) -> str:
    return f" ({listed(people)})" if people else ""


def _persons(people: Crowd) -> str:
    return f"{'person' if len(people) == 1 else 'persons'} {listed(people)}"


def _are(people: Crowd) -> str:
    return "is" if len(people) == 1 else "are"


def _number(people: Crowd) -> str:
    return "nobody" if not people else "1 person" if len(people) == 1 else f"{len(people)} persons"


def _number_of(people: Crowd) -> str:
    return "one" if len(people) == 1 else f"{len(people)} of them"
