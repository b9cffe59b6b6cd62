"""Membership: how likely a person of the register is in a release at all.

Being in the table of a clinic is a secret of its own (δ-presence: Nergiz, Atzori, Clifton, SIGMOD 2007). If m records
fit N persons of the register who fit nothing else, each of them is in the release with probability m/N. Persons who
fit several groups are shared out by maximum entropy: every way to put persons into groups that they fit, or outside,
is alike likely, as long as as many records as possible are filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates
from showthrough.attacks.targets import attacked
from showthrough.errors import InputError, ParameterError
from showthrough.progress import Progress
from showthrough.register.attribute import Candidates
from showthrough.register.locating import locate
from showthrough.register.reader import Reader, telling
from showthrough.register.register import Register
from showthrough.release.counterfeits import per_group
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.codes import positions
from showthrough.table.ragged import alike, items_of, owners, starts

IN, OUT = "in", "out"
FULL = 1e9
"""The weight of a group whose records are not all filled, beside being outside."""
SWEEPS = 2000
HALVINGS = 50
_TOLERANCE = 1e-7
_ROUNDING = 1e-6
_THREAT = Threat(
    "a register of persons, of whom some are in the release, and the release",
    "to learn that somebody is in it, or that somebody is not",
    "that as many records as possible belong to persons of the register, and that all ways to do so are alike likely",
)


@dataclass(frozen=True, eq=False, repr=False)
class MembershipOutcome(Outcome):
    """The outcome of a membership attack; it is scored against a frame of id and value ("in" or "out")."""

    paired: ClassVar[bool] = True
    meanings: ClassVar[Mapping[str, str]] = {
        "p": "how likely the person is in the release by the register",
        "size_alone": "the baseline: by the sizes of release and register alone",
    }

    def believed(self) -> pl.DataFrame:
        """release, id, value ("in" or "out"), and how likely it is to the attacker and by the size of the release."""
        inside = self.people.select("release", "id", pl.lit(IN).alias("value"), "p", "size_alone")
        return pl.concat([inside, inside.with_columns(-pl.col("p", "size_alone") + 1, value=pl.lit(OUT))])


def membership(
    releases: Release | Sequence[Release],
    register: Any,
    *,
    low: float = 0.1,
    high: float = 0.9,
    progress: Any = None,
) -> MembershipOutcome:
    """P(person is in the release) for everybody in the register, in each release alone.

    Exposed is who is in it with ``high`` or more, or with ``low`` or less. ``people`` has release, id, groups (how many
    the person fits), p, and size_alone, the share of the register that the release can hold: the baseline, somebody
    who knows how many are in it.
    """
    for name, limit in (("low", low), ("high", high)):
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 <= limit <= 1:
            raise ParameterError(f"{name} is a number from 0 to 1, not {limit!r}.", parameters=(name,))
    given = attacked(releases)
    told = [release for release in telling(given) if release.part_of is None]
    reader = Reader.of(given, register=register).checked(told)
    if reader.register is None:
        raise InputError("Whether somebody is in a release is asked of a register: give one.", parameters=("register",))
    tell = Progress.of(progress)
    parts: list[pl.DataFrame] = []
    exposed: list[tuple[dict[str, Any], int, int]] = []
    beside: list[tuple[dict[str, Any], int, int]] = []
    for name, release in zip(reader.names_for(told), told, strict=True):
        tell.stage(f"membership of {name}")
        p, groups = _inside(release, name, reader, reader.register)
        even = min(1.0, release.members / max(1, p.size))
        columns = [reader.register.ids.alias("id"), pl.Series("groups", groups), pl.Series("p", p)]
        frame = pl.DataFrame([*columns, pl.Series("size_alone", np.full(p.size, even))])
        parts.append(frame.select(pl.lit(name).alias("release"), pl.all()))
        for figures, into in ((p, exposed), (np.full(p.size, even), beside)):
            into += _counted(name, figures, low, high)
    return MembershipOutcome(
        "membership", _THREAT, pl.concat(parts), rates(exposed), rates(beside), ("p", "size_alone"), ("release",),
        _notes(told, reader),
    )  # fmt: skip


def _counted(name: str, p: Reals, low: float, high: float) -> list[tuple[dict[str, Any], int, int]]:
    """Who is all but certainly inside, and who outside."""
    inside, outside = p >= high - _ROUNDING, p <= low + _ROUNDING
    return [
        ({"release": name, "measure": f"in it with {100 * high:g} % or more"}, int(inside.sum()), p.size),
        ({"release": name, "measure": f"in it with {100 * low:g} % or less"}, int(outside.sum()), p.size),
    ]


def _notes(releases: Sequence[Release], reader: Reader) -> tuple[str, ...]:
    found = []
    for name, release in zip(reader.names_for(releases), releases, strict=True):
        if release.roles.id is not None:
            found.append(f"{name} publishes ids: who is in it is no secret.")
        elif release.form.located_by_guess(release):
            found.append(f"{name}: persons are taken to be in the group with the nearest centroid, which is a guess.")
    return tuple(found)


def _inside(release: Release, name: str, reader: Reader, register: Register) -> tuple[Reals, Ints]:
    """[register] the probability to be in the release, and the number of groups that fit."""
    if release.roles.id is not None:
        listed = positions(register.ids.cast(pl.String), release.records[release.roles.id].cast(pl.String)) >= 0
        return listed.astype(np.float64), listed.astype(np.int64)
    fits = locate(release, name, register, trees=reader.trees).candidates
    rows = release.size - per_group(release.counterfeits, release.labels)
    present = np.full(len(register), -1, dtype=np.int8)
    if name in register.presence:
        present = register.presence[name].cast(pl.Int8).fill_null(-1).to_numpy().astype(np.int8)
    counts = np.where(present == 0, 0, fits.counts)  # who is known to be absent takes no room
    able = Candidates(starts(counts), fits.group[np.repeat(present != 0, fits.counts)])
    return presence(able, rows.to_numpy().astype(np.float64), present == 1), fits.counts


def presence(fits: Candidates, rows: Reals, must: Flags) -> Reals:
    """[persons] the probability to be in one of the groups; 1 for who ``must`` be.

    >>> two = Candidates(np.array([0, 1, 2, 3]), np.array([0, 0, 0], dtype=np.int32))
    >>> presence(two, np.array([2.0]), np.array([False, False, False])).round(6).tolist()
    [0.666667, 0.666667, 0.666667]
    """
    somewhere = np.flatnonzero(fits.counts > 0)
    found = np.where(must, 1.0, 0.0)
    if not somewhere.size:
        return found
    at, sizes = items_of(fits.start, somewhere)
    marked = np.insert(fits.group[at].astype(np.int64), starts(sizes)[:-1], -1 - must[somewhere].astype(np.int64))
    first, which = alike(starts(sizes + 1), marked)  # same groups, and both or neither known to be inside
    at, sizes = items_of(fits.start, somewhere[first])
    edges = _Fitting(owners(starts(sizes)), fits.group[at].astype(np.int64), rows)
    inside = edges.solve(np.bincount(which).astype(np.float64), np.where(must[somewhere[first]], 0.0, 1.0))
    found[somewhere] = np.where(must[somewhere], 1.0, inside[which])
    return np.where(found > 1 - _ROUNDING, 1.0, found)


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Classes of persons and the groups that they fit, edge by edge."""

    owner: Ints
    group: Ints
    rows: Reals

    def solve(self, persons: Reals, outside: Reals) -> Reals:
        """[classes] the probability to be inside: weights of groups, such that each holds its records or is full.

        The weight of a group is raised until the persons expected in it are as many as its records, given the others;
        again and again, from below, as each that grows takes persons from the others.
        """
        weight = np.zeros(self.rows.size)
        for _ in range(SWEEPS):
            rest = self._rest(weight, outside)
            raised = self._raised(rest, persons[self.owner])
            moved = np.abs(raised - weight) > _TOLERANCE * np.maximum(raised, _TOLERANCE)
            weight = raised
            if not moved.any():
                break
        total = sum_by(self.owner, weight[self.group], persons.size)
        return np.asarray(total / np.maximum(total + outside, 1e-300))

    def _rest(self, weight: Reals, outside: Reals) -> Reals:
        """[edges] the weight of being anywhere else."""
        total = outside + sum_by(self.owner, weight[self.group], outside.size)
        return np.maximum(total[self.owner] - weight[self.group], 0.0)

    def _raised(self, rest: Reals, persons: Reals) -> Reals:
        """[groups] the weights at which the expected persons are as many as the records, by halving."""
        low, high = np.full(self.rows.size, -40.0), np.full(self.rows.size, float(np.log(FULL)))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            own = np.exp(middle)[self.group]
            load = sum_by(self.group, persons * own / (own + rest), self.rows.size)
            low, high = np.where(load < self.rows, middle, low), np.where(load < self.rows, high, middle)
        found: Reals = np.exp((low + high) / 2)
        return found
