"""One target of a unit, and how it gets what it is to hold; doing it again does nothing."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from showthrough.storage import system
from showthrough.storage.claim import Claim

FILE, FOLDER, GONE = "file", "folder", "gone"


@dataclass(frozen=True)
class Piece:
    """A target that is to be a file, a folder, or gone; ``digest`` is that of the new folder."""

    claim: Claim
    kind: str
    replace: bool = True
    digest: str | None = None

    @property
    def done(self) -> bool:
        """Whether the target holds what it is to hold; for folders the digest must be known."""
        if self.kind == FILE:
            return not os.path.lexists(self.claim.new)
        if self.kind == GONE:
            return os.path.lexists(self._gone) or not os.path.lexists(self.claim.target)
        return digest(self.claim.target) == self.digest

    def put(self) -> None:
        """Let the target hold what it is to hold: in one step, but for folders where the system cannot exchange."""
        target, new = self.claim.target, self.claim.new
        if self.kind == GONE:
            os.rename(target, self._gone)
        elif not self.replace or (self.kind == FOLDER and not os.path.lexists(target)):
            system.rename_new(new, target)
        elif self.kind == FILE:
            os.replace(new, target)
        elif not system.exchange(new, target):
            self._put_in_two_steps()

    def _put_in_two_steps(self) -> None:
        """Without the second step, `restore` undoes the first."""
        os.rename(self.claim.target, old_of(self.claim))
        try:
            os.rename(self.claim.new, self.claim.target)
        except BaseException:
            restore(self.claim)
            raise

    @property
    def _gone(self) -> Path:
        return self.claim.work / "gone"


def old_of(claim: Claim) -> Path:
    """Where a folder waits while its successor takes its place in two steps."""
    return claim.work / "old"


def restore(claim: Claim) -> None:
    """Bring back a folder whose successor never took its place."""
    if os.path.lexists(old_of(claim)) and not os.path.lexists(claim.target):
        os.rename(old_of(claim), claim.target)


def digest(folder: Path) -> str | None:
    """The SHA-256 of the names and bytes in a folder, or None if it cannot be read."""
    whole = hashlib.sha256()
    try:
        for path in sorted(folder.rglob("*")):
            name = os.fsencode(path.relative_to(folder))
            held = hashlib.sha256()
            if path.is_file():
                with path.open("rb") as stream:
                    held = hashlib.file_digest(stream, "sha256")
            whole.update(len(name).to_bytes(8, "big") + name + held.digest())
        return whole.hexdigest() if folder.is_dir() else None
    except OSError:
        return None
