"""Where releases on a cluster are worked on: in the folder of a broken run if they and the package are the same."""

from types import SimpleNamespace

import polars as pl
import pytest

from showthrough.engines.cluster_release import published
from showthrough.inference.cluster import on_cluster
from showthrough.inference.run import Wanted
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.storage.taking_up import ANEW


@pytest.mark.parametrize("change", ["version", "file"])
def test_a_broken_run_of_something_else_is_not_taken_up(tmp_path, monkeypatch, change):
    data, told = tmp_path / "2024", []
    data.mkdir()
    frame = pl.DataFrame({"id": [1, 2], "g": [1, 1], "v": ["a", "b"]})
    frame.write_parquet(data / "part.parquet")
    release = published(data, id="id", sensitive="v", group="g")
    wanted = Wanted(Changed.of("refuse"), "refuse")
    asked = SimpleNamespace(wanted=wanted, further=None, progress=Progress.of(told.append))

    def folder():
        return on_cluster._folder([release], asked, tmp_path)

    first = folder()
    (first / "done" / "000000.pickle").write_bytes(b"of the first run")
    assert folder() == first
    assert (first / "done" / "000000.pickle").exists()
    assert not told
    if change == "version":
        monkeypatch.setattr(on_cluster, "__version__", "99.0")
    else:
        frame.with_columns(v=pl.lit("b")).write_parquet(data / "part.parquet")
    other = folder()
    assert told == [ANEW]
    assert not first.exists()
    assert not list((other / "done").iterdir())
