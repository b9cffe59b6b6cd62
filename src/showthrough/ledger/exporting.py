"""All that a ledger holds, as files that other programs read: the log, and each release as it was published."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from showthrough.ledger.memory import Memory, Recorded
from showthrough.ledger.parcel import content_of, free_name
from showthrough.ledger.store import Session
from showthrough.storage.system import write_bytes
from showthrough.storage.unit import Unit


def export(session: Session, memory: Memory, folder: str | os.PathLike[str]) -> None:
    """Write a folder with ``log.json`` and a folder for each release; all of it for its owner alone."""
    with Unit() as unit:
        home = unit.folder(folder)
        os.chmod(home, 0o700)
        log = {"head": memory.head, "events": [event.as_dict() for event in memory.events]}
        write_bytes(home / "log.json", json.dumps(log, indent=1).encode(), private=True)
        for number, recorded in enumerate(memory.releases, start=1):
            _write(session, memory, recorded, home / f"{number:04}-{_plain(recorded.name)}")
        unit.commit()


def _write(session: Session, memory: Memory, recorded: Recorded, home: Path) -> None:
    """The release folder, and beside it what was published where that is something else."""
    told = recorded.told
    published = {one["name"]: one["sha256"] for one in told["published"]} if told["published_kept"] else {}
    folders: dict[str, dict[str, Any]] = {"release": dict(told["parts"])}
    if published and published != told["parts"]:
        folders["published"] = published
    os.mkdir(home, 0o700)
    for folder, parts in folders.items():
        os.mkdir(home / folder, 0o700)
        written: set[str] = set()
        for name, sha in parts.items():
            content = content_of(session, sha, where=memory.where, name=recorded.name)
            written.add(own := free_name(_plain(name), written.__contains__))
            write_bytes(home / folder / own, content, private=True)
    if told["link"] is not None:
        content = content_of(session, told["link"], where=memory.where, name=recorded.name)
        write_bytes(home / "release.link.csv", content, private=True)


def _plain(name: str) -> str:
    """A name as every file system takes it."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)[:80]
    return kept.lstrip(".") or "_"
