"""How many persons of a population are unique, estimated from the groups of a sample.

s_j groups of the sample have j records, n records and u groups in all, and a share π of the population was sampled, so
N = n/π persons. Three models of where the groups come from, and a rule that chooses among them:

- Pitman (Hoshino, J. Official Statistics 2001): persons join groups one by one, the (i + 1)-th a group of f with
  probability (f − α)/(θ + i); α and θ maximise the likelihood. A person stays alone with probability
  Π_{i<N} (θ + i − 1 + α)/(θ + i).
- Zayatz (Bureau of the Census 1991): groups of the population have sizes as often as those of the sample; which share
  of the sample's unique records is then unique in the population follows from Bayes.
- SNB (Chen, Keller-McNulty, J. Official Statistics 1998): sizes are one plus a negative binomial number; its parameters
  give the expected u and s_1.
- Dankar, El Emam, Neisa, Roffey (BMC Med. Inform. Decis. Mak. 2012): Pitman up to π = 0.1, beyond it the smaller of
  Zayatz and SNB.

A group of F persons has πF records in the sample, each found with probability 1/F: so the average risk is groups over
persons, with the groups that Pitman's model expects, or SNB's. Where no record is alone, it is E[1/F] of each group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showthrough.criteria.criterion import text
from showthrough.criteria.parameters import number
from showthrough.errors import ParameterError
from showthrough.numerals import many, number_of
from showthrough.table.arrays import Ints, Reals

FEW = 0.1
"""The sampling fraction up to which Dankar's rule takes Pitman's model."""
MANY = 1e12
"""Persons of a population beyond which the models are not asked: a fraction that small is a slip."""
SURE = 0.95
"""Probability with which the estimated k of k-map holds for all groups."""


@dataclass(frozen=True)
class Estimated:
    """Persons unique in the population by each model (None: the model fits no such sample), and by Dankar's rule."""

    sampling_fraction: float
    population: int
    pitman: float | None
    zayatz: float
    snb: float | None
    dankar: float
    model: str
    """The model that Dankar's rule takes."""
    average_risk: float
    """Mean over the records of 1/F: the marketer's risk, were the population known."""
    k_map: int
    """A size that all groups have in the population with probability 0.95."""

    @property
    def share(self) -> float:
        """Share of the population that is unique, by Dankar's rule."""
        return self.dankar / self.population

    def __str__(self) -> str:
        return (
            f"If a share of {text(self.sampling_fraction)} of {many(self.population)} persons was sampled, about "
            f"{100 * self.share:.3g} % of them are unique ({self.model}), a record is found with probability "
            f"{self.average_risk:.3g} on average, and every group has {number_of(self.k_map, 'person')} or more there "
            f"with probability {SURE}."
        )


def estimated(size: Ints, sampling_fraction: float) -> Estimated:
    """Uniqueness in the population of which the groups are a sample."""
    number("The risk", "sampling_fraction", sampling_fraction, least=0, most=1, above=0)
    sizes, often = np.unique(size, return_counts=True)
    records = int(size.sum())
    if records > MANY * sampling_fraction:
        raise ParameterError(
            f"So small a sampling fraction means a population of more than {MANY:.0e} persons: give the "
            "share of the population that the records are.",
            parameters=("sampling_fraction",),
        )
    people = max(records, round(records / sampling_fraction))
    groups: float | None = None  # of the population, as far as a model says
    if people == records:  # the sample is the population
        alone = float(often[sizes == 1].sum())
        pitman: float | None = alone
        zayatz, snb = alone, pitman
    elif sizes[0] > 1:
        pitman, zayatz, snb = 0.0, 0.0, 0.0
    else:
        fitted, even = _pitman(sizes, often, people), _snb(sizes, often, people)
        zayatz = zayatz_uniques(sizes, often, people)
        pitman, snb = (None if model is None else model[0] for model in (fitted, even))
        groups = next((model[1] for model in (fitted, even) if model is not None), None)
    taken = {"pitman": pitman} if sampling_fraction <= FEW else {"zayatz": zayatz, "snb": snb}
    known = {name: value for name, value in taken.items() if value is not None} or {"zayatz": zayatz}
    model = min(known, key=lambda name: known[name])
    return Estimated(
        sampling_fraction,
        people,
        pitman,
        zayatz,
        snb,
        known[model],
        model,
        _average_risk(sizes, often, people, groups, known[model]),
        sure_size_of_all(sizes, often, records / people),
    )


def _average_risk(sizes: Ints, often: Ints, people: int, groups: float | None, uniques: float) -> float:
    """Groups over persons of the population, no less than its uniques and no more than in the sample."""
    records = int(sizes @ often)
    if groups is not None:
        return float(np.clip(groups, uniques, max(uniques, int(often.sum()) / records * people)) / people)
    risk = np.array([mean_risk(int(f), records / people) for f in sizes])
    return float(max((risk * sizes * often).sum() / records, uniques / people))


def pitman_likelihood(sizes: Ints, often: Ints, alpha: float, theta: float) -> float:
    """Log of Π_{0<l<u} (θ + lα) / Π_{0<i<n} (θ + i) · Π_groups Π_{0<i<f} (i − α)."""
    from scipy.special import gammaln

    records, groups = int(sizes @ often), int(often.sum())
    new = np.log(theta + alpha * np.arange(1, groups)).sum()
    all_ = gammaln(theta + records) - gammaln(theta + 1)
    inside = often @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
    return float(new - all_ + inside)


def pitman_uniques(alpha: float, theta: float, people: int) -> float:
    """Expected persons alone among so many: N · Γ(θ + 1) Γ(θ + α + N − 1) / (Γ(θ + α) Γ(θ + N))."""
    from scipy.special import gammaln

    top = gammaln(theta + 1) + gammaln(theta + alpha + people - 1)
    return float(people * np.exp(top - gammaln(theta + alpha) - gammaln(theta + people)))


def pitman_groups(alpha: float, theta: float, people: int) -> float:
    """Expected groups of so many: (θ/α) · (Γ(θ + α + N) Γ(θ) / (Γ(θ + α) Γ(θ + N)) − 1)."""
    from scipy.special import digamma, gammaln

    if alpha < 1e-6:  # the limit
        return float(theta * (digamma(theta + people) - digamma(theta)))
    # θ Γ(θ) is Γ(θ + 1), which is there for negative θ as well
    top = gammaln(theta + alpha + people) + gammaln(theta + 1) - gammaln(theta + people)
    return float((np.exp(top - gammaln(theta + alpha)) - theta) / alpha)


def _pitman(sizes: Ints, often: Ints, people: int) -> tuple[float, float] | None:
    """Expected uniques and groups of the population."""
    if int(sizes[-1]) == 1:  # all records alone: the likelihood has no maximum
        return None
    from scipy.optimize import minimize
    from scipy.special import expit

    def minus(at: Reals) -> float:
        alpha = float(expit(at[0]))
        return -pitman_likelihood(sizes, often, alpha, float(np.exp(at[1])) - alpha)

    groups = int(often.sum())
    found = minimize(minus, np.array([0.0, np.log(groups)]), method="Nelder-Mead", options={"maxiter": 400})
    alpha = float(expit(found.x[0]))
    theta = float(np.exp(found.x[1])) - alpha
    told = pitman_uniques(alpha, theta, people), pitman_groups(alpha, theta, people)
    return told if found.success and np.isfinite(told).all() else None


def zayatz_uniques(sizes: Ints, often: Ints, people: int) -> float:
    """s_1 · P(alone in the population | alone in the sample) / π.

    A group of i persons has one in the sample with probability i · C(N − i, n − 1)/C(N, n).
    """
    from scipy.special import gammaln

    records = int(sizes @ often)
    rest = people - sizes - records + 1
    possible = rest >= 0
    chance = np.zeros(len(sizes))
    i = sizes[possible].astype(np.float64)
    one = gammaln(people - i + 1) - gammaln(rest[possible] + 1.0)
    chance[possible] = i * np.exp(one - one[0])  # a common factor drops out below
    alone = float(often[0] * chance[0] / (often @ chance))
    return float(often[0]) * alone * people / records


def _snb(sizes: Ints, often: Ints, people: int) -> tuple[float, float] | None:
    """Expected uniques and groups of the population."""
    from scipy.optimize import least_squares
    from scipy.special import expit

    records, groups, alone = int(sizes @ often), int(often.sum()), int(often[0])
    fraction = records / people

    def expected(at: Reals) -> tuple[float, float, float, float]:
        """Groups of the population, and expected u and s_1; the share of groups of one."""
        r, p = float(np.exp(at[0])), float(expit(at[1]))
        every = people / (1 + r * (1 - p) / p)
        none = 1 - fraction
        # generating function of the sampled size: w · (p/(1 − (1 − p)w))^r at w = 1 − π + πz, and its slope at z = 0
        power = (p / (1 - (1 - p) * none)) ** r
        empty = none * power
        one = fraction * power * (1 + none * r * (1 - p) / (1 - (1 - p) * none))
        return every, every * (1 - empty), every * one, p**r

    def away(at: Reals) -> Reals:
        _, u, one, _ = expected(at)
        return np.array([u / groups - 1, one / alone - 1])

    best = min(
        (least_squares(away, np.array(at)) for at in ((0.0, 0.0), (-2.0, -2.0), (2.0, 0.0))), key=lambda f: f.cost
    )
    if best.cost > 1e-8:
        return None
    every, _, _, ones = expected(best.x)
    return float(every * ones), float(every)


def mean_risk(found: int, fraction: float) -> float:
    """E[1/F] of a group with so many records in the sample, F − f negative binomial.

    Benedetti, Franconi (1998): with a prior ∝ 1/F, P(F | f) = C(F − 1, f − 1) π^f (1 − π)^(F − f).
    """
    if fraction >= 1:
        return 1 / found
    from scipy.special import hyp2f1

    # Σ_F C(F − 1, f − 1) π^f (1 − π)^(F − f)/F = π^f/f · ₂F₁(f, f; f + 1; 1 − π), by Euler's transformation:
    return float(fraction / found * hyp2f1(1.0, 1.0, found + 1.0, 1 - fraction))


def sure_size(found: int, fraction: float) -> int:
    """The largest size that a group of so many sampled records has with probability 0.95 in the population."""
    if fraction >= 1:
        return found
    from scipy.stats import nbinom

    # P(F ≥ k) ≥ 0.95 while P(F − f ≤ k − f − 1) ≤ 0.05
    low = int(nbinom.ppf(1 - SURE, found, fraction))
    return found + (low if nbinom.cdf(low, found, fraction) > 1 - SURE + 1e-12 else low + 1)


def sure_size_of_all(sizes: Ints, often: Ints, fraction: float) -> int:
    """The largest size that all groups together have with probability 0.95 in the population."""
    least = int(sizes[0])
    if fraction >= 1:
        return least
    from scipy.stats import nbinom

    def sure(k: int) -> bool:
        return bool(often @ nbinom.logsf(k - sizes - 1, sizes, fraction) >= np.log(SURE) - 1e-12)

    low, high = least, sure_size(least, fraction) + 1  # the first holds, as groups are no smaller than what was found
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sure(middle) else (low, middle)
    return low
