"""What a history and its reader have in common for several requests: files of statements and of a prior."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from showthrough.knowledge.knowledge_file import read_knowledge
from showthrough.knowledge.statement import Statement
from showthrough.register.history_file import HistoryEntries


@dataclass(frozen=True)
class InformedEntries(HistoryEntries):
    """A history with what its reader knows: ``knowledge`` are files of statements, ``prior`` is a table of beliefs.

    ``elastic`` lets statements that contradict the releases give way.
    """

    knowledge: tuple[str, ...] = ()
    prior: str | None = None
    elastic: bool = False

    def under(self, folder: Path) -> Self:
        """The same with paths seen from a folder."""
        told = tuple(os.fspath(folder / file) for file in self.knowledge)
        prior = None if self.prior is None else os.fspath(folder / self.prior)
        return replace(super().under(folder), knowledge=told, prior=prior)

    def files(self) -> list[Path]:
        """All files and folders that are read."""
        return [*super().files(), *map(Path, self.knowledge), *([] if self.prior is None else [Path(self.prior)])]

    def known(self) -> dict[str, Any]:
        """The arguments of `infer` that say so."""
        return {**known_from(self.knowledge, self.prior), "elastic": self.elastic}


def known_from(knowledge: Sequence[str], prior: str | None) -> dict[str, Any]:
    """What files say that a reader knows and believes."""
    said: list[Statement] = [one for file in knowledge for one in read_knowledge(file)]
    return {"knowledge": said, "prior": prior}
