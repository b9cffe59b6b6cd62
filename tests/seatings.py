"""Histories whose persons fit several groups: random ones, and how the oracle's form becomes releases."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

from showthrough import Release
from tests.histories import release
from tests.oracles.seats import Seating


@st.composite
def seatings(draw: st.DrawFn, *, persons: int = 6, most_releases: int = 3, values: int = 3) -> Seating:
    """Made from a true seat and value of everybody, with further groups, and absence, as candidates."""
    n = draw(st.integers(1, persons))
    truth = draw(st.lists(st.integers(0, values - 1), min_size=n, max_size=n))
    counts, fits = [], {p: [] for p in range(n)}
    for _ in range(draw(st.integers(1, most_releases))):
        home = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, None]), min_size=n, max_size=n))
        home = [0] * n if all(h is None for h in home) else home
        used = sorted({h for h in home if h is not None})
        home = [None if h is None else used.index(h) for h in home]
        counts.append([[f"v{truth[p]}" for p in range(n) if home[p] == g] for g in range(len(used))])
        for p in range(n):
            more = draw(st.sets(st.sampled_from([*range(len(used)), *range(len(used)), None]), max_size=1))
            own = {home[p]} | more
            fits[p].append([*([None] if None in own else []), *sorted(g for g in own if g is not None)])
    fits = {p: f for p, f in fits.items() if any(own != [None] for own in f)}
    return Seating(counts, fits)


def releases(case: Seating) -> tuple[list[Release], dict[str, pl.DataFrame]]:
    """Releases without ties to persons, and the memberships that say who fits where."""
    found, membership = [], {}
    for r, groups in enumerate(case.counts):
        name = f"D{r + 1}"
        members = [[f"x{r}.{g}.{k}" for k in range(len(values))] for g, values in enumerate(groups)]
        found.append(release(list(zip(members, groups, strict=True)), name))
        rows = [(p, None if g is None else g + 1) for p, own in case.fits.items() if own[r] != [None] for g in own[r]]
        membership[name] = pl.DataFrame(rows, schema={"id": pl.Int64, "group": pl.Int64}, orient="row")
    return found, membership
