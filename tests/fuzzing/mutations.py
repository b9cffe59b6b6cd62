"""Ways to spoil files and options: bytes, cells, names, types, entries of TOML and JSON, words of a command line."""

from __future__ import annotations

import datetime as dt
import gzip
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import polars as pl

from tests.fuzzing.marks import MARKED, number, word

CELLS = [
    "", " ", "*", "**", "?", "NA", "nan", "inf", "-0", "1e999", "1e-5", "01", "0x1f", "99999999999999999999", "1.5",
    "-1", "[1, 2", "[2, 1]", "]1, 2[", "{", "}", "{}", "{a, b}", "<", "<30", ">=", "1-2", "2-1", "2021-02-30",
    "2021-13",
    "true", "=1+1", "+x", "@x",
    "-x", "'", '"', "\x1b[2J", "a\nb", "\r", "\t", "\x00", "\u202e", "\ufeff", "é", "\ud7ff",
    "^a$", "a|b", "~", "…", "None", "null", "\ufdd0x\ufdd2", "{zip}", "%s", "[bold]", "a, b",
]  # fmt: skip
NAMES = ["", " ", "*", "^z.*$", "id\n", "\x1b[31mx", "pid", "zip", "disease", "count", "group", "in_g0", "[red]"]
WORDS = [
    "", "-1", "0", "1", "2", "3.5", "nan", "inf", "1e9", "x", "*", "a=b", "=", "1,2", "1,2,3", "pid", "zip", "zip,age",
    "disease", "count", "none.csv", ".", "-", "R0", "raw.csv", "age=1:0", "g0=raw.csv", "\x1b[2J", "a\nb", "utf-16",
    "latin-1", "all", "no", "required", "equal", "hierarchy", "bucketized", "counted", "generalized", "999999",
    "policy.toml", "json", "junit", "sarif", "markdown", "0.01", "ledger.db", "key.txt", "foo://x",
]  # fmt: skip
FLAGS = [
    "--k", "--id", "--sensitive", "--group", "--quasi", "--count", "--kind", "--values", "--encoding", "--hierarchy",
    "--tree", "--table", "--population", "--distinct-l", "--frequency-l", "--entropy-l", "--recursive", "--t",
    "--alpha", "--beta", "--delta-disclosure", "--dissimilarity", "--metric", "--m-unique", "--k-map", "--presence",
    "--negations", "--risk", "--threshold", "--audience", "--json", "--people", "--register", "--present",
    "--ck-safety", "--skyline", "--sampling-fraction", "--find-quasi", "--average-risk", "--uniqueness",
    "--population-uniqueness",
    "--value-map", "--missing", "--spread", "--locate", "--changed", "--contradictions", "--bounds", "--method",
    "--suppress", "--coding", "--cells", "--strategy", "--max-posterior", "--max-gain", "--certain", "--integral",
    "--repair", "--proximity", "--impossible", "--prefer", "--readers", "--plan", "--name", "--format", "--seed",
    "--others", "--suppressed", "--queries", "--whole-values", "--policy", "--over-posterior", "--min-anonymity",
    "--junit", "--sarif", "--markdown", "--preset", "--history", "--ledger", "--key-file", "--wait", "--exception",
    "--until", "--why",
]  # fmt: skip
BARE = [
    "--dry-run", "--quiet", "--overwrite", "--hold-back", "--best-effort", "--accept-exposed", "--accept-violations",
    "--floor", "--merge-overlaps", "--enhanced", "--link", "--raw", "--unknown",
]  # fmt: skip
_NANOSECONDS = pl.Datetime("ns")
OPEN = (
    "file", "name", "id", "group", "sensitive", "quasi", "count", "kind", "role", "encoding", "values", "register",
    "reason", "owner", "release",
)  # fmt: skip
"""Entries that name files, columns and releases, or say why a policy has an exception, which may be shown."""


def files(rng: random.Random, home: Path, argv: list[str]) -> None:
    """Spoil one of the files."""
    every = sorted(path for path in home.rglob("*") if path.is_file())
    if not every:
        return
    path = rng.choice(every)
    ways = {".toml": (_lines, _entry, _bytes), ".json": (_entry, _bytes, _lines)}.get(
        path.suffix, (_rows, _rows, _rows, _cell, _cell, _name, _bytes, _parquet)
    )
    if path.suffix == ".parquet":
        ways = (_bytes, _parquet)
    rng.choice(ways)(rng, path, argv)


def options(rng: random.Random, home: Path, argv: list[str]) -> None:
    """Spoil the command line; --json - and the like may print what is shareable, and nothing else."""
    way = rng.randrange(5)
    if way == 0 and len(argv) > 2:
        del argv[rng.randrange(1, len(argv))]
    elif way == 1:
        argv += [rng.choice(FLAGS), rng.choice(WORDS)]
    elif way == 2:
        argv.append(rng.choice(BARE))
    elif way == 3 and len(argv) > 2:
        argv[rng.randrange(1, len(argv))] = rng.choice(WORDS)
    else:
        argv.insert(rng.randrange(1, len(argv) + 1), rng.choice([*FLAGS, *WORDS]))


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def _save(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", errors="replace"))


def _rows(rng: random.Random, path: Path, argv: list[str]) -> None:
    """Whole lines: no header, a line twice, out of order, cut, blank, none left."""
    lines = _text(path).split("\n")
    at = rng.randrange(len(lines))
    way = rng.randrange(7)
    if way == 0:
        lines = lines[1:]
    elif way == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif way == 2:
        del lines[at]
    elif way == 3:
        lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
    elif way == 4:
        lines.insert(at, rng.choice(["", " ", ",,,", "#x", '"']))
    elif way == 5:
        lines[at] += rng.choice([",x", '"', ";", "\x00"])
    else:
        lines = lines[: rng.randrange(3)]
    _save(path, "\n".join(lines))


def _cell(rng: random.Random, path: Path, argv: list[str]) -> None:
    """One cell, or a whole column."""
    lines = [line.split(",") for line in _text(path).split("\n")]
    filled = [line for line in lines if line != [""]][1:]
    if not filled:
        return
    line = rng.choice(filled)
    at = rng.randrange(len(line))
    cell = rng.choice([*CELLS, word("cell", 1), number(rng), rng.choice(rng.choice(filled))])
    if "count" in lines[0] and cell.isdigit():
        cell = "7"  # counts may be shown, whatever they are
    chosen = filled if rng.random() < 0.25 else [line]
    quoted = '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\n\r;') else cell
    for one in chosen:
        if at < len(one):
            one[at] = quoted
    _save(path, "\n".join(",".join(one) for one in lines))


def _name(rng: random.Random, path: Path, argv: list[str]) -> None:
    """The name of a column, and now and then the option that asks for it."""
    text = _text(path)
    head, line, rest = text.partition("\n")
    names = head.split(",")
    old, new = rng.choice(names), rng.choice(NAMES)
    quoted = '"' + new + '"' if set(new) & set(",\n") else new
    names[names.index(old)] = quoted
    _save(path, ",".join(names) + line + rest)
    if rng.random() < 0.5:
        argv[:] = [new if word == old else word for word in argv]


def _bytes(rng: random.Random, path: Path, argv: list[str]) -> None:
    """The file as bytes: cut, in another encoding, zipped, changed, empty, something else."""
    raw = path.read_bytes()
    cut = rng.randrange(len(raw) + 1)
    ways: list[Callable[[], bytes]] = [
        lambda: raw[:cut], lambda: b"", lambda: raw[:cut] + bytes([rng.randrange(256)]) + raw[cut:],
        lambda: raw.decode("utf-8", "replace").encode("utf-16"), lambda: gzip.compress(raw, mtime=0),
        lambda: gzip.compress(raw, mtime=0)[:-5], lambda: b"\xef\xbb\xbf" + raw, lambda: raw.replace(b"\n", b"\r\n"),
        lambda: raw.replace(b"\n", b"\r"), lambda: b"PK\x03\x04" + raw, lambda: raw + b"\n" * 300,
        lambda: b"\n" * 50 + raw,
        lambda: raw.replace(b",", b";"), lambda: b"PAR1" + raw, lambda: raw * 2, lambda: raw[cut:],
    ]  # fmt: skip
    path.write_bytes(rng.choice(ways)())


def _parquet(rng: random.Random, path: Path, argv: list[str]) -> None:
    """The same table as Parquet, with a column of a type that CSV does not have."""
    try:
        frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except Exception:
        return
    if not frame.width or not frame.height:
        return
    n, name = frame.height, rng.choice([column for column in frame.columns if column != "count"] or frame.columns)
    days, whole = list(range(n)), pl.Int64
    columns = [
        pl.Series(days, dtype=pl.Int32).cast(pl.Date),
        pl.Series([2**31 - 1 - d for d in days], dtype=pl.Int32).cast(pl.Date),
        pl.Series([dt.timedelta(days=d) for d in days]),
        pl.Series([2**62 + d for d in days], dtype=whole).cast(pl.Datetime("us")),
        pl.Series([2**62] * n, dtype=whole).cast(pl.Duration("ns")), pl.Series([dt.time(1, 2, 3)] * n),
        pl.Series([[word("val", d)] for d in days]), pl.Series([{"a": word("val", d)} for d in days]),
        pl.Series([word("val", d).encode() for d in days]), pl.Series([Decimal("1.50")] * n), pl.Series([None] * n),
        pl.Series([d % 2 == 0 for d in days]), pl.Series([2**63 + d for d in days], dtype=pl.UInt64),
        pl.Series([float("nan"), float("inf"), *map(float, days)][:n]),
        pl.Series([word("val", d % 2) for d in days]).cast(pl.Categorical),
        pl.Series([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * n), pl.Series([int(number(rng)) for _ in days]),
        pl.Series([None if d % 2 else word("id", d) for d in days], dtype=pl.String),
        pl.Series([0.5 + d for d in days]), pl.Series([-(2**63) + 1 + d for d in days], dtype=whole).cast(_NANOSECONDS),
        pl.Series([[{"a": word("val", d)}] for d in days]), pl.Series([[d, 1] for d in days], dtype=pl.Array(whole, 2)),
        pl.Series([2**100 + d for d in days], dtype=pl.Int128), pl.Series([None] * n, dtype=pl.Duration),
        pl.Series([word("val", d % 2) for d in days]).cast(pl.Enum([word("val", d) for d in range(3)])),
    ]  # fmt: skip
    frame = frame.with_columns(rng.choice(columns).alias(name))
    target = path if path.suffix == ".parquet" else path.with_suffix(".parquet")
    try:
        frame.write_parquet(target)
    except pl.exceptions.PolarsError:
        return
    argv[:] = [target.name if one == path.name else one for one in argv]


def _lines(rng: random.Random, path: Path, argv: list[str]) -> None:
    """Lines of a text file that are no rows."""
    _rows(rng, path, argv)


def _entry(rng: random.Random, path: Path, argv: list[str]) -> None:
    """One entry of TOML or JSON gets another value or another key."""
    text = _text(path)
    values = [
        "1", "-1", "true", '"x"', '""', "[]", "{}", "[1, [2]]", '{a = "x"}', '{"a": 1}', "1.5", "2020-01-01", "nan",
        f'"{word("val", 1)}"', f'["{word("id", 1)}"]', f'"{word("id", 2)}"', '"../x"', '"\\u001b[2J"', "null",
        "[" * 200, '"*"', "'''a\nb'''", "99999999999999999999999",
    ]  # fmt: skip
    mark = "=" if path.suffix == ".toml" else ":"
    at = [k for k, c in enumerate(text) if c == mark]
    if not at:
        return
    k = rng.choice(at)
    end = min((e for e in (text.find("\n", k), text.find(",", k)) if e >= 0), default=len(text))
    key = text[max(text.rfind("\n", 0, k), text.rfind("{", 0, k)) + 1 : k].strip().strip('"')
    if key in OPEN:  # names of files, columns and releases may be shown
        values = [value for value in values if not MARKED.search(value)]
    if rng.random() < 0.8:
        text = f"{text[: k + 1]} {rng.choice(values)}{text[end:]}"
    else:
        start = max(text.rfind("\n", 0, k), text.rfind("{", 0, k)) + 1
        new = rng.choice(["x", word("val", 3), '""', "a.b", "file", "sensitve", "version"])
        text = f"{text[:start]}{new if mark == '=' else chr(34) + new + chr(34)} {text[k:]}"
    _save(path, text)
