"""What is interrupted: a folder with old files in it, a command that replaces them, and how to tell the two states."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROLES = ("--id", "id", "--sensitive", "disease", "--quasi", "zip,age")
State = Mapping[str, Any]  # what each name holds: None, the bytes of a file, or the files of a folder


def command(*words: str) -> Callable[[], int]:
    """The command as a shell runs it, in this process; gives its exit code."""

    def run() -> int:
        from showthrough.cli.main import main

        sys.argv = ["showthrough", *words]
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return run


def write_unit(text: str) -> Callable[[], int]:
    """A unit of a folder, a private file beside it, one in another folder, and one that is to go."""

    def run() -> int:
        from showthrough.errors import FileError
        from showthrough.storage import outcome
        from showthrough.storage.unit import Unit

        outcome.begin()
        try:
            with Unit() as unit:
                home = unit.folder("D", replace=True)
                (home / "deep").mkdir()
                for name in ("a", "deep/b"):
                    _write(home / name, text)
                unit.file("D.link.csv", private=True).write(text.encode() * 3)
                unit.file("other/x.json").write(text.encode())
                unit.remove("gone.csv")
                unit.commit()
        except KeyboardInterrupt:
            sys.stderr.write(f"Interrupted: {outcome.what_was_written()}.\n")
            return 130
        except FileError as error:
            sys.stderr.write(f"Error: {error}\n")
            return 2
        return 0

    return run


def _write(path: Path, text: str) -> None:
    from showthrough.storage.system import write_bytes

    write_bytes(path, text.encode())


def read_unit() -> None:
    """Look at the place, as a reader does."""
    from showthrough.storage.leftovers import settle

    for name in ("D", "other/x.json"):
        settle(name)


def read_releases() -> None:
    """Read every release there is, with all hashes verified."""
    from showthrough import read_release
    from showthrough.storage.leftovers import settle

    for name in ("D", "H"):
        settle(name)
        if os.path.isdir(name):
            read_release(name)


@dataclass(frozen=True)
class Scenario:
    """``prepare`` makes the old state, ``run`` the new one; ``names`` are what they speak of."""

    names: tuple[str, ...]
    prepare: tuple[Callable[[], int], ...]
    run: Callable[[], int]
    read: Callable[[], None] = read_releases
    again: Callable[[], int] | None = None  # the next run that writes, if it is not the same one
    exchange: bool = True

    def state(self, home: Path) -> State:
        """What every name holds now."""
        return {name: _held(home / name) for name in self.names}


def _held(path: Path) -> Any:
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    if not path.exists():
        return None
    raw = path.read_bytes()
    if path.suffix == ".json":  # when it was made and how long it took differs from run to run
        try:
            told = re.sub(rb'"(seconds|took)": [-+.e\d]+', rb'"\1": 0', raw)
            return json.loads(re.sub(rb'"date": "[^"]*"', b'"date": ""', told))
        except ValueError:
            return raw
    return raw


def inputs(home: Path) -> None:
    """The tables that the commands read."""
    rows = [f"p{i},130{i % 3}{i % 2},{20 + 7 * i % 40},{'abcd'[i % 4]}" for i in range(12)]
    (home / "t.csv").write_text("\n".join(["id,zip,age,disease", *rows]) + "\n")
    (home / "other").mkdir()
    (home / "gone.csv").write_text("to go")


def publish(*words: str) -> Callable[[], int]:
    return command("publish", "t.csv", *ROLES, "--quiet", *words)


def explain(person: str) -> Callable[[], int]:
    return command("explain", person, "H", "--register", "t.csv", "--id", "id", "--json", "x.json", "--quiet")


OLD = publish("--k", "2", "-o", "D")
NEW = publish("--k", "4", "-o", "D", "--overwrite", "--link")
HISTORY = publish("--k", "3", "-o", "H", "--link")
AUDIT = ("audit", "H", "--register", "t.csv", "--id", "id", "--json", "a.json", "--people", "p.csv", "--quiet")
PAGE = ("audit", "H", "--register", "t.csv", "--id", "id", "--json", "a.json", "-o", "page.html", "--quiet")
WITH_LINK = ("D", "D.link.csv")
UNIT = (*WITH_LINK, "other/x.json", "gone.csv")

GUIDED = ("--k", "3", "--frequency-l", "2", "--history", "H", "--strategy", "history-guided")

SCENARIOS = {
    "publish": Scenario(WITH_LINK, (), publish("--k", "4", "-o", "D"), again=NEW),
    "publish --overwrite --history": Scenario(
        (*WITH_LINK, "H", "H.link.csv"), (OLD, HISTORY), publish(*GUIDED, "-o", "D", "--overwrite")
    ),
    "publish --overwrite, no exchange": Scenario(WITH_LINK, (OLD,), NEW, exchange=False),
    "audit": Scenario(
        ("a.json", "p.csv"),
        (HISTORY, command(*AUDIT, "--audience", "shareable", "--seconds", "3")),
        command(*AUDIT, "--audience", "internal", "--whole-values", "1"),
    ),
    "audit -o": Scenario(
        ("a.json", "page.html"),
        (HISTORY, command(*PAGE, "--audience", "shareable")),
        command(*PAGE, "--audience", "internal"),
    ),
    "explain --json": Scenario(("x.json",), (HISTORY, explain("p1")), explain("p2")),
    "unit": Scenario(UNIT, (write_unit("old"),), write_unit("new"), read=read_unit),
    "unit, no exchange": Scenario(UNIT, (write_unit("old"),), write_unit("new"), read=read_unit, exchange=False),
}
