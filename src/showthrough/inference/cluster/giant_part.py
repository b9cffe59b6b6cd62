"""A component that no machine holds: its published rows, and its signatures in parts on storage that all share.

Arrays are `.npy` files that appear whole or not at all. What a worker makes of a part it can make again from these
files and from what the driver sends, so a lost worker changes no bit. Vectors over rows that are long go by file too:
the driver and the workers each write only the rows that a part touches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from showthrough.storage import scratch
from showthrough.table.arrays import Codes, Ints

_INLINE = 1 << 16  # bytes; shorter vectors travel with the call


@dataclass(frozen=True)
class GiantPart:
    """A folder with ``group_of`` [releases, signatures] (−1: absent) and ``weight``, the persons of each signature."""

    folder: str
    number: int

    def path(self, name: str) -> Path:
        """Where an array is."""
        return Path(self.folder) / f"{name}.npy"

    def read(self, name: str) -> Any:
        """An array."""
        return read_array(self.path(name))

    def write(self, **arrays: Any) -> None:
        """Arrays by their names."""
        for name, array in arrays.items():
            write_array(self.path(name), array)

    def remove(self, *patterns: str) -> None:
        """Arrays that nobody reads again, by patterns of their names."""
        for pattern in patterns:
            for path in Path(self.folder).glob(f"{pattern}.npy"):
                path.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class GiantRows:
    """All published rows of a component, sorted by group, then value; groups are numbered release by release."""

    first_group: Ints  # [releases + 1]
    row_group: Codes
    row_value: Codes
    row_count: Ints

    @property
    def size(self) -> int:
        return self.row_count.size


@dataclass(frozen=True)
class Letter:
    """A vector on its way: itself, or the file that it is in."""

    content: Any = None
    path: str = ""
    size: int = 0  # bytes

    def read(self) -> Any:
        """The vector."""
        return read_array(Path(self.path)) if self.path else self.content

    def drop(self) -> None:
        """Nobody reads it again."""
        if self.path:
            Path(self.path).unlink(missing_ok=True)


NOTHING = Letter()


def letter(folder: str | Path, name: str, vector: Any) -> Letter:
    """A vector made ready to be sent under a name that no other has."""
    if vector.nbytes <= _INLINE:
        return Letter(vector, size=vector.nbytes)
    path = Path(folder) / f"{name}.npy"
    write_array(path, vector)
    return Letter(None, str(path), vector.nbytes)


def drop(letters: Iterable[Letter]) -> None:
    """Nobody reads these again."""
    for one in letters:
        one.drop()


def read_array(path: Path) -> Any:
    """An array from its file."""
    return np.load(path, allow_pickle=False)


def mapped_array(path: Path) -> Any:
    """An array of all groups or rows, of which a worker reads what its part touches."""
    return np.load(path, mmap_mode="r", allow_pickle=False)


def write_array(path: Path, array: Any) -> None:
    """A file that appears whole."""
    scratch.put(path, lambda stream: np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False))
