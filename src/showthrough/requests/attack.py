"""Attack releases: read them and what the attacker has, run one attack, and score it where the truth is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from showthrough.attacks.outcomes import Outcome
from showthrough.attacks.statistics import Score
from showthrough.errors import FieldError
from showthrough.inference.infer import SECONDS
from showthrough.progress import Progress
from showthrough.register.history_file import HistoryEntries
from showthrough.register.reader import telling
from showthrough.requests.attack_entries import ATTACKS
from showthrough.requests.attack_entries.attacked import Attacked, as_truth
from showthrough.requests.attack_entries.base import AttackEntries
from showthrough.table.entries import between
from showthrough.table.files import read_table


@dataclass(frozen=True)
class AttackedEntries(HistoryEntries):
    """A history, and what all attacks take.

    ``truth`` is the publisher's own table: the releases' columns of id and value, or id and value. ``seconds`` bound
    each inference, ``seed`` is that of attacks that sample.
    """

    truth: str | None = None
    seconds: float = SECONDS
    seed: int = 0

    @classmethod
    def of_history(cls, told: HistoryEntries, asked: Mapping[str, Any]) -> Self:
        """An attack on what a history file names."""
        return cls(**{f.name: getattr(told, f.name) for f in fields(HistoryEntries)}, **asked)

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        truth = None if self.truth is None else os.fspath(folder / self.truth)
        return replace(super().under(folder), truth=truth)

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *([] if self.truth is None else [Path(self.truth)])]

    def check(self) -> None:
        """Numbers in their ranges."""
        super().check()
        between("seconds", self.seconds, 0)
        between("seed", self.seed, 0)

    def given(self, tell: Progress) -> Attacked:
        """What the request names, read."""
        tell.stage("reading")
        releases, register = self.load()
        truth = table = None
        if self.truth is not None:
            told = telling(releases, noisy=True)
            ids = (self.id, *(r.roles.id for r in told))
            table = read_table(self.truth, encoding=self.encoding)
            value = next((r.sensitive for r in told if r.sensitive in table.columns), told[0].sensitive)
            truth = as_truth(table, next((c for c in ids if c is not None), None), value)
        return Attacked(tuple(releases), register, truth, table, self.seconds, self.seed, tell, self.encoding, self.id)


@dataclass(frozen=True)
class AttackRequest(AttackedEntries):
    """A history, the name of an attack, and the options of that attack."""

    attack: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entries(self) -> AttackEntries:
        """The options, checked."""
        return ATTACKS[self.attack].from_dict(self.options)

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        choices = ATTACKS[self.attack].choices()
        moved = {
            name: _under(given, folder) if name in choices and choices[name].file else given
            for name, given in self.options.items()
        }
        return replace(super().under(folder), options=moved)

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *self.entries.files()]

    def check(self) -> None:
        """A known attack, options that are its own, and as many releases as it takes."""
        super().check()
        if self.attack not in ATTACKS:
            raise FieldError("attack", f"is one of {', '.join(ATTACKS)}.")
        if self.entries.one and len(self.release) != 1:
            raise FieldError("release", "is one release: this attack looks at one at a time.")


def _under(given: Any, folder: Path) -> Any:
    """Paths of an option seen from a folder."""
    if isinstance(given, Mapping):
        return {name: os.fspath(folder / file) for name, file in given.items()}
    if isinstance(given, (list, tuple)):
        return tuple(os.fspath(folder / file) for file in given)
    return os.fspath(folder / given) if given else given


@dataclass(frozen=True, eq=False)
class AttackResult:
    """What came out, and how right it is, if the truth is known."""

    outcome: Outcome
    score: Score | None

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        return {**self.outcome.as_dict(), "score": None if self.score is None else self.score.as_dict()}


def run_attack(request: AttackRequest, progress: Progress | Callable[[str], None] | None = None) -> AttackResult:
    """Read, attack, score."""
    entries, given = request.entries, request.given(Progress.of(progress))
    found = entries.run(given)
    return AttackResult(found, scored(entries, found, given))


def scored(entries: AttackEntries, found: Outcome, given: Attacked) -> Score | None:
    """How right an attack is, if it gives beliefs of anybody and the truth is known."""
    truth = entries.truth(given) if found.beliefs and found.rates["of"].sum() else None
    return None if truth is None else found.score(truth)
