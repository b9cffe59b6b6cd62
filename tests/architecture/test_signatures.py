"""What the documentation says of parameters is what the functions take."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import showthrough as st
from tests.architecture.source import ROOT

API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^st\.[\w.]+\(.*\)$", (ROOT / "docs" / "signatures.md").read_text(encoding="utf-8"), re.MULTILINE)
MADE_BY_US = {
    "Certificate",
    "Check",
    "Comparison",
    "Decision",
    "Gate",
    "QuasiIdentifiers",
    "Risk",
    "Utility",
    "WorstCase",
}  # results that have fields and nothing to call
OBJECTS = {  # what the documentation calls an object of each class
    "post": "Posterior",
    "proof": "Proof",
    "policy": "Policy",
    "release": "Release",
    "rel": "Release",
    "criterion": "KAnonymity",
    "ledger": "Ledger",
}


def found(path: str) -> Any:
    """A public object by its dotted name: st.infer, Release.bucketized, post.of."""
    first, *rest = path.removeprefix("st.").split(".")
    at: Any = getattr(st, OBJECTS.get(first, first), None)
    for name in rest:
        at = getattr(at, name, None)
    return at


def parameters(path: str) -> list[inspect.Parameter]:
    """What a caller passes."""
    taken = list(inspect.signature(found(path)).parameters.values())
    return [p for p in taken if p.name not in ("self", "cls")]


def rendered(path: str) -> str:
    """The signature as docs/signatures.md writes it: without types."""
    plain = [p.replace(annotation=inspect.Parameter.empty, default=_shown(p.default)) for p in parameters(path)]
    return f"{path}{inspect.Signature(plain)}".replace("'", '"')


class _Dots:
    def __repr__(self) -> str:
        return "…"


def _shown(default: Any) -> Any:
    """Functions as defaults have no name that a reader could use."""
    return _Dots() if inspect.isfunction(default) else default


def spans(text: str) -> Iterator[ast.Call]:
    """Inline code that is one call of a public function or method; "…" at its end becomes ``**more``."""
    for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text):
        try:
            tree = ast.parse(re.sub(r"…\)$", "**more)", span).replace("…", "..."), mode="eval").body
        except SyntaxError:
            tree = None
        if isinstance(tree, ast.Call) and callable(found(ast.unparse(tree.func))):
            yield tree


def signatures() -> list[ast.Call]:
    """Calls in the table of names whose arguments are names and defaults."""
    rows = re.findall(r"^\| `st\.\w+` \| .*$", API, re.MULTILINE)
    calls = [call for row in rows for call in spans(row.replace("\\|", "/"))]
    return [c for c in calls if c.keywords and all(isinstance(a, ast.Name) for a in c.args)]


@pytest.mark.parametrize("line", LISTED)
def test_listed_signatures_are_the_real_ones(line: str):
    assert line == rendered(line.partition("(")[0])


def test_every_public_name_that_can_be_called_is_listed():
    listed = {line.split("(")[0].split(".")[1] for line in LISTED}
    rooms = {name for name in st.__all__ if inspect.ismodule(getattr(st, name))}
    assert listed - rooms == {name for name in st.__all__ if callable(found(name))} - MADE_BY_US


def test_every_method_of_the_documentation_is_listed():
    calls = [ast.unparse(call.func) for call in spans(API)]
    methods = {f"st.{OBJECTS.get(a, a)}.{b}" for a, _, b in (path.partition(".") for path in calls) if b and a != "st"}
    criteria = {path for path in methods if path.endswith(".check")}  # one signature for all of them
    assert methods - criteria <= {line.partition("(")[0] for line in LISTED}


@pytest.mark.parametrize("call", signatures(), ids=ast.unparse)
def test_signatures_in_the_table_of_names(call: ast.Call):
    real = parameters(ast.unparse(call.func))
    told = [ast.unparse(a) for a in call.args] + [k.arg for k in call.keywords if k.arg]
    whole = all(k.arg for k in call.keywords)
    assert told == [p.name for p in real if whole or p.name in told]
    for keyword in call.keywords:
        if keyword.arg and "..." not in ast.unparse(keyword.value):
            default = next(p.default for p in real if p.name == keyword.arg)
            assert ast.literal_eval(keyword.value) == default, keyword.arg


@pytest.mark.parametrize("call", [*spans(API), *spans(README)], ids=ast.unparse)
def test_calls_in_the_documentation_fit(call: ast.Call):
    real = parameters(ast.unparse(call.func))
    assert {k.arg for k in call.keywords if k.arg} <= {p.name for p in real}
    assert len(call.args) <= len([p for p in real if p.kind is p.POSITIONAL_OR_KEYWORD])


@pytest.mark.parametrize("name", sorted(MADE_BY_US))
def test_fields_in_the_table_of_names_exist(name: str):
    row = re.search(rf"^\| `st\.{name}` \|(.*)$", API, re.MULTILINE)
    assert row is not None
    words = re.findall(r"`([a-z_]+)`", row[1])
    fields = set(dir(found(name))) | set(inspect.signature(found(name)).parameters)
    assert set(words) <= fields
