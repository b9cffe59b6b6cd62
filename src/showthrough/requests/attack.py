"""Attack releases: read them and what the attacker has, run one attack, and score it where the truth is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import polars as pl

from showthrough.attacks.bayes import bayes
from showthrough.attacks.outcomes import Outcome
from showthrough.attacks.statistics import Score
from showthrough.errors import FieldError
from showthrough.inference.infer import SECONDS
from showthrough.progress import Progress
from showthrough.register.history_file import HistoryEntries
from showthrough.table.entries import between
from showthrough.table.files import read_table
from showthrough.table.frames import need_columns


@dataclass(frozen=True)
class BayesRequest(HistoryEntries):
    """One release, and priors by the name of who has them, as files of p by person and value.

    ``theta`` is how far a belief has to move. ``truth`` is the publisher's own table: the release's columns of id and
    value, or id and value.
    """

    priors: Mapping[str, str] = field(default_factory=dict)
    theta: float = 0.2
    truth: str | None = None
    seconds: float = SECONDS

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        priors = {name: os.fspath(folder / file) for name, file in self.priors.items()}
        truth = None if self.truth is None else os.fspath(folder / self.truth)
        return replace(super().under(folder), priors=priors, truth=truth)

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *map(Path, self.priors.values()), *([] if self.truth is None else [Path(self.truth)])]

    def check(self) -> None:
        """One release, a prior, and numbers in their ranges."""
        super().check()
        between("seconds", self.seconds, 0)
        if len(self.release) != 1:
            raise FieldError("release", "is one release: this attack looks at one at a time.")
        if not self.priors:
            raise FieldError("prior", "is missing: name a file of p by person and value.")


@dataclass(frozen=True, eq=False)
class AttackResult:
    """What came out, and how right it is, if the truth is known."""

    outcome: Outcome
    score: Score | None

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        return {**self.outcome.as_dict(), "score": None if self.score is None else self.score.as_dict()}


def run_bayes(request: BayesRequest, progress: Progress | Callable[[str], None] | None = None) -> AttackResult:
    """Read, attack, score."""
    tell = Progress.of(progress)
    tell.stage("reading")
    (release, *_), register = request.load()
    priors = {name: read_table(file, encoding=request.encoding) for name, file in request.priors.items()}
    true = None
    if request.truth is not None:
        columns = (request.id or release.roles.id, release.sensitive)
        true = _true(read_table(request.truth, encoding=request.encoding), *columns)
    given = priors if len(priors) > 1 else next(iter(priors.values()))
    found = bayes(release, given, request.theta, register=register, seconds=request.seconds, progress=tell)
    return AttackResult(found, None if true is None else found.score(true))


def _true(table: pl.DataFrame, id: str | None, value: str | None) -> pl.DataFrame:
    """The publisher's table as id and value."""
    found = []
    for name, own in (("id", id), ("value", value)):
        column = name if own is None or own not in table.columns else own
        need_columns(table, [column], "The truth")
        found.append(table[column].alias(name))
    return pl.DataFrame(found)
