"""Limits at their ends, and what a review does not look at."""

from showthrough import Policy, infer
from tests.histories import releases

# three releases that probabilities fit in many ways and whole values in two: person 2 has b in both
SYMMETRIC = [
    [([1, 4, 5], ["a", "a", "b"]), ([2, 3, 6], ["a", "a", "b"])],
    [([1, 2, 3], ["a", "a", "b"]), ([4, 5, 6], ["a", "a", "b"])],
    [([1, 2, 6], ["a", "a", "b"]), ([3, 4, 5], ["a", "a", "b"])],
]


def test_a_proximity_limit_of_nothing_is_a_limit():
    assert Policy(proximity=(1.0, 0.0)).proximity == (1.0, 0.0)


def test_whole_values_are_looked_at_only_if_they_are_asked_for():
    post = infer(releases(SYMMETRIC))
    assert not Policy(certain=0).review(post).holds
    assert Policy(certain=0).review(post, integral=False).holds
    assert Policy(certain=0, integral="no").review(post).holds


def test_nothing_is_undecided_where_no_fact_counts():
    review = Policy(max_posterior=0.9, certain=None, integral="required").review(infer(releases(SYMMETRIC)))
    assert review.undecided == 0
    assert review.conclusive


def test_a_limit_of_one_is_a_limit_that_everybody_keeps():
    review = Policy(max_posterior=1, max_gain=1, certain=None).review(infer(releases([[([1], ["a"])]])))
    assert review.holds
