"""Beyond the papers: the same histories by five ways to publish, what readers of all releases learn, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import polars as pl

from showthrough.comparing.comparison import EMPTY
from showthrough.experiments.coming_and_going import INDEPENDENT, KEPT, NOISE, QUASI, Course, Histories, tables
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.study_data import StudyData
from showthrough.numerals import many
from showthrough.progress import Progress
from showthrough.report.page.blocks import Chart
from showthrough.report.page.wording import listed
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table, shown

NAME = "beyond"
_FORMATS = {
    "certain": "percent", "at_90": "percent", "mean_largest_p": ".3f", "largest_p": ".3f",
    "newest_alone_at_90": "percent", "query_error": "percent", "total_epsilon": ".3g",
}  # fmt: skip


@dataclass(frozen=True)
class PublishingCourses(PaperFigure):
    """Adult, ``releases`` tables of ``rows`` persons of whom ``stay`` are in the next one too."""

    title: ClassVar[str] = "One population published again and again, by five ways to publish"
    claim: ClassVar[str] = (
        "Releases that are nearly harmless alone expose most persons together, unless they look back or add noise."
    )
    reads: ClassVar[tuple[str, ...]] = ("adult",)

    rows: int = 3_000
    stay: int = 2_700
    releases: int = 10
    k: int = 5
    l: int = 3
    guard: int = 2
    epsilons: tuple[float, ...] = (0.1,)
    exact: bool = True
    """Whether noise is sought whose queries err as much as Anatomy's."""
    queries: int = 500
    seconds: float = 300.0

    @classmethod
    def quick(cls) -> Self:
        """Few persons and releases."""
        return cls(rows=160, stay=130, releases=3, epsilons=(1.0,), exact=False, queries=40, seconds=20.0)

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:
        """Every way to publish, one after the other."""
        frame = data.table("adult").with_columns(pl.col("age").cast(pl.Int64))
        parts = tables(frame, self.rows, self.stay, self.releases, seed)
        histories = Histories.of(
            parts, k=self.k, l=self.l, queries=self.queries, seed=seed, seconds=self.seconds, progress=progress
        )
        anatomy = histories.independent("anatomy")
        courses = [
            anatomy, histories.independent("mondrian"),
            histories.kept("m-invariance", self.l), histories.kept("guarded", self.guard),
            *([histories.as_exact(anatomy)] if self.exact and anatomy.steps else []),
            *map(histories.noise, self.epsilons),
        ]  # fmt: skip
        grouped = [course for course in courses if course.kind != NOISE]
        added = [course for course in courses if course.kind == NOISE]
        return Reproduced(
            NAME, "", self.title,
            tables=(_table("course", "Releases made of groups", grouped), _table("noise", "Releases with noise", added),
                    _summary(courses)),
            claims=(_rise(grouped), *(_flat(course, self) for course in grouped if course.kind == KEPT), _noise(added)),
            charts=(_chart([course for course in courses if course.steps]),),
            notes=(*(f"{course.name}: {course.refused}" for course in courses if course.refused), *_notes(self)),
        )  # fmt: skip


def _rows(course: Course) -> list[dict[str, Any]]:
    return [
        {"way": course.name, **step.figures(), "total_epsilon": _total(course, step.together.releases)}
        for step in course.steps
    ]


def _total(course: Course, releases: int) -> float | None:
    return None if course.epsilon is None else releases * course.epsilon


def _table(name: str, title: str, courses: Sequence[Course]) -> ResultTable:
    """One row for each way and number of releases; noise has no seed, so that its rows are never the same again."""
    rows = [row for course in courses for row in _rows(course)]
    refused = [{"way": course.name, "refused": course.refused} for course in courses]
    frame = pl.DataFrame(rows or refused)
    frame = frame.select(column for column in frame.columns if frame[column].null_count() < frame.height)
    note = (
        "Shares of everybody who stood in a table so far: certain is proven, at 90 is a probability of 90\u202f% or "
        "more by all releases so far together; newest alone is the same of the newest release by itself. The query "
        "error is the median relative error of counting queries on the newest release."
    )
    return ResultTable(
        name, title, frame, {c: how for c, how in _FORMATS.items() if c in frame.columns}, note,
        measured=any(course.kind == NOISE for course in courses),
    )  # fmt: skip


def _summary(courses: Sequence[Course]) -> ResultTable:
    rows = []
    for course in courses:
        last = course.steps[-1].figures() if course.steps else {}
        rows.append(
            {
                "way": course.name, "kind": course.kind, "releases": last.get("releases"),
                "certain": last.get("certain"), "at_90": last.get("at_90"),
                "mean_largest_p": last.get("mean_largest_p"), "largest_p": last.get("largest_p"),
                "query_error": course.error,
                "withheld": sum(step.withheld for step in course.steps),
                "counterfeits": sum(step.counterfeits for step in course.steps),
                "total_epsilon": _total(course, len(course.steps)) if course.steps else None,
            }
        )  # fmt: skip
    formats = {column: how for column, how in _FORMATS.items() if column != "newest_alone_at_90"}
    note = (
        "After the last release; the error is the mean over all of them, withheld rows and counterfeits are their sums."
    )
    return ResultTable("summary", "Exposure against utility", pl.DataFrame(rows), formats, note, measured=True)


def _rise(courses: Sequence[Course]) -> PaperClaim:
    """Partition-based methods do not compose (Ganta et al., KDD 2008)."""
    alone = [course for course in courses if course.kind == INDEPENDENT and course.steps]
    ends = [(course.name, course.steps[0].figures()["at_90"], course.steps[-1].figures()["at_90"]) for course in alone]
    holds = bool(ends) and all(last > first for _, first, last in ends)
    told = "; ".join(f"{name}: {shown(a, 'percent')} to {shown(b, 'percent')} at 90\u202f%" for name, a, b in ends)
    return PaperClaim(
        "Independent groups do not compose", "Ganta et al., KDD 2008", f"{told or 'no release'}; the curves rise",
        holds, why="" if holds else "Too few persons are in several releases.",
    )  # fmt: skip


def _flat(course: Course, given: PublishingCourses) -> PaperClaim:
    """A way that looks at the past keeps its limit over all releases."""
    limit = 1 / (given.guard if course.name.startswith("guarded") else given.l)
    if not course.steps:
        return PaperClaim(
            f"{course.name}: nobody above the limit", "by design", course.refused, False, why=course.refused
        )
    last = course.steps[-1].figures()
    most = max(step.together.most for step in course.steps)
    holds = most <= limit + 1e-6
    ours = f"the largest p of anybody is {most:.3f} over all releases; {_cost(course)}"
    return PaperClaim(
        f"{course.name}: nobody becomes surer than {limit:.3g}", "by design", ours, holds,
        why="" if holds else f"{shown(last['at_90'], 'percent')} are at 90\u202f% after all releases.",
    )  # fmt: skip


def _cost(course: Course) -> str:
    withheld, counterfeits = (
        sum(step.withheld for step in course.steps),
        sum(step.counterfeits for step in course.steps),
    )
    return f"{many(withheld)} rows withheld and {many(counterfeits)} counterfeits in {len(course.steps)} releases"


def _noise(courses: Sequence[Course]) -> PaperClaim:
    """ε adds up (Lemma 12), and what readers believe moves with it."""
    told = [
        f"{course.name}: mean largest p {course.steps[0].together.largest:.3f} to "
        f"{course.steps[-1].together.largest:.3f}, ε {course.epsilon:.3g} to {_total(course, len(course.steps)):.3g}"
        for course in courses
        if course.steps and course.epsilon is not None
    ]
    proven = sum(step.together.certain for course in courses for step in course.steps)
    ours = f"{'; '.join(told)}; these curves rise, too" if told else "; ".join(course.refused for course in courses)
    return PaperClaim(
        "Noise composes: nothing is ever certain, and ε adds up", "Ganta et al., Lemma 12", ours,
        proven == 0 if told else None, measured=True, why=f"{proven} persons are certain." if proven else "",
    )  # fmt: skip


def _chart(courses: Sequence[Course]) -> Chart:
    rows = [
        {"option": course.name, "releases": row["releases"], "share": row["at_90"], "dashed": course.kind == NOISE}
        for course in courses
        for row in _rows(course)
    ]
    numbers = sorted({row["releases"] for row in rows})
    alone = [
        {"releases": n, "share": max(c.steps[n - 1].figures()["newest_alone_at_90"] for c in courses)} for n in numbers
    ]
    errors = [{"option": course.name, "error": course.error} for course in courses]
    title = "Persons of whom readers are at least 90\u202f% sure"
    data = {"rows": rows, "alone": alone, "errors": errors, "title": title}
    described = (
        "Lines of the share of persons by the number of releases, one for each way to publish, above a shaded line: "
        "any one release read alone. Beside it the error of counting queries."
    )
    plain = [{name: cell for name, cell in row.items() if name != "dashed"} for row in rows]
    table = drawn_table(plain, {"share": "percent"})
    return Chart("exposure_course", title, described, data, (table,), key="exposure")


def _notes(given: PublishingCourses) -> tuple[str, ...]:
    gone = given.rows - given.stay
    return (
        f"{given.releases} tables of {many(given.rows)} persons; each time {many(gone)} leave and as many come, a "
        "fifth of them back again. Values never change.",
        f"Readers know who is in which table. They find persons by {listed(list(QUASI))} in Mondrian's and in noisy "
        "releases; Anatomy, m-invariance and the guard publish ids with groups, so that their readers know more.",
        "What is promised of noise is ε, whatever readers know; beliefs beside it are those of readers who know "
        f"nothing but the releases, and above ε = {EMPTY:g} in all little is promised.",
        "Noise as exact has the smallest ε whose counting queries err no more than Anatomy's: chosen by looking at the "
        "table, it is for comparing and not for publishing. Noise is drawn by a library and has no seed: its figures "
        "differ from run to run.",
    )
