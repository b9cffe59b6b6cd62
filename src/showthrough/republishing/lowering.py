"""Where a release costs more than it must, or holds too much back: the search of `tuning`, from several starts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np

from showthrough.policy.judging import SLACK
from showthrough.republishing.beliefs import Kinds
from showthrough.republishing.filled import filled
from showthrough.republishing.group_judging import GroupJudging
from showthrough.republishing.kinds_apart import KindsApart
from showthrough.republishing.least_price import largest_share, least_price
from showthrough.republishing.nudging import Kin
from showthrough.republishing.proposal import MOST_HELD, Proposal
from showthrough.republishing.repairs import merge
from showthrough.republishing.search import Search
from showthrough.republishing.standing import Standing
from showthrough.republishing.tuned import Tuned
from showthrough.republishing.tuning import Tuning
from showthrough.table.arrays import Ints

LARGEST = 400  # multipliers up to which Newton's matrix is inverted again and again
STEPS = 6400  # since the price was lowered last, where too much is withheld
STEPS_BESIDE = 200  # where there is a release that withholds little, or nothing may be held back
STEPS_EACH, NEAR = 60, 3  # more steps for each counterfeit or record that is farther than this above the bound
SHARE = 0.5  # of the time
LONGEST, LONGEST_BESIDE = 120.0, 60.0  # seconds at most, where too much is withheld so far, and otherwise
DRAWN = 0.7  # share of new beginnings that have kinds of persons apart; others go on from the best ends
DRAWS = 4  # of these, of which the nearest to the limit is taken
MERGES = 12
_WITHIN = 0.6  # of the slack that a limit has: two solvers differ by less


@dataclass(eq=False)
class Lowering:
    """The search for one guard."""

    search: Search
    standing: Standing
    limit: float
    began: float = field(default_factory=time.monotonic)
    mark: int = 0  # steps after which the price was lowered last

    @cached_property
    def tuning(self) -> Tuning:
        """How states are judged."""
        search, past = self.search, self.search.guard.past
        assert search.before is not None
        return Tuning(
            Kinds.of(past, self.standing, search.before, self.limit),
            past.value.astype(np.int64),
            self._fits,
            self.enough,
            _WITHIN * SLACK,
            int(MOST_HELD * search.guard.table.rows) if search.guard.hold_back else 0,
            np.random.default_rng(self.search.guard.seed),
        )

    @property
    def ready(self) -> bool:
        """Whether a limit on the posterior is all that counts, and Newton's matrix is small."""
        past = self.search.guard.past
        if self.search.guard.policy.max_posterior is None or past.known:
            return False
        if past.values.len() * self.limit < 1:  # whoever is new would be over it in any group
            return False
        old = sum(r.labels.len() for r in past.history)
        new = self.search.guard.table.rows // max(self.search.guard.m, 1)
        return (old + new) * past.values.len() <= LARGEST

    def enough(self) -> bool:
        """Whether the search has had its share of steps and time."""
        search = self.search
        seconds = min(SHARE * search.guard.seconds, LONGEST if self._dear else LONGEST_BESIDE)
        late = time.monotonic() > self.began + seconds
        return late or search.late or self.tuning.clock - self.mark >= self._patience

    @property
    def _patience(self) -> int:
        """Steps without a lower price: more where the price is far above the bound."""
        if self._dear:
            return STEPS
        beyond = self.search.most[1] - self.least - NEAR if self.search.guard.hold_back else 0
        return min(STEPS, STEPS_BESIDE + STEPS_EACH * max(beyond, 0))

    @property
    def _dear(self) -> bool:
        """Whether records may be held back, and too many are so far."""
        return self.search.guard.hold_back and self.search.most[0]

    @cached_property
    def least(self) -> int:
        """A price that no release is below."""
        search = self.search
        assert search.before is not None
        kin = Kin.of(search.guard.past, search.before)
        seconds = min(30.0, SHARE * search.guard.seconds)
        share = largest_share(search.guard.criteria)
        return least_price(search.guard.past, self.standing, kin, self.limit, seconds=seconds, share=share) or 0

    @cached_property
    def _apart(self) -> KindsApart:
        tuning = self.tuning
        return KindsApart(tuning.kinds, tuning.value, self.limit, tuning.most_held, tuning.generator)

    @cached_property
    def _judging(self) -> GroupJudging:
        return GroupJudging(self.search.guard.past, self.search.guard.criteria)

    def _fits(self, shown: Ints, real: Ints, asked: Ints) -> bool:
        self.search.guard.progress.check()
        return self._judging.fits(shown, real, asked.tolist())

    def run(self, proposals: list[Proposal]) -> Iterator[Proposal]:
        """Proposals that keep the limit and the criteria, each cheaper than what was found before."""
        rows, dear, price = self.search.guard.table.rows, *self.search.most
        most = price - 1 if not dear else self.least + int(2 * MOST_HELD * rows)
        for start in self._starts(proposals):
            for begin in chain([start], self._drawn() if self._dear else ()):
                for found in self._lowered(begin, most):
                    most = found.price - 1
                    yield found.proposal()
        if self._dear:
            most = rows
        while most >= self.least and not self.enough():
            for begin in self._again():
                for found in self._lowered(begin, most):
                    most = found.price - 1
                    yield found.proposal()

    def _again(self) -> Iterator[Tuned]:
        """Kinds of persons apart, or one of the best ends after some steps at random."""
        tuning = self.tuning
        tuning.clock += 1  # so that this ends where nothing fits the criteria
        if not tuning.ends or tuning.generator.random() < DRAWN:
            yield from self._drawn()
        else:
            yield tuning.kicked()

    def _drawn(self) -> Iterator[Tuned]:
        """Of several states with kinds of persons apart the one that is the least over the limit."""
        states = [one for _ in range(DRAWS) for one in self._begun(self._apart.drawn(), back=False)]
        yield from sorted(states, key=lambda one: one.belief.over)[:1]

    def _lowered(self, start: Tuned, most: int) -> Iterator[Tuned]:
        """States at lower and lower prices, at ``most`` first."""
        now: Tuned | None = start
        while now is not None and most >= self.least and not self.enough():
            now = self.tuning.lowered(now, most)
            if now is not None:
                self.mark, most = self.tuning.clock, now.price - 1
                yield now

    def _starts(self, proposals: list[Proposal]) -> Iterator[Tuned]:
        """What was found, then with everybody back, then with fewer and fewer groups."""
        for proposal in proposals:
            yield from self._begun(proposal, back=False)
        for proposal in proposals:
            yield from self._begun(proposal, back=True)
        for proposal in proposals:
            now: Proposal | None = proposal.numbered()
            for _ in range(MERGES):
                now = None if now is None else self._coarser(now)
                if now is None:
                    break
                yield from self._begun(now, back=True)

    def _coarser(self, proposal: Proposal) -> Proposal | None:
        """Every second group joined with its neighbour."""
        guard, groups = self.search.guard, int(proposal.group.max(initial=-1)) + 1
        return merge(guard.table, guard.past, proposal, np.arange(groups)) if groups > 1 else None

    def _begun(self, proposal: Proposal, *, back: bool) -> Iterator[Tuned]:
        """The proposal as a state that satisfies the criteria, if it has one."""
        guard = self.search.guard
        made: Proposal | None = proposal.numbered()
        if back and made is not None and (made.group >= 0).any():
            made = self.tuning.readmitted(made)
        for _ in range(MERGES):
            if made is None or not (made.group >= 0).any():
                return
            failing = np.flatnonzero(self.search.failing(made))
            if not failing.size:
                state = self.tuning.state(made)
                if state.belief.solved:
                    yield state
                return
            joined = merge(guard.table, guard.past, made, failing)
            made = joined or filled(guard.past, made, self.search.failing)
