"""Histories whose pages are looked at: the worked examples, Adult republished twice, and releases of several kinds."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import showthrough as st
from showthrough.auditing.pieces_audit import SpreadAudit
from showthrough.engines.local import local
from showthrough.examples import figure1, hospitals

DATA = Path(os.environ.get("SHOWTHROUGH_DATA", "data"))
ADULT = DATA / "adult" / "adult_kdd08.csv.gz"


@cache
def worked_example() -> st.Audit:
    return st.audit(figure1.releases())


@cache
def two_hospitals() -> st.Audit:
    return st.audit(hospitals.releases(), register=hospitals.register())


def people(n: int, seed: int = 0) -> pl.DataFrame:
    """Persons of Adult, or persons made up alike where it is not there."""
    rng = np.random.default_rng(seed)
    ids = pl.Series("pid", rng.choice(90_000, n, replace=False) + 10_000).cast(pl.String).str.replace("^", "P")
    if ADULT.is_file():
        table = pl.read_csv(ADULT, infer_schema=False)
        return table[rng.choice(table.height, n, replace=False)].with_columns(ids)
    values = [f"occupation {k:02}" for k in range(14)]
    often = np.array([4038, 4030, 3992, 3721, 3584, 3212, 2020, 1572, 1350, 989, 912, 644, 143, 9])
    return pl.DataFrame(
        {
            "pid": ids,
            "age": np.clip(rng.gamma(9, 4.3, n), 17, 90).astype(int).astype(str),
            "sex": rng.choice(["Male", "Female"], n, p=[0.67, 0.33]),
            "race": rng.choice(["White", "Black", "Other"], n, p=[0.86, 0.1, 0.04]),
            "education": rng.choice(["HS-grad", "Some-college", "Bachelors", "Masters", "11th"], n),
            "occupation": rng.choice(values, n, p=often / often.sum()),
        }
    )


QUASI = ["age", "sex", "race", "education"]


def republished(n: int = 7_200, seed: int = 0) -> list[st.Release]:
    """Mondrian's groups, Anatomy's, Mondrian's again; in each later release a twelfth of all is new."""
    table = people(n, seed).select("pid", *QUASI, "occupation").with_columns(pl.col("age").cast(pl.Int64))
    step, made = n // 12, []
    for r, (name, method) in enumerate((("2024", "mondrian"), ("2025", "anatomy"), ("2026", "mondrian"))):
        part = table[r * step : n - (2 - r) * step]
        criteria = [st.EntropyLDiversity(4), st.KAnonymity(10)] if method == "mondrian" else [st.FrequencyLDiversity(5)]
        made.append(
            st.anonymize(
                part, method=method, id="pid", sensitive="occupation", quasi=QUASI, criteria=criteria,
                output="bucketized", publish_ids=True, seed=r, name=name, suppression_limit=0.01,
            )
        )  # fmt: skip
    return made


@cache
def adult() -> st.Audit:
    return st.audit(republished())


@cache
def mixed() -> st.Audit:
    """A generalized release and a bucketized one with ids, read by somebody with a register."""
    table = people(900, seed=3).select("pid", *QUASI, "occupation").with_columns(pl.col("age").cast(pl.Int64))
    common = {"id": "pid", "sensitive": "occupation", "quasi": QUASI}
    first = st.anonymize(table[:800], method="mondrian", criteria=[st.KAnonymity(8)], seed=1, name="survey", **common)
    second = st.anonymize(
        table[60:],
        method="anatomy",
        criteria=[st.DistinctLDiversity(4)],
        publish_ids=True,
        seed=2,
        name="clinic",
        **common,
    )
    plain = st.Release.generalized(first.to_frame(), sensitive="occupation", quasi=QUASI, name="survey")
    register = table.select(pl.col("pid").alias("id"), *QUASI).with_columns(
        pl.Series("in_survey", [1] * 800 + [0] * 100)
    )
    return st.audit([plain, second], register=register)


@cache
def in_pieces() -> SpreadAudit:
    """Releases that were worked on in pieces, with a verdict."""
    return st.audit(republished(1_200, seed=5), policy=st.Policy(max_posterior=0.5, certain=5), engine=local())


SHOWN: dict[str, Callable[[], st.Audit]] = {
    "worked example": worked_example, "two hospitals": two_hospitals, "Adult": adult, "mixed": mixed,
}  # fmt: skip
