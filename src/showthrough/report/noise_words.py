"""Noisy counts in sentences: what readers believe because of them, and apart from it what they guarantee."""

from __future__ import annotations

from math import fsum

from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.auditing.whole_audit import Audit
from showthrough.dp.meaning import semantic
from showthrough.numerals import many, number_of


def believed(audit: Audit | SpreadAudit) -> list[str]:
    """Whose probabilities lean on noisy counts, and what that makes them."""
    found = audit.posterior.certificate.evidence
    if found is None or not (many_of := found.by_worlds + found.by_expected_counts):
        return []
    by = {
        "by Bayes' rule over all assignments of values": found.by_worlds,
        "by expected counts": found.by_expected_counts,
    }
    ways = [way if n == many_of else f"for {many(n)} {way}" for way, n in by.items() if n]
    return [
        f"The probabilities of {number_of(many_of, 'person')} lean on noisy counts: they are beliefs about what the "
        f"other releases leave open, {' and '.join(ways)}. Noise proves nothing: what is certain or impossible follows "
        "from the other releases. A verdict counts for everybody the larger of the probability with the noisy counts "
        "and without them, so noise clears nobody.",
        *_noise_promises(audit),
    ]


def _noise_promises(audit: Audit | SpreadAudit) -> list[str]:
    """What the noise guarantees, beside what readers believe: all noisy releases together, by basic composition."""
    declared = {r.name: r.noise.by_replacing for r in audit.posterior.releases if r.noise is not None}
    epsilon, delta = fsum(e for e, _ in declared.values()), fsum(d for _, d in declared.values())
    if delta >= 1:
        return []
    bound = semantic(epsilon, delta, n=max(1, audit.joint.persons))
    if bound.tight_vacuous:
        moves = "no bound follows for what one person's record can tell"
    else:
        but = f", except with a probability of at most {bound.tight_delta:.2g}" if delta else ""
        moves = (
            "whatever a reader knows besides, without one person's record in them its conclusions would differ by at "
            f"most {bound.tight:.2g} (1: altogether){but}"
        )
    spent = f"ε = {epsilon:g}" + (f" and δ = {delta:g}" if delta else "")
    return [
        f"What noise guarantees is something else: the noisy counts declare {spent} (one record replaced), so {moves}."
    ]
