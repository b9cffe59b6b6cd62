"""A decision as SARIF 2.1.0: one result per limit and release, never one per person.

Results stand where the limit stands: on its line of the policy file, or in the file that names the history. They
carry a fingerprint that stays the same from run to run. What an exception covers is a suppressed result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from showthrough.policy.decision import Decision, Reason
from showthrough.policy.meanings import MEANINGS
from showthrough.report.formats import Judgement

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {("over", "block"): "error", ("over", "review"): "warning", ("excepted", "block"): "error"}
_CONCLUSIVE = "conclusive"


def sarif(told: Judgement) -> bytes:
    """The log file."""
    decided = told.decided
    rules = sorted({reason.rule for reason in decided.reasons})
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "showthrough",
                "version": told.made.showthrough,
                "semanticVersion": told.made.showthrough,
                "rules": [_rule(rule, MEANINGS.get(rule, rule)) for rule in rules]
                + [_rule(_CONCLUSIVE, "Everything that limits are held against is known.")],
            }
        },
        "invocations": [
            {"executionSuccessful": True, "exitCode": decided.verdict.exit_code, "endTimeUtc": _utc(told.made.date)}
        ],
        "automationDetails": {"id": f"showthrough/{told.subject}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(reason, rules.index(reason.rule), told, decided) for reason in decided.reasons]
        + ([_doubtful(len(rules), told, decided)] if decided.doubts else []),
        "properties": {"verdict": str(decided.verdict), "said": decided.said},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(log, ensure_ascii=False, indent=2)}\n".encode(errors="replace")


def _rule(name: str, meaning: str) -> dict[str, Any]:
    return {"id": name, "name": name, "shortDescription": {"text": meaning}}


def _utc(date: str) -> str:
    return f"{date[:19]}Z"


def _result(reason: Reason, number: int, told: Judgement, decided: Decision) -> dict[str, Any]:
    kept = reason.outcome == "within"
    found: dict[str, Any] = {
        "ruleId": reason.rule,
        "ruleIndex": number,
        "kind": "pass" if kept else "fail",
        "level": "none" if kept else _LEVELS.get((reason.outcome, reason.severity), "warning"),
        "message": {"text": f"Inconclusive: {reason.said}" if reason.outcome == "open" else reason.said},
        "locations": [_location(told, reason.line if told.lines else None)],
        "partialFingerprints": _fingerprint(reason.severity, reason.rule, reason.release or ""),
        "properties": {
            "severity": reason.severity,
            "outcome": reason.outcome,
            "persons": reason.persons,
            "open": reason.open,
            **({} if reason.release is None else {"release": reason.release}),
        },
    }
    if reason.outcome == "excepted":
        why = next((e.reason for e in decided.exceptions if e.rule == reason.rule and e.state == "used"), "")
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    return found


def _doubtful(number: int, told: Judgement, decided: Decision) -> dict[str, Any]:
    return {
        "ruleId": _CONCLUSIVE,
        "ruleIndex": number,
        "kind": "fail",
        "level": "warning",
        "message": {"text": f"Inconclusive: {' '.join(decided.doubts)}"},
        "locations": [_location(told, None)],
        "partialFingerprints": _fingerprint("", _CONCLUSIVE, ""),
        "properties": {"outcome": "open"},
    }


def _location(told: Judgement, line: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(told.place, safe="/-._~")}}
    if line is not None:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}


def _fingerprint(*parts: str) -> Mapping[str, str]:
    """What the result is about, whatever was found: the same limit is the same alert from run to run."""
    return {"limit/v1": hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]}
