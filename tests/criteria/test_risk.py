"""Re-identification risk, and suppressed cells in both readings."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from showthrough.criteria.risk import risk
from showthrough.errors import InputError
from tests.criteria.releases import QUICK
from tests.oracles.criteria import wildcard_matches

CELLS = some.tuples(some.sampled_from("ab*"), some.sampled_from("xy*"), some.sampled_from("12*"))


def frame(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["p", "q", "r"], orient="row")


@QUICK
@given(
    some.lists(CELLS, min_size=1, max_size=12), some.lists(CELLS, max_size=8), some.sampled_from([0.0, 0.2, 0.5, 1.0])
)
def test_against_every_pair(rows, more, threshold):
    population = rows + more
    for reading in ("category", "wildcard"):
        if reading == "wildcard":
            mine, theirs = wildcard_matches(rows, rows), wildcard_matches(rows, population)
        else:
            mine, theirs = [rows.count(r) for r in rows], [population.count(r) for r in rows]
        found = risk(frame(rows), population=frame(population), threshold=threshold, suppressed_cells=reading)
        for adversary, sizes in ((found.prosecutor, mine), (found.journalist, theirs)):
            chances = [1 / n for n in sizes]
            assert adversary.highest == max(chances)
            assert adversary.lowest == min(chances)
            assert adversary.average == pytest.approx(sum(chances) / len(rows))
            assert adversary.above == pytest.approx(sum(c > threshold + 1e-9 for c in chances) / len(rows))
            assert adversary.at_highest == pytest.approx(chances.count(max(chances)) / len(rows))
        assert found.uniques == mine.count(1)
        assert found.population_uniques == theirs.count(1)
        assert found.marketer == found.journalist.average
    assert risk(frame(rows)).marketer == risk(frame(rows)).prosecutor.average


def test_in_words():
    found = risk(pl.DataFrame({"zip": ["1", "1", "2"]}))
    assert str(found) == (
        "A person known to be in the release is found with probability 1 at worst and 0.666667 on average; "
        "1 of 3 records are unique."
    )


def test_faults():
    people = pl.DataFrame({"zip": ["1", "1", "2"]})
    with pytest.raises(InputError, match="category or wildcard"):
        risk(people, suppressed_cells="maybe")
    with pytest.raises(InputError, match="between 0 and 1"):
        risk(people, threshold=2)
