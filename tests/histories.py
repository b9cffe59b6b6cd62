"""Histories for tests: random ones, the paper's, and how the oracles' form becomes releases."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

from showthrough import Release
from tests.oracles import History

FIGURE1: History = [
    [
        (["1", "2", "3", "4"], ["Diabetes", "Flu", "Flu", "Pneumonia"]),
        (["5", "6", "7"], ["Diabetes", "Flu", "Pneumonia"]),
        (["8", "9", "10"], ["Flu", "HIV", "Lung Cancer"]),
        (["11", "12", "13"], ["Pneumonia", "Diabetes", "HIV"]),
    ],
    [
        (["1", "2", "14"], ["Diabetes", "Flu", "Pneumonia"]),
        (["3", "4", "15"], ["Diabetes", "Flu", "Pneumonia"]),
        (["5", "8", "11"], ["Flu", "HIV", "Pneumonia"]),
        (["6", "9", "12"], ["Flu", "HIV", "Pneumonia"]),
    ],
]
X1: History = [
    [([1, 2, 3], ["a", "a", "b"]), ([4, 5], ["a", "b"])],
    [([1, 4], ["a", "b"]), ([2, 3, 5], ["a", "a", "b"])],
]
WHOLE_VALUES: History = [
    [([1, 4, 5], ["a", "a", "b"]), ([2, 3, 6], ["a", "a", "b"])],
    [([1, 2, 3], ["a", "a", "b"]), ([4, 5, 6], ["a", "a", "b"])],
    [([1, 2, 6], ["a", "a", "b"]), ([3, 4, 5], ["a", "a", "b"])],
]


def release(groups: list, name: str = "", **more) -> Release:
    """A bucketized release from the oracles' form."""
    rows = [
        (p, g, v) for g, (persons, values) in enumerate(groups, start=1) for p, v in zip(persons, values, strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["id", "group", "value"], orient="row")
    return Release.bucketized(frame, id="id", sensitive="value", group="group", name=name, **more)


def releases(history: History) -> list[Release]:
    return [release(groups, f"D{k}") for k, groups in enumerate(history, start=1)]


@st.composite
def histories(
    draw: st.DrawFn, *, persons: int = 9, most_releases: int = 4, values: int = 4, least_releases: int = 1
) -> History:
    """Random small histories made from a true assignment: insertions, deletions, returns, groups of one."""
    n = draw(st.integers(1, persons))
    truth = draw(st.lists(st.integers(0, draw(st.integers(0, values - 1))), min_size=n, max_size=n))
    history: History = []
    for _ in range(draw(st.integers(least_releases, most_releases))):
        missing = draw(st.sets(st.integers(0, n - 1), max_size=max(0, min(n - 1, 3))))
        present = draw(st.permutations([p for p in range(n) if p not in missing]))
        groups = []
        while present:
            size = draw(st.integers(1, min(5, len(present))))
            members, present = list(present[:size]), present[size:]
            groups.append((members, [f"v{truth[p]}" for p in members]))
        history.append(groups)
    return history
