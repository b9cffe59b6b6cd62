"""Proofs as data: what is claimed, and the weighings of published counts and statements that show it.

A proof stands on its own. `verify` replays it from the published releases in whole numbers, by
`proof_check`, which shares no code with the solver that found it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference import proof_check
from showthrough.inference.proof_knowledge import known_sums
from showthrough.inference.words import listed
from showthrough.knowledge.statement import Statement
from showthrough.register.changed import REFUSE
from showthrough.register.informing import informed
from showthrough.register.leeway import Leeway
from showthrough.register.reader import Reader, telling
from showthrough.register.ties import Ties
from showthrough.register.tying import tied
from showthrough.release.release import Release
from showthrough.showing import Showable
from showthrough.table.frozen import Frozen
from showthrough.table.plain import plain
from showthrough.table.ragged import owners

Replay = Callable[..., bool]

FIRST_STEPS, LAST_STEPS = 8, 4  # of a long proof that are told in short


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
    another. ``full`` is the text with every list at length, empty where the text leaves nothing out.
    """

    rows: tuple[WeighedRow | WeighedStatement, ...]
    text: str
    full: str = ""

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
    names: tuple[str, ...]
    changed: str
    parts: Mapping[Any, tuple[int, ...]]
    leeway: Leeway

    @property
    def leans_on(self) -> str:
        """How much is weighed: 7 counts in 5 groups of D1 and D2."""
        counts = {(r.release, r.group, r.value) for step in self.steps for r in step.counts}
        groups = {(release, group) for release, group, _ in counts}
        said = {r.statement for step in self.steps for r in step.rows if isinstance(r, WeighedStatement)}
        where = listed([self.names[release] for release in sorted({release for release, _ in groups})])
        parts = [f"{_several(len(counts), 'count')} in {_several(len(groups), 'group')} of {where}"] if counts else []
        return listed([*parts, *([_several(len(said), "statement")] if said else [])])

    def verify(
        self,
        releases: Sequence[Release],
        *,
        register: Any = None,
        membership: Mapping[str, Any] | None = None,
        domain: Sequence[Any] = (),
        knowledge: Iterable[Statement] = (),
        ranges: proof_check.Ranges | None = None,
    ) -> bool:
        """Re-check the proof from the published releases alone, in whole numbers.

        Where persons were placed by a register or a membership, give the same again; so with ``knowledge``, the
        statements, and with ``ranges``, published counts (release by its place, group, value) known to lie between two.
        """
        reader = Reader.of(releases, register=register, membership=membership, domain=domain, knowledge=knowledge)
        reader = informed(replace(reader, leeway=self.leeway), releases)
        told = telling(releases, domain, noisy=True)
        known = _members(told, reader)
        if known is None:
            return False
        named, unnamed = known
        members, statements = known_sums(reader, told, named)
        return self._replay()(
            told,
            members,
            unnamed=unnamed,
            domain=reader.domain,
            steps=[[_as_checked(row) for row in step.rows] for step in self.steps],
            split=self.changed != REFUSE,
            parts=self.parts,
            ranges=ranges or proof_check.NO_RANGES,
            statements=statements,
        )

    def as_dict(self) -> dict[str, Any]:
        """What is claimed and its steps, as plain data for JSON."""
        return dict(plain(self))

    @abstractmethod
    def _replay(self) -> Replay:
        """The check of what is claimed, which wants the releases, who can be where, and the steps."""


@dataclass(frozen=True, repr=False)
class Proof(Showable, _Verifiable):
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
        """The proof in words, without its conclusion; what is long is shortened."""
        return "\n".join([*_shortened(self.steps), *([self.reason] if self.reason else [])])

    @property
    def summary(self) -> str:
        """The proof in one sentence: what it leans on, and what follows."""
        if not self.steps:
            return f"{self.reason} {self._therefore}"
        steps = "" if len(self.steps) == 1 else f", in {len(self.steps)} steps"
        return f"Because of {self.leans_on}{steps}: {self._claim}."

    @property
    def full(self) -> str:
        """The proof in words with every step, row and list at length."""
        reason = [self.reason] if self.reason else []
        return "\n".join([*_numbered([s.full or s.text for s in self.steps]), *reason, self._therefore])

    def __str__(self) -> str:
        return "\n".join([*([self.reasons] if self.reasons else []), self._therefore])

    @property
    def _claim(self) -> str:
        verb = "has" if self.fact == "certain" else "cannot have"
        who = f"{self.id} (as in {self.names[self.release]})" if self.release is not None else f"{self.id}"
        return f"{who} {verb} {self.value}"

    @property
    def _therefore(self) -> str:
        return f"Therefore {self._claim}."

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

    @property
    def summary(self) -> str:
        """The contradiction in one sentence: what it leans on."""
        return f"No assignment of values to persons fits {self.leans_on}."

    @property
    def full(self) -> str:
        """The contradiction in words with every step, row and list at length."""
        return "\n".join(_numbered([s.full or s.text for s in self.steps]))

    def __str__(self) -> str:
        return "\n".join(_shortened(self.steps))


def _members(
    told: Sequence[Release], reader: Reader
) -> tuple[list[proof_check.Members], list[proof_check.Unnamed]] | None:
    """Who can be where, worked out anew; None if the releases are not those that the proof is about."""
    try:
        found = tied(told, reader.names_for(told), reader)
    except InputError:
        return None
    crowds: dict[tuple[int, int], dict[int, tuple[Any, ...]]] = {}
    for r, (own, release) in enumerate(zip(found, told, strict=True)):
        for k, pool in enumerate(own.pools):
            groups = (*release.labels.gather(pool.groups), *([None] if pool.outside else []))
            home = crowds.setdefault((_root(found, r), k), {})
            if pool.groups.size:
                home[r] = groups
    pools = [(found[r].pools[k], home) for (r, k), home in crowds.items()]
    unnamed = [proof_check.Unnamed(home, pool.members, pool.spare) for pool, home in pools]
    return [_as_listed(p, r.labels) for p, r in zip(found, told, strict=True)], unnamed


def _root(ties: Sequence[Ties], release: int) -> int:
    """The release whose pools those of another are."""
    like = ties[release].like
    return release if like is None else _root(ties, like)


def _as_listed(ties: Ties, labels: pl.Series) -> proof_check.Members:
    person = owners(ties.start)
    sure = pl.DataFrame({"id": ties.ids.gather(person), "group": labels.gather(ties.group)})
    away = ties.ids.gather(np.flatnonzero(ties.outside))
    frame = pl.concat([sure, pl.DataFrame({"id": away, "group": pl.Series([None] * away.len(), dtype=labels.dtype)})])
    return proof_check.Members(frame)


def _as_checked(row: WeighedRow | WeighedStatement) -> proof_check.Row:
    if isinstance(row, WeighedStatement):
        return (None, row.statement, None, row.weight)
    return (row.release, row.group, row.value, row.weight)


def _numbered(texts: Sequence[str]) -> list[str]:
    if len(texts) == 1:
        return [texts[0]]
    return [f"{number}. {text}" for number, text in enumerate(texts, start=1)]


def _shortened(steps: Sequence[Argument]) -> list[str]:
    """The first steps and the last ones; between them how many there are."""
    lines = _numbered([step.text for step in steps])
    between = len(lines) - FIRST_STEPS - LAST_STEPS
    if between < 2:
        return lines
    return [*lines[:FIRST_STEPS], f"… {between} steps like these …", *lines[-LAST_STEPS:]]


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
