"""Random small worlds: a register, tables of several years, releases of every kind, all of marked cells."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import dataclass
from pathlib import Path

from tests.fuzzing.marks import number, word

Rows = list[list[str]]


@dataclass(frozen=True)
class World:
    """Persons with quasi-identifiers, and their value in each year."""

    rng: random.Random
    ids: list[str]
    zips: list[str]
    ages: list[str]
    sexes: list[str]
    values: list[list[str]]  # by year

    @classmethod
    def of(cls, rng: random.Random) -> World:
        """Four to ten persons; now and then a value changes between years."""
        n, kinds = rng.randint(4, 10), rng.randint(2, 4)
        first = [word("val", rng.randrange(kinds)) for _ in range(n)]
        years = [first]
        for _ in range(rng.randint(0, 2)):
            changed = [word("val", rng.randrange(kinds)) if rng.random() < 0.07 else v for v in years[-1]]
            years.append(changed)
        return cls(
            rng,
            [word("id", k) for k in range(n)],
            [number(rng) for _ in range(n)],
            [number(rng) for _ in range(n)],
            [word("sex", rng.randrange(2)) for _ in range(n)],
            years,
        )

    def raw(self, year: int) -> Rows:
        """The publisher's own table of a year."""
        rows = zip(self.ids, self.zips, self.ages, self.sexes, self.values[year], strict=True)
        return [["pid", "zip", "age", "sex", "disease"], *map(list, rows)]

    def bucketized(self, year: int) -> Rows:
        """Who is in which group, and which values it holds, shuffled."""
        people = self.rng.sample(range(len(self.ids)), self.rng.randint(2, len(self.ids)))
        rows: Rows = []
        for start in range(0, len(people), 3):
            members = people[start : start + 3]
            values = [self.values[year][p] for p in members]
            self.rng.shuffle(values)
            group = word("grp", start // 3)
            rows += [[self.ids[p], group, value] for p, value in zip(members, values, strict=True)]
        return [["pid", "group", "disease"], *rows]

    def pair(self, year: int) -> tuple[Rows, Rows]:
        """Anatomy's two tables."""
        whole = self.bucketized(year)[1:]
        counts: dict[tuple[str, str], int] = {}
        for _, group, value in whole:
            counts[group, value] = counts.get((group, value), 0) + 1
        values = [[group, value, str(n)] for (group, value), n in sorted(counts.items())]
        return [["pid", "group"], *([i, g] for i, g, _ in whole)], [["group", "disease", "count"], *values]

    def generalized(self, year: int) -> Rows:
        """Rows whose quasi-identifiers are covered by cells of many forms."""
        order = sorted(range(len(self.ids)), key=lambda p: self.zips[p])
        rows: Rows = []
        for start in range(0, len(order), 3):
            members = order[start : start + 3]
            zips, ages = sorted(self.zips[p] for p in members), sorted(self.ages[p] for p in members)
            form = self.rng.randrange(5)
            zip_cell = [zips[0][:5] + "***", f"[{zips[0]}, {zips[-1]}]", f"{zips[0]}-{zips[-1]}", "*", zips[0]][form]
            age_cell = f"<{int(ages[-1]) + 1}" if form % 2 else f"{{{', '.join(ages)}}}"
            rows += [[zip_cell, age_cell, self.values[year][p]] for p in members]
        return [["zip", "age", "disease"], *rows]

    def counted(self, year: int) -> Rows:
        """A table of counts."""
        counts: dict[tuple[str, ...], int] = {}
        for zip_cell, age_cell, value in self.generalized(year)[1:]:
            key = zip_cell, age_cell, value
            counts[key] = counts.get(key, 0) + 1
        return [["zip", "age", "disease", "count"], *([*key, str(n)] for key, n in counts.items())]

    def centroids(self, year: int) -> Rows:
        """Groups shown by their means."""
        rows: Rows = []
        for start in range(0, len(self.ids), 3):
            members = range(start, min(start + 3, len(self.ids)))
            mean = str(sum(int(self.ages[p]) for p in members) / len(members))
            rows += [[mean, "1.5", self.values[year][p]] for p in members]
        return [["age", "width", "disease"], *rows]

    def register(self) -> Rows:
        """Who is who."""
        rows = zip(self.ids, self.zips, self.ages, self.sexes, strict=True)
        return [["id", "zip", "age", "sex"], *map(list, rows)]

    def hierarchy(self) -> Rows:
        """Of the values, in three levels."""
        every = sorted({v for year in self.values for v in year})
        return [[value, word("lab", k % 2), "*"] for k, value in enumerate(every)]

    def zip_hierarchy(self) -> Rows:
        """Of the zips, by prefixes."""
        return [[z, z[:5] + "***", "*"] for z in sorted(set(self.zips))]

    def value_map(self) -> Rows:
        """Every value to a common one."""
        every = sorted({v for year in self.values for v in year})
        return [["old", "new"], *([value, word("val", k % 2)] for k, value in enumerate(every))]


def as_csv(rows: Rows, separator: str = ",") -> str:
    """As a spreadsheet writes it."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def write(home: Path, name: str, rows: Rows, separator: str = ",") -> str:
    """A file of rows; its name."""
    (home / name).write_text(as_csv(rows, separator), encoding="utf-8", errors="surrogatepass")
    return name
