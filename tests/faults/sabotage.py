"""Ways to write that look right: the harness must notice every one of them."""

from __future__ import annotations

import os
import shutil


def none() -> None:
    """The code as it is."""


def replaced_in_two_steps() -> None:
    """The old folder goes before the new one comes, and nobody remembers it."""
    from showthrough.storage import piece

    def put(self: piece.Piece) -> None:
        shutil.rmtree(self.claim.target, ignore_errors=True)
        os.rename(self.claim.new, self.claim.target)

    piece.Piece.put = put


def nobody_remembers() -> None:
    """The command is interrupted after it wrote, and says that it wrote nothing."""
    from showthrough.storage import unit

    unit.record = lambda _: None


def no_journal() -> None:
    """The parts of a unit move one after the other, and a killed run is forgotten."""
    from showthrough.storage.unit import Unit

    Unit._write_journal = lambda _: None


def nobody_sweeps() -> None:
    """What is not needed any more stays."""
    from showthrough.storage.claim import Claim

    Claim.release = Claim.leave


SABOTAGES = {f.__name__: f for f in (none, replaced_in_two_steps, nobody_remembers, no_journal, nobody_sweeps)}
NOTICED = {  # what the harness has to say of each
    "replaced_in_two_steps": "was neither old nor new",
    "nobody_remembers": "but the new state is there",
    "no_journal": "after the next reader, names of both states",
    "nobody_sweeps": "after the next reader there still are",
}
