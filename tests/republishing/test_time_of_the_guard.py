"""The guard keeps its time: by a clock that every look at the joint posterior moves by a second."""

from types import SimpleNamespace

import pytest

from showthrough import FrequencyLDiversity, Policy, anonymize
from showthrough.errors import PolicyError
from showthrough.republishing import guarded, lowering, refusing, search
from showthrough.republishing.drafts import Drafts
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
BEYOND = 10  # looks that may follow the end of the time: every way to begin is tried once, whatever it takes


@pytest.fixture
def looks(monkeypatch):
    """How late it is."""
    clock = SimpleNamespace(now=0.0)
    look = Drafts.posterior

    def slow(self, proposal):
        clock.now += 1
        return look(self, proposal)

    monkeypatch.setattr(Drafts, "posterior", slow)
    for module in (guarded, lowering, refusing, search):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.mark.parametrize("hold_back", [True, False])
@pytest.mark.parametrize("seed", [3, 5])
def test_the_time_is_kept_and_would_have_been_used(looks, seed, hold_back):
    *before, table = raw_tables(seed, persons=60, releases=3, values=4, turnover=0.4)
    anatomy = {"method": "anatomy", "criteria": [FrequencyLDiversity(2)], **ROLES}
    past = [anonymize(earlier, name=f"R{k}", **anatomy) for k, earlier in enumerate(before)]
    policy = Policy(max_posterior=0.34)
    refused: list[bool] = []
    taken: list[float] = []
    for seconds in (1e-9, 3, 10, 1e9):
        looks.now = 0.0
        why = "ended the search" if seconds < 1e9 else "came to its end"
        try:
            anonymize(
                table, strategy="guarded", policy=policy, history=past, exposed="accept", hold_back=hold_back,
                seconds=seconds, **anatomy,
            )  # fmt: skip
        except PolicyError as problem:
            refused.append(why in str(problem))
        assert looks.now <= seconds + BEYOND
        taken.append(looks.now)
    assert all(refused)
    assert not (refused and hold_back)  # with records held back there is always an answer, in time or not
    assert taken[-1] > taken[0]  # without a limit it looks longer
