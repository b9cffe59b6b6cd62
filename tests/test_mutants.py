"""The faults that the mutation run makes are the ones it promises, and nothing else in the file changes."""

import ast
import json
import sys

from benchmarks.mutants import mutants
from benchmarks.mutation import affordable, chosen, fingerprint
from benchmarks.reached import Reach, Watcher, function_around

from showthrough.policy.policy import Policy
from tests.architecture.source import ROOT

SOURCE = '''"""Text with 3 numbers."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def f(a: int, é: str = "1 < 2") -> bool:
    """Say 1 + 1."""
    a += 1
    é.strip(); print(f"{a + 1}")
    if not (a < 3 and é):
        raise ValueError("2 + 2")
    return a - 1 == (a & ~a)
'''


def changed():
    """Kind, and the line before and after."""
    old = SOURCE.splitlines()
    for mutant in mutants("f.py", SOURCE):
        (line,) = [at for at, (a, b) in enumerate(zip(old, mutant.source.splitlines(), strict=True)) if a != b]
        assert line == mutant.line - 1
        yield mutant.kind, mutant.source.splitlines()[line].strip()


def test_every_change_is_made_once():
    assert sorted(changed()) == sorted(
        [
            ("constant", "a += 2"),
            ("arithmetic", "a -= 1"),
            ("statement", "pass"),
            ("statement", 'pass; print(f"{a + 1}")'),
            ("statement", "é.strip(); pass"),
            ("logic", "if (a < 3 and é):"),
            ("logic", "if not (a < 3 or é):"),
            ("comparison", "if not (a <= 3 and é):"),
            ("constant", "if not (a < 4 and é):"),
            ("statement", "pass"),
            ("comparison", "return a - 1 != a & ~a"),
            ("arithmetic", "return a + 1 == (a & ~a)"),
            ("constant", "return a - 2 == (a & ~a)"),
            ("masks", "return a - 1 == (a | ~a)"),
            ("logic", "return a - 1 == (a & (a))"),
        ]
    )


def test_every_change_can_be_read():
    """Of a file with most kinds of statements; a change that cannot would be killed by whatever loads it."""
    path = "src/showthrough/republishing/located_view.py"
    every = mutants(path, (ROOT / path).read_text(encoding="utf-8"))
    assert every
    for mutant in every:
        ast.parse(mutant.source)


def test_a_survivor_is_told_as_a_patch():
    first = mutants("f.py", SOURCE)[0]
    assert first.diff().startswith("--- f.py\n+++ f.py\n@@")


FUNCTIONS = """import functools

LIMIT = 3


@functools.cache
def outer(a=1):
    b = a

    def inner():
        return b + 1

    return inner
"""


def test_a_line_belongs_to_the_innermost_function_around_it():
    assert [function_around(FUNCTIONS, line) for line in (3, 6, 7, 8, 10, 11, 13)] == [None, None, None, 6, 6, 10, 6]


def test_a_watcher_sees_what_is_called():
    watcher = Watcher()
    before = sys.gettrace()
    sys.settrace(watcher.look)
    try:
        Policy(max_posterior=0.5)
    finally:
        sys.settrace(before)
    path = "src/showthrough/policy/policy.py"
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    assert f"{path}:{lines.index('    def __post_init__(self) -> None:') + 1}" in watcher.reached()
    files = {place.rpartition(":")[0] for place in watcher.reached()}
    assert path in files
    assert all(file.startswith("src/showthrough/") for file in files)  # nothing of the tests, nor of libraries
    assert not any(file.startswith("src/showthrough/inference/") for file in files)  # a policy infers nothing


def test_tests_of_a_line_are_those_that_reach_it(tmp_path):
    path = "src/showthrough/policy/f.py"
    seen = {
        "tests/cli/test_a.py::test_quick": {"seconds": 0.1, "reached": [f"{path}:6", f"{path}:10"]},
        "tests/policy/test_a.py::test_slow": {"seconds": 5, "reached": [f"{path}:6", f"{path}:10"]},
        "tests/policy/test_a.py::test_quick": {"seconds": 1, "reached": [f"{path}:6"]},
        "tests/policy/test_b.py::test_else": {"seconds": 1, "reached": ["src/showthrough/policy/g.py:6"]},
    }
    (tmp_path / "reached.json").write_text(json.dumps(seen), encoding="utf-8")
    reach = Reach([tmp_path / "reached.json"])
    quick, slow, elsewhere = (f"tests/{name}" for name in (
        "policy/test_a.py::test_quick", "policy/test_a.py::test_slow", "cli/test_a.py::test_quick"
    ))  # fmt: skip
    assert reach.tests(path, FUNCTIONS, 11) == [slow, elsewhere]
    assert reach.tests(path, FUNCTIONS, 8) == [quick, slow, elsewhere]
    assert reach.tests(path, FUNCTIONS, 3) == [quick, slow, elsewhere]  # on import: whatever reaches the file
    assert affordable([quick, slow, elsewhere], reach.seconds, 2) == [quick, elsewhere]
    assert affordable([slow], reach.seconds, 2) == [slow]
    assert reach.tests("src/showthrough/policy/h.py", FUNCTIONS, 8) == affordable([], {}, 2) == []


def test_a_fingerprint_is_of_the_change_and_not_of_its_line():
    every = mutants("f.py", SOURCE + SOURCE.replace("def f", "def g"))
    assert len({fingerprint(mutant) for mutant in every}) == len(every)
    later = mutants("f.py", "\n" + SOURCE)
    assert [fingerprint(mutant) for mutant in later] == [fingerprint(mutant) for mutant in mutants("f.py", SOURCE)]


def test_a_file_has_the_same_mutants_alone_as_among_others():
    room = chosen(["policy", "republishing/past.py"], each=3, sample=0, seed=1)
    alone = chosen(["republishing/past.py"], each=3, sample=0, seed=1)
    assert len(alone) == 3
    assert len(room) > 3
    assert room[-3:] == alone
    assert chosen(["republishing/past.py"], each=3, sample=0, seed=2) != alone


def test_one_line_can_be_asked_for():
    every = chosen(["republishing/past.py"], each=0, sample=0, seed=0)
    line = every[0].line
    assert chosen([f"republishing/past.py:{line}"], each=0, sample=0, seed=0) == [m for m in every if m.line == line]
