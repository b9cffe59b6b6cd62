"""Objectives of local recoding and Mondrian: measured from what is printed, never worse than the usual choice."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.anonymizers.objectives import OBJECTIVES
from showthrough.errors import InputError
from tests.anonymizers.raw_tables import PLACES, TREE, fits, groups_of, raw_tables
from tests.anonymizers.test_anonymize import HIERARCHY, ROLES
from tests.oracles import objectives as oracle
from tests.saying import refusing

METHODS = ["local-recoding", "mondrian", "mondrian-relaxed"]
ABOVE = {leaf: [top, "all"] for top, leaves in TREE.items() for leaf in leaves}
JOBS = {"b": ["x", "all"], "c": ["x", "all"], "d": ["y", "all"], "e": ["y", "all"]}
JOB_TREE = st.Hierarchy.from_rows([(leaf, *path) for leaf, path in JOBS.items()])
LABELS = {
    "id": "id", "sensitive": "ill", "quasi": ["place", "job"], "hierarchies": {"place": HIERARCHY, "job": JOB_TREE},
}  # fmt: skip


def _fits_job(cell, value):
    return cell in (value, *JOBS[value])


def costs(made, table):
    """By the oracle, from the cells that everybody is printed with."""
    quasi = made.roles.quasi
    shown = {row[0]: row[1:] for row in made.cells().iter_rows()}
    group = dict(made.groups().iter_rows())
    rows = table.select(quasi).rows()
    cells = [shown[group[one]] if one in group else None for one in table["id"]]
    paths = {"age": None, "place": ABOVE, "job": JOBS if len(quasi) == 2 else {}}
    readers = [_fits_job if c == "job" and len(quasi) == 2 else fits for c in quasi]
    return oracle.costs(rows, cells, readers, [paths[c] for c in quasi])


def published(table, roles, **options):
    try:
        return st.anonymize(table, **{**roles, **options})
    except InputError as refused:
        return str(refused)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15, deadline=None)
@given(
    table=raw_tables(least=2),
    objective=hs.sampled_from(OBJECTIVES),
    labels=hs.booleans(),
    diverse=hs.booleans(),
    limit=hs.sampled_from([0, 3]),
    levels=hs.sampled_from([{}, {"place": (1, None)}, {"place": (0, 1)}]),
    seed=hs.integers(0, 9),
)
def test_an_objective_is_never_worse_than_the_usual_choice(
    method, table, objective, labels, diverse, limit, levels, seed
):
    if objective == "precision" and not labels:
        return
    roles = LABELS if labels else ROLES
    criteria = [st.KAnonymity(2), *([st.DistinctLDiversity(2)] if diverse else [])]
    options = {
        "method": method, "criteria": criteria, "suppression_limit": limit, "levels": levels, "seed": seed,
    }  # fmt: skip
    usual = published(table, roles, **options)
    made = published(table, roles, **options, objective=objective)
    if isinstance(usual, str):
        assert made == usual
        return
    cost = costs(made, table)[objective]
    assert cost <= costs(usual, table)[objective] * (1 + 1e-9) + 1e-12
    assert made.made.suppressed <= limit
    assert all(len(group) >= 2 and (not diverse or len(set(group)) >= 2) for group in groups_of(made))
    told = [one.figures for one in made.made.remarks if one.kind == "objective"]
    if objective == "loss":
        assert made.to_frame().equals(usual.to_frame())
        assert not told
    else:
        assert told[0]["value"] == pytest.approx(cost)
    again = published(table.reverse(), roles, **options, objective=objective)
    assert again.to_frame().equals(made.to_frame())


def test_rows_that_may_be_suppressed_never_make_the_cuts_worse():
    for seed in (33, 167):
        draw = random.Random(seed)
        rows = [(draw.randint(0, 9) ** 2) for _ in range(60)], [int(draw.paretovariate(1)) for _ in range(60)]
        table = pl.DataFrame({"a": rows[0], "b": rows[1], "c": draw.choices("xyz", k=60), "ill": ["flu"] * 60})
        told = []
        for limit in (0, 0.1):
            made = st.anonymize(
                table, sensitive="ill", quasi=["a", "b", "c"], criteria=[st.KAnonymity(3)],
                objective="average-class-size", suppression_limit=limit, seed=0,
            )  # fmt: skip
            told += [one.figures["value"] for one in made.made.remarks if one.kind == "objective"]
        assert told[1] <= told[0]


@pytest.mark.parametrize("method", METHODS)
def test_an_objective_wins_something(method):
    won = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        place, job = rng.choice(PLACES, 120, p=[0.4, 0.3, 0.1, 0.1, 0.1]), rng.choice(list("bcde"), 120)
        table = pl.DataFrame(
            {"id": [f"p{k}" for k in range(120)], "place": place, "job": job, "ill": place == PLACES[0]}
        )
        options = {"method": method, "criteria": [st.KAnonymity(5 + 3 * seed)], "seed": seed}
        usual = costs(published(table, LABELS, **options), table)
        found = {one: costs(published(table, LABELS, **options, objective=one), table)[one] for one in OBJECTIVES}
        assert all(found[one] <= usual[one] + 1e-12 for one in OBJECTIVES)
        won |= {one for one in OBJECTIVES if found[one] < usual[one] - 1e-9}
    assert won >= {"discernibility", "entropy"}


@pytest.mark.parametrize("method", METHODS)
def test_what_an_objective_cannot_mean_is_refused(method):
    table = pl.DataFrame({"place": PLACES * 2, "job": list("bcdeb") * 2, "ill": [0, 1] * 5})
    roles = {"sensitive": "ill", "quasi": ["place", "job"], "hierarchies": {"place": HIERARCHY}}
    with refusing(
        InputError, "column 'job' is published as sets: give every quasi-identifier a hierarchy, or take loss"
    ):
        st.anonymize(table, method=method, criteria=[st.KAnonymity(2)], objective="precision", **roles)
    with refusing(InputError, f"The objective of {method} is one of loss, entropy"):
        st.anonymize(table, method=method, criteria=[st.KAnonymity(2)], objective="beauty", **roles)


def test_an_objective_is_measured_by_tight_cells():
    table = pl.DataFrame({"place": PLACES * 2, "ill": [0, 1] * 5})
    roles = {"sensitive": "ill", "hierarchies": {"place": HIERARCHY}, "criteria": [st.KAnonymity(2)]}
    with refusing(InputError, "leave out cells of the recursion"):
        st.anonymize(table, method="mondrian", objective="entropy", cells="recursion", **roles)


def test_methods_without_objectives_say_so():
    table = pl.DataFrame({"age": [1, 2, 3, 4], "ill": [0, 1, 2, 3]})
    with refusing(InputError, "The objective of mdav is one of loss"):
        st.anonymize(table, method="mdav", quasi=["age"], criteria=[st.KAnonymity(2)], objective="entropy")
