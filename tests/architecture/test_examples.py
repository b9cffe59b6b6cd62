"""Every public name has an example, and every example runs."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import showthrough as st
from tests.architecture.source import ROOT, modules

PAGE = ROOT / "docs" / "examples.md"
FLAGS = doctest.NORMALIZE_WHITESPACE
WITH_EXAMPLES = [m.name for m in modules() if ">>> " in m.path.read_text(encoding="utf-8")]


def page() -> doctest.DocTest:
    """The page as one long example."""
    text = PAGE.read_text(encoding="utf-8").replace("```", "")
    return doctest.DocTestParser().get_doctest(text, {}, "examples.md", str(PAGE), 0)


def used(example: doctest.Example) -> Iterator[str]:
    """Public names that an example uses, as ``st.name``."""
    for node in ast.walk(ast.parse(example.source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st":
            yield node.attr


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(page(), out=told.append).failed
    assert not failed, "".join(told)


@pytest.mark.parametrize("name", st.__all__)
def test_every_public_name_has_an_example(name: str):
    shown = {one for example in page().examples for one in used(example)}
    assert name in shown or ">>> " in (getattr(st, name).__doc__ or ""), f"add one to {PAGE.name}"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name: str):
    told: list[str] = []
    module = import_module(f"showthrough.{name}".removesuffix("."))
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)
    assert runner.tries > 0
