"""All faults at all operations of one scenario; a process of its own, which forks a child for every point.

The parent loads everything and computes nothing: threads of a library would not survive a fork. Prints one JSON
object: how many operations and points there were, and what went wrong.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from showthrough.cli.app import app
from showthrough.storage import system
from tests.faults import computed
from tests.faults.injection import FAULTS, Injector, meets
from tests.faults.sabotage import SABOTAGES
from tests.faults.scenarios import SCENARIOS, Scenario, State, inputs

NOT_WRITTEN = re.compile(r"(no result|nothing) was written|cannot be (written|read|put right)|There is no file")
WRITTEN = re.compile(r"(?<!no result )(?<!nothing )(was|were) written")
TRUE_CODES = {0: "new", 2: None, 4: "new", 130: None}  # what an exit code says of the state
MEMORY = "/dev/shm"  # no disk, where there is such a thing: what is tested does not depend on it
PATIENCE = 600  # seconds
KILLED = {"SIGTERM": -signal.SIGTERM, "SIGKILL": -signal.SIGKILL, "torn": -signal.SIGKILL}


@dataclass(frozen=True)
class Point:
    """A fault at an operation, in a folder of its own."""

    at: int
    operation: str
    fault: str
    home: Path

    def __str__(self) -> str:
        return f"{self.fault} at operation {self.at} ({self.operation})"


def in_child(home: Path, work: Callable[[], int]) -> int:
    """Run ``work`` in a forked child in a folder; what it prints goes to files beside that. Gives its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 71
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.alarm(PATIENCE)  # a child that hangs is killed, and its point is wrong
        os.chdir(home)
        for number, ending in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(f"{home}{ending}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        code = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def need(code: int, home: Path) -> None:
    if code:
        sys.exit(f"the scenario itself ends with {code}: {Path(f'{home}.err').read_text()}")


def prepared(scenario: Scenario, home: Path) -> None:
    """The old state."""
    home.mkdir()
    inputs(home)
    for step in scenario.prepare:
        need(in_child(home, step), home)


def traced(scenario: Scenario, home: Path, known: dict[str, bytes]) -> dict[str, Any]:
    """The operations of a run without faults, the modules that it loads, and the bytes that it was seen to write."""

    def run() -> int:
        modules, before = set(sys.modules), {os.stat(p).st_ino for p in files(home)}
        computed.recall(known) if known else computed.keep(home)
        injector = Injector(f"{home}{os.sep}", exchange=scenario.exchange)
        injector.install()
        code = scenario.run()
        injector.on = False
        seen = {os.stat(p).st_ino: p for name in scenario.names for p in files(home / name)}
        seen = {inode: p for inode, p in seen.items() if inode not in before}
        unseen = [str(p) for inode, p in seen.items() if injector.bytes_of.get(inode) != p.read_bytes()]
        told = {"operations": injector.operations, "modules": sorted(set(sys.modules) - modules), "unseen": unseen}
        Path(f"{home}.trace").write_text(json.dumps(told))
        return code

    need(in_child(home, run), home)
    return dict(json.loads(Path(f"{home}.trace").read_text()))


def files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from (p for p in path.rglob("*") if p.is_file())


def interrupted(scenario: Scenario, point: Point, known: dict[str, bytes]) -> int:
    """Run the scenario with its fault."""

    def run() -> int:
        secrets.token_hex = lambda _: "00"  # the same state, the same bytes
        computed.recall(known)
        Injector(f"{point.home}{os.sep}", point.at, point.fault, scenario.exchange).install()
        return scenario.run()

    return in_child(point.home, run)


def untrue(point: Point, code: int, ended: str) -> list[str]:
    """What the command said that is not so; ``ended`` is the state in the end, old or new."""
    said = Path(f"{point.home}.err").read_text(errors="replace").replace("the output cannot be written", "no output")
    if point.fault in KILLED:
        return [] if code == KILLED[point.fault] else [f"ended with {code}: {said!r}"]
    wrong = []
    if code not in TRUE_CODES or "Traceback" in said:
        wrong.append(f"ended with {code}: {said!r}")
    elif code in (4, 130) and point.fault != "SIGINT":  # 4: an audit ends with what is known, and writes that
        wrong.append("says that it was interrupted")
    if TRUE_CODES.get(code) not in (None, ended) or (code == 130 and not said):
        wrong.append(f"ended with {code}, but the {ended} state is there")
    if WRITTEN.search(said) and ended != "new":
        wrong.append(f"said {said!r}, but the old state is there")
    elif NOT_WRITTEN.search(said) and ended != "old":
        wrong.append(f"said {said!r}, but the new state is there")
    return wrong


def half(state: State, old: State, new: State) -> list[str]:
    """Names that hold neither all of the old nor all of the new."""
    return [name for name in state if state[name] != old[name] and state[name] != new[name]]


def inspected(scenario: Scenario, home: Path, old: State, new: State) -> dict[str, Any]:
    """The state that is found, what the next reader makes of it, and what the next writer leaves behind."""
    found: dict[str, Any] = {"half": half(scenario.state(home), old, new), "wrong": [], "ended": "neither"}
    os.chdir(home)
    try:
        scenario.read()
    except Exception as error:
        found["wrong"].append(f"the next reader fails: {error!r}")
    state = scenario.state(home)
    found["ended"] = "old" if state == old else "new" if state == new else "neither"
    if found["ended"] == "neither":
        found["wrong"].append(f"after the next reader, {half(state, old, new) or 'names of both states'}")
    left = [str(p.relative_to(home)) for p in home.rglob(".showthrough*")]
    if left:
        found["wrong"].append(f"after the next reader there still are {left}")
    code = (scenario.again or scenario.run)()
    if code or (half(scenario.state(home), new, new) and scenario.again is None):
        found["wrong"].append(f"the next run ends with {code}")
    if left := [str(p.relative_to(home)) for p in home.rglob(".showthrough*")]:
        found["wrong"].append(f"after the next run there still are {left}")
    return found


def inspect(scenario: Scenario, points: list[Point], known: dict[str, bytes]) -> list[dict[str, Any]]:
    """Look at all points, in one child that may compute."""
    root = points[0].home.parent
    old, new, place = scenario.state(root / "old"), scenario.state(root / "new"), root / "inspector"
    place.mkdir()

    def run() -> int:
        os.fsync = lambda _: None
        computed.recall(known)
        if not scenario.exchange:
            system.renamed = lambda *_: False
        seen: dict[Any, dict[str, Any]] = {}  # what is the same to the byte is looked at once
        found = []
        for point in points:
            left = everything(point.home)
            if left not in seen:
                seen[left] = inspected(scenario, point.home, old, new)
            found.append(seen[left])
        Path(f"{place}.json").write_text(json.dumps(found))
        return 0

    need(in_child(place, run), place)
    return list(json.loads(Path(f"{place}.json").read_text()))


def everything(home: Path) -> frozenset[tuple[str, bytes | None]]:
    """All names under a folder, with the bytes of the files."""
    return frozenset((str(p.relative_to(home)), p.read_bytes() if p.is_file() else None) for p in home.rglob("*"))


def points_of(operations: list[str], faults: tuple[str, ...], root: Path) -> list[Point]:
    every = [(at, kind, fault) for at, kind in enumerate(operations, 1) for fault in faults if meets(fault, kind)]
    return [Point(at, kind, fault, root / f"point{n}") for n, (at, kind, fault) in enumerate(every)]


def all_points(scenario: Scenario, root: Path, sabotage: Callable[[], None], faults: tuple[str, ...]) -> dict[str, Any]:
    """Every fault at every operation, and what is wrong afterwards."""
    prepared(scenario, root / "old")
    sabotage()  # of the runs, and of those that come after them
    old = scenario.state(root / "old")
    known: dict[str, bytes] = {}
    for name in ("first", "new"):  # loading modules opens files, too: they are loaded when the second run begins
        shutil.copytree(root / "old", root / name)
        trace = traced(scenario, root / name, known)
        known = computed.kept_in(root / "first")
        for module in trace["modules"]:
            with contextlib.suppress(ImportError):  # what libraries make up
                importlib.import_module(module)
    new = scenario.state(root / "new")
    made = typer.main.get_command(app)
    typer.main.get_command = lambda _: made  # made once, as modules are loaded once
    points = points_of(trace["operations"], faults, root)
    for point in points:
        shutil.copytree(root / "old", point.home)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        codes = list(pool.map(lambda point: interrupted(scenario, point, known), points))
    wrong = [f"{name} was written unseen" for name in trace["unseen"]] + ["nothing changes"] * (old == new)
    for point, code, found in zip(points, codes, inspect(scenario, points, known), strict=True):
        # a name may be without its folder between two steps, where the system cannot exchange names in one
        torn = found["half"] if scenario.exchange else []
        wrong += [f"{point}: {name} was neither old nor new" for name in torn]
        wrong += [f"{point}: {what}" for what in (*found["wrong"], *untrue(point, code, found["ended"]))]
    return {"operations": len(trace["operations"]), "points": len(points), "wrong": wrong}


def main(name: str, sabotage: str = "none", *faults: str) -> Mapping[str, Any]:
    """Run one scenario, with the code as it is or with a fault of its own in it; with all faults or with some."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as root:
        return all_points(SCENARIOS[name], Path(os.path.realpath(root)), SABOTAGES[sabotage], faults or FAULTS)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
