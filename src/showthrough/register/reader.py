"""The reader: what the adversary has beside the releases.

Releases are read by somebody. What a *reader* brings along decides how persons are tied to groups: by
the ids that a release publishes, by a membership that the reader knows, or by a register with everybody's
quasi-identifiers. All of that, and the values that somebody outside a release may have, stands in one
`Reader`, which is made once, checks itself, and is handed from the inference to the proofs. The public
functions take its parts one by one (``infer(register=…, membership=…, domain=…)``) and make a reader at
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from showthrough.errors import InputError
from showthrough.knowledge.assertion import Informed
from showthrough.knowledge.prior import Prior
from showthrough.knowledge.statement import Statement
from showthrough.numerals import number_of
from showthrough.register.leeway import Leeway
from showthrough.register.locating import names_of
from showthrough.register.register import PRESENCE, Register
from showthrough.register.value_cells import resolved
from showthrough.release.noisy import refuse_noise
from showthrough.release.ranged import layers
from showthrough.release.release import Release
from showthrough.table.frames import listed_values, need_columns, scalar, to_polars
from showthrough.table.frozen import Frozen
from showthrough.table.hierarchy import Hierarchy
from showthrough.table.plain import as_set, fingerprint, plain


@dataclass(frozen=True, eq=False, repr=False)
class Reader:
    """What somebody who reads the releases has beside them.

    ``membership`` maps the name of a release to a frame of id and group: everybody it lists is in one of
    the groups listed for the id; an empty group says that the person may not be in the release.
    ``domain`` are values that somebody outside a release may have, besides those of the history.
    ``names`` is what the releases are called, if not by their own names. ``leeway`` is where the reader's
    assumptions give way; ``trees`` are the hierarchies that any release has, by column. ``knowledge`` are statements
    about values, ``prior`` is what is believed before any release, and ``informed`` both, looked up among the persons
    of a whole history.
    """

    register: Register | None = None
    membership: Mapping[str, pl.DataFrame] = field(default_factory=Frozen)
    domain: tuple[Any, ...] = ()
    names: tuple[str, ...] | None = None
    leeway: Leeway = field(default_factory=Leeway)
    trees: Mapping[str, Hierarchy] = field(default_factory=Frozen)
    knowledge: tuple[Statement, ...] = ()
    prior: Prior | None = None
    informed: Informed | None = None
    elastic: bool = False  # whether statements that contradict the releases give way

    @classmethod
    def of(
        cls,
        releases: Sequence[Release] = (),
        *,
        register: Any = None,
        membership: Mapping[str, Any] | None = None,
        domain: Iterable[Any] = (),
        knowledge: Iterable[Statement] = (),
        prior: Any = None,
        elastic: bool = False,
    ) -> Reader:
        """A reader of some releases, from what the public functions are given.

        Releases without a sensitive column tell who is who: they join the register. The values that a
        release declares possible join the domain.
        """
        found = cls(
            None if register is None else Register.of(register),
            _members(membership or {}),
            tuple(listed_values(domain, "domain").unique(maintain_order=True)),
            knowledge=_stated(knowledge),
            prior=None if prior is None else _believed(prior, releases),
            elastic=bool(elastic),
        )
        for release in releases:
            found = found.and_read(release)
        return found

    def and_read(self, release: Release) -> Reader:
        """The same reader with what one more release tells beside its counts."""
        known = replace(self, informed=None)  # statements may speak of its persons too
        if release.hierarchies:
            known = replace(known, trees=Frozen({**release.hierarchies, **self.trees}))
        if release.sensitive is None:
            return replace(known, register=_joined(self.register, release))
        if not release.domain:
            return known
        return replace(known, domain=tuple(dict.fromkeys([*self.domain, *release.domain])))

    @property
    def known_before(self) -> frozenset[str]:
        """The ids, as text, of persons whose value the reader is said to know: no release gives these away."""
        return frozenset(str(id) for said in self.knowledge if said.kind == "known" for id in said.ids)

    def knowing(self, informed: Informed) -> Reader:
        """The same with statements and prior looked up."""
        return replace(self, informed=informed)

    def called(self, names: Sequence[str] | None) -> Reader:
        """The same reader of other releases, by their names: who is a stranger there, these releases tell anew."""
        leeway = Leeway(self.leeway.near)
        return replace(self, names=None if names is None else tuple(names), leeway=leeway)

    def strict(self) -> Reader:
        """The same reader, whose assumptions have not given way."""
        return replace(self, leeway=Leeway())

    def without_persons(self) -> Reader:
        """The same reader for whoever must not see persons: a register and memberships of nobody, where it has them."""
        register = self.register
        nobody = None if register is None else Register(register.ids.clear(), register.quasi.clear())
        empty = Frozen({name: frame.clear() for name, frame in self.membership.items()})
        return replace(self, register=nobody, membership=empty)

    def notes(self) -> tuple[str, ...]:
        """What gave way, in sentences with counts only; `Posterior.unfilled` tells of strangers."""
        near = [
            f"{name}: the nearest centroids contradict the other releases, so the {near.least} nearest of everybody "
            "count as possible."
            for name, near in self.leeway.near.items()
        ]
        absent = [
            f"{len(ids)} of the register's persons who fit groups of {name} count as absent from it: other releases "
            "leave them none of the values of these groups. If they are known to be in it, say so: then their values "
            "have changed."
            for name, ids in self.leeway.absent.items()
        ]
        anywhere = [
            f"{len(ids)} of the register's persons may be in any group of {name}: of those with a near centroid none "
            "publishes a value that other releases leave to them."
            for name, ids in self.leeway.anywhere.items()
        ]
        fewer = [
            f"{name}: not everybody of the register who fits is taken to be in it, as that contradicts the counts."
            for name in self.leeway.fewer
        ]
        return (*near, *absent, *anywhere, *fewer)

    def names_for(self, releases: Sequence[Release]) -> list[str]:
        """What the releases are called."""
        return list(names_of(releases) if self.names is None else self.names)

    def checked(self, releases: Sequence[Release]) -> Reader:
        """The same reader, if all that is said of a release is said of one of these.

        A register may serve longer histories than this one and say who is in other releases too. But where
        it says nothing of a release in which persons are located, a name was most likely misspelled.
        """
        names = self.names_for(releases)
        are = f"but the releases are {', '.join(names)}"
        for name in self.membership:
            if name not in names:
                raise InputError(f"A membership is given for {name!r}, {are}.")
        presence = {} if self.register is None else self.register.presence
        strange = [name for name in presence if name not in names]
        located = [
            n
            for n, r in zip(names, releases, strict=True)
            if r.roles.id is None and n not in self.membership and r.part_of is None
        ]
        unsaid = [name for name in located if name not in presence]
        if strange and unsaid:
            raise InputError(
                f"The register says who is in {strange[0]!r} (column {PRESENCE}{strange[0]}), {are}: name the column "
                f"after one of them or leave it out, or add an empty column {PRESENCE}{unsaid[0]} if nothing is known "
                f"of {unsaid[0]}."
            )
        return self

    def ties(self, release: Release, name: str) -> bool:
        """Whether the persons of a release are tied to its groups by anything but their rows."""
        return self.tied_by(release, name) != "nothing"

    def tied_by(self, release: Release, name: str) -> str:
        """What tells who can be in which group of a release: the first of what there is, as `tie` takes it."""
        known = {
            "membership": name in self.membership,
            "ids": release.roles.id is not None,
            "register": self.register is not None,
            "link": release.link is not None,
        }
        return next((what for what, there in known.items() if there), "nothing")

    def fingerprint(self) -> str:
        """The SHA-256 of all that the reader has."""
        known: dict[str, Any] = {
            "register": None if self.register is None else self.register.fingerprint(),
            "membership": {name: as_set(frame) for name, frame in self.membership.items()},
            "domain": sorted(str(value) for value in self.domain),
        }
        if self.knowledge:
            known["knowledge"] = sorted(str(said) for said in self.knowledge)
        if self.elastic:
            known["elastic"] = True
        if self.prior is not None:
            known["prior"] = self.prior.fingerprint()
        return fingerprint(known | ({"leeway": plain(self.leeway)} if self.leeway else {}))

    def __repr__(self) -> str:
        who = "nobody" if self.register is None else number_of(len(self.register), "person")
        known = f", members of {', '.join(self.membership)}" if self.membership else ""
        return f"<reader with a register of {who}{known}>"


def telling(releases: Sequence[Release], domain: Iterable[Any] = (), *, noisy: bool = False) -> list[Release]:
    """The releases that publish values, each table with its margins behind it; the others act as registers.

    Who reads counts as they stand cannot do with noise: only with ``noisy`` are such releases taken.
    """
    own = [r for r in releases if r.part_of is None]  # margins come with their tables
    for release in () if noisy else own:
        refuse_noise(release, "reading counts as they stand")
    told = [layer for r in own if r.sensitive is not None for layer in layers(r)]
    if releases and not told:
        raise InputError("No release has a sensitive column: there is nothing to infer.")
    return resolved(told, domain)


def _stated(knowledge: Any) -> tuple[Statement, ...]:
    """Statements, one by one."""
    listed = [knowledge] if isinstance(knowledge, Statement) else knowledge
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        raise InputError(
            "knowledge is a list of statements (see showthrough.knowledge), or what read_knowledge gives.",
            parameters=("knowledge",),
        )
    found = tuple(listed)
    strange = [type(one).__name__ for one in found if not isinstance(one, Statement)]
    if strange:
        raise InputError(f"knowledge is a list of statements, not of {strange[0]}.", parameters=("knowledge",))
    return found


def _believed(prior: Any, releases: Sequence[Release]) -> Prior:
    """A prior, whose columns of ids and values may be called as in the releases."""
    ids = tuple(dict.fromkeys(r.roles.id for r in releases if r.roles.id is not None))
    values = tuple(dict.fromkeys(r.sensitive for r in releases if r.sensitive is not None))
    return Prior.of(prior, ids=ids, values=values)


def _members(membership: Mapping[str, Any]) -> Mapping[str, pl.DataFrame]:
    """Who is in which group of a release, as frames of id and group."""
    found = {}
    for name, given in membership.items():
        frame, where = to_polars(given), f"The membership of {name}"
        need_columns(frame, ["id", "group"], where)
        ids, groups = scalar(frame["id"], f"{where}: ids"), scalar(frame["group"], f"{where}: groups")
        if ids.null_count():
            raise InputError(f"{where} has rows without an id.")
        found[name] = pl.DataFrame({"id": ids, "group": groups})
    return Frozen(found)


def _joined(register: Register | None, release: Release) -> Register:
    """The register with the persons of a release without a sensitive column."""
    if release.roles.id is None:
        raise InputError(
            f"{release.name or 'A release'} has neither a sensitive column nor ids: it tells nothing about "
            "anybody. Name its sensitive column, or its id column to use it as a register."
        )
    own = Register.of(
        release.records, id=release.roles.id, quasi=release.roles.quasi, where=release.name or "The release"
    )
    return own if register is None else register.joined(own)
