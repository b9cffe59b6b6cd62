"""Several sensitive columns: published beside each other, judged column by column."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import showthrough as st
from showthrough.errors import InputError, ReleaseError
from tests.anonymizers.raw_tables import QUASI, covered, raw_tables, satisfies
from tests.anonymizers.test_anonymize import ROLES
from tests.oracles import several_columns
from tests.saying import refusing

SECRET = ["ill", "pay"]
SEVERAL = {**ROLES, "sensitive": SECRET}
ON_VALUES = [
    st.DistinctLDiversity(2),
    st.FrequencyLDiversity(1.5),
    st.EntropyLDiversity(1.8),
    st.RecursiveLDiversity(3, 2),
    st.AlphaKAnonymity(0.7, 2),
    st.TCloseness(0.5),
    st.BetaLikeness(2),
    st.DeltaDisclosure(0.9, occurring=True),
]


@hs.composite
def tables(draw: hs.DrawFn) -> pl.DataFrame:
    table = draw(raw_tables(least=6, values=4))
    pay = draw(hs.lists(hs.integers(0, 2), min_size=table.height, max_size=table.height))
    return table.with_columns(pl.Series("pay", [f"{10 * n}k" for n in pay]))


@pytest.mark.parametrize("method", ["mondrian", "local-recoding", "full-domain"])
@settings(max_examples=40, deadline=None)
@given(
    table=tables(),
    first=hs.sampled_from(ON_VALUES),
    second=hs.sampled_from(ON_VALUES),
    others=hs.sampled_from(["alone", "quasi", "together"]),
    named=hs.booleans(),
)
def test_every_criterion_holds_by_its_column(method, table, first, second, others, named):
    named = named and others != "together"
    wanted = {"ill": [first], "pay": [second]} if named else {c: [first, second] for c in SECRET}
    criteria = [first.on("ill"), second.on("pay")] if named else [first, second]
    rows = table.rows(named=True)

    def holds(published: list[dict]) -> bool:
        return all(
            satisfies(
                criterion,
                several_columns.judged(published, QUASI, SECRET, column, others),
                several_columns.everybody(rows, SECRET, column, others),
            )
            for column in SECRET
            for criterion in wanted[column]
        )

    try:
        made = st.anonymize(
            table, method=method, criteria=[st.KAnonymity(2), *criteria], others=others, passes=1, **SEVERAL
        )
    except InputError:
        whole = [{**row, **dict.fromkeys(QUASI, "*")} for row in rows]
        assert not holds(whole)  # only what the table as one group fails is refused
        return
    published = made.to_frame().rows(named=True)
    assert holds(published)
    assert min(Counter(tuple(row[c] for c in QUASI) for row in published).values()) >= 2
    # jointly: everybody's values stand beside each other, none is lost
    assert Counter((row["ill"], row["pay"]) for row in published) == Counter(table.select(SECRET).rows())
    assert covered(made, table)
    assert all(made.made.checks)


@settings(max_examples=10, deadline=None)
@given(table=tables(), seed=hs.integers(0, 2))
def test_the_same_table_gives_the_same_release_in_any_order(table, seed):
    mixed = table.sample(fraction=1, shuffle=True, seed=seed + 1)
    one, other = (
        st.anonymize(t, method="local-recoding", criteria=[st.KAnonymity(3)], seed=seed, **SEVERAL)
        for t in (table, mixed)
    )
    assert one.to_frame().equals(other.to_frame())


def example() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    places = ["n1", "n2", "s1", "s2", "w1"]
    return pl.DataFrame(
        {
            "id": [f"zq{n}" for n in range(60)], "age": rng.integers(18, 30, 60),
            "place": [places[n] for n in rng.integers(0, 5, 60)], "job": ["bcde"[n] for n in rng.integers(0, 4, 60)],
            "ill": rng.integers(0, 4, 60), "pay": [f"{n}k" for n in rng.integers(0, 3, 60)],
        }
    )  # fmt: skip


def test_a_release_is_read_and_audited_by_each_column(tmp_path):
    table = example()
    criteria = [st.KAnonymity(4), st.EntropyLDiversity(2).on("ill"), st.FrequencyLDiversity(1.5).on("pay")]
    made = st.anonymize(table, method="local-recoding", criteria=criteria, **SEVERAL)
    made.save(tmp_path / "D1")
    back = st.read_release(tmp_path / "D1")
    assert back.fingerprint() == made.fingerprint()
    assert back.to_frame().equals(made.to_frame())
    pay = st.read_release(tmp_path / "D1", sensitive="pay")
    assert (pay.roles.sensitive, pay.roles.also) == ("pay", ("ill",))
    assert pay.groups().equals(back.groups())
    told = {row["sensitive"]: row["level"] for row in st.levels(back, sensitive=SECRET).rows(named=True)
            if row["criterion"] == "frequency l-diversity"}  # fmt: skip
    for column, release in (("ill", back), ("pay", pay)):
        post = st.infer([release], register=table.select("id", *QUASI))
        # whoever knows everybody's group guesses as well as the most frequent value of a group
        own = st.infer([release])
        assert own.largest().max() == pytest.approx(1 / told[column])
        assert post.certificate.persons == table.height
    assert back.by("pay").by("ill").fingerprint() == back.fingerprint()
    with refusing(ReleaseError, "no sensitive column 'job'"):
        back.by("job")


def test_other_codings_leave_the_other_columns_out():
    made = st.anonymize(example(), criteria=[st.KAnonymity(4)], **SEVERAL)
    recoded = made.recoded({0: "a", 1: "a", 2: "b", 3: "b"})
    assert recoded.to_frame().columns == [*QUASI, "ill"]


def test_the_fingerprint_of_one_column_is_as_it_was():
    frame = pl.DataFrame({"zip": ["a", "a", "b"], "ill": ["x", "y", "x"]})
    alone = st.Release.generalized(frame, sensitive="ill", quasi=["zip"])
    assert alone.fingerprint() == st.Release.generalized(frame, sensitive=["ill"], quasi=["zip"]).fingerprint()
    assert alone.fingerprint() == "f5cce29d41c012f10ea7f1310ba72947c10a5852e58071fad3a14ade771ac1ca"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"criteria": [st.EntropyLDiversity(2).on("job")]}, "none of the sensitive ones"),
        ({"others": "quasi", "sensitive": "ill"}, "several sensitive columns"),
        ({"others": "apart"}, "left 'alone'"),
        ({"others": "together", "criteria": [st.EntropyLDiversity(2).on("ill")]}, "no criteria of their own"),
        ({"method": "anatomy", "criteria": [st.DistinctLDiversity(2)]}, "not by anatomy"),
        ({"output": "bucketized"}, "one sensitive column"),
        ({"strategy": "m-invariance", "criteria": [st.MUniqueness(2)]}, "one sensitive column is followed"),
        ({"sensitive": ["ill", "ill"]}, "named twice"),
        ({"sensitive": ["ill", "age"]}, "named twice"),
        ({"criteria": [st.DistinctLDiversity(4).on("pay")]}, "most frequent value"),
    ],
)
def test_what_cannot_be_is_refused(more, words):
    with refusing(InputError, words, hidden=("0k", "zq")):
        st.anonymize(example(), **{**SEVERAL, "criteria": [st.KAnonymity(2)], **more})


def test_kinds_with_values_per_group_have_one_column():
    frame = pl.DataFrame({"g": [1, 1], "ill": ["x", "y"], "pay": ["1", "2"], "n": [1, 1]})
    with refusing(InputError, "one sensitive column"):
        st.Release.bucketized(frame, sensitive=["ill", "pay"], group="g", quasi=[])


@pytest.mark.parametrize("method", ["mondrian", "local-recoding"])
def test_too_few_spare_rows_are_refused_with_how_many_it_takes(method):
    table = pl.DataFrame(
        {"age": range(20, 50), "ill": ["flu"] * 20 + ["gout"] * 10, "pay": [str(n % 3) for n in range(30)]}
    )
    asked = {"method": method, "sensitive": ["ill", "pay"], "quasi": ["age"], "criteria": [st.EntropyLDiversity(2)]}
    with pytest.raises(InputError) as refused:
        st.anonymize(table, **asked, suppression_limit=9)
    told = str(refused.value)
    assert "entropy 2-diversity of ill" in told
    assert "At most 9 rows may be suppressed." in told
    assert "leave out 10 rows with that value" in told
    if method == "local-recoding":
        assert st.anonymize(table, **asked, suppression_limit=10).made.suppressed == 10
