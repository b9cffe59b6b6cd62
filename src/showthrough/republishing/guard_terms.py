"""What a guard works with: the table, its past, the policy, and who reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from showthrough.anonymizers.table import Table
from showthrough.inference.posterior import Posterior
from showthrough.policy.policy import Policy
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.tied import joint

Publish = Callable[[Proposal], Release]


class ReadBy(Protocol):
    """Somebody who reads releases otherwise than by everybody's groups."""

    def __call__(self, releases: Sequence[Release]) -> Posterior:
        """What is learned from releases."""
        ...

    def roughly(self, releases: Sequence[Release], before: Posterior, passes: int) -> Posterior | None:
        """The same roughly and quickly, from the answer without the last of them; None where that cannot be."""
        ...


@dataclass(frozen=True)
class Guard:
    """What the search works with."""

    table: Table
    past: Past
    policy: Policy
    m: int
    publish: Publish
    kind: str  # of release
    seed: int
    seconds: float
    criteria: Sequence[Any] = ()
    hold_back: bool = True
    best_effort: bool = False  # where the policy cannot be kept, come as near as possible
    exposed: str = "refuse"  # or "accept": persons whom earlier releases expose do not count
    prefer: str = "lasting"  # or "useful": whatever loses least now
    progress: Progress = field(default_factory=Progress)
    grouped: Callable[[Table], Proposal | None] = lambda _: None  # what the method makes of some rows
    located: ReadBy | None = None  # readers locate persons by quasi-identifiers; None: they know everybody's group

    def read(self, releases: Sequence[Release]) -> Posterior:
        """What readers learn from releases."""
        if self.located is not None:
            return self.located(releases)
        past, quiet = self.past, self.progress.silent()
        return joint(releases, changed=past.choice, known=past.known, progress=quiet)
