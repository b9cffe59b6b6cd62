"""Messages for everybody: what is filled into the text of an error is private, or is known to be no data.

An error is made of a text with fragments. ``private(...)`` keeps a fragment for internal readers. Everything else that
is filled in must be a count, a place, a file, a column or a parameter: its name stands in the list below, which is
short on purpose. Who adds a word to it says that nothing of that name ever holds a cell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import modules

OTHERS = {"AttributeError", "FileExistsError", "OSError", "QueryError"}
HIDING = {"private", "private_list", "named", "listed", "_key", "_shown"}
COUNTING = {
    "len",
    "int",
    "sum",
    "max",
    "min",
    "persons",
    "type",
    "text",
    "row_count",
    "reason",
    "forms",
    "_words",
    "_named",
}

OPEN = {
    # places: files, folders, releases, columns, roles, rows, lines
    "path", "target", "source", "where", "place", "name", "names", "home", "package", "file", "folder", "line", "row",
    "again", "at", "column", "columns", "field", "role", "roles", "part", "option", "parent", "depth", "table", "quasi",
    "id", "sensitive", "group", "able", "form", "into", "manifest",
    # counts and sizes
    "n", "rows", "persons", "groups", "cells", "found", "gone", "most", "needed", "limit", "total", "short", "empty",
    "present", "failed", "everybody", "values",
    # parameters, and what they may be
    "k", "l", "m", "delta", "seed", "seconds", "encoding", "format", "kind", "strategy", "repair", "locate", "changed",
    "missing", "audience", "published", "shape", "shown", "method", "criterion", "wanted", "allowed", "known", "hint",
    "are", "what", "lead", "tail", "advice", "more", "self", "choices", "printed",
    # texts of our own
    "words", "told", "also", "hints", "unsaid", "lacks", "has",
}  # fmt: skip
CONSTANT = str.isupper
TEXTS_OF_OURS = {
    "said",
    "value",
    "sentence",
    "criterion",
    "rule",
    "lineno",
    "msg",
    "dtype",
    "size",
    "height",
    "width",
    "shape",
}

KNOWN = {
    "anonymizers.anatomy": {"code"},
    "anonymizers.declared_domain": {"strange[0]"},
    "anonymizers.joint_values": {"named", "strange"},
    "anonymizers.level_range": {"top"},
    "anonymizers.noisy_counts": {"strange[0]"},
    "anonymizers.identifying": {
        "strange",
        "_refusal([(repr(s.column) if named else f'number {place[s.column]}', s) for s in found])",
    },
    "anonymizers.plan": {"', '.join(plan['quasi'])", "top"},
    "anonymizers.refusals": {"failing", "of"},
    "anonymizers.table": {"high", "low", "strange[0]", "twice"},
    "attacks.background": {"many"},
    "attacks.bayes": {"theta"},
    "attacks.intersection": {"confidence", "given", "releases"},
    "attacks.near": {"epsilon"},
    "auditing.pieces_audit": {"single[0]"},
    "comparing.comparison": {"share"},
    "comparing.noise_options": {"closest", "error", "name"},
    "comparing.option": {"method"},
    "attacks.outcomes": {"strange"},
    "attacks.shares": {"given"},
    "attacks.similarity": {"level"},
    "attacks.skewness": {"ratio"},
    "cli.inputs": {"entry", "example", "given", "mark", "text", "twice[0]"},
    "cli.output": {"needy[0]", "such_as"},
    "criteria.parameters": {"value", "of", "allowed[-1]"},
    "criteria.published": {"own"},
    "criteria.risk": {"suppressed_cells"},
    "dp.account": {"noise.neighbours"},
    "engines.cluster_release": {"here", "there"},  # kinds of columns
    "engines.processes": {"workers"},
    "inference.cluster.spread": {"text"},
    "inference.cluster.laying": {"many(of)", "many(off)", "self.names[r]", "kind"},
    "dp.indistinguishable": {"epsilon"},
    "dp.interval": {"changed", "p"},
    "dp.items": {"law.mechanism"},
    "dp.meaning": {"delta", "epsilon", "exceptional", "failure"},
    "dp.movement": {"p", "release", "', '.join(noisy)"},
    "engines.reaching": {"master"},
    "engines.spark": {"master"},
    "engines.spark_alike": {"host", "here", "there", "__version__", "_why(str(problem), self.context.pythonExec)"},
    "engines.spark_jobs": {"self._sentence(problem)"},
    "engines.spark_needs": {"of_spark", "of_pandas", "program"},
    "engines.spark_session": {"master", "pyspark.__version__", "there"},
    "engines.spark_task": {"__version__", "os.path.basename(ours[-1].filename)"},
    "engines.standalone": {"given", "memory"},
    "errors": {"value"},
    "inference.explain": {"most_steps"},
    "inference.integral": {"most_states"},
    "inference.posterior": {"release"},
    "inference.problem": {"history.row_count[row]"},
    "inference.program": {"result.message"},
    "inference.splitting": {"strange[0]"},
    "experiments.fetching": {"one.address", "source.rstrip('/')", "_reason(problem)", "_by_hand(files)", "got"},
    "knowledge.condition": {"why"},
    "knowledge.knowledge_file": {
        "_tables()",
        "_unknown(kind, KINDS)",
        "_unknown(key, wanted)",
        "own",
        "' and '.join(missing)",
    },
    "knowledge.mining": {"given", "least"},
    "knowledge.prior": {"text"},
    "knowledge.statement": {"why"},
    "ledger.memory": {"event.number", "same.event.number"},
    "ledger.recording": {"judged.number"},
    "ledger.store": {"why", "wait:g"},
    "measuring.queries": {"workload.dimensions"},
    "policy.limits": {"_meant(limit)", "_meant(count)", "least"},
    "policy.rules_file": {"key", "_unknown(key, TOP)", "_unknown(key, known)"},
    "register.changed": {"self.otherwise"},
    "register.informing": {"strange"},
    "register.locating_centroids": {"strange"},
    "register.reader": {"strange[0]"},
    "register.truth": {"located", "strange[0]"},
    "release.cell_forms": {"setting.why"},
    "release.cells": {"reason"},
    "release.joint": {"named"},
    "release.folder": {"others[0]", "type_name"},
    "release.manifest": {"', '.join(first)", "last", "version"},
    "release.microaggregated": {"both[0]", "other[0]"},
    "release.noise": {"low", "high", "neighbours"},
    "release.noisy": {"own['row']", "kinds['row'][0]", "kinds['row'][1]", "strange[0]"},
    "release.printed_counts": {"mark", "low", "high", "base"},
    "release.totals": {"low", "high", "parts", "_between(low, high)", "_between(least, most)"},
    "release.reading": {"', '.join(first)", "last", "other", "strange[0]"},
    "release.roles": {"other", "seen[name]"},
    "release.typed": {"stated"},
    "republishing.anonymize": {"given", "blind", "', '.join((*METHODS, DP_COUNTS))"},
    "republishing.budgeted": {"strange[0]", "asked['method']"},
    "requests.account": {"under", "neighbours"},
    "republishing.m_invariance": {"code", "people(len(strange))", "have(len(strange))"},
    "republishing.spending": {"strange[0]"},
    "republishing.past": {"people(persons)", "have(persons)"},
    "republishing.people": {"message"},
    "storage.claim": {"work"},
    "storage.leftovers": {"_target(work)"},
    "storage.unit": {"work_of(target)"},
    "requests.earlier_files": {"absent[0]", "problem.said"},
    "testing.releasable": {"'\\n'.join(lines)"},
    "storage.system": {"problem", "os.strerror(problem)", "os.strerror(errno.EEXIST)"},
    "table.csv_rows": {"other", "own"},
    "table.csv_text": {"chosen", "first", "problem"},
    "table.entries": {"given", "problem"},
    "table.frames": {"alike", "close[0]", "exist", "listed"},
    "table.hierarchy": {"here", "there"},
    "table.hierarchy_file": {"begin", "marked", "problem"},
    "table.hierarchy_rules": {"given", "widths[0]", "widths[k]", "widths[k - 1]"},
    "table.unpacking": {"problem"},
}
"""Looked at one by one: parameters as they were given, columns, places, counts, and texts that hide by themselves."""


def fragments(node: ast.expr, function: ast.AST, seen: frozenset[str]) -> Iterator[ast.expr]:
    """What is filled into a text, through the names that parts of it have in the same function."""
    if isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.FormattedValue) and value.format_spec is None:
                yield from fragments(value.value, function, seen)
    elif isinstance(node, ast.BinOp):
        yield from fragments(node.left, function, seen)
        yield from fragments(node.right, function, seen)
    elif isinstance(node, ast.IfExp):
        yield from fragments(node.body, function, seen)
        yield from fragments(node.orelse, function, seen)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from fragments(value, function, seen)
    elif isinstance(node, ast.Name) and node.id not in seen:
        given = [a.value for a in ast.walk(function) if isinstance(a, ast.Assign) and _names(a) == {node.id}]
        texts = [value for value in given if _text(value)]
        if not texts or len(texts) < len(given):
            yield node
        for value in texts:
            yield from fragments(value, function, seen | {node.id})
    elif not isinstance(node, ast.Constant):
        yield node


def _names(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def _text(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _text(node.body) or _text(node.orelse)
    if isinstance(node, ast.Call):
        return _called(node) in HIDING
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def harmless(node: ast.expr) -> bool:
    """Whether an expression is private, or no data by its name."""
    if isinstance(node, ast.Call):
        called = _called(node)
        if called == "join":
            return all(harmless(argument) for argument in node.args)
        return called in HIDING | COUNTING | TEXTS_OF_OURS or called.lower() in OPEN or called in SAYING
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return (
            isinstance(node.elt, (ast.JoinedStr, ast.Constant))
            or harmless(node.elt)
            or harmless(node.generators[0].iter)
        )
    if isinstance(node, ast.Subscript):
        return harmless(node.value)
    if isinstance(node, ast.Attribute):
        return (
            node.attr in OPEN | TEXTS_OF_OURS or CONSTANT(node.attr) or node.attr == "__name__" or harmless(node.value)
        )
    if isinstance(node, ast.Name):
        return node.id in OPEN | TEXTS_OF_OURS - {"value"} or CONSTANT(node.id)
    return isinstance(node, (ast.Constant, ast.Compare, ast.BinOp, ast.Starred, ast.List))


SAYING = {
    "_named", "number_of", "says", "fspath", "get_args", "repr", "str", "map", "fromkeys", "lower", "null_count", "len",
    "index", "count", "capitalize", "line", "message", "hints", "_json", "Path", "get", "next", "getattr", "_one_of",
    "_outputs", "n_unique",
}  # fmt: skip
"""Functions of texts and counts."""


def made() -> Iterator[tuple[str, ast.Call, ast.AST]]:
    """Every call that makes an error, with the function around it."""
    for module in modules():
        inside = [f for f in ast.walk(module.tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for call in ast.walk(module.tree):
            if isinstance(call, ast.Call) and _called(call).endswith("Error") and _called(call) not in OTHERS:
                around = [f for f in inside if f.lineno <= call.lineno <= (f.end_lineno or 0)]
                yield module.name, call, around[-1] if around else module.tree


def test_what_is_filled_into_messages_is_private_or_no_data():
    strange = []
    for name, call, function in made():
        shareable = [keyword.value for keyword in call.keywords if keyword.arg == "shareable"]
        for argument in shareable or call.args:
            for node in fragments(argument, function, frozenset()):
                text = ast.unparse(node)
                if not harmless(node) and text not in KNOWN.get(name, ()):
                    strange.append(f"{name}, line {call.lineno}: {text}")
    assert strange == [], "wrap these in private(...), or say in this file why they are no data"


def test_a_value_in_a_message_is_noticed():
    for source in (
        'raise InputError(f"The value {cell!r} is unknown.")',
        'raise InputError(f"{where}: {row_cells[3]} is unknown.")',
        'text = f"Person {history.ids_of(3)}"\nraise InputError(text)',
    ):
        tree = ast.parse(source)
        call = next(c for c in ast.walk(tree) if isinstance(c, ast.Call) and _called(c) == "InputError")
        assert not all(harmless(node) for node in fragments(call.args[0], tree, frozenset())), source
    good = ast.parse('InputError(f"{where}: row {row} has {private(cell)} in column {name!r}, {len(rows)} in all.")')
    assert all(harmless(node) for node in fragments(good.body[0].value.args[0], good, frozenset()))
