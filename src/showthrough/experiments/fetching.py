"""Raw files from the network or a folder, checked, as the tables that experiments read. The package's only way out.

Nothing is sent but the request for a file that the user asked for by name. Servers may point elsewhere, over http and
https alone.
"""

from __future__ import annotations

import contextlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from showthrough import __version__
from showthrough.errors import FileError
from showthrough.experiments.raw_files import RawFile
from showthrough.progress import Progress
from showthrough.storage.system import unwritable
from showthrough.storage.unit import Unit
from showthrough.table.files import read_bytes

SECONDS = 30.0  # without a byte
MOST = 64 << 20  # bytes of a raw file
_PIECE = 1 << 16
_SCHEMES = ("http://", "https://")


def fetched(files: Sequence[RawFile], folder: Path, source: str | None, tell: Progress) -> list[Path]:
    """Get all raw files, then write all tables of them below a folder; none where something is wrong.

    ``source`` is a folder with the raw files or an address under which they are; without it the public one is asked.
    """
    made: dict[Path, bytes] = {}
    for one in files:
        tell.stage(f"fetching {one.name}")
        raw = one.checked(_raw(one, files, source, tell))
        for table in one.tables:
            tell.stage(f"making {table.place}")
            made[folder / table.place] = table.made(raw, one.name)
    for place in {path.parent for path in made}:
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise unwritable(place, problem) from None
    with Unit() as unit:
        for path, content in made.items():
            unit.file(path).write(content)
        unit.commit()
    return list(made)


def _raw(one: RawFile, files: Sequence[RawFile], source: str | None, tell: Progress) -> bytes:
    if source is not None and not source.startswith(_SCHEMES):
        return read_bytes(Path(source) / one.name)
    address = one.address if source is None else f"{source.rstrip('/')}/{one.name}"
    try:
        return _downloaded(address, tell)
    except (OSError, http.client.HTTPException, ValueError) as problem:  # urllib's own errors are OSErrors
        raise FileError(
            f"{address} cannot be fetched ({_reason(problem)}). By hand: put {_by_hand(files)} into one folder, and "
            "name it with source=FOLDER; nothing was written.",
            parameters=("source",),
        ) from None


def _by_hand(files: Sequence[RawFile]) -> str:
    return " and ".join(one.address for one in files)


def _reason(problem: Exception) -> str:
    """Why, in few words and without what a server says."""
    if isinstance(problem, urllib.error.HTTPError):
        problem.close()
        return f"the server answers {problem.code}"
    inner = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    if isinstance(inner, TimeoutError):
        return f"no answer for {SECONDS:g} seconds"
    if isinstance(inner, _BrokenError):
        return str(inner)
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror.lower()
    return "no connection" if isinstance(inner, OSError) else "it is no address, or the answer is no file"


class _BrokenError(OSError):
    """A file that ended too early, or did not end."""


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Follows a repository that has moved, over http and https alone."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Called by urllib."""
        if not newurl.startswith(_SCHEMES):
            fp.close()
            raise _BrokenError("it leads elsewhere")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _downloaded(address: str, tell: Progress) -> bytes:
    """The bytes under an address; counted as they come, so that whoever waits sees and can end it."""
    with _opened(address) as answer:
        said = answer.headers.get("Content-Length", "")
        size = int(said) if said.isdecimal() else 0
        parts, got = list[bytes](), 0
        while piece := answer.read(_PIECE):
            parts.append(piece)
            got += len(piece)
            if got > MOST:
                raise _BrokenError("it is far larger than the file")
            tell.count(got, max(size, got))
        if size and got != size:
            raise _BrokenError(f"it ended after {got} of {size} bytes")
    return b"".join(parts)


@contextlib.contextmanager
def _opened(address: str) -> Iterator[Any]:
    asked = urllib.request.Request(address, headers={"User-Agent": f"showthrough/{__version__}"})
    with urllib.request.build_opener(_Unmoved).open(asked, timeout=SECONDS) as answer:
        yield answer
