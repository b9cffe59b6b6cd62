"""What each release added: the states of the history after each release, and the pairs and sets that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from showthrough.auditing.audit import reaches
from showthrough.report.page.bands import Bands
from showthrough.report.page.further import Further, Some
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


def states(further: Further) -> tuple[HistoryState, ...]:
    """After each release; the newest ones are worked out first."""
    names = further.audit.posterior.names
    found: dict[int, Bands | None] = {}
    for last in range(len(names), 0, -1):
        bands = further.bands(tuple(range(last)))
        found[last] = None if bands is not None and bands.unknown else bands
    return tuple(HistoryState(name, found[k + 1]) for k, name in enumerate(names))


def moves(further: Further) -> Moves | None:
    """What the newest release did to persons who were known before."""
    everything = further.everything
    if len(everything) < 2 or (before := further.told(everything[:-1])) is None:
        return None
    after = further.told(everything)
    assert after is not None  # the whole answer is at hand
    was, now = reaches(before.largest, 0.5) | before.certain, reaches(after.largest, 0.5) | after.certain
    return Moves(int((now & ~was).sum()), int((was & ~now & ~np.isnan(after.largest)).sum()))


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


def pairs(further: Further) -> tuple[Pair, ...]:
    """Every pair, those with the newest release first."""
    every = sorted(combinations(range(len(further.audit.releases)), 2), key=lambda pair: (-pair[1], -pair[0]))
    return tuple(Pair(a, b, _by_pair(further, a, b)) for a, b in every[:MOST_PAIRS])


def _by_pair(further: Further, a: int, b: int) -> int | None:
    told = further.told((a, b))
    return None if told is None else int((told.certain & ~_alone(further)).sum())


def _alone(further: Further) -> Flags:
    """[n] who is certain by one release alone."""
    found = np.zeros(further.audit.joint.persons, dtype=bool)
    for r in further.everything:
        told = further.told((r,))
        found |= False if told is None else told.certain
    return found


def needed(further: Further) -> tuple[Need, ...] | None:
    """The fewest releases that make each certain person so; None if not all pairs could be worked out."""
    everything, whole = further.everything, further.told(further.everything)
    assert whole is not None
    left = whole.certain.copy()
    found: list[Need] = []
    for size in range(1, len(everything) + 1):
        if not left.any():
            break
        sets = list(combinations(everything, size))
        known = {some: further.told(some) for some in sets} if size <= 2 or size == len(everything) else {}
        if not known or any(told is None for told in known.values()):
            return (*found, Need((), size, int(left.sum()), at_least=True)) if size > 2 else None
        flags = {some: told.certain & left for some, told in known.items() if told is not None}
        often = np.sum(list(flags.values()), axis=0)
        found += [Need(some, size, n) for some, own in flags.items() if (n := int((own & (often == 1)).sum()))]
        if several := int((often > 1).sum()):
            found.append(Need((), size, several))
        left &= often == 0
    return tuple(found)


def only_because(further: Further) -> tuple[tuple[int, int] | None, ...]:
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
