"""A cut in sentences: one value, groups of one release against groups of another."""

from __future__ import annotations

import numpy as np

from showthrough.errors import InternalError
from showthrough.inference import words
from showthrough.inference.weighing import Weighed
from showthrough.inference.words import Crowd, Naming
from showthrough.table.arrays import Flags, Ints


class Cut:
    """One value; groups of one release against groups of another (or against nothing).

    Persons who can still have the value, by where they are and what else they can have:
    *free* in the first groups only, *shared* in both, *bound* in the second groups only and with no
    other value left, *others* in the second groups only with a choice. The sum that is told is the
    surplus of the weighing: free − bound − (first − second).
    """

    def __init__(self, naming: Naming, weighed: Weighed) -> None:
        problem = naming.problem
        self.naming, self.problem = naming, problem
        rows = np.flatnonzero(weighed.weights)
        plus, minus = rows[weighed.weights[rows] > 0], rows[weighed.weights[rows] < 0]
        self.plus, self.minus = plus, minus
        self.code = int(problem.row_value[plus[0] if plus.size else minus[0]])
        self.word = str(naming.history.values[self.code])
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
            return f"{opening}but only {words.number(people)} there can have it{words.within(people)}."
        barred = ""
        if self.barred:
            place = (
                "is, in another release, in a group" if len(self.barred) == 1 else "are, in another release, in groups"
            )
            barred = f" ({words.listed(self.barred)} {place} without it)"
        whom = "that person has" if len(people) == 1 else "each of them has"
        return f"{opening}and only {words.persons(people)} can have it{barred}: {whom} {self.word}."

    def _used_up(self) -> str:
        have = "has" if len(self.bound) == 1 else "have"
        opening = f"{self._publishes(self.minus, self.second)}, and {words.persons(self.bound)} {have} it for certain"
        if self.surplus < 0:
            return f"{opening}: that is more than {self.second}."
        return f"{opening}: nobody else there has {self.word}, so not {words.listed(self.others, joint='or')}."

    def _both(self) -> str:
        right = self._groups(self.minus)
        verb = "publishes" if self.minus.size == 1 else "publish"
        parts = [f"{self._publishes(self.plus, self.first)}."]
        if self.free:
            free = f"{words.persons(self.free)} {words.are(self.free)}"
            parts.append(f"Of those who can have it, {free} not in {right}; the others")
        else:
            parts.append("The persons who can have it")
        parts.append(
            f"{words.within(self.shared).strip()} are all in {right}, which {verb} {self.second} in all.".strip()
        )
        left = f"{self.second}"
        if self.bound:
            have = "has" if len(self.bound) == 1 else "have"
            parts.append(f"Of these, {words.persons(self.bound)} {have} {words.number_of(self.bound)} for certain.")
            left = f"{self.second} − {len(self.bound)}"
        if self.surplus < 0:
            parts.append(f"That is not enough: {self.first} cannot be more than {left} + {len(self.free)}.")
            return " ".join(parts)
        ends = []
        if self.free:
            ends.append(f"{words.persons(self.free)} must have {self.word}")
        if self.others:
            ends.append(f"nobody else in {right} has {self.word}, so not {words.listed(self.others, joint='or')}")
        told = f"{self.first} = {left} + {len(self.free)}, so " if self.free or self.bound else "None is left over: "
        parts.append(told + ", and ".join(ends) + ".")
        return " ".join(parts)

    def _publishes(self, rows: Ints, count: int) -> str:
        where = self._groups(rows)
        return f"{where[0].upper()}{where[1:]} {'publishes' if rows.size == 1 else 'publish'} {count} × {self.word}"

    def _groups(self, rows: Ints) -> str:
        return self.naming.groups([int(g) for g in self.problem.row_group[rows]])

    def _people(self, signatures: set[int]) -> Crowd:
        return self.naming.persons(sorted(signatures))

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
