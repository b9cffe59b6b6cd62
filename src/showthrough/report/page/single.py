"""Each release by itself: the levels of the common criteria, which look at one release at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping

from showthrough.criteria.criterion import text
from showthrough.criteria.levels import levels
from showthrough.errors import InputError
from showthrough.release.release import Release
from showthrough.report.page.blocks import PlainTable
from showthrough.report.page.wording import percent

CRITERIA = {
    "k-anonymity": "records in the smallest group",
    "distinct l-diversity": "different values in the least diverse group",
    "frequency l-diversity": "whoever guesses inside a group is right at most {guess}",
    "entropy l-diversity": "the least uncertain group is as uncertain as so many equally frequent values",
    "t-closeness (equal)": "largest distance of a group from the whole: 0 the same, 1 nothing in common",
}
MOST_RELEASES = 8


def single_levels(releases: Mapping[str, Release]) -> dict[str, dict[str, float]]:
    """Release → criterion → level reached, for the newest releases."""
    found = {}
    for name, release in list(releases.items())[-MOST_RELEASES:]:
        try:
            told = levels(release)
        except InputError:  # a release that cannot be counted, such as one without groups
            continue
        found[name] = dict(zip(told["criterion"], told["level"], strict=True))
    return found


def criteria_grid(found: dict[str, dict[str, float]], names: dict[str, str]) -> PlainTable:
    """One line per criterion, one column per release."""
    rows = []
    for criterion, says in CRITERIA.items():
        reached = [own.get(criterion) for own in found.values()]
        cells = ["" if level is None else _level(level) for level in reached]
        rows.append(
            (criterion.removesuffix(" (equal)").replace("-", "\u2011"), *cells, says.format(guess=_guess(reached)))
        )
    right = tuple(range(1, len(found) + 1))
    headings = ("Criterion", *(names[name] for name in found), "What it says")
    return PlainTable(headings, tuple(rows), right, stacked=True)


def _level(level: float) -> str:
    return text(float(f"{level:.3g}")) if math.isfinite(level) else text(level)


def _guess(reached: list[float | None]) -> str:
    known = [level for level in reached if level]
    return ", ".join(percent(1 / level) for level in known) if len(known) == len(reached) else "1 / l"
