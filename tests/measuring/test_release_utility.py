"""Utility of releases of every kind, from what they publish."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.errors import InputError
from showthrough.measuring import utility as module
from showthrough.measuring.queries import Workload
from showthrough.measuring.utility import utility
from showthrough.release.release import Release
from showthrough.table.hierarchy import Hierarchy
from tests.criteria.releases import QUICK
from tests.oracles import utility as slow

JOBS = {"health": ["nurse", "doctor"], "food": ["cook", "baker"]}
ROW = some.fixed_dictionaries(
    {"job": some.sampled_from(["nurse", "doctor", "cook", "baker"]), "age": some.sampled_from(["20", "21", "23", "26"])}
)


def printed(row, how):
    label = next(name for name, leaves in JOBS.items() if row["job"] in leaves)
    age = int(row["age"])
    wide = f"{age - age % 5}-{age - age % 5 + 4}"
    return {"job": [row["job"], label, "*"][how[0]], "age": [row["age"], wide, "*"][how[1]]}


@QUICK
@given(some.lists(some.tuples(ROW, some.tuples(some.integers(0, 2), some.integers(0, 2))), min_size=2, max_size=12))
def test_cells_record_by_record(drawn):
    table = [row for row, _ in drawn]
    cells = [printed(row, how) for row, how in drawn[1:]]  # the first row was suppressed
    values = pl.DataFrame(cells).with_columns(d=pl.Series(["x"] * len(cells)))
    frame = pl.DataFrame(table).with_columns(d=pl.lit("x"))
    tally = values.group_by("job", "age", "d", maintain_order=True).agg(pl.len().alias("count"))
    for release in (
        Release.generalized(values, sensitive="d", quasi=["job", "age"]),
        Release.counted(tally, sensitive="d", quasi=["job", "age"]),
    ):
        found = utility(release, frame, hierarchies={"job": JOBS})
        gcp, lost = slow.published(table, cells, {"job": JOBS}, ["age"])
        assert found.gcp_published == pytest.approx(gcp)
        assert found.entropy_loss == pytest.approx(lost)
        assert (found.rows, found.suppressed) == (len(table), 1)
        shown = [tuple(row.values()) for row in cells]
        sizes = [shown.count(row) for row in set(shown)]
        assert found.discernibility == sum(n * n for n in sizes) + len(table)


def people(seed=1, rows=60):
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(rows),
            "age": random.integers(20, 40, rows).astype(str),
            "zip": random.integers(0, 4, rows).astype(str),
            "d": random.integers(0, 5, rows).astype(str),
        }
    )


def ranges(frame, width=5):
    low = frame["age"].cast(pl.Int64) // width * width
    return frame.with_columns(age=pl.format("{}-{}", low, low + width - 1)).drop("id")


def test_rows_that_fit_one_group_are_linked():
    frame = people()
    release = Release.generalized(ranges(frame), sensitive="d", quasi=["age", "zip"])
    found = utility(release, frame, k=2, hierarchies={"zip": Hierarchy.flat(frame["zip"])})
    assert found.gcp_set <= found.gcp_published
    assert found.gcp_hierarchy == found.gcp_set  # zip is published as it is
    assert found.notes == ()
    assert found.c_avg == pytest.approx(60 / found.groups / 2)
    without = utility(release, frame)
    assert (without.gcp_hierarchy, without.gcp_set) == (None, found.gcp_set)
    mixed = pl.concat([ranges(frame)[:30], ranges(frame, 10)[30:]])  # rows fit two groups
    unknown = utility(Release.generalized(mixed, sensitive="d", quasi=["age", "zip"]), frame)
    assert unknown.gcp_set is None
    assert "not known" in unknown.notes[0]


def test_a_private_link_tells_the_groups():
    frame = people()
    centre = frame.with_columns(g=pl.col("age").cast(pl.Int64) // 5)
    centre = centre.with_columns(age=pl.col("age").cast(pl.Float64).mean().over("g"))
    release = Release.microaggregated(centre, sensitive="d", quasi=["age"], group="g")
    blind = utility(release, frame)
    assert (blind.gcp_published, blind.gcp_set) == (None, None)
    assert "Centroids" in blind.notes[0]
    numbers = frame.cast({"age": pl.Int64})
    seen = utility(release.with_link(centre.select("id", group="g")), numbers, id="id", workload=10)
    assert seen.gcp_set == pytest.approx(4 / 19)
    assert seen.entropy_loss > 0
    assert "Counting queries need" in seen.notes[-1]


@pytest.mark.parametrize("kind", ["generalized", "counted", "bucketized"])
@pytest.mark.parametrize("fake", [0, 1])
def test_estimates_query_by_query(kind, fake, monkeypatch):
    frame = people(4)
    cells = ranges(frame) if kind != "bucketized" else frame.with_columns(g=frame["id"] // 6)
    groups = [tuple(row) for row in cells.select("age", "zip").rows()] if kind != "bucketized" else cells["g"].to_list()
    labels = list(dict.fromkeys(groups))
    if kind == "generalized":
        extra = cells[:1].with_columns(d=pl.lit("4")) if fake else cells[:0]
        release = Release.generalized(
            pl.concat([cells, extra]), sensitive="d", quasi=["age", "zip"], counterfeits={1: 1} if fake else None
        )
    elif kind == "counted":
        tally = cells.group_by("age", "zip", "d", maintain_order=True).agg(pl.len().alias("count"))
        first = (pl.col("age") == labels[0][0]) & (pl.col("zip") == labels[0][1]) & (pl.col("d") == tally["d"][0])
        more = tally.with_columns(count=pl.col("count") + pl.when(first).then(fake).otherwise(0))
        release = Release.counted(more, sensitive="d", counterfeits={1: 1} if fake else None)
    else:
        release = Release.bucketized(cells, id="id", sensitive="d", group="g")
    kept = {}
    spread = module.spread

    def noted(persons, shares):
        kept.update(persons=persons, shares=shares)
        return spread(persons, shares)

    monkeypatch.setattr(module, "spread", noted)
    found = utility(release, frame, workload=Workload(20, selectivity=0.4, seed=2))
    assert found.queries == 20
    assert found.query_error_median >= 0
    ages, zips, values = (sorted(set(frame[c]), key=int) for c in ("age", "zip", "d"))
    extra = {"generalized": "4", "counted": str(cells["d"][0])}.get(kind) if fake else None
    for asked, stretch in (({0: (2, 9)}, (0, 2)), ({0: (0, 4), 1: (1, 2)}, (1, 3)), ({}, (0, 4))):
        persons, shares = kept["persons"](asked), kept["shares"](stretch)
        for k, label in enumerate(labels if kind != "bucketized" else sorted(labels)):
            rows = [r for r, g in zip(frame.rows(), groups, strict=True) if g == label]
            told = [r[3] for r in rows] + ([extra] if extra is not None and k == 0 else [])
            assert shares[k] == pytest.approx(
                sum(stretch[0] <= values.index(v) <= stretch[1] for v in told) / len(told)
            )
            wanted = {0: ages, 1: zips}
            sets = {c: set(wanted[c][a : b + 1]) for c, (a, b) in asked.items()}
            if kind == "bucketized":
                expected = sum(all(r[c + 1] in s for c, s in sets.items()) for r in rows)
            else:
                expected = len(rows)
                for c, s in sets.items():
                    shown = slow.covered(label[c], wanted[c], {})
                    expected *= len(shown & s) / len(shown)
            assert persons[k] == pytest.approx(expected)


def test_bucketized_releases_lose_suppressed_rows_alone():
    frame = people()
    release = Release.bucketized(frame[:45].with_columns(g=frame["id"][:45] // 9), id="id", sensitive="d", group="g")
    found = utility(release, frame, id="id")
    assert (found.suppressed, found.gcp_published, found.entropy_loss) == (15, 0.25, 0.25)
    assert "as they are" in found.notes[0]


def test_gaps_constants_and_one_row():
    frame = pl.DataFrame({"a": ["x", None, "", "y"], "b": ["1", "1", "1", "1"], "d": ["p", "q", "p", "q"]})
    release = Release.generalized(frame, sensitive="d", quasi=["a", "b"])
    found = utility(release, frame, workload=5)
    assert found.gcp_published is not None
    one = frame[:1]
    found = utility(Release.generalized(one, sensitive="d", quasi=["a", "b"]), one, workload=3)
    assert (found.gcp_published, found.entropy_loss, found.gcp_set, found.query_error_median) == (0, 0, 0, 0)
    everything = one.with_columns(a=pl.lit("*"), b=pl.lit("*"))
    assert utility(Release.generalized(everything, sensitive="d", quasi=["a", "b"]), one).gcp_published == 0


def test_faults_end_in_sentences():
    frame = people()
    release = Release.generalized(ranges(frame), sensitive="d", quasi=["age", "zip"])
    few = frame.sort("zip")[::6]
    with pytest.raises(InputError, match="60 persons, but the table 10 rows"):
        utility(Release.generalized(frame, sensitive="d", quasi=["zip"]), few)
    with pytest.raises(InputError, match="no column 'zip'"):
        utility(release, frame.drop("zip"))
    with pytest.raises(InputError, match="make one first"):
        utility(frame, frame)
    labelled = Release.generalized(ranges(frame).with_columns(zip=pl.lit("north")), sensitive="d", quasi=["zip"])
    with pytest.raises(InputError, match="cover no value of the table: give its hierarchy"):
        utility(labelled, frame.with_columns(zip=pl.lit("a")))
    with pytest.raises(InputError, match="does not occur in the table"):
        utility(release, frame.with_columns(d=pl.lit("1")), workload=3)


def test_a_counterfeit_may_have_a_value_of_nobody_in_the_table():
    frame = people(4)
    cells = ranges(frame)
    strange = pl.concat([cells, cells[:1].with_columns(d=pl.lit("nobody's"))])
    work = Workload(20, selectivity=0.4, seed=2)
    told = Release.generalized(strange, sensitive="d", quasi=["age", "zip"], counterfeits={1: 1})
    plain = Release.generalized(cells, sensitive="d", quasi=["age", "zip"])
    diluted, whole = utility(told, frame, workload=work), utility(plain, frame, workload=work)
    assert diluted.queries == whole.queries == 20
    assert diluted.query_error_mean != whole.query_error_mean
    with pytest.raises(InputError, match="does not occur in the table"):
        utility(
            Release.generalized(strange, sensitive="d", quasi=["age", "zip"]),
            pl.concat([frame, frame[:1]]),
            workload=work,
        )


DATA = Path(os.environ.get("SHOWTHROUGH_DATA", Path(__file__).parents[3] / "shared" / "data")) / "adult"


def recoded(node):
    """Adult recoded to a node of the lattice, with the rows of groups below 5 suppressed, and the hierarchies."""
    frame = pl.read_csv(DATA / "adult_kdd08.csv.gz", infer_schema=False)
    quasi = frame.columns[:-1]
    trees = {c: Hierarchy.read(DATA / "hierarchies" / f"{c}.csv") for c in quasi}
    cells = {
        c: frame[c].replace_strict(pl.Series(trees[c].leaves), pl.Series(trees[c].levels[h]))
        for c, h in zip(quasi, node, strict=True)
    }
    published = pl.DataFrame(cells).with_columns(frame["occupation"])
    large = pl.len().over(quasi) >= 5
    published = published.with_columns(pl.when(large).then(pl.col(c)).otherwise(pl.lit("*")).alias(c) for c in quasi)
    return frame, Release.generalized(published, sensitive="occupation", quasi=quasi), trees


@pytest.mark.skipif(not DATA.is_dir(), reason="Adult is not there: set SHOWTHROUGH_DATA to its folder")
@pytest.mark.parametrize(
    ("node", "groups", "suppressed", "discernibility", "gcp"),
    [((3, 1, 1, 0, 0, 0, 1), 399, 1458, 64_340_986, 0.2124), ((4, 2, 3, 1, 0, 0, 2), 20, 0, 222_882_126, 0.6449)],
)
def test_adult_as_measured_of_arx(node, groups, suppressed, discernibility, gcp):
    """Figures of ARX 3.9.2, whose labels of ages are read as the intervals that they print."""
    frame, release, trees = recoded(node)
    labels = {c: t for c, t in trees.items() if c != "age"}
    found = utility(release, frame, suppressed="*", k=5, hierarchies=labels)
    assert (found.groups, found.suppressed, found.discernibility) == (groups, suppressed, discernibility)
    assert found.gcp_published == pytest.approx(gcp, abs=5e-5)
    assert found.c_avg == pytest.approx({399: 14.39, 20: 301.6}[groups], abs=0.05)


@pytest.mark.skipif(not DATA.is_dir(), reason="Adult is not there: set SHOWTHROUGH_DATA to its folder")
def test_adult_with_the_hierarchy_of_ages():
    """The label 20-39 stands for 21 to 40 in that file, so a few ages fit no printed interval but one label."""
    frame, release, trees = recoded((3, 1, 1, 0, 0, 0, 1))
    found = utility(release, frame, suppressed="*", hierarchies=trees)
    assert found.gcp_published == pytest.approx(0.21251, abs=1e-5)
    assert found.gcp_set == pytest.approx(0.1844, abs=5e-5)
    assert found.gcp_set < found.gcp_hierarchy < found.gcp_published
