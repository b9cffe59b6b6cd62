"""The audit: each release alone beside all of them together, in figures that a report can print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import InputError
from showthrough.inference import attribution
from showthrough.inference.history import ABSENT, History
from showthrough.inference.posterior import Posterior
from showthrough.inference.run import infer
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals

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
    best_alone: Reals  # [persons] the largest probability from any one release
    whole_values: WholeValues | None = None

    @cached_property
    def people(self) -> pl.DataFrame:
        """Internal: every person with the likeliest value: id, value, p, p_alone, certain, newly_certain."""
        post = self.posterior
        h, mine = post.history, _signatures(post)
        best = post.pairs.best[mine]
        certain = (post.pairs.left() == 1)[mine]
        alone = self.best_alone
        columns = [
            h.values.gather(post.pairs.value[best]).alias("value"),
            pl.Series("p", post.pairs.p[best]),
            pl.Series("p_alone", alone),
            pl.Series("certain", certain),
            pl.Series("newly_certain", certain & (alone < 1)),
        ]
        return pl.DataFrame([*post.who(np.arange(h.named)), *columns])

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
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    changed: str = "refuse",
    whole_values: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Lay releases on top of each other and count what shows through.

    ``register``, ``membership`` and ``domain`` are those of `infer`. ``whole_values`` is a time budget in
    seconds for what no assignment of whole values allows.
    """
    post = infer(releases, register=register, membership=membership, domain=domain, changed=changed, progress=progress)
    h = post.history
    if not h.named:
        raise InputError(
            "Nobody in the register fits a group of any release, so there is nobody to audit: Posterior.locatability "
            "tells why."
        )
    alone, joined = _alone(post), _entropy_per_person(post)
    figures = tuple(_release_figures(h, r, alone, joined) for r in range(len(h.releases)))
    best_alone = np.nan_to_num(alone.best).max(axis=0, initial=0.0)
    whole = None
    if whole_values is not None:
        if progress:
            progress("whole values")
        facts = post.proven(integral=True, seconds=whole_values).filter(pl.col("by") == "worlds")["fact"]
        whole = WholeValues(
            seconds=whole_values, **{k: int((facts == k).sum()) for k in ("certain", "impossible", "undecided")}
        )
    return Audit(post, figures, _joint(post, best_alone), best_alone, whole)


@dataclass(frozen=True)
class _Alone:
    """What each release tells alone, per person with an id; NaN for those who are not in it."""

    best: Reals  # [R, named] the largest probability
    entropy: Reals  # [R, named]


def _alone(post: Posterior) -> _Alone:
    h = post.history
    known = int(h.first_group[-1])
    size = np.bincount(h.row_group, weights=h.row_count)
    share = h.row_count / size[h.row_group]
    top = np.maximum.reduceat(share, h.group_rows[:-1])
    spread = -np.add.reduceat(share * np.log(share), h.group_rows[:-1]) + 0.0
    best, entropy = np.full((2, len(h.releases), h.named), np.nan)
    for r, own in enumerate(h.group_of[:, : h.named]):
        if (own >= known).any():  # somebody fits several groups: no closed form
            view = attribution.view(post, [r])
            best[r] = attribution.on(post, view, view.post.pairs.p[view.post.pairs.best][_signatures(view.post)])
            entropy[r] = attribution.on(post, view, _entropy_per_person(view.post))
            continue
        here = own != ABSENT
        best[r, here], entropy[r, here] = top[own[here]], spread[own[here]]
    return _Alone(best, entropy)


def _release_figures(h: History, r: int, alone: _Alone, joined: Reals) -> ReleaseFigures:
    here = ~np.isnan(alone.best[r])
    return ReleaseFigures(
        name=h.names[r],
        kind=h.releases[r].kind,
        persons=int(here.sum()),
        groups=int(h.first_group[r + 1] - h.first_group[r]),
        values=np.unique(h.row_value[_rows_of(h, r)]).size,
        certain_alone=int((alone.best[r] == 1).sum()),
        entropy_alone_nats=float(np.nansum(alone.entropy[r])) + 0.0,
        entropy_joined_nats=float(joined[here].sum()),
    )


def _joint(post: Posterior, alone: Reals) -> JointFigures:
    h, pairs, mine = post.history, post.pairs, _signatures(post)
    weight = np.bincount(mine, minlength=post.problem.signatures)
    best = pairs.p[pairs.best][mine]
    certain = (pairs.left() == 1)[mine]
    outside = post.outside_common()[0]
    best = np.where(certain, 1.0, best)
    return JointFigures(
        persons=h.named,
        values=h.values.len(),
        entropy_nats=post.entropy,
        certain=int(certain.sum()),
        certain_alone=int((alone == 1).sum()),
        newly_certain=int((certain & (alone < 1)).sum()),
        impossible_by_sets=int(weight[outside].sum()),
        impossible_by_counts=int(weight[pairs.signature[~pairs.alive]].sum()),
        expected_guesses=float(best.sum()),
        expected_guesses_alone=float(alone.sum()),
        best_guess_at_least={str(level): int((best >= level - 1e-9).sum()) for level in LEVELS},
        best_guess_at_least_alone={str(level): int((alone >= level - 1e-9).sum()) for level in LEVELS},
    )


def _signatures(post: Posterior) -> Ints:
    """[named] the signature of each person with an id."""
    return post.of_person[: post.history.named]


def _entropy_per_person(post: Posterior) -> Reals:
    pairs = post.pairs
    p = np.where(pairs.p > 0, pairs.p, 1.0)
    return -np.add.reduceat(p * np.log(p), pairs.start[:-1])[_signatures(post)]


def _rows_of(h: History, r: int) -> slice:
    return slice(int(h.group_rows[h.first_group[r]]), int(h.group_rows[h.first_group[r + 1]]))
