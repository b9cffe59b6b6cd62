"""A component too large for one worker, in parts on the cluster: the answer of one machine, whoever is lost."""

import signal

import polars as pl
import pytest

import showthrough as st
from showthrough.auditing.further import Further
from showthrough.auditing.since import Since
from showthrough.engines.cluster_release import published
from showthrough.errors import ChangedValueError, ContradictionError, InputError
from showthrough.inference.cluster import giant, on_cluster
from tests.inference.cluster.giants import history
from tests.inference.cluster.test_giant_changed import with_changed
from tests.spark.conftest import settings
from tests.spark.seeing import kill_an_executor, script, written

ROLES = {"id": "id", "sensitive": "value", "group": "group"}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """What is called giant here; the driver answers nothing by itself."""
    monkeypatch.setattr(on_cluster, "LARGEST", 100)
    monkeypatch.setattr(giant, "AT_HAND", 0)


@pytest.fixture(scope="module")
def held():
    return history(120, 8, seed=1)


def put(release, home):
    """A release as files that all can read."""
    for name, frame in (("records", release.records.select("id", "group")), ("values", release.tally)):
        (home / name).mkdir(parents=True)
        frame.write_parquet(home / name / "part.parquet")
    return published(home / "records", values=home / "values", count="n", **ROLES, name=release.name)


@pytest.fixture(scope="module")
def releases(cluster, held):
    return [put(one, cluster.folder / "giant" / one.name) for one in held]


def given(folder):
    """The same releases, as another driver finds them."""
    homes = [folder / "giant" / name for name in ("D1", "D2")]
    return [published(at / "records", values=at / "values", count="n", **ROLES, name=at.name) for at in homes]


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
    assert there.since.upto == Since.of(Further(here, 60.0)).upto


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


def test_a_driver_killed_in_newtons_method_is_followed_by_one_that_goes_on(engine, cluster, releases, undisturbed):
    """The parts are not laid out again, and the answer has the same bytes."""
    begun = (
        "import showthrough as st, time\nfrom pathlib import Path\n"
        "from showthrough.inference.cluster import giant, on_cluster\nfrom tests.spark.test_giant import given\n"
        "on_cluster.LARGEST, giant.AT_HAND, told = 100, 0, []\n"
        "def hear(name):\n"
        "    told.append(name)\n"
        "    if told.count('maximum entropy') == 2:\n        print('now', flush=True)\n        time.sleep(100)\n"
        f"with st.engines.spark(master={cluster.master!r}, folder={str(cluster.folder)!r}, "
        f"conf={settings(cluster)!r}) as engine:\n"
        f"    st.infer(given(Path({str(cluster.folder)!r})), engine=engine, progress=hear)\n"
    )
    with script(begun) as driver:
        assert driver.stdout.readline() == "now\n"
        driver.send_signal(signal.SIGKILL)
        driver.communicate(timeout=60)
    (mark,) = cluster.folder.glob("showthrough-*/giant-*/mark-bursts.pickle")
    before = {path: path.stat().st_mtime_ns for path in mark.parent.glob("*/row.npy")}
    assert before
    seen = []

    def told(name):
        if name == "maximum entropy":
            seen.append({path: path.stat().st_mtime_ns for path in mark.parent.glob("*/row.npy")})

    assert written(st.infer(releases, engine=engine, progress=told)) == undisturbed
    assert seen[0] == before
    assert not mark.exists()


def test_what_contradicts_in_parts_is_told(engine, releases, held, cluster):
    """The other release counts the values of the same persons in another way."""
    told = held[0].tally.group_by("value").agg(pl.col("n").sum()).sort("value")
    values = [v for v, n in zip(told["value"], [*told["n"][1:], told["n"][0]], strict=True) for _ in range(n)]
    alone = pl.DataFrame({"id": held[0].records["id"], "group": 0, "value": values})
    other = st.Release.bucketized(alone, id="id", sensitive="value", group="group", name="other")
    both = [releases[0], put(other, cluster.folder / "giant" / "other")]
    post = st.infer(both, engine=engine)
    assert post.certificate.persons_by_state == {"contradictory": 120}
    assert "contradict each other about 120 persons" in str(post.contradictions[0])
    with pytest.raises(ContradictionError, match=r'changed="tolerate" takes a few persons'):
        st.infer(both, engine=engine, contradictions="refuse")


def test_changed_values_are_tolerated_by_taking_few_persons_apart(engine, cluster, monkeypatch):
    """The answer of one machine that is told who they are."""
    monkeypatch.setattr(giant, "AT_HAND", 10**6)  # quicker; parts alone do so without a cluster too
    held = with_changed(120, 8, 1, seed=2)
    laid = [put(one, cluster.folder / "giant" / f"changed-{one.name}") for one in held]
    post = st.infer(laid, engine=engine, changed="tolerate")
    who = ["id", "release", "value"]
    wide = post.to_frame().sort(who)
    changed = wide.drop_nulls("release")["id"].unique().to_list()
    assert 1 <= len(changed) == post.certificate.changed.tolerated <= 4
    one = st.infer(held, changed=changed).to_frame().sort(who)
    assert wide.select(who).equals(one.select(who))
    assert (wide["p"] - one["p"]).abs().max() < 1e-11


def test_persons_whose_groups_share_no_value_are_split_or_refused(engine, releases, held, cluster):
    """As on one machine."""
    alone = pl.DataFrame({"id": held[0].records["id"], "group": 0, "value": "elsewhere"})
    other = st.Release.bucketized(alone, id="id", sensitive="value", group="group", name="strange")
    both = [releases[0], put(other, cluster.folder / "giant" / "strange")]
    with pytest.raises(ChangedValueError, match="120 persons are in groups that share no value"):
        st.infer(both, engine=engine)
    post, here = st.infer(both, engine=engine, changed="split"), st.infer([held[0], other], changed="split")
    assert post.certificate.changed == here.certificate.changed
    who = ["id", "release", "value"]
    wide, one = post.to_frame().sort(who), here.to_frame().sort(who)
    assert wide.select(who).equals(one.select(who))
    assert (wide["p"] - one["p"]).abs().max() < 1e-12


def test_a_limit_that_parts_cannot_judge_is_refused(engine, releases):
    with pytest.raises(InputError, match="max_posterior, certain, impossible and min_anonymity"):
        st.audit(releases, policy=st.Policy(max_gain=0.5, integral="no"), engine=engine)
