"""Attacks done slowly: beliefs over all assignments, and scores person by person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from math import exp, lgamma

Belief = Mapping[str, float]


def exact_beliefs(values: Sequence[str], priors: Sequence[Belief]) -> list[dict[str, float]] | None:
    """P(value | member) of a group over all assignments of its values, weighed by the priors of the members."""
    worlds = sorted(set(permutations(values)))
    weight = []
    for world in worlds:
        product = 1.0
        for value, prior in zip(world, priors, strict=True):
            product *= prior[value]
        weight.append(product)
    total = sum(weight)
    if not total:
        return None
    found: list[dict[str, float]] = [dict.fromkeys(values, 0.0) for _ in priors]
    for world, w in zip(worlds, weight, strict=True):
        for member, value in enumerate(world):
            found[member][value] += w / total
    return found


def scaled(values: Sequence[str], priors: Sequence[Belief], sweeps: int = 4000) -> list[dict[str, float]]:
    """The beliefs nearest to the priors (relative entropy) that meet the counts: rows and columns scaled in turn."""
    own = [{v: p for v, p in prior.items() if v in values} for prior in priors]
    for _ in range(sweeps):
        own = [{v: p / (sum(row.values()) or 1) for v, p in row.items()} for row in own]
        total = {v: sum(row[v] for row in own) for v in set(values)}
        own = [{v: p * values.count(v) / (total[v] or 1) for v, p in row.items()} for row in own]
    return own


def formula(values: Sequence[str], priors: Sequence[Belief], target: int) -> dict[str, float] | None:
    """n(q*, s) · f(s | q)/f(s | q*) over its sum; None where it is not defined."""
    terms = {}
    for value in sorted(set(values)):
        mean = sum(prior[value] for prior in priors) / len(priors)
        if mean == 0:
            return None
        terms[value] = values.count(value) * priors[target][value] / mean
    total = sum(terms.values())
    return {value: term / total for value, term in terms.items()} if total else None


def scores(beliefs: Mapping[str, Belief], truth: Mapping[str, str]) -> dict[str, float]:
    """Accuracy, Brier score, calibration error and accuracy of the most confident tenth, person by person."""
    sure, right, brier = [], [], 0.0
    for person in truth:
        belief = beliefs[person]
        top = max(belief.values())
        best = [v for v, p in belief.items() if abs(p - top) < 1e-9]
        sure.append(top)
        right.append((truth[person] in best) / len(best))
        every = {*belief, truth[person]}
        brier += sum((belief.get(v, 0.0) - (v == truth[person])) ** 2 for v in every)
    many = len(truth)
    error = 0.0
    for step in range(10):
        inside = [i for i in range(many) if step == min(int((sure[i] + 1e-9) * 10), 9)]
        if inside:
            gap = sum(right[i] for i in inside) / len(inside) - sum(sure[i] for i in inside) / len(inside)
            error += len(inside) / many * abs(gap)
    order = sorted(range(many), key=lambda i: -sure[i])
    tenth = -(-many // 10)
    limit = sure[order[tenth - 1]]
    above = [i for i in order if sure[i] > limit + 1e-9]
    alike = [i for i in order if abs(sure[i] - limit) <= 1e-9]
    top = sum(right[i] for i in above) + (tenth - len(above)) * sum(right[i] for i in alike) / len(alike)
    return {
        "accuracy": sum(right) / many,
        "brier": brier / many,
        "calibration_error": error,
        "decile": top / tenth,
    }


def learned_beliefs(
    groups: Sequence[tuple[Sequence[int], Sequence[str]]],
    attributes: Sequence[Sequence[str | None]],
    domains: Sequence[Sequence[str]],
    values: Sequence[str],
) -> list[dict[str, float]]:
    """P(value | person) over all assignments in all groups, weighed by the marginal likelihood of naive Bayes.

    A group is its members, as places in ``attributes`` (None: somebody unknown is left out of them), and its values.
    Every P(attribute | value) has a flat Dirichlet prior, and is integrated out.
    """
    choices = [sorted(set(permutations(own))) for _, own in groups]
    found: list[dict[str, float]] = [dict.fromkeys(values, 0.0) for _ in attributes]
    worlds = []
    for world in product(*choices):
        has = {}
        for (members, _), own in zip(groups, world, strict=True):
            has.update({person: own[at] for at, person in enumerate(members)})
        worlds.append((has, _log_marginal(has, attributes, domains, values)))
    top = max(log for _, log in worlds)
    total = sum(exp(log - top) for _, log in worlds)
    for has, log in worlds:
        for person, value in has.items():
            found[person][value] += exp(log - top) / total
    return found


def _log_marginal(
    has: Mapping[int, str],
    attributes: Sequence[Sequence[str | None]],
    domains: Sequence[Sequence[str]],
    values: Sequence[str],
) -> float:
    log = 0.0
    for number, domain in enumerate(domains):
        for value in values:
            seen = [attributes[p][number] for p, own in has.items() if own == value]
            counts = [seen.count(entry) for entry in domain]
            log += lgamma(len(domain)) - lgamma(len(domain) + sum(counts)) + sum(lgamma(1 + n) for n in counts)
    return log


def fixed_point_of(
    groups: Sequence[tuple[Sequence[int], Sequence[str]]],
    attributes: Sequence[Sequence[str | None]],
    domains: Sequence[Sequence[str]],
    beliefs: Sequence[Belief],
) -> list[dict[str, float]]:
    """One more step of EM, by hand: smoothed counts of the beliefs, then rows and columns of each group scaled."""
    values = sorted({v for _, own in groups for v in own})
    count = {(a, e, v): 1.0 for a, domain in enumerate(domains) for e in domain for v in values}
    for members, _ in groups:
        for person in members:
            for a, entry in enumerate(attributes[person]):
                for v in values:
                    if entry is not None:
                        count[a, entry, v] += beliefs[person].get(v, 0.0)
    total = {(a, v): sum(count[a, e, v] for e in domain) for a, domain in enumerate(domains) for v in values}
    found: list[dict[str, float]] = [{} for _ in attributes]
    for members, own in groups:
        weights = []
        for person in members:
            row = dict.fromkeys(own, 1.0)
            for a, entry in enumerate(attributes[person]):
                for v in row:
                    if entry is not None:
                        row[v] *= count[a, entry, v] / total[a, v]
            weights.append(row)
        for person, row in zip(members, scaled(own, weights), strict=True):
            found[person] = row
    return found


def r_hat(chains: Sequence[Sequence[float]]) -> float:
    """Split R-hat of one quantity."""
    half = len(chains[0]) // 2
    parts = [list(c[:half]) for c in chains] + [list(c[len(c) - half :]) for c in chains]
    means = [sum(p) / half for p in parts]
    within = sum(sum((x - m) ** 2 for x in p) / (half - 1) for p, m in zip(parts, means, strict=True)) / len(parts)
    middle = sum(means) / len(means)
    between = half * sum((m - middle) ** 2 for m in means) / (len(means) - 1)
    return float((((half - 1) / half * within + between / half) / within) ** 0.5)
