"""Processes that tests start: none may be waited for without an end, and none may be forked where threads may be."""

import ast

import pytest

from tests.architecture.source import ROOT

WAITS = {"run", "call", "check_call", "check_output", "communicate"}
FORKING = {"tests/faults/worker.py", "tests/fuzzing/running.py"}  # processes of their own, which do no work before
FILES = sorted((ROOT / "tests").rglob("*.py"))


def found(text: str) -> list[str]:
    """What a test file does that may hang, by line."""
    wrong = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        called, of = node.func.attr, ast.unparse(node.func.value)
        named = {keyword.arg for keyword in node.keywords}
        if (of == "subprocess" or called == "communicate") and called in WAITS and "timeout" not in named:
            wrong.append(f"line {node.lineno}: {of}.{called} without timeout=")
        if of == "os" and called in ("fork", "forkpty"):
            wrong.append(f"line {node.lineno}: os.{called}")
        if of == "subprocess" and "preexec_fn" in named:
            wrong.append(f"line {node.lineno}: preexec_fn runs in a fork")
        if called == "get_context" and [a.value for a in node.args if isinstance(a, ast.Constant)] != ["spawn"]:
            wrong.append(f"line {node.lineno}: processes that are not spawned")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_nothing_that_may_hang(path):
    forks = str(path.relative_to(ROOT)) in FORKING
    assert [what for what in found(path.read_text()) if not (forks and "os.fork" in what)] == []


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.run(['x'])", "subprocess.check_output('x')", "process.communicate()", "os.fork()",
        "subprocess.Popen('x', preexec_fn=f)", "multiprocessing.get_context('fork')", "multiprocessing.get_context()",
    ],
)  # fmt: skip
def test_what_may_hang_is_found(line):
    assert found(line)


def test_what_cannot_hang_is_fine():
    assert found("subprocess.run(['x'], timeout=3)\nmultiprocessing.get_context('spawn')\nrun('x')") == []
