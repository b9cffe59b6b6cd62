"""Which islands have a closed form: what is uneven spreads as far as persons are shared, and no further."""

from showthrough.inference.history import encode
from showthrough.inference.islands import easy
from showthrough.inference.problem import build
from tests.histories import releases


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
