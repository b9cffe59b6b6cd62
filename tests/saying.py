"""What an error says to whom: ``str`` of it is for everybody, its ``internal`` text may name ids and values."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest

from showthrough.errors import ShowthroughError


@contextlib.contextmanager
def refusing(
    kind: type[ShowthroughError], match: str = "", *, hidden: tuple[str, ...] = ()
) -> Iterator[pytest.ExceptionInfo[ShowthroughError]]:
    """The block raises such an error; ``match`` is found in what it says internally, ``hidden`` is not in the rest."""
    with pytest.raises(kind) as found:
        yield found
    assert re.search(match, found.value.internal), found.value.internal
    for text in (str(found.value), repr(found.value), found.value.shareable):
        assert not [one for one in hidden if one in text], text
