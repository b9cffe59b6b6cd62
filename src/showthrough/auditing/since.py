"""What each release added: the history after each release, and the pairs and sets that it takes.

All of it are counts of persons, so what is told of the pieces of a history adds up to what is told of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from showthrough.auditing.bands import Bands
from showthrough.auditing.further import AskedOfSets, Further, Some
from showthrough.auditing.whole_audit import reaches
from showthrough.table.arrays import Flags

MOST_PAIRS = 45


@dataclass(frozen=True)
class HistoryState:
    """The history up to a release."""

    release: str
    bands: Bands | None  # None: not computed in the time given


@dataclass(frozen=True)
class Moves:
    """Whom the newest release lifts over 50 %, and whom it takes below."""

    lifted: int
    lowered: int


@dataclass(frozen=True)
class Pair:
    """Two releases: persons certain by them and by neither alone; None if that was not computed."""

    first: int
    second: int
    certain: int | None


@dataclass(frozen=True)
class Need:
    """Certain persons by the fewest releases that make them so; no releases: several sets of that size do."""

    releases: Some
    size: int
    persons: int
    at_least: bool = False  # so many or more


@dataclass(frozen=True)
class BeforeNewest:
    """Everybody without the newest release: the surest guess of anybody, who is certain, and who is so then or now."""

    most: float
    certain: int
    then_or_now: int


@dataclass(frozen=True)
class Needs:
    """Sets of one size: the certain persons whom fewer releases leave open, and those whom single sets make certain."""

    size: int
    open: int
    certain: Mapping[Some, int] | None  # None: not all sets could be worked out
    several: int = 0  # persons whom more than one set of this size makes certain


@dataclass(frozen=True)
class Since:
    """What each release of a history added to it; None wherever it was not computed."""

    upto: tuple[Bands | None, ...]  # after each release
    moves: Moves | None
    pairs: tuple[Pair, ...]
    sizes: tuple[Needs, ...]
    only: tuple[tuple[int, int] | None, ...]  # for each release: certain and 50 % sure persons only because of it
    before: BeforeNewest | None

    @classmethod
    def of(cls, further: AskedOfSets) -> Since:
        """Ask for it, the most important first."""
        upto, several = _upto(further), len(further.everything) > 1
        moved = _moves(further)
        found = _pairs(further) if several else ()
        sizes = _sizes(further) if several else ()
        return cls(upto, moved, found, sizes, _only_because(further) if several else (), _before(further))

    @classmethod
    def added_up(cls, parts: Sequence[Since]) -> Since:
        """Of all pieces together: what is missing of one is missing."""
        first = parts[0]
        moves = [one.moves for one in parts]
        before = [one.before for one in parts]
        return cls(
            upto=tuple(_sum(bands) for bands in zip(*(one.upto for one in parts), strict=True)),
            moves=None if None in moves else Moves(*_sums((m.lifted, m.lowered) for m in moves if m is not None)),
            pairs=tuple(
                Pair(first.pairs[k].first, first.pairs[k].second, _total(one.pairs[k].certain for one in parts))
                for k in range(len(first.pairs))
            ),
            sizes=tuple(_needs_together(own) for own in zip(*(one.sizes for one in parts), strict=False)),
            only=tuple(
                None if None in own else (sum(o[0] for o in own if o), sum(o[1] for o in own if o))
                for own in zip(*(one.only for one in parts), strict=True)
            ),
            before=None if None in before else _before_together([own for own in before if own is not None]),
        )

    def states(self, names: Sequence[str]) -> tuple[HistoryState, ...]:
        """After each release; not told where somebody then had no answer."""
        known = (None if bands is None or bands.unknown else bands for bands in self.upto)
        return tuple(HistoryState(name, bands) for name, bands in zip(names, known, strict=True))

    def needs(self) -> tuple[Need, ...] | None:
        """The fewest releases that make each certain person so; None if not all pairs could be worked out."""
        found: list[Need] = []
        for own in self.sizes:
            if not own.open:
                break
            if own.certain is None:
                return (*found, Need((), own.size, own.open, at_least=True)) if own.size > 2 else None
            found += [Need(some, own.size, n) for some, n in own.certain.items() if n]
            if own.several:
                found.append(Need((), own.size, own.several))
        return tuple(found)


def states(further: Further) -> tuple[HistoryState, ...]:
    """After each release; the newest ones are worked out first."""
    upto, none = _upto(further), None
    return Since(upto, none, (), (), (), none).states(further.audit.posterior.names)


def _upto(further: AskedOfSets) -> tuple[Bands | None, ...]:
    many = len(further.everything)
    found = {last: further.bands(tuple(range(last))) for last in range(many, 0, -1)}
    return tuple(found[k + 1] for k in range(many))


def _moves(further: AskedOfSets) -> Moves | None:
    """What the newest release did to persons who were known before."""
    everything = further.everything
    if len(everything) < 2 or (before := further.told(everything[:-1])) is None:
        return None
    after = further.told(everything)
    assert after is not None  # the whole answer is at hand
    was, now = reaches(before.largest, 0.5) | before.certain, reaches(after.largest, 0.5) | after.certain
    return Moves(int((now & ~was).sum()), int((was & ~now & ~np.isnan(after.largest)).sum()))


def _before(further: AskedOfSets) -> BeforeNewest | None:
    everything = further.everything
    if len(everything) < 2 or (before := further.told(everything[:-1])) is None:
        return None
    after = further.told(everything)
    assert after is not None
    either = before.certain | after.certain
    return BeforeNewest(
        float(np.nan_to_num(before.largest).max(initial=0.0)), int(before.certain.sum()), int(either.sum())
    )


def _pairs(further: AskedOfSets) -> tuple[Pair, ...]:
    """Every pair, those with the newest release first."""
    every = sorted(combinations(further.everything, 2), key=lambda pair: (-pair[1], -pair[0]))
    return tuple(Pair(a, b, _by_pair(further, a, b)) for a, b in every[:MOST_PAIRS])


def _by_pair(further: AskedOfSets, a: int, b: int) -> int | None:
    told = further.told((a, b))
    return None if told is None else int((told.certain & ~_alone(further)).sum())


def _alone(further: AskedOfSets) -> Flags:
    """[n] who is certain by one release alone."""
    told = [own.certain for r in further.everything if (own := further.told((r,))) is not None]
    return np.asarray(np.logical_or.reduce(told))  # each alone is known


def _sizes(further: AskedOfSets) -> tuple[Needs, ...]:
    """Sets of one, of two and of all releases; in between nobody looks."""
    everything, whole = further.everything, further.told(further.everything)
    assert whole is not None
    left, found = whole.certain.copy(), []
    for size in range(1, min(len(everything), 3) + 1):
        open_, sets = int(left.sum()), list(combinations(everything, size))
        if size > 2 and size < len(everything):
            found.append(Needs(size, open_, None))
            break
        asked = sets if open_ or len(sets) <= MOST_PAIRS else []
        known = {some: further.told(some) for some in asked}
        if any(told is None for told in known.values()):
            found.append(Needs(size, open_, None))
            break
        flags = {some: told.certain & left for some, told in known.items() if told is not None}
        often = np.sum([np.zeros(left.size, dtype=np.int64), *flags.values()], axis=0)
        single = {some: int((own & (often == 1)).sum()) for some, own in flags.items()}
        found.append(Needs(size, open_, single, int((often > 1).sum())))
        left &= often == 0
    return tuple(found)


def _only_because(further: AskedOfSets) -> tuple[tuple[int, int] | None, ...]:
    """For each release: certain and 50 % sure persons who would not be without it; None if it was not computed."""
    everything, whole = further.everything, further.told(further.everything)
    assert whole is not None
    now = reaches(whole.largest, 0.5) | whole.certain
    found: list[tuple[int, int] | None] = []
    for r in everything:
        rest = tuple(k for k in everything if k != r)
        told = further.told(rest) if rest else None
        if told is None:
            found.append(None)
            continue
        half = reaches(told.largest, 0.5) | told.certain
        found.append((int((whole.certain & ~told.certain).sum()), int((now & ~half).sum())))
    return tuple(found)


# Pieces together --------------------------------------------------------------------------------


def _sum(bands: Sequence[Bands | None]) -> Bands | None:
    known = [own for own in bands if own is not None]
    return None if len(known) < len(bands) else sum(known[1:], known[0])


def _total(counts: Iterable[int | None]) -> int | None:
    every = list(counts)
    return None if None in every else sum(n for n in every if n is not None)


def _sums(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    first, second = zip(*pairs, strict=True)
    return sum(first), sum(second)


def _needs_together(parts: Sequence[Needs]) -> Needs:
    counts = Counter[Some]()
    for own in parts:
        counts.update(own.certain or {})
    known = all(own.certain is not None for own in parts)
    ordered = {some: counts[some] for some in sorted(counts)} if known else None
    return Needs(parts[0].size, sum(own.open for own in parts), ordered, sum(own.several for own in parts))


def _before_together(parts: Sequence[BeforeNewest]) -> BeforeNewest:
    certain, either = _sums((own.certain, own.then_or_now) for own in parts)
    return BeforeNewest(max(own.most for own in parts), certain, either)
