"""The faults that the mutation run makes are the ones it promises, and nothing else in the file changes."""

from benchmarks.mutants import mutants
from benchmarks.mutation import chosen
from benchmarks.tests_of_modules import TESTS, fitting_tests

from tests.architecture.source import PACKAGE, ROOT

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


def test_a_survivor_is_told_as_a_patch():
    first = mutants("f.py", SOURCE)[0]
    assert first.diff().startswith("--- f.py\n+++ f.py\n@@")


def test_the_table_names_what_exists():
    assert [entry for entry in TESTS if not (PACKAGE / entry).exists()] == []
    assert [path for tests in TESTS.values() for path in tests if not (ROOT / path).exists()] == []


def test_the_longest_entry_of_the_table_counts():
    assert fitting_tests("src/showthrough/republishing/past.py")[0] == "tests/republishing/test_past.py"
    assert fitting_tests("src/showthrough/republishing/__init__.py") == ("tests/republishing",)
    assert fitting_tests("src/showthrough/table/files.py") == ("tests/table",)


def test_a_file_has_the_same_mutants_alone_as_among_others():
    room = chosen(["policy", "republishing/past.py"], each=3, sample=0, seed=1)
    alone = chosen(["republishing/past.py"], each=3, sample=0, seed=1)
    assert len(room) == 6
    assert room[3:] == alone
    assert chosen(["republishing/past.py"], each=3, sample=0, seed=2) != alone


def test_one_line_can_be_asked_for():
    every = chosen(["republishing/past.py"], each=0, sample=0, seed=0)
    line = every[0].line
    assert chosen([f"republishing/past.py:{line}"], each=0, sample=0, seed=0) == [m for m in every if m.line == line]
