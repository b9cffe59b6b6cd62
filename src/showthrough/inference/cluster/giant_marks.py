"""How far the work on a giant component is, on storage: a driver that begins anew goes on from there.

What is done after a mark depends on nothing but the mark and the files of the parts, so the answer has the same bytes
whether a driver was lost or not. Marks of another version of the package are not read.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showthrough import __version__
from showthrough.inference.face import Step
from showthrough.storage import scratch
from showthrough.table.arrays import Ints

PEOPLE, BURSTS, ANSWER, CHANGED = "people", "bursts", "answer", "changed"
"""What is marked: that persons are laid out, where Newton's method is, the answer before it is told of persons, and
who was taken for changed before they are laid out so."""


@dataclass(frozen=True)
class Marks:
    """The marks of one component; ``key`` says of what, so that none of something else is read."""

    folder: Path
    key: tuple[Any, ...]

    def read(self, name: str) -> Any:
        """What was marked, or None."""
        try:
            with self._path(name).open("rb") as stream:
                if pickle.load(stream) != (__version__, self.key):
                    return None
                return pickle.load(stream)
        except FileNotFoundError:
            return None

    def put(self, name: str, what: Any) -> None:
        """Mark; the mark before holds until this one is whole."""

        def write(stream: Any) -> None:
            pickle.dump((__version__, self.key), stream)
            pickle.dump(what, stream, protocol=pickle.HIGHEST_PROTOCOL)

        scratch.put(self._path(name), write)

    def remove(self, name: str) -> None:
        """Nobody goes on from there."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"mark-{name}.pickle"


@dataclass(frozen=True, eq=False)
class FaceMark:
    """What is possible, as the driver knows it; the parts have it in their files of that version."""

    version: int
    room: Ints
    left: Ints
    zeros: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class GiantMark:
    """Before a burst: the size of the component, what is possible, where the bursts are, and the effort so far."""

    signatures: int
    variables: int
    empty: int
    face: FaceMark
    bursts: Mapping[str, Any]
    newton_steps: int
    passes: int
