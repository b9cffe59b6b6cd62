"""The walks in docs/architecture.md name files and functions that exist."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.source import PACKAGE, ROOT, modules

STEP = re.compile(r" {4,}(?P<file>(?:\w+/)+\w+\.py) +(?P<names>[\w.]+(?:, [\w.]+)*)")


def steps() -> list[tuple[str, str]]:
    """File and function of every step."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = [STEP.match(line) for line in text[text.index("## The walk of an audit") :].splitlines()]
    return [(one["file"], name) for one in found if one for name in one["names"].split(", ")]


def test_there_are_walks():
    assert len(steps()) > 60


@pytest.mark.parametrize(("file", "name"), sorted(set(steps())))
def test_every_step_of_a_walk_exists(file, name):
    module = next(m for m in modules() if m.path == PACKAGE / file)
    scope: ast.AST = module.tree
    for part in name.split("."):
        inside = ast.walk(scope)
        scope = next(n for n in inside if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == part)
