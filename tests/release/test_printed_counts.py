"""Counts as offices print them: what each form says, and the sentence for what says nothing."""

from __future__ import annotations

import polars as pl
import pytest

from showthrough.errors import InputError, ReleaseError
from showthrough.release.printed_counts import OPEN, RULES, Printing, read_counts
from tests.saying import refusing


def ends(*texts, suppressed=None, rounding=None):
    frame = pl.DataFrame({"n": list(texts)})
    low, high = read_counts(frame, "n", "T", Printing.of(suppressed, rounding))
    return list(zip(low, high, strict=True))


def test_forms_that_say_it_themselves():
    assert ends("12", " 7 ", "0", "1 204", "1,204", "12\u202f000") == [
        (12, 12), (7, 7), (0, 0), (1204, 1204), (1204, 1204), (12000, 12000),
    ]  # fmt: skip
    assert ends("<5", "<=4", "≤4", "< 5") == [(0, 4)] * 4
    assert ends("5-9", "5–9", "5 to 9", "5..9", "[5, 9]") == [(5, 9)] * 5
    assert ends("100+", ">=100", "≥100", ">99", "100 +") == [(100, OPEN)] * 5


def test_declared_marks_come_first():
    marks = {"c": (1, 4), "*": "0-3", "..": [0, 9], "": 2, "<5": (1, 4), "100+": (100, 250)}
    assert ends("c", "*", "..", "", "  ", "<5", "100+", suppressed=marks) == [
        (1, 4), (0, 3), (0, 9), (2, 2), (2, 2), (1, 4), (100, 250),
    ]  # fmt: skip


def test_numbers_and_gaps_of_frames():
    assert ends(3, None, 5, suppressed={"": (1, 4)}) == [(3, 3), (1, 4), (5, 5)]
    assert ends(3.0, None, 5.0, suppressed={"": (1, 4)}) == [(3, 3), (1, 4), (5, 5)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("base", [1, 2, 3, 5, 10])
def test_every_number_lies_within_what_it_is_rounded_to(rule, base):
    seen = {}
    for true in range(60):
        down, up = base * (true // base), base * -(-true // base)
        nearest = {n for n in (down, up) if abs(n - true) == min(true - down, up - true)}
        shown = {"conventional": nearest, "random": {down, up}, "up": {up}, "down": {down}}[rule]
        for number in sorted(shown):
            ((low, high),) = ends(str(number), rounding=(base, rule))
            assert low <= true <= high
            seen.setdefault(number, []).append(true)
    for number, trues in seen.items():  # and no end is loose
        if max(trues) < 60 - 2 * base:
            assert ends(str(number), rounding=f"{base}:{rule}") == [(min(trues), max(trues))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-3", "row 2 has '-3' in column 'n'; expected a whole number, 0 or more."),
        ("2.5", "row 2 has '2.5' in column 'n'; expected a whole number, 0 or more."),
        ("few", "such as suppressed={'few': (1, 4)}."),
        ("", "row 2 has no count in column 'n'"),
        ("9-5", "whose low end is above its high end"),
        ("<0", "no count is below 0"),
    ],
)
def test_what_is_no_count_gets_a_sentence(text, said):
    with refusing(ReleaseError) as told:
        ends("4", text)
    assert said in told.value.internal
    assert "few" not in str(told.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"suppressed": {"c": (4, 1)}}, "not (4, 1)"),
        ({"suppressed": {"c": (-1, 4)}}, "not (-1, 4)"),
        ({"suppressed": {"c": "some"}}, "a least and a greatest count"),
        ({"suppressed": ["c"]}, "maps each mark to what it stands for"),
        ({"rounding": 0}, "1 or more"),
        ({"rounding": (5, "sideways")}, "conventional, random, up, down"),
        ({"rounding": True}, "1 or more"),
    ],
)
def test_wrong_declarations_get_a_sentence(given, said):
    with refusing(InputError) as told:
        Printing.of(**given)
    assert said in told.value.internal


def test_a_number_that_is_not_rounded():
    with refusing(ReleaseError, match="no multiple of 5"):
        ends("5", "7", rounding=5)
