"""Which islands have a closed form: what is uneven spreads as far as persons are shared, and no further."""

import polars as pl

from showthrough import infer
from showthrough.inference.history import encode
from showthrough.inference.islands import easy, label
from showthrough.inference.problem import build
from tests.histories import release, releases


def without_solver(history):
    """The persons whose answer has a closed form."""
    coded, problem, of_person = build(encode(releases(history)))
    return {coded.ids[int(p)] for p in easy(problem).signatures[of_person].nonzero()[0]}


def line(length):
    """Pairs in a line, uneven at its end."""
    first = [([2 * k, 2 * k + 1], ["a", "b"]) for k in range(length)]
    second = [([2 * k + 1, 2 * k + 2], ["a", "b"]) for k in range(length - 1)]
    return [first, [*second, ([0, -1, -2], ["a", "a", "b"])]]


def test_what_is_flat_stays_easy_beside_a_line_however_long():
    for length in (3, 60):
        first, second = line(length)
        again = ([901, 902], ["a", "b"])
        assert without_solver([[*first, again], [*second, again]]) == {901, 902}


def test_nobody_on_a_line_with_an_uneven_end_is_easy():
    for length in (3, 60):
        assert without_solver(line(length)) == set()


def test_who_fits_several_groups_ties_them_into_one_island():
    """7 fits the first two groups, so they are one island; the third and the fourth are islands of their own."""
    groups = [([1, 2], ["a", "b"]), ([3, 7], ["a", "b"]), ([4, 8], ["a", "c"]), ([5, 6], ["a", "b"])]
    fits = {1: [1], 2: [1], 3: [2], 7: [1, 2], 4: [3], 8: [3], 5: [4], 6: [4]}
    known = pl.DataFrame([(p, g) for p, own in fits.items() for g in own], schema=["id", "group"], orient="row")
    first = release([(own[:1], values[:1]) for own, values in groups], "D0")
    post = infer([first, release(groups, "D1")], membership={"D1": known})
    solved = post._solved
    island = dict(zip(solved.history.ids.to_list(), label(solved.problem)[solved.of_person].tolist(), strict=True))
    ties = {frozenset(p for p in island if island[p] == k) for k in island.values()}
    assert ties == {frozenset({1, 2, 3, 7}), frozenset({4, 8}), frozenset({5, 6})}
