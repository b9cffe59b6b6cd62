"""What is wrong in files that only workers read is a sentence that quotes nothing."""

import polars as pl
import pytest

import showthrough as st
from showthrough.engines.cluster_release import published
from showthrough.errors import EngineError, ReleaseError

ROLES = {"id": "id", "sensitive": "v", "group": "g"}
GOOD = pl.DataFrame({"id": range(4), "g": [0, 0, 1, 1], "v": ["a", "b", "a", "c"]})


def put(home, frame):
    home.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(home / "part.parquet")
    return home


def test_a_count_that_is_no_number_is_told_and_not_quoted(engine, cluster, capfd):
    home = cluster.folder / "bad"
    records = put(home / "records", GOOD.select("id", "g"))
    values = put(home / "values", pl.DataFrame({"g": [0, 1], "v": ["a", "b"], "count": ["2", "secret"]}))
    with pytest.raises(
        ReleaseError, match="2024: 1 group without a name, with an empty value, or with a count that"
    ) as why:
        st.infer([published(records, values=values, **ROLES, name="2024")], engine=engine)
    assert "secret" not in str(why.value) + "".join(capfd.readouterr())


def test_a_cell_that_an_expression_of_the_caller_cannot_read_is_not_quoted(engine, cluster, capfd):
    """PySpark logs it on the driver, with its query."""
    put(cluster.folder / "cast", GOOD.with_columns(pl.lit("secret").alias("g")))
    frame = engine.session.read.parquet(str(cluster.folder / "cast")).selectExpr("id", "cast(g as int) g", "v")
    with pytest.raises(EngineError, match="gave the work up") as why:
        st.infer([published(frame, **ROLES, name="2024")], engine=engine)
    assert "secret" not in str(why.value) + "".join(capfd.readouterr())


def test_a_damaged_file_is_told(engine, cluster, capfd):
    many = pl.DataFrame({"id": range(20_000), "g": [k // 4 for k in range(20_000)]})
    home = put(cluster.folder / "damaged", many.with_columns((pl.col("id") * 7919 % 13).cast(pl.String).alias("v")))
    path = home / "part.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:50] + bytes(2000) + whole[2050:])  # its end, which says what it holds, is as it was
    with pytest.raises(EngineError, match="The workers could not read a file of a release: it is damaged"):
        st.infer([published(home, **ROLES, name="2024")], engine=engine)
    assert "Exception" not in "".join(capfd.readouterr())
