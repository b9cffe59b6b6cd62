"""Files that commands read and write."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from showthrough import said
from showthrough.errors import FileError
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


def print_json(text: bytes) -> None:
    """On stdout, as UTF-8 whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def write_together(*, json: tuple[str, bytes, bool] | None, people: tuple[Path, Iterable[pl.DataFrame]] | None) -> None:
    """Write the JSON (target, text, private) and the people file (readable by its owner alone), or none."""
    with Unit() as unit:
        if json is not None:
            target, text, private = json
            unit.file(target, private=private).write(text)
        if people is not None:
            stream = unit.file(people[0], private=True)
            for at, part in enumerate(people[1]):
                part.write_csv(stream, include_header=at == 0)
        unit.commit()
