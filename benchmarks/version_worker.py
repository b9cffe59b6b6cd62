"""What one version of the package makes of histories: JSON lines in, JSON lines out.

    PYTHONPATH=SRC python -m benchmarks.version_worker < histories > answers

Each history is inferred; probabilities, facts, certificate, whether a sample of proofs verifies, or the
refusal, come back as plain data. Only public names are used, so that old and new versions can run it.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from typing import Any

import polars as pl

import showthrough as st
from showthrough.errors import ShowthroughError

SECONDS = 300  # for one history
SAMPLE = 4  # proofs of one history


def release(data: dict[str, Any]) -> st.Release:
    """A release from its columns."""
    frame, kind = pl.DataFrame(data["columns"], strict=False), data["kind"]
    fakes = dict(data["counterfeits"]) or None
    options: dict[str, Any] = {"sensitive": "v", "group": "g", "name": data["name"], "counterfeits": fakes}
    if kind == "ids":
        return st.Release.bucketized(frame.with_columns(pl.col("id").cast(pl.String)), id="id", **options)
    if kind == "rows":
        return st.Release.bucketized(frame, values=pl.DataFrame(data["values"]), quasi=["age", "sex"], **options)
    if kind in ("within", "nearest"):
        return st.Release.microaggregated(frame, quasi=["age"], spread={"age": "width"}, locate=kind, **options)
    if kind == "counted":
        return st.Release.counted(frame, quasi=["age", "sex"], **options)
    return st.Release.generalized(frame.drop("count"), quasi=["age", "sex"], **options)


def known(data: dict[str, Any]) -> dict[str, Any]:
    """Register, membership and domain."""
    found: dict[str, Any] = {"domain": tuple(data["domain"])}
    if data["register"] is not None:
        own = data["register"]
        columns = {"id": own["id"], "age": own["age"], "sex": own["sex"]}
        told = {
            f"in_{name}": [{True: "yes", False: "no"}.get(p) for p in here] for name, here in own["presence"].items()
        }
        frame = pl.DataFrame(columns | told, schema_overrides=dict.fromkeys(told, pl.String))
        found["register"] = st.Register.of(frame)
    if data["membership"]:
        schema = {"id": pl.String, "group": pl.Int64}
        found["membership"] = {
            name: pl.DataFrame(rows, schema=schema, orient="row") for name, rows in data["membership"].items()
        }
    return found


def answer(data: dict[str, Any]) -> dict[str, Any]:
    """What this version says of one history."""
    releases, given = [release(r) for r in data["releases"]], known(data)
    start = time.process_time()
    try:
        post = st.infer(releases, changed=data["changed"], **given)
    except ShowthroughError as refusal:
        clash = getattr(refusal, "contradiction", None)
        return {
            "cpu": time.process_time() - start,
            "refused": [c.__name__ for c in type(refusal).__mro__],
            "crowded": "combinations" in str(refusal),  # older versions have no type for it
            "verified": [] if clash is None else [clash.verify(releases, **given)],
        }
    frame, facts, certificate = post.to_frame(), post.proven(), post.certificate
    spent = time.process_time() - start
    return {
        "cpu": spent,
        "status": str(certificate.status),
        "error_bar": certificate.error_bar,
        "p": [[*_who(row), row["value"], row["p"]] for row in frame.iter_rows(named=True)],
        "facts": [[*_who(row), row["value"], row["fact"], row["by"]] for row in facts.iter_rows(named=True)],
        "verified": _verified(post, facts, releases, given, data["seed"]),
    }


def _who(row: dict[str, Any]) -> tuple[str, str | None]:
    return row["id"], row.get("release")


def _verified(post: Any, facts: pl.DataFrame, releases: Any, given: dict[str, Any], seed: int) -> list[bool]:
    """Whether the proofs of some facts hold, those from counts before those from sets."""
    rng, rows = random.Random(seed), list(facts.iter_rows(named=True))
    rng.shuffle(rows)
    rows.sort(key=lambda row: row["by"] != "counts")
    proofs = [post.explain(row["id"], row["value"], release=row.get("release")) for row in rows[:SAMPLE]]
    return [bool(proof.verify(releases, **given)) for proof in proofs]


def main() -> None:
    """Answer line by line; whatever goes wrong is an answer too."""
    print(json.dumps({"package": st.__file__, "version": st.__version__}), flush=True)
    for line in sys.stdin:
        data = json.loads(line)
        signal.alarm(SECONDS)
        try:
            found = answer(data)
        except Exception as crash:  # a crash is what the comparison looks for
            found = {"cpu": 0.0, "refused": [type(crash).__name__], "crash": repr(crash)[:300], "verified": []}
        signal.alarm(0)
        print(json.dumps(found), flush=True)


def _late(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _late)
    main()
