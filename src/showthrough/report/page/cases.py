"""The most exposed persons with short proofs, for internal readers."""

from __future__ import annotations

import time

import numpy as np

from showthrough.auditing.further import Further
from showthrough.auditing.since import Need
from showthrough.errors import LongProofError, NotProvenError
from showthrough.report.content import PROOF_STEPS
from showthrough.report.page.blocks import Case
from showthrough.report.page.wording import listed, percent
from showthrough.table.arrays import Ints, Reals

MOST_CASES = 12
SECONDS = 10.0  # for all proofs
TOO_LONG = (f"The proof takes more than {PROOF_STEPS} steps.",)
LONG = 420  # letters of a proof that is told in one sentence first


def cases(further: Further, needs: tuple[Need, ...] | None) -> tuple[Case, ...]:
    """Those whom the newest release harms most first; without certain persons those with the surest guess."""
    post, certain = further.audit.posterior, further.audit.posterior.certain()
    before = further.told(further.everything[:-1]) if len(further.everything) > 1 else None
    was = np.full(certain.size, np.nan) if before is None else np.where(before.certain, 1.0, before.largest)
    order = _order(certain, was, post.largest())
    ids, best, deadline = post.ids, post.best(), time.monotonic() + SECONDS
    parts = best["release"] if "release" in best.columns else None
    found: list[Case] = []
    later: list[Case] = []  # whose proof is long: they are shown if there is room
    for p in order[: 3 * MOST_CASES].tolist():
        value, sure = best["value"][p], bool(certain[p])
        part = None if parts is None else parts[p]
        proof, brief = _proof(further, ids[p], value, part, deadline) if sure else ((), "")
        chance = float(post.largest()[p])
        case = Case(
            id=str(ids[p]) if part is None else f"{ids[p]} (as in {part})",
            value=str(value),
            before=_before(float(was[p]), before is not None),
            certain=("now certain" if was[p] != 1 else "certain already") if sure else "",
            now="" if sure or np.isnan(chance) else f"now {percent(chance)}",
            since=_since(further, p, needs) if sure else "",
            proof=proof,
            summary=brief,
        )
        (found if proof != TOO_LONG else later).append(case)
        if len(found) == MOST_CASES:
            break
    return (*found, *later)[:MOST_CASES]


def _order(certain: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], was: Reals, largest: Reals) -> Ints:
    """The certain, the safest before first, newcomers last; where nobody is, the likeliest guesses from 50 % on."""
    people = np.flatnonzero(certain if certain.any() else np.nan_to_num(largest) >= 0.5)
    keys = np.where(certain, np.nan_to_num(was, nan=0.99), 2 - np.nan_to_num(largest))[people]
    return people[np.lexsort((people, keys, ~certain[people]))]


def _before(was: float, known: bool) -> str:
    if not known or was == 1:
        return ""
    return "not in an earlier release" if np.isnan(was) else f"{percent(was)} before"


def _since(further: Further, person: int, needs: tuple[Need, ...] | None) -> str:
    names, words = further.audit.posterior.names, []
    for last in range(1, len(names) + 1):
        told = further.told(tuple(range(last)))
        if told is not None and told.certain[person]:
            words.append(f"since {names[last - 1]}")
            break
    if needs:
        sets = sorted({need.releases for need in needs if need.releases}, key=len)
        for some in sets:
            told = further.told(some)
            if told is not None and told.certain[person]:
                words.append(f"needs {listed([names[r] for r in some])}")
                break
    return "; ".join(words)


def _proof(
    further: Further, id: object, value: object, part: str | None, deadline: float
) -> tuple[tuple[str, ...], str]:
    """The proof line by line, and in one sentence where it is long."""
    left = deadline - time.monotonic()
    if left <= 0:
        return ("The proof was left out to save time.",), ""
    try:
        proof = further.audit.posterior.explain(id, value, release=part, most_steps=PROOF_STEPS, seconds=min(2.0, left))
    except LongProofError:
        return TOO_LONG, ""
    except NotProvenError:  # holds only if the releases are consistent
        return (), ""
    lines = tuple(proof.reasons.split("\n"))
    return lines, proof.summary if len(proof.reasons) > LONG else ""
