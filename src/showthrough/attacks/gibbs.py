"""Sampling who has which value, and the model that all groups share, in turn.

Given who has what, P(attribute | value) is Dirichlet and drawn at once. Given these, groups are independent of each
other, and pairs of members exchange their values with the probability that the exchanged ones are right. Both steps
leave the joint posterior as it is, so that chains that agree tell it, and all groups move in the same instant. Half
of the chains begin with values dealt at random, where nothing is learned; the others at the fixed point of
`expectation.py`, where more is learned than chance allows: when they meet, it is not for where they began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from showthrough.attacks.convergence import effective, r_hat
from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.naive_bayes import NaiveBayes
from showthrough.progress import Progress
from showthrough.table.arrays import Flags, Ints, Reals

CHAINS = 4
FIRST = 100
"""Sweeps of the first stage, which is forgotten; each further one has twice as many and forgets those before it."""
LONGEST = 25_600
ROUNDS = 4
"""Times that all members are paired anew in one sweep."""
AGREE = 1.05
WORTH = 100.0
"""Independent draws that all sweeps of a stage must be worth."""
CHEAP = 5000
"""Up to so many entries draws must be worth four times as many: they cost little, and what is rare is missed by few."""
PRECISE = 0.015
"""The standard error that probabilities have on average, at most."""
_WATCHED = 200
_BATCHES = 10


class Exchanges:
    """Pairs of members of the same group who may exchange their values.

    In each round a group of n members is mirrored at a place drawn at random: member i meets member r − i (mod n), so
    that every two of them meet in one of n rounds, and nobody meets two others.
    """

    def __init__(self, members: GroupMembers) -> None:
        self._start = members.start[:-1]
        _, self._own, self._size = np.unique(members.group, return_inverse=True, return_counts=True)
        self._first: Ints = np.cumsum(self._size) - self._size
        self._offset: Ints = np.arange(members.members) - self._first[self._own]
        self._many: Ints = self._size[self._own]

    def run(self, logs: Reals, entry: Ints, rng: np.random.Generator, seen: Reals | None, rounds: int = ROUNDS) -> None:
        """Exchange in place; ``seen`` gets, of every round, the probability of each entry given the others."""
        start = self._start
        for _ in range(rounds):
            mirror = (rng.random(self._size.size) * self._size).astype(np.int64)
            meets = mirror[self._own] - self._offset
            meets += np.where(meets < 0, self._many, 0)
            one = np.flatnonzero(self._offset < meets)
            other = self._first[self._own[one]] + meets[one]
            mine, theirs = entry[one], entry[other]
            to_one, to_other = start[one] + theirs - start[other], start[other] + mine - start[one]
            chance = expit(logs[to_one] + logs[to_other] - logs[mine] - logs[theirs])
            if seen is not None:
                for cell, more in ((mine, 1 - chance), (theirs, 1 - chance), (to_one, chance), (to_other, chance)):
                    seen[cell] += more  # no cell stands twice in one of the four
                seen[entry[self._offset == meets]] += 1
            done = rng.random(chance.size) < chance
            entry[one[done]], entry[other[done]] = to_one[done], to_other[done]


@dataclass(frozen=True)
class Sampled:
    """What the chains say."""

    p: Reals  # [entries]
    error: Reals  # [entries] standard error
    sweeps: int  # of each chain, those of the last stage
    r_hat: float  # the largest of what was watched
    effective: float  # the smallest
    converged: bool
    fit: float  # R-hat of how well the groups are fitted, alone


@dataclass
class _Walk:
    """One chain and what the present stage has seen."""

    entry: Ints
    rng: np.random.Generator
    trace: list[Reals] = field(default_factory=list)


class Gibbs:
    """Chains over one release."""

    def __init__(self, model: NaiveBayes, seats: GroupMembers, seed: int) -> None:
        self._model, self._seats = model, seats
        self._exchanges = Exchanges(seats)
        self._rngs = [np.random.default_rng([seed, chain]) for chain in range(CHAINS)]
        self._worth = WORTH if seats.value.size > CHEAP else 4 * WORTH
        likely = model.counts(seats.even()).ravel()
        self._watched: Ints = np.sort(np.argsort(-likely, kind="stable")[:_WATCHED])

    def run(self, learned: Reals, over: Callable[[], bool], tell: Progress) -> Sampled:
        """Stages of growing length until the chains agree, or time is over; ``learned`` are the logs of EM."""
        chains = [self._begun(rng, learned if number % 2 else None) for number, rng in enumerate(self._rngs)]
        length = FIRST
        found: Sampled | None = None
        while True:
            tell.stage(f"sampling, {length} sweeps of {CHAINS} chains")
            stage = self._stage(chains, length, over, tell)
            if found is None or stage.sweeps >= found.sweeps:  # else time was over soon after it began
                found = stage
            if (length > FIRST and found.converged) or over() or length >= LONGEST or tell.satisfied:
                return found
            length *= 2

    def _begun(self, rng: np.random.Generator, learned: Reals | None) -> _Walk:
        entry = self._seats.dealt(rng)
        if learned is not None:
            self._exchanges.run(learned, entry, rng, None, 10 * ROUNDS)
        return _Walk(entry, rng)

    def _stage(self, chains: list[_Walk], length: int, over: Callable[[], bool], tell: Progress) -> Sampled:
        """So many sweeps of every chain, in batches; fewer if time is over."""
        size = self._seats.value.size
        total, squares, by_chain = np.zeros(size), np.zeros(size), np.zeros((len(chains), size))
        step, batches = max(length // _BATCHES, 1), 0
        for chain in chains:
            chain.trace = []
        while batches < _BATCHES:
            for number, chain in enumerate(chains):
                seen = np.zeros(size)
                for _ in range(step):
                    self._sweep(chain, seen)
                mean = seen / (step * ROUNDS)
                total += mean
                squares += mean**2
                by_chain[number] += mean
            batches += 1
            tell.count(batches * step, length)
            if over() and batches > 1:
                break
        many = batches * len(chains)
        p = total / many
        spread = np.maximum(squares / many - p**2, 0.0) / (many - 1)
        apart = (by_chain / batches).var(axis=0, ddof=1) / len(chains)
        draws = np.array([chain.trace for chain in chains])
        apart_by = r_hat(draws)
        worst, least = float(apart_by.max()), float(effective(draws).min())
        error = np.sqrt(np.maximum(spread, apart))
        precise = float(error.mean()) <= PRECISE if size else True
        agreed = bool(batches == _BATCHES and worst <= AGREE and least >= self._worth and precise)
        return Sampled(p, error, batches * step, worst, least, agreed, float(apart_by[-1]))

    def _sweep(self, chain: _Walk, seen: Reals) -> None:
        counts = self._model.counted(chain.entry)
        logs = self._model.logs(self._model.drawn(counts, chain.rng))
        self._exchanges.run(logs, chain.entry, chain.rng, seen)
        watched: Reals = np.append(counts.ravel()[self._watched], logs[chain.entry].sum())
        chain.trace.append(watched)


def sampled_worlds(seats: GroupMembers, logs: Reals, rng: np.random.Generator, rounds: int, groups: Flags) -> Reals:
    """[entries] P(value | member) by exchanges with fixed weights, of the members of some groups; 0 for others."""
    part = seats.part(groups)
    chosen = groups[seats.group[seats.member]]
    exchanges, entry, seen = Exchanges(part), part.dealt(rng), np.zeros(part.value.size)
    exchanges.run(logs[chosen], entry, rng, None, rounds // 4)
    exchanges.run(logs[chosen], entry, rng, seen, rounds)
    found = np.zeros(seats.value.size)
    found[chosen] = seen / rounds
    return found
