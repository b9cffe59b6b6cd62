r"""Forward, cross and backward cracks: what an insert-only history rules out of a person's group.

A later release holds everybody of the earlier one and those who came since (Fung, Wang, Fu, Pei, EDBT 2008). Records of
the earlier release have *buddies* in the later one: the same value, cells that have something in common. Whoever knows
that a person was there from the beginning looks at groups g1 and g2 that the person fits: of each value s no more than
the smaller of its two counts can be both, so Σ max(0, |g1_s| − |g2_s|) records of g1 are not the person's (forward),
nor are Σ max(0, |g2_s| − |g1_s|) of g2 (cross). Whoever knows that a person came later rules out records of g2 that
must be buddies (backward): with G1 the earlier records near g2 and G2 the later ones near G1, all of one value,
max(0, |G1| − |G2 \ g2|).

These formulas look at a few groups each. All buddies of a history have to fit at once, which rules out more: the exact
numbers are the least over all ways to pair buddies, by flow (`buddies.py`), value by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from showthrough.attacks.buddies import Buddies
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates
from showthrough.attacks.targets import attacked
from showthrough.errors import ContradictionError, InputError
from showthrough.inference.clock import Clock
from showthrough.inference.posterior import Told
from showthrough.numerals import number_of
from showthrough.progress import Progress
from showthrough.register.locating import locate, names_of
from showthrough.register.overlay import column_parts, covering, listed_cells
from showthrough.register.register import Register
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Flags, Ints

CRACKS = ("forward", "cross", "backward")
_PERSON = dict.fromkeys((*CRACKS, *(f"{c}_exact" for c in CRACKS), "earlier_group", "later_group"), pl.Int64)
_ANONYMITY = {"attack": pl.String, "group": pl.Int64, "left": pl.Int64, "left_exact": pl.Int64}
SECONDS = 600.0
_CHUNK = 2**24  # pairs of groups that are compared at once


@dataclass(frozen=True, eq=False, repr=False)
class Cracks(Outcome):
    """The outcome of an insert-only history."""

    anonymity: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_ANONYMITY))
    """Of each attack: the smallest group that a person fits (``group``), and the fewest records of a group that are
    left to a person, by the formula and exactly; the least of them is the history's BCF-anonymity."""

    def further(self) -> dict[str, pl.DataFrame]:
        """The smallest anonymity of anybody."""
        return {"Records that are left to a person, at least": self.anonymity}

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        return {**super().as_dict(), "anonymity": self.anonymity.to_dicts()}


def bcf(releases: Sequence[Release], *, register: Any, seconds: float = SECONDS, progress: Told = None) -> Cracks:
    """How many records of the groups that a person fits are cracked by another release of an insert-only history.

    Everybody of a release is in all later ones, with the same value. Every pair of releases is looked at. Exact figures
    of persons who fit several groups take a linear program each: after ``seconds`` these are left out and counted.
    """
    given = attacked(releases)
    if len(given) < 2:
        raise InputError("Cracks take two releases or more: the earlier ones are read by the later ones.")
    _check(given)
    known, names, tell = Register.of(register), names_of(given), Progress.of(progress)
    clock = Clock(seconds, tell)
    fits = [locate(release, name, known).candidates for release, name in zip(given, names, strict=True)]
    frames = []
    pairs = list(combinations(range(len(given)), 2))
    for a, b in pairs:
        tell.stage(f"{names[b]} beside {names[a]}")
        found = _Pair(given[a], given[b], (names[a], names[b]), clock).people(fits[a], fits[b], tell)
        here = [known.presence.get(names[k], pl.Series([None] * len(known), dtype=pl.Boolean)) for k in (a, b)]
        found = _said_of(found, *here)
        frames.append(
            found.select(pl.lit(names[a]).alias("earlier"), pl.lit(names[b]).alias("later"), known.ids, pl.all())
        )
    people = pl.concat(frames)
    by: tuple[str, ...] = ("earlier", "later") if len(pairs) > 1 else ()
    counted, alone = _rates(people, by)
    threat = Threat(
        f"{len(given)} releases of a growing table, and the exact quasi-identifiers of persons",
        "to rule out records of the group that a person fits",
        "that nobody left and no value changed, and when the person came: in the earlier release (forward, cross) or "
        "after it (backward)",
    )
    gone = people.filter(pl.all_horizontal(pl.col(c).is_null() for c in CRACKS))["id"].n_unique()
    fit = "fits" if gone == 1 else "fit"
    notes: tuple[str, ...] = (
        (f"{number_of(gone, 'person')} of the register {fit} no group of some release.",) if gone else ()
    )
    late = people.filter(pl.col("forward_exact").is_null() & pl.col("forward").is_not_null())["id"].n_unique()
    if late:
        notes += (
            f"Time ended before the exact cracks of {number_of(late, 'person')} who fit several groups: of them there "
            "are the figures by formula alone, which rule out no more than the exact ones.",
        )
    return Cracks(
        "bcf", threat, people if by else people.drop("earlier", "later"), counted, alone, (), by, notes, _left(people)
    )


def _check(given: Sequence[Release]) -> None:
    for release in given:
        name = release.name or "A release"
        if release.form.shows is not Shows.CELLS or release.sensitive is None:
            raise InputError(f"{name} shows no cells: cracks are counted in generalized releases and tables of counts.")
        if release.ranged or release.noise or release.value_cells or release.counterfeits.height:
            raise InputError(f"{name} has counts or values that are not exact: cracks need exact ones.")


def _said_of(found: pl.DataFrame, earlier: pl.Series, later: pl.Series) -> pl.DataFrame:
    """Without what does not apply to persons of whom it is known in which release they are."""
    first, second = earlier.fill_null(value=True), later.fill_null(value=True)
    new = ~earlier.fill_null(value=False)
    known = {"forward": first & second, "cross": first & second, "backward": new & second}
    return found.with_columns(
        pl.when(known[c.removesuffix("_exact")]).then(pl.col(c)).alias(c)
        for c in found.columns
        if c in _PERSON and c[-6:] != "_group"
    )


def _rates(people: pl.DataFrame, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Persons with a cracked record, by attack and way of counting; somebody who reads one release cracks nothing."""
    found, alone = [], []
    for names, part in people.group_by(*by, maintain_order=True) if by else [((), people)]:
        for crack in CRACKS:
            for way, column in (("formula", crack), ("exact", f"{crack}_exact")):
                label = {**dict(zip(by, names, strict=True)), "attack": crack, "told by": way}
                own = part[column].drop_nulls()
                found.append((label, int((own > 0).sum()), own.len()))
                alone.append((label, 0, own.len()))
    return rates(found), rates(alone)


def _left(people: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for crack in CRACKS:
        group = "earlier_group" if crack == "forward" else "later_group"
        own = people.filter(pl.col(crack).is_not_null())
        ends = own.select(
            pl.col(group).min(),
            (pl.col(group) - pl.col(crack)).min().alias("left"),
            (pl.col(group) - pl.col(f"{crack}_exact")).min().alias("left_exact"),
        )
        rows.append((crack, *ends.row(0)))
    return pl.DataFrame(rows, schema=_ANONYMITY, orient="row")


class _Pair:
    """An earlier and a later release."""

    def __init__(self, earlier: Release, later: Release, names: tuple[str, str], clock: Clock) -> None:
        self.names, self._clock = names, clock
        self.near = comparable(earlier, later, names)
        values = list(dict.fromkeys([*earlier.tally["value"], *later.tally["value"]]))
        place = {v: k for k, v in enumerate(values)}
        self.first, self.second = (_counts(release, place) for release in (earlier, later))
        self._back = sp.csr_array(self.near.T)
        self._memory: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[int, int]] = {}
        near = {
            g: self.near.indices[self.near.indptr[g] : self.near.indptr[g + 1]].tolist()
            for g in range(self.near.shape[0])
        }
        self.buddies = []
        for s in range(len(values)):
            supply, room = (
                {int(g): int(own[g, s]) for g in np.flatnonzero(own[:, s])} for own in (self.first, self.second)
            )
            self.buddies.append(Buddies(supply, room, near))
        lost = sum(own.left for own in self.buddies)
        if lost:
            raise ContradictionError(
                f"{number_of(lost, 'record')} of {names[0]} cannot be found in {names[1]}: in a history that only "
                "grows nobody leaves and no value changes. Give the releases in order of publication."
            )

    def people(self, earlier: Any, later: Any, tell: Progress) -> pl.DataFrame:
        """A row for each person; null where the person fits no group of one of the releases."""
        rows: list[tuple[int | None, ...]] = []
        memory: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int | None, ...]] = {}
        for person in range(earlier.persons):
            key = tuple(earlier.of(person).tolist()), tuple(later.of(person).tolist())
            if key not in memory:
                memory[key] = self._row(*key)
            rows.append(memory[key])
            if person % 1000 == 0:
                tell.count(person, earlier.persons)
        return pl.DataFrame(rows, schema=_PERSON, orient="row")

    def _row(self, earlier: tuple[int, ...], later: tuple[int, ...]) -> tuple[int | None, ...]:
        if not later:
            return (None,) * len(_PERSON)
        g2 = self.second[list(later)].sum(axis=0)
        back, back_exact = self._backward(later, g2)
        if not earlier:
            return (None, None, back, None, None, back_exact, None, int(g2.sum()))
        g1 = self.first[list(earlier)].sum(axis=0)
        both = int(np.minimum(g1, g2).sum())
        first, second = int(g1.sum()), int(g2.sum())
        if self._clock.over and len(earlier) + len(later) > 2:
            return (first - both, second - both, back, None, None, back_exact, first, second)
        exact = sum(self.buddies[s].most(earlier, later) for s in np.flatnonzero((g1 > 0) & (g2 > 0)).tolist())
        return (first - both, second - both, back, first - exact, second - exact, back_exact, first, second)

    def _backward(self, later: tuple[int, ...], g2: Ints) -> tuple[int, int]:
        """Records of later groups that must be buddies: by the formula and exactly."""
        key = ("backward", (), later)
        if key in self._memory:
            return self._memory[key]
        formula = exact = 0
        for s in np.flatnonzero(g2).tolist():
            holding = [h for h in later if self.second[h, s]]
            near = np.unique(np.concatenate([self._neighbours(self._back, h) for h in holding]))
            G1 = near[self.first[near, s] > 0]
            if G1.size:
                G2 = np.unique(np.concatenate([self._neighbours(self.near, int(g)) for g in G1]))
                others = np.setdiff1d(G2, later)
                formula += max(0, int(self.first[G1, s].sum()) - int(self.second[others, s].sum()))
                exact += self.buddies[s].least_inside(later)
        self._memory[key] = (formula, exact)
        return formula, exact

    @staticmethod
    def _neighbours(graph: sp.csr_array, node: int) -> Ints:
        return np.asarray(graph.indices[graph.indptr[node] : graph.indptr[node + 1]], dtype=np.int64)


def _counts(release: Release, place: dict[Any, int]) -> Ints:
    """[groups, values] how often each value occurs."""
    label = {group: k for k, group in enumerate(release.labels)}
    found = np.zeros((len(label), len(place)), dtype=np.int64)
    for group, value, n in release.tally.select("group", "value", "n").iter_rows():
        found[label[group], place[value]] += n
    return found


def comparable(earlier: Release, later: Release, names: tuple[str, str]) -> sp.csr_array:
    """[earlier groups, later groups] whether their cells have something in common in every column of both."""
    shared = [c for c in earlier.roles.quasi if c in later.roles.quasi]
    both = list(zip((earlier, later), names, strict=True))
    overlaps: list[tuple[Flags, Codes, Codes]] = []
    for column in shared:
        points = column_parts(both, column)
        if points[0] is None:
            continue
        read = [listed_cells(release, name, column, points) for release, name in both]
        own = [covering(cells, points) for cells in read]
        shape = [release.labels.len() for release, _ in both]
        meet = (own[0].astype(np.float32) @ own[1].T.astype(np.float32)) > 0
        overlaps.append((meet, read[0].codes[: shape[0]], read[1].codes[: shape[1]]))
    return sp.csr_array(sp.vstack(list(_blocks(overlaps, earlier.labels.len(), later.labels.len())), format="csr"))


def _blocks(overlaps: Sequence[tuple[Flags, Codes, Codes]], rows: int, columns: int) -> Iterator[sp.csr_array]:
    step = max(1, _CHUNK // max(columns, 1))
    for first in range(0, rows, step):
        found = np.ones((min(step, rows - first), columns), dtype=bool)
        for meet, one, other in overlaps:
            found &= meet[one[first : first + step]][:, other]
        yield sp.csr_array(found)
