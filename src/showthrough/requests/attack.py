"""Attack releases: read them and what the attacker has, run one attack, and score it where the truth is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import polars as pl

from showthrough.attacks.background import background
from showthrough.attacks.bayes import bayes
from showthrough.attacks.outcomes import Outcome
from showthrough.attacks.statistics import Score
from showthrough.errors import FieldError
from showthrough.inference.infer import SECONDS
from showthrough.knowledge.mining import mine
from showthrough.progress import Progress
from showthrough.register.history_file import HistoryEntries
from showthrough.register.reader import telling
from showthrough.register.register import Register
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


@dataclass(frozen=True)
class BackgroundRequest(HistoryEntries):
    """A history, and the publisher's own table whose strongest rules the attacker holds.

    ``positive``, ``negative``, ``support`` and ``columns`` are those of `showthrough.knowledge.mine`; ``limit`` is how
    sure a reader may be. The table scores the beliefs too, where it has ids.
    """

    table: str = ""
    positive: int = 10
    negative: int = 10
    support: int = 3
    columns: int = 1
    limit: float = 1.0
    elastic: bool = False
    seconds: float = SECONDS

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        return replace(super().under(folder), table=os.fspath(folder / self.table))

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), Path(self.table)]

    def check(self) -> None:
        """A table, and numbers in their ranges."""
        super().check()
        between("seconds", self.seconds, 0)
        if not self.table:
            raise FieldError("table", "is missing: name the table that the rules come from.")


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


def run_background(
    request: BackgroundRequest, progress: Progress | Callable[[str], None] | None = None
) -> AttackResult:
    """Read, mine the table, attack with more and more rules, score."""
    tell = Progress.of(progress)
    tell.stage("reading")
    releases, register = request.load()
    told = telling(releases)
    table = read_table(request.table, encoding=request.encoding)
    quasi = list(dict.fromkeys(c for r in told for c in r.roles.quasi if c in table.columns))
    sensitive = next((r.sensitive for r in told if r.sensitive in table.columns), None)
    if sensitive is None:
        raise FieldError("table", "lacks the sensitive column of the releases.")
    id = next((c for c in (request.id, *(r.roles.id for r in told), "id") if c in table.columns), None)
    if register is None and all(r.roles.id is None for r in told) and id is not None:
        register = Register.of(table.select(id, *quasi), id=id)
    rules = mine(
        table,
        sensitive=sensitive,
        quasi=quasi,
        positive=request.positive,
        negative=request.negative,
        support=request.support,
        columns=request.columns,
    )
    found = background(
        releases,
        rules,
        request.limit,
        register=register,
        elastic=request.elastic,
        seconds=request.seconds,
        progress=tell,
    )
    return AttackResult(found, None if id is None else found.score(_true(table, id, sensitive)))


def _true(table: pl.DataFrame, id: str | None, value: str | None) -> pl.DataFrame:
    """The publisher's table as id and value."""
    found = []
    for name, own in (("id", id), ("value", value)):
        column = name if own is None or own not in table.columns else own
        need_columns(table, [column], "The truth")
        found.append(table[column].alias(name))
    return pl.DataFrame(found)
