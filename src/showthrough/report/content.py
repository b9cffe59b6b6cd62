"""What a report says, as plain data; rendering comes after. The JSON schema is audit.schema.json.

``shareable`` content holds counts only. ``internal`` content adds people, facts and proofs.
"""

from __future__ import annotations

import math
import time
from typing import Any

import polars as pl

from showthrough import __version__
from showthrough.auditing.audit import Audit
from showthrough.errors import InputError, LongProofError
from showthrough.release.release import Release

SCHEMA = "showthrough.audit"
VERSION = 1
AUDIENCES = ("shareable", "internal")
PROOFS = 200
PROOF_STEPS = 30
PROOF_SECONDS = 30.0


def content(
    audit: Audit, *, audience: str = "shareable", proofs: int = PROOFS, known: pl.DataFrame | None = None
) -> dict[str, Any]:
    """The audit as one JSON object; ``known`` is the frame of facts if it was made before."""
    if audience not in AUDIENCES:
        raise InputError(f"audience is one of {', '.join(AUDIENCES)}, not {audience!r}.")
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "showthrough": __version__,
        "audience": audience,
        **audit.figures(),
        "certificate": audit.posterior.certificate.as_dict(),
        "summary": summary(audit),
    }
    located = audit.posterior.locatability()
    if located is not None:
        found["locatability"] = located.to_dicts()
    if audience == "internal":
        found["people"] = [_plain(row) for row in audit.people.iter_rows(named=True)]
        found["facts"] = facts(audit, proofs=proofs, known=known)
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
    loose = [r.name for r in audit.posterior.releases if _untied(audit, r)]
    if loose and not one:
        lines.append(
            f"{_names(loose)} publish{'es' if len(loose) == 1 else ''} no ids, and no register says who is who: nobody "
            "in there is tied to another release. A register (--register) would tell more."
        )
    excluded = j.impossible_by_sets + j.impossible_by_counts
    if excluded:
        lines.append(
            f"{excluded} times a value that stands in a person's group is impossible for that person: "
            f"{j.impossible_by_sets} times because another of the person's groups does not hold it, "
            f"{j.impossible_by_counts} times because the published counts leave no room."
        )
    if (whole := audit.whole_values) is not None:
        open_pairs = f"; {whole.undecided} pairs are undecided after {whole.seconds:g} s" if whole.undecided else ""
        lines.append(
            f"Counting only assignments of whole values, {_people(whole.certain)} more can be told for certain and "
            f"{whole.impossible} more pairs are impossible{open_pairs}."
        )
    lines.append(
        f"A reader who always guesses the likeliest value is right for {j.expected_guesses:.1f} of {j.persons} persons "
        f"on average"
        + ("." if one else f" (with only the most telling single release: {j.expected_guesses_alone:.1f}).")
    )
    return lines


def _untied(audit: Audit, release: Release) -> bool:
    return not audit.posterior.reader.ties(release, release.name)


def _names(names: list[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def facts(
    audit: Audit, *, proofs: int = PROOFS, limit: int | None = None, known: pl.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Certain pairs, then pairs impossible by the counts, then by the sets; the first ones with proof.

    ``limit`` says how many are wanted at most; ``known`` is the frame of facts if it was made before.
    """
    frame = facts_frame(audit, proofs=proofs) if known is None else known
    frame = frame if limit is None else frame.head(limit)
    listed = [_plain(row) for row in frame.iter_rows(named=True)]
    for entry in listed:
        if entry["proof"] is None:
            del entry["proof"]
    return listed


def facts_frame(audit: Audit, *, proofs: int = PROOFS) -> pl.DataFrame:
    """The same with the types of ids and values: id, (release,) value, fact, by, proof."""
    rank = (pl.col("fact") == "impossible").cast(pl.Int8) * 2 + (pl.col("by") == "sets")
    rows = audit.posterior.proven().sort(rank, maintain_order=True)
    texts = _proofs(audit, rows.head(proofs))
    return rows.with_columns(pl.Series("proof", texts + [None] * (rows.height - len(texts)), dtype=pl.String))


def _proofs(audit: Audit, rows: pl.DataFrame) -> list[str | None]:
    """The proofs in words; none where it would be too long to read, or when the time is used up."""
    texts: list[str | None] = []
    deadline = time.monotonic() + PROOF_SECONDS
    for row in rows.iter_rows(named=True):
        where = row.get("release")
        try:
            late = time.monotonic() > deadline
            proof = (
                None
                if late
                else audit.posterior.explain(row["id"], row["value"], release=where, most_steps=PROOF_STEPS)
            )
            texts.append(None if proof is None else str(proof))
        except LongProofError:
            texts.append(None)
    return texts


def people_frame(audit: Audit, *, known: pl.DataFrame | None = None, proofs: int = PROOFS) -> pl.DataFrame:
    """Every person and value with probability, fact and (for the first facts) proof, person by person.

    ``known`` is the frame of facts if it was made before.
    """
    known = facts_frame(audit, proofs=proofs) if known is None else known
    frame = audit.posterior.to_frame()
    who = [c for c in ("id", "release") if c in frame.columns]
    order = frame.select(who).unique(maintain_order=True).with_row_index("_person")
    return (
        frame.join(known, on=[*who, "value"], how="full", coalesce=True, nulls_equal=True)
        .with_columns(pl.col("p").fill_null(0.0))
        .join(order, on=who, how="left", nulls_equal=True)
        .sort("_person", -pl.col("p"), "value")
        .drop("_person")
    )


def with_bounds(frame: pl.DataFrame, limits: pl.DataFrame) -> pl.DataFrame:
    """The people frame with columns lower and upper, empty where no bounds were asked for."""
    keys = [c for c in ("id", "release", "value") if c in limits.columns]
    return frame.join(limits, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _people(n: int) -> str:
    return "nobody" if n == 0 else "1 person" if n == 1 else f"{n} persons"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Dates, decimals and infinity as text; numbers, text and truth values as they are."""
    return {k: v if v is None or isinstance(v, (str, int)) or _finite(v) else str(v) for k, v in row.items()}


def _finite(entry: Any) -> bool:
    return isinstance(entry, float) and math.isfinite(entry)
