"""Plans recode another table alike; k-map and δ-presence count in the population."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.anonymizers.plan import plan_file, plan_of
from showthrough.errors import CriterionError, FileError, InputError
from showthrough.release.folder import fill, reserve
from showthrough.storage.unit import Unit
from tests.anonymizers.raw_tables import QUASI, covered, fits, groups_of, raw_tables
from tests.anonymizers.test_anonymize import ROLES, example
from tests.saying import refusing

K3 = [st.KAnonymity(3)]
GENERAL = ["mondrian", "mondrian-relaxed", "local-recoding", "full-domain"]


@pytest.mark.parametrize("method", ["mondrian", "full-domain"])
@settings(max_examples=8, deadline=None)
@given(table=raw_tables(least=6), other=raw_tables(least=6))
def test_a_plan_gives_the_same_release_again_and_a_valid_one_of_another_table(method, table, other):
    # labels of neighbouring groups overlap; ranges and sets of strict cuts do not, nor do levels
    roles = ROLES if method == "full-domain" else {**ROLES, "hierarchies": None}
    first = st.anonymize(table, method=method, criteria=K3, **roles)
    again = st.anonymize(table, method=method, criteria=K3, plan=plan_of(first), **roles)
    columns = [*QUASI, "ill"]
    assert again.to_frame().sort(columns).equals(first.to_frame().sort(columns))
    try:
        new = st.anonymize(other, criteria=K3, plan=plan_of(first), suppression_limit=other.height, **roles)
    except InputError:  # nobody fits, or no group reaches k
        return
    assert all(len(g) >= 3 for g in groups_of(new))
    assert new.members + new.made.suppressed == other.height
    assert covered(new, other)
    if method == "mondrian":
        allowed = set(first.to_frame().select(QUASI).iter_rows())
        assert set(new.to_frame().select(QUASI).iter_rows()) <= allowed


def test_plans_on_disk(tmp_path):
    table = example()
    first = st.anonymize(table, method="local-recoding", criteria=K3, **ROLES)
    with Unit() as unit:
        fill(first, reserve(unit, tmp_path / "D1", overwrite=False), format="csv", plan=plan_file(first))
        unit.commit()
    target = tmp_path / "D1" / "plan.json"
    assert "zq" not in target.read_text()
    for given_plan in (target, tmp_path / "D1", json.loads(target.read_text())):
        again = st.anonymize(table, criteria=K3, plan=given_plan, suppression_limit=20, **ROLES)
        assert covered(again, table)
    assert plan_of(st.anonymize(table, criteria=K3, output="bucketized", **ROLES)) is None


def test_plans_that_do_not_fit(tmp_path):
    table = example()
    plan = plan_of(st.anonymize(table, criteria=K3, **ROLES))
    with pytest.raises(InputError, match="The plan recodes age, place, job"):
        st.anonymize(table, criteria=K3, plan=plan, **{**ROLES, "quasi": ["age", "place"]})
    far = table.with_columns(age=pl.col("age") + 1000)
    with pytest.raises(InputError, match="24 of 24 rows would have to be suppressed, at most 0 are allowed"):
        st.anonymize(far, criteria=K3, plan=plan, **ROLES)
    levels = {"version": 1, "quasi": QUASI, "levels": {"age": 7, "place": 0, "job": 0}}
    with refusing(InputError, match="level 7 for 'age', which has levels 0 to 1"):
        st.anonymize(table, criteria=K3, plan=levels, **ROLES)
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(FileError, match="is not a plan: expected JSON"):
        st.anonymize(table, criteria=K3, plan=tmp_path / "plan.json", **ROLES)
    with pytest.raises(FileError, match="is not a plan of version 1"):
        st.anonymize(table, criteria=K3, plan={"quasi": QUASI}, **ROLES)
    with pytest.raises(FileError):
        st.anonymize(table, criteria=K3, plan=tmp_path / "nothing.json", **ROLES)


@pytest.mark.parametrize(
    "plan",
    [
        [], "x", {}, {"version": 1, "quasi": [["a"]], "levels": {}}, {"version": 1, "quasi": QUASI, "levels": [1]},
        {"version": 1, "quasi": QUASI, "cells": 3}, {"version": 1, "quasi": 5, "levels": {}},
        {"version": 1, "quasi": QUASI, "levels": {}, "cells": {}}, {"version": "1", "quasi": QUASI, "levels": {}},
        {"version": 1, "quasi": QUASI, "levels": {"age": True, "place": 0, "job": 0}},
        {"version": 1, "quasi": QUASI, "levels": {"age": "zq", "place": None, "job": []}},
        {"version": 1, "quasi": QUASI, "cells": {"age": [1], "place": [], "job": [[]]}},
        {"version": 1, "quasi": QUASI, "cells": {"age": ["["], "place": ["x"], "job": ["y"]}},
    ],
)  # fmt: skip
def test_a_malformed_plan_is_a_sentence(tmp_path, plan):
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with refusing(InputError, hidden=("zq",)):
        st.anonymize(example(), criteria=K3, plan=tmp_path / "plan.json", **ROLES)


def test_a_plan_that_is_nested_too_deeply_is_a_sentence(tmp_path):
    (tmp_path / "plan.json").write_text("[" * 100_000)
    with refusing(InputError, match="is not a plan: expected JSON"):
        st.anonymize(example(), criteria=K3, plan=tmp_path / "plan.json", **ROLES)


def in_population(release, people: pl.DataFrame) -> dict[tuple, int]:
    """Persons of the population whom the cells of each published group fit, by hand."""
    cells = set(release.to_frame().select(QUASI).iter_rows())
    rows = list(people.select(QUASI).iter_rows())
    return {c: sum(all(map(fits, c, row)) for row in rows) for c in cells}


@pytest.mark.parametrize("method", GENERAL)
@settings(max_examples=8, deadline=None)
@given(people=raw_tables(least=8), data=hs.data())
def test_k_map(method, people, data):
    table = people[data.draw(hs.lists(hs.integers(0, people.height - 1), min_size=1, max_size=12, unique=True))]
    made = st.anonymize(table, method=method, criteria=[st.KMap(4, population=people)], passes=1, **ROLES)
    assert made.members == table.height
    assert covered(made, table)
    assert min(in_population(made, people).values()) >= 4


@pytest.mark.parametrize("method", GENERAL)
@settings(max_examples=8, deadline=None)
@given(people=raw_tables(least=8), data=hs.data())
def test_delta_presence(method, people, data):
    table = people[data.draw(hs.lists(hs.integers(0, people.height - 1), min_size=1, max_size=20, unique=True))]
    share = table.height / people.height
    wanted = st.DeltaPresence(0, 0.7, population=people)
    if share > 0.7:
        with pytest.raises(InputError, match=r"already the whole table as one group fails it"):
            st.anonymize(table, method=method, criteria=[wanted], passes=1, **ROLES)
        return
    made = st.anonymize(table, method=method, criteria=[wanted], passes=1, **ROLES)
    counted = {tuple(row[:-1]): row[-1] for row in made.to_frame().group_by(QUASI).len().iter_rows()}
    inside = in_population(made, people)
    assert all(counted[cells] <= 0.7 * inside[cells] + 1e-9 for cells in counted)


def test_presence_everywhere_leaves_no_part_of_the_population_without_a_group():
    people = example(40)
    table = people[::2]
    made = st.anonymize(table, criteria=[st.DeltaPresence(0.2, 0.8, population=people)], **ROLES)
    assert sum(in_population(made, people).values()) >= 40
    with pytest.raises((CriterionError, InputError)):
        st.anonymize(
            table, method="full-domain", criteria=[st.DeltaPresence(0.9, 1, population=people)],
            suppression_limit=15, **ROLES,
        )  # fmt: skip


def test_populations_that_do_not_fit():
    people = example(40)
    with pytest.raises(InputError, match="occur more often in the table than in the population"):
        st.anonymize(people, criteria=[st.KMap(2, population=people[:20])], **ROLES)
    with pytest.raises(InputError, match="need the population as a table"):
        st.anonymize(people, criteria=[st.KMap(2)], **ROLES)
    with pytest.raises(InputError, match="Every group fits 40 persons"):
        st.anonymize(people, criteria=[st.KMap(41, population=people)], **ROLES)
    with pytest.raises(InputError, match="generalized"):
        st.anonymize(people, criteria=[st.KMap(2, population=people)], output="bucketized", **ROLES)
    same = st.anonymize(people, criteria=[st.KMap(3, population=people)], cells="recursion", **ROLES)
    assert same.members == 40
