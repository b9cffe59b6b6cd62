"""The worked examples of Allard's slides on partition-based models, every number computed here.

T. Allard, *Partition-Based Models and Algorithms for Privacy-Preserving Data Publishing*, lecture, Rennes 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.bayes import bayes
from showthrough.attacks.intersection import intersection
from showthrough.criteria.counts import GroupCounts
from showthrough.criteria.k_anonymity import KAnonymity
from showthrough.criteria.l_diversity import DistinctLDiversity, RecursiveLDiversity
from showthrough.criteria.negation import recursive_after
from showthrough.examples import hospitals
from showthrough.experiments.expected import bands
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.study_data import StudyData
from showthrough.inference.infer import infer
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.report.page.blocks import Chart
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, drawn_table
from showthrough.republishing.anonymize import anonymize

NAME = "partition-models"
VALUES = ("Cold", "Flu", "HIV")
_LAST_DIGIT = 0.01  # the slides print two
_RAW = pl.DataFrame(
    {
        "name": ["Bob", "Bill", "Don", "Sue"],
        "zip": [75001, 75002, 75003, 75010],
        "age": [22, 29, 22, 28],
        "disease": ["Cold", "Flu", "Cold", "HIV"],
    }
)
_PUBLISHED = pl.DataFrame(
    {
        "zip": ["[75001, 75002]"] * 2 + ["[75003, 75010]"] * 2,
        "age": ["[22, 29]"] * 4,
        "disease": ["Cold", "Flu", "Cold", "HIV"],
    }
)
_KNOWN = {"Don": (0.1, 0.01, 0.14), "others": (0.083, 0.083, 0.083)}  # f(q, s) of the slides
_PRIOR = {"Don": (0.4, 0.04, 0.56), "others": (0.33, 0.33, 0.33)}  # α of the slides
_POSTERIOR = (0.46, 0.0, 0.54)  # β of the slides
_COUNTS = ((100, 6, 5, 3), (7, 6, 5, 3), (7, 6, 5, 3, 1, 1), (7, 5, 3, 1, 1), (7, 6, 5, 3, 1))

STRICT = (
    "Strict cuts keep equal values together: a class whose median repeats too often is not cut. The bound holds for "
    "relaxed cuts, which share equal values out."
)


@dataclass(frozen=True)
class PartitionModels(PaperFigure):
    """The slides' tables as they are; ``tuples`` and ``k`` are those of their picture of Mondrian's cuts."""

    title: ClassVar[str] = "Partition-based models: the slides' worked examples"
    claim: ClassVar[str] = "Priors, posteriors and diversity of small tables, each computed by the package."

    tuples: int = 1000
    k: int = 25

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:  # noqa: ARG002 - the slides' own tables
        """All examples in the order of the slides."""
        progress.stage("examples of the slides")
        release = Release.generalized(_PUBLISHED, sensitive="disease", quasi=["zip", "age"], name="V")
        beliefs, recursive = _beliefs(release), _recursive()
        sizes = self._sizes(seed)
        return Reproduced(
            NAME, "", self.title,
            tables=(_beliefs_table(beliefs), _recursive_table(recursive), _negation_table(), _sizes_table(sizes)),
            claims=(
                *_anonymous(release), *_believed(beliefs), *_diverse(), *self._sized(sizes), _composed(),
            ),
            charts=(_chart(beliefs),),
            notes=NOTES,
        )  # fmt: skip

    def _sizes(self, seed: int) -> pl.DataFrame:
        """Class sizes of Mondrian on normal tuples, exact and rounded to few values."""
        drawn, rows = np.random.default_rng(seed).normal(0, 1, (self.tuples, 2)), []
        for kind, digits in (("all values differ", 9), ("values repeat", 0)):
            x, y = drawn.round(digits).T
            table = pl.DataFrame({"x": x, "y": y}).with_columns(s=pl.lit("a"))
            for method in ("mondrian", "mondrian-relaxed"):
                made = anonymize(
                    table, method=method, sensitive="s", quasi=["x", "y"], criteria=[KAnonymity(self.k)],
                    output="bucketized", seed=0,
                )  # fmt: skip
                size = made.size.to_numpy()
                ends = {"smallest": int(size.min()), "largest": int(size.max())}
                rows.append({"tuples": kind, "method": method, "classes": size.size, **ends})
        return pl.DataFrame(rows)

    def _sized(self, sizes: pl.DataFrame) -> list[PaperClaim]:
        """That Mondrian's classes hold between k and 2k − 1 tuples."""
        most, found = 2 * self.k - 1, []
        for said, method, why in (("strict", "mondrian", STRICT), ("relaxed", "mondrian-relaxed", "A fault of ours.")):
            rows = sizes.filter(pl.col("method") == method)
            low, high = int(rows["smallest"].to_numpy().min()), int(rows["largest"].to_numpy().max())
            holds = self.k <= low and high <= most
            what, told = f"Mondrian's classes, {said} cuts, k = {self.k}", f"{self.k} to {most} tuples"
            found.append(PaperClaim(what, told, f"{low} to {high} tuples", holds, why="" if holds else why))
        return found


def _prior() -> dict[str, list[float]]:
    """α = f(q, s) / Σ f(q, ·)."""
    return {who: [f / sum(known) for f in known] for who, known in _KNOWN.items()}


def _beliefs(release: Release) -> pl.DataFrame:
    """What is believed of Don before and after the release, by the formula and beyond it."""
    alpha = _prior()
    persons = {name: alpha["Don" if name == "Don" else "others"] for name in _RAW["name"]}
    prior = pl.DataFrame(
        [(who, value, p) for who, row in persons.items() for value, p in zip(VALUES, row, strict=True)],
        schema=["id", "disease", "p"], orient="row",
    )  # fmt: skip
    register = _RAW.select(pl.col("name").alias("id"), pl.col("zip", "age").cast(pl.String))
    moved = bayes(release, prior, 0.05, register=register)
    don = moved.people.filter(pl.col("id") == "Don")
    by = {row["value"]: row for row in don.iter_rows(named=True)}
    return pl.DataFrame(
        [
            {
                "value": value, "f": _KNOWN["Don"][k], "prior": by[value]["alpha"], "prior_others": alpha["others"][k],
                "posterior_slides": _POSTERIOR[k], "posterior": by[value]["formula"],
                "relative_entropy": by[value]["relative_entropy"], "all_worlds": by[value]["exact"],
            }
            for k, value in enumerate(VALUES)
        ]
    )  # fmt: skip


def _anonymous(release: Release) -> list[PaperClaim]:
    """The release of the slides, and the one that Mondrian makes of the raw table."""
    anonymous, diverse = KAnonymity(2).check(release), DistinctLDiversity(2).check(release)
    made = anonymize(
        _RAW, method="mondrian", id="name", sensitive="disease", quasi=["zip", "age"], criteria=[KAnonymity(2)],
        quasi_anyway=["zip"], seed=0,
    )  # fmt: skip
    classes = sorted(sorted(part["id"].to_list()) for _, part in made.groups().group_by("group"))
    same = classes == [["Bill", "Bob"], ["Don", "Sue"]]
    register = _RAW.select(pl.col("name").alias("id"), pl.col("zip", "age").cast(pl.String))
    bob = infer([release], register=register).of("Bob")
    ambiguous = abs(bob.get("Cold", 0) - 0.5) < 1e-9
    return [
        PaperClaim("The release is 2-anonymous", "2", f"k = {anonymous.level:g}", anonymous.level == 2),
        PaperClaim(
            "Mondrian makes these classes of the raw table", "{Bob, Bill}, {Don, Sue}",
            "; ".join("{" + ", ".join(names) + "}" for names in classes), same,
            why="" if same else "Another cut is as good by the rule of the widest dimension.",
        ),
        PaperClaim(
            "Joins on quasi-identifiers are ambiguous: Bob's disease", "Cold or Flu",
            ", ".join(f"{value} {p:.2f}" for value, p in sorted(bob.items())), ambiguous,
        ),
        PaperClaim("Different values in every class", "2", f"l = {diverse.level:g}", diverse.level == 2),
    ]  # fmt: skip


def _believed(beliefs: pl.DataFrame) -> list[PaperClaim]:
    """Priors, posteriors, and whether they are a breach."""
    known, found = bands(NAME), []
    for column, said, told in (
        ("prior", "Prior belief about Don", _PRIOR["Don"]),
        ("prior_others", "Prior belief about anybody else", _PRIOR["others"]),
        ("posterior", "Posterior belief about Don, by the formula", _POSTERIOR),
    ):
        ours = beliefs[column].to_list()
        near = all(abs(a - b) < _LAST_DIGIT for a, b in zip(ours, told, strict=True))
        inside = all(p in known[f"{column} {value}"] for value, p in zip(VALUES, ours, strict=True))
        found.append(
            PaperClaim(
                f"{said} ({', '.join(VALUES)})", ", ".join(f"{p:g}" for p in told),
                ", ".join(f"{p:.6g}" for p in ours), near,
                band="exact arithmetic", within=inside, why="" if near else "Off by more than the last digit.",
            )
        )  # fmt: skip
    moved = float((beliefs["prior"] - beliefs["posterior"]).abs().to_numpy().max())
    worlds = ", ".join(f"{value} {p:.4f}" for value, p in beliefs.select("value", "all_worlds").iter_rows() if p)
    return [
        *found,
        PaperClaim(
            "Is there a privacy breach? (a question of the slides)", "–",
            f"beliefs move by at most {moved:.4f}: for every θ up to that, and for none above", None,
        ),
        PaperClaim(
            "The same with the other member of Don's class known", "–", f"over all assignments: {worlds}", None,
            band="exact arithmetic", within=beliefs["all_worlds"][2] in known["all_worlds HIV"],
        ),
    ]  # fmt: skip


def _group(counts: tuple[int, ...]) -> GroupCounts:
    """One class with such counts."""
    size = np.array(counts)
    return GroupCounts(np.array([0, size.size]), np.arange(size.size, dtype=np.int32), size, size)


def _recursive() -> pl.DataFrame:
    """For each class and l: the c above which recursive (c, l)-diversity holds."""
    return pl.DataFrame(
        [
            {
                "counts": ", ".join(map(str, counts)), "l": l,
                "holds_for_c_above": float(RecursiveLDiversity(1, l).level(_group(counts))[0]),
                "holds_for_c_1": _holds(counts, l),
            }
            for counts in _COUNTS
            for l in (2, 3, 4)
        ]
    )  # fmt: skip


def _holds(counts: tuple[int, ...], l: int) -> bool:
    criterion = RecursiveLDiversity(1, l)
    return bool(criterion.met(criterion.level(_group(counts)))[0])


def _diverse() -> list[PaperClaim]:
    """Recursive diversity, and what one negation statement leaves of it."""
    whole, without_second, without_last = _COUNTS[2:]
    levels = {
        counts: [f"{RecursiveLDiversity(1, l).level(_group(counts))[0]:.4g}" for l in (2, 3, 4)]
        for counts in _COUNTS[:2]
    }
    found = [
        PaperClaim(
            f"Protection of counts {', '.join(map(str, counts))} (a question of the slides)", "–",
            "; ".join(f"(c, {l}) for c > {level}" for l, level in zip((2, 3, 4), told, strict=True)), None,
        )
        for counts, told in levels.items()
    ]  # fmt: skip
    for counts, l, said in (
        (whole, 3, "Counts 7, 6, 5, 3, 1, 1"),
        (without_second, 2, "Don has not flu, which is r2"),
        (without_last, 3, "Don has not flu, which is r6"),
    ):
        holds = _holds(counts, l)
        more = "and more" if _holds(counts, l + 1) else f"not (1, {l + 1})"
        found.append(
            PaperClaim(
                said,
                f"satisfies recursive (1, {l})-diversity",
                f"{'satisfies' if holds else 'fails'} it, {more}",
                holds,
            )
        )
    after = all(
        recursive_after(_group(counts), 1, l=l)[0] == RecursiveLDiversity(1, l + 1).level(_group(counts))[0]
        for counts in _COUNTS
        for l in (2, 3)
    )
    told = "(c, l) becomes (c, l − 1), exactly" if after else "not (c, l − 1)"
    return [
        *found,
        PaperClaim(
            "One negation statement at worst (a question of the slides)", "–", told, None, within=after, band="by proof"
        ),
    ]


def _composed() -> PaperClaim:
    """Two releases that are k-anonymous each, on the table of the composition paper."""
    releases = hospitals.releases()
    levels = [KAnonymity(2).check(release).level for release in releases]
    attacked = intersection(releases, register=hospitals.register(), least=2)
    breached = attacked.people.filter(pl.col("posterior") == 1).height
    return PaperClaim(
        "No composability: two k-anonymous releases may break k-anonymity together", "may break it",
        f"releases with k = {levels[0]:g} and {levels[1]:g}: the value of {breached} persons in both is certain",
        breached > 0, why="" if breached else "Nobody is certain.",
    )  # fmt: skip


NOTES = (
    "The slides divide 0.083 by 0.25 and print .33; the three add up to 0.249, so that the prior is exactly one third.",
    "The slides' class {Don, Sue} shows ages [22, 29]; the persons in it span [22, 28], which is what Mondrian prints.",
    "The formula takes Sue as drawn at random from all who fit the class. Whoever knows that she is in it weighs both "
    "assignments by the priors of both: the last column, and a posterior on the other side of the prior.",
)


def _beliefs_table(beliefs: pl.DataFrame) -> ResultTable:
    formats = dict.fromkeys(beliefs.columns[2:], ".4f")
    return ResultTable("beliefs", "What is believed of Don before and after the release", beliefs, formats)


def _recursive_table(recursive: pl.DataFrame) -> ResultTable:
    return ResultTable(
        "recursive", "Recursive (c, l)-diversity of the slides' classes", recursive, {"holds_for_c_above": ".4g"}
    )


def _negation_table() -> ResultTable:
    rows = [
        {
            "counts": ", ".join(map(str, counts)), "l": l,
            "c_before": float(RecursiveLDiversity(1, l).level(_group(counts))[0]),
            "c_after_one_negation": float(recursive_after(_group(counts), 1, l=l)[0]),
        }
        for counts in _COUNTS[:3]
        for l in (2, 3)
    ]  # fmt: skip
    formats = {"c_before": ".4g", "c_after_one_negation": ".4g"}
    return ResultTable(
        "negation", "The c that must be exceeded before and after one negation, at worst", pl.DataFrame(rows), formats
    )


def _sizes_table(sizes: pl.DataFrame) -> ResultTable:
    return ResultTable("mondrian", "Class sizes of Mondrian on normal tuples in two dimensions", sizes)


def _chart(beliefs: pl.DataFrame) -> Chart:
    names = {"prior": "prior", "posterior": "posterior (formula)", "all_worlds": "posterior (both members known)"}
    rows = [
        {"group": row["value"], "series": said, "value": row[column]}
        for row in beliefs.iter_rows(named=True)
        for column, said in names.items()
    ]
    title = "What is believed of Don before and after the release"
    return Chart(
        "grouped_bars", title, "Bars for Cold, Flu and HIV: prior, posterior by the formula, and over all assignments.",
        {"rows": rows, "x": None, "y": "belief", "title": title, "percent": True},
        (drawn_table(rows, {"value": ".4f"}),), key="partition-models",
    )  # fmt: skip
