"""Least and greatest levels per column, and the objectives of a full-domain search."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.anonymizers.full_domain import full_domain
from showthrough.anonymizers.level_range import bounded
from showthrough.anonymizers.objectives import OBJECTIVES
from showthrough.anonymizers.requirement import Requirement
from showthrough.errors import InputError
from tests.anonymizers.raw_tables import TREE, covered, groups_of, raw_tables
from tests.anonymizers.tables import PATHS, column_of
from tests.anonymizers.test_anonymize import HIERARCHY, ROLES
from tests.oracles import lattice_nodes
from tests.saying import refusing

GENERAL = ["mondrian", "mondrian-relaxed", "local-recoding", "full-domain"]
ENDS = hs.tuples(hs.integers(0, 2), hs.integers(0, 2)).map(lambda pair: (min(pair), max(pair)))
ABOVE = {leaf: [top, "all"] for top, leaves in TREE.items() for leaf in leaves}


@pytest.mark.parametrize("method", GENERAL)
@settings(max_examples=40, deadline=None)
@given(
    table=raw_tables(least=3),
    ends=ENDS,
    exact=hs.booleans(),
    limit=hs.sampled_from([0, 3, 39]),
    diverse=hs.booleans(),
)
def test_every_cell_is_of_an_allowed_level(method, table, ends, exact, limit, diverse):
    levels = {"place": ends, **({"job": (None, 0)} if exact else {})}
    criteria = [st.KAnonymity(2), *([st.DistinctLDiversity(2)] if diverse else [])]
    given_ = {**ROLES, "criteria": criteria, "levels": levels, "suppression_limit": limit, "passes": 1}
    try:
        made = st.anonymize(table, method=method, **given_)
    except InputError:
        # rows under one label of the greatest level stand alone; those that cannot would have to be suppressed
        parts: dict = {}
        for place, job, ill in table["place", "job", "ill"].rows():
            parts.setdefault(([place, *ABOVE[place]][ends[1]], job if exact else ""), []).append(ill)
        failing = sum(len(part) for part in parts.values() if len(part) < 2 or (diverse and len(set(part)) < 2))
        assert failing > min(limit, table.height - 1)
        return
    assert made.made.suppressed <= limit
    assert covered(made, table)
    assert all(len(group) >= 2 and (not diverse or len(set(group)) >= 2) for group in groups_of(made))
    shown = dict(zip(made.cells().to_series(0), made.cells().select("place", "job").rows(), strict=True))
    row_of = {row["id"]: row for row in table.iter_rows(named=True)}
    for person, group in made.groups().iter_rows():
        place, job = shown[group]
        assert lattice_nodes.levels_of(place, row_of[person]["place"], ABOVE) & set(range(ends[0], ends[1] + 1))
        assert not exact or job == row_of[person]["job"]
    again = st.anonymize(table.reverse(), method=method, **given_)
    assert again.to_frame().equals(made.to_frame())


@settings(max_examples=120, deadline=None)
@given(
    hs.lists(hs.tuples(*[hs.integers(0, 4)] * 3), min_size=2, max_size=25),
    hs.integers(1, 4),
    hs.integers(0, 6),
    hs.tuples(ENDS, ENDS, ENDS),
    hs.sampled_from(OBJECTIVES),
)
def test_no_node_is_better_by_any_objective(rows, k, limit, ends, objective):
    if len(rows) < k:
        return
    columns = [bounded(column_of("label", f"q{j}", [row[j] for row in rows]), pair) for j, pair in enumerate(ends)]
    texts = [["abcde"[n] for n in row] for row in rows]
    best = lattice_nodes.best(texts, [PATHS] * 3, k, limit, ends, objective)
    if best is None:
        with pytest.raises(InputError, match="most general"):
            full_domain(columns, Requirement(k), suppression_limit=limit, objective=objective)
        return
    if best == float("inf"):  # all rows suppressed makes no class
        return
    found = full_domain(columns, Requirement(k), suppression_limit=limit, objective=objective)
    assert found.loss == pytest.approx(best)
    assert all(low <= level <= high for level, (low, high) in zip(found.levels, ends, strict=True))
    own = lattice_nodes.costs(texts, [PATHS] * 3, found.levels, k, limit)
    assert own is not None
    assert own[objective] == pytest.approx(best)
    assert np.count_nonzero(found.group < 0) <= limit


def test_an_objective_is_told():
    table = pl.DataFrame({"place": ["n1", "n2", "s1", "s2"] * 3, "ill": [0, 1] * 6})
    made = st.anonymize(
        table, method="full-domain", sensitive="ill", criteria=[st.KAnonymity(2)], objective="discernibility",
        hierarchies={"place": HIERARCHY},
    )  # fmt: skip
    (remark,) = [one for one in made.made.remarks if one.kind == "levels"]
    assert remark.figures["value"] == 4 * 9
    assert "discernibility is 36" in str(remark)


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"levels": {"place": (0, 3)}}, "has levels 0 to 2"),
        ({"levels": {"place": (2, 1)}}, "has levels 0 to 2"),
        ({"levels": {"place": "01"}}, "a least and a greatest"),
        ({"levels": {"place": (0.5, 1)}}, "has levels 0 to 2"),
        ({"levels": {"job": (0, 1)}}, "its only level is 0"),
        ({"levels": {"ill": (0, 1)}}, "none of the quasi-identifiers"),
        ({"levels": {"place": (0, 1)}, "method": "mdav"}, "kept by mondrian"),
        ({"levels": {"place": (0, 1)}, "cells": "recursion"}, "tight cells"),
        ({"levels": {"place": (0, 1)}, "output": "bucketized"}, "generalized output"),
        ({"objective": "entropy", "method": "mdav"}, "The objective of mdav is one of loss"),
        ({"objective": "beauty", "method": "full-domain"}, "one of loss, entropy"),
        ({"levels": {"place": (0, 0), "job": (0, 0)}}, "within the greatest levels"),
    ],
)
def test_what_cannot_be_kept_is_refused(given_, words):
    table = pl.DataFrame({"place": ["n1", "n1", "s1", "s2"], "job": list("bbcd"), "ill": [0, 1, 0, 1]})
    roles = {"sensitive": "ill", "quasi": ["place", "job"], "hierarchies": {"place": HIERARCHY}}
    with refusing(InputError, words):
        st.anonymize(table, criteria=[st.KAnonymity(2)], **roles, **given_)
