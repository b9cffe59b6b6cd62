"""A lower bound for what any release of a table costs that keeps a limit on the posterior beside its past.

Whatever the groups, the rows that readers end with meet the counts of the past and those of the new release. Summed
over all of its groups the latter say: for every value the published persons' probabilities, with the counterfeits'
expected share, add up to the records and counterfeits that have it. A linear program with these sums, everybody within
the limit, and as few counterfeits and withheld records as can be, asks for less than any grouping does; so its optimum
is a bound.
Persons of the same old groups share variables, one for those who are published and one for all others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from showthrough.criteria.alpha_k import AlphaKAnonymity
from showthrough.criteria.l_diversity import FrequencyLDiversity
from showthrough.criteria.m_uniqueness import MUniqueness
from showthrough.policy.judging import SLACK
from showthrough.republishing.nudging import Kin
from showthrough.republishing.past import Past
from showthrough.republishing.standing import Standing
from showthrough.table.arrays import Ints, Reals
from showthrough.table.codes import positions

_PAIRS = 150_000  # pairs (person of a kind, value) up to which the program is solved
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Persons of the same old groups: how many are there with which value, how many are gone, what each may have."""

    groups: Ints  # [releases, kinds] numbers of `Kin`, −1: in none
    here: Reals  # [kinds, values] records of the table
    gone: Reals  # [kinds]
    bound: Reals  # [kinds]
    kind: Ints  # [pairs]
    value: Ints  # [pairs]


def largest_share(criteria: Sequence[object]) -> float:
    """The most that one value may be of a group by these criteria, as far as they say it outright."""
    frequent = [1 / one.l for one in criteria if isinstance(one, FrequencyLDiversity)]
    unique = [1 / one.m for one in criteria if isinstance(one, MUniqueness)]
    alpha = [one.alpha for one in criteria if isinstance(one, AlphaKAnonymity) and one.values is None]
    return float(min(1.0, *frequent, *unique, *alpha)) if (frequent or unique or alpha) else 1.0


def least_price(
    past: Past, standing: Standing, kin: Kin, limit: float, *, seconds: float, share: float = 1.0
) -> int | None:
    """Counterfeits and withheld records that any release takes; None where the program is too large or too slow.

    ``share`` is the most that one value may be of a group.
    """
    kinds = _kinds(past, standing, kin, limit)
    if kinds.kind.size > _PAIRS:
        return None
    cost, equal, less = _program(kinds, past, standing, limit, share)
    past_rows = _past_rows(kinds, past, cost.size)
    result = linprog(
        cost,
        A_eq=equal[0],
        b_eq=equal[1],
        A_ub=sparse.vstack([less[0], past_rows[0], -past_rows[0]]),
        b_ub=np.concatenate([less[1], past_rows[2], -past_rows[1]]),
        method="highs",
        options={"time_limit": seconds},
    )
    return max(0, math.ceil(result.fun - _ROUNDING)) if result.status == 0 else None


def _kinds(past: Past, standing: Standing, kin: Kin, limit: float) -> _Kinds:
    table = np.stack(kin.groups)
    groups, first, of_person = np.unique(table, axis=1, return_index=True, return_inverse=True)
    of_person = of_person.reshape(-1)
    span = past.values.len()
    here = np.zeros((first.size, span))
    known = np.flatnonzero(standing.person >= 0)
    np.add.at(here, (of_person[standing.person[known]], past.value[known]), 1.0)
    gone = np.bincount(of_person[standing.row < 0], minlength=first.size).astype(float)
    bound = np.where(standing.top[first] > limit + SLACK, 1.0, limit + SLACK)
    size = np.diff(standing.start)[first]
    kind = np.repeat(np.arange(first.size), size)
    at = np.concatenate([np.arange(standing.start[i], standing.start[i + 1]) for i in first])
    return _Kinds(groups, here, gone, bound, kind, standing.value[at])


def _program(
    kinds: _Kinds, past: Past, standing: Standing, limit: float, share: float
) -> tuple[Reals, tuple[sparse.csr_matrix, Reals], tuple[sparse.csr_matrix, Reals]]:
    """Costs, equations and limits over: published pairs, other pairs, withheld by kind and value, newcomers, fakes."""
    pairs, many, span = kinds.kind.size, kinds.gone.size, past.values.len()
    own, what = np.nonzero(kinds.here)
    new = np.bincount(past.value[standing.person < 0], minlength=span).astype(float)
    first = np.cumsum([0, pairs, pairs, own.size, span, span, span, span])
    published, others, out, fresh, fresh_out, fake, seen = first[:-1]
    cost = np.zeros(first[-1])
    for start, stop in ((out, fresh), (fresh_out, seen)):
        cost[start:stop] = 1.0
    index, held, values = np.arange(pairs), np.arange(own.size), np.arange(span)
    here = kinds.here.sum(axis=1)
    rows = [  # (row, column, factor), with as many rows as each block has
        (many, [(kinds.kind, published + index, 1.0), (own, out + held, 1.0)], here),
        (many, [(kinds.kind, others + index, 1.0), (own, out + held, -1.0)], kinds.gone),
        (1, [(0 * values, fresh + values, 1.0), (0 * values, fresh_out + values, 1.0)], np.array([new.sum()])),
        (1, [(0 * values, fake + values, 1.0), (0 * values, seen + values, -1.0)], np.zeros(1)),
        (
            span,
            [
                (kinds.value, published + index, 1.0), (values, fresh + values, 1.0), (values, seen + values, 1.0),
                (values, fake + values, -1.0), (what, out + held, 1.0), (values, fresh_out + values, 1.0),
            ],
            kinds.here.sum(axis=0) + new,
        ),
    ]  # fmt: skip
    equal = _stacked(rows, cost.size)
    by_kind = sparse.csr_matrix((np.ones(own.size), (own, held)), shape=(many, own.size))[kinds.kind].tocoo()
    b, again, held_of = kinds.bound[kinds.kind], by_kind.row, by_kind.col
    less = _stacked(
        [
            (pairs, [(index, published + index, 1.0), (again, out + held_of, b[again])], b * here[kinds.kind]),
            (pairs, [(index, others + index, 1.0), (again, out + held_of, -b[again])], b * kinds.gone[kinds.kind]),
            (
                span,
                [
                    (values, fresh + values, 1.0),
                    (np.repeat(values, span), fresh_out + np.tile(values, span), limit + SLACK),
                ],
                np.full(span, (limit + SLACK) * new.sum()),
            ),
            (own.size, [(held, out + held, 1.0)], kinds.here[own, what]),
            (span, [(values, fresh_out + values, 1.0)], new),
            (  # of what is published of each value, and of everything
                span,
                [
                    (what, out + held, -1.0), (values, fresh_out + values, -1.0), (values, fake + values, 1.0),
                    (np.repeat(values, own.size), out + np.tile(held, span), share),
                    (np.repeat(values, span), fresh_out + np.tile(values, span), share),
                    (np.repeat(values, span), fake + np.tile(values, span), -share),
                ],
                share * (here.sum() + new.sum()) - kinds.here.sum(axis=0) - new + _ROUNDING,
            ),
        ],
        cost.size,
    )  # fmt: skip
    return cost, equal, less


def _past_rows(kinds: _Kinds, past: Past, variables: int) -> tuple[sparse.csr_matrix, Reals, Reals]:
    """Every published count of the past: the persons of its group, with room for its counterfeits."""
    pairs, span = kinds.kind.size, past.values.len()
    entries: list[tuple[Ints, Ints]] = []
    low: list[Reals] = []
    high: list[Reals] = []
    base = 0
    for release, own in zip(past.history, kinds.groups, strict=True):
        first = base
        tally = release.tally
        group = positions(tally["group"], release.labels).astype(np.int64)
        value = positions(tally["value"].cast(past.values.dtype), past.values).astype(np.int64)
        count = np.zeros(release.labels.len() * span)
        count[group * span + value] = tally["n"].to_numpy()
        linked = release.groups()["group"]
        named = np.bincount(positions(linked, release.labels), minlength=release.labels.len())
        fakes = np.bincount(group, weights=tally["n"].to_numpy(), minlength=release.labels.len()) - named
        lowest = sum([r.labels.len() for r in past.history[: len(low)]])
        mine = np.flatnonzero(own[kinds.kind] >= 0)
        row = first + (own[kinds.kind[mine]] - lowest) * span + kinds.value[mine]
        entries += [(row, mine), (row, pairs + mine)]
        low.append(np.maximum(count - np.repeat(fakes, span), 0.0))
        high.append(count)
        base += count.size
    row, column = np.concatenate([one[0] for one in entries]), np.concatenate([one[1] for one in entries])
    matrix = sparse.csr_matrix((np.ones(row.size), (row, column)), shape=(base, variables))
    return matrix, np.concatenate(low), np.concatenate(high)


def _stacked(
    blocks: Sequence[tuple[int, Sequence[tuple[Any, Any, Any]], Any]], variables: int
) -> tuple[sparse.csr_matrix, Reals]:
    """Blocks of rows below each other."""
    parts = []
    for many, entries, _ in blocks:
        row = np.concatenate([one[0] for one in entries])
        column = np.concatenate([one[1] for one in entries])
        factor = np.concatenate([np.broadcast_to(one[2], one[0].shape) for one in entries])
        parts.append(sparse.csr_matrix((factor, (row, column)), shape=(many, variables)))
    return sparse.vstack(parts).tocsr(), np.concatenate([one[2] for one in blocks])
