"""Linking: how many persons of a register can be tied to their group of a release by what is known of them.

Samarati, Sweeney, 1998: the step before every other attack. Releases of centroids have no cells to fit; there the
nearest centroid is the guess (Ganta, Kasiviswanathan, Smith, KDD 2008, section 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import Rated, rates
from showthrough.attacks.targets import attacked
from showthrough.errors import InputError
from showthrough.progress import Progress
from showthrough.register.attribute import Candidates
from showthrough.register.locating import locate
from showthrough.register.locating_report import NONE, ONE, SEVERAL
from showthrough.register.reader import Reader, telling
from showthrough.register.truth import own_groups
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, sum_by
from showthrough.table.frames import to_polars
from showthrough.table.ragged import owners

NEAREST = "nearest centroid"
RIGHT = "the own group, and no other"
AMONG = "the own group among several"
_THREAT = Threat(
    "a register of persons with exact quasi-identifiers, and a release without ids",
    "to find the group of each of them",
    "that the quasi-identifiers are written alike in both",
)


class LinkingOutcome(Outcome):
    """The outcome of linking."""

    paired: ClassVar[bool] = True


def linking(
    releases: Release | Sequence[Release], register: Any, *, truth: Any = None, progress: Any = None
) -> LinkingOutcome:
    """How many groups of each release everybody in the register fits, and whether the own one is among them.

    ``truth`` is a frame of id and group, or several by the name of their release; without one the publisher's private
    link tells, where a release carries it. ``people`` has release, id, groups (how many the person fits), link ("one
    group", "several groups", "no group" or "nearest centroid"), records (those of these groups) and own (whether the
    own group is one of them; null where it is not known, or the person is not in the release). The baseline guesses
    the largest group.
    """
    given = attacked(releases)
    told = [release for release in telling(given) if release.part_of is None]
    reader = Reader.of(given, register=register).checked(told)
    if reader.register is None:
        raise InputError("Linking ties the persons of a register to groups: give one.", parameters=("register",))
    names, tell = reader.names_for(told), Progress.of(progress)
    known = _truths(truth, names)
    parts: list[pl.DataFrame] = []
    exposed: list[Rated] = []
    beside: list[Rated] = []
    notes = []
    for name, release in zip(names, told, strict=True):
        if release.roles.id is not None:
            notes.append(f"{name} publishes ids: there is nothing to link.")
            continue
        tell.stage(f"linking {name}")
        fits = locate(release, name, reader.register, trees=reader.trees).candidates
        own = None
        frame = known.get(name, release.link)
        if frame is not None:
            own = own_groups(release, name, reader.register, to_polars(frame))
        parts.append(_people(reader.register.ids, release, name, fits, own))
        _count(parts[-1], release, name, own, exposed, beside)
    if not parts:
        raise InputError("All releases publish ids: there is nothing to link.")
    return LinkingOutcome(
        "linking", _THREAT, pl.concat(parts), rates(exposed), rates(beside), (), ("release",), tuple(notes)
    )


def _truths(truth: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """The truth by the name of its release."""
    if truth is None:
        return {}
    if isinstance(truth, Mapping):
        strange = next((name for name in truth if name not in names), None)
        if strange is not None:
            raise InputError(f"The truth is given for another release than {', '.join(names)}.", parameters=("truth",))
        return truth
    if len(names) > 1:
        raise InputError("Name the release of each truth: truth={'D1': frame, …}.", parameters=("truth",))
    return {names[0]: truth}


def _people(ids: pl.Series, release: Release, name: str, fits: Candidates, own: Ints | None) -> pl.DataFrame:
    """Everybody of the register in one release."""
    many, size = fits.counts, release.size.to_numpy().astype(np.float64)
    records = sum_by(owners(fits.start), size[fits.group], many.size).astype(np.int64)
    guess = release.form.located_by_guess(release)
    link = np.where(many == 0, NONE, np.where(many == 1, NEAREST if guess else ONE, SEVERAL))
    right = pl.Series("own", [None] * many.size, dtype=pl.Boolean)
    if own is not None:
        right = pl.DataFrame({"own": _holds(fits, own), "there": own >= 0}).select(
            pl.when("there").then("own").alias("own")
        )["own"]
    columns = [ids.alias("id"), pl.Series("groups", many.astype(np.int64)), pl.Series("link", link, dtype=pl.String)]
    return pl.DataFrame([*columns, pl.Series("records", records), right]).select(
        pl.lit(name).alias("release"), pl.all()
    )


def _holds(fits: Candidates, own: Ints) -> Flags:
    """[persons] whether the own group is one of those that fit."""
    person = owners(fits.start)
    found = np.zeros(fits.persons, dtype=bool)
    found[person[fits.group == own[person]]] = True
    return found


def _count(
    people: pl.DataFrame, release: Release, name: str, own: Ints | None, exposed: list[Rated], beside: list[Rated]
) -> None:
    """Persons by how they are linked, and of those in the release who is linked rightly."""
    kinds = [NEAREST if release.form.located_by_guess(release) else ONE, SEVERAL, NONE]
    single = people.height if release.labels.len() == 1 else 0
    for kind in kinds:
        label = {"release": name, "measure": kind}
        exposed.append((label, people.filter(pl.col("link") == kind).height, people.height))
        beside.append((label, single if kind == kinds[0] else 0, people.height))
    if own is None:
        return
    there = people.filter(pl.col("own").is_not_null())
    largest = int((own == int(release.size.arg_max() or 0)).sum())
    for measure, hit in ((RIGHT, pl.col("groups") == 1), (AMONG, pl.col("groups") > 1)):
        label = {"release": name, "measure": measure}
        exposed.append((label, there.filter(pl.col("own") & hit).height, there.height))
        beside.append((label, largest if measure == RIGHT else 0, there.height))
