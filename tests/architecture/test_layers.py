"""Imports point one way: from the command line down to the table, wherever in a file they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import pytest

from tests.architecture.source import PACKAGE, Import, Module, imports, modules

# From the ground up. A room uses the floors below, and on its own floor the rooms to its left.
FLOORS = (
    ("said", "numerals", "errors", "progress", "showing", "rooms"),
    ("storage",),
    ("table",),
    ("release",),
    ("knowledge", "register", "criteria", "measuring"),
    ("engines",),
    ("inference", "dp"),
    ("policy",),
    ("anonymizers",),
    ("republishing",),
    ("attacks", "comparing"),
    ("auditing",),
    ("ledger",),
    ("report",),
    ("examples",),
    ("experiments",),
    ("requests",),
    ("cli", "web", "testing"),
    ("__main__",),
)
ORDER = {room: at for at, room in enumerate(room for floor in FLOORS for room in floor)}

# Classes of the interface whose methods hand over to files that take the object itself. What a face imports inside
# functions, and who names it for the type checker alone, ties no knot.
FACES = {
    "release.release": "Release: kinds, folders, links and recodings take a release and are its methods",
}

# Imports that close a ring of modules inside one room.
KNOTS = {
    ("inference.passes", "inference.reduce"): "type of the reduced problem",
    ("inference.seated", "inference.reduce"): "type of the reduced problem",
}


def upward(found: Iterable[tuple[str, str]]) -> list[str]:
    """Pairs of modules of which the first imports the second although it stands below it."""
    rooms = [(one, other, one.partition(".")[0], other.partition(".")[0]) for one, other in found]
    return [f"{one} imports {other}" for one, other, a, b in rooms if a != b and ORDER[a] <= ORDER[b]]


def test_every_room_has_a_floor():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert rooms - {"__init__", "__pycache__"} <= ORDER.keys()


def test_imports_point_down():
    assert not upward((m.name, one.home) for m in modules() if m.name for one in imports(m) if one.home)


def test_inside_the_house_nobody_goes_round_by_the_front_door():
    """The package itself stands above everything; only its version may be asked for."""
    asked = [(m.name, one.name) for m in modules() if m.name for one in imports(m) if not one.home]
    assert {name for _, name in asked} <= {"__version__"}, asked


def test_an_import_upward_is_noticed():
    assert upward([("table.files", "release.release")]) == ["table.files imports release.release"]
    assert upward([("errors", "progress"), ("criteria.risk", "measuring.loss")])
    assert not upward([("progress", "errors"), ("measuring.loss", "criteria.ground"), ("cli.main", "cli.audit")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from showthrough.table import files", Import("table.files", "", False, False)),
        ("from showthrough.table.files import read_table", Import("table.files", "read_table", False, False)),
        ("import showthrough.table.files", Import("table.files", "", False, False)),
        ("import showthrough as st", Import("", "", False, False)),
        ("def f():\n    from showthrough import errors", Import("errors", "", True, False)),
        ("if TYPE_CHECKING:\n    from showthrough import infer", Import("", "infer", False, True)),
        ("def f():\n    return import_module('showthrough.errors').InputError", Import("errors", "", True, False)),
    ],
)
def test_imports_are_seen_wherever_they_stand(text: str, expected: Import):
    assert imports(Module("somewhere", PACKAGE, ast.parse(text), 1)) == (expected,)


def ties(faces: Iterable[str], knots: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Module → modules that it imports, without what the exceptions allow."""
    faces, knots = set(faces), set(knots)
    found: dict[str, set[str]] = {m.name: set() for m in modules() if m.name}
    for module in modules():
        for one in imports(module):
            handed = (one.lazy and module.name in faces) or (one.typing and one.home in faces)
            if module.name and one.home and not handed and (module.name, one.home) not in knots:
                found[module.name].add(one.home)
    return found


def rings(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules that reach themselves by imports."""
    left = {name: set(others) & graph.keys() for name, others in graph.items()}
    while free := {name for name, others in left.items() if not others}:
        left = {name: others - free for name, others in left.items() if name not in free}
    reached = {name: set(others) for name, others in left.items()}  # what hangs above a ring is taken off again
    for middle in reached:
        for name in reached:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    return sorted(name for name in reached if name in reached[name])


def test_rings_are_found():
    assert rings({"a": ["b"], "b": ["c"], "c": ["b"], "d": []}) == ["b", "c"]


def test_modules_form_no_rings():
    assert rings(ties(FACES, KNOTS)) == []


@pytest.mark.parametrize("face", FACES)
def test_every_face_is_needed(face: str):
    assert rings(ties(FACES.keys() - {face}, KNOTS)), f"{face} ties no ring any more: take it off the list"


@pytest.mark.parametrize("knot", KNOTS)
def test_every_knot_is_needed(knot: tuple[str, str]):
    assert rings(ties(FACES, KNOTS.keys() - {knot})), f"{knot} closes no ring any more: take it off the list"
