"""Numbers in what people read: thousands apart everywhere, whatever prints them."""

import re

import pytest

from showthrough.numerals import THIN
from tests.cli.running import run, table

LONG = re.compile(r"(?<![\d.,\w-])\d{4,}(?![\d\w-])")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, shift in (("A", 0), ("B", 1)):
        groups = [
            ([f"p{(2 * k + shift) % 2400}q", f"p{(2 * k + 1 + shift) % 2400}q"], [f"v{k % 5}", f"v{(k + 1) % 5}"])
            for k in range(1200)
        ]
        table(groups).write_csv(f"{name}.csv")
    return tmp_path


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_thousands_are_apart_everywhere(home, encoding):
    roles = ["--id", "pseudonym", "--sensitive", "disease", "--group", "group", "--max-posterior", "0.5"]
    done = run("audit", "A.csv", "B.csv", *roles, "--markdown", "a.md", encoding=encoding)
    assert done.code in (1, 4), done.err
    apart = f"2{THIN if encoding == 'utf-8' else ' '}400"
    assert apart in done.out
    assert "\\u202f" not in done.out
    for text in (done.out, (home / "a.md").read_text()):
        assert not [line for line in text.splitlines() if LONG.search(line)]
