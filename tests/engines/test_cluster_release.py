"""Files of a release on a cluster: what Spark would read in part, or with a trace, is refused in a sentence."""

import polars as pl
import pytest

import showthrough as st
from showthrough.engines.cluster_release import check_files, published
from showthrough.errors import InputError, ReleaseError

COLUMNS = ("id", "g", "v")
GOOD = pl.DataFrame({"id": [1, 2], "g": [0, 0], "v": ["secret", "b"]})


def written(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, frame in files.items():
        frame.write_parquet(folder / f"{name}.parquet")
    return str(folder)


def test_files_of_the_same_columns_are_taken(tmp_path):
    narrow = GOOD.with_columns(pl.col("id").cast(pl.Int32), pl.lit(1).alias("more"))
    home = written(tmp_path / "2024", a=GOOD, b=narrow)
    (tmp_path / "2024" / "_SUCCESS").touch()
    (tmp_path / "2024" / ".hidden.parquet").write_bytes(b"")  # Spark passes over it
    check_files(home, COLUMNS, "2024")
    check_files(str(tmp_path / "2024" / "a.parquet"), COLUMNS, "2024")
    check_files("s3a://bucket/2024", COLUMNS, "2024")  # nothing that this process can see


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            GOOD.with_columns(pl.col("id").cast(pl.String)),
            "'id' holds whole numbers in a.parquet, and text in b.parquet",
        ),
        (GOOD.with_columns(pl.lit(3).alias("v")), "'v' holds text in a.parquet, and whole numbers in b.parquet"),
        (
            GOOD.with_columns(pl.col("id").cast(pl.UInt64)),  # to Spark these are decimals
            "'id' holds whole numbers in a.parquet, and unsigned whole numbers of 64 bits in b.parquet",
        ),
        (GOOD.drop("g"), "'g' holds whole numbers in a.parquet, and nothing in b.parquet"),
    ],
)
def test_other_columns_in_another_file_are_refused(tmp_path, other, told):
    with pytest.raises(ReleaseError, match=told) as caught:
        check_files(written(tmp_path / "x", a=GOOD, b=other), COLUMNS, "2024")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("left", [0, 100])
def test_a_file_that_is_cut_off_is_refused(tmp_path, left):
    home = written(tmp_path / "x", a=GOOD, b=GOOD)
    broken = tmp_path / "x" / "b.parquet"
    broken.write_bytes(broken.read_bytes()[:left])
    with pytest.raises(ReleaseError, match=r"^2024: b\.parquet cannot be read as a Parquet file\.$"):
        check_files(home, COLUMNS, "2024")


def test_no_folder_and_no_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="nowhere is not there"):
        check_files(str(tmp_path / "nowhere"), COLUMNS, "2024")
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024" / "a.csv").write_text("id,g,v\n")
    with pytest.raises(InputError, match=r"holds no files that end in \.parquet"):
        check_files(str(tmp_path / "2024"), COLUMNS, "2024")


def test_a_frame_of_another_library_is_refused():
    with pytest.raises(InputError, match="a Spark DataFrame or the path of Parquet files"):
        published(GOOD, id="id", sensitive="v", group="g")


def test_a_frame_of_spark_that_is_no_release_yet_is_told_how_it_becomes_one():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    with pytest.raises(InputError, match=r"got DataFrame: st\.engines\.published says which columns it has"):
        st.infer([frame], engine=st.engines.local())
