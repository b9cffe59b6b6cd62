"""Tables at any width: words and numbers whole if there is room for them, and nothing is ever lost."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from showthrough.cli.common import out
from showthrough.numerals import many
from showthrough.report.printable import words
from showthrough.report.tables import Column, WordTable, fitting

WORDS = st.lists(st.text("abé漢-,()%*", min_size=1, max_size=14), max_size=6).map(" ".join)
NUMBERS = st.floats(0, 1e6).map("{:.6g}".format) | st.just("") | st.just("8.317766\n(−40.8 %)")


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*(NUMBERS if whole else WORDS for whole in kinds)), max_size=6))
    columns = [Column("row", whole=True), *(Column(draw(WORDS), whole=whole) for whole in kinds)]
    return WordTable("A title", columns, [(str(k), *row) for k, row in enumerate(rows)])


def printed(table, width) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width).print(table)
    return stream.getvalue().splitlines()


def cells(lines, *, mark) -> list[list[list[str]]]:
    """The lines of every cell of every row; a row begins where its first cell is filled."""
    found: list[list[list[str]]] = []
    for line in lines:
        if line.startswith(mark):
            parts = [part.strip() for part in line.split(mark)[1:-1]]
            if parts[0] or not found:
                found.append([[] for _ in parts])
            for cell, part in zip(found[-1], parts, strict=True):
                cell.append(part)
    return [[[part for part in cell if part] for cell in row] for row in found]


def least(column, texts) -> int:
    pieces = column.name.split() + [p for t in texts for p in (t.split("\n") if column.whole else t.split())]
    return max([1, *map(cell_len, pieces)])  # a column of nothing is one wide too


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(40, 160))
def test_words_and_numbers_are_whole_where_they_fit(table, width):
    lines = printed(table, width)
    assert lines[0] == "A title"
    assert max(map(cell_len, lines)) <= width
    shown = cells(lines, mark="│")
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    needed = sum(least(c, texts) + 3 for c, texts in zip(table.columns, columns, strict=True)) + 1
    assert len(shown) == len(table.rows)
    for row, found in zip(table.rows, shown, strict=True):
        for column, cell, parts in zip(table.columns, row, found, strict=True):
            assert "".join("".join(parts).split()) == "".join(cell.split())
            if needed <= width:
                assert " ".join(parts).split() == cell.split()
            if needed <= width and column.whole:
                assert parts in ([cell] if cell else [], cell.split("\n"), [cell.replace("\n", " ")])
    if needed <= width:
        heads = [" ".join(part for row in cells(lines, mark="┃") for part in row[j]) for j in range(len(table.columns))]
        assert [head.split() for head in heads] == [column.name.split() for column in table.columns]


def test_rows_stay_on_one_line_where_they_fit():
    table = WordTable("", [Column("two words"), Column("n", whole=True)], [("one two three", "1\n(2 %)")])
    width = len("│ one two three │ 1 (2 %) │")
    assert printed(table, width)[4] == "│ one two three │ 1 (2 %) │"
    assert printed(table, width - 1)[4:6] == ["│ one two      │ 1 (2 %) │", "│ three        │         │"]
    assert printed(table, 17)[5:8] == ["│ one   │     1 │", "│ two   │ (2 %) │", "│ three │       │"]


def test_words_give_way_to_numbers():
    table = WordTable("", [Column("name"), Column("n", whole=True)], [("x" * 50, "123456.789")])
    row = printed(table, 30)[4]
    assert row == f"│ {'x' * 13} │ 123456.789 │"


def test_longer_sentences_get_more_room():
    table = WordTable("", [Column("a"), Column("b")], [("some words " * 3, "a long sentence of words " * 9)])
    first, second = printed(table, 80)[4][1:-1].split("│")
    assert len(first) + len(second) + 3 == 80
    assert len(second) > 2 * len(first)


@pytest.mark.parametrize("width", [1, 2, 5, 9, 13])
def test_no_width_is_too_small_to_print(width):
    table = WordTable("title", [Column("name"), Column("n", whole=True)], [("words", "123456.789")])
    assert max(map(len, printed(table, width))) <= width


@pytest.mark.parametrize("width", [24, 31, 40, 80])
def test_no_number_is_broken_at_its_thin_spaces(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    numbers = [many(10**k + 1234) for k in range(3, 7)]
    text = ", ".join(f"{number} records" for number in numbers)
    console = out()
    console.print(words(text))
    console.print(WordTable("A title", [Column("a"), Column("b", whole=True)], [(text, numbers[0])]))
    lines = capsys.readouterr().out.splitlines()
    for number in numbers:
        assert sum(number in line for line in lines) >= 2
    assert max(map(cell_len, lines)) <= width


def test_columns_that_fit_are_shown_whole():
    columns = [Column("way"), *(Column(f"figure {k}", whole=True) for k in range(9))]
    rows = [["m-invariance, m = 3", *(many(1000 + k) for k in range(9))]]
    for width in (20, 40, 79, 80, 200):
        some = fitting(columns, rows, width)
        assert 1 <= some <= len(columns)
        lines = printed(WordTable("A title", columns[:some], [row[:some] for row in rows]), width)
        if some > 1:
            assert all(any(cell in line for line in lines) for cell in rows[0][1:some])
            assert max(map(cell_len, lines)) <= width
        more = [Column(c.name, c.whole) for c in columns[: some + 1]]
        assert some == len(columns) or fitting(more, [row[: some + 1] for row in rows], width) == some
    assert fitting(columns, rows, 200) == len(columns)
