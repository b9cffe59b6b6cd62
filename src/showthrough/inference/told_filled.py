"""A weighing in which everything counts the same: places that some persons fill, in sentences.

With weights +1, as many persons can be counted in the rows as the rows publish: each of them is. With weights −1, as
many persons as the rows publish are counted there whatever they have: nobody else is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from showthrough.inference import words
from showthrough.inference.told_sum import SHOWN, Term, terms_of
from showthrough.inference.weighing import Weighed
from showthrough.inference.words import Naming


class Filled:
    """Rows that all weigh +1, or all −1, and nobody is counted in two of them at once."""

    def __init__(self, naming: Naming, weighed: Weighed) -> None:
        self.naming, self.weighed = naming, weighed
        rows = np.flatnonzero(weighed.weights)
        self.sign = int(weighed.weights[rows[0]])
        self.count = int(weighed.rows.lower[rows].sum())
        self.people = naming.persons(np.flatnonzero(weighed.best == self.sign).tolist())

    @staticmethod
    def fits(weighed: Weighed) -> bool:
        """Whether the weighing can be told like this; of exact counts, without statements."""
        weights = np.unique(weighed.weights[weighed.weights != 0])
        return weights.size == 1 and abs(weights[0]) == 1 and bool(np.isin(weighed.best, (0, weights[0])).all())

    def text(self) -> str:
        """The argument in sentences."""
        one = len(self.people) == 1
        who = f"{words.number(self.people)} ({self.naming.listed(self.people)})" if self.people else "nobody"
        if self.sign > 0:
            so = f"so {'that person' if one else 'each of them'} is"
            return f"{self._publish()}. Only {who} can be counted there{self._end(so, 'that is not enough')}."
        whole = f"{'is' if one else 'are'} counted there whatever {'it has' if one else 'they have'}"
        return f"{self._publish()}. {who} {whole}{self._end('so nobody else is', 'that is too many')}."

    def _end(self, so: str, clash: str) -> str:
        return f": {clash}" if self.weighed.overfull else f", {so}"

    def conclusion(self, id: object, values: Mapping[int, str], left: str) -> str:
        """What follows for a person: without these values it is counted there, or is not."""
        told = words.listed(dict.fromkeys(values.values()), joint="or")
        rest = f": only {left} is left" if left else ""
        if self.sign > 0:
            return f"{id} is one of them, and with {told} would not be counted there{rest}."
        return f"{id} is none of them, and with {told} would be counted there{rest}."

    def _publish(self) -> str:
        terms = terms_of(self.naming, self.weighed)
        shown = terms if self.naming.most is None else terms[:SHOWN]
        told = "; ".join(self._told(term) for term in shown)
        rest = f"; and so on for {len(terms) - len(shown)} more" if len(shown) < len(terms) else ""
        total = f"; {self.count} in all" if len(terms) > 1 else ""
        return f"{told[0].upper()}{told[1:]}{rest}{total}"

    def _told(self, term: Term) -> str:
        history, where = self.naming.history, self.naming.groups(term.groups)
        if all(len(history.values_in(g)) == len(term.values) for g in term.groups):
            verb = "has" if len(term.groups) == 1 else "have"
            return f"{where} {verb} {term.low} member{'' if term.low == 1 else 's'}"
        verb = "publishes" if len(term.groups) == 1 else "publish"
        values = self.naming.listed((history.values[v] for v in term.values), joint="or")
        return f"{where} {verb} {term.low} × {values}"
