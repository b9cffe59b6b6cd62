"""Linking a register to a release by six quasi-identifiers, beside Polars reading the two files: python -m benchmarks.linking [--quick]

Each kind of release runs in a process of its own. The register has a million persons: age (73 values, most in
the middle), postcode (5,000, some far larger than others), education (16 years), occupation (14), marital status
(7) and sex, drawn independently of each other with a fixed seed; and an id. The release has a row for each of
them, six cells and a value, in 100,000 groups:

- mondrian: strict median cuts of the widest attribute, the regions of the cuts as cells, so groups are disjoint;
- overlapping: the same, but a tenth of the groups have one or two cells made wider (an interval up to three times
  as long, or everything), and twenty groups are suppressed in all cells;
- global: every attribute recoded to one level (no overlap, about 100,000 groups).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from showthrough.register.locating import locate
from showthrough.register.register import Register
from showthrough.release.release import Release

SEED = 7
COLUMNS = {"age": 73, "postcode": 5000, "education": 16, "occupation": 14, "marital": 7, "sex": 2}
SETS = {"occupation", "marital", "sex"}  # printed as sets of labels, the others as intervals of numbers
LEVELS = {"age": 5, "postcode": 25, "education": 4, "occupation": 7, "marital": 4, "sex": 1}  # width of global cells
KINDS = ("global", "mondrian", "overlapping")

Boxes = tuple[np.ndarray, np.ndarray, np.ndarray]  # group of each person, low and high code of each group


def register(persons: int) -> np.ndarray:
    """[persons, 6] codes of values."""
    rng = np.random.default_rng(SEED)
    made = []
    for name, size in COLUMNS.items():
        share = {
            "age": np.exp(-((np.arange(size) - 25) ** 2) / 800),
            "postcode": 1 / (np.arange(size) + 50.0),
        }.get(name, rng.uniform(0.2, 1, size))
        made.append(rng.choice(size, persons, p=share / share.sum()))
    return np.stack(made, axis=1)


def mondrian(people: np.ndarray, groups: int) -> Boxes:
    """Cut all groups of a level at the median of their widest attribute until there are enough."""
    count, width = people.shape
    sizes = np.array(list(COLUMNS.values()))
    node = np.zeros(count, dtype=np.int64)
    low, high = np.zeros((1, width), dtype=np.int64), sizes[None, :] - 1
    while low.shape[0] < groups:
        order = np.argsort(node, kind="stable")
        start = np.searchsorted(node[order], np.arange(low.shape[0] + 1))
        spread = np.stack(
            [
                np.maximum.reduceat(people[order, a], start[:-1]) - np.minimum.reduceat(people[order, a], start[:-1])
                for a in range(width)
            ]
        )
        widest = (spread / sizes[:, None]).argmax(axis=0)
        value = people[np.arange(count), widest[node]]
        middle = value[np.lexsort([value, node])][(start[:-1] + start[1:]) // 2]
        smallest = np.minimum.reduceat(value[order], start[:-1])
        cut = np.maximum(middle, smallest + 1)  # both sides hold somebody
        split = spread.max(axis=0) > 0
        split[np.flatnonzero(split)[groups - low.shape[0] :]] = False
        if not split.any():
            break
        new = low.shape[0] + np.cumsum(split) - 1
        right = split[node] & (value >= cut[node])
        node = np.where(right, new[node], node)
        own = np.flatnonzero(split)
        low, high = np.concatenate([low, low[own]]), np.concatenate([high, high[own]])
        high[own, widest[own]] = cut[own] - 1
        low[new[own], widest[own]] = cut[own]
    return node, low, high


def overlapping(people: np.ndarray, groups: int) -> Boxes:
    """Mondrian with a tenth of the groups made wider and twenty wholly suppressed."""
    node, low, high = mondrian(people, groups)
    rng = np.random.default_rng(SEED + 1)
    sizes = np.array(list(COLUMNS.values()))
    tenth = rng.permutation(low.shape[0])[: low.shape[0] // 10]
    for wide in (tenth, tenth[::2]):  # every other one a second time
        by = rng.integers(0, sizes.size, wide.size)
        length = high[wide, by] - low[wide, by] + 1
        low[wide, by] = np.maximum(low[wide, by] - length, 0)
        high[wide, by] = np.minimum(high[wide, by] + length, sizes[by] - 1)
    suppressed = rng.choice(low.shape[0], min(20, low.shape[0]), replace=False)
    low[suppressed], high[suppressed] = 0, sizes - 1
    return node, low, high


def recoded(people: np.ndarray, _groups: int) -> Boxes:
    """Global recoding to cells of the same width, whatever number of groups that makes."""
    width = np.array(list(LEVELS.values()))
    level = people // width
    key = np.zeros(people.shape[0], dtype=np.int64)
    for a, size in enumerate(COLUMNS.values()):
        key = key * size + level[:, a]
    _, first, node = np.unique(key, return_index=True, return_inverse=True)
    low = level[first] * width
    return node, low, np.minimum(low + width, list(COLUMNS.values())) - 1


RELEASES: dict[str, Callable[[np.ndarray, int], Boxes]] = {
    "global": recoded,
    "mondrian": mondrian,
    "overlapping": overlapping,
}


def write(folder: Path, kind: str, persons: int, groups: int) -> tuple[Path, Path]:
    """Write register.csv and release.csv."""
    people = register(persons)
    node, low, high = RELEASES[kind](people, groups)
    rng = np.random.default_rng(SEED + 2)
    exact, cells = {"id": np.arange(persons)}, {}
    for a, (name, size) in enumerate(COLUMNS.items()):
        exact[name] = np.array([_label(name, v) for v in range(size)])[people[:, a]]
        pairs, which = np.unique(low[:, a] * size + high[:, a], return_inverse=True)
        cells[name] = np.array([_cell(name, size, *divmod(int(p), size)) for p in pairs], dtype=object)[which][node]
    cells["disease"] = np.array(["flu", "cold", "cancer", "ulcer", "asthma"])[rng.integers(0, 5, persons)]
    paths = folder / "register.csv", folder / "release.csv"
    pl.DataFrame(exact).write_csv(paths[0])
    pl.DataFrame(cells)[rng.permutation(persons)].write_csv(paths[1])
    return paths


def _label(name: str, code: int) -> str:
    return f"{name}{code}" if name in SETS else str(code)


def _cell(name: str, size: int, low: int, high: int) -> str:
    if (low, high) == (0, size - 1):
        return "*"
    if low == high:
        return _label(name, low)
    return "{" + ", ".join(_label(name, v) for v in range(low, high + 1)) + "}" if name in SETS else f"[{low}, {high}]"


def measure(kind: str, persons: int, groups: int) -> dict[str, object]:
    """Read, take in and link (cells read, values covered, groups found) in this process."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "benchmarks.linking", "--write", folder, kind, str(persons), str(groups)], check=True
        )
        paths = Path(folder) / "register.csv", Path(folder) / "release.csv"
        reading = []
        for _ in range(3):
            start = time.perf_counter()
            people, release = (pl.read_csv(path, infer_schema=False) for path in paths)
            reading.append(time.perf_counter() - start)
    start = time.perf_counter()
    known = Register.of(people, quasi=list(COLUMNS))
    published = Release.generalized(release, sensitive="disease", quasi=list(COLUMNS), name="release")
    taken = time.perf_counter() - start
    before = _peak()
    linking = []
    for _ in range(3):
        start = time.perf_counter()
        linked = locate(published, "release", known).candidates
        linking.append(time.perf_counter() - start)
    counts = linked.counts
    return {
        "kind": kind, "persons": persons, "groups": published.labels.len(), "candidates": int(counts.sum()),
        "unique": float((counts == 1).mean()), "read_seconds": sorted(reading)[1], "take_seconds": taken,
        "link_seconds": sorted(linking)[1], "before_mb": before, "peak_mb": _peak(),
    }  # fmt: skip


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """All kinds, or one part of the work in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", nargs=4, metavar=("FOLDER", "KIND", "PERSONS", "GROUPS"))
    parser.add_argument("--measure", nargs=3, metavar=("KIND", "PERSONS", "GROUPS"))
    options = parser.parse_args()
    if options.write:
        write(Path(options.write[0]), options.write[1], *map(int, options.write[2:]))
    elif options.measure:
        print(json.dumps(measure(options.measure[0], *map(int, options.measure[1:]))))
    else:
        for kind in KINDS:
            size = ["100000", "10000"] if options.quick else ["1000000", "100000"]
            command = [sys.executable, "-m", "benchmarks.linking", "--measure", kind, *size]
            print(
                _line(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)),
                flush=True,
            )


def _line(row: dict[str, float]) -> str:
    return (
        f"{row['kind']}: {row['persons']:,} persons, {row['groups']:,} groups, {row['candidates']:,} candidates, "
        f"{row['unique']:.1%} with one: read {row['read_seconds']:.2f} s, take in {row['take_seconds']:.2f} s, "
        f"link {row['link_seconds']:.2f} s = {row['link_seconds'] / row['read_seconds']:.1f} x reading, "
        f"peak {row['peak_mb']:.0f} MB ({row['before_mb']:.0f} MB before linking)"
    )


if __name__ == "__main__":
    main()
