"""CSV files as the world writes them: a table, or a sentence about what is wrong and where."""

import codecs
import contextlib
import csv
import gzip
import io
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from showthrough.errors import FileError
from showthrough.table import csv_rows
from showthrough.table.files import parse_table

TABLE = "id,zip\n1,02139\n2,Zürich\n"
ROWS = [("1", "02139"), ("2", "Zürich")]


def parse(raw: bytes | str, **more):
    return parse_table(raw.encode() if isinstance(raw, str) else raw, "d.csv", **more)


def fault(raw: bytes | str, **more) -> str:
    with pytest.raises(FileError) as caught:
        parse(raw, **more)
    text = caught.value.internal
    assert text.endswith((".", "?"))
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "raw",
    [
        TABLE.encode(),
        codecs.BOM_UTF8 + TABLE.encode(),
        codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TABLE.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TABLE.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + TABLE.encode("utf-32-be"),
        gzip.compress(TABLE.encode(), mtime=0),
        gzip.compress(TABLE.encode("utf-16"), mtime=0),
    ],
)
def test_unicode_is_recognised(raw):
    frame = parse(raw)
    assert frame.columns == ["id", "zip"]
    assert frame.rows() == ROWS


@pytest.mark.parametrize("name", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8", "UTF8", "utf-8-sig"])
def test_a_named_encoding(name):
    assert parse(TABLE.encode(name), encoding=name).rows() == ROWS


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "utf-8-sig"])
def test_a_byte_order_mark_is_never_part_of_a_column_name(name):
    assert parse(codecs.BOM_UTF8 + TABLE.encode(), encoding=name).columns == ["id", "zip"]
    marked = codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le")
    assert parse(marked, encoding="utf-16-le").columns == ["id", "zip"]


def test_latin_1_without_its_name():
    text = fault(TABLE.encode("latin-1"))
    assert text == (
        "d.csv is not utf-8 text: line 3 holds a byte that does not belong to that encoding. "
        'Save it as UTF-8, or name its encoding (for example encoding="latin-1").'
    )


@pytest.mark.parametrize("name", ["klingon", "hex", "", "\x00", "a\x00b"])
def test_unknown_encoding(name):
    assert fault(TABLE, encoding=name) == f"There is no text encoding called {name!r}."


@pytest.mark.parametrize("name", ["utf-7", "idna", "punycode", "undefined", "ascii"])
def test_encodings_that_cannot_read_the_file(name):
    raw = b"id,zip\n1,+2AA-\xff\n" + b"x" * 70
    assert f"is not {name} text" in fault(raw, encoding=name)


def test_text_that_is_no_unicode():
    assert "is not utf-7 text" in fault(b"id,zip\n1,+2AA-\n", encoding="utf-7")


def test_half_a_character_of_utf_16():
    assert "is not utf-16 text" in fault(codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le") + b"x")


def test_utf_16_without_mark_or_name():
    assert 'encoding="utf-16-le"' in fault(TABLE.encode("utf-16-le"))
    assert 'encoding="utf-16-le"' in fault(b"id,zip\n1,2\n".decode().encode("utf-16-be"))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(separator):
    frame = parse(f"id{separator}zip\n1{separator}02139\n2{separator}Zürich\n")
    assert frame.columns == ["id", "zip"]
    assert frame.rows() == ROWS


def test_another_separator_inside_quotes_of_the_header():
    assert parse('"a;b;c",d\n1,2\n').columns == ["a;b;c", "d"]


@pytest.mark.parametrize(("own", "word"), [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")])
def test_mixed_separators(own, word):
    other, other_word = (";", "semicolon") if own != ";" else (",", "comma")
    text = fault(f"id{own}zip{own}disease\n1{own}2{own}Flu\n2{other}3{other}Flu\n")
    assert text == (
        f"d.csv, line 3: 1 field where the header has 3. The header is separated by {word}s, "
        f"that line by {other_word}s: use one separator throughout."
    )


def test_too_many_fields():
    assert fault("a,b\n1,2\n1,2,3\n") == (
        "d.csv, line 3: 3 fields where the header has 2. Put values that hold a comma in double quotes."
    )


def test_too_few_fields():
    assert fault("a,b,c\n1,2\n") == (
        "d.csv, line 2: 2 fields where the header has 3. "
        "Every row needs all fields: an empty one, too, needs its comma."
    )


def test_the_line_of_a_ragged_row_counts_lines_of_the_file():
    text = '\n \n"a\nb",c\n"x\n\ny",1\n\n2\n'
    assert fault(text).startswith("d.csv, line 9: 1 field")
    with mock.patch.object(csv_rows, "_CHUNK", 3):
        assert fault(text).startswith("d.csv, line 9: 1 field")


def test_quoted_fields():
    frame = parse('a,b\n"x,y","line\nline ""quoted"""\n"","\r\n"\n')
    assert frame.rows() == [("x,y", 'line\nline "quoted"'), ("", "\r\n")]


def test_hundreds_of_quotes():
    cell = '"' * 700 + ","
    assert parse(written([["a", "b"], [cell, "1"], ["x", cell]])).rows() == [(cell, "1"), ("x", cell)]


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 1 << 24])
def test_unterminated_quotes(chunk):
    with mock.patch.object(csv_rows, "_CHUNK", chunk):
        assert fault('a,b\n1,2\n3,"4\n5,6\n') == "d.csv opens a quote in the row at line 3 and never closes it."
        assert fault('a,"b\n1,2\n') == "d.csv opens a quote in its header and never closes it."


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 1 << 24])
@pytest.mark.parametrize("row", ['5" x,1', 'x"",1', '"x"y,1', '"x" ,1', ' "x",1', '1,"x"y', 'a"b",1'])
def test_quotes_in_the_middle_of_a_value_are_not_guessed_at(row, chunk):
    with mock.patch.object(csv_rows, "_CHUNK", chunk):
        assert fault(f"a,b\n1,2\n{row}\n{row}\n").startswith("d.csv, line 3: a double quote stands in the middle")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(end, last):
    text = end.join(["a,b", "1,2", '3,"x\ny"', "5,6"]) + (end if last else "")
    assert parse(text).rows() == [("1", "2"), ("3", "x\ny"), ("5", "6")]


def test_a_lone_return_is_a_line_end_but_not_inside_quotes():
    assert parse('a\r1\n"2\r3"\r\n4').rows() == [("1",), ("2\r3",), ("4",)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_are_no_rows(end):
    text = end.join(["", "", "a,b", "", "1,2", "", "", '"', '",4', "", ""])
    assert parse(text).rows() == [("1", "2"), (end, "4")]


def test_one_column():
    assert parse("a\n1\n\n2\n").rows() == [("1",), ("2",)]
    assert parse("a\n1").rows() == [("1",)]


@pytest.mark.parametrize(
    "cell", ["02139", "1E10", "NO", "NA", "null", "NULL", "NaN", "true", "1.0", " x ", "-", "#1", "'"]
)
def test_cells_stay_as_they_are(cell):
    assert parse(f"a,b\n{cell},1\n").rows() == [(cell, "1")]
    assert parse(f"a,b\n {cell} ,1\n").rows() == [(f" {cell} ", "1")]


@pytest.mark.parametrize("raw", ["", "\n", " ", "\n\n \t\r\n", "\ufeff", "\r\r"])
def test_nothing_in_it(raw):
    assert fault(raw) == "d.csv is empty: expected a CSV file with a header and at least one row."


@pytest.mark.parametrize("raw", ["a,b", "a,b\n", "a,b\r\n\r\n\n", "\n\na,b"])
def test_header_only(raw):
    assert fault(raw) == "d.csv is empty: it has a header but no rows."


def test_the_same_column_twice():
    text = fault("id,zip,id\n1,2,3\n")
    assert text == "d.csv has the column 'id' more than once (columns 1 and 3)."
    with pytest.raises(FileError) as caught:
        parse("zq-person-17,1,zq-person-17\n2,2,3\n")
    assert "zq-person-17" in caught.value.internal
    assert "zq" not in caught.value.shareable


def test_columns_without_a_name():
    assert parse("id,,b\n1,2,3\n").columns == ["id", "", "b"]
    assert fault("id,, \n1,2,3\n,,\n".replace(" ", "")) == (
        "d.csv has more than one column without a name (columns 2 and 3)."
    )


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"PK\x03\x04\x14\x00", "a ZIP or Excel file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel file"),
        (b"%PDF-1.7\n", "a PDF file"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"ARROW1\x00\x00", "an Arrow file"),
        (b"a,b\n1,\x00\n", "binary data"),
        (b"\x7fELF\x02\x01\x01\x00", "binary data"),
        (b"\x1f\x8b\x08\x00", "a damaged gzip file"),
        (gzip.compress(TABLE.encode(), mtime=0)[:-9], "a damaged gzip file"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + b"garbage" * 9, "a damaged gzip file"),
        (gzip.compress(b"PK\x03\x04", mtime=0), "a ZIP or Excel file"),
        (b"PAR1", "a damaged Parquet file"),
        (b"PAR1" + b"x" * 40 + b"PAR1", "a damaged Parquet file"),
        (b'{"a": ' + b'"x", ' * 100_000 + b"}", "its first line is not a header"),
        (b"x" * 200_000, "its first line is not a header"),
    ],
)
def test_files_that_are_something_else(raw, word):
    assert word in fault(raw)


def test_a_quote_in_the_header_does_not_take_forever():
    raw = b'a",b\n' + b"1,2\n" * 300_000  # counting from the start at each line would take minutes
    assert "opens a quote in its header" in fault(raw)


CELLS = st.text(alphabet='ab1,;|\t"\n\r éé', max_size=5)


def written(rows, separator=",", end="\n", quoting=csv.QUOTE_MINIMAL) -> str:
    """Rows as Python's csv module writes them; [] is a blank line."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting)
    for row in rows:
        writer.writerow(row) if row else stream.write(end)
    return stream.getvalue()


@settings(deadline=None, max_examples=150)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.one_of(st.just([]), st.lists(CELLS, min_size=width, max_size=width)), min_size=1, max_size=8
        ).filter(lambda rows: any(rows))
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from([1, 2, 3, 7, 1 << 24]),
)
def test_reads_what_the_csv_module_writes(rows, separator, end, quoting, chunk):
    width = len(next(row for row in rows if row))
    if quoting != csv.QUOTE_ALL:  # Python 3.11 quotes only the line ends that it writes itself
        rows = [[cell.replace("\r", "").replace("\n", "") for cell in row] for row in rows]
    header = [f"c{k}" for k in range(width)]
    text = written([header, *rows], separator if width > 1 else ",", end, quoting)
    with mock.patch.object(csv_rows, "_CHUNK", chunk):
        frame = parse(text)
    assert frame.columns == header
    assert [tuple(c or "" for c in row) for row in frame.rows()] == [tuple(row) for row in rows if row]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.lists(st.text(alphabet='a,"\n ', max_size=4), min_size=0, max_size=4), min_size=1, max_size=9),
    st.sampled_from([1, 2, 3, 5, 8, 1 << 24]),
)
@example([["a", "b"], ["\n\n", "1"], [], ["x"]], 4)
def test_the_first_ragged_row_is_named_by_its_line(rows, chunk):
    text = written([["h", "i"], *rows])
    reader, starts, before = csv.reader(io.StringIO(text, newline="")), [], 0
    for row in reader:
        starts.append((before + 1, row))
        before = reader.line_num
    ragged = [(line, len(row)) for line, row in starts if row and len(row) != 2]
    with mock.patch.object(csv_rows, "_CHUNK", chunk):
        if ragged:
            line, fields = ragged[0]
            assert f"d.csv, line {line}: {fields} field" in fault(text)
        elif any(row for _, row in starts[1:]):
            assert parse(text).height == sum(1 for _, row in starts[1:] if row)
        else:
            assert "it has a header but no rows" in fault(text)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet='ab,"\n\r ', max_size=24), st.sampled_from([1, 2, 3, 1 << 24]))
def test_never_reads_other_than_the_csv_module(body, chunk):
    text = "h,i\n" + body
    with mock.patch.object(csv_rows, "_CHUNK", chunk):
        try:
            found = [tuple(c or "" for c in row) for row in parse(text).rows()]
        except FileError:
            found = None
    rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
    if found is not None:
        assert found == rows
    elif '"' not in text:
        assert not rows or any(len(row) != 2 for row in rows)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.tuples(
            st.sampled_from(
                [b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"PAR1", b"a,b\n"]
            ),
            st.binary(max_size=60),
        ).map(b"".join),
        st.text(alphabet='a,;\t|"\n\r\ufeff', max_size=30).map(str.encode),
    ),
    st.sampled_from([None, None, None, "latin-1", "utf-16", "utf-7", "shift_jis"]),
)
def test_any_bytes_give_a_frame_or_a_sentence(raw, encoding):
    with contextlib.suppress(FileError):
        assert parse(raw, encoding=encoding).height > 0
