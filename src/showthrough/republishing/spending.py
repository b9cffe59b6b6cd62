"""What a noisy release costs on top of those before it, whether the budget allows it, and what readers can learn.

All of it is known before any noise is drawn: it follows from what was published and from what is asked for. Nothing is
looked up in the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from showthrough.anonymizers.noise_remarks import LITTLE
from showthrough.anonymizers.noisy_counts import DP_COUNTS, PrivacyBudget
from showthrough.anonymizers.remark import Remark
from showthrough.dp.account import Account, NextCost
from showthrough.dp.items import Mechanism
from showthrough.dp.movement import After, after
from showthrough.errors import InputError, PolicyError, ShowthroughError
from showthrough.policy.policy import BUDGET, Policy
from showthrough.progress import Progress
from showthrough.release.noise import REPLACE_ONE, probability
from showthrough.release.release import Release
from showthrough.republishing.tied import joint

_HALVINGS = 12  # of the search for an ε that fits
_SECONDS = 60.0  # for d of everybody, by worlds
_SURE = 0.9
TablesAsked = Sequence[tuple[tuple[str, ...], float]]


@dataclass(frozen=True, eq=False)
class Spending:
    """The history that a noisy release comes on top of, and the budget that a policy sets for all of them."""

    history: tuple[Release, ...]
    policy: Policy | None

    @classmethod
    def of(cls, history: Sequence[Release], policy: Any) -> Spending:
        """Checked: a policy that says nothing but a budget, and every release once."""
        if policy is not None and not isinstance(policy, Policy):
            raise InputError("policy is a Policy, such as Policy(epsilon=2.0).", parameters=("policy",))
        others = [name for name in (policy.limits() if policy is not None else {}) if name not in BUDGET]
        strange = [name for name in others if name != "certain" or getattr(policy, name) != Policy.certain]
        if strange:
            raise InputError(
                f"{DP_COUNTS} keeps the budget of a policy (epsilon, delta), not {strange[0]}: what readers of all "
                "releases believe is judged by audit.",
                parameters=("policy",),
            )
        if policy is not None and policy.delta is not None:
            probability("delta", policy.delta)
        once = {release.fingerprint(): release for release in history}
        return cls(tuple(once.values()), policy)

    @property
    def noisy(self) -> list[Release]:
        """The releases of the history that carry noise."""
        return [release for release in self.history if release.noise is not None]

    def remarks(self, budget: PrivacyBudget, wanted: TablesAsked, progress: Progress) -> tuple[Remark, ...]:
        """What the publisher is told of the whole; raises `PolicyError` where the budget does not allow the release."""
        if not self.history and self.policy is None:
            return ()
        cost = self._cost(budget, wanted)
        self._refuse_over(cost, budget, wanted)
        found = [_total_remark(cost, self)]
        bare = [release for release in self.history if release.noise is None]
        if bare:
            found.append(self._learned_remark(bare, budget, wanted, progress))
        return tuple(found)

    def _cost(self, budget: PrivacyBudget, wanted: TablesAsked) -> NextCost:
        """What the noisy releases cost before and after this one, at the δ that is allowed or that they claim."""
        relations = {release.noise.neighbours for release in self.noisy if release.noise is not None}
        common = budget.neighbours if relations <= {budget.neighbours} else REPLACE_ONE
        allowed = None if self.policy is None else self.policy.delta
        delta = (self._claimed(budget) if allowed is None else allowed) or None
        account = Account.of(self.noisy, neighbours=common)
        before = account.spent(delta=delta if account.items else None)
        return NextCost(before, account.adding(*_tables(budget, wanted, common)).spent(delta=delta))

    def _claimed(self, budget: PrivacyBudget) -> float:
        """The δ that all noisy releases and this one claim."""
        return math.fsum([budget.delta, *(r.noise.delta for r in self.noisy if r.noise is not None)])

    def _refuse_over(self, cost: NextCost, budget: PrivacyBudget, wanted: TablesAsked) -> None:
        """Refuse what the policy does not allow, with an ε that it would."""
        limit = None if self.policy is None else self.policy.epsilon
        if limit is None or cost.after.epsilon <= limit * (1 + 1e-12):
            return
        fits = self._fitting(budget, wanted, limit)
        advice = "nothing fits" if fits is None else f"epsilon = {fits:g} would fit"
        raise PolicyError(
            f"The budget does not suffice: with this release ε would be {cost.after.epsilon:.6g} in all (δ = "
            f"{cost.after.delta:g}, by {cost.after.method}), {cost.after.epsilon - limit:.3g} over the {limit:g} that "
            f"the policy allows; {cost.before.epsilon:.6g} is spent, and {advice}. Nothing was published.",
            breaches=pl.DataFrame(),
            parameters=("epsilon",),
        )

    def _fitting(self, budget: PrivacyBudget, wanted: TablesAsked, limit: float) -> float | None:
        """The largest ε of this release that the budget allows, to three digits."""

        def fits(epsilon: float) -> bool:
            try:
                return self._cost(replace(budget, epsilon=epsilon), wanted).after.epsilon <= limit * (1 + 1e-12)
            except InputError:  # noise as wide as that is not made
                return False

        low, high = 0.0, budget.epsilon
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        if fits(nearest := float(f"{high:.3g}")):
            return nearest
        step = 10.0 ** (math.floor(math.log10(low)) - 2) if low else 1.0
        return float(f"{math.floor(low / step) * step:.3g}") if low else None

    def _learned_remark(
        self, bare: Sequence[Release], budget: PrivacyBudget, wanted: TablesAsked, progress: Progress
    ) -> Remark:
        """How far all noisy releases together can move what readers of the others believe of everybody."""
        account = Account.of(self.noisy, neighbours=REPLACE_ONE).adding(*_tables(budget, wanted, REPLACE_ONE))
        total = account.spent(delta=self._claimed(budget) or None)
        try:
            post = joint(bare, changed="split", progress=progress)
            found = after(post, epsilon=total.epsilon, delta=total.delta, seconds=_SECONDS)
        except ShowthroughError as problem:
            words = "What readers of everything can learn was not worked out: {reason}"
            return Remark.of("learned", words, reason=problem.shareable)
        return _learned(found)


def _tables(budget: PrivacyBudget, wanted: TablesAsked, neighbours: str) -> list[Mechanism]:
    """The tables of the release as items of an account."""
    shifts = (1.0, 1.0) if neighbours == REPLACE_ONE else (1.0,)
    return [Mechanism(budget.mechanism, table.scale, shifts) for table in budget.shared(wanted)]


def _total_remark(cost: NextCost, spending: Spending) -> Remark:
    limit = None if spending.policy is None else spending.policy.epsilon
    room = "" if limit is None else " The policy allows {limit:g}."
    little = " That is little of a promise, however small the ε of each is." if cost.after.epsilon >= LITTLE else ""
    return Remark.of(
        "total",
        "In all, with {earlier:noisy release|noisy releases} before it: ε = {epsilon:.6g}, δ = {delta:g}, by {method} "
        f"composition; before it was ε = {{before:.6g}}.{room}{little}",
        earlier=len(spending.noisy), epsilon=cost.after.epsilon, delta=cost.after.delta, method=cost.after.method,
        before=cost.before.epsilon, limit=limit,
    )  # fmt: skip


def _learned(found: After) -> Remark:
    """How many persons' likeliest value can come to be how sure, at most."""
    people = found.people.group_by("id").agg(pl.col("p").max(), pl.col("high").max())
    but = f", but with a probability of {found.failure:.2g} for each" if found.failure else ""
    return Remark.of(
        "learned",
        "Beside the releases of the history without noise, by which {before} of {persons:person|persons} are at least "
        "90 % likely to have some value, all noisy releases together can make that {after} at most" + but + ". "
        "{assumptions}",
        before=int((people["p"] >= _SURE).sum()),
        persons=people.height,
        after=int((people["high"] >= _SURE).sum()),
        failure=found.failure,
        assumptions=" ".join(found.assumptions),
    )
