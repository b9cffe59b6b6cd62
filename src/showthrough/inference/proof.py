"""Proofs as data: what is claimed, and the weighings of published counts that show it.

A proof stands on its own. `verify` replays it from the published releases in whole numbers, by
`proof_check`, which shares no code with the solver that found it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference import proof_check
from showthrough.register.locating import names_of
from showthrough.register.place import Given, declared, place, register_of
from showthrough.register.placing import Placing
from showthrough.release.release import Release

Replay = Callable[..., bool]


@dataclass(frozen=True)
class WeighedRow:
    """One published count and the whole weight it gets in an argument."""

    release: int  # position in the history
    group: Any
    value: Any
    weight: int


@dataclass(frozen=True)
class Argument:
    """One step of a proof: weighed rows, and the same in words.

    With weights +1 and −1 on one value it is a cut: some groups of one release against some of
    another.
    """

    rows: tuple[WeighedRow, ...]
    text: str

    @property
    def groups(self) -> tuple[tuple[int, Any], ...]:
        """The groups that the argument looks at: (release, group)."""
        return tuple(dict.fromkeys((r.release, r.group) for r in self.rows))


class _Verifiable(ABC):
    """Steps that anybody can replay."""

    steps: tuple[Argument, ...]
    changed: str

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
        told, members = _members(releases, register, membership)
        return members is not None and self._replay()(
            told,
            members,
            domain=declared(told, domain),
            steps=[[(r.release, r.group, r.value, r.weight) for r in s.rows] for s in self.steps],
            split=self.changed == "split",
        )

    @abstractmethod
    def _replay(self) -> Replay:
        """The check of what is claimed, which wants the releases, who can be where, and the steps."""


@dataclass(frozen=True, repr=False)
class Proof(_Verifiable):
    """Why a value is certain or impossible for a person.

    ``by`` is "sets" (the value is missing in one of the person's groups, or the only one common to
    all) or "counts". ``release`` is set for a person that was split off by ``changed="split"``.
    """

    id: Any
    value: Any
    fact: str
    by: str
    steps: tuple[Argument, ...]
    reason: str
    names: tuple[str, ...]
    changed: str = "refuse"
    release: int | None = None

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
    changed: str = "refuse"

    def _replay(self) -> Replay:
        return proof_check.contradicts

    def __str__(self) -> str:
        return "\n".join(_numbered(self.steps))


def _members(
    releases: Sequence[Release], register: Any, membership: Mapping[str, Any] | None
) -> tuple[list[Release], list[proof_check.Members] | None]:
    """Who can be where, worked out anew; None if the releases are not those that the proof is about."""
    told = [r for r in releases if r.roles.sensitive is not None]
    given = Given(register_of([r for r in releases if r.roles.sensitive is None], register), membership or {})
    try:
        placings = [place(release, name, given) for release, name in zip(told, names_of(told), strict=True)]
    except InputError:
        return told, None
    return told, [_as_listed(p, r.labels) for p, r in zip(placings, told, strict=True)]


def _as_listed(placing: Placing, labels: pl.Series) -> proof_check.Members:
    person = np.repeat(np.arange(placing.ids.len()), np.diff(placing.start))
    sure = pl.DataFrame({"id": placing.ids.gather(person), "group": labels.gather(placing.group)})
    away = placing.ids.gather(np.flatnonzero(placing.outside))
    frame = pl.concat([sure, pl.DataFrame({"id": away, "group": pl.Series([None] * away.len(), dtype=labels.dtype)})])
    unnamed = tuple((tuple(labels.gather(pool.groups)), pool.members) for pool in placing.pools)
    return proof_check.Members(frame, unnamed)


def _numbered(steps: Sequence[Argument]) -> list[str]:
    if len(steps) == 1:
        return [steps[0].text]
    return [f"{number}. {step.text}" for number, step in enumerate(steps, start=1)]
