"""Small files, small functions, few parameters; what is larger is listed by name and says why."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

from tests.architecture.source import PACKAGE, ROOT, Function, functions

LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 60
PARAMETERS = 7

# A command declares its options as parameters, and the words of their help are most of its lines.
COMMANDS = (
    "cli.audit.audit",
    "cli.after.after",
    "cli.explain.explain",
    "cli.check.check",
    "cli.publish.publish",
    "cli.gate.gate",
)

LONG_FUNCTIONS = {
    **dict.fromkeys(COMMANDS, "a command with its options"),
    "cli.ledger.add": "a command with its options",
    "republishing.anonymize.anonymize": "entry point: most of it is its signature and what the options mean",
}
MANY_PARAMETERS = {
    **dict.fromkeys(COMMANDS, "a command with its options"),
    "cli.dp.account": "a command with its options",
    "cli.ledger.add": "a command with its options",
    "ledger.ledger.Ledger.gate": "entry point: those of audit",
    "cli.making.make": "a command with its options",
    "attacks.least_knowledge.least_knowledge": "entry point: which statements, of whom, and how far to look",
    "release.reading.read_release": "entry point: the roles of every kind",
    "release.release.Release.bucketized": "entry point: the roles of the kind",
    "release.release.Release.generalized": "entry point: the roles of the kind",
    "release.release.Release.counted": "entry point: the roles of the kind",
    "release.release.Release.microaggregated": "entry point: the roles of the kind",
    "release.release.Release.noisy": "entry point: the roles of the kind, and its noise",
    "republishing.anonymize.anonymize": "entry point: all methods and strategies",
    "criteria.risk.risk": "entry point: of what, against whom, and how cells are read",
    "dp.movement.after": "entry point: what is promised, of whom, and how far to look",
    "inference.infer.infer": "entry point: what a reader has, and how an answer is wanted",
    "auditing.audit.audit": "entry point: those of infer",
    "comparing.comparison.compare": "entry point: what is compared, and how",
    "cli.compare.compare": "a command with its options",
    "cli.reproduce.reproduce": "a command with its options",
    "inference.proof_check.holds": "a claim, its steps and all that they may lean on, as plain data",
    "inference.proof_check.contradicts": "steps and all that they may lean on, as plain data",
}


@cache
def named() -> Mapping[str, Function]:
    """Functions by name; of several with one name (overloads, properties with setters) the largest."""
    return {one.name: one for one in sorted(functions(), key=lambda f: (f.lines, len(f.parameters)))}


def test_files_are_small():
    places = [PACKAGE, ROOT / "tests", ROOT / "benchmarks"]
    files = [ROOT / "run.py", *(path for place in places for path in place.rglob("*.py"))]
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {path: n for path, n in lines.items() if n > LINES_OF_A_FILE} == {}


def test_functions_are_short():
    long = {name: f.lines for name, f in named().items() if f.lines > LINES_OF_A_FUNCTION}
    assert {name: n for name, n in long.items() if name not in LONG_FUNCTIONS} == {}


def test_functions_take_few_parameters():
    many = {name: len(f.parameters) for name, f in named().items() if len(f.parameters) > PARAMETERS}
    assert {name: n for name, n in many.items() if name not in MANY_PARAMETERS} == {}


@pytest.mark.parametrize("name", LONG_FUNCTIONS)
def test_long_functions_on_the_list_are_long(name: str):
    assert name in named(), "the function is gone: take it off the list"
    assert named()[name].lines > LINES_OF_A_FUNCTION, "short again: take it off the list"


@pytest.mark.parametrize("name", MANY_PARAMETERS)
def test_functions_on_the_list_take_many_parameters(name: str):
    assert name in named(), "the function is gone: take it off the list"
    assert len(named()[name].parameters) > PARAMETERS, "few again: take it off the list"
