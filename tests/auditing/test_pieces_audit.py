"""An audit in pieces counts what an audit counts, and its policy says the same."""

import math

import pytest
from benchmarks.version_histories import history
from benchmarks.version_worker import known, release

import showthrough as st
from showthrough.engines.local import local
from showthrough.errors import InputError, ShowthroughError
from showthrough.inference.cluster import cutting

LIMITS = {"max_posterior": 0.6, "over_posterior": 0.2, "certain": 1, "impossible": 3, "min_anonymity": 1.5}
POLICY = st.Policy(**LIMITS, max_gain=0.2, integral="no")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(cutting, "PERSONS", 3)


def alike(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-7)
    return one == other


def audited(data, **engine):
    try:
        releases = [release(r) for r in data["releases"]]
        return st.audit(releases, changed=data["changed"], policy=POLICY, **known(data), **engine)
    except ShowthroughError as refusal:
        return refusal


@pytest.mark.parametrize("seed", range(9_000, 9_030))
def test_figures_and_verdicts_of_random_histories(seed):
    data = history(seed)
    one, wide = audited(data), audited(data, engine=local())
    if isinstance(wide, ShowthroughError):
        assert type(one) is type(wide)
        return
    here, there = one.as_dict(), wide.as_dict()
    for part in ("releases", "together"):
        assert alike(here[part], there[part])
    assert one.verdict == wide.verdict
    assert alike(here["decision"]["reasons"], there["decision"]["reasons"])
    assert wide.posterior.scan("people").collect_schema().names()[-2:] == ["p_alone", "newly_certain"]


def test_a_limit_on_each_release_alone_is_not_judged_in_pieces():
    data = next(found for found in map(history, range(9_000, 9_100)) if found["family"] == "bucketized")
    with pytest.raises(InputError, match="k is not judged there"):
        st.audit([release(r) for r in data["releases"]], policy=st.Policy(k=3), engine=local())
