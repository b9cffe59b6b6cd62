"""The words of a proof are true: every sum in them adds up, and nothing they say of a person is false."""

import re

from hypothesis import given, settings

from showthrough import infer
from showthrough.errors import ContradictionError
from tests.histories import histories, release, releases
from tests.oracles import worlds
from tests.saying import refusing

some = settings(max_examples=150, deadline=None, derandomize=True)
NUMBER = r"(\d+)"


def names(text):
    return [n for n in re.split(r", | and | or ", text) if n]


def check(text, share):
    """Sums, and claims about persons, against the possible worlds."""
    for first, second, bound, free in re.findall(rf"{NUMBER} = {NUMBER}(?: − {NUMBER})? \+ {NUMBER}, so", text):
        assert int(first) == int(second) - int(bound or 0) + int(free)
    value = re.search(r"publish(?:es)? \d+ × (\w+)", text)
    if not value:
        return
    word = value.group(1)
    for people in re.findall(r"persons? ([\w, ]+?) must have", text):
        assert all(share[p].get(word, 0) == 1 for p in names(people))
    for people in re.findall(rf"has {word}, so not ([\w, ]+?)\.", text):
        assert all(share[p].get(word, 0) == 0 for p in names(people))
    for people in re.findall(r"only persons? ([\w, ]+?) can have it", text):
        assert all(share[p].get(word, 0) == 1 for p in names(people))
    for people in re.findall(r"persons? ([\w, ]+?) ha(?:s|ve) (?:it|one|\d+ of them) for certain", text):
        assert all(share[p].get(word, 0) == 1 for p in names(people))


@some
@given(histories(persons=9, least_releases=2))
def test_every_sentence_of_every_proof_is_true(history):
    named = [[([f"p{p}" for p in persons], values) for persons, values in groups] for groups in history]
    rels = releases(named)
    post = infer(rels)
    _, share = worlds.posterior(named)
    for person, value, _, by in post.proven().iter_rows():
        if by == "counts":
            for step in post.explain(person, value).steps:
                check(step.text, share)


def test_persons_who_already_have_the_value_are_in_the_sum():
    rels = [release([(["s", "u"], ["b", "c"])], "D1"), release([(["t", "u"], ["b", "c"]), (["s"], ["b"])], "D2")]
    post = infer(rels)
    text = str(post.explain("t", "b"))
    assert "T is" not in text
    assert "so not s" not in text
    assert post.explain("t", "b").verify(rels)


def test_contradictions_end_in_a_clash():
    e1 = release([([1, 2], ["Flu", "HIV"]), ([3, 4], ["Flu", "HIV"])], "e1")
    e2 = release([([1, 3], ["Flu", "Flu"]), ([2, 4], ["HIV", "Flu"])], "e2")
    with refusing(ContradictionError, match=r"not enough|but only|at most|Nothing is left|more than") as clash:
        infer([e1, e2], contradictions="refuse")
    assert clash.value.contradiction.verify([e1, e2])


def test_a_group_without_a_value_is_said_only_of_a_group_without_it():
    """0 cannot have b, but by counts: each of its groups publishes b."""
    history = [
        [([2, 4], ["a", "b"]), ([0, 1], ["a", "b"]), ([3], ["b"])],
        [([1, 0, 2], ["b", "a", "a"]), ([4, 3], ["b", "b"])],
        [([3, 0, 4], ["b", "a", "b"]), ([1, 2], ["b", "a"])],
    ]
    text = str(infer(releases(history)).explain(1, "b"))
    assert "only person 1 can have it: that person has b" in text
