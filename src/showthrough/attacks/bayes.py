"""Bayes-optimal privacy: how far a release moves what somebody believed before, person by person and value by value.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, *l-Diversity: Privacy Beyond k-Anonymity*, ICDE 2006.
α is the prior belief f(s | q). Three posterior beliefs β stand side by side:

- ``formula``: β = n(q*, s) · f(s | q)/f(s | q*), made to add up to 1 over the values. q* is the group of the person, n
  its counts, f(s | q*) the mean of the priors of all persons who fit the group: the others count as drawn from it.
- ``relative_entropy``: what `infer(prior=…)` gives, the beliefs of all persons together that meet the counts and differ
  from the prior as little as they can.
- ``exact``: every assignment of a group's values to its members, weighed by the product of their priors.

There is a breach where β differs from α by θ or more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates
from showthrough.attacks.targets import attacked_alone
from showthrough.attacks.weighted_worlds import MOST, states, weighed
from showthrough.errors import ContradictionError, InputError, ParameterError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior, Told
from showthrough.knowledge.prior import Prior
from showthrough.progress import Progress
from showthrough.register.informing import informed
from showthrough.register.reader import Reader
from showthrough.register.register import Register
from showthrough.release.counterfeits import per_group
from showthrough.release.noisy import refuse_noise
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, Reals
from showthrough.table.codes import positions
from showthrough.table.texts import as_text, read_as

BELIEFS = ("formula", "relative_entropy", "exact")
BASELINE = "release"
_ROUNDING = 1e-12
_THREAT = Threat(
    "one release, knows who can be in which of its groups, and believes something of everybody's value beforehand",
    "to learn more of somebody's value than it believed: a belief that moves by {theta:g} or more",
    "that its prior is right and that persons are independent before the release; whoever is without a prior can have "
    "every value alike. By the formula, members of a group other than the target count as drawn at random from all who "
    "fit it",
)


class BayesOutcome(Outcome):
    """The outcome of beliefs that a release moves."""

    meanings: ClassVar[Mapping[str, str]] = {
        "formula": "by the formula of the literature, the other members of the group drawn at random",
        "relative_entropy": "the beliefs nearest to the prior that meet all counts",
        "exact": "all assignments of values to the group's members, weighed by the prior",
        BASELINE: "the baseline: somebody without a prior, who reads the shares of the release",
    }


def bayes(
    release: Release,
    prior: Any,
    theta: float = 0.2,
    *,
    register: Any = None,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Outcome:
    """How far one release moves the beliefs of attackers: α before it, β after it, a breach where they are θ apart.

    ``prior`` is a frame of p by id, or by quasi-identifiers, and value, as `infer` takes it; or several of them by the
    name of the attacker. ``register`` ties persons to groups where the release publishes no ids; without one, the
    quasi-identifiers of a prior are the persons. ``people`` has adversary, id, value, alpha, the three beliefs, the
    share of the value in the person's group (``release``, the baseline), and where each belief is a breach.
    """
    if isinstance(theta, bool) or not isinstance(theta, (int, float)) or not 0 < theta <= 1:
        raise ParameterError(f"theta is a number above 0 and at most 1, not {theta!r}.", parameters=("theta",))
    release, tell, named = attacked_alone(release), Progress.of(progress), _named(prior)
    refuse_noise(release, "this attack")
    who = register if register is not None or release.roles.id is not None else _targets(release, named)
    parts, notes = [], list[str]()
    given: dict[str, Any] = {"register": who, "domain": _believed(release, named)}
    plain = infer([release], **given, seconds=seconds, progress=tell)
    for name, own in named.items():
        tell.stage(f"beliefs of {name}" if len(named) > 1 else "beliefs")
        reader = informed(Reader.of([release], **given, prior=own), [release])
        asking = partial(infer, [release], **given, seconds=seconds, progress=tell)
        one = _Adversary(release, plain, reader, asking)
        parts.append(one.frame().select(pl.lit(name).alias("adversary"), pl.all()))
        notes += [f"{name}: {note}" if len(named) > 1 else note for note in one.notes()]
    people = _with_breaches(pl.concat(parts), theta)
    threat = Threat(_THREAT.has, _THREAT.wants.format(theta=theta), _THREAT.assumes)
    counted = {belief: _counted(people, belief) for belief in (*BELIEFS, BASELINE)}
    every = rates([counted[belief][number] for number in range(len(named)) for belief in BELIEFS])
    beside = rates(counted[BASELINE])
    return BayesOutcome(
        "bayes",
        threat,
        people.drop(f"{BASELINE}_breach"),
        every,
        beside,
        (*BELIEFS, BASELINE),
        ("adversary",),
        tuple(notes),
    )


def _named(prior: Any) -> dict[str, Any]:
    """The priors by the name of who has them."""
    if isinstance(prior, Mapping) and not all(isinstance(name, str) for name in prior):
        raise InputError("Several priors are named by text: prior={'neighbour': frame, …}.", parameters=("prior",))
    if isinstance(prior, Mapping) and not prior:
        raise InputError("No prior is given: name a frame of p by person and value.", parameters=("prior",))
    return dict(prior) if isinstance(prior, Mapping) else {"prior": prior}


def _believed(release: Release, named: Mapping[str, Any]) -> list[Any]:
    """The values that the priors speak of, as the release writes them: beliefs in what it does not publish move too."""
    told = [
        Prior.of(p, ids=(release.roles.id or "id",), values=(release.sensitive or "",)).value for p in named.values()
    ]
    kind = release.tally["value"].dtype
    every = pl.concat([read_as(one, kind).alias("value") for one in told]).unique(maintain_order=True)
    return every.drop_nulls().to_list()


def _targets(release: Release, named: Mapping[str, Any]) -> Register | None:
    """The different quasi-identifiers of the priors as persons, where nobody else is named."""
    if release.link is not None:
        return None
    keys = [Prior.of(p, values=(release.sensitive or "",)).keys for p in named.values()]
    if any(set(one.columns) - set(release.roles.quasi) for one in keys):
        raise InputError(
            "The release names nobody: give a register of ids and quasi-identifiers, or priors by quasi-identifiers "
            f"of the release ({', '.join(release.roles.quasi) or 'it has none'}).",
            parameters=("register",),
        )
    each = pl.concat(keys, how="diagonal").unique(maintain_order=True)
    label = pl.concat_str([pl.col(c).fill_null("*") for c in each.columns], separator=", ")
    return Register.of(each.with_columns(label.alias("id")).drop_nulls().unique("id", maintain_order=True))


@dataclass
class _Left:
    """Persons of whom a belief is not defined, by the reason."""

    several: int = 0
    without_prior: int = 0
    excluded: int = 0
    unnamed: int = 0
    large: int = 0
    uncertified: int = 0


class _Adversary:
    """One attacker: persons by group and prior, and the three beliefs."""

    def __init__(self, release: Release, post: Posterior, reader: Reader, asking: Callable[..., Posterior]) -> None:
        self._release, self._post, self._prior, self._asking = release, post, reader.prior, asking
        self.left = _Left()
        self.values = post.values
        ids, found = as_text(post.ids, "ids"), reader.informed
        assert found is not None
        assert found.prior is not None
        assert found.prior_key is not None
        weights = found.prior.weights(post.values)[0]
        even = np.full((1, post.values.len()), 1.0)
        self._alpha: Reals = np.concatenate([weights, even])
        self._alpha /= self._alpha.sum(axis=1, keepdims=True)
        self.key: Ints = np.append(found.prior_key, -1)[positions(ids, found.people)]  # −1: without a prior
        self._group, self._fits = self._places()
        self._counts = self._published()

    def _places(self) -> tuple[Ints, tuple[Ints, Ints]]:
        """The one group of each person (−1 where it may be in several or in none), and all pairs (person, group)."""
        release, post = self._release, self._post
        told = post.groups_of(post.names[0])
        person = positions(told["id"], post.ids).astype(np.int64)
        group = positions(told["group"], release.labels).astype(np.int64)
        many = np.bincount(person, minlength=post.ids.len())
        one = np.full(post.ids.len(), -1, dtype=np.int64)
        sure = (many[person] == 1) & (group >= 0)
        one[person[sure]] = group[sure]
        inside = group >= 0
        return one, (person[inside], group[inside])

    def _published(self) -> Ints:
        """[groups, values] how often each value stands in each group."""
        tally = self._release.tally
        found = np.zeros((self._release.labels.len(), self.values.len()), dtype=np.int64)
        group, value = positions(tally["group"], self._release.labels), positions(tally["value"], self.values)
        np.add.at(found, (group, value), tally["n"].to_numpy())
        return found

    def frame(self) -> pl.DataFrame:
        """id, value, alpha, the beliefs and the share of the release, of everybody with a prior."""
        asked = np.flatnonzero(self.key >= 0)
        self.left.without_prior = int((self.key < 0).sum())
        size = self.values.len()
        columns = {"alpha": self._alpha[self.key[asked]], **self._beliefs(asked)}
        ids, values = np.repeat(asked, size), np.tile(np.arange(size), asked.size)
        flat = {name: pl.Series(found.ravel()).fill_nan(None) for name, found in columns.items()}
        return pl.DataFrame({"id": self._post.ids.gather(ids), "value": self.values.gather(values), **flat})

    def _beliefs(self, asked: Ints) -> dict[str, Reals]:
        place, key = self._group[asked], self.key[asked]
        formula, exact = self._formula(place, key), self._exact(place, key)
        share = self._counts / np.maximum(self._counts.sum(axis=1, keepdims=True), 1)
        alone = np.where(place[:, None] >= 0, share[place], np.nan)
        self.left.several = int((place < 0).sum())
        entropy = self._relative_entropy(asked)
        self.left.uncertified = int(np.isnan(entropy).any(axis=1).sum())
        return {"formula": formula, "relative_entropy": entropy, "exact": exact, BASELINE: alone}

    def _formula(self, place: Ints, key: Ints) -> Reals:
        """β by the formula; NaN where it is not defined."""
        person, group = self._fits
        mean: Reals = np.zeros(self._counts.shape)
        np.add.at(mean, group, self._alpha[self.key[person]])
        mean /= np.maximum(np.bincount(group, minlength=len(mean)), 1)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self._counts > 0, self._counts / mean, 0.0)
        terms: Reals = self._alpha[key] * np.where(np.isinf(ratio), np.nan, ratio)[place]
        terms[place < 0] = np.nan
        total = terms.sum(axis=1)
        total[total == 0] = np.nan
        self.left.excluded = int((np.isnan(total) & (place >= 0)).sum())
        beta: Reals = terms / total[:, None]
        return beta

    def _relative_entropy(self, asked: Ints) -> Reals:
        """The probabilities of `infer` with the prior; NaN where they are no result."""
        found = np.full((self._post.ids.len(), self.values.len()), np.nan)
        kept = np.ones(found.shape[0], dtype=bool)
        try:
            post = self._asking(prior=self._prior)
        except ContradictionError:  # somewhere the prior excludes what the counts require: everybody else is answered
            kept = np.append(self._possible(), True)[self._group]
            try:
                post = self._asking(prior=self._by_id(np.flatnonzero(kept & (self.key >= 0))))
            except InputError:
                return found[asked]
        told = post.to_frame()
        person, value = positions(told["id"], self._post.ids), positions(told["value"], self.values)
        sure = positions(post.ids.filter(post.states().is_in(["exact", "certified"])), self._post.ids)
        found[sure] = 0.0
        found[person, value] = told["p"].fill_null(np.nan).to_numpy()
        found[~kept] = np.nan
        return found[asked]

    def _possible(self) -> Flags:
        """[groups] whether the members can have the published values by their priors, each one of them."""
        found, members = np.ones(self._counts.shape[0], dtype=bool), _Lists(self._group, self._counts.shape[0])
        for group in np.flatnonzero(members.many).tolist():
            slot = np.repeat(np.arange(self.values.len()), self._counts[group])
            can = self._alpha[self.key[members.of(group)]][:, slot] > 0
            free = np.ones((slot.size - can.shape[0], slot.size), dtype=bool)  # counterfeits, and who is not named
            match = maximum_bipartite_matching(csr_array(np.concatenate([can, free])), perm_type="column")
            found[group] = bool((match >= 0).all())
        return found

    def _by_id(self, people: Ints) -> pl.DataFrame:
        """The prior of some persons, by id."""
        size = self.values.len()
        return pl.DataFrame(
            {
                "id": self._post.ids.gather(np.repeat(people, size)),
                "value": self.values.gather(np.tile(np.arange(size), people.size)),
                "p": self._alpha[self.key[people]].ravel(),
            }
        )

    def _exact(self, place: Ints, key: Ints) -> Reals:
        """β over weighted worlds, group by group; NaN where not every member is known, or the group is too large."""
        found = np.full((place.size, self.values.len()), np.nan)
        fakes = per_group(self._release.counterfeits, self._release.labels).to_numpy()
        fitting = np.bincount(self._fits[1], minlength=self._counts.shape[0])
        alone = np.bincount(self._group[self._group >= 0], minlength=self._counts.shape[0])
        known = (alone == fitting) & (alone == self._counts.sum(axis=1) - fakes)
        self.left.unnamed = int((~known[place] & (place >= 0)).sum())
        members, asked = _Lists(self._group, known.size), _Lists(place, known.size)
        seen: dict[Any, dict[int, Reals] | None] = {}
        for group in np.flatnonzero(known & (asked.many > 0)).tolist():
            rows, counts = asked.of(group), self._counts[group]
            keys = sorted(self.key[members.of(group)].tolist()) + [-1] * int(fakes[group])
            sign = (counts.tobytes(), tuple(keys))
            if sign not in seen:
                seen[sign] = self._worlds(counts, keys)
            by_key = seen[sign]
            if by_key is None:
                self.left.large += rows.size
                continue
            for row in rows.tolist():
                found[row] = by_key[int(key[row])]
        return found

    def _worlds(self, counts: Ints, keys: list[int]) -> dict[int, Reals] | None:
        """The answer of a member by its prior; None if the group is too large."""
        there = np.flatnonzero(counts)
        size, different = self.values.len(), sorted(set(keys))
        if len(different) == 1:  # all alike: worlds weigh the same
            even = self._alpha[different[0]][there].min() > 0
            return {different[0]: counts / counts.sum() if even else np.full(size, np.nan)}
        if states(counts[there].tolist(), len(keys)) > MOST:
            return None
        answer = weighed(counts[there].tolist(), self._alpha[np.array(keys)][:, there])
        found = {}
        for key in different:
            row = np.full(size, np.nan if answer is None else 0.0)
            if answer is not None:
                row[there] = answer[keys.index(key)]
            found[key] = row
        return found

    def notes(self) -> list[str]:
        """What was left out and why."""
        left = self.left
        told = (
            (left.without_prior, "{} without a prior: no belief of theirs can move, and they are left out."),
            (left.several, "{} in one of several groups, or in none: formula and worlds are not defined for them."),
            (
                left.excluded,
                "{} in groups that publish a value which the prior rules out for all of them, or only values that it "
                "rules out for the person: by the formula no posterior belief is defined for them.",
            ),
            (left.unnamed, "{} in groups with members whom nobody names: worlds are not counted for them."),
            (left.large, "{} in groups with too many worlds to count: they have no exact belief."),
            (left.uncertified, "{} without a certified answer of relative entropy."),
        )
        return [why.format("1 person is" if many == 1 else f"{many} persons are") for many, why in told if many]


class _Lists:
    """Places of a list by their group; those below 0 are in none."""

    def __init__(self, group: Ints, groups: int) -> None:
        self._order = np.argsort(group, kind="stable")
        self._start = np.searchsorted(group[self._order], np.arange(groups + 1))
        self.many: Ints = np.diff(self._start)

    def of(self, group: int) -> Ints:
        """The places of one group."""
        found: Ints = self._order[self._start[group] : self._start[group + 1]]
        return found


def _with_breaches(people: pl.DataFrame, theta: float) -> pl.DataFrame:
    """Where each belief is θ or more from the prior."""
    moved = [
        ((pl.col(b) - pl.col("alpha")).abs() >= theta - _ROUNDING).alias(f"{b}_breach") for b in (*BELIEFS, BASELINE)
    ]
    return people.with_columns(moved)


def _counted(people: pl.DataFrame, belief: str) -> list[tuple[dict[str, Any], int, int]]:
    """Persons with a breach among those of whom the belief is defined, by attacker."""
    found = []
    for (name,), own in people.group_by("adversary", maintain_order=True):
        each = own.group_by("id").agg(
            pl.col(belief).is_not_null().all().alias("known"), pl.col(f"{belief}_breach").any()
        )
        known = each.filter("known")
        told = {"adversary": name, "belief": belief}
        found.append((told, int(known[f"{belief}_breach"].sum()), known.height))
    return found
