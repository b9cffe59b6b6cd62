"""A decision and its figures as Markdown, for summaries of pipelines and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable

from showthrough.policy.decision import Decision
from showthrough.policy.phrases import percent
from showthrough.report.formats import Judgement

SIGNS = {"pass": "✔ PASS", "review": "▲ REVIEW", "block": "⬣ BLOCK", "inconclusive": "○ INCONCLUSIVE"}
_MARKS = re.compile(r"([\\`*_{}\[\]<>|~$&]|^[-+#=])")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")  # only punctuation can be escaped: 1\. and never \1.


def markdown(told: Judgement) -> bytes:
    """The page."""
    lines = [f"# showthrough {told.subject}", ""]
    if told.decision is not None:
        lines += _decided(told.decision)
    lines += ["## Figures", "", *(f"- {escaped(line)}" for line in told.summary), ""]
    made = told.made
    lines += [
        f"Made {escaped(made.date)} by showthrough {escaped(made.showthrough)}. Counts only: nobody is named.",
        "",
    ]
    if made.files:
        lines += ["<details><summary>Files read</summary>", "", "| file | SHA-256 |", "|---|---|"]
        lines += [f"| {escaped(file.name)} | `{file.sha256}` |" for file in made.files]
        lines += ["", "</details>", ""]
    return "\n".join(lines).encode(errors="replace")


def _decided(decided: Decision) -> list[str]:
    lines = [f"## {SIGNS[decided.verdict]}", "", f"**{escaped(decided.said)}**", ""]
    lines += [f"- {escaped(doubt)}" for doubt in decided.doubts] + ([""] if decided.doubts else [])
    lines += ["| limit | set to | breaking it means | | |", "|---|---|---|---|---|"]
    for r in decided.reasons:
        name = r.rule if r.release is None else f"{r.rule} of {r.release}"
        lines.append(_row([name, shown(r.rule, r.limit), r.severity, r.outcome, r.said]))
    lines.append("")
    if decided.exceptions:
        lines += ["| exception from | | until | owner | reason |", "|---|---|---|---|---|"]
        lines += [_row([e.rule, e.state, e.expires.isoformat(), e.owner, e.reason]) for e in decided.exceptions]
        lines.append("")
    return lines


def shown(rule: str, limit: object) -> str:
    """A limit as people read it."""
    if rule in ("max_posterior", "max_gain", "max_shift") and isinstance(limit, (int, float)):
        share = percent(float(limit))
        return share if rule == "max_posterior" else f"{share.removesuffix('%')}points"
    return ", ".join(map(str, limit)) if isinstance(limit, (tuple, list)) else str(limit)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def escaped(text: str) -> str:
    r"""Text that means nothing to Markdown or HTML, on one line.

    >>> escaped("a|b <script> *x*")
    'a\\|b \\<script\\> \\*x\\*'
    >>> escaped("1.5"), escaped("1. Ward")
    ('1.5', '1\\. Ward')
    """
    return _NUMBERED.sub(r"\1\\\2", _MARKS.sub(r"\\\1", " ".join(text.split())))
