"""A component too large for one worker, in parts on the cluster: the answer of one machine, whoever is lost."""

import polars as pl
import pytest

import showthrough as st
from showthrough.engines.cluster_release import published
from showthrough.errors import ContradictionError, InputError
from showthrough.inference.cluster import giant, on_cluster
from tests.inference.cluster.giants import history
from tests.spark.seeing import kill_an_executor, written

ROLES = {"id": "id", "sensitive": "value", "group": "group"}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """What is called giant here; the driver answers nothing by itself."""
    monkeypatch.setattr(on_cluster, "LARGEST", 100)
    monkeypatch.setattr(giant, "AT_HAND", 0)


@pytest.fixture(scope="module")
def held():
    return history(120, 8, seed=4)


def put(release, home):
    """A release as files that all can read."""
    for name, frame in (("records", release.records.select("id", "group")), ("values", release.tally)):
        (home / name).mkdir(parents=True)
        frame.write_parquet(home / name / "part.parquet")
    return published(home / "records", values=home / "values", count="n", **ROLES, name=release.name)


@pytest.fixture(scope="module")
def releases(cluster, held):
    return [put(one, cluster.folder / "giant" / one.name) for one in held]


@pytest.fixture(scope="module")
def undisturbed(engine, releases):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(on_cluster, "LARGEST", 100)
        patched.setattr(giant, "AT_HAND", 0)
        return written(st.infer(releases, engine=engine))


def test_answer_facts_figures_and_verdict_are_those_of_one_machine(engine, releases, held):
    policy = st.Policy(max_posterior=0.9, certain=5, integral="no")
    there, here = st.audit(releases, policy=policy, engine=engine), st.audit(held, policy=policy)
    one, wide = here.posterior.to_frame().sort("id", "value"), there.posterior.to_frame().sort("id", "value")
    assert wide.select("id", "value").equals(one.select("id", "value"))
    assert (wide["p"] - one["p"]).abs().max() < 1e-11
    columns = ["id", "value", "fact", "by"]
    facts = [post.proven().select(columns).sort(columns) for post in (here.posterior, there.posterior)]
    assert facts[0].equals(facts[1])
    assert str(there.posterior.certificate.status) == str(here.posterior.certificate.status) == "exact"
    assert there.verdict == here.verdict
    assert there.joint.certain == here.joint.certain
    assert there.joint.entropy_nats == pytest.approx(here.joint.entropy_nats)
    assert there.posterior.to_spark("people").count() == here.joint.persons


def test_a_stopped_driver_and_lost_executors_change_no_byte(engine, cluster, releases, undisturbed):
    """Stopped in Newton's method, begun again, with an executor killed there and one in the checker."""

    def stopping(name):
        if name == "maximum entropy":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        st.infer(releases, engine=engine, progress=stopping)
    killed = {}

    def told(name):
        if name in ("maximum entropy", "certificate") and name not in killed:
            killed[name] = kill_an_executor(cluster)

    assert written(st.infer(releases, engine=engine, progress=told)) == undisturbed
    assert len(set(killed.values())) == 2


def test_what_contradicts_in_parts_is_told(engine, releases, held, cluster):
    """Persons of one value each, whom the other release takes for others."""
    alone = pl.DataFrame({"id": held[0].records["id"], "group": 0, "value": "elsewhere"})
    other = st.Release.bucketized(alone, id="id", sensitive="value", group="group", name="other")
    both = [releases[0], put(other, cluster.folder / "giant" / "other")]
    post = st.infer(both, engine=engine)
    assert post.certificate.persons_by_state == {"contradictory": 120}
    assert "contradict each other about 120 persons" in str(post.contradictions[0])
    with pytest.raises(ContradictionError, match="in parts, where nobody is looked for whose value changed"):
        st.infer(both, engine=engine, contradictions="refuse")


def test_a_limit_that_parts_cannot_judge_is_refused(engine, releases):
    with pytest.raises(InputError, match="max_posterior, certain, impossible and min_anonymity"):
        st.audit(releases, policy=st.Policy(max_gain=0.5, integral="no"), engine=engine)
