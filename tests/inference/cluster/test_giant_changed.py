"""Changed values in a giant component: who was taken for changed makes the releases consistent, and is told."""

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.engines.local import local
from showthrough.inference.cluster import giant, giant_component
from showthrough.inference.cluster.giant_component import answer_giant
from showthrough.inference.cluster.pieces import PieceQuestion
from showthrough.inference.log import Log
from tests.inference.cluster.giants import FREQUENCIES, anatomy
from tests.inference.cluster.test_giant_component import laid, names

WHO = ["id", "release", "value"]


def with_changed(persons, size, changed, seed, several=2):
    """Releases of the same persons, some of whom have another value from the second on."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(FREQUENCIES.size, persons, p=FREQUENCIES / FREQUENCIES.sum())
    who = rng.choice(persons, changed, replace=False)
    found = []
    for r in range(several):
        if r == 1:
            truth[who] = (truth[who] + rng.integers(1, FREQUENCIES.size, changed)) % FREQUENCIES.size
        frame = {"id": np.arange(persons), "value": [f"v{v:02}" for v in truth], "group": anatomy(truth, size, rng)}
        roles = {"id": "id", "sensitive": "value", "group": "group", "quasi": []}
        found.append(st.Release.bucketized(pl.DataFrame(frame), **roles, name=f"R{r}"))
    return found


def tolerated(given, folder, seconds=600, **options):
    question = PieceQuestion(st.infer, str(folder), pl.Int64(), **options)
    return answer_giant(local(), folder, 7, names(len(given)), question, Log.of(None, seconds), "tolerate")


def table(folder, name):
    return pl.scan_parquet(folder / name / "*.parquet").collect()


@pytest.mark.parametrize(
    ("seed", "size", "several", "at_hand"),
    [(1, 8, 2, 0), (2, 4, 2, 0), (3, 6, 3, 0), (4, 4, 2, 10**6), (5, 8, 2, 10**6)],
)
def test_the_answer_is_that_of_one_machine_that_is_told_who_changed(
    tmp_path, monkeypatch, seed, size, several, at_hand
):
    monkeypatch.setattr(giant, "AT_HAND", at_hand)
    given = with_changed(600, size, 4, seed, several)
    laid(given, tmp_path, 3)
    wide = tolerated(given, tmp_path)
    answer = table(tmp_path, "answer")
    changed = answer.filter(pl.col("release").is_not_null())["id"].unique().to_list()
    assert str(wide.certificate.status) == "exact"
    assert wide.certificate.changed.tolerated == len(changed)
    assert 1 <= len(changed) <= 4 * 4  # a program over everybody takes four
    one = st.infer(given, changed=changed)
    here, there = one.to_frame().sort(WHO), answer.sort(WHO)
    assert here.select(WHO).equals(there.select(WHO))
    assert (here["p"] - there["p"]).abs().max() < 1e-9
    facts = table(tmp_path, "facts").select(*WHO, "fact", "by", "conditional")
    assert facts.drop("conditional").sort(WHO).equals(one.proven().select(facts.columns[:-1]).sort(WHO))
    sure = one.fact_counts().certain
    assert wide.facts["certain"] + wide.facts["certain_if_consistent"] == sure
    if facts["conditional"].any():  # somebody else may have changed instead
        assert facts["conditional"].all()
        assert wide.facts["certain"] == wide.facts["impossible_by_counts"] == 0
        assert not table(tmp_path, "people")["certain"].any()


def test_who_must_have_changed_leaves_no_condition(tmp_path):
    """Everybody whose groups share no value changed, whoever looks: facts are those of one machine."""
    given = with_changed(300, 3, 0, 6)
    rows = given[1].groups()
    first = dict(given[0].groups().select("id", "group").iter_rows())
    values = [r.tally.group_by("group").agg("value") for r in given]
    published = [{g: set(v) for g, v in own.iter_rows()} for own in values]
    second = dict(rows.select("id", "group").iter_rows())

    def apart(a, b):
        return not published[0][first[a]] & published[1][second[b]]

    pairs = [(a, b) for a in range(300) for b in range(a) if apart(a, b) and apart(b, a)]
    a, b = pairs[0]
    second[a], second[b] = second[b], second[a]
    frame = pl.DataFrame({"id": list(second), "group": list(second.values())})
    roles = {"id": "id", "sensitive": "value", "group": "group", "count": "n", "quasi": []}
    other = st.Release.bucketized(frame, values=given[1].tally, **roles, name="R1")
    laid([given[0], other], tmp_path, 2)
    one = st.infer([given[0], other], changed="tolerate")
    wide = tolerated([given[0], other], tmp_path)
    assert wide.certificate.changed == one.certificate.changed
    assert wide.certificate.changed.tolerated == 2
    assert wide.facts == vars(one.fact_counts())
    assert wide.facts["certain"]


def test_a_driver_that_begins_anew_takes_the_same_persons_for_changed(tmp_path, monkeypatch):
    """Stopped after each round in turn, while persons are laid out or before."""
    given = with_changed(600, 8, 4, 1)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
        laid(given, tmp_path / name, 3)
    whole = tolerated(given, tmp_path / "whole")
    solve, lay, calls = giant_component.solve_giant, giant_component.lay_people, []

    def stopping(what, every):
        def work(*args, **options):
            calls.append(what)
            if calls.count(what) % every == 2:
                raise KeyboardInterrupt
            return what(*args, **options)

        return work

    monkeypatch.setattr(giant_component, "solve_giant", stopping(solve, 3))
    monkeypatch.setattr(giant_component, "lay_people", stopping(lay, 5))
    found, stopped = None, 0
    while found is None:
        try:
            found = tolerated(given, tmp_path / "broken")
        except KeyboardInterrupt:
            stopped += 1
    assert stopped > 2
    assert found.certificate.changed == whole.certificate.changed
    for name in ("answer", "facts", "people"):
        assert table(tmp_path / "whole", name).equals(table(tmp_path / "broken", name))


def test_without_time_it_is_told_that_more_is_needed(tmp_path):
    given = with_changed(600, 8, 4, 1)
    laid(given, tmp_path, 2)
    with pytest.raises(
        st.errors.ContradictionError, match=r"contradict each other about 600 persons.*say whose"
    ) as why:
        tolerated(given, tmp_path, seconds=0.0, contradictions="refuse")
    assert "v0" not in str(why.value)
