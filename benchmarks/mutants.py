"""Small changes to a source file, one at a time: each is a fault that a test should notice.

    comparison   < and <=, > and >=, == and !=, in and not in, is and is not change places
    arithmetic   + and - change places, also in +=
    masks        & and | change places
    logic        and and or change places; a not, or a ~ of a mask, is dropped
    constant     a whole number grows by one
    statement    a call, an assignment to a part of an object, an augmented assignment, a raise, a continue or a break goes

Texts, annotations, decorators and what only the type checker reads stay as they are.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS: dict[type[ast.AST], tuple[str, type[ast.AST]]] = {
    one: (kind, other)
    for kind, pairs in {
        "comparison": [
            (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot),
        ],
        "arithmetic": [(ast.Add, ast.Sub)],
        "masks": [(ast.BitAnd, ast.BitOr)],
        "logic": [(ast.And, ast.Or)],
    }.items()
    for pair in pairs
    for one, other in (pair, pair[::-1])
}  # fmt: skip
LARGEST = 1_000_000  # constants above it are masks and hashes
GOING = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Mutant:
    """One change to a file."""

    path: str  # from the root of the tree
    line: int
    kind: str
    source: str
    original: str

    def diff(self) -> str:
        """The change as a patch."""
        old, new = self.original.splitlines(keepends=True), self.source.splitlines(keepends=True)
        return "".join(difflib.unified_diff(old, new, self.path, self.path, n=1))


def mutants(path: str, text: str) -> list[Mutant]:
    """Every change that can be made to a file, in its order."""
    found = []
    for node, kind, replacement in _changes(ast.parse(text)):
        source = _spliced(text, node, replacement)
        found.append(Mutant(path, node.lineno, kind, source, text))
    return sorted(found, key=lambda mutant: mutant.line)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Node, kind of the change and the text that replaces the node."""
    for node in _code(tree):
        if isinstance(node, ast.Compare):
            for at, operator in enumerate(node.ops):
                yield _swapped(node, SWAPS[type(operator)], at)
        elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in SWAPS:
            yield _swapped(node, SWAPS[type(node.op)])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
            yield node, "logic", f"({ast.unparse(node.operand)})"
        elif isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) <= LARGEST:
            yield node, "constant", str(node.value + 1)
        if isinstance(node, ast.AugAssign) and type(node.op) in SWAPS:
            yield _swapped(node, SWAPS[type(node.op)])
        if _may_go(node):
            yield node, "statement", "pass"


def _swapped(node: ast.AST, swap: tuple[str, type[ast.AST]], at: int | None = None) -> tuple[ast.AST, str, str]:
    kind, operator = swap
    other = copy.deepcopy(node)
    if at is None:
        other.op = operator()
    else:
        other.ops[at] = operator()
    return node, kind, ast.unparse(other)


def _may_go(node: ast.AST) -> bool:
    """Statements without which the file still makes sense."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, GOING)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run and have a place of their own: no annotations, no parts of formatted texts."""
    for name, part in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in part if isinstance(part, list) else [part]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            yield from _code(child)


def _spliced(text: str, node: ast.AST, replacement: str) -> str:
    """The text with a node replaced; columns of the syntax tree count bytes."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = text.encode()
    return (whole[:start] + replacement.encode() + whole[end:]).decode()
