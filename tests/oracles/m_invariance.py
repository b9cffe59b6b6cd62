"""m-invariance by its definitions, one record at a time (Xiao, Tao, SIGMOD'07)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product

Record = tuple[Hashable, int, int]  # person, value, group
Fake = tuple[int, int]  # group, value
Point = tuple[float, ...]


def broken(series: Sequence[tuple[Sequence[Record], Sequence[Fake]]], m: int) -> list[str]:
    """What is wrong with a series of releases: groups that are not m-unique, signatures that change."""
    complaints = []
    last: dict[Hashable, frozenset[int]] = {}
    for number, (records, fakes) in enumerate(series):
        values = defaultdict(list)
        real = Counter(group for _, _, group in records)
        for _, value, group in records:
            values[group].append(value)
        for group, value in fakes:
            values[group].append(value)
        for group, found in values.items():
            if len(found) < m or len(set(found)) < len(found):
                complaints.append(f"release {number}: group {group} holds {sorted(found)}")
            if not real[group]:
                complaints.append(f"release {number}: group {group} holds counterfeits alone")
        for person, _, group in records:
            signature = frozenset(values[group])
            if last.setdefault(person, signature) != signature:
                complaints.append(f"release {number}: {person} had {sorted(last[person])}, has {sorted(signature)}")
    return complaints


def eligible(count: Iterable[int], m: int) -> bool:
    """No value is more frequent than one in m."""
    count = list(count)
    return max(count, default=0) * m <= sum(count)


def fewest(available: Sequence[int], wanted: Sequence[int], m: int) -> tuple[int, int]:
    """The fewest new records to hold back and then the fewest counterfeits, by trying everything."""
    best = None
    for held in product(*(range(a + 1) for a in available)):
        if best is not None and sum(held) > best[0]:
            continue
        room = [min(a - h, w) for a, h, w in zip(available, held, wanted, strict=True)]
        for used in product(*(range(r + 1) for r in room)):
            rest = [a - h - u for a, h, u in zip(available, held, used, strict=True)]
            if eligible(rest, m):
                found = sum(held), sum(wanted) - sum(used)
                best = found if best is None else min(best, found)
    assert best is not None
    return best


def balanced_in_turn(available: Mapping[int, int], lacking: Sequence[int], m: int) -> int:
    """Counterfeits of the paper's balancing: each lacking value takes a new record if the rest stays eligible."""
    left, counterfeits = Counter(available), 0
    for value in lacking:
        left[value] -= 1
        if left[value] < 0 or not eligible(left.values(), m):
            left[value] += 1
            counterfeits += 1
    return counterfeits


def is_halving(
    groups: Iterable[frozenset[int]], points: Mapping[int, Sequence[tuple[int, Point]]], width: Sequence[float]
) -> bool:
    """Whether groups come from halving value → its (record, point) pairs, always by an axis of the least loss."""
    groups, rounds = set(groups), len(next(iter(points.values())))
    if rounds == 1:
        return groups == {frozenset(pair[0][0] for pair in points.values())}
    cut, found = (rounds + 1) // 2, []
    for axis in range(len(width)):
        ordered = {v: sorted(pairs, key=lambda pair: pair[1][axis]) for v, pairs in points.items()}
        sides = [{v: p[:cut] for v, p in ordered.items()}, {v: p[cut:] for v, p in ordered.items()}]
        found.append((sum(_extent(side, width) for side in sides), sides))
    least = min(loss for loss, _ in found)
    for loss, sides in found:
        lower, upper = ({record for pairs in side.values() for record, _ in pairs} for side in sides)
        parted = [{g for g in groups if g <= lower}, {g for g in groups if g <= upper}]
        fits = loss <= least + 1e-5 and len(parted[0]) == cut and len(parted[1]) == rounds - cut
        if fits and all(is_halving(part, side, width) for part, side in zip(parted, sides, strict=True)):
            return True  # of several axes with the least loss any one will do
    return False


def _extent(side: Mapping[int, Sequence[tuple[int, Point]]], width: Sequence[float]) -> float:
    everything = [point for pairs in side.values() for _, point in pairs]
    return sum((max(p[a] for p in everything) - min(p[a] for p in everything)) / w for a, w in enumerate(width))
