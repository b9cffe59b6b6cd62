"""What a report says, as plain data; rendering comes after. The JSON schema is docs/audit.schema.json.

``shareable`` content holds counts only. ``internal`` content adds people, facts and proofs.
"""

from __future__ import annotations

from typing import Any

from showthrough import __version__
from showthrough.auditing.audit import Audit

SCHEMA = "showthrough.audit"
VERSION = 1
AUDIENCES = ("shareable", "internal")
PROOFS = 200


def content(audit: Audit, *, audience: str = "shareable", proofs: int = PROOFS) -> dict[str, Any]:
    """The audit as one JSON object."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "showthrough": __version__,
        "audience": audience,
        **audit.figures(),
        "certificate": audit.posterior.certificate.as_dict(),
        "summary": summary(audit),
    }
    if audience == "internal":
        found["people"] = [_plain(row) for row in audit.people.iter_rows(named=True)]
        found["facts"] = facts(audit, proofs=proofs)
    return found


def summary(audit: Audit) -> list[str]:
    """The figures in words, the most important first; counts only."""
    j, one = audit.joint, len(audit.releases) == 1
    if one:
        lines = [
            f"From this release alone a reader can be certain about {_people(j.certain)} of {j.persons}.",
        ]
    else:
        lines = [
            f"Laid on top of each other, the {len(audit.releases)} releases make a reader certain about "
            f"{_people(j.certain)} of {j.persons}; any one of them alone about {_people(j.certain_alone)}."
        ]
        if j.newly_certain:
            lines.append(
                f"{j.newly_certain} of them became certain only by combining: no single release gives them away."
            )
    excluded = j.impossible_by_sets + j.impossible_by_counts
    if excluded:
        lines.append(
            f"{excluded} times a value that stands in a person's group is impossible for that person: "
            f"{j.impossible_by_sets} times because another of the person's groups does not hold it, "
            f"{j.impossible_by_counts} times because the published counts leave no room."
        )
    lines.append(
        f"A reader who always guesses the likeliest value is right for {j.expected_guesses:.1f} of {j.persons} persons "
        f"on average"
        + ("." if one else f" (with only the most telling single release: {j.expected_guesses_alone:.1f}).")
    )
    return lines


def facts(audit: Audit, *, proofs: int) -> list[dict[str, Any]]:
    """Certain pairs, then pairs impossible by the counts, then by the sets; the first ones with proof."""
    frame = audit.posterior.proven()
    rank = frame["fact"].replace_strict({"certain": 0, "impossible": 1}) * 2 + (frame["by"] == "sets")
    rows = frame.with_columns(rank.alias("_rank")).sort("_rank", maintain_order=True).drop("_rank")
    listed = []
    for k, row in enumerate(rows.iter_rows(named=True)):
        entry = _plain(row)
        if k < proofs:
            proof = audit.posterior.explain(row["id"], row["value"], release=row.get("release"))
            entry["proof"] = str(proof)
        listed.append(entry)
    return listed


def _people(n: int) -> str:
    return "nobody" if n == 0 else "1 person" if n == 1 else f"{n} persons"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Dates and decimals as text; numbers, text and truth values as they are."""
    return {k: v if v is None or isinstance(v, (str, int, float, bool)) else str(v) for k, v in row.items()}
