"""A posterior that was kept: taken up again it says the same, and what was tampered with is refused."""

from __future__ import annotations

import io
import json
import random

import numpy as np
import pytest
from hypothesis import given, settings

import showthrough as st
from showthrough.inference.face import FlowStep
from showthrough.inference.resuming import kept, resumable, resumed
from tests.histories import FIGURE1, WHOLE_VALUES, X1, histories, release, releases
from tests.oracles import History


def same(one: st.Posterior, other: st.Posterior) -> None:
    a, b = one.to_frame(), other.to_frame()
    assert a.select("id", "value").equals(b.select("id", "value"))
    assert np.abs(a["p"].to_numpy() - b["p"].to_numpy()).max(initial=0.0) < 1e-9
    assert one.proven().sort("id", "value").equals(other.proven().sort("id", "value"))
    assert one.certificate.status == other.certificate.status


def large(seed: int) -> list[st.Release]:
    """Two releases with enough persons for the flow between them to exclude something, and one more."""
    rng = random.Random(seed)
    truth, made = [rng.randrange(5) for _ in range(120)], []
    for number in range(3):
        left = [p for p in range(120) if rng.random() < 0.85]
        rng.shuffle(left)
        groups = []
        while left:
            size = rng.randint(2, 5)
            groups.append(([f"p{p}" for p in left[:size]], [f"v{truth[p]}" for p in left[:size]]))
            left = left[size:]
        made.append(release(groups, f"R{number}"))
    return made


@given(histories(persons=10))
@settings(max_examples=60, deadline=None)
def test_what_was_kept_says_the_same(history: History):
    given_releases = releases(history)
    post = st.infer(given_releases)
    assert resumable(post)
    back = resumed(given_releases, kept(post))
    assert back is not None
    same(post, back)


@pytest.mark.parametrize("history", [FIGURE1, X1, WHOLE_VALUES])
def test_it_goes_on_as_if_nothing_had_been(history: History):
    *first, last = releases(history)
    back = resumed(first, kept(st.infer(first)))
    assert back is not None
    same(back.extend(last), st.infer([*first, last]))
    for id, value, *_ in back.extend(last).proven().filter(fact="certain").rows():
        assert back.extend(last).explain(id, value).verify([*first, last])


@pytest.mark.parametrize("seed", range(6))
def test_flows_are_weighings_too(seed: int):
    made = large(seed)
    post = st.infer(made[:2])
    back = resumed(made[:2], kept(post))
    assert back is not None
    same(post, back)
    same(back.extend(made[2]), st.infer(made))


def test_there_are_flows_among_them():
    steps = [step for seed in range(6) for step in st.infer(large(seed)[:2])._solved.face.steps]
    assert sum(isinstance(step, FlowStep) for step in steps) >= 3


def arrays(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content)) as found:
        return dict(found)


def packed(found: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **found)
    return stream.getvalue()


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_excluded_that_is_not_proven(seed: int):
    """Any exclusion that is added by hand is either refused or true: the answer from scratch has it too."""
    rng, made = random.Random(seed), large(seed % 4)[:2]
    post = st.infer(made)
    told = arrays(kept(post))
    steps, alive = told["first"].size, np.flatnonzero(told["removed_at"] == np.iinfo(np.int32).max)
    if not steps or not alive.size:
        pytest.skip("nothing to tamper with")
    how = rng.choice(["exclude", "weights", "rows", "order"])
    if how == "exclude":
        told["removed_at"][rng.choice(alive.tolist())] = rng.randrange(steps)
    elif how == "order":
        told["removed_at"][told["removed_at"] == 0] = steps - 1
    else:
        told[how][rng.randrange(told[how].size)] += rng.choice([-1, 1, 5])
    back = resumed(made, packed(told))
    if back is not None:
        facts = {row[:3] for row in post.proven().rows()}
        assert {row[:3] for row in back.proven().rows()} <= facts


@pytest.mark.parametrize(
    "spoil",
    [
        lambda told: told.pop("mu"),
        lambda told: told.update(x=told["x"][:-1]),
        lambda told: told.update(x=told["x"] * np.nan),
        lambda told: told.update(x=told["x"].astype(np.int64)),
        lambda told: told.update(rows=told["rows"] + 10**9),
        lambda told: told.update(weights=told["weights"] * 2**60),
        lambda told: told.update(step_start=told["step_start"][::-1].copy()),
        lambda told: told.update(first=told["first"] + 99),
        lambda told: told.update(word=np.frombuffer(json.dumps({"version": 99}).encode(), dtype=np.uint8)),
        lambda told: told.update(word=np.frombuffer(b"[]", dtype=np.uint8)),
        lambda told: told.update(x=np.roll(told["x"], 1)),
    ],
)
def test_arrays_that_are_none_are_refused(spoil):
    made = releases(FIGURE1)
    told = arrays(kept(st.infer(made)))
    spoil(told)
    assert resumed(made, packed(told)) is None


def test_bytes_that_are_none_are_refused():
    made = releases(FIGURE1)
    content = kept(st.infer(made))
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=True, word=np.array([{"a": 1}], dtype=object))
    for wrong in (b"", b"PK", content[:100], content[:-30], stream.getvalue(), json.dumps({}).encode()):
        assert resumed(made, wrong) is None


def test_another_history_is_refused():
    assert resumed(large(1), kept(st.infer(large(0)))) is None


def test_only_plain_answers_are_kept():
    d1, d2 = releases(FIGURE1)
    assert not resumable(st.infer([d1, d2], knowledge=[st.knowledge.known("1", "Flu")]))
    assert not resumable(st.infer([d1, d2], changed="tolerate"))
    people = {"id": ["a", "b"], "age": [30, 40]}
    located = st.Release.generalized({"age": ["30", "40"], "d": ["x", "y"]}, sensitive="d", quasi=["age"], name="G")
    assert not resumable(st.infer([located], register=people))
