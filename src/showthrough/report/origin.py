"""How a report was made: when, by which versions, from which files; enough to make it again."""

from __future__ import annotations

import datetime as dt
import hashlib
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from showthrough import __version__
from showthrough.table.plain import plain

LIBRARIES = ("numpy", "polars", "scipy")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class OriginFile:
    """A file that was read: its name without the folders above it, and the SHA-256 of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Origin:
    """When and with what; ``command`` names files without their folders, and is None in Python."""

    date: str
    showthrough: str
    python: str
    libraries: dict[str, str]
    files: tuple[OriginFile, ...]
    command: str | None = None

    @classmethod
    def now(cls, paths: Iterable[Path] = (), hashed: Callable[[Sequence[Path]], Sequence[str]] | None = None) -> Origin:
        """Here and now, from these files and folders; ``hashed`` gives the SHA-256 of files that others read."""
        return cls(
            date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            showthrough=__version__,
            python=platform.python_version(),
            libraries={name: _version(name) for name in LIBRARIES},
            files=tuple(_hashed(paths, hashed or _each)),
        )

    def by(self, arguments: Sequence[str]) -> Origin:
        """The same, made by a command with these arguments."""
        return replace(self, command=" ".join(map(_quoted, arguments)))

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(plain(self))


def without_folders(argument: str) -> str:
    """An argument whose paths have lost the folders above them: where files lie is nobody's business.

    Of an address only its scheme is left, as the rest may hold a password.

    >>> [without_folders(a) for a in ["/home/ann/D1.csv", "D1=../x/people.csv", "--id", "zip,age", "R1/"]]
    ['D1.csv', 'D1=people.csv', '--id', 'zip,age', 'R1']
    >>> without_folders("--ledger=postgresql://ann:secret@host/db?sslpassword=secret")
    '--ledger=postgresql://…'
    """
    name, equals, rest = argument.partition("=")
    if equals and "/" not in name and "\\" not in name:
        return f"{name}={without_folders(rest)}"
    scheme, mark, _ = argument.partition("://")
    if mark:
        return f"{scheme}://…"
    return argument.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or argument


def relative(path: Path) -> str:
    """A path as it may be told: from the folder we are in, or its name alone."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except (ValueError, OSError):
        return path.name


def _quoted(argument: str) -> str:
    from shlex import quote

    return quote(without_folders(argument))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _hashed(paths: Iterable[Path], hashed: Callable[[Sequence[Path]], Sequence[str]]) -> Iterable[OriginFile]:
    names: dict[Path, str] = {}
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else [path]  # a release folder has no further ones
        for file in inside:
            if file not in names and file.is_file():
                names[file] = file.name if file == path else f"{path.name}/{file.relative_to(path).as_posix()}"
    return map(OriginFile, names.values(), hashed(list(names)))


def _each(files: Sequence[Path]) -> list[str]:
    return [sha256_of(file) for file in files]


def sha256_of(file: Path) -> str:
    """The SHA-256 of the bytes of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
