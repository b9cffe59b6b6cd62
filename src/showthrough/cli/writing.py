"""Files that commands read and write."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from showthrough import said
from showthrough.errors import FileError
from showthrough.report.origin import Origin
from showthrough.storage.unit import Unit, check_writable


def check_targets(targets: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Every file can be written, none twice, and none of them is, or is in, what is read."""
    read = {os.path.realpath(path) for path in inputs}
    seen: set[str] = set()
    for target in targets:
        check_writable(target)
        place = os.path.realpath(target)
        if place in read or any(str(parent) in read for parent in Path(place).parents):
            raise FileError(f"{target} is, or is in, what this command reads: choose another name for the output.")
        if place in seen:
            raise FileError(f"{target} is named for two outputs: choose two names.")
        seen.add(place)


def as_json(told: Mapping[str, Any]) -> bytes:
    """One JSON object in UTF-8."""
    return f"{said.shareable(json.dumps(told, ensure_ascii=False, indent=2))}\n".encode(errors="replace")


def print_bytes(text: bytes) -> None:
    """On stdout, as UTF-8 whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def write_together(
    files: Iterable[tuple[Path, bytes, bool]], people: tuple[Path, Iterable[pl.DataFrame]] | None = None
) -> None:
    """Write files (target, text, whether it is private) and the people file (readable by its owner alone), or none."""
    with Unit() as unit:
        for target, text, private in files:
            unit.file(target, private=private).write(text)
        if people is not None:
            stream = unit.file(people[0], private=True)
            for at, part in enumerate(people[1]):
                part.write_csv(stream, include_header=at == 0)
        unit.commit()


def give_json(target: str | None, told: Mapping[str, Any], *, private: bool) -> None:
    """To stdout, to a file, or nowhere."""
    if target == "-":
        print_bytes(as_json(told))
    elif target is not None:
        sys.stdout.flush()
        write_together([(Path(target), as_json(told), private)])


def as_started(made: Origin) -> Origin:
    """With the command of this process, if it is ours."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    ours = name.startswith("showthrough") or name == "__main__.py"
    return made.by(["showthrough", *sys.argv[1:]]) if ours else made


def add_to_summary(text: bytes) -> None:
    """Append to the page of a GitHub job, where there is one; that it cannot be written is no reason to fail."""
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if page:
        with contextlib.suppress(OSError), open(page, "ab") as stream:
            stream.write(text)
