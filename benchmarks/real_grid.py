"""A grid of realistic histories: 200 for every seed, over all kinds, sizes, readers and overlaps.

Every seed gives another grid of the same families; seeds from `HELD_OUT` on are for judging alone. Beside
the grid stand the named histories of `real_histories`, and small ones for answers under a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.real_histories import NAMED, Kind, Spec

CELLS = ("levels", "levels-dropped", "local-recoding", "mondrian", "mondrian-relaxed")
SIZES = (500, 1_000, 2_000, 4_000, 7_000, 10_000)
CHANGES = (5, 50, 500)


def grid(seed: int = 0) -> list[Spec]:
    """The 200 histories of a seed."""
    return [_named(family, k, seed) for family, count in FAMILIES.items() for k in range(count)]


def small(seed: int = 0, count: int = 300) -> list[Spec]:
    """Histories of at most 1 500 persons per release, from all families in turn."""
    order = [family for family, often in FAMILIES.items() for _ in range(max(1, often // 10))]
    specs = [_named(order[k % len(order)], 1_000 + k, seed) for k in range(count)]
    return [_shrunk(spec, (150, 300, 600, 1_500)[k % 4]) for k, spec in enumerate(specs)]


def _named(family: str, number: int, seed: int) -> Spec:
    spec = FAMILY[family](np.random.default_rng([list(FAMILY).index(family), number, seed]), number)
    return replace(spec, name=f"{family} {number:02}", seed=seed)


def _shrunk(spec: Spec, persons: int) -> Spec:
    """The same history with fewer persons, and so with fewer changes and smaller groups."""
    kinds = tuple(replace(kind, strength=min(kind.strength, 2 + persons // 60)) for kind in spec.kinds)
    return replace(spec, persons=persons, kinds=kinds, changed=min(spec.changed, persons // 10))


# Families ------------------------------------------------------------------------------------


def _any(rng: np.random.Generator, choices: tuple[str, ...]) -> str:
    return choices[int(rng.integers(len(choices)))]


def _base(rng: np.random.Generator, number: int, kinds: tuple[Kind, ...], reader: str) -> Spec:
    data = ("adult", "ipums")[number % 2] if number % 10 != 9 else "ipums-all"
    kinds = tuple(_eligible(kind, data) for kind in kinds)
    overlap = float(rng.choice([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95]))
    return Spec("", data, SIZES[(number // 2) % len(SIZES)], kinds, overlap=overlap, reader=reader)


def _eligible(kind: Kind, data: str) -> Kind:
    """No more values per group than the strategy can keep: 44 % of all IPUMS have one value, 13 % of Adult."""
    if data == "ipums-all" and kind.method in ("anatomy", "m-invariance", "history-guided"):
        return replace(kind, strength=2)
    if kind.method in ("m-invariance", "history-guided"):
        return replace(kind, strength=min(kind.strength, 6))
    return kind


def _k(rng: np.random.Generator) -> int:
    return int(rng.choice([3, 4, 5, 8, 10, 15, 25]))


def _l(rng: np.random.Generator) -> int:
    return int(rng.integers(2, 11))


def _releases(rng: np.random.Generator, most: int = 6) -> int:
    return int(rng.integers(2, most + 1))


def _reader(number: int) -> str:
    return ("presence", "register")[(number // 2) % 2]


def anatomies(rng: np.random.Generator, number: int) -> Spec:
    """Two to six Anatomy releases with ids, made independently with the same l."""
    kind = Kind("anatomy", _l(rng))
    spec = _base(rng, number, (kind,) * _releases(rng), "ids")
    if number % 3 or spec.data != "adult":
        return spec
    # where nearly everybody is about to become certain: the hardest for a solver
    turn = (Kind("anatomy", int(rng.integers(6, 10))),) * int(rng.integers(4, 7))
    return replace(spec, kinds=turn, overlap=float(rng.choice([0.85, 0.9, 0.95])), oldest_leave=bool((number // 6) % 2))


def bucketized(rng: np.random.Generator, number: int) -> Spec:
    """Bucketized releases by several methods, some of which look back."""
    methods = ("anatomy", "m-invariance", "history-guided", "mondrian", "local-recoding")
    l, kinds = _l(rng), list[Kind]()
    for r in range(_releases(rng)):
        method = _any(rng, methods[: 3 if number % 3 else 5]) if r else "anatomy"
        kinds.append(Kind(method, _k(rng) if method in CELLS else l))
    return _base(rng, number, tuple(kinds), "ids")


def located(rng: np.random.Generator, number: int) -> Spec:
    """Two to four generalized releases of one kind beside a register."""
    kind = Kind(CELLS[number % len(CELLS)], _k(rng))
    spec = _base(rng, number, (kind,) * _releases(rng, 4), _reader(number))
    return replace(spec, overlap=None) if number % 4 == 1 else spec


def mixed(rng: np.random.Generator, number: int) -> Spec:
    """Generalized and bucketized releases beside a register."""
    kinds = [Kind("anatomy", _l(rng)), Kind(CELLS[number % len(CELLS)], _k(rng))]
    while len(kinds) < _releases(rng, 5):
        kinds.append(Kind("anatomy", _l(rng)) if rng.random() < 0.4 else Kind(_any(rng, CELLS), _k(rng)))
    order = rng.permutation(len(kinds))
    return _base(rng, number, tuple(kinds[int(i)] for i in order), _reader(number))


def centroids(rng: np.random.Generator, number: int) -> Spec:
    """Microaggregated releases located by the nearest centroid, at times beside an Anatomy release."""
    kinds = (Kind("mdav", _k(rng)),) * _releases(rng, 3)
    return _base(rng, number, (*kinds, Kind("anatomy", _l(rng))) if number % 3 == 2 else kinds, _reader(number))


def changed(rng: np.random.Generator, number: int) -> Spec:
    """Any of the first four families with values that change; half of the readers are told who."""
    make = (anatomies, anatomies, bucketized, located, mixed)[number % 5]
    spec = make(rng, number + 4)
    persons = max(spec.persons, 2_000)
    return replace(spec, persons=persons, changed=CHANGES[number % 3], told=bool((number // 3) % 2))


FAMILY: dict[str, Callable[[np.random.Generator, int], Spec]] = {
    "anatomies": anatomies,
    "bucketized": bucketized,
    "located": located,
    "mixed": mixed,
    "centroids": centroids,
    "changed": changed,
}
FAMILIES = {"anatomies": 50, "bucketized": 30, "located": 45, "mixed": 35, "centroids": 10, "changed": 30}


def every(seed: int = 0) -> list[Spec]:
    """The grid of a seed; with seed 0 the named histories first."""
    return [*(NAMED.values() if seed == 0 else ()), *grid(seed)]
