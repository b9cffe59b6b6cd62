"""A search for a release within a limit at a lower price: records and counterfeits change places, few at a time.

The state is a proposal with what readers would believe (`beliefs`). Every record and counterfeit may go to any other
group, or out; what that does to everybody is guessed to first order for all such steps, and for pairs of them, at once.
The best guesses are worked out, and the best of these is taken even if it is worse than before, unless it undoes a late
step: so the search leaves places where no step helps. Once nobody is over the limit, the price is lowered by one and
the search goes on from there. What stands at the limit must be met in exact proportions, and often no few steps lead
from one such release to another: then the search begins again from one of its best ends after some steps at random,
or from persons of the same old groups apart (`kinds_apart`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from showthrough.republishing.beliefs import Kinds, believed, shown_by
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.tuned import Steps, Tuned
from showthrough.table.arrays import Ints, Reals

STEPS = 20  # without a better state, after which a search ends
_SINGLES = 500  # steps that are guessed at a time
_EACH = 6  # pairs with each of them that are looked at again
_LEADS = 80  # best steps of which pairs are made
_PAIRED = 200  # pairs that are guessed like single steps
_CLOSE = 40  # probabilities nearest to their bounds, by which pairs are chosen
_TRIALS = 4  # of the best guesses, worked out
_IDLE = 1e-9  # a step that changes nothing by more, as of persons of whom readers are certain, leads nowhere
_TABU = 6  # steps for which what moved stays
_ENDS = 8  # states from which a search begins again
_KICKS = (3, 12)  # steps at random before it
_TRIED = 20  # of those, until one fits the criteria


@dataclass(eq=False)
class Tuning:
    """The search for one table: ``fits`` says whether some groups of a state satisfy the criteria."""

    kinds: Kinds
    value: Ints  # [rows]
    fits: Callable[[Ints, Ints, Ints], bool]  # counts [groups, values], real members [groups], the groups asked about
    enough: Callable[[], bool]
    slack: float
    most_held: int  # records that a release may hold back
    generator: np.random.Generator
    late: dict[tuple[int, int, int], int] = field(default_factory=dict)  # what moved where from, and when
    clock: int = 0
    ends: list[Tuned] = field(default_factory=list)  # the best states of late searches

    def state(self, proposal: Proposal) -> Tuned:
        """A proposal as a state."""
        found = proposal.numbered()
        groups = 1 + max(int(found.group.max(initial=-1)), int(found.counterfeit_group.max(initial=-1)))
        fakes = np.zeros((groups, self.kinds.base.shape[1]), dtype=np.int64)
        np.add.at(fakes, (found.counterfeit_group, found.counterfeit_value), 1)
        return self._solved(found.group.astype(np.int64), fakes)

    def _solved(self, group: Ints, fakes: Ints, begin: Reals | None = None, beside: Tuned | None = None) -> Tuned:
        shown = shown_by(self.kinds, group, self.value, fakes)
        near = None if beside is None else beside.belief
        return Tuned(group, fakes, believed(self.kinds, *shown, begin, near))

    def within(self, state: Tuned) -> bool:
        """Whether nobody is over the limit."""
        return state.belief.worst <= self.slack

    def lowered(self, start: Tuned, price: int) -> Tuned | None:
        """A state within the limit at no more than a price, which the start may exceed; None if none was found."""
        now = best = start
        stale, self.late = 0, {}
        while stale < STEPS and not self.enough():
            if self.within(now) and now.price <= price and now.held <= self.most_held:
                return now
            after = self._stepped(now, price)
            if after is None:
                break
            now = after
            beyond, over = self._badness(best, price)
            better = self._badness(now, price) < (beyond, 0.99 * over)
            best, stale = (now, 0) if better else (best, stale + 1)
        self.ends = sorted([best, *self.ends], key=lambda one: self._badness(one, price))[:_ENDS]
        return None

    def kicked(self) -> Tuned:
        """One of the best ends after a few steps at random."""
        now = self.ends[int(self.generator.integers(len(self.ends)))]
        for _ in range(int(self.generator.integers(*_KICKS))):
            single = self._singles(now)
            for k in self.generator.permutation(single.kind.size)[:_TRIED].tolist():
                one = single.of(np.array([k]))
                if int(one.held[0]) > 0 and now.held >= self.most_held:
                    continue
                after = self._after(now, one, now.belief.multiplier)
                if after is not None:
                    now = after
                    break
        return now

    def _beyond(self, paid: Any, held: Any, price: int) -> Any:
        """By how much a price and what is held back exceed what is allowed."""
        return np.maximum(paid - price, 0) + np.maximum(held - self.most_held, 0)

    def _badness(self, state: Tuned, price: int) -> tuple[int, float]:
        return int(self._beyond(state.price, state.held, price)), state.belief.over

    def _stepped(self, now: Tuned, price: int) -> Tuned | None:
        """The best of the steps that were worked out."""
        found: list[Tuned] = []
        moved: list[Steps] = []
        for steps, begin in self._ranked(now, price):
            after = self._after(now, steps, begin)
            if after is not None:
                found.append(after)
                moved.append(steps)
            if len(found) == _TRIALS:
                break
        if not found:
            return None
        best = min(range(len(found)), key=lambda k: found[k].belief.over)
        self.clock += 1
        for kind, value, target in zip(moved[best].kind, moved[best].value, moved[best].target, strict=True):
            self.late[int(kind), int(value), int(target)] = self.clock
        return found[best]

    def _after(self, now: Tuned, steps: Steps, begin: Reals) -> Tuned | None:
        """The state after some steps; None where they do not fit together or violate the criteria."""
        group, fakes = now.group.copy(), now.fakes.copy()
        shown, real = now.shown.copy(), now.real.copy()
        for value, source, target, row in zip(*steps.ways, strict=True):
            for g, by in ((source, -1), (target, 1)):
                if g >= 0:
                    shown[g, value] += by
                    (real if row >= 0 else fakes[:, value])[g] += by
            if row >= 0:
                group[row] = target
        if (fakes < 0).any() or not real.any():
            return None
        alone = real == 0
        shown[alone], fakes[alone] = 0, 0
        same = np.array_equal(shown.sum(axis=0), now.shown.sum(axis=0))
        asked = np.unique(np.concatenate([steps.source, steps.target])) if same else np.arange(real.size)
        if not self.fits(shown, real, asked[(asked >= 0) & (real[asked] > 0)]):
            return None
        after = self._solved(group, fakes, begin, now)
        return after if after.belief.solved else None

    def _ranked(self, now: Tuned, price: int) -> Iterator[tuple[Steps, Reals]]:
        """Steps and pairs of them that come nearer to what is allowed, best guesses first, with guessed multipliers."""
        single = self._singles(now)
        if not single.kind.size:
            return
        change, alone = self._changes(now, single)
        guess = now.belief.guessed(change) + alone
        first, second = self._pairs(now, single, change, alone, price)
        both = now.belief.guessed(change[first] + change[second]) + alone[first] + alone[second]
        every = np.concatenate([guess, both])
        one = np.concatenate([np.arange(guess.size), first])
        other = np.concatenate([np.full(guess.size, -1), second])
        more = single.price[one] + np.where(other >= 0, single.price[other], 0)
        out = single.held[one] + np.where(other >= 0, single.held[other], 0)
        beyond = self._beyond(now.price + more, now.held + out, price)
        allowed = beyond <= max(int(self._beyond(now.price, now.held, price)) - 1, 0)
        allowed &= (np.abs(every - now.belief.over) > _IDLE) | (more != 0) | (out != 0)
        for k in np.lexsort((every, beyond)).tolist():
            if allowed[k]:
                chosen = np.array([one[k], other[k]] if other[k] >= 0 else [one[k]])
                yield single.of(chosen), now.belief.multiplier + change[chosen].sum(axis=0)

    def _singles(self, now: Tuned) -> Steps:
        """What may go where: one of all records that are alike, counterfeits, and new counterfeits."""
        groups, span = now.fakes.shape
        key = (self.kinds.of_row * span + self.value) * (groups + 1) + now.group + 1
        order = self.generator.permutation(key.size)
        row = order[np.unique(key[order], return_index=True)[1]]
        fake_group, fake_value = np.nonzero(now.fakes)
        kind = np.concatenate([self.kinds.of_row[row], np.full(fake_group.size + span, self.kinds.fake)])
        value = np.concatenate([self.value[row], fake_value, np.arange(span)])
        source = np.concatenate([now.group[row], fake_group, np.full(span, -1)])
        row = np.concatenate([row, np.full(fake_group.size + span, -1)])
        live = np.unique(now.group[now.group >= 0])
        target = np.concatenate([live, [-1]])
        which, where = (a.reshape(-1) for a in np.meshgrid(np.arange(kind.size), target, indexing="ij"))
        found = Steps(kind[which], value[which], source[which], where, row[which])
        free = found.source != found.target
        if self.late:
            codes = (found.kind * span + found.value) * (groups + 1) + found.source + 1
            tabu = [
                (k * span + v) * (groups + 1) + g + 1
                for (k, v, g), when in self.late.items()
                if self.clock - when < _TABU
            ]
            free &= ~np.isin(codes, tabu)
        chosen = np.flatnonzero(free)
        if chosen.size > _SINGLES:
            chosen = self.generator.choice(chosen, _SINGLES, replace=False)
        return found.of(chosen)

    def _pairs(self, now: Tuned, single: Steps, change: Reals, alone: Reals, price: int) -> tuple[Ints, Ints]:
        """The pairs of steps that promise most for who is near a bound, by what each does to first order."""
        near, shift = now.belief.shifts(change, _CLOSE)
        far, weight = now.belief.far(near), now.belief.weight[near[0]]
        wanted = max(int(self._beyond(now.price, now.held, price)) - 1, 0)
        paid, held = now.price + single.price, now.held + single.held
        none = np.empty(0, dtype=np.int64)
        order = np.argsort(np.maximum(far + shift, 0.0) @ weight + alone, kind="stable")
        cheap = order[(single.price + single.held)[order] < 0]
        lead = np.unique(np.concatenate([order[:_LEADS], cheap[: _LEADS // 2]]))
        score = np.maximum((far + shift[lead])[:, None] + shift, 0.0) @ weight + alone[lead, None] + alone
        out = self._beyond(paid + single.price[lead, None], held + single.held[lead, None], price) > wanted
        out |= (single.row[lead, None] >= 0) & (single.row[lead, None] == single.row)
        out |= np.isin(np.arange(paid.size), lead) & (np.arange(paid.size) <= lead[:, None])
        score[out] = np.inf
        best = np.argpartition(score, min(_EACH, paid.size - 1), axis=1)[:, :_EACH]
        first, second = np.repeat(lead, best.shape[1]), best.reshape(-1)
        told = np.take_along_axis(score, best, axis=1).reshape(-1)
        top = np.argsort(told, kind="stable")[:_PAIRED]
        top = top[np.isfinite(told[top])]
        return (first[top], second[top]) if top.size else (none, none)

    def _changes(self, now: Tuned, single: Steps) -> tuple[Reals, Reals]:
        """[steps, groups, values] what each does to the multipliers; [steps] how far what moves is over by itself."""
        belief, kinds = now.belief, self.kinds
        groups, span = now.fakes.shape
        size, many = kinds.groups + groups, single.kind.size
        every = np.arange(many)
        before = belief.row_of(single.kind, single.source)
        after = belief.row_of(single.kind, single.target)
        nobody = (single.kind == kinds.newcomer) | (single.kind == kinds.fake)
        before[nobody & (single.source < 0)] = 0.0
        after[nobody & (single.target < 0)] = 0.0
        off = np.zeros((many, size + 1, span))
        for own in kinds.old[single.kind].T:
            off[every, np.where(own >= 0, own, size)] += after - before
        at = np.where(single.source >= 0, kinds.groups + single.source, size)
        off[every, at] -= before
        off[every, at, single.value] += 1.0
        at = np.where(single.target >= 0, kinds.groups + single.target, size)
        off[every, at] += after
        off[every, at, single.value] -= 1.0
        change = np.zeros_like(off)
        change[:, :size] = -(off[:, :size].reshape(many, -1) @ belief.inverse).reshape(many, size, span)
        bound = kinds.bound[single.kind][:, None]
        alone = np.maximum(after - bound, 0.0).sum(axis=1) - np.maximum(before - bound, 0.0).sum(axis=1)
        return np.clip(change, -5.0, 5.0), alone

    def readmitted(self, proposal: Proposal) -> Proposal:
        """The proposal with all records back, at random, in groups that have their values where there are some."""
        group, live = proposal.group.copy(), np.unique(proposal.group[proposal.group >= 0])
        for row in self.generator.permutation(np.flatnonzero(group < 0)).tolist():
            has = np.unique(group[(group >= 0) & (self.value == self.value[row])])
            group[row] = self.generator.choice(has if has.size else live)
        return replace(proposal, group=group)
