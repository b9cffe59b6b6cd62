"""What reading and writing takes of memory, measured in a process of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

MB = 1_000_000
PEAK = """
import resource, sys
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
"""


def child(code: str, folder, *, cpu: int | None = None) -> subprocess.CompletedProcess:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))\n" if cpu else ""
    return subprocess.run(
        [sys.executable, "-c", limit + PEAK + textwrap.dedent(code)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "POLARS_MAX_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def grown(code: str, folder, **limits) -> int:
    """By how many bytes the peak grows in the code after the line ``before = peak()``."""
    done = child(textwrap.dedent(code) + "print(peak() - before)\n", folder, **limits)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


BLANK = ('b"\\n" * 4_000_000', 'b"\\r\\n" * 2_000_000', 'b"1,2\\n\\n" * 800_000', 'b"\\r" * 4_000_000')


@pytest.mark.parametrize("lines", BLANK)
def test_blank_lines_take_a_few_times_their_size(tmp_path, lines):
    code = f"""
    from showthrough.table.files import parse_table
    parse_table(b"a,b\\n1,2\\n", "x.csv")
    raw = b"a,b\\n" + {lines} + b"1,2\\n"
    before = peak()
    parse_table(raw, "x.csv")
    """
    assert grown(code, tmp_path) < 200 * MB


def test_gzip_is_unpacked_up_to_a_limit(tmp_path):
    code = """
    import gzip
    import showthrough as st
    from showthrough.errors import LimitError
    from showthrough.table.files import read_table
    with gzip.open("bomb.csv.gz", "wb", compresslevel=1) as stream:
        stream.write(b"a,b\\n")
        for _ in range(400):
            stream.write(b"1,2\\n" * 1_000_000)
    before = peak()
    try:
        read_table("bomb.csv.gz")
        sys.exit("it was read")
    except LimitError as problem:
        assert "unpacked=MB" in str(problem), problem
    """
    # 1.6 GB unpacked
    assert grown(code, tmp_path) < 1300 * MB


def test_many_members_of_gzip_are_not_copied_again_and_again(tmp_path):
    """300 000 members of twenty bytes: what is left over, copied for each of them, would be a terabyte."""
    code = """
    import gzip
    from showthrough.table.files import parse_table
    raw = gzip.compress(b"a,b\\n") + gzip.compress(b"") * 300_000 + gzip.compress(b"1,2\\n") + b"\\0" * 1_000_000
    before = peak()
    assert parse_table(raw, "x.csv").rows() == [("1", "2")]
    """
    assert grown(code, tmp_path, cpu=60) < 100 * MB


def test_a_device_without_an_end_is_refused(tmp_path):
    code = """
    import showthrough as st
    from showthrough.errors import LimitError
    from showthrough.table.files import read_bytes
    before = peak()
    with st.unpacked_up_to(5):
        try:
            read_bytes("/dev/zero")
            sys.exit("it was read")
        except LimitError as problem:
            assert "gives more than 5 MB" in str(problem), problem
        assert read_bytes("/dev/null") == b""
    """
    assert grown(code, tmp_path, cpu=60) < 100 * MB


def test_a_key_of_very_many_parts_is_refused(tmp_path):
    code = """
    from showthrough.errors import FileError
    from showthrough.table.toml_text import parse
    before = peak()
    for text in ("a" + ".a" * 20_000 + " = 1", "[a" + ' . "a"' * 20_000 + "]"):
        try:
            parse(text, "x.toml")
            sys.exit("it was read")
        except FileError as problem:
            assert "more than a hundred parts" in str(problem), problem
    assert parse("a.b.c = 'd.e.f'" + chr(10) + "x = '" + "a" * 1_000_000 + "'", "x.toml")["a"] == {"b": {"c": "d.e.f"}}
    """
    assert grown(code, tmp_path, cpu=60) < 100 * MB


def test_the_limit_by_ratio_is_the_smaller_one_and_can_be_raised(tmp_path):
    code = """
    import gzip, os
    import showthrough as st
    from showthrough.errors import LimitError
    from showthrough.table.files import read_table
    with gzip.open("t.csv.gz", "wb") as stream:
        stream.write(b"a,b\\n" + b"1,2\\n" * 20_000_000)
    assert os.path.getsize("t.csv.gz") < 400_000
    before = peak()
    try:
        read_table("t.csv.gz")
        sys.exit("it was read")
    except LimitError:
        pass
    print("refused at", peak() - before)
    assert peak() - before < 200_000_000
    with st.unpacked_up_to(100):
        assert read_table("t.csv.gz").height == 20_000_000
    """
    done = child(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_parquet_that_declares_more_than_memory_is_refused(tmp_path):
    code = """
    import polars as pl
    from showthrough.errors import LimitError
    from showthrough.table.files import read_table
    pl.select(pl.repeat(1, 30_000_000, dtype=pl.Int64).alias("a")).write_parquet("p.parquet")
    before = peak()
    try:
        read_table("p.parquet")
        sys.exit("it was read")
    except LimitError:
        pass
    """
    assert grown(code, tmp_path) < 100 * MB


def test_many_columns_are_not_compared_with_each_other(tmp_path):
    """A hundred thousand columns are five billion pairs, which no time limit of a minute allows."""
    code = """
    from showthrough.release.roles import check_parts
    from showthrough.table import csv_text
    names = [f"c{k}" for k in range(200_000)]
    before = peak()
    csv_text.check(",".join(names).encode() + b"\\n" + b",".join([b"1"] * 200_000) + b"\\n", "x.csv")
    check_parts([("quasi", name) for name in names])
    import polars as pl
    from showthrough.errors import InputError
    from showthrough.table.frames import need_columns, need_header
    frame = pl.DataFrame({name: ["x"] for name in names[:20_000]})
    need_header(frame, "x.csv")
    try:
        need_columns(frame, ["c0", "c7x"], "x.csv")
    except InputError as problem:
        assert len(str(problem)) < 2000 and str(problem).endswith(" and 19900 more."), problem
    """
    assert grown(code, tmp_path, cpu=60) < 500 * MB


def test_a_people_file_is_written_in_parts(tmp_path):
    code = """
    from pathlib import Path
    import polars as pl
    from showthrough.cli.output import Targets, deliver_audit
    from showthrough.requests.audit import AuditRequest, run_audit
    n = 2000
    ids, values = [f"person-{k}" for k in range(n)], [f"value {k}" for k in range(n)]
    pl.DataFrame({"id": ids, "g": [1] * n, "s": values}).write_csv("big.csv")
    request = {"release": [{"file": "big.csv"}], "id": "id", "sensitive": "s", "group": "g", "people": True}
    before = peak()
    deliver_audit(run_audit(AuditRequest.from_dict(request)), Targets(people=Path("p.csv")), quiet=True)
    assert sum(1 for _ in open("p.csv")) == n * n + 1
    """
    assert grown(code, tmp_path) < 300 * MB
