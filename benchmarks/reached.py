"""Which functions of the package does each test reach, and how much processor time does it take?

    python -m benchmarks.reached tests/inference tests/policy tests/republishing --out reached.json

The tests run once, with a look at every call. What another process does is not seen, nor what runs on import: a line
outside functions counts as reached by whatever reaches its file.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "showthrough"
ENOUGH = 3_000_000  # calls of one test that are looked at: the later ones of a long test are the same again


@dataclass
class Watcher:
    """A plugin of pytest that writes down what each test calls."""

    tests: dict[str, dict[str, object]] = field(default_factory=dict)
    _called: dict[int, CodeType] = field(default_factory=dict)  # code is kept, so that a number stays its own
    _calls: int = 0

    def look(self, frame: FrameType, *_: object) -> None:
        """See a call, and not the lines inside."""
        code = frame.f_code
        if id(code) not in self._called:
            self._called[id(code)] = code
        self._calls += 1
        if self._calls > ENOUGH:
            sys.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch a test with its fixtures."""
        self._called, self._calls = {}, 0
        began = time.process_time()
        threading.settrace(self.look)
        sys.settrace(self.look)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            seconds = time.process_time() - began
            self.tests[item.nodeid] = {"seconds": round(seconds, 3), "reached": self.reached()}

    def reached(self) -> list[str]:
        """The functions of the package that were called, by file and first line."""
        files = [(Path(code.co_filename), code.co_firstlineno) for code in list(self._called.values())]
        home = ROOT / PACKAGE
        return sorted(f"{at.relative_to(ROOT).as_posix()}:{line}" for at, line in files if at.is_relative_to(home))


class Reach:
    """What was written down, to be asked for the tests of a line."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.seconds: dict[str, float] = {}
        self._of_places: dict[str, set[str]] = {}
        for file in files:
            for test, seen in json.loads(file.read_text(encoding="utf-8")).items():
                self.seconds[test] = seen["seconds"]
                for place in seen["reached"]:
                    self._of_places.setdefault(place, set()).add(test)
                    self._of_places.setdefault(place.rpartition(":")[0], set()).add(test)

    def tests(self, path: str, text: str, line: int) -> list[str]:
        """The tests that reach a line: those of its own room first, the quickest first."""
        room = f"tests/{Path(path).relative_to(PACKAGE).parts[0]}/"
        first = function_around(text, line)
        found = self._of_places.get(path if first is None else f"{path}:{first}", set())
        return sorted(found, key=lambda test: (not test.startswith(room), self.seconds[test], test))


def function_around(text: str, line: int) -> int | None:
    """The first line, decorators included, of the innermost function whose body has a line."""
    spans = [
        (node.body[0].lineno, min([node.lineno, *(each.lineno for each in node.decorator_list)]))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body[0].lineno <= line <= (node.end_lineno or 0)
    ]
    return max(spans)[1] if spans else None


def main() -> None:
    """Run the tests, and write what they reached."""
    options = argparse.ArgumentParser(description="Which functions does each test reach?")
    options.add_argument("tests", nargs="+")
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    watcher = Watcher()
    word = pytest.main(["-q", "-n", "0", "--hypothesis-seed=0", *given.tests], plugins=[watcher])
    given.out.write_text(json.dumps(watcher.tests), encoding="utf-8")
    sys.exit(word)


if __name__ == "__main__":
    main()
