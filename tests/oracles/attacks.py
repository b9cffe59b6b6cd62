"""Attacks done slowly: beliefs over all assignments, and scores person by person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

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
