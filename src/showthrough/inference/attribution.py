"""Which release told what: each alone, prefixes of the history, one release left out, smallest sets, channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from showthrough.inference.history import ABSENT
from showthrough.inference.solved import Solved
from showthrough.progress import Progress
from showthrough.table.arrays import Flags, Reals
from showthrough.table.codes import positions

CHANNEL = 2e-5  # twice the error bar of a certified answer
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Alone:
    """What each release tells by itself, by release and person; NaN where the person is not in it."""

    largest: Reals  # [R, n] the largest probability
    entropy: Reals  # [R, n] in nats


@dataclass(frozen=True, eq=False)
class Views:
    """An answer, and how to get the answer from some of its releases alone."""

    whole: Solved
    infer: Callable[[Sequence[int]], Solved]

    @property
    def names(self) -> tuple[str, ...]:
        """What the releases are called."""
        return tuple(self.whole.history.names[k] for k in self.whole.history.heads)

    def part(self, releases: Sequence[int]) -> PartSolved:
        """The answer from some of the releases, by their numbers."""
        history = self.whole.history
        everything = len(releases) == len(self.names)
        everything |= not history.inside[history.layers_of(releases)].any()  # nobody is told of: any answer will do
        return PartSolved(tuple(releases), self.whole if everything else self.infer(releases))

    def on(self, view: PartSolved, figure: Reals) -> Reals:
        """Figures of the persons of a view on the persons of the whole; NaN for those who are not in it.

        An id that is split in the whole history may be one person in the view: its parts share the figure.
        A part may cover several releases: it is the person whom the view names by one of them.
        """
        history, theirs = self.whole.history, view.solved.history.ids
        layers = history.layers_of(view.releases)
        own = pl.DataFrame([theirs.cast(history.ids.dtype).alias("id"), pl.Series("figure", figure)])
        own = own.with_columns(pl.Series("part", view.solved.parts(layers)))
        shared = own.filter(pl.col("part") == -1).select("id", pl.col("figure").alias("shared"))
        release, person = np.nonzero(history.inside[layers])
        parts = np.array(layers, dtype=np.int32)[release]
        every = pl.DataFrame(
            [history.ids.gather(person).alias("id"), pl.Series("part", parts), pl.Series("at", person)]
        )
        every = every.join(own.filter(pl.col("part") != -1), on=["id", "part"], how="left")
        every = every.join(shared, on="id", how="left").with_columns(pl.coalesce("figure", "shared").alias("figure"))
        known = every.filter(pl.col("figure").is_not_null())
        found = np.full(history.named, np.nan)
        found[known["at"].to_numpy()] = known["figure"].to_numpy()
        return found

    def largest(self, releases: Sequence[int]) -> Reals:
        """[n] the largest probability of everybody from some of the releases."""
        view = self.part(releases)
        return self.on(view, view.solved.largest)

    def told(self, releases: Sequence[int]) -> PartTold:
        """What some of the releases tell of everybody."""
        view = self.part(releases)
        certain = self.on(view, view.solved.certain.astype(np.float64)) == 1
        return PartTold(self.on(view, view.solved.largest), certain, bool(view.solved.certified.all()))

    def certain(self, releases: Sequence[int]) -> set[int]:
        """The persons of whom some of the releases make a reader certain."""
        view = self.part(releases)
        figure = self.on(view, view.solved.certain.astype(np.float64))
        return set(np.flatnonzero(figure == 1).tolist())


@dataclass(frozen=True, eq=False)
class PartSolved:
    """The answer from some releases of a history, by their numbers in it."""

    releases: tuple[int, ...]
    solved: Solved


@dataclass(frozen=True, eq=False)
class PartTold:
    """What some releases tell of the persons of the whole history."""

    largest: Reals  # [n] the largest probability; NaN for who is in none of them, or has no certified one
    certain: Flags  # [n] whether a value is proven certain
    settled: bool  # whether everybody in them has a certified answer


def alone(views: Views) -> Alone:
    """Each release by itself; where everybody's group and all counts are known that takes no inference."""
    h = views.whole.history
    known, plain = int(h.first_group[-1]), h.row_upper is None and not h.covers
    plain = plain and h.statements is None and h.prior is None
    size = np.maximum(np.bincount(h.row_group, weights=h.row_count), 1.0)
    share = h.row_count / size[h.row_group]
    top = np.maximum.reduceat(share, h.group_rows[:-1])
    spread = -np.add.reduceat(share * np.log(np.maximum(share, _TINY)), h.group_rows[:-1]) + 0.0
    largest, entropy = np.full((2, len(h.heads), h.named), np.nan)
    for r, own in enumerate(h.group_of[list(h.heads), : h.named]):
        noisy = not (h.inside[h.heads[r]] == (own != ABSENT)).all()
        if not plain or noisy or (own >= known).any():  # ranges, knowledge, noise, or several groups: no closed form
            view = views.part([r])
            largest[r] = views.on(view, view.solved.largest)
            entropy[r] = views.on(view, view.solved.entropies)
            continue
        here = own != ABSENT
        largest[r, here], entropy[r, here] = top[own[here]], spread[own[here]]
    return Alone(largest, entropy)


def by_prefix(views: Views, progress: Progress) -> pl.DataFrame:
    """Largest probability of every person before and after each release joined the history."""
    before, frames = np.full(views.whole.history.named, np.nan), []
    for r, name in enumerate(views.names):
        progress.stage(f"history up to {name}")
        after = views.largest(range(r + 1))
        frames.append(_frame(views.whole, name, {"p_before": before, "p_after": after}))
        before = after
    return pl.concat(frames)


def leave_one_out(views: Views, progress: Progress) -> pl.DataFrame:
    """Largest probability of every person without and with each release."""
    frames, numbers = [], range(len(views.names))
    everything = views.largest(numbers)
    for r, name in enumerate(views.names):
        progress.stage(f"history without {name}")
        rest = [k for k in numbers if k != r]
        without = views.largest(rest) if rest else np.full(views.whole.history.named, np.nan)
        frames.append(_frame(views.whole, name, {"p_without": without, "p_with": everything}))
    return pl.concat(frames)


def smallest_sets(views: Views, *, most_runs: int) -> pl.DataFrame:
    """Try sets of releases by size until every certain person is explained or the runs are used up."""
    wanted = set(np.flatnonzero(views.whole.certain).tolist())
    found: dict[int, tuple[tuple[int, ...], bool]] = {}
    everything = tuple(range(len(views.names)))
    tried: dict[tuple[int, ...], set[int]] = {everything: wanted}
    for size in range(1, len(views.names) + 1):
        for chosen in combinations(everything, size):
            if not wanted - set(found) or len(tried) > most_runs:
                break
            if chosen not in tried:
                tried[chosen] = views.certain(chosen)
            for person in tried[chosen] & (wanted - set(found)):
                found[person] = (chosen, True)
    for person in sorted(wanted - set(found)):
        found[person] = (_irreducible(views, person, tried), False)
    people = np.array(sorted(found), dtype=np.int64)
    return pl.DataFrame(
        [
            *views.whole.who(people),
            _values_left(views.whole, people).alias("value"),
            pl.Series("releases", [[views.names[r] for r in found[p][0]] for p in people], dtype=pl.List(pl.String)),
            pl.Series("smallest", [found[p][1] for p in people], dtype=pl.Boolean),
        ]
    )


def channels(views: Views) -> pl.DataFrame:
    """P_u(S | I) ≠ P_{u,v}(S | I) for somebody in u: there is an inference channel between u and v."""
    names = views.names
    single = [views.part([r]) for r in range(len(names))]
    rows = []
    for u, v in combinations(range(len(names)), 2):
        both = views.part([u, v])
        moved = np.fmax(_change(views, single[u], both), _change(views, single[v], both))
        concerned = int((moved > CHANNEL).sum())
        rows.append((names[u], names[v], concerned > 0, concerned, float(np.nan_to_num(moved).max(initial=0.0))))
    kinds = {"first": pl.String, "second": pl.String, "channel": pl.Boolean}
    return pl.DataFrame(rows, schema={**kinds, "persons": pl.Int64, "largest_change": pl.Float64}, orient="row")


def _irreducible(views: Views, person: int, tried: dict[tuple[int, ...], set[int]]) -> tuple[int, ...]:
    """Leave out releases one by one as long as the person stays certain; sets are tried once for everybody."""
    kept = tuple(range(len(views.names)))
    for r in kept:
        rest = tuple(k for k in kept if k != r)
        if rest and rest not in tried:
            tried[rest] = views.certain(rest)
        if rest and person in tried[rest]:
            kept = rest
    return kept


def _values_left(solved: Solved, people: Any) -> pl.Series:
    """The first value that is left for each person: of the certain, the only one."""
    left = np.flatnonzero(solved.pairs.alive)
    first = left[np.searchsorted(solved.pairs.signature[left], solved.mine[people])]
    return solved.history.values.gather(solved.pairs.value[first])


def _change(views: Views, single: PartSolved, both: PartSolved) -> Reals:
    """[n] the largest change of a probability of anybody in the one release; NaN for the others."""
    values, largest = views.whole.history.values, np.zeros(views.whole.history.named)
    for word in values:
        old, new = (views.on(view, _probability(view.solved, word, values)) for view in (single, both))
        largest = np.maximum(largest, np.abs(new - old))
    return largest


def _probability(solved: Solved, value: Any, values: pl.Series) -> Reals:
    """[n] P(value | person) of a value of another history."""
    own = solved.history.values.cast(values.dtype)
    return solved.probability(int(positions(pl.Series([value], dtype=values.dtype), own)[0]))


def _frame(solved: Solved, name: str, figures: dict[str, Reals]) -> pl.DataFrame:
    """Rows for the persons who are known by then."""
    people = np.flatnonzero(~np.isnan(np.fmax.reduce(list(figures.values()))))
    columns = [pl.Series(k, v[people]).fill_nan(None) for k, v in figures.items()]
    release = pl.repeat(name, people.size, dtype=pl.String, eager=True).alias("release")
    who = [c.alias("part") if c.name == "release" else c for c in solved.who(people)]
    return pl.DataFrame([*who, release, *columns])
