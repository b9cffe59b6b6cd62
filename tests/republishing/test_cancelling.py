"""Publishing beside a history can be stopped at any moment, and says only the names of its stages."""

import pytest

from showthrough import FrequencyLDiversity, KAnonymity, Policy, anonymize
from showthrough.errors import Cancelled
from showthrough.progress import Progress
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.search import Search
from showthrough.republishing.strategies_compared import compare
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
STAGES = [
    "reading the table",
    "carrying the past on",
    "guarding m-invariance",
    "guarding the proposal",
    "final inference",
    "locating persons by quasi-identifiers",
]


class StopsAfter(Progress):
    """Is cancelled by somebody else once a stage is at work."""

    def __init__(self, last):
        super().__init__()
        self.last, self.stages = last, []

    def stage(self, name):
        super().stage(name)
        self.stages.append(name)
        if name == self.last:
            self.cancel()


def publish(table, history, progress=None, **more):
    return anonymize(
        table, method="mondrian", criteria=[KAnonymity(2), FrequencyLDiversity(2)], history=history,
        name=f"R{len(history) + 1}", progress=progress, hold_back=True, prefer="useful",
        **{"strategy": "guarded", "policy": Policy(max_posterior=0.6), **ROLES, **more},
    )  # fmt: skip


@pytest.fixture(scope="module")
def series():
    one, two = raw_tables(5, persons=60, releases=2)
    return publish(one, []), two


def test_a_guard_tells_its_stages_and_nothing_of_the_inferences_inside(series):
    first, table = series
    heard, told = StopsAfter(None), []
    publish(table, [first], heard)
    publish(table, [first], told.append)
    assert heard.stages == told == STAGES


@pytest.mark.parametrize("last", STAGES)
def test_a_guarded_run_ends_where_it_is_cancelled(series, last):
    first, table = series
    progress = StopsAfter(last)
    with pytest.raises(Cancelled):
        publish(table, [first], progress)
    assert progress.stages == STAGES[: STAGES.index(last) + 1]


@pytest.mark.parametrize("asked", ["_over", "satisfies"])
def test_no_trial_begins_after_a_cancel(series, monkeypatch, asked):
    first, table = series
    owner = Search if asked == "_over" else Drafts
    judged, trials, progress = getattr(owner, asked), [], Progress()

    def counted(self, *more):
        trials.append(more)
        found = judged(self, *more)
        if len(trials) == 2:
            progress.cancel()
        return found

    monkeypatch.setattr(owner, asked, counted)
    with pytest.raises(Cancelled):
        publish(table, [first], progress)
    assert len(trials) == 2


@pytest.mark.parametrize(
    ("strategy", "last"),
    [("independent", "publishing and checking"), ("m-invariance", "locating persons by quasi-identifiers")],
)
def test_other_strategies_end_too(series, strategy, last):
    first, table = series
    with pytest.raises(Cancelled):
        publish(table, [first], StopsAfter(last), strategy=strategy, policy=None, output="generalized")


def test_a_comparison_ends_at_the_strategy_that_is_at_work(series):
    first, table = series
    progress, asked = StopsAfter("m-invariance"), []

    def make(strategy):
        asked.append(strategy)
        policy = Policy(max_posterior=0.6) if strategy == "guarded" else None
        return publish(table, [first], progress.silent(), strategy=strategy, policy=policy)

    with pytest.raises(Cancelled):
        compare(make, [first], table=table, id="id", limit=0.6, progress=progress)
    assert asked == ["independent", "history-guided", "m-invariance"]
