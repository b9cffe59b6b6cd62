"""What the tests of all kinds share: comparing releases, slow counting, awkward text."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import strategies as st

from showthrough import Release
from showthrough.errors import InputError


def alike(first: Release, second: Release) -> None:
    """Everything published is the same, types included."""
    assert (first.kind, first.shape, first.roles) == (second.kind, second.shape, second.roles)
    for a, b in (
        (first.records, second.records)
        if first.roles.id is None and first.kind != "bucketized"
        else (first.cells().sort(pl.all()), second.cells().sort(pl.all())),
        (first.to_frame(), second.to_frame()),
        (first.counts(), second.counts()),
        (first.sizes(), second.sizes()),
        (first.counterfeits, second.counterfeits),
        (first.cells().sort(pl.all()), second.cells().sort(pl.all())),
    ):
        assert a.schema == b.schema
        assert a.equals(b)
    assert first.labels.equals(second.labels)
    assert (first.members, first.locate, first.ordinal) == (second.members, second.locate, second.ordinal)


def refused(make, kind=InputError) -> str:
    with pytest.raises(kind) as caught:
        make()
    return caught.value.internal


def blank_is_none(cell):
    """A cell as it is kept, by Python's own idea of blanks."""
    return None if cell is None or not cell.strip() else cell


def slow_groups(rows, keys):
    """Labels 1, 2, … by first appearance, the slow way: labels of the rows, cells by label."""
    seen: list[tuple] = []
    labels = []
    for row in rows:
        key = tuple(row[k] for k in keys)
        if key not in seen:
            seen.append(key)
        labels.append(seen.index(key) + 1)
    return labels, seen


def slow_tally(labels, values, weights=None):
    counts = Counter()
    for label, value, n in zip(labels, values, weights or [1] * len(labels), strict=True):
        counts[label, value] += n
    return sorted((g, v, n) for (g, v), n in counts.items() if n)


ODD = st.sampled_from(
    ["*", "130**", "3*", "<30", "≥40", "[18, 30]", "{a, b}", "18-30", "02139", " x", "x ", "NA", "é", "e\u0301", "日本"]
)
FREE = st.text(
    alphabet=st.one_of(st.sampled_from('ab",;\n\t|\\ '), st.characters(exclude_categories=["Cs", "Cc"])), max_size=4
)
CELLS = st.one_of(st.none(), st.just(""), st.just("  "), ODD, FREE)
VALUES = st.sampled_from(["Flu", "HIV", "a,b", 'say "x"', "Häm"])
