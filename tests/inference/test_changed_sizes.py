"""Two Anatomy releases with from one to 500 changed persons among 5 500 who are in both: an answer every time."""

import time

import numpy as np
import pytest
from benchmarks.histories import OCCUPATIONS, anatomy
from benchmarks.histories import release as bucketized

from showthrough import infer
from showthrough.inference.firm import firm
from showthrough.inference.history import encode
from showthrough.inference.problem import build
from showthrough.inference.tolerance import tolerate


def pair(persons, l, changed, seed):
    """Two releases made independently; five sixths of the persons are in both, some of them with another value."""
    rng = np.random.default_rng(seed)
    step = persons // 6
    values = rng.choice(OCCUPATIONS.size, size=persons + step, p=OCCUPATIONS / OCCUPATIONS.sum())
    first = np.arange(persons)
    made = [bucketized(first, values[first], anatomy(values[first], l, rng), "D1")]
    who = rng.choice(np.arange(step, persons), changed, replace=False)
    values[who] = (values[who] + rng.integers(1, OCCUPATIONS.size, changed)) % OCCUPATIONS.size
    second = first + step
    return [*made, bucketized(second, values[second], anatomy(values[second], l, rng), "D2")], set(who.tolist())


def everywhere(problem):
    return np.ones(problem.signatures, dtype=bool)


@pytest.mark.parametrize(("l", "changed"), [(3, 1), (3, 500), (5, 5), (5, 500)])
def test_a_set_no_larger_than_that_of_the_changed_is_found(l, changed):
    made, who = pair(6600, l, changed, seed=l + changed)
    history, problem, of_person = build(encode(made, changed="tolerate"))
    must = 0 if history.split_release is None else len(set(history.ids.filter(history.split_release >= 0).to_list()))
    start = time.process_time()
    found = tolerate(history, problem, of_person, everywhere(problem), seconds=120)
    assert time.process_time() - start < 60
    assert found.smallest
    assert 0 < found.persons + must <= len(who)
    assert not found.left.any()
    again = tolerate(found.history, found.problem, found.of_person, everywhere(found.problem), seconds=120)
    assert again.persons == 0
    if (l, changed) == (3, 500):
        held = firm(found)
        some = held.impossible(found.problem.signature, found.problem.value)[held.within[found.problem.signature]]
        assert 0.2 < some.mean() < 0.9  # three of ten pairs stay impossible whoever changed


def test_an_answer_comes_out_of_the_whole_inference():
    made, who = pair(1200, 3, 40, seed=1)
    post = infer(made, changed="tolerate")
    counts = post.certificate.changed
    assert 0 < counts.tolerated <= len(who)
    assert counts.told == counts.split == 0
    assert post.changes().height == 2 * counts.tolerated
    told = infer(made, changed=sorted(who))
    assert told.certificate.changed.told == len(who)
    assert "40 told by the publisher" in told.certificate.premise
