"""One meaning per name: no file and no class, or alias of a type, is called like another one of the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping

from showthrough.requests.attack_entries import ATTACKS
from tests.architecture.source import Module, modules

ASKED = ("attacks", "requests.attack_entries")

# Files that are one concept on several floors: the command, its use case, the content that is told, the work itself.
FILES = {
    "after": {"cli.after", "requests.after", "report.after"},
    "meaning": {"dp.meaning", "requests.meaning", "report.meaning"},
    "account": {"requests.account", "report.account", "dp.account"},
    "attack": {"cli.attack", "requests.attack"},
    "audit": {"cli.audit", "requests.audit", "auditing.audit"},
    "check": {"cli.check", "requests.check", "report.check"},
    "cluster": {"cli.cluster", "requests.cluster"},
    "compare": {"cli.compare", "requests.compare"},
    "demo": {"cli.demo", "requests.demo"},
    "explain": {"cli.explain", "requests.explain", "inference.explain"},
    "gate": {"cli.gate", "requests.gate", "ledger.gate"},
    "ledger": {"cli.ledger", "requests.ledger", "ledger.ledger"},
    "policy": {"cli.policy", "requests.policy", "policy.policy"},
    "publish": {"cli.publish", "requests.publish", "report.publish"},
    "reproduce": {"cli.reproduce", "requests.reproduce"},
    # an attack, and how it is asked for
    **{name.replace("-", "_"): {f"{room}.{name.replace('-', '_')}" for room in ASKED} for name in ATTACKS},
    # who fits which groups, who is inside: the machinery, and the attacks that ask just that
    "linking": {"register.linking", *(f"{room}.linking" for room in ASKED)},
    "membership": {"register.membership", *(f"{room}.membership" for room in ASKED)},
}

# The types of options are called like the parameters that they set, whatever else is called so.
OPTIONS = "cli.options"

TYPES = {
    "Distance": {"cli.check", "criteria.criteria_entries"},  # one choice of the user, as an option and as an entry
    "Metric": {
        "cli.check",
        "criteria.criteria_entries",
        "criteria.ground",
    },  # the same, and the distance that comes of it
    "Reference": {"cli.check", "criteria.criteria_entries"},  # the same
    # Still two meanings, each inside its own room; they wait for a better word.
    "_Beside": {"requests.check", "criteria.criteria_entries"},  # tables beside releases; distances beside limits
    "Kind": {"release.kind", "anonymizers.mdav"},  # of a release; of a column that distances are taken of
    "Progress": {"progress", "anonymizers.methods", "republishing.search"},  # the protocol; functions that are told
    "Shown": {"measuring.shown", "anonymizers.quasi_columns"},  # a column as a release shows it; how one is printed
    "State": {"inference.world_layers", "anonymizers.boxes"},  # what is left of rows; what is known of a box
}


def types_in(module: Module) -> set[str]:
    """Names of the classes of a file, nested ones included, and of the types that it gives a name to."""
    found = {node.name for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)}
    for node in module.tree.body:
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found.update(name for name in names if name.strip("_")[:1].isupper() and not name.isupper())
    return found - {"T"}  # what any type is called


def repeated(found: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Names that stand in several places, with the places."""
    places: Mapping[str, set[str]] = defaultdict(set)
    for name, place in found:
        places[name].add(place)
    return {name: where for name, where in places.items() if len(where) > 1}


def unlisted(found: Mapping[str, set[str]], listed: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What of it no list excuses."""
    return {name: where for name, where in found.items() if not where <= listed.get(name, set())}


def test_no_file_is_called_like_another():
    named = [m for m in modules() if m.path.stem != "__init__"]
    assert not unlisted(repeated((m.path.stem, m.name) for m in named), FILES)


def test_no_class_or_type_is_called_like_another():
    named = [(name, m.name) for m in modules() if m.name != OPTIONS for name in types_in(m)]
    assert not unlisted(repeated(named), TYPES)


def test_a_second_name_is_noticed():
    text = "class A:\n    class B: ...\nCells = tuple[int]\nD_E = 1"
    module = Module("room.file", modules()[0].path, ast.parse(text), 4)
    assert types_in(module) == {"A", "B", "Cells"}
    assert repeated([("A", "x"), ("A", "y"), ("B", "x")]) == {"A": {"x", "y"}}
    assert unlisted({"A": {"x", "y"}}, {"A": {"x"}})
    assert not unlisted({"A": {"x", "y"}}, {"A": {"x", "y"}})
