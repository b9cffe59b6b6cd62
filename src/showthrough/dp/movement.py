"""What a differentially private release can add for each person, on top of a history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from showthrough.dp.interval import posterior_interval
from showthrough.dp.meaning import Semantic, check_delta, check_epsilon, check_failure, semantic
from showthrough.errors import InputError, ParameterError
from showthrough.inference.coupled import MOST_STATES, CouplingEffort, changed_of, coupled_frame
from showthrough.inference.posterior import Posterior
from showthrough.release.noise import Noise

WORLDS, ENTROPY, BOUNDS = "worlds", "maximum entropy", "bounds"

_SAID = {
    WORLDS: (
        "By worlds: a guarantee for readers who hold all worlds that fit the releases for equally likely, or as likely "
        "as the prior says. p is the share of worlds, and worlds with and without the value are coupled with at most "
        "`changed` records different."
    ),
    ENTROPY: (
        "By maximum entropy: p is a belief that treats persons as independent, which the counts of the releases deny. "
        "The interval is a guarantee for every reader whose probability is p and for whom persons of other components "
        "have nothing to do with it, as worlds differ in no more than the persons of the component whose value is open."
    ),
    BOUNDS: (
        "By bounds: a guarantee for every reader who believes that the releases are right, whatever else the reader "
        "believes of the persons of the component, if those of other components have nothing to do with it: the lowest "
        "and highest probability before, each moved by the persons of the component whose value is open."
    ),
}
_UNKNOWN = (
    "Where `changed` is empty nothing is promised: persons may not exist, the releases contradict each other there, or "
    "there is no certified answer."
)


@dataclass(frozen=True, eq=False, repr=False)
class After:
    """How far everybody's probabilities can move, and what that leans on."""

    people: pl.DataFrame
    """id, value, p (before the release), by ("worlds", "maximum entropy" or "bounds"), changed, low, high."""
    semantic: Semantic
    """What holds whatever a reader knows."""
    failure: float
    """The probability with which a posterior may lie outside its interval; 0 where δ = 0."""
    assumptions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<after a noisy release: {self.people.height} pairs; {' '.join(self.assumptions)}>"


def after(
    post: Posterior,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    release: str | None = None,
    ids: Any = None,
    p: str = WORLDS,
    failure: float | None = None,
    most_states: int = MOST_STATES,
    seconds: float = 60.0,
) -> After:
    """How far an (ε, δ)-differentially private (replace-one) release can move everybody's probabilities.

    ``release`` names a noisy release of the history: then ε and δ are what it declares, and only records are counted
    whose cell in it changes. ``p``, from the releases without noise, is "worlds" (the share of worlds where they can be
    enumerated, else the maximum-entropy answer) or "bounds". Who is in the noisy release is taken to be known. ``ids``
    asks for some persons only.
    """
    if not isinstance(post, Posterior):
        raise InputError("This looks at a posterior: give what infer returns.")
    if release is not None:
        epsilon, delta = _declared(post, release, epsilon, delta)
    check_epsilon(epsilon)
    check_delta(delta)
    check_failure(failure)
    if p not in (WORLDS, BOUNDS):
        raise ParameterError(f'p is "worlds" or "bounds", not {p!r}.', parameters=("p",))
    assert epsilon is not None
    frame = coupled_frame(post, ids, CouplingEffort(most_states, seconds, release, p == WORLDS))
    frame = _beside_bounds(post, ids, frame, seconds) if p == BOUNDS else _alone(frame)
    rows = []
    for below, above, d in frame.select("lower", "upper", "changed").iter_rows():
        if d is None:
            rows.append((0.0, 1.0))
            continue
        ends = [posterior_interval(q, epsilon=epsilon, changed=d, delta=delta, failure=failure) for q in (below, above)]
        rows.append((ends[0].low, ends[1].high))
    people = frame.with_columns(
        pl.Series("low", [low for low, _ in rows], dtype=pl.Float64),
        pl.Series("high", [high for _, high in rows], dtype=pl.Float64),
    )
    kept = [c for c in ("id", "release", "value", "p", "by", "changed", "low", "high") if c in people.columns]
    told = sorted({*people["by"].to_list()}, key=[WORLDS, ENTROPY, BOUNDS].index)
    said = tuple(_SAID[by] for by in told) + ((_UNKNOWN,) if people["changed"].null_count() else ())
    chance = 0.0 if not delta else delta**0.5 if failure is None else failure
    whole = semantic(epsilon, delta, n=max(1, post.ids.len())) if delta else semantic(epsilon)
    return After(people.select(kept), whole, chance, said)


def changed_records(
    post: Posterior,
    id: Any,
    value: Any,
    *,
    release: str | None = None,
    cells: str | None = None,
    most_states: int = 1_000_000,
    seconds: float = 60.0,
) -> int:
    """By how many records the worlds in which a person has a value differ at most from the others, once coupled.

    The smallest number for which a coupling exists, worlds weighed as `Posterior.worlds` does; where they are too many
    to be enumerated, the persons of the component whose value is open. 0 for certain and impossible values. ``release``
    says which part of a split id is meant. ``cells`` names a noisy release of the history: then only records count
    whose cell in it changes.
    """
    if cells is not None:
        _noise_of(post, cells)
    d = changed_of(post, id, value, release, CouplingEffort(most_states, seconds, cells))
    if d is None:
        raise InputError(
            "Persons of this component may not exist, the releases contradict each other there, or there is no "
            "certified answer: replacing records says nothing, so there is no such number."
        )
    return d


def _alone(frame: pl.DataFrame) -> pl.DataFrame:
    """Ends that are p itself, and where it comes from."""
    by = pl.when("enumerated").then(pl.lit(WORLDS)).otherwise(pl.lit(ENTROPY)).alias("by")
    return frame.with_columns(by, pl.col("p").alias("lower"), pl.col("p").alias("upper"))


def _beside_bounds(post: Posterior, ids: Any, frame: pl.DataFrame, seconds: float) -> pl.DataFrame:
    """Ends that are the bounds of each pair."""
    keys = [c for c in ("id", "release", "value") if c in frame.columns]
    bounds = post.bounds(ids, seconds=seconds).select(*keys, "lower", "upper")
    joined = frame.join(bounds, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(pl.lit(BOUNDS).alias("by"), pl.col("lower").clip(0, 1), pl.col("upper").clip(0, 1))


def _declared(post: Posterior, release: str, epsilon: float | None, delta: float) -> tuple[float, float]:
    """What a noisy release promises where one record is replaced."""
    if epsilon is not None or delta:
        raise ParameterError(
            "A noisy release declares its ε and δ: give release= or epsilon=, not both.",
            parameters=("release", "epsilon"),
        )
    return _noise_of(post, release).by_replacing


def _noise_of(post: Posterior, release: str) -> Noise:
    """The noise of a release of the history."""
    found = dict(zip(post.names, post.releases, strict=True)).get(release)
    if found is None or found.noise is None:
        noisy = [name for name, r in zip(post.names, post.releases, strict=True) if r.noise is not None]
        raise InputError(f"{release!r} is no noisy release of the history; these are: {', '.join(noisy) or 'none'}.")
    return found.noise
