"""Proofs as data: what is claimed, and the weighings of published counts and statements that show it.

A proof stands on its own. `verify` replays it from the published releases in whole numbers, by
`proof_check`, which shares no code with the solver that found it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference import proof_check
from showthrough.register.changed import REFUSE
from showthrough.register.leeway import Leeway
from showthrough.register.reader import Reader, telling
from showthrough.register.ties import Ties
from showthrough.register.tying import tie
from showthrough.release.release import Release
from showthrough.table.frozen import Frozen
from showthrough.table.plain import plain
from showthrough.table.ragged import owners

Replay = Callable[..., bool]


@dataclass(frozen=True)
class WeighedRow:
    """One published count and the whole weight it gets in an argument."""

    release: int  # position in the history
    group: Any
    value: Any
    weight: int


@dataclass(frozen=True)
class WeighedStatement:
    """One statement about values, by its name, and the whole weight it gets in an argument."""

    statement: str
    weight: int


@dataclass(frozen=True)
class Argument:
    """One step of a proof: weighed rows, and the same in words.

    With weights +1 and −1 on one value it is a cut: some groups of one release against some of
    another.
    """

    rows: tuple[WeighedRow | WeighedStatement, ...]
    text: str

    @property
    def counts(self) -> tuple[WeighedRow, ...]:
        """The published counts among the rows."""
        return tuple(row for row in self.rows if isinstance(row, WeighedRow))

    @property
    def groups(self) -> tuple[tuple[int, Any], ...]:
        """The groups that the argument looks at: (release, group)."""
        return tuple(dict.fromkeys((r.release, r.group) for r in self.counts))


class _Verifiable(ABC):
    """Steps that anybody can replay."""

    steps: tuple[Argument, ...]
    changed: str
    parts: Mapping[Any, tuple[int, ...]]
    leeway: Leeway

    def verify(
        self,
        releases: Sequence[Release],
        *,
        register: Any = None,
        membership: Mapping[str, Any] | None = None,
        domain: Sequence[Any] = (),
    ) -> bool:
        """Re-check the proof from the published releases alone, in whole numbers.

        Where persons were placed by a register or a membership, give the same again.
        """
        reader = Reader.of(releases, register=register, membership=membership, domain=domain)
        reader = replace(reader, leeway=self.leeway)
        told = telling(releases)
        members = _members(told, reader)
        return members is not None and self._replay()(
            told,
            members,
            domain=reader.domain,
            steps=[[_as_checked(row) for row in step.rows] for step in self.steps],
            split=self.changed != REFUSE,
            parts=self.parts,
        )

    def as_dict(self) -> dict[str, Any]:
        """What is claimed and its steps, as plain data for JSON."""
        return dict(plain(self))

    @abstractmethod
    def _replay(self) -> Replay:
        """The check of what is claimed, which wants the releases, who can be where, and the steps."""


@dataclass(frozen=True, repr=False)
class Proof(_Verifiable):
    """Why a value is certain or impossible for a person.

    ``by`` is "sets" (the value is missing in one of the person's groups, or the only one common to
    all) or "counts". ``parts`` is a premise: the ids that stand for several persons because their value changed, with
    the releases that name these. ``release`` is set for such a person.
    """

    id: Any
    value: Any
    fact: str
    by: str
    steps: tuple[Argument, ...]
    reason: str
    names: tuple[str, ...]
    changed: str = REFUSE
    release: int | None = None
    parts: Mapping[Any, tuple[int, ...]] = field(default_factory=Frozen)
    leeway: Leeway = field(default_factory=Leeway)  # where assumptions about the register gave way

    def _replay(self) -> Replay:
        return partial(proof_check.holds, person=(self.id, self.release), value=self.value, fact=self.fact)

    @property
    def reasons(self) -> str:
        """The proof in words, without its conclusion."""
        return "\n".join([*_numbered(self.steps), *([self.reason] if self.reason else [])])

    def __str__(self) -> str:
        verb = "has" if self.fact == "certain" else "cannot have"
        who = f"{self.id} (as in {self.names[self.release]})" if self.release is not None else f"{self.id}"
        return "\n".join([*([self.reasons] if self.reasons else []), f"Therefore {who} {verb} {self.value}."])

    def __repr__(self) -> str:
        verb = "certain" if self.fact == "certain" else "impossible"
        return f"<proof by {self.by} in {len(self.steps)} steps: {self.value} is {verb} for {self.id}>"


@dataclass(frozen=True)
class Contradiction(_Verifiable):
    """Why no assignment of values to persons fits the releases; the last step is overfull."""

    steps: tuple[Argument, ...]
    names: tuple[str, ...]
    changed: str = REFUSE
    parts: Mapping[Any, tuple[int, ...]] = field(default_factory=Frozen)
    leeway: Leeway = field(default_factory=Leeway)

    def _replay(self) -> Replay:
        return proof_check.contradicts

    def __str__(self) -> str:
        return "\n".join(_numbered(self.steps))


def _members(told: Sequence[Release], reader: Reader) -> list[proof_check.Members] | None:
    """Who can be where, worked out anew; None if the releases are not those that the proof is about."""
    try:
        tied = [tie(release, name, reader) for release, name in zip(told, reader.names_for(told), strict=True)]
    except InputError:
        return None
    return [_as_listed(p, r.labels) for p, r in zip(tied, told, strict=True)]


def _as_listed(ties: Ties, labels: pl.Series) -> proof_check.Members:
    person = owners(ties.start)
    sure = pl.DataFrame({"id": ties.ids.gather(person), "group": labels.gather(ties.group)})
    away = ties.ids.gather(np.flatnonzero(ties.outside))
    frame = pl.concat([sure, pl.DataFrame({"id": away, "group": pl.Series([None] * away.len(), dtype=labels.dtype)})])
    unnamed = tuple((tuple(labels.gather(pool.groups)), pool.members) for pool in ties.pools)
    return proof_check.Members(frame, unnamed)


def _as_checked(row: WeighedRow | WeighedStatement) -> proof_check.Row:
    if isinstance(row, WeighedStatement):
        return (None, row.statement, None, row.weight)
    return (row.release, row.group, row.value, row.weight)


def _numbered(steps: Sequence[Argument]) -> list[str]:
    if len(steps) == 1:
        return [steps[0].text]
    return [f"{number}. {step.text}" for number, step in enumerate(steps, start=1)]
