"""Everything that is handed out survives a pickle, tells itself as plain data, and keeps its fingerprint."""

import json
import pickle
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import showthrough as st
from showthrough.errors import ContradictionError
from showthrough.examples import figure1, hospitals
from showthrough.register.reader import Reader
from showthrough.table.plain import fingerprint, plain

TABLE = pl.DataFrame(
    {
        "id": range(40),
        "age": [20 + i % 17 for i in range(40)],
        "sex": ["m", "f"] * 20,
        "d": [["a", "b", "c", "e"][i % 4] for i in range(40)],
    }
)


def again(result):
    return pickle.loads(pickle.dumps(result))


def published(method="mondrian", **options):
    criteria = options.pop("criteria", [st.KAnonymity(4)])
    return st.anonymize(
        TABLE, method=method, id="id", sensitive="d", quasi=["age", "sex"], criteria=criteria, name="P", **options
    )


def releases():
    counts = pl.DataFrame({"age": ["20-29", "20-29", "30-39"], "d": ["a", "b", "a"], "count": [3, 2, 4]})
    people = pl.DataFrame({"id": ["1", "2"], "age": ["20-29", "30-39"]})
    h = {"age": st.Hierarchy.intervals(range(20, 40), widths=(5, 10))}
    return {
        "bucketized": figure1.releases()[0],
        "generalized": hospitals.releases()[0],
        "counted": st.Release.counted(counts, sensitive="d", name="C", date="2020-01-01", parameters={"k": 2}),
        "register": st.Release.generalized(people, sensitive=None, quasi=["age"], id="id", name="R"),
        "mondrian": published(hierarchies=h),
        "microaggregated": published("mdav"),
        "anatomy": published("anatomy", criteria=[st.DistinctLDiversity(2)]),
        "guarded": published(
            strategy="guarded", criteria=[st.FrequencyLDiversity(2)], policy=st.Policy(max_posterior=0.5)
        ),
    }


RELEASES = releases()


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_the_same_after_a_pickle(name):
    release = RELEASES[name]
    copy = again(release)
    assert_frame_equal(copy.to_frame(), release.to_frame())
    assert_frame_equal(copy.counts(), release.counts())
    assert_frame_equal(copy.cells(), release.cells())
    assert (copy.name, copy.kind, copy.date, copy.roles) == (release.name, release.kind, release.date, release.roles)
    assert copy.parameters == release.parameters
    assert copy.hierarchies == release.hierarchies
    assert copy.as_dict() == release.as_dict()
    assert copy.fingerprint() == release.fingerprint()
    if release.link is not None:
        assert_frame_equal(copy.groups(), release.groups())
    if release.made is not None:
        assert copy.made.notes == release.made.notes
        assert [c.as_dict() for c in copy.made.checks] == [c.as_dict() for c in release.made.checks]


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_release_that_was_saved_and_read_has_the_same_fingerprint(name, format, tmp_path):
    RELEASES[name].save(tmp_path / "D", format=format)
    assert st.read_release(tmp_path / "D").fingerprint() == RELEASES[name].fingerprint()


def test_the_fingerprint_of_a_release_is_that_of_what_is_published():
    first, second = figure1.releases()[:2]
    assert first.called("another", "2020-01-01", {"k": 3}).fingerprint() == first.fingerprint()
    assert first.fingerprint() != second.fingerprint()
    assert replace(first, domain=("Flu",)).fingerprint() != first.fingerprint()
    assert len({r.fingerprint() for r in RELEASES.values()}) == len(RELEASES)
    roles = {"sensitive": "condition", "quasi": hospitals.QUASI, "group": "g"}
    numbered = hospitals.releases()[0].to_frame().with_row_index("g").with_columns(pl.col("g") // 4)
    one = st.Release.generalized(numbered, **roles)
    other = st.Release.generalized(numbered.sample(fraction=1, shuffle=True, seed=1), **roles)
    assert one.fingerprint() == other.fingerprint()


def test_a_posterior_answers_alike_after_a_pickle():
    post = st.infer(hospitals.releases(), register=hospitals.register())
    post.best()  # what was worked out before does not matter
    copy = again(post)
    for frame in ("to_frame", "best", "proven", "attribution", "channels", "smallest_sets", "locatability", "worlds"):
        assert_frame_equal(getattr(copy, frame)(), getattr(post, frame)())
    assert copy.as_dict() == post.as_dict()
    assert copy.reader.fingerprint() == post.reader.fingerprint()
    newest = post.releases[0].called("H3")
    assert_frame_equal(copy.extend(newest).to_frame(), post.extend(newest).to_frame())


def test_a_split_posterior_answers_alike_after_a_pickle():
    rows = pl.DataFrame({"id": [1, 2], "g": [1, 1], "v": ["x", "y"]})
    told = [
        st.Release.bucketized(t, id="id", group="g", sensitive="v", name=n)
        for n, t in (("A", rows), ("B", rows.with_columns(v=pl.lit("z"))))
    ]
    post = st.infer(told, changed="split")
    assert_frame_equal(again(post).best(), post.best())
    assert again(post).of(1, release="B") == {"z": 1.0}


def test_audit_policy_review_check_proof_and_certificate():
    audit = st.audit(figure1.releases(), whole_values=5)
    post = audit.posterior
    policy = st.Policy(max_posterior=0.5, proximity=(1, 0.5))
    review = st.Policy(max_posterior=0.5).review(post)
    check = st.KAnonymity(2).check(hospitals.releases()[0])
    id, value, *_ = post.proven().row(0)
    proof = post.explain(id, value)
    assert_frame_equal(again(audit).people, audit.people)
    assert_frame_equal(again(review).breaches, review.breaches)
    assert_frame_equal(again(check).worst, check.worst)
    assert again(policy) == policy
    assert again(policy).fingerprint() == policy.fingerprint() != st.Policy(max_posterior=0.5).fingerprint()
    assert st.Policy(max_posterior=1).fingerprint() == st.Policy(max_posterior=1.0).fingerprint()
    assert again(proof) == proof
    assert again(proof).verify(figure1.releases())
    assert again(post.certificate) == post.certificate
    later = replace(post.certificate, seconds={"reading groups": 9.0})
    assert later.fingerprint() == post.certificate.fingerprint()
    assert replace(later, persons=1).fingerprint() != later.fingerprint()
    utility, risk = st.utility(RELEASES["mondrian"], TABLE, id="id"), st.risk(RELEASES["mondrian"])
    for result in (audit, policy, review, check, proof, post.certificate, utility, risk, post):
        assert json.loads(json.dumps(again(result).as_dict(), allow_nan=False)) == json.loads(
            json.dumps(result.as_dict())
        )


def test_counts_only_where_persons_are_concerned():
    audit = st.audit(figure1.releases())
    review = st.Policy(max_posterior=0.5).review(audit.posterior)
    assert review.as_dict()["over"]["certain"] == audit.joint.certain
    assert review.as_dict()["persons"] == review.persons


def test_a_contradiction_survives():
    def told(name, groups, values):
        frame = pl.DataFrame({"id": list("abcd"), "g": groups, "v": values})
        return st.Release.bucketized(frame, id="id", group="g", sensitive="v", name=name)

    both = [told("A", [1, 1, 2, 2], list("xyxz")), told("B", [1, 2, 1, 2], list("zyxz"))]
    with pytest.raises(ContradictionError) as found:
        st.infer(both, contradictions="refuse")
    contradiction = found.value.contradiction
    assert again(contradiction) == contradiction
    assert again(contradiction).verify(both)
    assert contradiction.as_dict()["names"] == ["A", "B"]


def test_registers_and_readers():
    register = hospitals.register()
    copy = again(register)
    assert_frame_equal(copy.quasi, register.quasi)
    assert copy.fingerprint() == register.fingerprint()
    assert register.with_presence({"H9": register.ids}).fingerprint() != register.fingerprint()
    frame = register.quasi.with_columns(register.ids.alias("id"))
    backwards = st.Register.of(frame.reverse().select(reversed(frame.columns)))
    assert backwards.fingerprint() == st.Register.of(frame).fingerprint() != register.fingerprint()
    members = {"G": pl.DataFrame({"id": [1, 2], "group": [1, None]})}
    reader = Reader.of(register=register, membership=members, domain=["x"])
    assert again(reader).fingerprint() == reader.fingerprint()
    others = [Reader.of(register=register), Reader.of(domain=["x"]), Reader.of(membership=members)]
    assert len({r.fingerprint() for r in [reader, *others]}) == 4


def test_fingerprints_tell_apart_what_differs_and_nothing_else():
    frame = pl.DataFrame({"a": ["x", None, ""], "b": [1, 2, 3]})
    assert fingerprint(frame) == fingerprint(frame.with_columns(pl.col("b").cast(pl.String)))
    different = [
        frame,
        frame.rename({"a": "c"}),
        frame.with_columns(a=pl.Series(["x", "", None])),
        frame.with_columns(a=pl.Series(["", None, "x"])),
        {"a": "1"},
        {"a": 1},
        {"a": None},
        {"a": True},
        ["a", "bc"],
        ["ab", "c"],
        [["a"], "b"],
        ["a", ["b"]],
        1.5,
        float("inf"),
    ]
    assert len({fingerprint(content) for content in different}) == len(different)
    assert fingerprint({"a": 1, "b": 2.0}) == fingerprint({"b": 2, "a": 1.0})
    assert plain({"x": (float("inf"), 1.5, None), 3: frame["b"]}) == {"x": ["inf", 1.5, None], "3": [1, 2, 3]}
