"""What is told of an audit beside the publisher's own tables, in figures and in sentences.

Readers of the releases can compute who is in which step of calibration, but not how many of a step are guessed right:
that comes from the truth. If nearly all of a step are right, or nearly none, its persons are given away. So in
shareable content steps are merged until `LEAST` persons who are not certain are right and as many wrong, and levels
that are no border of a step any more are left out, since they could be found by subtraction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from showthrough.auditing.scoring import CalibrationStep, Scored
from showthrough.numerals import many, tenths
from showthrough.report.page.breakdown import LEAST

_FEW = (
    f"How often readers guess right is not told here: beside the certain persons fewer than {LEAST} are guessed right, "
    f"or fewer than {LEAST} wrong. Internal reports tell it."
)


def told_to(audience: str, scored: Scored) -> Scored | None:
    """What this audience may see of it; None if even the sum would give persons away."""
    if audience == "internal":
        return scored
    steps: list[CalibrationStep] = []
    for step in reversed(scored.calibration):  # the last holds the certain persons, who give nothing away
        if steps and _few(steps[-1], scored, first=len(steps) == 1):
            steps[-1] = _joined([step, steps[-1]])
        else:
            steps.append(step)
    while len(steps) > 1 and _few(steps[-1], scored, first=False):
        steps[-2:] = [_joined([steps[-1], steps[-2]])]
    if _few(steps[0], scored, first=True):
        return None
    borders = {round(step.low, 9) for step in steps}
    levels = {level: both for level, both in scored.at_least.items() if round(float(level), 9) in borders}
    return replace(scored, calibration=tuple(reversed(steps)), at_least=levels)


def beside_truth(audience: str, scored: Scored) -> list[str]:
    """How often readers are right, by the publisher's own tables."""
    told = told_to(audience, scored)
    if told is None:
        return [_FEW]
    certain, right = told.certain
    half, hit = told.at_least.get("0.5", (0, 0))
    lines = [
        f"By the publisher's own tables the likeliest value is the true one for {many(told.right)} of "
        f"{many(told.persons)} persons; {tenths(told.expected)} were to be expected."
    ]
    if certain:
        lines.append(f"Of {_people(certain)} about whom a reader is certain, {many(right)} really have that value.")
    if half:
        lines.append(
            f"Of {_people(half)} about whom a reader is at least 50 % sure, {many(hit)} really have that value."
        )
    return lines


def _few(step: CalibrationStep, scored: Scored, *, first: bool) -> bool:
    """Whether a step has somebody, but too few who are right or too few who are wrong; certain persons apart."""
    persons, right = step.persons, step.right
    if first:
        persons, right = persons - scored.certain[0], right - scored.certain[1]
    return persons > 0 and min(right, persons - right) < LEAST


def _joined(steps: Iterable[CalibrationStep]) -> CalibrationStep:
    low, high = steps
    return CalibrationStep(
        low.low, high.high, low.persons + high.persons, low.expected + high.expected, low.right + high.right
    )


def _people(count: int) -> str:
    return f"{many(count)} person{'s' if count != 1 else ''}"
