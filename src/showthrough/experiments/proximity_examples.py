"""Figure 1 of the XColor paper, with Table I and examples 1 and 2: ten patients, worked out exactly.

Wang, Liu, *XColor: Protecting General Proximity Privacy*, ICDE 2010. Severities are tenths, so that distances are
exact: in binary fractions 0.8 − 0.7 is more than 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import Any, ClassVar

import polars as pl

from showthrough.anonymizers.near_rows import ListedProximity
from showthrough.anonymizers.xcolor import xcolor
from showthrough.criteria.dissimilarity import Dissimilarity
from showthrough.experiments.experiment import PaperFigure
from showthrough.experiments.study_data import StudyData
from showthrough.progress import Progress
from showthrough.report.page.wording import listed
from showthrough.report.reproduction import PaperClaim, Reproduced, ResultTable, shown

NAME = "xcolor"
SYNDROMES = (
    (8, 0, 0), (6, 4, 4), (7, 1, 1), (10, 2, 2), (1, 9, 9), (2, 5, 2), (8, 1, 9), (4, 3, 5), (6, 9, 3), (10, 7, 7),
)  # fmt: skip
"""Table I, in tenths: allergy, asthma, myocarditis of the persons 1 to 10."""
PARTS = ("allergy", "asthma", "myocarditis")
PUBLISHED = (0, 0, 0, 0, 0, 1, 1, 1, 1, 1)
EPSILONS = (1, 2)  # tenths
CLASSES = 2


def distance(one: int, other: int) -> int:
    """Δ(P, Q) = min |pᵢ − qᵢ| of two persons, in tenths (example 2)."""
    return min(abs(p - q) for p, q in zip(SYNDROMES[one], SYNDROMES[other], strict=True))


def edges(epsilon: int) -> list[tuple[int, int]]:
    """Persons whose values are near each other (definition 4)."""
    return [pair for pair in combinations(range(len(SYNDROMES)), 2) if distance(*pair) <= epsilon]


def in_class(near: list[tuple[int, int]], group: tuple[int, ...]) -> list[int]:
    """How many near persons everybody has in the own group."""
    found = [0] * len(SYNDROMES)
    for one, other in near:
        if group[one] == group[other]:
            found[one] += 1
            found[other] += 1
    return found


def best(near: list[tuple[int, int]]) -> int:
    """The least that the worst person can have in two groups of five, over all 126 of them."""
    most = len(SYNDROMES)
    for half in combinations(range(1, len(SYNDROMES)), len(SYNDROMES) // 2 - 1):
        group = tuple(int(person in (0, *half)) for person in range(len(SYNDROMES)))
        most = min(most, max(in_class(near, group)))
    return most


@dataclass(frozen=True)
class ProximityExample(PaperFigure):
    """Nothing to choose: ten persons."""

    title: ClassVar[str] = "General proximity breach: the paper's ten patients"
    claim: ClassVar[str] = "Whoever knows Alice's group is 80 % sure of a neighbourhood of values, of each value 20 %."

    def run(self, data: StudyData, progress: Progress, seed: int) -> Reproduced:  # noqa: ARG002 - reads no table
        """Examples, graphs and bounds."""
        progress.stage("the paper's ten patients")
        graphs = [_graph(epsilon, seed) for epsilon in EPSILONS]
        frame = pl.DataFrame(graphs)
        return Reproduced(
            NAME, "1", self.title,
            tables=(
                ResultTable("graph", "The abstract graph of all ten", frame, note=_GRAPH_NOTE),
                ResultTable("distances", "Distances inside the published groups", _distances(), {"distance": ".1f"}),
            ),
            claims=(_example_one(), *_example_two(), *_readings(), _bound(graphs[0])),
            notes=NOTES,
        )  # fmt: skip


def _graph(epsilon: int, seed: int) -> dict[str, Any]:
    near = edges(epsilon)
    degrees = in_class(near, (0,) * len(SYNDROMES))
    theta = max(degrees)
    return {
        "epsilon": epsilon / 10, "edges": len(near), "largest_degree": theta,
        "degrees_of_1_to_10": " ".join(map(str, degrees)),
        "published_groups": max(in_class(near, PUBLISHED)), "best_of_all_halves": best(near),
        "by_exchanges": max(in_class(near, tuple(_tightest(near, seed).tolist()))),
        "guaranteed_by_theorem_1": ceil(2 * theta / CLASSES) - 1,
    }  # fmt: skip


def _tightest(near: list[tuple[int, int]], seed: int) -> Any:
    """Groups of the smallest number of near persons that exchanges reach."""
    proximity, size = ListedProximity.of_pairs(len(SYNDROMES), near), len(SYNDROMES) // CLASSES
    tried = (xcolor(proximity, size, 1 - t / (size - 1), strict=False, seed=seed) for t in range(size))
    return next(found.group for found in tried if not found.violations.size)


def _distances() -> pl.DataFrame:
    rows = [
        {"group": PUBLISHED[one] + 1, "one": one + 1, "other": other + 1, "distance": distance(one, other) / 10}
        for one, other in combinations(range(len(SYNDROMES)), 2)
        if PUBLISHED[one] == PUBLISHED[other]
    ]
    return pl.DataFrame(rows)


def _group_one() -> pl.DataFrame:
    parts = zip(PARTS, zip(*SYNDROMES[:5], strict=True), strict=True)
    severities = pl.DataFrame({name: [tenths / 10 for tenths in column] for name, column in parts})
    return severities.with_columns(group=pl.lit("1"))


def _example_one() -> PaperClaim:
    share = Fraction(1, _group_one().n_unique())
    return PaperClaim(
        "Example 1: chance of each value of Alice's group", "20\u202f%", shown(float(share), "percent"),
        share == Fraction(20, 100), band="1/5", within=share == Fraction(1, 5),
    )  # fmt: skip


def _example_two() -> list[PaperClaim]:
    """The neighbourhood of person 3, for both distances."""
    found = []
    for epsilon in EPSILONS:
        near = [other + 1 for other in range(5) if other != 2 and distance(2, other) <= epsilon]
        share = Fraction(len(near) + 1, 5)
        found.append(
            PaperClaim(
                f"Example 2: neighbourhood of 3 at ε = {epsilon / 10:g}", "1, 2 and 4; 80\u202f%",
                f"{listed([str(n) for n in near])}; {shown(float(share), 'percent')}",
                near == [1, 2, 4] and share == Fraction(4, 5), band="4/5", within=share == Fraction(4, 5),
            )
        )  # fmt: skip
    return found


def _readings() -> list[PaperClaim]:
    """For which δ the first group is (0.1, δ)⁵-dissimilar, in both readings."""
    rows = []
    for strict, words, expected in ((True, "less than (definition 3)", 0.24), (False, "at most (definition 6)", 0.25)):
        kept = [d / 100 for d in range(100) if _satisfied(d / 100, strict=strict)]
        rows.append(
            PaperClaim(
                f"Group 1 is (0.1, δ)⁵-dissimilar: {words}", "for some δ",
                f"for δ up to {max(kept):g} in steps of 0.01", None,
                band=f"δ {'<' if strict else '≤'} 0.25", within=max(kept) == expected,
            )
        )  # fmt: skip
    return rows


def _satisfied(delta: float, *, strict: bool) -> bool:
    criterion = Dissimilarity(0.1, delta, 5, metric="min", strict=strict)
    return criterion.check(_group_one(), sensitive=PARTS, quasi=["group"]).holds


def _bound(graph: dict[str, Any]) -> PaperClaim:
    theta, reached = graph["largest_degree"], graph["guaranteed_by_theorem_1"]
    return PaperClaim(
        "Theorem 1: near persons in a group at most 2Θ/m − 1", f"{2 * theta / CLASSES - 1:g} for ε = 0.1",
        f"⌈2Θ/m⌉ − 1 = {reached}; the best of all halves has {graph['best_of_all_halves']}", reached == 5,
        band="5 and 2", within=(reached, graph["best_of_all_halves"]) == (5, 2),
        why="" if reached == 5 else "The bound must be rounded up.",
    )  # fmt: skip


_GRAPH_NOTE = (
    "Near persons of the worst person in its group: as published, at best over all halves, after XColor's exchanges, "
    "and what Theorem 1 guarantees, which at two groups of five is no promise."
)
NOTES = (
    "The neighbourhood of a value holds the value itself (definition 2), its degree does not: 4 of 5, 3 of 4 others.",
    "The smallest of three distances is no metric: different values can be 0 apart.",
    "2Θ/m − 1 has to be rounded up where it is no whole number: the proof reaches ⌈2Θ/m⌉ − 1.",
    "By 'at most' a group may have one near person more than by 'less than' wherever (1 − δ)(|G| − 1) is whole.",
)
