"""Random cells printed in every form cover what an oracle says; random text is read or refused."""

import datetime

import numpy as np
import polars as pl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from showthrough.errors import InputError
from showthrough.release.cells import covers, read_cells
from showthrough.table.hierarchy import Hierarchy
from tests.oracles.cells import Between, Days, Everything, Like, OneOf


def text(values):
    return pl.Series(list(values), dtype=pl.String)


def column(cells, domain=None, **more):
    values = None if domain is None else text(domain)
    return read_cells(text(cells), name="q", where="d.csv", domain=values, **more)


def spelled(number, zeros):
    """A decimal text, with zeros that change nothing."""
    sign, whole = ("-" if number < 0 else ""), abs(number)
    tail = f".{whole % 100:02d}" if zeros or whole % 100 else ""
    return f"{sign}{whole // 100}{tail}{'0' * zeros}"


numbers = st.builds(spelled, st.integers(-3000, 3000), st.integers(0, 2))


@st.composite
def number_cells(draw):
    a, b = sorted([draw(numbers), draw(numbers)], key=float)
    form = draw(st.integers(0, 9))
    gap = draw(st.sampled_from(["", " "]))
    if form == 0:
        assume(float(a) < float(b))
        low, high = draw(st.sampled_from("[](")), draw(st.sampled_from("][)"))
        return f"{low}{gap}{a},{gap}{b}{high}", Between(a, b, low != "[", high != "]")
    if form == 1:
        dash = draw(st.sampled_from(["-", "–", " - ", " to ", ".."]))
        return f"{a}{dash}{b}", Between(a, b)
    if form in (2, 3):
        sign = draw(st.sampled_from(["<", "<=", "≤"]))
        return f"{sign}{gap}{a}", Between(None, a, high_open=sign == "<")
    if form in (4, 5):
        sign = draw(st.sampled_from([">", ">=", "≥"]))
        return f"{sign}{gap}{a}", Between(a, None, low_open=sign == ">")
    if form in (6, 7):
        members = draw(st.lists(numbers, min_size=1, max_size=4))
        listed = f",{gap}".join(members)
        return (f"{{{listed}}}" if form == 6 or len(members) == 1 else listed), OneOf(tuple(members), numbers=True)
    if form == 8:
        return a, OneOf((a,), numbers=True)
    return draw(st.sampled_from(["", "*", "NA"])), Everything()


def check_against(cells, values):
    read = column([printed for printed, _ in cells], values)
    start, code = covers(read, text(values))
    assert start[0] == 0
    assert start[-1] == code.size
    for row, (printed, said) in enumerate(cells):
        c = read.codes[row]
        assert read.texts[c] == printed.strip()
        expected = [k for k, value in enumerate(values) if said.holds(value)]
        if read.any[c]:
            assert start[c] == start[c + 1]
            assert len(expected) == len(values)
        else:
            assert code[start[c] : start[c + 1]].tolist() == expected, printed


@given(st.lists(number_cells(), min_size=1, max_size=12), st.lists(numbers, min_size=1, max_size=20, unique=True))
@settings(max_examples=150, deadline=None)
def test_numbers_against_the_oracle(cells, values):
    check_against(cells, values)


codes = st.text(alphabet="01ab", min_size=1, max_size=5)


@st.composite
def masked(draw):
    code = draw(codes)
    hidden = draw(st.sets(st.integers(0, len(code) - 1), max_size=len(code) - 1)) if len(code) > 1 else set()
    pattern = "".join("*" if k in hidden else c for k, c in enumerate(code))
    return pattern, Like(pattern)


@st.composite
def sets_of_text(draw):
    members = draw(st.lists(codes, min_size=1, max_size=4))
    quote = draw(st.sampled_from(["", "'", '"']))
    return "{" + ", ".join(f"{quote}{m}{quote}" for m in members) + "}", OneOf(tuple(members))


@given(
    st.lists(masked() | sets_of_text(), min_size=1, max_size=12),
    st.lists(codes, min_size=1, max_size=20, unique=True),
)
@settings(max_examples=150, deadline=None)
def test_masks_and_sets_against_the_oracle(cells, values):
    check_against(cells, [*values, "text"])


dates = st.dates(datetime.date(2019, 1, 1), datetime.date(2021, 12, 31))


@st.composite
def date_cells(draw):
    a, b = sorted([draw(dates), draw(dates)])
    form, one = draw(st.integers(0, 5)), datetime.timedelta(days=1)
    if form == 0:
        return f"{a:%Y-%m}", Days(a.replace(day=1), (a.replace(day=1) + 31 * one).replace(day=1) - one)
    if form == 1:
        return f"{a:%Y}", Days(datetime.date(a.year, 1, 1), datetime.date(a.year, 12, 31))
    if form == 2:
        return f"{a:%Y}-{b:%Y}", Days(datetime.date(a.year, 1, 1), datetime.date(b.year, 12, 31))
    if form == 3:
        return f"[{a}, {b}]", Days(a, b)
    if form == 4:
        assume(a < b)
        return f"]{a}, {b}]", Days(a + one, b)
    return f"<{a:%Y-%m}", Days(datetime.date(2018, 1, 1), a.replace(day=1) - one)


@given(
    st.lists(date_cells(), min_size=1, max_size=6),
    st.lists(dates.map(str) | dates.map(lambda d: f"{d:%Y-%m}"), min_size=1, max_size=10, unique=True),
)
@settings(max_examples=60, deadline=None)
def test_dates_against_the_oracle(cells, values):
    check_against(cells, [*values, "2019-01-01"] if "2019-01-01" not in values else values)


LETTERS = st.text(alphabet="0123456789-–.,;~*+[](){}<>=≤≥ 'ab∞−e\x00?#\n", max_size=10) | st.text(max_size=8)
NUMERIC = st.text(alphabet="0123456789.-", max_size=6)


@given(
    st.lists(LETTERS | st.none(), min_size=1, max_size=6),
    st.none() | st.lists(LETTERS | NUMERIC | st.none(), max_size=5) | st.lists(NUMERIC, max_size=4),
    st.booleans(),
)
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused_in_a_sentence(cells, domain, with_tree):
    tree = Hierarchy.from_rows([["1", "[1, 2]", "*"], ["2", "[1, 2]", "*"], ["a", "b", "*"]]) if with_tree else None
    try:
        read = column(cells, domain, hierarchy=tree)
    except InputError:
        return
    assert all(read.understood()["meaning"])
    assert read.rows.sum() == len(cells)
    values = text(domain or []).unique(maintain_order=True)
    start, code = covers(read, values)
    assert np.all(np.diff(start) >= 0)
    assert code.size == start[-1]
    assert code.size == 0 or (code.min() >= 0 and code.max() < len(values))
