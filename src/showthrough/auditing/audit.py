"""The audit: each release alone beside all of them together, in figures that a report can print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.inference.arrays import Reals
from showthrough.inference.history import ABSENT, History
from showthrough.inference.posterior import Posterior
from showthrough.inference.run import infer
from showthrough.release.release import Release

LEVELS = (0.5, 0.9)


@dataclass(frozen=True)
class ReleaseFigures:
    """One release: alone, and what is left of its persons' secrecy when all releases are joined."""

    name: str
    kind: str
    persons: int
    groups: int
    values: int
    certain_alone: int
    entropy_alone_nats: float
    entropy_joined_nats: float


@dataclass(frozen=True)
class JointFigures:
    """All releases together; ``alone`` figures take each person's most telling single release."""

    persons: int
    values: int
    entropy_nats: float
    certain: int
    certain_alone: int
    newly_certain: int
    impossible_by_sets: int
    impossible_by_counts: int
    expected_guesses: float
    expected_guesses_alone: float
    best_guess_at_least: dict[str, int]
    best_guess_at_least_alone: dict[str, int]


@dataclass(frozen=True)
class WholeValues:
    """What assignments of whole values add to the facts by sets and counts, within a time budget."""

    seconds: float
    certain: int  # persons
    impossible: int  # pairs
    undecided: int  # pairs


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """A history laid on top of itself; made by `audit`."""

    posterior: Posterior
    releases: tuple[ReleaseFigures, ...]
    joint: JointFigures
    whole_values: WholeValues | None = None

    @cached_property
    def people(self) -> pl.DataFrame:
        """Internal: every person with the likeliest value: id, value, p, p_alone, certain, newly_certain."""
        post = self.posterior
        h, best = post.history, _best_variable(post)
        variable = best[post.of_person]
        certain = (post.face.choices() == 1)[post.of_person]
        alone = _best_alone(h)
        columns = [
            h.values.gather(post.problem.value[variable]).alias("value"),
            pl.Series("p", post.x[variable]),
            pl.Series("p_alone", alone),
            pl.Series("certain", certain),
            pl.Series("newly_certain", certain & (alone < 1)),
        ]
        return pl.DataFrame([*post.who(np.arange(h.persons)), *columns])

    def __repr__(self) -> str:
        j = self.joint
        return (
            f"<audit of {len(self.releases)} releases and {j.persons} persons: {j.certain} certain together, "
            f"{j.certain_alone} from one release alone>"
        )

    def figures(self) -> dict[str, Any]:
        """Counts only, as plain data: nothing here names a person."""
        found = {"releases": [asdict(r) for r in self.releases], "together": asdict(self.joint)}
        return found | ({} if self.whole_values is None else {"whole_values": asdict(self.whole_values)})


def audit(
    releases: Sequence[Release],
    *,
    changed: str = "refuse",
    whole_values: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Lay releases on top of each other and count what shows through.

    ``whole_values`` is a time budget in seconds for what no assignment of whole values allows.
    """
    post = infer(releases, changed=changed, progress=progress)
    h = post.history
    entropy = _entropy_per_person(post)
    figures = tuple(_release_figures(h, r, entropy) for r in range(len(h.releases)))
    whole = None
    if whole_values is not None:
        if progress:
            progress("whole values")
        facts = post.proven(integral=True, seconds=whole_values).filter(pl.col("by") == "worlds")["fact"]
        whole = WholeValues(
            seconds=whole_values, **{k: int((facts == k).sum()) for k in ("certain", "impossible", "undecided")}
        )
    return Audit(post, figures, _joint(post), whole)


def _release_figures(h: History, r: int, entropy: Reals) -> ReleaseFigures:
    mine = _rows_of(h, r)
    group, count = h.row_group[mine] - int(h.first_group[r]), h.row_count[mine]
    size = np.bincount(group, weights=count)
    share = count / size[group]
    here = h.group_of[r] != ABSENT
    return ReleaseFigures(
        name=h.names[r],
        kind=h.releases[r].kind,
        persons=int(here.sum()),
        groups=size.size,
        values=np.unique(h.row_value[mine]).size,
        certain_alone=int(count[share == 1].sum()),
        entropy_alone_nats=float(-(count * np.log(share)).sum()) + 0.0,
        entropy_joined_nats=float(entropy[here].sum()),
    )


def _joint(post: Posterior) -> JointFigures:
    h, problem = post.history, post.problem
    best = post.x[_best_variable(post)][post.of_person]
    certain = (post.face.choices() == 1)[post.of_person]
    alone = _best_alone(h)
    outside = post.outside_common()[0]
    best = np.where(certain, 1.0, best)
    return JointFigures(
        persons=h.persons,
        values=h.values.len(),
        entropy_nats=post.entropy,
        certain=int(certain.sum()),
        certain_alone=int((alone == 1).sum()),
        newly_certain=int((certain & (alone < 1)).sum()),
        impossible_by_sets=int(problem.weight[outside].sum()),
        impossible_by_counts=int(problem.weight[problem.signature[~post.face.alive]].sum()),
        expected_guesses=float(best.sum()),
        expected_guesses_alone=float(alone.sum()),
        best_guess_at_least={str(level): int((best >= level - 1e-9).sum()) for level in LEVELS},
        best_guess_at_least_alone={str(level): int((alone >= level - 1e-9).sum()) for level in LEVELS},
    )


def _best_variable(post: Posterior) -> Any:
    """[m] the variable with the largest probability of each signature."""
    top = np.maximum.reduceat(post.x, post.problem.start[:-1])
    hit = np.flatnonzero(post.x == top[post.problem.signature])
    first = np.searchsorted(post.problem.signature[hit], np.arange(post.problem.signatures))
    return hit[first]


def _best_alone(h: History) -> Reals:
    """[n] the largest share of a value in any one of a person's groups."""
    size = np.bincount(h.row_group, weights=h.row_count)
    top = np.maximum.reduceat(h.row_count, h.group_rows[:-1]) / size
    return np.asarray(np.where(h.group_of == ABSENT, 0.0, top[h.group_of]).max(axis=0))


def _entropy_per_person(post: Posterior) -> Reals:
    p = np.where(post.x > 0, post.x, 1.0)
    return -np.add.reduceat(p * np.log(p), post.problem.start[:-1])[post.of_person]


def _rows_of(h: History, r: int) -> slice:
    return slice(int(h.group_rows[h.first_group[r]]), int(h.group_rows[h.first_group[r + 1]]))
