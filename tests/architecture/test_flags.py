"""Options of the command line are named inside cli/ alone: everybody else speaks of parameters."""

import ast
import re
from pathlib import Path

import pytest

import showthrough

HOME = Path(showthrough.__file__).parent
FLAG = re.compile(r"(?<![\w-])--(?:[a-z][a-z-]+|$)")  # or the beginning of one that is put together
VARIABLE = re.compile(r"var\(--(?:[a-z0-9]+\))?")  # of CSS, in the specs of charts
FILES = sorted(p for p in HOME.rglob("*.py") if "cli" not in p.relative_to(HOME).parts)


def told(path):
    """Texts of a file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    words = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, inside) and ast.get_docstring(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in words:
            yield node.lineno, VARIABLE.sub("", node.value)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HOME)))
def test_no_option_is_named(path):
    found = [f"{path.name}:{line}: {FLAG.findall(text)}" for line, text in told(path) if FLAG.search(text)]
    assert not found


def test_the_search_finds_options(tmp_path):
    file = tmp_path / "a.py"
    file.write_text('"""--not me."""\nx = "use --kind"\ny = f"or --{x}-it --now"\n', encoding="utf-8")
    assert [FLAG.findall(text) for _, text in told(file) if FLAG.search(text)] == [["--kind"], ["--"], ["--now"]]
