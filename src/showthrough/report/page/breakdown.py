"""Breakdowns: parts of the population with how many of them are exposed; small parts are merged, never left blank.

A blank can be found by subtraction. So whatever a shareable page counts in a part is nobody, or `LEAST` persons and
more, and the parts always add up to the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

LEAST = 10


@dataclass(frozen=True)
class Slice:
    """Some persons (about so many, where it is an expectation) and how many of them are certain, or 50 % sure."""

    label: str
    persons: float
    certain: int
    p50: int
    merged: int = 1  # how many parts it stands for

    def share(self, measure: str) -> float:
        """The share of its persons that are exposed."""
        return min(1.0, float(getattr(self, measure)) / self.persons) if self.persons else 0.0


@dataclass(frozen=True)
class Breakdown:
    """Parts that add up to everybody; ``measure`` is what they are compared by."""

    name: str
    parts: tuple[Slice, ...]
    measure: str
    ordered: bool = False

    @property
    def whole(self) -> Slice:
        """All parts together."""
        return _together(self.parts, "everybody")

    @property
    def merged(self) -> int:
        """How many parts share a line with others."""
        return sum(part.merged for part in self.parts if part.merged > 1)


def measure_of(parts: Sequence[Slice], *, shareable: bool) -> str | None:
    """What the parts can be compared by: certain persons if there are enough to tell apart, else those at 50 %."""
    least = 2 * LEAST if shareable else 1
    whole = _together(parts, "")
    return next((m for m in ("certain", "p50") if getattr(whole, m) >= least), None)


def merged(parts: Sequence[Slice], measure: str, *, ordered: bool, others: str, least: int = LEAST) -> list[Slice]:
    """The same parts with the small ones merged: with their neighbours if they are in order, else with each other."""
    found = [part for part in parts if part.persons > 0]
    return _with_neighbours(found, measure, least) if ordered else _with_each_other(found, measure, others, least)


def limited(parts: Sequence[Slice], measure: str, *, others: str, most: int) -> list[Slice]:
    """At most so many parts; the least exposed share a line."""
    if len(parts) <= most:
        return list(parts)
    ranked = sorted(parts, key=lambda part: (-getattr(part, measure), -part.persons))
    kept, rest = ranked[: most - 1], ranked[most - 1 :]
    return [*kept, _together(rest, others)]


def is_small(part: Slice, measure: str, least: int = LEAST) -> bool:
    """Whether a part counts somebody, but too few."""
    counts = [part.p50, part.certain] if measure == "certain" else [part.p50]
    return part.persons < least - 0.5 or any(0 < n < least for n in counts)


def _with_each_other(parts: list[Slice], measure: str, others: str, least: int) -> list[Slice]:
    kept = [part for part in parts if not is_small(part, measure, least)]
    rest = [part for part in parts if is_small(part, measure, least)]
    if not rest:
        return kept
    while kept and is_small(_together(rest, ""), measure, least):
        nearest = min(kept, key=lambda part: (getattr(part, measure) == 0, getattr(part, measure), part.persons))
        kept.remove(nearest)
        rest.append(nearest)
    together = _together(rest, others)
    return [*kept, together]


def _with_neighbours(parts: list[Slice], measure: str, least: int) -> list[Slice]:
    row = list(parts)
    while len(row) > 1 and (few := [k for k, part in enumerate(row) if is_small(part, measure, least)]):
        k = min(few, key=lambda k: row[k].persons)
        j = min((j for j in (k - 1, k + 1) if 0 <= j < len(row)), key=lambda j: row[j].persons)
        first, last = row[min(j, k)], row[max(j, k)]
        row[min(j, k) : max(j, k) + 1] = [_together([first, last], _span(first.label, last.label))]
    return row


def _span(first: str, last: str) -> str:
    """Two neighbouring ranges as one."""
    if first.startswith("under") and last.endswith("and over"):
        return "all"
    if first.startswith("under"):
        return f"under {_beyond(last)}"
    start = first.split(" to ")[0]
    return f"{start} and over" if last.endswith("and over") else f"{start} to {last.split(' to ')[-1]}"


def _beyond(label: str) -> str:
    """Where the next range begins: 25 to under 35 ends before 35."""
    return label.split(" to under ")[-1].split(" to ")[-1]


def _together(parts: Sequence[Slice], label: str) -> Slice:
    if len(parts) == 1:
        return parts[0]
    many = sum(part.merged for part in parts)
    whole = Slice(label, sum(p.persons for p in parts), sum(p.certain for p in parts), sum(p.p50 for p in parts), many)
    return replace(whole, label=label.replace("#", str(many)))
