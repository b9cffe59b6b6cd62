"""A giant component from the files of its persons: the tables and figures of one machine."""

import shutil

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.auditing.further import Further
from showthrough.auditing.pieces_audit import PieceCounts
from showthrough.auditing.since import Since
from showthrough.auditing.whole_audit import audit_of
from showthrough.engines.local import local
from showthrough.inference.cluster import giant, giant_some
from showthrough.inference.cluster.giant_component import answer_giant
from showthrough.inference.cluster.pieces import TABLES, PieceQuestion
from showthrough.inference.log import Log
from showthrough.policy.rules import rules_of


def releases(seed, persons=600, size=5, several=2):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list("abcdefghij"), persons)
    found = []
    for r in range(several):
        ids = np.flatnonzero(rng.random(persons) < 0.85)
        rng.shuffle(ids)
        frame = pl.DataFrame({"id": ids, "group": np.arange(ids.size) // size, "value": truth[ids]})
        found.append(st.Release.bucketized(frame, id="id", sensitive="value", group="group", quasi=[], name=f"R{r}"))
    return found


def names(several):
    return tuple(f"R{r}" for r in range(several))


def laid(given, folder, parts):
    """The files that a cluster would write: persons by part, and what is published of groups."""
    ids = pl.concat([r.records["id"] for r in given]).unique().sort()
    people = pl.DataFrame({"id": ids})
    counts = []
    for r, release in enumerate(given):
        code = (pl.col("group").hash(seed=r) // 4).cast(pl.Int64)
        members = release.groups().select("id", code.alias(f"g{r}"))
        people = people.join(members, on="id", how="left")
        counts.append(release.tally.select(pl.lit(r).alias("release"), code.alias("g"), "value", "n"))
    for name in TABLES:
        (folder / name).mkdir()
    (folder / "counts" / "piece=7").mkdir(parents=True)
    pl.concat(counts).write_parquet(folder / "counts" / "piece=7" / "a.parquet")
    of = people.select(pl.coalesce(pl.exclude("id")) % parts).to_series()
    for k in range(parts):
        at = folder / "members" / "piece=7" / f"part={k}"
        at.mkdir(parents=True)
        people.filter(of == k).write_parquet(at / "a.parquet")


@pytest.mark.parametrize(("seed", "several", "parts"), [(1, 2, 1), (2, 2, 3), (3, 3, 4), (4, 2, 2)])
def test_tables_and_figures_are_those_of_one_machine(tmp_path, seed, several, parts):
    given = releases(seed, several=several, size=3 if seed == 4 else 5)
    policy = st.Policy(max_posterior=0.6, certain=3, impossible=10, min_anonymity=1.5, integral="no")
    one = st.audit(given, policy=policy)
    assert one.posterior.certificate.components < 20
    laid(given, tmp_path, parts)
    counting = PieceCounts(audit_of, rules_of(policy), "R")
    question = PieceQuestion(st.infer, str(tmp_path), pl.Int64(), further=counting)
    wide = answer_giant(local(), tmp_path, 7, names(several), question, Log.of(None, 600))
    here = one.posterior.to_frame(uncertified=True).sort("id", "value")
    there = pl.scan_parquet(tmp_path / "answer" / "*.parquet").collect().sort("id", "value")
    assert here.select("id", "value").equals(there.select("id", "value"))
    assert (here["p"] - there["p"]).abs().max() < 1e-9
    columns = ["id", "value", "fact", "by"]
    facts = pl.scan_parquet(tmp_path / "facts" / "*.parquet").collect().select(columns).sort(columns)
    assert facts.equals(one.posterior.proven().select(columns).sort(columns))
    people = pl.scan_parquet(tmp_path / "people" / "*.parquet").select(one.people.columns).collect().sort("id")
    mine = one.people.sort("id")
    assert people.select("id", "certain", "newly_certain").equals(mine.select("id", "certain", "newly_certain"))
    for column in ("p", "p_alone"):
        assert (people[column] - mine[column]).abs().max() < 1e-9
    figures, found = vars(one.joint), vars(wide.figures.joint)
    for name in figures.keys() - {"values"}:
        assert found[name] == (pytest.approx(figures[name]) if isinstance(figures[name], float) else figures[name])
    for own, other in zip(one.releases, wide.figures.releases, strict=True):
        for name in ("persons", "groups", "certain_alone", "entropy_alone_nats", "entropy_joined_nats", "tied"):
            assert getattr(other, name) == pytest.approx(getattr(own, name))
    told = {reason.rule: reason for reason in wide.figures.reasons[0]}
    for reason in one.decision.reasons:
        assert told[reason.rule].persons == reason.persons or reason.rule == "impossible"
        assert told[reason.rule].found == pytest.approx(reason.found, abs=1e-5)
    certificate = one.posterior.certificate
    assert (wide.certificate.proven_zeros, wide.certificate.proven_ones) == (
        certificate.proven_zeros,
        certificate.proven_ones,
    )
    assert wide.facts == vars(one.posterior.fact_counts())
    assert not (tmp_path / "giant-7").exists()


@pytest.mark.parametrize("seed", [1, 2])
def test_ids_whose_groups_share_no_value(tmp_path, seed):
    """Split or tolerated as on one machine, or refused."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(list("abcdefghij"), 400)
    order = rng.permutation(400)
    first = pl.DataFrame({"id": order, "group": np.arange(400) // 5, "value": truth[order]})
    moved, rest = np.arange(10), rng.permutation(np.arange(10, 400))
    second = pl.DataFrame(
        {
            "id": np.concatenate([rest, moved]),
            "group": np.concatenate([np.arange(rest.size) // 5, 1000 + moved // 5]),
            "value": np.concatenate([truth[rest], np.array(list("klmnoklmno"))]),
        }
    )
    roles = {"id": "id", "sensitive": "value", "group": "group", "quasi": []}
    given = [st.Release.bucketized(f, **roles, name=f"R{r}") for r, f in enumerate((first, second))]
    one = st.infer(given, changed="split")
    laid(given, tmp_path, 3)

    def asked(changed, contradictions="explain"):
        question = PieceQuestion(st.infer, str(tmp_path), pl.Int64(), contradictions=contradictions)
        return answer_giant(local(), tmp_path, 7, names(2), question, Log.of(None, 600), changed)

    with pytest.raises(st.errors.ChangedValueError, match=r'10 persons are in groups that share no value.*"split"'):
        asked("refuse")
    shutil.rmtree(tmp_path / "giant-7")
    wide = asked("split")
    assert wide.certificate.changed == one.certificate.changed
    assert wide.certificate.persons == one.certificate.persons == 410
    assert str(wide.certificate.status) == "exact"
    assert wide.facts == vars(one.fact_counts())
    who = ["id", "release", "value"]
    here, there = one.to_frame().sort(who), pl.scan_parquet(tmp_path / "answer" / "*.parquet").collect().sort(who)
    assert here.select(who).equals(there.select(who))
    assert (here["p"] - there["p"]).abs().max() < 1e-9
    facts = pl.scan_parquet(tmp_path / "facts" / "*.parquet").collect().select(*who, "fact", "by")
    assert facts.sort(facts.columns).equals(one.proven().select(facts.columns).sort(facts.columns))
    people = pl.scan_parquet(tmp_path / "people" / "*.parquet").collect()
    assert (
        people.select("id", "release")
        .sort("id", "release")
        .equals(one.best().select("id", "release").sort("id", "release"))
    )


@pytest.mark.parametrize(
    ("seed", "several", "at_hand"), [(31, 1, 10**6), (32, 2, 0), (33, 3, 10**6), (34, 3, 0), (35, 4, 10**6)]
)
def test_what_each_release_added_is_that_of_one_machine(tmp_path, monkeypatch, seed, several, at_hand):
    """Also where sets of releases fall apart into components, and have persons whom others do not know."""
    monkeypatch.setattr(giant, "AT_HAND", at_hand)
    given = releases(seed, several=several, size=4, persons=300)
    one = Since.of(Further(st.audit(given), 600.0))
    laid(given, tmp_path, 3)
    counting = PieceCounts(audit_of, None, names(several))
    question = PieceQuestion(st.infer, str(tmp_path), pl.Int64(), further=counting)
    monkeypatch.setattr(giant_some, "_LEAST_SECONDS", 600.0)
    found = answer_giant(local(), tmp_path, 7, names(several), question, Log.of(None, 600)).figures.since
    assert found.upto == one.upto
    assert found.moves == one.moves
    assert found.pairs == one.pairs
    assert found.sizes == one.sizes
    assert found.only == one.only
    assert (found.before is None) == (one.before is None)
    if one.before is not None:
        assert found.before.most == pytest.approx(one.before.most, abs=1e-9)
        assert (found.before.certain, found.before.then_or_now) == (one.before.certain, one.before.then_or_now)
    assert not (tmp_path / "giant-7").exists()
