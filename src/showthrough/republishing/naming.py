"""Releases without ids beside a register: who is in which group, as far as only one group fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.errors import ReleaseError
from showthrough.register.locating import locate
from showthrough.register.register import Register
from showthrough.release.counterfeits import per_group
from showthrough.release.release import Release
from showthrough.republishing.only_places import only_places
from showthrough.table.ragged import owners


@dataclass(frozen=True)
class Untied:
    """How many persons of a register fit ``several`` groups of a release, and how many rows ``nobody`` of it fits."""

    several: int = 0
    nobody: int = 0


def named(release: Release, name: str, register: Register | None) -> tuple[Release, Untied]:
    """The release with a link to the persons of a register who fit one of its groups; and who is left out.

    A release with ids, with a private link or of noisy counts stays as it is. Whom the register knows to be absent is
    in no group. Who fits several groups is tied to one where as many persons fit as there are rows and no other
    place is left, and else to none, as whoever shares one with more persons than it has members: those seats are
    somebody's whom nobody knows.
    """
    if release.roles.id is not None or release.link is not None or release.noise is not None:
        return release, Untied()
    if register is None:
        raise ReleaseError(
            f"{name} publishes no ids and has no private link beside it: name a register (register=), or give the "
            "folder that it was published with.",
            parameters=("register",),
        )
    located = locate(release, name, register)
    found = located.candidates
    fits = np.diff(found.start)
    if name in register.presence:
        fits = np.where(register.presence[name].fill_null(True).to_numpy(), fits, 0)
    every = owners(found.start)
    at = np.flatnonzero(fits[every] > 0)
    person, group = every[at], np.asarray(found.group)[at].astype(np.int64)
    members = release.size.to_numpy() - per_group(release.counterfeits, release.labels).to_numpy()
    only = only_places(person, group, fits.size, members)
    tied = (fits[person] == 1) | (only[person] == group)
    person, group, several = person[tied], group[tied], int(((fits > 1) & (only < 0)).sum())
    crowd = np.bincount(group, minlength=members.size)
    room = crowd <= members
    person, group = person[room[group]], group[room[group]]
    others = np.repeat(np.arange(members.size), members - np.where(room, crowd, 0))
    ids = [*register.ids.gather(person).cast(pl.String), *(f"{name}, unnamed {k + 1}" for k in range(others.size))]
    link = pl.DataFrame({"id": ids, "group": release.labels.gather(np.concatenate([group, others]))})
    nobody = 0 if located.unfilled is None else located.unfilled.rows
    return release.with_link(link), Untied(several + int(crowd[~room].sum()), nobody)
