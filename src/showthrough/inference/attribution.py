"""Which release told what: prefixes of the history, one release left out, smallest sets, channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from showthrough.inference.history import ABSENT
from showthrough.inference.run import infer_for
from showthrough.table.arrays import Codes, Ints, Reals
from showthrough.table.codes import positions

if TYPE_CHECKING:
    from showthrough.inference.posterior import Posterior

Progress = Callable[[str], None]


@dataclass(frozen=True)
class View:
    """The posterior of some releases of a history, by their numbers in it."""

    releases: tuple[int, ...]
    post: Posterior


CHANNEL = 2e-5  # twice the error bar of a certified answer


def by_prefix(post: Posterior, *, progress: Progress | None = None) -> pl.DataFrame:
    """Largest probability of every person before and after each release joined the history."""
    h = post.history
    before, frames = np.full(h.named, np.nan), []
    for r, name in enumerate(h.names):
        if progress:
            progress(f"history up to {name}")
        after = _largest(post, view(post, range(r + 1)))
        frames.append(_frame(post, name, {"p_before": before, "p_after": after}))
        before = after
    return pl.concat(frames)


def leave_one_out(post: Posterior, *, progress: Progress | None = None) -> pl.DataFrame:
    """Largest probability of every person without and with each release."""
    h, frames = post.history, []
    everything = _largest(post, view(post, range(len(h.names))))
    for r, name in enumerate(h.names):
        if progress:
            progress(f"history without {name}")
        rest = [k for k in range(len(h.names)) if k != r]
        without = _largest(post, view(post, rest)) if rest else np.full(h.named, np.nan)
        frames.append(_frame(post, name, {"p_without": without, "p_with": everything}))
    return pl.concat(frames)


def smallest_sets(post: Posterior, *, most_runs: int) -> pl.DataFrame:
    """Try sets of releases by size until every certain person is explained or the runs are used up."""
    h = post.history
    wanted = set(np.flatnonzero(_certain(post)).tolist())
    found: dict[int, tuple[tuple[int, ...], bool]] = {}
    everything = tuple(range(len(h.names)))
    tried: dict[tuple[int, ...], set[int]] = {everything: wanted}
    for size in range(1, len(h.names) + 1):
        for chosen in combinations(everything, size):
            if not wanted - set(found) or len(tried) > most_runs:
                break
            if chosen not in tried:
                tried[chosen] = _certain_in(post, chosen)
            for person in tried[chosen] & (wanted - set(found)):
                found[person] = (chosen, True)
    for person in sorted(wanted - set(found)):
        found[person] = (_irreducible(post, person, tried), False)
    people = np.array(sorted(found), dtype=np.int64)
    best = _best_values(post, people)
    return pl.DataFrame(
        [
            *post.who(people),
            best.alias("value"),
            pl.Series("releases", [[h.names[r] for r in found[p][0]] for p in people], dtype=pl.List(pl.String)),
            pl.Series("smallest", [found[p][1] for p in people], dtype=pl.Boolean),
        ]
    )


def channels(post: Posterior) -> pl.DataFrame:
    """P_u(S | I) ≠ P_{u,v}(S | I) for somebody in u: there is an inference channel between u and v."""
    h = post.history
    alone = [view(post, [r]) for r in range(len(h.names))]
    rows = []
    for u, v in combinations(range(len(h.names)), 2):
        both = view(post, [u, v])
        moved = np.fmax(_change(post, alone[u], both), _change(post, alone[v], both))
        concerned = int((moved > CHANNEL).sum())
        rows.append((h.names[u], h.names[v], concerned > 0, concerned, float(np.nan_to_num(moved).max(initial=0.0))))
    names = {"first": pl.String, "second": pl.String, "channel": pl.Boolean}
    return pl.DataFrame(rows, schema={**names, "persons": pl.Int64, "largest_change": pl.Float64}, orient="row")


def view(post: Posterior, releases: Sequence[int]) -> View:
    """The posterior from some of the releases alone."""
    if len(releases) == len(post.history.releases):
        return View(tuple(releases), post)
    chosen = [post.history.releases[r] for r in releases]
    reader = post.history.reader.called([post.history.names[r] for r in releases])
    return View(tuple(releases), infer_for(reader, chosen, post.history.changed))


def on(post: Posterior, part: View, figure: Reals) -> Reals:
    """Figures of the persons of a view on the persons of ``post``; NaN for those who are not in it.

    An id that is split in the whole history may be one person in the view: its parts share the figure.
    """
    own = pl.DataFrame([part.post.history.ids.cast(post.history.ids.dtype).alias("id"), pl.Series("figure", figure)])
    own = own.with_columns(pl.Series("part", _parts(part.post, part.releases)))
    whole = own.filter(pl.col("part") == -1).select("id", pl.col("figure").alias("whole"))
    every = pl.DataFrame([post.history.ids.alias("id"), pl.Series("part", _parts(post))])
    every = every.join(own, on=["id", "part"], how="left", maintain_order="left")
    every = every.join(whole, on="id", how="left", maintain_order="left")
    inside = pl.col("part").is_in([-1, *part.releases])
    found = every.select(pl.when(inside).then(pl.coalesce("figure", "whole")).fill_null(np.nan))
    return found.to_series().to_numpy()


def _parts(post: Posterior, numbers: Sequence[int] | None = None) -> Codes:
    """[n] the release of a split-off person, by its number in the whole history, or −1."""
    split = post.history.split_release
    if split is None:
        return np.full(post.history.named, -1, dtype=np.int32)
    names = np.arange(len(post.history.names)) if numbers is None else np.array(numbers)
    return np.where(split == ABSENT, -1, names[split]).astype(np.int32)


def _largest(post: Posterior, part: View) -> Reals:
    pairs = part.post.pairs
    return on(post, part, pairs.p[pairs.best][_signatures(part.post)])


def _certain(post: Posterior) -> Any:
    return (post.pairs.left() == 1)[_signatures(post)]


def _certain_in(post: Posterior, releases: Sequence[int]) -> set[int]:
    part = view(post, releases)
    figure = on(post, part, _certain(part.post).astype(np.float64))
    return set(np.flatnonzero(figure == 1).tolist())


def _irreducible(post: Posterior, person: int, tried: dict[tuple[int, ...], set[int]]) -> tuple[int, ...]:
    """Leave out releases one by one as long as the person stays certain; sets are tried once for everybody."""
    kept = tuple(range(len(post.history.names)))
    for r in kept:
        rest = tuple(k for k in kept if k != r)
        if rest and rest not in tried:
            tried[rest] = _certain_in(post, rest)
        if rest and person in tried[rest]:
            kept = rest
    return kept


def _best_values(post: Posterior, people: Any) -> pl.Series:
    left = np.flatnonzero(post.pairs.alive)
    first = left[np.searchsorted(post.pairs.signature[left], post.of_person[people])]
    return post.history.values.gather(post.pairs.value[first])


def _change(post: Posterior, alone: View, both: View) -> Reals:
    """[n] the largest change of a probability of anybody in the one release; NaN for the others."""
    largest = np.zeros(post.history.named)
    for value in range(post.history.values.len()):
        word = post.history.values[value]
        old, new = (on(post, part, _probability(part.post, word, post.history.values)) for part in (alone, both))
        largest = np.maximum(largest, np.abs(new - old))
    return largest


def _probability(post: Posterior, value: Any, whole: pl.Series) -> Reals:
    """[n] P(value | person)."""
    found = np.zeros(post.problem.signatures)
    code = int(positions(pl.Series([value], dtype=whole.dtype), post.history.values.cast(whole.dtype))[0])
    mine = np.flatnonzero(post.pairs.value == code)
    found[post.pairs.signature[mine]] = post.pairs.p[mine]
    return found[_signatures(post)]


def _signatures(post: Posterior) -> Ints:
    """[named] the signature of each person with an id."""
    return post.of_person[: post.history.named]


def _frame(post: Posterior, name: str, figures: dict[str, Reals]) -> pl.DataFrame:
    """Rows for the persons who are known by then."""
    people = np.flatnonzero(~np.isnan(np.fmax.reduce(list(figures.values()))))
    columns = [pl.Series(k, v[people]).fill_nan(None) for k, v in figures.items()]
    release = pl.repeat(name, people.size, dtype=pl.String, eager=True).alias("release")
    who = [c.alias("part") if c.name == "release" else c for c in post.who(people)]
    return pl.DataFrame([*who, release, *columns])
