"""The share of worlds in components that are too large to count: the same counting, with states drawn at random.

Along the `Line` of a component, where more states are open than the width allows, some are kept at random and count for
those that are dropped, so that every count stays right on average (Fearnhead and Clifford, *JRSS B* 2003: states
that matter are kept for certain, the others in proportion). Which states matter is judged by the multipliers of the
maximum-entropy answer, which tell about how many worlds lie behind a state; a bad judgement costs accuracy, never
truth. Several runs give the share and its error: the spread between runs, as the half width of a 95 % interval. What
is sampled is an estimate and proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import monotonic

import numpy as np

from showthrough.inference.reduce import Reduced
from showthrough.inference.world_layers import Layer, Line, State, line
from showthrough.table.arrays import Ints, Reals

_LEAST_RUNS, _MOST_RUNS = 4, 60
_ENOUGH = 0.01  # error of every share at which no more runs are made
_LIKE_RUNS = 3.0  # runs that must carry the estimate
_WIDTHS = 30, 2000
_FINITE = 700.0  # exponents that floating point holds
_ROUGH = 0.25  # added to variances: the figures are rough

Draw = tuple[State, State, int, float]  # from, to, persons, logarithm of the arrangements


@dataclass(frozen=True)
class Sample:
    """In what share of worlds a person has each value, and how far that may be off."""

    share: dict[int, float]  # variable of the full problem → share
    error: dict[int, float]


@dataclass(frozen=True)
class Outlook:
    """About how many worlds lie behind a state after a decision, as a logarithm.

    Every person in a pool is worth what is open to it; and what is left of the rows should be what the later
    decisions take from them on average, with the spread that they have.
    """

    own: float  # what a person adds whom the decision is about
    pools: Reals  # by person left, valued, seated
    slots: Ints  # of the rows that stay open
    mean: Reals  # what is taken from each of them later
    spread: Reals  # variance of that

    def of(self, states: list[State]) -> Reals:
        """[states] up to a constant."""
        table = np.array(states, dtype=np.float64)
        misses = (table[:, self.slots] - self.mean) ** 2 / (self.spread + _ROUGH)
        return np.asarray(table[:, : self.pools.size] @ self.pools - 0.5 * misses.sum(axis=1))


def sample(reduced: Reduced, component: int, mu: Reals, *, most_states: int, deadline: float) -> Sample | None:
    """Estimate the shares until they are good enough or time is up; None if the runs tell too little.

    ``mu`` are the multipliers of the reduced rows.
    """
    if monotonic() > deadline:
        return None
    decided = line(reduced, component, believed=True)
    outlooks = _outlooks(decided, mu)
    width = int(np.clip(most_states // (4 * len(decided.layers)), *_WIDTHS))
    while True:
        runs = _Runs(decided, outlooks, width)
        runs.go_on(deadline)
        if runs.tell_enough:
            break
        if runs.out_of_time:
            return None
        width *= 4  # the runs end in nothing, or in worlds of very different weight: more states must be kept
    share, error = runs.pooled()
    variable = [int(reduced.variable_of[decided.layers[at].variable]) for at in runs.values]
    return Sample(dict(zip(variable, share.tolist(), strict=True)), dict(zip(variable, error.tolist(), strict=True)))


class _Runs:
    """Runs of one width, and what they tell together."""

    def __init__(self, decided: Line, outlooks: list[Outlook], width: int) -> None:
        self.decided, self.outlooks, self.width = decided, outlooks, width
        self.values = [at for at, layer in enumerate(decided.layers) if layer.variable >= 0]
        self.totals: list[float] = []  # logarithms of how many worlds each run found
        self.shares: list[Reals] = []
        self.out_of_time = False
        self.whole = False  # whether nothing had to be drawn at random

    @property
    def tell_enough(self) -> bool:
        return self.whole or (len(self.totals) >= _LEAST_RUNS and self._carried() >= _LIKE_RUNS)

    def go_on(self, deadline: float) -> None:
        """Make runs until they agree, time is up, or they turn out to be useless."""
        while len(self.totals) < _MOST_RUNS:
            run = _Run(self.decided, self.outlooks, self.width, np.random.default_rng(len(self.totals)))
            found = run.shares(self.values, deadline)
            if found is None:
                self.out_of_time = True
                return
            self.totals.append(found[0])
            self.shares.append(found[1])
            self.whole = not run.drawn
            useless = len(self.totals) == 2 * _LEAST_RUNS and self._carried() < _LIKE_RUNS / 2
            good = len(self.totals) >= 2 * _LEAST_RUNS and self.tell_enough and self.pooled()[1].max() <= _ENOUGH
            if self.whole or useless or good:
                return

    def _parts(self) -> Reals:
        """The part that each run has in the estimate."""
        top = max(self.totals)
        if top == -math.inf:
            return np.zeros(len(self.totals))
        weight = np.exp(np.array(self.totals) - top)
        return np.asarray(weight / weight.sum())

    def _carried(self) -> float:
        """By how many runs the estimate is carried: one that found nearly all worlds counts as one."""
        parts = self._parts()
        return 1.0 / float((parts**2).sum()) if parts.any() else 0.0

    def pooled(self) -> tuple[Reals, Reals]:
        """The shares of all runs together, and their errors.

        Where all runs agree exactly, they say no more than that nothing rarer than one in as many runs was seen.
        """
        if self.whole:
            return self.shares[-1], np.zeros(len(self.values))
        parts, runs = self._parts()[:, None], len(self.totals)
        table = np.stack(self.shares)
        share = (parts * table).sum(axis=0)
        variance = runs / (runs - 1) * (parts**2 * (table - share) ** 2).sum(axis=0)
        error = (1.96 + 3.7 / (runs - 1)) * np.sqrt(variance)
        return share, np.minimum(1.0, np.where(error < 1e-12, 3.0 / runs, error))


class _Run:
    """One way along the line, with at most ``width`` states after each decision."""

    def __init__(self, decided: Line, outlooks: list[Outlook], width: int, rng: np.random.Generator) -> None:
        self.decided, self.outlooks, self.width, self.rng = decided, outlooks, width, rng
        self.ways: list[dict[State, float]] = [{decided.first: 0.0}]  # logarithms, before each decision
        self.moves: list[list[Draw]] = []
        self.drawn = False  # whether any state was kept at random
        self.raised: list[dict[State, float]] = []  # what a state that was kept counts more, as a logarithm

    def shares(self, values: list[int], deadline: float) -> tuple[float, Reals] | None:
        """The logarithm of the worlds found, and the share of each value; None if time ran out."""
        worth = {self.decided.first: 0.0}
        for at in range(len(self.decided.layers)):
            following = self._decide(at, worth, deadline)
            if following is None:
                return None
            worth = following
        if not self.ways[-1]:
            return -math.inf, np.zeros(len(values))
        total = _added(list(self.ways[-1].values()))
        behind = dict.fromkeys(self.ways[-1], 0.0)
        found = {}
        for at in range(len(self.moves) - 1, -1, -1):
            behind, found[at] = self._look_back(at, behind, total)
        weight = self.decided.weight
        return total, np.array([found[at] / weight[self.decided.layers[at].signature] for at in values])

    def _decide(self, at: int, worth: dict[State, float], deadline: float) -> dict[State, float] | None:
        """One decision, before the deadline; ``worth`` is what the persons placed so far add to a state's outlook."""
        layer, outlook = self.decided.layers[at], self.outlooks[at]
        moves: list[Draw] = []
        reached: dict[State, list[float]] = {}
        placed: dict[State, float] = {}
        weight = 1 if layer.variable < 0 else self.decided.belief.get(layer.variable, 1)
        believed = math.log(weight) if weight else -math.inf
        for state, ways in self.ways[-1].items():
            for n, pool, following in layer.steps(self.decided.entering(at, state)):
                if len(moves) % 1024 == 0 and monotonic() > deadline:
                    return None
                if n and not weight:
                    break
                arrangements = _log_comb(pool, n) + (n * believed if n else 0.0)
                moves.append((state, following, n, arrangements))
                reached.setdefault(following, []).append(ways + arrangements)
                placed[following] = worth[state] + n * outlook.own
        ways_to = {state: _added(parts) for state, parts in reached.items()}
        raised = self._thin({s: ways + placed[s] for s, ways in ways_to.items()}, outlook)
        self.moves.append(moves)
        self.raised.append(raised)
        self.ways.append({s: ways_to[s] + more for s, more in raised.items()})
        return {s: placed[s] for s in raised}

    def _thin(self, figure: dict[State, float], outlook: Outlook) -> dict[State, float]:
        """Which states are kept, and the logarithm of what each counts more: on average nothing is lost."""
        states = list(figure)
        if len(states) <= self.width:
            return dict.fromkeys(states, 0.0)
        self.drawn = True
        logs = np.array([figure[s] for s in states]) + outlook.of(states)
        weight = np.exp(np.maximum(logs - logs.max(), -_FINITE))
        limit = _limit(weight, self.width)
        chance = np.minimum(1.0, weight / limit)
        kept = np.flatnonzero(chance >= 1.0)
        rest = np.flatnonzero(chance < 1.0)
        reach = np.cumsum(chance[rest])
        picks = np.arange(self.rng.random(), reach[-1] if rest.size else 0.0, 1.0)
        drawn = rest[np.minimum(np.searchsorted(reach, picks, side="right"), rest.size - 1)]
        found = {states[k]: 0.0 for k in kept.tolist()}
        found.update((states[k], -math.log(chance[k])) for k in drawn.tolist())
        return found

    def _look_back(self, at: int, behind: dict[State, float], total: float) -> tuple[dict[State, float], float]:
        """The ways from each state before a decision to the end, and how many persons it places on average."""
        parts: dict[State, list[float]] = {}
        mean = 0.0
        for state, following, n, arrangements in self.moves[at]:
            if following in behind:
                ways = behind[following] + self.raised[at][following] + arrangements
                parts.setdefault(state, []).append(ways)
                mean += n * math.exp(min(0.0, self.ways[at][state] + ways - total))
        return {state: _added(own) for state, own in parts.items()}, mean


def _limit(weight: Reals, width: int) -> float:
    """The weight from which on states are kept for certain: min(1, weight / limit) adds up to the width."""
    ordered = np.sort(weight)[::-1]
    below = np.cumsum(ordered[::-1])[::-1]  # of each and all smaller ones
    for certain in range(width):
        limit = float(below[certain]) / (width - certain)
        if ordered[certain] < limit:
            return limit
    return float(below[width - 1])


def _added(logs: list[float]) -> float:
    """The logarithm of a sum."""
    if len(logs) == 1:
        return logs[0]
    top = max(logs)
    return top + math.log(sum(math.exp(one - top) for one in logs))


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if 0 < k < n else 0.0


def _outlooks(decided: Line, mu: Reals) -> list[Outlook]:
    """For each decision what a state after it is about worth, from the multipliers."""
    worth = _worth(decided, mu)
    chance = _chances(decided, worth)
    found: list[Outlook] = []
    open_rows: dict[int, list[float]] = {}  # slot → what is taken later, and its variance
    for at in range(len(decided.layers) - 1, -1, -1):
        layer = decided.layers[at]
        slots = sorted(open_rows)
        taken = np.array([open_rows[slot] for slot in slots]).reshape(-1, 2)
        own, *pools = worth[at]
        found.append(Outlook(own, np.array(pools), np.array(slots, dtype=np.int64), taken[:, 0], taken[:, 1]))
        persons, p = decided.weight[layer.signature], chance[at]
        for t in layer.touches:
            known = open_rows.setdefault(t.slot, [0.0, 0.0])
            known[0] += persons * p * t.times
            known[1] += persons * p * (1 - p) * t.times**2
        for slot, _ in layer.opens:
            open_rows.pop(slot, None)
    return found[::-1]


def _worth(decided: Line, mu: Reals) -> list[tuple[float, float, float, float]]:
    """For each decision what a person in it, or left, valued or seated after it, is about worth, as logarithms."""
    found: list[tuple[float, float, float, float]] = []
    left = valued = seated = -math.inf  # of what comes after, within the signature, the value and the release
    later: Layer | None = None
    for layer in reversed(decided.layers):
        if later is not None and layer.signature != later.signature:
            left = -math.inf
        own = float(sum(t.times * mu[r] for t, r in zip(layer.touches, layer.rows, strict=True)))
        if layer.variable >= 0:
            seats = 0.0 if layer.done else valued
            found.append((own, _finite(left), seats, 0.0))
            left = _added([left, own + seats]) if left > -math.inf else own + seats
        else:
            if layer.last_seat:
                seated = -math.inf
                valued = 0.0 if layer.done else valued
            found.append((own, _finite(left), 0.0 if layer.done else valued, _finite(seated)))
            seated = _added([seated, own]) if seated > -math.inf else own
            if layer.first_seat:
                valued = (0.0 if layer.done else valued) + seated
        later = layer
    return found[::-1]


def _chances(decided: Line, worth: list[tuple[float, float, float, float]]) -> list[float]:
    """For each decision how likely a person of the signature is in it."""
    found: list[float] = []
    rest = value = seat = 1.0  # how likely a person is still left, has the value, is still to be seated
    for layer, (own, left, valued, seated) in zip(decided.layers, worth, strict=True):
        if layer.variable >= 0:
            rest = 1.0 if not found or decided.layers[len(found) - 1].signature != layer.signature else rest
            part = 1.0 if layer.last_value else 1.0 / (1.0 + math.exp(min(left - own - valued, _FINITE)))
            value = rest * part
            rest -= value
            found.append(value)
        else:
            seat = value if layer.first_seat else seat
            part = 1.0 if layer.last_seat else 1.0 / (1.0 + math.exp(min(seated - own, _FINITE)))
            found.append(seat * part)
            seat -= seat * part
    return found


def _finite(figure: float) -> float:
    return figure if math.isfinite(figure) else 0.0
