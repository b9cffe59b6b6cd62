"""Slow and plain: how few records have to be withheld so that neither part of a group shows a value too often."""

from __future__ import annotations

import itertools
from fractions import Fraction


def fewest(there, gone, limit: Fraction):
    """The fewest withheld records, by trying all; None if no record can be published.

    ``there`` and ``gone`` count values of those who are still there and of those who left. Readers cannot tell the
    persons of a part apart, so a value is as likely as it is frequent among the published, and among all others.
    """
    best = None
    for kept in itertools.product(*[range(n + 1) for n in there]):
        rest = [n - k + g for n, k, g in zip(there, kept, gone, strict=True)]
        published, others = sum(kept), sum(rest)
        if published and max(kept) <= limit * published and (not others or max(rest) <= limit * others):
            held = sum(there) - published
            best = held if best is None else min(best, held)
    return best
