"""`st.anonymize`: every declared pair of method and criterion, what is published and what never is."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.anonymizers.methods import METHODS
from showthrough.errors import CriterionError, InputError
from tests.anonymizers.raw_tables import QUASI, TREE, covered, groups_of, raw_tables, satisfies

HIERARCHY = st.Hierarchy.from_rows([(leaf, top, "all") for top, leaves in TREE.items() for leaf in leaves])
ROLES = {"id": "id", "sensitive": "ill", "quasi": QUASI, "hierarchies": {"place": HIERARCHY}}
EXAMPLES = [
    st.KAnonymity(3),
    st.DistinctLDiversity(2),
    st.FrequencyLDiversity(1.5),
    st.EntropyLDiversity(2),
    st.RecursiveLDiversity(2, 2),
    st.AlphaKAnonymity(0.6, 2),
    st.TCloseness(0.4),
    st.BetaLikeness(1.5),
    st.DeltaDisclosure(0.9, occurring=True),
    st.DeltaDisclosure(1.2),
    st.MUniqueness(2),
    st.Dissimilarity(1, 0.3, 2, strict=False),
]
PAIRS = [(name, c) for name, method in METHODS.items() for c in EXAMPLES if isinstance(c, method.enforces)]
STRANGE = [(name, c) for name, method in METHODS.items() for c in EXAMPLES if not isinstance(c, method.enforces)]


def content(release) -> str:
    return release.to_frame().write_csv() + release.counts().write_csv()


@pytest.mark.parametrize(("method", "criterion"), PAIRS, ids=lambda x: str(x))
@settings(max_examples=5, deadline=None)
@given(table=raw_tables(), seed=hs.integers(0, 3))
def test_every_declared_pair(method, criterion, table, seed):
    limit = 5 if method in ("full-domain", "anatomy") else 0
    try:
        made = st.anonymize(
            table, method=method, criteria=[criterion], seed=seed, suppression_limit=limit, passes=2, **ROLES
        )
    except CriterionError:
        assert method == "xcolor"
        return
    except InputError:
        whole = [table["ill"].to_list()]
        # only what the table itself cannot do is refused (XColor and Anatomy need more than that)
        assert method in ("anatomy", "xcolor") or not satisfies(criterion, whole, whole[0])
        return
    groups = groups_of(made)
    assert satisfies(criterion, groups, table["ill"].to_list())
    assert sum(map(len, groups)) == made.members == table.height - made.made.suppressed
    assert made.made.suppressed <= limit
    assert all(check.holds for check in made.made.checks)
    assert "id" not in made.to_frame().columns
    assert sorted(made.groups()["id"]) == sorted(table["id"]) or made.made.suppressed
    assert made.groups().height == made.members
    assert dict(made.groups().group_by("group").len().iter_rows()) == dict(made.sizes().iter_rows())
    if made.kind == "generalized":
        assert covered(made, table)
        assert 0 <= made.made.utility.gcp_published <= 1


@pytest.mark.parametrize(("method", "criterion"), STRANGE, ids=lambda x: str(x))
def test_undeclared_pairs_are_refused_with_what_would_do(method, criterion):
    table = pl.DataFrame({"id": ["a"], "age": [1], "place": ["n1"], "job": ["b"], "ill": [1]})
    with pytest.raises(InputError, match="cannot enforce") as refused:
        st.anonymize(table, method=method, criteria=[criterion], **ROLES)
    able = [name for name, m in METHODS.items() if isinstance(criterion, m.enforces)]
    assert all(name in str(refused.value) for name in able)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=6, deadline=None)
@given(table=raw_tables(least=6, most=30), seed=hs.integers(0, 2), data=hs.data())
def test_nothing_depends_on_the_order_of_the_rows(method, table, seed, data):
    criterion = {"anatomy": st.DistinctLDiversity(2), "xcolor": st.Dissimilarity(0, 0.4, 3, strict=False)}
    criteria = [criterion.get(method, st.KAnonymity(3))]
    other = table[data.draw(hs.permutations(range(table.height)))]
    options = {"method": method, "criteria": criteria, "seed": seed, "passes": 2, "suppression_limit": 6, **ROLES}
    try:
        one = st.anonymize(table, accept_violations=True, **options)
    except InputError:
        with pytest.raises(InputError):
            st.anonymize(other, accept_violations=True, **options)
        return
    two = st.anonymize(other, accept_violations=True, **options)
    assert content(one) == content(two)
    assert one.groups().sort("id").equals(two.groups().sort("id"))


@pytest.mark.parametrize("output", ["generalized", "bucketized"])
def test_same_seed_same_bytes(tmp_path, output):
    table = example(60)

    def folder(name, seed):
        made = st.anonymize(
            table, method="local-recoding", output=output, criteria=[st.KAnonymity(4)], seed=seed, name="D", **ROLES
        )
        made.save(tmp_path / name)
        return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted((tmp_path / name).iterdir())}

    assert folder("a", 1) == folder("b", 1)
    assert folder("a2", 1) != folder("c", 2)


def example(rows: int = 24) -> pl.DataFrame:
    """A table without surprises."""
    places = [leaf for leaves in TREE.values() for leaf in leaves]
    return pl.DataFrame(
        {
            "id": [f"zq{n}" for n in range(rows)],
            "age": [18 + (n * 7) % 40 for n in range(rows)],
            "place": [places[n % 5] for n in range(rows)],
            "job": ["bcde"[(n * n) % 4] for n in range(rows)],
            "ill": [n % 4 for n in range(rows)],
        }
    )


def test_the_cost_is_what_utility_measures():
    table = example(200)
    for method in ("mondrian", "local-recoding", "full-domain"):
        made = st.anonymize(table, method=method, criteria=[st.KAnonymity(5)], suppression_limit=10, **ROLES)
        found = st.utility(made, table, id="id", k=5)
        own = made.made.utility
        assert own.gcp_published == pytest.approx(found.gcp_published)
        assert own.gcp_set == pytest.approx(found.gcp_set)
        assert own.c_avg == pytest.approx(found.c_avg)
        assert own.groups == found.groups
        assert "C_avg" in str(made.made)


def test_the_cost_of_labels_and_ranges_is_what_local_recoding_minimizes():
    from showthrough.anonymizers.group_loss import cost, merge_alike
    from showthrough.anonymizers.table import Shape, prepare

    table = example(200)
    jobs = st.Hierarchy.from_rows([(job, "job") for job in "bcde"])
    trees = {"place": HIERARCHY, "job": jobs}
    made = st.anonymize(table, method="local-recoding", criteria=[st.KAnonymity(5)], **{**ROLES, "hierarchies": trees})
    ready = prepare(table, id="id", sensitive="ill", quasi=QUASI, shape=Shape.of(trees, None, None, None, "refuse"))
    label = {g: n for n, g in enumerate(made.labels.to_list())}
    where = dict(made.groups().iter_rows())
    group = np.array([label[where[i]] for i in table["id"]])
    measured = cost(ready.columns, merge_alike(ready.columns, group), k=5)
    own = made.made.utility
    assert own.gcp_hierarchy == pytest.approx(measured.gcp)
    assert own.gcp_published == pytest.approx(measured.gcp)
    assert own.c_avg == pytest.approx(measured.average_group)


def test_relaxed_cuts_split_equal_values():
    table = pl.DataFrame({"age": [1] * 5 + [2] * 5 + [3] * 6, "ill": list(range(16))})
    strict = st.anonymize(table, criteria=[st.KAnonymity(4)], sensitive="ill")
    relaxed = st.anonymize(table, method="mondrian-relaxed", criteria=[st.KAnonymity(4)], sensitive="ill")
    assert sum(map(len, groups_of(relaxed))) == sum(map(len, groups_of(strict))) == 16
    assert all(len(g) >= 4 for g in groups_of(relaxed))
    with pytest.raises(InputError, match="relaxed"):
        st.anonymize(table, method="mondrian-relaxed", cells="recursion", criteria=[st.KAnonymity(4)], sensitive="ill")


@settings(max_examples=15, deadline=None)
@given(raw_tables(least=8), raw_tables(least=1, most=15))
def test_cells_of_the_recursion_cover_everybody_in_the_domain(table, others):
    roles = {**ROLES, "hierarchies": None}  # a label that nobody is under has no cell
    made = st.anonymize(table, cells="recursion", criteria=[st.KAnonymity(3)], **roles)
    assert covered(made, table)
    inside = others.filter(
        pl.col("age").is_between(table["age"].min(), table["age"].max())
        & pl.col("place").is_in(table["place"].implode())
        & pl.col("job").is_in(table["job"].implode())
    )
    if inside.height:
        from showthrough.register.locating import locate

        found = locate(made, "D", st.Register.of(inside.select("id", *QUASI), id="id")).candidates
        assert (found.counts >= 1).all()


def test_xcolor_without_guarantee():
    table = pl.DataFrame({"id": [f"p{n}" for n in range(6)], "age": range(6), "ill": [1, 1, 1, 1, 1, 9]})
    wanted = st.Dissimilarity(0, 0.9, 3, strict=False)
    options = {"method": "xcolor", "criteria": [wanted], "id": "id", "sensitive": "ill"}
    with pytest.raises(CriterionError, match="accept_violations") as refused:
        st.anonymize(table, **options)
    assert refused.value.release.members == 6
    made = st.anonymize(table, accept_violations=True, **options)
    assert not made.made.checks[0].holds
    assert "not guaranteed" in str(made.made)


def test_progress_names_stages():
    told: list[str] = []
    st.anonymize(example(), method="local-recoding", criteria=[st.KAnonymity(3)], progress=told.append, **ROLES)
    assert told[0] == "reading the table"
    assert any(line.startswith("local-recoding: ") for line in told)
    assert told[-1] == "publishing and checking"
