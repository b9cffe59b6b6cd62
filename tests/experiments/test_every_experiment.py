"""Every figure of every experiment at quick size: it runs, comes out the same again, and stays inside its bands."""

from functools import cache

import pytest

from showthrough.experiments import EXPERIMENTS
from showthrough.experiments.expected import Band, _file
from showthrough.experiments.study_data import PLACES, StudyData
from showthrough.progress import Progress
from showthrough.report.charts import drawing

FIGURES = [(name, figure) for name, one in EXPERIMENTS.items() for figure in one.figures]
each = pytest.mark.parametrize(("name", "figure"), FIGURES, ids=["-".join(filter(None, pair)) for pair in FIGURES])


class Counting(Progress):
    """Remembers how far it was told to be."""

    def __init__(self):
        super().__init__()
        self.told = []

    def count(self, done, of):
        super().count(done, of)
        self.told.append((done, of))


def run(name, figure, seed=0, progress=None):
    kind = EXPERIMENTS[name].figures[figure]
    return kind.quick().run(StudyData.synthetic(), progress or Progress(), seed)


@cache
def found(name, figure):
    listener = Counting()
    return run(name, figure, progress=listener), listener.told


@each
def test_it_says_what_it_shows(name, figure):
    kind = EXPERIMENTS[name].figures[figure]
    assert kind.title
    assert kind.claim.endswith(".")
    assert set(kind.reads) <= PLACES.keys()
    made, _ = found(name, figure)
    assert (made.experiment, made.figure, made.title) == (name, figure, kind.title)


@each
def test_tables_and_claims_are_whole(name, figure):
    made, told = found(name, figure)
    assert made.tables
    assert made.claims
    assert len({table.name for table in made.tables}) == len(made.tables)
    assert all(table.frame.height and table.rows() for table in made.tables)
    assert all(set(table.formats) <= set(table.frame.columns) for table in made.tables)
    assert all(claim.what and claim.paper and claim.ours for claim in made.claims)
    assert all(claim.why for claim in made.claims if claim.holds is False), "what does not hold says why"
    assert not [claim.what for claim in made.claims if claim.within is False]
    assert all(0 <= done <= of for done, of in told)


@each
def test_the_same_comes_out_again(name, figure):
    once, again = found(name, figure)[0], run(name, figure)
    for one, other in zip(once.tables, again.tables, strict=True):
        assert one.measured or one.frame.equals(other.frame), one.name
    fixed = [claim for claim in once.claims if not claim.measured]
    assert fixed == [claim for claim in again.claims if not claim.measured]


@each
def test_charts_can_be_drawn(name, figure):
    made, _ = found(name, figure)
    places = [chart.place for chart in made.charts]
    assert len(set(places)) == len(places)
    for chart in made.charts:
        assert chart.title
        assert chart.description
        assert chart.tables
        for width in (drawing.WIDE, drawing.NARROW):
            assert drawing.spec(chart.name, chart.data, width)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_bands_have_two_ends_in_order(name):
    def every(table):
        for one in table.values():
            yield from every(one) if isinstance(one, dict) else [one]

    assert all(Band(*ends).low <= Band(*ends).high for ends in every(_file()[name]))
