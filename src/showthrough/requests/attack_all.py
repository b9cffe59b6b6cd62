"""All attacks at once: every one that can run on what is given, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from showthrough.attacks.outcomes import Outcome
from showthrough.attacks.statistics import Score, true_values
from showthrough.attacks.targets import attacked
from showthrough.errors import Cancelled, InputError, InternalError, ShowthroughError
from showthrough.inference.clock import Clock
from showthrough.inference.infer import SECONDS
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.requests.attack import AttackedEntries, AttackResult, scored
from showthrough.requests.attack_entries import ATTACKS
from showthrough.requests.attack_entries.attacked import Attacked
from showthrough.requests.attack_entries.base import AttackEntries
from showthrough.table.frames import to_polars

_FIGURES = ("persons", "of", "share", "low", "high")
TIME = "The time was over before it began."


@dataclass(frozen=True)
class AllAttacksRequest(AttackedEntries):
    """A history for all attacks; ``seconds`` bound them together."""


_SPEAKING = {"measure", "persons who are"}
"""Columns whose entries say by themselves what is counted."""


def _named(column: str, entry: Any) -> str:
    return str(entry) if column in _SPEAKING else f"{column} {entry}"


@dataclass(frozen=True, eq=False, repr=False)
class AllAttacks:
    """What came out of all attacks that could run."""

    results: Mapping[str, AttackResult]
    """By attack, those on one release at a time by attack and release."""
    not_run: Mapping[str, str]
    """Why the others were not run, in one sentence each."""
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of those that something would let run: the parameters that are missing."""

    @property
    def table(self) -> pl.DataFrame:
        """All rates: attack, measure, persons, of, share, low and high, and persons of the baseline."""
        rows = []
        for name, result in self.results.items():
            found = result.outcome
            keys = [c for c in found.rates.columns if c not in _FIGURES]
            for row in found.rates.iter_rows(named=True):
                measure, beside = ", ".join(_named(c, row[c]) for c in keys), found.beside(row)
                figures = tuple(row[name] for name in _FIGURES)
                rows.append((name, measure, *figures, None if beside is None else beside[0]))
        schema = {
            "attack": pl.String, "measure": pl.String, "persons": pl.Int64, "of": pl.Int64, "share": pl.Float64,
            "low": pl.Float64, "high": pl.Float64, "baseline": pl.Int64,
        }  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def scores(self) -> pl.DataFrame | None:
        """How right the beliefs are, as far as that gives nobody away: attack, belief, persons, accuracy and more."""
        parts = []
        for name, result in self.results.items():
            if result.score is None:
                continue
            told = result.score.told()
            keys = told.columns[: told.columns.index("persons")]
            belief = pl.concat_str([pl.col(c).cast(pl.String) for c in keys], separator=", ").alias("belief")
            figures = ("persons", "accuracy", "low", "high", "brier", "calibration_error", "decile")
            parts.append(told.select(pl.lit(name).alias("attack"), belief, *figures))
        return pl.concat(parts, how="vertical_relaxed") if parts else None

    def private(self) -> pl.DataFrame:
        """What came out for everybody, for internal eyes: attack, then the columns of all of them."""
        parts = [
            result.outcome.private().select(pl.lit(name).alias("attack"), pl.all().cast(pl.String))
            for name, result in self.results.items()
        ]
        return pl.concat(parts, how="diagonal") if parts else pl.DataFrame(schema={"attack": pl.String})

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        return {
            "attacks": {name: result.as_dict() for name, result in self.results.items()},
            "not_run": dict(self.not_run),
            "lacking": {name: list(names) for name, names in self.lacking.items()},
        }

    def __str__(self) -> str:
        told = [f"{name}:\n{result.outcome}" for name, result in self.results.items()]
        return "\n\n".join([*told, *(f"{name} was not run. {why}" for name, why in self.not_run.items())])

    def __repr__(self) -> str:
        return f"<{len(self.results)} attacks; not run: {', '.join(self.not_run) or 'none'}>"


def attack_all(
    releases: Release | Sequence[Release],
    *,
    register: Any = None,
    truth: Any = None,
    seconds: float = SECONDS,
    seed: int = 0,
    progress: Progress | Callable[[str], None] | None = None,
) -> AllAttacks:
    """Run every attack that can run on these releases, with its own defaults.

    ``truth`` is a frame of id and value, against which beliefs are scored; with the quasi-identifiers of the releases
    it also has the rules of the background attack. ``seconds`` bound all of them together:
    each may take an equal part of what is left. Attacks on one release are run on each.
    """
    given = tuple(attacked(releases))
    known = None if register is None else Register.of(register)
    own = None if truth is None else to_polars(truth)
    true = None if own is None else true_values(own)
    return _all(Attacked(given, known, true, own, seconds, seed, Progress.of(progress)))


def run_all_attacks(request: AllAttacksRequest, progress: Progress | Callable[[str], None] | None = None) -> AllAttacks:
    """Read, attack, score."""
    return _all(request.given(Progress.of(progress)))


def _all(given: Attacked) -> AllAttacks:
    clock = Clock(given.seconds, given.tell)
    asked = [run for name, kind in ATTACKS.items() for run in _runs(name, kind, given)]
    not_run = {name: why for name, kind, own in asked if (why := kind.unable(own))}
    able = [run for run in asked if run[0] not in not_run]
    results = {}
    for number, (name, kind, own) in enumerate(able):
        if clock.over:
            not_run[name] = TIME
            continue
        given.tell.stage(f"attack {name}")
        try:
            entries, mine = kind.usual(own), replace(own, seconds=clock.left() / (len(able) - number))
            found = entries.run(mine)
        except (InternalError, Cancelled):
            raise
        except ShowthroughError as problem:
            not_run[name] = problem.shareable
            continue
        results[name] = AttackResult(found, _scored(entries, found, mine))
    missing = {name: kind.lacks(own) for name, kind, own in asked if name in not_run and kind.unable(own)}
    return AllAttacks(results, not_run, {name: lacks for name, lacks in missing.items() if lacks})


def _scored(entries: AttackEntries, found: Outcome, given: Attacked) -> Score | None:
    """The score, if the truth tells of persons of whom the attack tells anything."""
    try:
        return scored(entries, found, given)
    except InputError:
        return None


def _runs(name: str, kind: type[AttackEntries], given: Attacked) -> list[tuple[str, type[AttackEntries], Attacked]]:
    """An attack on all releases, or on each of those that publish values."""
    telling = [release for release in given.releases if release.sensitive is not None]
    if not kind.one or len(telling) < 2 or kind.unable(given):
        return [(name, kind, replace(given, releases=tuple(telling)) if kind.one and telling else given)]
    return [
        (f"{name} ({release.name or f'release {k}'})", kind, replace(given, releases=(release,)))
        for k, release in enumerate(telling, start=1)
    ]
