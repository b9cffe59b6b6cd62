"""Weighings of counts in sentences that a steward understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from showthrough.errors import InternalError
from showthrough.inference import words
from showthrough.inference.history import ABSENT
from showthrough.inference.problem import STATEMENT
from showthrough.inference.told_cut import Cut
from showthrough.inference.told_filled import Filled
from showthrough.inference.told_sum import Sum
from showthrough.inference.weighing import Weighed
from showthrough.inference.words import Naming, listed
from showthrough.table.arrays import Ints


class Narrator(Naming):
    """Tells weighings of one history."""

    def tell(self, weighed: Weighed) -> tuple[str, str]:
        """A weighing in few words, and with every list at length."""
        return self._telling(self, weighed).text(), self._telling(self.at_length(), weighed).text()

    def conclude(self, weighed: Weighed, id: Any, targets: Mapping[int, str], left: str = "") -> str:
        """Why the weighing alone excludes some values (by their variables) for a person; empty if its text says so."""
        telling = self._telling(self, weighed)
        return "" if isinstance(telling, Cut) else telling.conclusion(id, targets, left)

    def is_plain(self, weighed: Weighed) -> bool:
        """Whether no weights need be told."""
        return not isinstance(self._telling(self, weighed), Sum)

    def _telling(self, naming: Naming, weighed: Weighed) -> Cut | Filled | Sum:
        """A cut if the weights are one, places that are filled if they are that, otherwise the sum itself."""
        weights, row_release = weighed.weights, self.problem.row_release
        rows = np.flatnonzero(weights)
        together = self.problem.several is not None and self.problem.several[rows].any()
        if together or (row_release[rows] == STATEMENT).any() or weighed.rows.ranged[rows].any():
            return Sum(naming, weighed)
        releases = [np.unique(row_release[part]) for part in (rows[weights[rows] > 0], rows[weights[rows] < 0])]
        simple = np.unique(self.problem.row_value[rows]).size == 1 and np.abs(weights[rows]).max() == 1
        apart = max(r.size for r in releases) == 1 and not np.array_equal(releases[0], releases[1])
        if simple and apart and not self._unsure(rows):
            return Cut(naming, weighed)
        return Filled(naming, weighed) if Filled.fits(weighed) else Sum(naming, weighed)

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
        return f"Nothing is left for {words.persons(self.persons([signature]))}."

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
