"""A history cut into pieces that nothing ties together, each with its part of the register.

Groups that somebody fits, one person or unnamed members, are tied; so are all groups of a table with totals, and of
tables of one population. What is tied is a component, and nothing in one component tells anything of another. A piece
is as many components as make up enough work for one call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference import graphs
from showthrough.inference.row_values import published_values
from showthrough.register.changed import Changed
from showthrough.register.locating_centroids import with_scales
from showthrough.register.reader import Reader, telling
from showthrough.register.register import Register
from showthrough.register.relaxing import guessed, relaxed
from showthrough.register.ties import Ties
from showthrough.register.tying import tied
from showthrough.release.kind import Shows
from showthrough.release.release import Release
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.codes import codes_of, positions
from showthrough.table.frames import one_kind
from showthrough.table.frozen import Frozen
from showthrough.table.ragged import owners, starts

PERSONS = 50_000  # of a piece, about: enough that a call costs little beside the work


@dataclass(frozen=True, eq=False)
class HistoryPiece:
    """Releases over groups that nothing ties to the rest, and what the reader has of their persons."""

    releases: tuple[Release, ...]
    changed: Changed
    register: Register | None = None
    membership: Mapping[str, pl.DataFrame] = field(default_factory=Frozen)
    by_guess: bool = False  # whether it is answered under the first guess of where persons are, which may be refuted


def refuse_whole(releases: Sequence[Release], reader: Reader) -> None:
    """Say what ties everybody to everybody, or is only known of all together, and so cannot be worked on in pieces."""
    for release in releases:
        if release.noise is not None:
            raise InputError(
                "An engine works on pieces of a history, and noisy releases are weighed as a whole: leave engine= "
                "out, or the noisy releases.",
                parameters=("engine",),
            )
    if reader.knowledge or reader.prior is not None:
        raise InputError(
            "An engine works on pieces of a history, which statements and priors about all persons tie together: "
            "leave engine= out, or knowledge= and prior=.",
            parameters=("engine", "knowledge", "prior"),
        )


def components(
    releases: Sequence[Release], ties: Sequence[Ties], persons: int, codes: Sequence[Codes]
) -> tuple[Ints, list[Ints]]:
    """The component of each person, and of each group, release by release; ``codes`` number the ids of the ties."""
    first = persons + starts(np.array([r.labels.len() for r in releases]))
    tails, heads = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    populations: dict[str, int] = {}
    for r, (release, own) in enumerate(zip(releases, ties, strict=True)):
        tails.append(codes[r].astype(np.int64)[owners(own.start)])
        heads.append(own.group + first[r])
        for pool in own.pools:
            tails.append(np.repeat(pool.groups[:1], pool.groups.size) + first[r])
            heads.append(pool.groups + first[r])
        population = release.options.get("population")
        if release.margins or population is not None:
            anchor = populations.setdefault(f"of {population}" if population else f"table {r}", int(first[r]))
            heads.append(np.arange(first[r], first[r + 1]))
            tails.append(np.full(release.labels.len(), anchor))
    _, label = graphs.components(int(first[-1]), np.concatenate(tails), np.concatenate(heads))
    return label[:persons], [label[a:b] for a, b in pairwise(first)]


@dataclass(frozen=True, eq=False)
class Cutting:
    """A history with the component of everybody and every group."""

    heads: tuple[Release, ...]
    names: tuple[str, ...]
    reader: Reader
    ids: pl.Series
    of_person: Ints
    of_group: list[Ints]  # release by release

    @classmethod
    def of(cls, releases: Sequence[Release], reader: Reader) -> Cutting:
        """Find out what is tied together."""
        heads = [r for r in telling(releases, reader.domain, noisy=True) if r.part_of is None]
        names = reader.names_for(heads)
        heads = [replace(r, name=name) for r, name in zip(heads, names, strict=True)]
        refuse_whole(heads, reader)
        if reader.register is not None:
            by_guess = [guessed(reader, r, r.name) for r in heads]
            measured = zip(heads, by_guess, strict=True)
            heads = [with_scales(r, reader.register) if mine else r for r, mine in measured]
        ties = tied(heads, names, reader)
        ids, codes = codes_of(one_kind([own.ids for own in ties], "ids", names))
        return cls(tuple(heads), tuple(names), reader, ids, *components(heads, ties, ids.len(), codes))

    @property
    def by_guess(self) -> bool:
        """Whether persons are located at nearest centroids, which is a guess that gives way for everybody at once."""
        return relaxed(self.reader, self.heads) is not self.reader

    def whole(self, changed: Changed) -> HistoryPiece:
        """All of it as one piece."""
        every = [np.ones(own.size, dtype=bool) for own in self.of_group]
        return replace(_cut(self, every, self.ids, changed), register=self.reader.register, by_guess=False)

    def pieces(self, changed: Changed) -> Iterator[HistoryPiece]:
        """The pieces, in an order that the history alone decides."""
        weight = np.bincount(self.of_person, minlength=int(np.concatenate(self.of_group).max(initial=-1)) + 1)
        piece = np.unique((np.cumsum(weight) - weight) // PERSONS, return_inverse=True)[1]
        for k in range(int(piece.max(initial=-1)) + 1):
            kept = [piece[own] == k for own in self.of_group]
            yield _cut(self, kept, self.ids.filter(pl.Series(piece[self.of_person] == k)), changed)


def _cut(whole: Cutting, kept: Sequence[Flags], ids: pl.Series, changed: Changed) -> HistoryPiece:
    heads, reader = whole.heads, whole.reader
    membership = {
        name: frame.filter(pl.Series(positions(frame["id"].cast(ids.dtype), ids) >= 0))
        for name, frame in reader.membership.items()
    }
    return HistoryPiece(
        tuple(part_of(release, own) for release, own in zip(heads, kept, strict=True)),
        replace(changed, strict=False),
        None if reader.register is None else _persons(reader.register, ids),
        Frozen(membership),
        whole.by_guess,
    )


def part_of(release: Release, kept: Flags) -> Release:
    """The release over some of its groups."""
    if kept.all():
        return release
    keep = pl.Series(kept)
    labels = release.labels.filter(keep)

    def within(groups: pl.Series) -> pl.Series:
        return pl.Series(kept[positions(groups, release.labels)])

    rows = within(release.tally["group"])
    by_person = release.form.shows is Shows.EXACT
    mine = within(release.person_groups()) if by_person else keep
    upper, least, first = release.upper, release.least, release.first_row
    return replace(
        release,
        labels=labels,
        size=release.size.filter(keep),
        tally=release.tally.filter(rows),
        records=release.records.filter(mine) if release.records.width else release.records,
        counterfeits=release.counterfeits.filter(within(release.counterfeits["group"])),
        upper=None if upper is None else upper.filter(rows),
        least=None if least is None else least.filter(keep),
        first_row=None if first is None else first.filter(keep),
        link=None if release.link is None else release.link.filter(within(release.link["group"])),
        elsewhere=published_values(release).unique().sort(),
    )


def _persons(register: Register, ids: pl.Series) -> Register:
    """Some persons of the register."""
    mine = pl.Series(positions(register.ids, ids.cast(register.ids.dtype)) >= 0)
    presence = {name: known.filter(mine) for name, known in register.presence.items()}
    return Register(register.ids.filter(mine), register.quasi.filter(mine), Frozen(presence))
