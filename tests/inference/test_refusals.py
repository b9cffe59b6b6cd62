"""What `infer` refuses before it looks at anything."""

import pytest

from showthrough import infer
from showthrough.errors import InputError
from tests.histories import FIGURE1, releases


def test_a_word_that_says_nothing_of_changed_values():
    with pytest.raises(InputError, match="not 'ignore'"):
        infer(releases(FIGURE1), changed="ignore")
