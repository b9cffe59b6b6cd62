"""An inference on the cluster while workers, files, disks and drivers are lost: the same bytes, or a sentence."""

import os
import resource
import signal
import threading
import time

import polars as pl
import pytest

import showthrough as st
from showthrough.engines.cluster_release import published
from showthrough.errors import EngineError
from showthrough.examples import registers
from showthrough.inference.cluster import laying, star_steps
from tests.spark import working
from tests.spark.conftest import settings
from tests.spark.seeing import an_executor, family, kill_an_executor, script, written

PERSONS = 3000
ROLES = {"id": registers.ID, "sensitive": registers.SENSITIVE, "group": registers.IN_GROUP}


@pytest.fixture(scope="module")
def folder(cluster):
    """Two releases as Parquet where all can read them."""
    home = cluster.folder / "register"
    for year in registers.YEARS:
        (home / year).mkdir(parents=True)
    parts = registers.register_parts(PERSONS, 4, seed=5)
    st.engines.local().map(registers.write_part, parts, str(home))
    return home


def releases(folder):
    return [published(folder / year, **ROLES, name=year) for year in registers.YEARS]


@pytest.fixture(scope="module")
def whole(engine, folder):
    """What comes out if nothing is lost; later runs work in the same folder."""
    post = st.infer(releases(folder), engine=engine)
    assert post.certificate.persons > 0.98 * PERSONS
    return post.folder, written(post), post.to_frame()


@pytest.fixture
def undisturbed(whole):
    return whole[1]


@pytest.fixture
def home(whole):
    return whole[0]


def test_the_answer_is_that_of_one_machine(folder, whole):
    there = whole[2].sort("id", "value")
    held = [
        st.Release.bucketized(pl.read_parquet(folder / year / "*.parquet"), **ROLES, quasi=[], name=year)
        for year in registers.YEARS
    ]
    here = st.infer(held).to_frame().sort("id", "value")
    assert there.select("id", "value").equals(here.select("id", "value").cast({"id": there.schema["id"]}))
    assert (there["p"] - here["p"]).abs().max() < 1e-12


def test_executors_killed_in_the_join_the_components_and_the_pieces_change_no_byte(
    engine, cluster, folder, undisturbed
):
    killed = {}

    def kill(stage):
        killed[stage] = kill_an_executor(cluster)

    def told(name):
        if name in ("joining releases", "components", "pieces"):
            threading.Timer(0.2, kill, [name]).start()

    post = st.infer(releases(folder), engine=engine, progress=told)
    assert len(set(killed.values())) == 3  # while it worked
    assert written(post) == undisturbed


def test_groups_too_many_for_one_worker_are_tied_by_all_with_the_same_bytes(
    engine, cluster, folder, home, undisturbed, monkeypatch
):
    """Stopped in the first round, begun again, and an executor killed."""
    monkeypatch.setattr(laying, "MOST_TIED", 10)
    monkeypatch.setattr(laying, "_reduced", working.as_they_are)  # so few persons are one forest at once
    whole, rounds = star_steps._small_star, []

    def stopping(edges):
        rounds.append(edges)
        if len(rounds) == 1:
            raise KeyboardInterrupt
        return whole(edges)

    monkeypatch.setattr(star_steps, "_small_star", stopping)
    with pytest.raises(KeyboardInterrupt):
        st.infer(releases(folder), engine=engine)
    assert [path.parent.name for path in (home / "stars").glob("*/_SUCCESS")] == ["0"]
    killed = []

    def told(name):
        if name == "components":
            threading.Timer(0.2, lambda: killed.append(kill_an_executor(cluster))).start()

    assert written(st.infer(releases(folder), engine=engine, progress=told)) == undisturbed
    assert killed
    assert len(rounds) >= 2


def test_lost_shuffle_files_change_no_byte(engine, cluster, folder, undisturbed):
    lost = []
    ended = threading.Event()

    def lose():
        """Whatever the first stages have put down for the next ones on one worker."""
        while not ended.is_set() and len(lost) < 3:
            for path in (cluster.home / "worker1.local").rglob("shuffle_*.data"):
                path.unlink(missing_ok=True)
                lost.append(path)
            time.sleep(0.005)

    for path in (cluster.home / "worker1.local").rglob("shuffle_*"):  # of earlier runs, which nobody reads again
        path.unlink(missing_ok=True)
    thief = threading.Thread(target=lose)
    thief.start()
    try:
        post = st.infer(releases(folder), engine=engine)
    finally:
        ended.set()
        thief.join()
    assert lost
    assert written(post) == undisturbed


def test_a_worker_whose_disk_takes_no_more(engine, cluster, folder, home, undisturbed):
    """The same bytes if the other worker did it all, or a sentence; and then the same bytes."""
    full = an_executor(cluster)
    for pid in family({full}):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (512, 512))  # every write beyond fails, as on a full disk
    told = ""
    try:
        assert written(st.infer(releases(folder), engine=engine)) == undisturbed
    except EngineError as why:
        told = str(why)
    finally:
        os.kill(full, signal.SIGKILL)
    if told:
        assert "gave the work up" in told or "could not do its part" in told
        assert not (home / "complete").exists()
    assert written(st.infer(releases(folder), engine=engine)) == undisturbed


def test_a_driver_that_is_killed_is_followed_by_one_that_goes_on(engine, cluster, folder, home, undisturbed):
    """The steps that were written are not done again, and the answer is the same.

    Before it is killed that driver asks in vain for masters and workers: all that it says of them is ours.
    """
    begun = (
        "import showthrough as st, time\nfrom pathlib import Path\n"
        "from showthrough.engines.spark_session import opened\n"
        "from tests.spark.test_broken_runs import releases\n"
        "try: st.engines.spark(master='spark://127.0.0.1:1')\n"
        "except st.errors.EngineError as why: print(why)\n"
        f"found = opened({cluster.master!r}, {{'spark.executor.memory': '999g'}}, 120)\n"
        "try: st.engines.spark(found.session, wait=3)\n"
        "except st.errors.EngineError as why: print(why)\n"
        "found.session.stop()\n"
        "try: st.engines.spark(found.session)\n"
        "except st.errors.ParameterError as why: print(why)\n"
        "def told(name):\n"
        "    if name == 'pieces':\n        print('now', flush=True)\n        time.sleep(100)\n"
        f"with st.engines.spark(master={cluster.master!r}, folder={str(cluster.folder)!r}, "
        f"conf={settings(cluster)!r}) as engine:\n"
        f"    st.infer(releases(Path({str(folder)!r})), engine=engine, progress=told)\n"
    )
    with script(begun) as driver:
        unreachable, idle, stopped, now = (driver.stdout.readline() for _ in range(4))
        driver.send_signal(signal.SIGKILL)
        _, other = driver.communicate(timeout=60)
    assert unreachable.startswith("The Spark master at spark://127.0.0.1:1 does not answer.")
    assert idle.startswith(f"No worker of {cluster.master} took work within 3 s: are there any")
    assert (stopped, now) == ("session was stopped: make a new one.\n", "now\n")
    assert not [line for line in other.splitlines() if "Exception" in line or "Traceback" in line or "\tat " in line]
    assert not (home / "complete").exists()
    step = home / "persons" / "_SUCCESS"
    before = step.stat().st_mtime_ns
    seen = []

    def told(name):
        if name == "components":
            seen.append(step.stat().st_mtime_ns)

    post = st.infer(releases(folder), engine=engine, progress=told)
    assert seen == [before]
    assert post.folder == home
    assert written(post) == undisturbed


def test_an_interrupted_run_leaves_nothing_that_looks_whole(engine, folder, home, undisturbed):
    def told(name):
        if name == "pieces":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        st.infer(releases(folder), engine=engine, progress=told)
    assert not (home / "complete").exists()
    assert written(st.infer(releases(folder), engine=engine)) == undisturbed
