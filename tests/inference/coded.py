"""Cases of the general problem (oracles.factored) as histories in codes."""

import math

import numpy as np
import polars as pl

from showthrough.inference.history import ABSENT, CandidateSets, History, Statements
from tests.histories import release


def history_of(case):
    """The history that says just what the case says; persons with a weight are one column."""
    people, values = list(case.fits), list(case.values)
    releases = case.releases()
    groups = [sorted({row.group for row in case.rows if row.release == r} | fitting(case, r)) for r in range(releases)]
    first = np.cumsum([0, *(len(own) for own in groups)]).astype(np.int64)
    sets = CandidateSets(int(first[-1]))
    group_of = np.full((releases, len(people)), ABSENT, dtype=np.int32)
    for r, own in enumerate(groups):
        for k, person in enumerate(people):
            fits = [int(first[r]) + own.index(g) for g in case.fits[person][r] if g is not None]
            outside = np.array([None in case.fits[person][r]])
            group_of[r, k] = sets.code(np.array([0, len(fits)]), np.array(sorted(fits), dtype=np.int64), outside)[0]
    start, members = sets.arrays()
    rows = sorted(
        (int(first[w.release]) + groups[w.release].index(w.group), values.index(w.value), w) for w in case.rows
    )
    most = 10 * sum(case.persons_of(p) for p in people) + 10
    lower = np.array([w.lower for _, _, w in rows], dtype=np.int64)
    upper = np.array([min(w.upper, most) for _, _, w in rows], dtype=np.int64)
    return History(
        releases=tuple(
            release([([f"x{g}"], ["v0"]) for g in own] or [(["x"], ["v0"])], f"D{r + 1}")
            for r, own in enumerate(groups)
        ),
        names=tuple(f"D{r + 1}" for r in range(releases)),
        ids=pl.Series("id", people, dtype=pl.String),
        values=pl.Series("value", values, dtype=pl.String),
        group_of=group_of,
        labels=tuple(pl.Series("group", own, dtype=pl.Int64) for own in groups),
        first_group=first,
        row_group=np.array([g for g, _, _ in rows], dtype=np.int32),
        row_value=np.array([v for _, v, _ in rows], dtype=np.int32),
        row_count=lower,
        set_start=start,
        set_group=members,
        weight=np.array([case.persons_of(p) for p in people], dtype=np.int64),
        row_upper=None if np.array_equal(lower, upper) else upper,
        statements=statements_of(case, people, values, most),
        **prior_of(case, people, values),
    )


def named(groups, name):
    """A release with these groups: what proofs are told with."""
    return release([([f"{name} {g}"], ["v0"]) for g in groups] or [([name], ["v0"])], name)


def fitting(case, r):
    return {g for fits in case.fits.values() for g in fits[r] if g is not None}


def statements_of(case, people, values, most):
    if not case.statements:
        return None
    entries = [
        (k, people.index(p), values.index(s), a)
        for k, said in enumerate(case.statements)
        for (p, s), a in said.terms.items()
    ]
    far = 10 * most
    return Statements(
        lower=np.array([-far if said.lower == -math.inf else said.lower for said in case.statements], dtype=np.int64),
        upper=np.array([far if said.upper == math.inf else said.upper for said in case.statements], dtype=np.int64),
        names=tuple(f"S{k}" for k in range(len(case.statements))),
        statement=np.array([e[0] for e in entries], dtype=np.int64),
        person=np.array([e[1] for e in entries], dtype=np.int64),
        value=np.array([e[2] for e in entries], dtype=np.int32),
        coefficient=np.array([e[3] for e in entries], dtype=np.int64),
    )


def prior_of(case, people, values):
    if case.prior is None:
        return {}
    rows = [tuple(case.prior[p][s] for s in values) for p in people]
    kinds = {row: k for k, row in enumerate(dict.fromkeys(rows))}
    return {"prior_of": np.array([kinds[row] for row in rows]), "prior": np.array(list(kinds), dtype=np.float64)}
