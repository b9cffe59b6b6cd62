"""Files that commands read and write."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from showthrough.auditing.audit import Audit
from showthrough.errors import InputError
from showthrough.release.reading import read_release
from showthrough.release.release import Release
from showthrough.report.content import PROOFS, content, facts
from showthrough.table.files import written_whole


def read_all(paths: Sequence[Path], values: Sequence[Path] | None, **roles: Any) -> list[Release]:
    """Read every release; tables of values pair up with them in order."""
    if values and len(values) != len(paths):
        raise InputError(
            f"{len(paths)} releases but {len(values)} tables of values: give --values once per release, in order "
            "(or make release folders, which may be mixed with plain files)."
        )
    pairs: Sequence[Path | None] = values or [None] * len(paths)
    return [read_release(path, pair, **roles) for path, pair in zip(paths, pairs, strict=True)]


def write_json(audit: Audit, target: str, *, audience: str) -> None:
    """One JSON object, on stdout for ``-``."""
    text = json.dumps(content(audit, audience=audience), ensure_ascii=False, indent=2) + "\n"
    if target == "-":
        sys.stdout.write(text)
        return
    with written_whole(target, private=audience == "internal") as stream:
        stream.write(text.encode())


def write_people(audit: Audit, target: Path) -> None:
    """Every person and value with probability, fact and (for the first facts) proof; owner-readable only."""
    post = audit.posterior
    known = pl.DataFrame(facts(audit, proofs=PROOFS), infer_schema_length=None)
    keys = [c for c in ("id", "release", "value") if c in post.to_frame().columns]
    frame = post.to_frame()
    if known.height:
        known = known.with_columns(pl.col(k).cast(frame.schema[k], strict=False) for k in keys)
        frame = frame.join(known, on=keys, how="full", coalesce=True, nulls_equal=True)
        frame = frame.with_columns(pl.col("p").fill_null(0.0))
    with written_whole(target, private=True) as stream:
        frame.write_csv(stream)
