"""Audits, posteriors, checks and proofs as HTML for notebooks, by the same templates and style as the page.

A fragment takes no further inference: it tells what is known already. Only a proof, which somebody asked for by id,
names a person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from showthrough.attacks.least_knowledge import LeastKnowledge
from showthrough.attacks.outcomes import Outcome
from showthrough.attacks.statistics import Score
from showthrough.auditing.bands import Bands
from showthrough.auditing.further import Further
from showthrough.auditing.whole_audit import Audit
from showthrough.criteria.criterion import Check, text
from showthrough.criteria.worst_case import WorstCase
from showthrough.errors import InputError
from showthrough.inference.posterior import Posterior
from showthrough.inference.proof import Proof
from showthrough.report.charts import drawing
from showthrough.report.html import css, drawings, environment
from showthrough.report.html import page as page
from showthrough.report.html import specs as specs
from showthrough.report.page.blocks import Big, Chart
from showthrough.report.page.evidence import how_sure
from showthrough.report.page.gathered import at_hand
from showthrough.report.page.headline import finding
from showthrough.report.page.sure import HowSure, holder_of
from showthrough.report.page.wording import count, persons, share_of


def fragment(shown: object) -> str | None:
    """An object as HTML; None where nothing can draw it: then notebooks print it."""
    telling: tuple[tuple[type, Callable[[Any], dict[str, Any]]], ...] = (
        (Audit, _audit), (Posterior, _posterior), (Check, _check), (Proof, _proof),
        (WorstCase, _worst_case), (Outcome, _outcome), (Score, _score),
        (LeastKnowledge, _least),
    )  # fmt: skip
    try:
        template = environment().get_template("fragment.html.j2")
    except InputError:
        return None
    told = next(told for kind, told in telling if isinstance(shown, kind))
    return str(template.render(css=_scoped(css()), **told(shown)))


def _audit(audit: Audit) -> dict[str, Any]:
    g = replace(at_hand(audit, HowSure.of(holder_of(audit))), further=Further(audit, 0.0))
    decision = g.decision
    chart = next(block for block in how_sure(g).blocks if isinstance(block, Chart))
    kind = str(decision.verdict) if decision is not None else "" if g.conclusive else "inconclusive"
    return {
        "badge": (kind, kind.upper()),
        "heading": finding(g),
        "lines": [] if decision is None else [str(decision.said)],
        "figures": _figures(g.after),
        "chart": chart,
        "drawn": drawings(chart) if drawing.available() else [],
        "last": "audit.save_html('report.html') writes the whole report, audit.people names everybody (internal).",
    }


def _figures(bands: Bands) -> list[Big]:
    rows = (
        ("c", "Certain", bands.certain),
        ("n", "At least 90\u202f% sure", bands.p90),
        ("h", "At least 50\u202f% sure", bands.p50),
    )
    told = [Big(kind, name, count(n), "", share_of(n, bands.persons)) for kind, name, n in rows]
    return [
        *told,
        Big(
            "",
            "Of how many persons",
            count(bands.persons),
            "",
            f"{count(bands.unknown)} without an answer" if bands.unknown else "",
        ),
    ]


def _posterior(post: Posterior) -> dict[str, Any]:
    bands, found = Bands.of(post.largest(), post.certain()), post.certificate
    releases = f"{len(post.names)} release{'s' if len(post.names) != 1 else ''}"
    return {
        "badge": ("", ""),
        "heading": f"What {releases} tell of {persons(bands.persons)} and {count(post.values.len())} values",
        "lines": [f"Accuracy: {found}.", found.premise],
        "figures": _figures(bands),
        "chart": None,
        "drawn": [],
        "last": "post.to_frame() has the probabilities, post.proven() the facts, post.explain(id, value) a proof.",
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "badge": ("pass", "HOLDS") if check.holds else ("review", "FAILS"),
        "heading": check.sentence,
        "lines": [
            f"Level reached: {text(check.level)}. Groups that fail: {count(check.failing_groups)}, with"
            f" {persons(check.failing_persons)}."
        ],
        "figures": [],
        "chart": None,
        "drawn": [],
        "last": "check.worst lists the worst groups (internal).",
    }


def _told(heading: str, lines: list[str], last: str) -> dict[str, Any]:
    return {
        "badge": ("", ""),
        "heading": heading,
        "lines": lines,
        "figures": [],
        "chart": None,
        "drawn": [],
        "last": last,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    lines = [str(outcome.threat), *outcome.lines(), *([outcome.said] if outcome.said else []), *outcome.notes]
    return _told(f"Attack {outcome.attack}", lines, "outcome.people has every person's beliefs (internal).")


def _least(found: LeastKnowledge) -> dict[str, Any]:
    lines = [f"{count(found.tried)} sets of statements were tried."]
    return _told(found.sentence, lines, "found.statements and found.proof tell which, and why (internal).")


def _score(score: Score) -> dict[str, Any]:
    lines = str(score).split("\n")
    return _told("Beliefs beside the truth", lines, "score.table and score.calibration have all figures (internal).")


def _worst_case(worst: WorstCase) -> dict[str, Any]:
    last = "worst.knowledge lists what such a reader knows, with group and values (internal)."
    return _told(worst.sentence, [worst.assumption], last)


def _proof(proof: Proof) -> dict[str, Any]:
    verb = "is certain for" if proof.fact == "certain" else "is impossible for"
    return {
        "badge": ("", ""),
        "heading": f"{proof.value} {verb} {proof.id}",
        "lines": str(proof).split("\n"),
        "figures": [],
        "chart": None,
        "drawn": [],
        "last": (
            "proof.verify(releases) replays it from the published counts by code that shares nothing with the solver."
        ),
    }


def _scoped(style: str) -> str:
    """The style of the page for the inside of a fragment alone: notebooks keep their own."""
    body = style.replace(":root{", ".showthrough{").replace("body{", ".showthrough{")
    return f"@scope (.showthrough) {{ {body.replace('.showthrough{', ':scope{')} }}" if body else ""
