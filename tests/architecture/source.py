"""The package as text: its modules, what they import, and the functions they define."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "showthrough"


@dataclass(frozen=True, eq=False)
class Module:
    """One file of the package."""

    name: str  # dotted, without "showthrough."; the package itself is ""
    path: Path
    tree: ast.Module
    lines: int

    @property
    def room(self) -> str:
        """The folder it lies in, or its own name if it lies beside the folders."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Function:
    """One function or method, by module and qualified name."""

    name: str
    lines: int
    parameters: tuple[str, ...]  # without self and cls


@cache
def modules(package: Path = PACKAGE) -> tuple[Module, ...]:
    """Every file of the package."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path, ast.parse(text), len(text.splitlines())))
    return tuple(found)


@dataclass(frozen=True)
class Import:
    """One module of the package that a file imports, and how."""

    home: str  # as `Module.name`
    name: str  # what is taken from it, "" for the module itself
    lazy: bool  # inside a function
    typing: bool  # under TYPE_CHECKING


@cache
def imports(module: Module) -> tuple[Import, ...]:
    """What a file imports from the package, anywhere: at the top, for the type checker, inside functions."""
    return tuple(one for one in _imports(module.tree, lazy=False, typing=False) if one.home != module.name)


def _imports(node: ast.AST, *, lazy: bool, typing: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inner = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        typed = typing or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
        for home, name in _named(child):
            yield Import(home, name, inner, typed)
        yield from _imports(child, lazy=inner, typing=typed)


def _named(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of each thing that a statement imports; a module inside a package counts as itself."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top, _, home = alias.name.partition(".")
            if top == "showthrough":
                yield home, ""
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: imports name the whole path"
        top, _, home = (node.module or "").partition(".")
        known = {one.name for one in modules()}
        if top == "showthrough":
            for alias in node.names:
                inner = f"{home}.{alias.name}".removeprefix(".")
                yield (inner, "") if inner in known else (home, alias.name)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        given = node.args[0] if node.args else None
        if isinstance(given, ast.Constant) and str(given.value).startswith("showthrough"):
            yield str(given.value).partition(".")[2], ""


def functions() -> Iterator[Function]:
    """Every function of the package, nested ones included."""
    for module in modules():
        yield from _functions(module.tree, module.name)


def _functions(node: ast.AST, within: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{within}.{child.name}"
            yield Function(name, _length(child), _parameters(child, inside_class=isinstance(node, ast.ClassDef)))
            yield from _functions(child, name)
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{within}.{child.name}")
        else:
            yield from _functions(child, within)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end, decorators aside."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, *, inside_class: bool) -> tuple[str, ...]:
    taken = node.args
    positional = [one.arg for one in (*taken.posonlyargs, *taken.args)]
    static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
    if inside_class and not static:
        positional = positional[1:]
    several = [one.arg for one in (taken.vararg, taken.kwarg) if one is not None]
    return (*positional, *(one.arg for one in taken.kwonlyargs), *several)
