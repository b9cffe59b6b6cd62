"""What is assumed of a register gives way before a history is called contradictory: near centroids, full tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from showthrough.register.leeway import NEAREST
from showthrough.register.reader import Reader
from showthrough.release.release import Release
from showthrough.table.frozen import Frozen


def relaxed(reader: Reader, releases: Sequence[Release]) -> Reader:
    """The reader who takes the nearest centroids for a guess: the next ones are candidates too.

    For a history whose releases contradict each other. ``releases`` are those that publish values, as
    they are handed to `answer` with the reader. Every call widens the candidates: at first the twelve
    nearest centroids, then four times as many, and so on, so a caller may try again while the contradiction lasts:

        wider = relaxed(reader, releases)
        if wider is reader: ...  # nobody is located by a guess: the contradiction is one
        solved, certificate = answer(wider, releases, changed, progress)

    The same reader comes back where there is nothing (more) to relax. `Reader.notes` says in words what
    was relaxed; a proof keeps the leeway that it was found with and verifies under it.
    """
    near = dict(reader.leeway.near)
    for name, release in zip(reader.names_for(releases), releases, strict=True):
        if guessed(reader, release, name) and near.get(name, NEAREST).least < release.labels.len():
            near[name] = near.get(name, NEAREST).wider()
    if near == reader.leeway.near:
        return reader
    return replace(reader, leeway=replace(reader.leeway, near=Frozen(near)))


def loosened(reader: Reader, releases: Sequence[Release]) -> Reader:
    """The reader who does not take all who fit for members of tables that hide counts; the same if there is none."""
    if reader.register is None:
        return reader
    named = zip(reader.names_for(releases), releases, strict=True)
    fewer = tuple(n for n, r in named if r.ranged and r.part_of is None and r.roles.id is None)
    if set(fewer) <= set(reader.leeway.fewer):
        return reader
    return replace(reader, leeway=replace(reader.leeway, fewer=fewer))


def guessed(reader: Reader, release: Release, name: str) -> bool:
    """Whether the register's persons are located in a release by a guess."""
    by_register = release.roles.id is None and name not in reader.membership and reader.register is not None
    return by_register and release.form.located_by_guess(release)
