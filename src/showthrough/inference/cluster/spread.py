"""The answer of a history that was worked on in pieces: figures here, persons in tables beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.errors import ContradictionError, InputError
from showthrough.inference.certificate import STATES, Certificate
from showthrough.inference.cluster.pieces import ANSWER, FACTS, PEOPLE, TABLES, PieceAnswer
from showthrough.inference.facts import FactCounts
from showthrough.inference.splitting import ChangedCounts
from showthrough.numerals import number_of
from showthrough.register.reader import Reader
from showthrough.register.unfilled import Unfilled
from showthrough.release.release import Release


@dataclass(frozen=True, eq=False, repr=False)
class SpreadPosterior:
    """P(value | person) from all releases together, made by `infer` with an engine.

    The figures are here. What is known of persons stands in folders of Parquet files under ``folder``, written by
    whoever worked on them: ``answer`` (id, release, value, p, state), ``people`` (everybody's likeliest value) and
    ``facts`` (what is certain or impossible).
    """

    certificate: Certificate
    folder: Path
    published: Mapping[str, tuple[Any, ...]]  # the values of each release, by its name
    pieces: tuple[PieceAnswer, ...]
    reader: Reader = field(default_factory=Reader)
    session: Any = None  # that of Spark, where it worked

    @property
    def names(self) -> tuple[str, ...]:
        """What the releases are called."""
        return tuple(self.published)

    @property
    def values(self) -> tuple[Any, ...]:
        """All values that are published or possible, once each."""
        return tuple(dict.fromkeys([v for own in self.published.values() for v in own] + list(self.reader.domain)))

    @property
    def entropy(self) -> float:
        """Σ over persons of the entropy of their row, in nats; of those whose probabilities are a result."""
        return sum(one.entropy for one in self.pieces)

    @property
    def contradictions(self) -> tuple[ContradictionError, ...]:
        """Why releases contradict each other, island by island, without ids and values."""
        return tuple(ContradictionError(text) for one in self.pieces for text in one.contradictions)

    @property
    def releases(self) -> tuple[Release, ...]:
        """None is held here."""
        return ()

    @property
    def relaxed(self) -> pl.DataFrame:
        """Statements that gave way: none, as pieces take no statements."""
        return pl.DataFrame({"statement": [], "by": []}, schema={"statement": pl.String, "by": pl.Float64})

    def unfilled(self) -> tuple[Unfilled, ...]:
        """Rows that nobody of the register fits; in pieces these are only counted, in the certificate."""
        return ()

    def locatability(self) -> pl.DataFrame | None:
        """How well persons were located: not told of pieces."""
        return None

    def fact_counts(self) -> FactCounts:
        """How many persons are certain, and how many pairs are impossible."""
        return FactCounts(**summed(one.facts for one in self.pieces))

    def scan(self, table: str = ANSWER) -> pl.LazyFrame:
        """One of the tables "answer", "people" and "facts", read as far as it is asked for."""
        _known(table)
        return pl.scan_parquet(self.folder / table / "*.parquet")

    def to_frame(self) -> pl.DataFrame:
        """One row per person and value not proven impossible: id, release, value, p, state, in memory here."""
        return self.scan(ANSWER).collect()

    def best(self) -> pl.DataFrame:
        """Everybody's likeliest value, in memory here."""
        return self.scan(PEOPLE).collect()

    def proven(self) -> pl.DataFrame:
        """What is certain or impossible, in memory here."""
        return self.scan(FACTS).collect()

    def to_spark(self, table: str = ANSWER) -> Any:
        """One of the tables as a Spark DataFrame; nothing is read here."""
        _known(table)
        if self.session is None:
            raise InputError("Only what Spark worked on can be had as its DataFrame: scan() reads these tables here.")
        return self.session.read.parquet(str(self.folder / table))

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data for JSON."""
        facts = self.fact_counts()
        return {"certificate": self.certificate.as_dict(), "facts": vars(facts), "entropy_nats": self.entropy}

    def __repr__(self) -> str:
        of = number_of(self.certificate.persons, "person")
        return f"<posterior of {of} in {number_of(len(self.pieces), 'piece')}: {self.certificate}>"


def joined(found: Sequence[Certificate], releases: int) -> Certificate:
    """One certificate of all pieces: the worst of what can be wrong, and the sum of all that is counted."""
    worst = max((STATES.index(one.status) for one in found), default=0)
    counted = {
        "persons", "signatures", "variables", "rows", "components", "proven_zeros", "proven_ones", "suspected_zeros",
        "newton_steps", "passes", "contradictions",
    }  # fmt: skip
    changed = [one.changed for one in found]
    return Certificate(
        status=STATES[worst],
        gap=max((one.gap for one in found), default=0.0),
        residual=max((one.residual for one in found), default=0.0),
        releases=releases,
        seconds=summed(one.seconds for one in found),
        persons_by_state=summed(one.persons_by_state for one in found),
        bounded_by_state=summed(one.bounded_by_state for one in found),
        changed=ChangedCounts(**{f.name: sum(getattr(one, f.name) for one in changed) for f in fields(ChangedCounts)}),
        **{name: sum(getattr(one, name) for one in found) for name in counted},
    )


def summed(tables: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures by name, added up."""
    total: Counter[str] = Counter()
    for table in tables:
        total.update(table)
    return dict(total)


def _known(table: str) -> None:
    if table not in TABLES:
        raise InputError(f"table is one of {', '.join(TABLES)}.", parameters=("table",))
