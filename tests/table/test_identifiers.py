"""Direct identifiers by their form: published examples of every number are recognised, changed digits are not."""

import random
import string

import pytest

from showthrough.table.given_names import are_names
from showthrough.table.identifiers import FORMS, recognised

EXAMPLES = {  # as issuers and textbooks print them
    "e-mail addresses": ["anna.mueller@example.org", "x+y@sub.example.co.uk"],
    "account numbers (IBAN)": ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000", "FR1420041010050500013M02606"],
    "Italian fiscal codes": ["RSSMRA85T10A562S"],
    "Mexican CURP numbers": ["HEGG560427MVZRRL04"],
    "Chinese resident numbers": ["11010519491231002X"],
    "phone numbers": [
        "+49 30 901820",
        "(555) 123-4567",
        "555-123-4567",
        "01 23 45 67 89",
        "030/901820",
    ],
    "US social security numbers": ["123-45-6789"],
    "British insurance numbers": ["AB 12 34 56 C", "AB123456C"],
    "Spanish identity numbers": ["12345678Z", "X1234567L"],
    "French social security numbers": ["2 55 08 14 168 025 38", "255081416802538"],
    "German health insurance numbers": ["A123456780"],
    "Finnish personal codes": ["131052-308T"],
    "Danish personal numbers": ["010185-1234"],
    "Chilean RUT numbers": ["12.345.678-5"],
    "Singapore identity numbers": ["S1234567D"],
    "Swedish personal numbers": ["811228-9874", "640823-3234"],
    "Dutch service numbers": ["111222333", "123456782"],
    "Portuguese tax numbers": ["123456789"],
    "Canadian or Israeli identity numbers": ["046 454 286"],
    "Australian Medicare numbers": ["2123 45670 1"],
    "NHS numbers": ["943 476 5919", "9434765919"],
    "Bulgarian personal numbers": ["7523169263", "8032056031"],
    "Austrian insurance numbers": ["1237 010180"],
    "Czech or Slovak birth numbers": ["7103192745"],
    "German tax numbers": ["86095742719", "36574261809"],
    "Belgian register numbers": ["85.07.30-033 28"],
    "Norwegian birth numbers": ["15021951940"],
    "Polish PESEL numbers": ["44051401359"],
    "Estonian or Lithuanian personal codes": ["33309240064", "36805280109"],
    "Turkish identity numbers": ["17291716060"],
    "Brazilian CPF numbers": ["390.533.447-05"],
    "Aadhaar numbers": ["2341 2341 2346"],
    "Japanese individual numbers": ["1234 5678 9018"],
    "Swiss insurance numbers": ["756.9217.0769.85"],
    "Romanian personal codes": ["1630615123457"],
    "Korean resident numbers": ["971013-9019902"],
    "South African identity numbers": ["7503305044089"],
    "card numbers": ["4111 1111 1111 1111", "378282246310005"],
}
LOOSE = (
    "US social security numbers",
    "Danish personal numbers",
    "Australian Medicare numbers",
)  # another digit, or none
CHECKED = [form for form in FORMS if form.extra is not None and form.name not in LOOSE]


def test_every_form_has_examples():
    assert {form.name for form in FORMS} == set(EXAMPLES)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_published_examples_have_their_form(form):
    for example in EXAMPLES[form.name]:
        assert form.has(example), example


@pytest.mark.parametrize("form", CHECKED, ids=lambda form: form.name)
def test_another_last_digit_does_not(form):
    for example in EXAMPLES[form.name]:
        last = example[-1]
        others = [c for c in (string.digits if last.isdigit() else string.ascii_uppercase) if c != last]
        passing = sum(form.has(example[:-1] + c) for c in others)
        assert passing <= 1, (example, passing)  # two systems may share a number (Belgians of 1900 and 2000)


@pytest.mark.parametrize("seed", [11, 12, 13, 9001, 9002])
@pytest.mark.parametrize("width", range(1, 17))
def test_random_numbers_of_any_length_are_none(seed, width):
    chance = random.Random(f"{seed} {width}")
    cells = sorted({str(chance.randrange(10 ** (width - 1), 10**width)) for _ in range(300)})
    assert recognised(cells) is None


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_column_of_them_is_recognised(name):
    form = next(form for form in FORMS if form.name == name)
    chance, found = random.Random(name), set(EXAMPLES[name])
    pattern = EXAMPLES[name][0]
    for _ in range(60_000):
        cell = "".join(chance.choice(string.digits) if c.isdigit() and chance.random() < 0.5 else c for c in pattern)
        if form.has(cell):
            found.add(cell)
        if len(found) >= 40:
            break
    assert len(found) >= 8 or form.sure
    assert recognised(sorted(found)) is not None
    assert (recognised([*sorted(found), *(f"note {n}" for n in range(5 * len(found)))]) is not None) == form.sure


@pytest.mark.parametrize(
    "cells",
    [
        [f"{y}-{m:02d}-{d:02d}" for y in (1950, 1999) for m in (1, 12) for d in (3, 28)],
        [f"{d:02d}.{m:02d}.{y}" for y in (1950, 1999) for m in (1, 12) for d in (3, 28)],
        [f"{z:05d}-{z % 10000:04d}" for z in range(2139, 99999, 911)],
        [f"{z:05d}" for z in range(501, 99999, 911)],
        [f"[{a}, {a + 10}]" for a in range(0, 300, 10)],
        [f"{a}-{a + 9}" for a in range(0, 300, 10)],
        [f"0{k:03d}-{8000 + k}-{k % 90 + 10}" for k in range(40)],
        [f"{k * 1.37:.2f}" for k in range(1, 300)],
        ["Prof-specialty", "Craft-repair", "Exec-managerial", "Sales", "Armed-Forces", "Tech-support", "?", "a b"],
    ],
)
def test_dates_places_ranges_and_words_are_none(cells):
    assert recognised(cells) is None
    assert not are_names(cells)


def test_names_of_persons():
    first = ["Anna", "José", "Łukasz", "Jürgen", "Mary-Ann", "Wei", "Fatima", "Olga", "Søren", "Giulia"]
    assert are_names([f"{name} Example" for name in first])
    assert are_names([f"Example, {name} B." for name in first])
    assert not are_names(["Virginia", "Georgia", "Texas", "Ohio", "Utah", "Iowa", "Maine", "Idaho", "Nevada", "Kansas"])
