"""What a report says of a release that was made, and of strategies side by side, as typed content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from showthrough import __version__
from showthrough.anonymizers.made import UNTIED
from showthrough.anonymizers.remark import Remark
from showthrough.criteria.criterion import Check
from showthrough.policy.decision import Verdict
from showthrough.release.link import beside
from showthrough.release.release import Release
from showthrough.report.check import LABELS
from showthrough.report.figure import Figure, Figures, figures, plain
from showthrough.report.origin import Origin

VERSION = 1

MEANINGS = {
    "persons": "Persons whose records are published.",
    "suppressed": "Rows that were left out to satisfy the criteria.",
    "incomplete": "Rows with empty cells that were left out.",
    "counterfeits": "Records of nobody that were added.",
    "exposed": "Persons whom earlier releases, or slots left empty, give away.",
    "seconds": "Time that it took.",
}
MEASURES = {  # by column of the comparison: label, digits, meaning
    "newly_certain": ("persons made certain", 0, "Persons whose value only this release gives away."),
    "over_limit": ("persons over limit", 0, "Persons whose likeliest value is likelier than the limit."),
    "joint_entropy": ("joint entropy (nats)", 1, "Entropy of the values given all releases, summed over persons."),
    "counterfeits": ("counterfeits", 0, "Records of nobody that were added."),
    "withheld": ("records withheld", 0, "Records that were left out."),
    "gcp_of_groups": ("GCP of the groups", 4, "Share of the quasi-identifiers lost if each group printed its values."),
    "query_error": ("query error", 4, "The query error is the median relative error of counting queries."),
    "seconds": ("seconds", 1, "Time that it took."),
}


@dataclass(frozen=True)
class PublishContent:
    """A release and what it cost; who is exposed is told to the internal audience."""

    release: str
    folder: str | None
    figures: Figures
    utility: Figures | None
    checks: tuple[tuple[str, bool], ...]  # each in a sentence, and whether it holds
    remarks: tuple[Remark, ...]  # of the method or strategy, with their figures
    words: str  # cost, checks and remarks in sentences
    link: str | None  # the file that says who is in which group
    exposed: int
    exposed_ids: tuple[str, ...] | None
    holds: bool = True
    conclusive: bool = True
    audience: str = "shareable"
    made: Origin | None = None

    @property
    def verdict(self) -> Verdict:
        """Block if a criterion fails, inconclusive if it is not known whether the policy holds."""
        return Verdict.BLOCK if not self.holds else Verdict.PASS if self.conclusive else Verdict.INCONCLUSIVE

    @property
    def said(self) -> str:
        """The verdict in a sentence."""
        failing = next((sentence for sentence, holds in self.checks if not holds), None)
        known = (
            "The criteria hold." if self.conclusive else "The time left open whether the policy holds for everybody."
        )
        over = next((str(one) for one in self.remarks if one.kind == "verdict" and not self.holds), None)
        untied = next((str(one) for one in self.remarks if one.kind == UNTIED), None)
        return failing or over or untied or known

    def as_json(self) -> dict[str, Any]:
        """The object that is written as JSON; its schema is publish.schema.json."""
        found = {**_header("publish", self.audience, self.made), "verdict": str(self.verdict), **self.as_dict()}
        return {**found, "folder": None if self.folder is None else Path(self.folder).name}

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "release": self.release,
            "folder": self.folder,
            "figures": self.figures.as_dict(),
            "utility": None if self.utility is None else self.utility.as_dict(),
            "checks": [{"sentence": sentence, "holds": holds} for sentence, holds in self.checks],
            "remarks": [plain(remark.as_dict()) for remark in self.remarks],
            "words": self.words.split("\n"),
            **({} if self.exposed_ids is None else {"exposed": list(self.exposed_ids)}),
        }


def _header(schema: str, audience: str, made: Origin | None) -> dict[str, Any]:
    """What every JSON object begins with."""
    return {
        "schema": f"showthrough.{schema}",
        "version": VERSION,
        "showthrough": __version__,
        "audience": audience,
        "made": None if made is None else made.as_dict(),
    }


def publish_content(release: Release, *, folder: Path | None, audience: str) -> PublishContent:
    """What is told of a release that `anonymize` made."""
    made = release.made
    told = {
        "persons": release.members,
        "suppressed": made.suppressed,
        "incomplete": made.incomplete,
        "counterfeits": made.counterfeits,
        "exposed": len(made.exposed),
        "seconds": made.seconds,
    }
    link = None if folder is None else beside(folder)
    return PublishContent(
        release=repr(release),
        folder=None if folder is None else str(folder),
        figures=Figures(tuple(Figure(name, value, MEANINGS[name]) for name, value in told.items())),
        utility=_utility(made.utility),
        checks=_sentences(made.checks),
        remarks=made.remarks,
        words=str(made),
        link=str(link) if link is not None and link.exists() else None,
        exposed=len(made.exposed),
        exposed_ids=tuple(made.exposed) if audience == "internal" else None,
        holds=all(check.holds for check in made.checks) and (made.guard is None or bool(made.guard.review.holds)),
        conclusive=made.conclusive,
        audience=audience,
    )


def _utility(found: Any) -> Figures | None:
    if found is None:
        return None
    own = {name: value for name, value in asdict(found).items() if name != "notes"}
    return figures(own, "check", "utility", LABELS)


def _sentences(checks: Sequence[Check]) -> tuple[tuple[str, bool], ...]:
    return tuple((check.sentence, check.holds) for check in checks)


@dataclass(frozen=True)
class StrategyContent:
    """One strategy: its figures, or a remark where it refused."""

    strategy: str
    figures: Figures
    remark: str


@dataclass(frozen=True)
class ComparisonContent:
    """All strategies for the next release."""

    strategies: tuple[StrategyContent, ...]
    made: Origin | None = None

    def as_json(self) -> dict[str, Any]:
        """The object that is written as JSON."""
        return {**_header("compare", "shareable", self.made), **self.as_dict()}

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "strategies": [
                {"strategy": s.strategy, **plain(s.figures.as_dict()), "remark": s.remark} for s in self.strategies
            ]
        }


def comparison_content(found: pl.DataFrame) -> ComparisonContent:
    """What is told of the rows that `compare` made."""
    return ComparisonContent(
        tuple(
            StrategyContent(
                row["strategy"],
                Figures(tuple(Figure(name, row[name], told, label) for name, (label, _, told) in MEASURES.items())),
                row["remark"],
            )
            for row in found.iter_rows(named=True)
        )
    )
