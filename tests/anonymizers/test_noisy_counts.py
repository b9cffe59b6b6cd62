"""The method dp-counts: right cells, right noise, nothing of the records beside it, sentences for what cannot be."""

import json
import math
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

import showthrough as st
from showthrough.anonymizers import noisy_counts
from showthrough.anonymizers.declared_domain import _located
from showthrough.anonymizers.noise_remarks import meaning_remark
from showthrough.errors import InputError, LimitError
from showthrough.release.noise import declared
from tests.release.alike import alike

ROWS = 400
RNG = np.random.default_rng(11)
TABLE = pl.DataFrame(
    {
        "pid": [f"p{k}" for k in range(ROWS)],
        "age": RNG.integers(18, 90, ROWS),
        "sex": RNG.choice(["f", "m"], ROWS),
        "ill": RNG.choice(["flu", "HIV"], ROWS, p=[0.8, 0.2]),
    }
)
DOMAIN = {"age": ["<40", "40-59", "60+"], "sex": ["f", "m"], "ill": ["flu", "HIV", "gout"]}
ASKED = {"method": "dp-counts", "id": "pid", "sensitive": "ill", "quasi": ["age", "sex"], "epsilon": 0.5}


def made(**changed) -> st.Release:
    return st.anonymize(TABLE, **{**ASKED, "domain": DOMAIN, **changed})


def truth(age: str, sex: str | None, ill: str) -> int:
    own = TABLE.filter(pl.col("ill") == ill)
    own = own if sex is None else own.filter(pl.col("sex") == sex)
    low, high = {"<40": (0, 39), "40-59": (40, 59), "60+": (60, 200)}[age]
    return own.filter(pl.col("age").is_between(low, high)).height


@pytest.fixture
def exact(monkeypatch):
    """The same without noise."""
    monkeypatch.setattr(noisy_counts, "with_noise", lambda counts, law: counts if law.whole else counts.astype(float))


def test_every_declared_cell_is_counted(exact):
    rows = made().to_frame()
    assert rows.height == 18
    for age, sex, ill, count, *_ in rows.iter_rows():
        assert count == truth(age, sex, ill)
    assert rows["count"].sum() == ROWS
    assert rows.filter(pl.col("ill") == "gout")["count"].sum() == 0


def test_marginals_are_counted(exact):
    release = made(marginals=[["age"], (["sex"], 2), []])
    rows = release.to_frame()
    for age, _, ill, count, *_ in rows.filter(pl.col("age").is_not_null()).iter_rows():
        assert count == truth(age, None, ill)
    values = rows.filter(pl.col("age").is_null() & pl.col("sex").is_null())
    seen = {ill: (TABLE["ill"] == ill).sum() for ill in DOMAIN["ill"]}
    assert dict(values.select("ill", "count").iter_rows()) == seen
    assert [(m["quasi"], m["epsilon"], m["scale"]) for m in release.parameters["marginals"]] == [
        (["age"], 0.125, 16.0), (["sex"], 0.25, 8.0), ([], 0.125, 16.0),
    ]  # fmt: skip
    for step in ("count_consistent", "count_nonnegative", "count_integer"):  # exact counts need no tidying
        assert rows[step].to_list() == pytest.approx(rows["count"].to_list(), abs=1e-6)


def test_parameters_and_promise():
    release = made(neighbours="add-remove", epsilon=2.0, name="N")
    assert dict(release.parameters) == {
        "method": "dp-counts", "mechanism": "geometric", "epsilon": 2.0, "delta": 0.0, "sensitivity": 1.0,
        "neighbours": "add-remove", "scale": 0.5,
    }  # fmt: skip
    assert release.counts().columns == ["group", "value", "n"]
    assert release.domain == ("flu", "HIV", "gout")
    assert "ε = 2" in str(release.made)
    assert release.link is None
    assert not release.made.checks
    assert release.made.utility is None


@pytest.mark.parametrize(
    ("mechanism", "delta"), [("geometric", 0), ("laplace", 0), ("gaussian", 1e-6), ("discrete-gaussian", 1e-6)]
)
def test_counts_carry_the_noise_that_is_claimed(mechanism, delta):
    """The sum of squared noise over all cells, in units of its variance, against what the law allows."""
    domain = {**DOMAIN, "age": list(range(18, 90))}
    release = made(mechanism=mechanism, delta=delta, domain=domain, epsilon=0.2)
    seen = {key: n for *key, n in TABLE.group_by("age", "sex", "ill").len().rows() for key in [tuple(key)]}
    rows = release.to_frame()
    off = [n - seen.get((int(age), sex, ill), 0) for age, sex, ill, n, *_ in rows.iter_rows()]
    law = release.noise.law()
    assert (rows["count"].dtype == pl.Int64) == law.whole
    z = (np.mean(np.square(off)) / law.variance - 1) * math.sqrt(len(off) / (5 if law.exponential else 2))
    assert abs(z) < 6
    assert abs(np.mean(off)) < 6 * law.deviation / math.sqrt(len(off))
    assert stats.skew(off) < 2


def test_tidied_counts_stand_beside_the_raw_ones():
    release = made(marginals=[["age"], ["sex"], ["age", "sex"]], epsilon=0.1)
    rows = release.to_frame()
    assert rows["count"].equals(release.to_frame()["count"])
    assert (rows["count_nonnegative"] >= 0).all()
    assert (rows["count_integer"] >= 0).all()
    assert rows["count_integer"].dtype == pl.Int64
    tables = [
        rows.filter(pl.col("age").is_null() == a, pl.col("sex").is_null() == s)
        for a, s in ((False, True), (True, False), (False, False))
    ]
    assert len({t["count_integer"].sum() for t in tables}) == 1
    for column, alone in (("age", tables[0]), ("sex", tables[1])):
        summed = tables[2].group_by(column, "ill").agg(pl.col("count_consistent").sum()).sort(column, "ill")
        own = alone.select(column, "ill", "count_consistent").sort(column, "ill")
        assert summed["count_consistent"].to_list() == pytest.approx(own["count_consistent"].to_list(), abs=1e-6)


def test_folders_hold_nothing_of_the_records(tmp_path, exact):
    """Neither seeds nor ids, and no count but the noisy ones: with other records and equal noise, equal folders."""
    release = made(name="N")
    release.save(tmp_path / "N")
    alike(st.read_release(tmp_path / "N"), release)
    text = "".join(p.read_text() for p in (tmp_path / "N").iterdir())
    assert "seed" not in text
    assert not re.search(r"\bp\d+\b", text)
    other = TABLE.with_columns(pid=pl.col("pid").reverse()).sample(fraction=1.0, shuffle=True, seed=3)
    st.anonymize(other, **ASKED, domain=DOMAIN, name="N").save(tmp_path / "M")
    assert {p.name: p.read_bytes() for p in (tmp_path / "M").iterdir()} == {
        p.name: p.read_bytes() for p in (tmp_path / "N").iterdir()
    }
    assert not (tmp_path / "N.link.csv").exists()


def test_what_the_publisher_is_told_depends_on_noise_alone(monkeypatch):
    monkeypatch.setattr(noisy_counts, "with_noise", lambda counts, _: np.arange(counts.size))
    few = st.anonymize(TABLE.head(7), **ASKED, domain=DOMAIN)
    gaps = TABLE.with_columns(sex=pl.when(pl.col("age") < 50).then("sex"))
    part = st.anonymize(gaps, **ASKED, domain=DOMAIN, missing="suppress")
    assert repr(few) == repr(made()) == repr(part)
    whole = made(missing="suppress")
    assert few.made.notes == made().made.notes
    assert part.made.notes == whole.made.notes  # whether any row was left out is not told
    assert any("left out" in note for note in whole.made.notes)
    assert few.made.seconds is None  # nor is how long it took
    assert few.fingerprint() == made().fingerprint()
    assert (part.made.incomplete, part.made.suppressed) == (0, 0)


LOOKS = ["25", "40", "25.0", "-3", "025", "040", "2021-03-05", "2021-04", "x", "a", "a,b", "NA", "<40", "18-30"]
CELLS = [
    ["<40", "40+"], ["0-39", "40-99"], ["000-039", "040-099"], ["2021", "2022"], ["{a, x}", "b"], ["a,b", "c"],
    ["2*", "4*"], ["25", "40"], ["NA", "x"], ["18-30", "31-40"], ["*"],
]  # fmt: skip


@pytest.mark.parametrize("cells", CELLS, ids=str)
def test_the_cell_of_a_record_does_not_depend_on_other_records(cells):
    """Otherwise one record could move all the others, and far more than two counts would change by one."""

    def placed(values: list[str]) -> list[int] | None:
        try:
            return _located(pl.Series("q", values), "q", pl.Series("q", cells), None).tolist()
        except InputError:
            return None

    alone = {value: placed([value]) for value in LOOKS}
    for one in LOOKS:
        for other in LOOKS:
            both = placed([one, other])
            if alone[one] is None or alone[other] is None:
                assert both is None
            else:
                assert both == [*alone[one], *alone[other]]


def test_values_with_leading_zeros(exact):
    table = TABLE.with_columns(age=pl.col("age").cast(pl.String).str.zfill(3))
    domain = {**DOMAIN, "age": ["000-039", "040-059", "060-199"]}
    counts = st.anonymize(table, **ASKED, domain=domain).to_frame()["count"]
    assert counts.to_list() == made().to_frame()["count"].to_list()
    with pytest.raises(InputError, match="as many digits, such as 000-017"):
        st.anonymize(table, **ASKED, domain=DOMAIN)


def test_what_is_promised_is_told_in_words():
    said = str(made(epsilon=1.0).made)
    assert "from 50 % to at most 73.1% sure" in said
    assert "by at most 0.462 (1: altogether)." in said
    assert "88.1% sure" in str(made(epsilon=1.0, neighbours="add-remove").made)  # 2ε where a record is replaced
    assert "little of a promise" not in said
    assert "little of a promise" in str(made(epsilon=3.0).made)
    loose = made(epsilon=1.0, mechanism="gaussian", delta=0.1).made
    assert "no guarantee for all of about" in str(loose)
    tight = made(epsilon=1.0, mechanism="gaussian", delta=1e-9).made
    assert "but with a probability of 5% for anybody" in str(tight)


def test_with_a_delta_odds_may_move_by_more_than_epsilon():
    """What always loses ε + 0.02 is (ε, 0.02)-private, and takes a reader who knows all others past odds of e^ε."""
    noise = {"mechanism": "gaussian", "scale": 10.0, "neighbours": "replace-one", "epsilon": 1.0, "delta": 1e-3}
    persons, failure = 20, 0.05
    remark = meaning_remark(declared(noise), persons)
    assert remark.figures["sure"] == pytest.approx(
        st.dp.posterior_interval(0.5, epsilon=1.0, changed=1, delta=1e-3, failure=failure / persons).high
    )
    assert remark.figures["sure"] > 1 / (1 + math.exp(-1.0)) + 0.05


def test_levels_of_hierarchies_are_cells(exact):
    tree = st.Hierarchy.intervals(range(18, 90), widths=(10, 30))
    labels = tree.labels(2)
    release = made(hierarchies={"age": tree}, domain={**DOMAIN, "age": 2})
    assert release.cells()["age"].unique(maintain_order=True).to_list() == list(dict.fromkeys(labels))
    assert release.to_frame()["count"].sum() == ROWS
    by_label = made(hierarchies={"age": tree}, domain={**DOMAIN, "age": list(dict.fromkeys(labels))})
    assert by_label.to_frame().equals(release.to_frame())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": None}, "say how much with epsilon="),
        ({"epsilon": 0}, "epsilon is a number above 0, from 1e-12 to 700, not 0"),
        ({"epsilon": -0.5}, "epsilon is a number above 0"),
        ({"epsilon": math.inf}, "epsilon is a number above 0"),
        ({"epsilon": math.nan}, "epsilon is a number above 0"),
        ({"epsilon": "0.5"}, "epsilon is a number above 0"),
        ({"epsilon": 1e-13}, "epsilon is a number above 0"),
        ({"epsilon": 1e-12}, "epsilon asks for noise of scale 2e\\+12"),
        ({"epsilon": 1e9}, "from 1e-12 to 700, not 1000000000"),
        ({"delta": 1}, "delta is a probability, at least 0 and below 1, not 1"),
        ({"delta": -1e-9}, "delta is a probability"),
        ({"delta": 1e-6}, "geometric noise keeps its promise with delta = 0"),
        ({"mechanism": "gaussian"}, "gaussian noise promises nothing with delta = 0"),
        ({"mechanism": "exponential"}, "The mechanism is one of"),
        ({"neighbours": None}, "Say which tables are neighbours"),
        ({"neighbours": "add"}, "neighbours is one of"),
        ({"domain": None}, "Declare the values of 'age' with domain="),
        ({"domain": {**DOMAIN, "zip": ["1"]}}, "domain names 'zip', which is neither"),
        ({"domain": {**DOMAIN, "sex": "fm"}}, "domain lists the values of 'sex'"),
        ({"domain": {**DOMAIN, "sex": []}}, "domain lists the values of 'sex', none of them empty"),
        ({"domain": {**DOMAIN, "sex": ["f", "m", ""]}}, "none of them empty"),
        ({"domain": {**DOMAIN, "sex": ["f", "m", "f"]}}, "domain lists a value of 'sex' twice"),
        ({"domain": {**DOMAIN, "sex": ["f"]}}, "Some records hold a value of 'sex' that the domain does not list"),
        ({"domain": {**DOMAIN, "age": ["<60", ">50"]}}, "Cells of 'age' overlap"),
        ({"domain": {**DOMAIN, "age": 1}}, "a level of its hierarchy, but it has no hierarchy"),
        ({"marginals": "age"}, "marginals is a list of lists of columns"),
        ({"marginals": ["age"]}, "Each of marginals lists columns"),
        ({"marginals": [["zip"]]}, "marginals lists 'zip', which is none"),
        ({"marginals": [["age"], ["age"]]}, "names the same columns twice"),
        ({"marginals": [(["age"], 0)]}, "The share of a marginal is a number above 0"),
        ({"seed": 0}, "Noise takes no seed"),
        ({"criteria": [st.KAnonymity(2)]}, "keeps no criterion of groups"),
        ({"strategy": "guarded"}, "strategy= means nothing for the method dp-counts"),
        ({"suppression_limit": 3}, "suppression_limit= means nothing"),
        ({"output": "generalized"}, "output= means nothing"),
        ({"sensitive": None}, "needs a sensitive column"),
        ({"quasi": ["age", "zip"]}, "zip"),
    ],
)
def test_what_cannot_be_is_refused(changed, message):
    with pytest.raises(InputError, match=message):
        made(**changed)


def test_huge_domains_are_refused_before_memory_is_taken():
    wide = TABLE.with_columns(zip=pl.col("pid"))
    domain = {**DOMAIN, "age": list(range(1000)), "zip": [f"p{k}" for k in range(3000)]}
    with pytest.raises(LimitError, match=r"has 18000000 cells; up to 2000000 are published"):
        st.anonymize(wide, **{**ASKED, "quasi": ["age", "sex", "zip"]}, domain=domain)


def test_other_methods_know_no_budget():
    with pytest.raises(InputError, match="epsilon= is for the method dp-counts; mondrian promises no"):
        st.anonymize(TABLE, sensitive="ill", quasi=["age"], criteria=[st.KAnonymity(2)], epsilon=1.0)
    with pytest.raises(InputError, match="xcolor, dp-counts, not 'dp'"):
        st.anonymize(TABLE, method="dp", sensitive="ill", quasi=["age"], criteria=[st.KAnonymity(2)])


def test_json_of_a_release_is_plain():
    assert json.loads(json.dumps(made().as_dict()))["parameters"]["epsilon"] == 0.5
