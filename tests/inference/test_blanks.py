"""Ids and values that differ only in blanks around them are refused, wherever the blanks stand."""

import pytest

from showthrough import infer
from showthrough.errors import InputError
from tests.histories import releases


@pytest.mark.parametrize("other", ["a ", " a", "a\t"])
def test_blanks_on_either_side(other):
    with pytest.raises(InputError, match="differ only in blanks around them"):
        infer(releases([[(["a", "b"], ["x", "y"])], [([other, "b"], ["x", "y"])]]))
    with pytest.raises(InputError, match="differ only in blanks around them"):
        infer(releases([[(["p", "q"], ["a", "b"])], [(["r", "s"], [other, "b"])]]))


def test_blanks_inside_are_part_of_the_word():
    assert infer(releases([[(["a b", "ab"], ["x", "y"])]])).ids.len() == 2
