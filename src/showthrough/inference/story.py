"""What is known of one person: from each release alone, from the history as it grew, and from all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from showthrough.errors import UnknownPersonError
from showthrough.inference.attribution import CHANNEL, Views
from showthrough.inference.certificate import STATES
from showthrough.inference.solved import Solved
from showthrough.table.plain import plain

_RUNS = 60  # inferences for the fewest releases that are needed


@dataclass(frozen=True)
class OfValue:
    """One value: its probability from each release alone, up to each, and from all; None where there is none."""

    value: Any
    alone: tuple[float | None, ...]
    up_to: tuple[float | None, ...]
    p: float | None
    fact: str | None  # "certain", "impossible" or neither
    conditional: bool = False


@dataclass(frozen=True)
class Story:
    """One person: values with the likeliest first, and the fewest releases that tell as much of it as all."""

    id: Any
    release: str | None  # of a split id: the part that is meant
    state: str
    names: tuple[str, ...]
    values: tuple[OfValue, ...]
    needed: tuple[str, ...]
    smallest: bool  # False: smaller sets were not all tried

    @property
    def best(self) -> OfValue:
        """The likeliest value."""
        return self.values[0]

    def of(self, value: Any) -> OfValue | None:
        """One value; a number finds the same number written as text."""
        return next((one for one in self.values if str(one.value) == str(value)), None)

    def since(self, value: OfValue, least: float) -> str | None:
        """The first release up to which a value has at least this probability, and keeps it; None if none does."""
        high = [p is not None and p >= least - CHANNEL for p in value.up_to]
        first = next((k for k in range(len(high)) if all(high[k:])), None)
        return None if first is None else self.names[first]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; it names the person."""
        return dict(plain(self))


def story(views: Views, id: Any, *, release: str | None = None, value: Any = None, most_runs: int = _RUNS) -> Story:
    """All that is told of a person; ``value`` is the one whose fewest releases are wanted, else the likeliest."""
    whole, names = views.whole, views.names
    part, signature = whole.locate(id, release)
    called = release if part is not None else None
    own = _known(whole, id, called)
    if value is not None:
        whole.value_code(value)  # refuses one that no release publishes
    alone = [_view(views, [r], id, called) for r in range(len(names))]
    up_to = [_view(views, range(r + 1), id, called) for r in range(len(names) - 1)] + [own]
    told = {str(v): v for view in (own, *alone, *up_to) if view is not None for v in view.values}
    values = tuple(
        OfValue(
            v,
            tuple(_p(view, v) for view in alone),
            tuple(_p(view, v) for view in up_to),
            _p(own, v),
            own.facts.get(str(v), "impossible" if own.settled and str(v) not in own.by_text else None),
            own.conditional,
        )
        for v in told.values()
    )
    values = tuple(sorted(values, key=lambda one: -(1.0 if one.fact == "certain" else one.p or 0.0)))
    asked = values[0] if value is None else next((one for one in values if str(one.value) == str(value)), values[0])
    needed, smallest = _needed(views, id, called, asked, most_runs)
    state = str(STATES[int(whole.state[signature])])
    return Story(whole.published_id(id), called, state, names, values, tuple(names[r] for r in needed), smallest)


@dataclass(frozen=True)
class _Known:
    """What one view tells of the person."""

    values: dict[Any, float | None]  # what is not proven impossible
    facts: dict[str, str]
    settled: bool  # what is missing is impossible
    conditional: bool

    @property
    def by_text(self) -> dict[str, float | None]:
        return {str(v): p for v, p in self.values.items()}


def _known(solved: Solved, id: Any, release: str | None) -> _Known:
    signature, pairs = solved.locate(id, release)[1], solved.pairs
    span = range(int(pairs.start[signature]), int(pairs.start[signature + 1]))
    answered = bool(solved.answered[signature])
    left = [k for k in span if pairs.alive[k]]
    values: dict[Any, float | None] = {
        solved.history.values[int(pairs.value[k])]: float(pairs.p[k]) if answered else None for k in left
    }
    speaking = bool(solved.speaking[signature])
    facts = {str(v): "certain" for v in values} if len(left) == 1 and speaking else {}
    hangs = bool((solved.hanging | solved.located_by_guess)[signature])
    return _Known(values, facts, speaking, hangs)


def _view(views: Views, releases: Sequence[int], id: Any, release: str | None) -> _Known | None:
    """The same from some of the releases; None if the person is in none of them, nor the part of it that is meant."""
    if release is not None and views.names.index(release) not in releases:
        return None
    try:
        return _known(views.part(releases).solved, id, release)
    except UnknownPersonError:
        return None


def _p(view: _Known | None, value: Any) -> float | None:
    if view is None:
        return None
    if str(value) in view.facts:
        return 1.0
    return view.by_text.get(str(value), 0.0 if view.settled else None)


def _needed(views: Views, id: Any, release: str | None, asked: OfValue, most_runs: int) -> tuple[tuple[int, ...], bool]:
    """The fewest releases from which the value is as likely as from all; whether all smaller sets were tried."""
    everything = tuple(range(len(views.names)))
    if asked.p is None or asked.fact == "impossible":
        return everything, False
    runs = 0
    for size in range(1, len(everything)):
        for chosen in combinations(everything, size):
            runs += 1
            if runs > most_runs:
                return everything, False
            found = asked.alone[chosen[0]] if size == 1 else _p(_view(views, chosen, id, release), asked.value)
            if found is not None and found >= asked.p - CHANNEL:
                return chosen, True
    return everything, True
