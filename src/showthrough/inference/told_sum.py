"""A weighing as a sum in sentences: what is weighed, what the counts give, what the persons can give.

Counts of one release that weigh the same are told together, by their value or by their group, whichever is shorter;
where many are left the first ones stand for them, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from showthrough.inference import words
from showthrough.inference.problem import STATEMENT
from showthrough.inference.weighing import Weighed
from showthrough.inference.words import Crowd, Naming

SHOWN = 6  # terms that are told one by one where the text is short
_KINDS = 4  # different bests of persons


@dataclass(frozen=True)
class Term:
    """Published counts that are told together: all these values in all these groups of one release."""

    weight: int
    values: tuple[int, ...]
    groups: tuple[int, ...]
    low: int  # what is published, in all
    high: int


def terms_of(naming: Naming, weighed: Weighed) -> list[Term]:
    """Published counts of one weight and release: values over the same groups, or groups with the same values."""
    problem, weights = naming.problem, weighed.weights
    by_value: dict[tuple[int, int, int], list[int]] = {}
    by_group: dict[tuple[int, int, int], list[int]] = {}
    known: dict[tuple[int, int], tuple[int, int]] = {}
    for r in np.flatnonzero((weights != 0) & (problem.row_release != STATEMENT)).tolist():
        weight, release = int(weights[r]), int(problem.row_release[r])
        value, group = int(problem.row_value[r]), int(problem.row_group[r])
        by_value.setdefault((weight, release, value), []).append(group)
        by_group.setdefault((weight, release, group), []).append(value)
        known[value, group] = int(weighed.rows.lower[r]), int(weighed.rows.upper[r])
    one, other = _gathered(by_value), _gathered(by_group)
    found = [(weight, values, groups) for (weight, _, values), groups in other.items()]
    if len(one) < len(other):
        found = [(weight, values, groups) for (weight, _, groups), values in one.items()]
    told = []
    for weight, values, groups in found:
        counts = [known[v, g] for v in values for g in groups]
        told.append(Term(weight, values, groups, sum(c[0] for c in counts), sum(c[1] for c in counts)))
    return told


class Sum:
    """Weights on rows, against what everybody can give at most."""

    def __init__(self, naming: Naming, weighed: Weighed) -> None:
        self.naming, self.weighed = naming, weighed
        self.problem = naming.problem
        self.rows = np.flatnonzero(weighed.weights)

    def text(self) -> str:
        """The argument in sentences."""
        if self._only_said():
            return f"It is known: {self.problem.statement(int(self.rows[0]))}."
        total = self.weighed.rows.reach(self.weighed.weights)
        given = "The published counts give" if self.weighed.rows.exact else "What is known gives at least"
        opening = f"Add up, with these weights: {self._weights()}. {given} {total}."
        most = total + self.weighed.surplus
        if self.weighed.overfull:
            return f"{opening} But whoever has what, the persons can give at most {most}{self._givers()}."
        return (
            f"{opening} The persons can give at most {most} too{self._givers()}. So everybody gives as much as they "
            "can: whatever gives less is impossible."
        )

    def conclusion(self, id: object, values: Mapping[int, str], left: str) -> str:
        """What a person must give, and that it gives less with some values, by their variables; what that leaves."""
        if self._only_said():
            told = words.listed(dict.fromkeys(values.values()), joint="or")
            return f"So {id} cannot have {told}{f': only {left} is left' if left else ''}."
        first = next(iter(values))
        must = int(self.weighed.best[self.problem.signature[first]])
        told = words.listed(dict.fromkeys(values.values()), joint="or")
        less = f"only {int(self.weighed.score[first])}" if len(values) == 1 else "less"
        return f"{id} must give {must}, and with {told} would give {less}{f': only {left} is left' if left else ''}."

    def _only_said(self) -> bool:
        """Whether it is a statement about one person, which needs no sum."""
        if self.rows.size != 1 or self.weighed.overfull or not self._statements():
            return False
        said = self.problem.rows.stated
        own = np.unique(self.problem.signature[said.variable[said.row == self.rows[0]]])
        return own.size == 1 and int(self.problem.weight[own[0]]) == 1

    def _weights(self) -> str:
        told = [
            *(self._term(t) for t in terms_of(self.naming, self.weighed)),
            *(self._stated(r) for r in self._statements()),
        ]
        shown = told if self.naming.most is None else told[:SHOWN]
        rest = f"; and {len(told) - len(shown)} more such terms" if len(shown) < len(told) else ""
        return "; ".join(shown) + rest

    def _statements(self) -> list[int]:
        return [int(r) for r in self.rows if self.problem.row_release[r] == STATEMENT]

    def _term(self, term: Term) -> str:
        values = self.naming.listed((self.naming.history.value_name(v) for v in term.values), joint="or")
        published = f"{term.low}" if term.low == term.high else f"{term.low} to {term.high}"
        return f"{term.weight:+d} × {values} in {self.naming.groups(term.groups)} ({published} published)"

    def _stated(self, row: int) -> str:
        low, high = int(self.weighed.rows.lower[row]), int(self.weighed.rows.upper[row])
        known = f"{low}" if low == high else f"{low} to {high}"
        return f"{int(self.weighed.weights[row]):+d} × what is known: {self.problem.statement(row)} ({known})"

    def _givers(self) -> str:
        """Who gives how much at most, unless that is too much to tell."""
        best = self.weighed.best
        kinds = np.unique(best[best != 0])[::-1].tolist()
        if not kinds or (len(kinds) > _KINDS and self.naming.most is not None):
            return ""
        parts = [self._giver(kind, self.naming.persons(np.flatnonzero(best == kind).tolist())) for kind in kinds]
        return f": {', '.join(parts)}, nobody else more than 0"

    def _giver(self, most: int, people: Crowd) -> str:
        who = self.naming.listed(people)
        if len(people) == 1:
            return f"{most} from person {who}"
        return f"{most} from each of {words.number(people)} ({who})"


def _gathered(found: dict[tuple[int, int, int], list[int]]) -> dict[tuple[int, int, tuple[int, ...]], tuple[int, ...]]:
    """What has the same list, put together: (weight, release, list) → whose it is."""
    gathered: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
    for (weight, release, own), items in found.items():
        gathered.setdefault((weight, release, tuple(items)), []).append(own)
    return {key: tuple(own) for key, own in gathered.items()}
