"""What the ledger keeps of a release: the very bytes that were published, and a folder that reads as it was understood.

A release folder is both at once. Of a plain file, whose columns somebody had to name, the folder is made, and the file
is kept beside it. The publisher's private link, where there is one, is kept too: it says who is in which group.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from showthrough.errors import FileError, LedgerError
from showthrough.ledger.events import sha256
from showthrough.ledger.store import Session
from showthrough.register.history_file import HistoryEntries, ReleaseEntry
from showthrough.register.register import Register
from showthrough.release import folder, manifest
from showthrough.release import link as private
from showthrough.release.release import Release
from showthrough.table.files import read_bytes


@dataclass(frozen=True, eq=False)
class Parcel:
    """A release on its way into the ledger; ``published`` are files by name, whose bytes are kept unless ``secret``."""

    release: Release
    parts: Mapping[str, bytes]
    published: Mapping[str, bytes]
    secret: bool = False

    @property
    def link(self) -> bytes | None:
        """The private link, as the folder knows it."""
        own = self.release
        if own.link is None or own.roles.id is not None:
            return None
        return private.as_bytes(own.link, self.parts[manifest.NAME], column=own.link_id)

    def called(self, name: str) -> Parcel:
        """The same under another name."""
        return replace(self, release=replace(self.release, name=name))

    def kept(self, session: Session) -> dict[str, Any]:
        """Keep all of it; gives what an event says of the release: counts and hashes."""
        for content in () if self.secret else self.published.values():
            session.keep(content)
        parts = {name: session.keep(content) for name, content in self.parts.items()}
        link = self.link
        own = self.release.as_dict()
        return {
            **{name: own[name] for name in ("name", "kind", "date", "persons", "groups", "values", "fingerprint")},
            "parts": parts,
            "published": [
                {"name": name, "sha256": sha256(content), "bytes": len(content)}
                for name, content in self.published.items()
            ],
            "published_kept": not self.secret,
            "link": None if link is None else session.keep(link),
        }


def of_release(release: Release) -> Parcel:
    """Of a release that is only in memory: a folder is made of it."""
    made = folder.carried(release)
    return Parcel(release, made, made)


def of_entries(entries: HistoryEntries) -> tuple[list[Parcel], Register | None]:
    """Of files and folders as an audit reads them, with the register; a file that changes meanwhile is refused."""
    before = [_files(entry, entries) for entry in entries.release]
    releases, register = entries.load()
    found = []
    for entry, release, published in zip(entries.release, releases, before, strict=True):
        if _files(entry, entries) != published:
            raise FileError(f"{entry.file} was changed while it was read: try again.")
        found.append(Parcel(release, _parts(entry, release, published), published))
    return found, register


def read(session: Session, told: Mapping[str, Any], *, where: str) -> Release:
    """The release that an event speaks of, with every byte checked."""
    name = str(told["name"])
    parts = {part: content_of(session, sha, where=where, name=name) for part, sha in told["parts"].items()}
    release = folder.from_parts(parts, where=name)
    if told.get("link"):
        raw = content_of(session, told["link"], where=where, name=name)
        release = replace(release, link=private.from_bytes(raw, release, manifest=None, where=f"{name} (link)"))
    return replace(release, name=name, date=told.get("date") or release.date)


def content_of(session: Session, sha: str, *, where: str, name: str) -> bytes:
    """Bytes that have the hash under which they are kept."""
    content = session.content(sha)
    if content is None or sha256(content) != sha:
        raise LedgerError(
            f"{where} does not hold {name} as it was recorded: its bytes were altered or removed. showthrough ledger "
            "verify tells more."
        )
    return content


def _files(entry: ReleaseEntry, entries: HistoryEntries) -> dict[str, bytes]:
    """The files that a release consists of by their names; what is shared counts as its own."""
    if os.path.isdir(entry.file):
        return folder.read_parts(entry.file)
    told: list[Any] = [entry.file, entry.values, entry.counterfeits, entry.value_map]
    told += [*(entry.hierarchies or {}).values(), *entries.hierarchies.values(), *entries.value_maps.values()]
    found: dict[str, bytes] = {}
    for path in dict.fromkeys(name for name in told if isinstance(name, str)):
        found[free_name(Path(path).name, found.__contains__)] = read_bytes(path)
    return found


def free_name(name: str, taken: Callable[[str], bool]) -> str:
    """A name that no other file has."""
    stem, _, ending = name.partition(".")
    names = (name if n == 1 else f"{stem}-{n}.{ending}" for n in range(1, 10_000))
    return next(one for one in names if not taken(one))


def _parts(entry: ReleaseEntry, release: Release, published: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The folder itself where it says all; else one that is made of the release."""
    if os.path.isdir(entry.file):
        plainly = folder.from_parts(published, where=entry.file)
        if plainly.fingerprint() == release.fingerprint():
            return published
    return folder.carried(replace(release, link=None))
