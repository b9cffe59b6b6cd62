"""The worst that a reader of one release can know, and how sure it makes: exact, over all knowledge of a kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from showthrough.criteria.counts import Counted
from showthrough.criteria.criterion import persons, text
from showthrough.criteria.implications import CKSafety, Implications
from showthrough.criteria.knowing import ASSUMPTION, Hint, WorstLevels, worst_group
from showthrough.criteria.parameters import whole
from showthrough.criteria.published import of_release
from showthrough.criteria.skyline import Skyline, SkylinePrivacy
from showthrough.errors import InputError, ParameterError
from showthrough.showing import Showable
from showthrough.table.plain import plain

_OF_SKYLINE = ("excluded", "known", "family")
_SAYS = {
    "target": "the value in question, of the target",
    "excluded": "the target does not have it",
    "implies": "if this person has it, the target has the value in question",
    "known": "this person has it",
    "family": "if this person has it, the target has it",
}


@dataclass(frozen=True, eq=False, repr=False)
class WorstCase(Showable):
    """How sure the worst knowledge of a kind makes a reader of one release."""

    exact: Fraction
    """The largest P(value | person, knowledge) of anybody."""
    kind: str
    """Which knowledge was looked at, in words."""
    sentence: str
    """The worst case in counts: no group and no value is named."""
    assumption: str
    citation: str
    knowledge: pl.DataFrame
    """The knowledge itself (internal): cells of a group, person, value and what the reader knows of them."""

    @property
    def p(self) -> float:
        """The largest P(value | person, knowledge) of anybody."""
        return float(self.exact)

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON: no group and no value."""
        told = {name: getattr(self, name) for name in ("p", "kind", "sentence", "assumption", "citation")}
        return dict(plain({**told, "exact": str(self.exact), "statements": self.knowledge.height - 1}))

    def __str__(self) -> str:
        return f"{self.sentence} {self.assumption}"

    def __repr__(self) -> str:
        return f"<WorstCase {text(self.p)}: {self.sentence}>"


def worst_case(
    release: Any,
    *,
    implications: int | None = None,
    excluded: int | None = None,
    known: int | None = None,
    family: int | None = None,
    sensitive: str | Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
) -> WorstCase:
    """The largest P(value | person) that knowledge of one kind can lead a reader of one release to.

    Either any ``implications`` (if these persons have these values, one of those has one of those), so many of them;
    or up to ``excluded`` values that the target does not have, the values of up to ``known`` others, and a ``family``
    of up to so many persons of whom none has the value unless the target has it. Takes what `check` takes.
    """
    skyline = {"excluded": excluded, "known": known, "family": family}
    given = {name: value for name, value in skyline.items() if value is not None}
    if (implications is None) == (not given):
        raise ParameterError(
            "The worst case is one of implications=K, or of excluded=L, known=K and family=M: name one of the two.",
            parameters=("implications", *_OF_SKYLINE),
        )
    for name, value in (given if given else {"implications": implications}).items():
        whole("The worst case", name, value, least=0)
    counted = of_release(release, sensitive, quasi)
    if not counted.has_values:
        raise InputError("The worst case is one of sensitive values: name their column (sensitive).")
    if counted.counts.groups == 0:
        raise InputError("The release has no groups: there is no worst case.")
    if implications is not None:
        many = int(implications)
        kind = "1 implication" if many == 1 else f"{many} implications"
        return _found(counted, Implications(counted.counts, many), kind, CKSafety.citation)
    l, k, m = (int(given.get(name, 0)) for name in _OF_SKYLINE)
    kind = f"{_values(l)} that the target does not have, {_others(k)} whose value is known, and a family of {m}"
    return _found(counted, Skyline(counted.counts, (l, k, m)), kind, SkylinePrivacy.citation)


def _found(counted: Counted, worst: WorstLevels, kind: str, citation: str) -> WorstCase:
    group, p = worst_group(worst)
    statements = worst.knowledge(group)
    told = _told(counted, statements, kind, p)
    assumption = ASSUMPTION
    if counted.real is not None:
        assumption += " Counterfeits count as persons: no knowledge of real persons alone is worse."
    if counted.suppressed:
        assumption += " Suppressed rows are in no group and are left out."
    return WorstCase(p, kind, told, assumption, citation, _frame(counted, statements))


def _told(counted: Counted, statements: list[Hint], kind: str, p: Fraction) -> str:
    """The worst case in counts."""
    target, *rest = statements
    counts, group = counted.counts, target.group
    inside = slice(*counts.start[group : group + 2])
    have = int(counts.count[inside][counts.value[inside] == target.value][0])
    size = int(counts.size[group])
    sure = f"{text(100 * float(p))} % sure" if p < 1 else "certain"
    lead = (
        f"With {kind} a reader can be {sure} of a person's value at worst: in a group of {persons(size)}, "
        f"{have} with that value"
    )
    return f"{lead}, {_knows(group, rest)}."


def _knows(group: int, statements: list[Hint]) -> str:
    """What the reader knows, in counts."""
    many = Counter(one.kind for one in statements)
    told = []
    if many["excluded"]:
        told.append(f"{_values(many['excluded'])} that the person does not have")
    for kind, where in (("known", "the values of {}"), ("implies", ""), ("family", "")):
        for own in (True, False):
            some = {(s.group, s.person) for s in statements if s.kind == kind and (s.group == group) == own}
            pairs = sum(s.kind == kind and (s.group == group) == own for s in statements)
            if not some:
                continue
            who = f"{_others(len(some))} of {'the same group' if own else 'other groups'}"
            if kind == "known":
                told.append(where.format(who))
            elif kind == "implies":
                told.append(f"{_values(pairs)} that {who} can have only if the person has that value")
            else:
                told.append(f"that {who} can have the value only if the person has it")
    return "knowing nothing else" if not told else "knowing " + _and(told)


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{'; '.join(parts[:-1])}; and {parts[-1]}"


def _values(n: int) -> str:
    return "1 value" if n == 1 else f"{n} values"


def _others(n: int) -> str:
    return "1 other person" if n == 1 else f"{n} other persons"


def _frame(counted: Counted, statements: list[Hint]) -> pl.DataFrame:
    """Statements with the cells of their groups and the values themselves."""
    own = {"person", "value", "says"}
    cells = counted.labelled(np.array([one.group for one in statements], dtype=np.int64))
    cells = cells.rename({name: f"{name} (cell)" for name in cells.columns if name in own})
    codes = [one.value for one in statements]
    labels = counted.counts.labels
    value = pl.Series(codes) if labels is None else labels.gather(codes)
    group = statements[0].group
    person = [_person(one, group) for one in statements]
    says = [_SAYS[one.kind] for one in statements]
    return cells.with_columns(pl.Series("person", person), value.alias("value"), pl.Series("says", says))


def _person(one: Hint, group: int) -> str:
    if one.group == group and one.person == 0:
        return "target"
    return f"other person {one.person} of {'the same group' if one.group == group else 'another group'}"
