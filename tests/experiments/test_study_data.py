"""Tables that experiments read: synthetic ones, files, and hierarchies that cover them."""

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from showthrough.errors import FileError
from showthrough.experiments.study_data import ID, NUMERIC, PLACES, SENSITIVE, StudyData, hierarchies, quasi

DATA = Path(os.environ.get("SHOWTHROUGH_DATA", Path(__file__).parents[3] / "shared" / "data"))
SYNTHETIC = StudyData.synthetic()


def marginals(name):
    return json.loads((files("showthrough.experiments") / "marginals" / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(SENSITIVE))
def test_a_synthetic_table_has_the_marginals(name):
    table = SYNTHETIC.table(name)
    assert table[ID].n_unique() == table.height
    for column, counts in marginals(name).items():
        assert dict(table[column].value_counts().iter_rows()) == counts
    assert table.equals(StudyData.synthetic().table(name)), "the same every time"


@pytest.mark.parametrize("name", sorted(NUMERIC))
def test_a_synthetic_numeric_table_has_the_quantiles(name):
    table = SYNTHETIC.table(name)
    assert table.height == NUMERIC[name]
    for column, quantiles in marginals(name).items():
        assert table[column].min() == pytest.approx(quantiles[0], abs=0.01)
        assert table[column].max() == pytest.approx(quantiles[-1], abs=0.01)
        assert table[column].median() == pytest.approx(quantiles[20], rel=0.1, abs=1)


@pytest.mark.parametrize("name", sorted(SENSITIVE))
def test_hierarchies_cover_every_value(name):
    table = SYNTHETIC.table(name)
    trees = hierarchies(name, quasi(name, table))
    assert SENSITIVE[name] not in trees
    for column, tree in trees.items():
        assert set(table[column].unique()) <= set(tree.leaves), column


@pytest.mark.parametrize("name", sorted(PLACES))
def test_a_missing_table_is_a_sentence(name, tmp_path):
    with pytest.raises(FileError, match=r"There is no .*csv.*data="):
        StudyData(tmp_path).files([name])


def test_where_tables_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOWTHROUGH_DATA", raising=False)
    assert StudyData.found().folder == Path("data")
    monkeypatch.setenv("SHOWTHROUGH_DATA", str(tmp_path))
    assert StudyData.found().folder == tmp_path
    assert StudyData.found("here").folder == Path("here")


@pytest.mark.skipif(not (DATA / "adult").is_dir(), reason="Adult is not there: set SHOWTHROUGH_DATA to its folder")
@pytest.mark.parametrize("name", sorted(PLACES))
def test_the_real_tables_have_the_same_shape(name):
    real, made = StudyData(DATA).table(name), SYNTHETIC.table(name)
    assert real.columns == made.columns
    assert real.schema == made.schema
    assert real.height == made.height
    for column in marginals(name) if name in SENSITIVE else ():
        assert dict(real[column].value_counts().iter_rows()) == marginals(name)[column]
