"""What readers of more and more releases learn: figures after the first, the first two, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.comparing.option import Option, ToCompare
from showthrough.inference.certificate import Status
from showthrough.inference.infer import infer
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.table.texts import as_text

_TIE = 1e-9


@dataclass(frozen=True)
class Learned:
    """What readers of so many releases know of everybody who is in one of them."""

    releases: int
    persons: int
    certain: int
    """Persons whose value is proven."""
    over_90: int
    """Persons of whom readers are at least 90 % sure, certain ones among them."""
    over_50: int
    largest: float
    """The probability of the likeliest value, on average."""
    most: float
    """The same of whoever is known best."""
    true: float
    """The probability of the true value, on average."""
    right: float
    """The share of persons of whom a guess at the likeliest value is right; of several as likely, one is guessed."""
    open: int
    """Persons without an answer in the time that there was; the best figures known count for them."""


@dataclass(frozen=True)
class Series:
    """Releases of one option, made independently of each other, and the persons in each."""

    option: Option
    releases: tuple[Release, ...]
    members: tuple[pl.Series, ...]


def series(asked: ToCompare, option: Option, parts: Sequence[pl.DataFrame], seed: int, progress: Progress) -> Series:
    """A release of each part of the table."""
    made = []
    for number, rows in enumerate(parts):
        progress.count(number, len(parts))
        made.append(option.make(rows, f"R{number + 1}", seed + number))
    return Series(option, tuple(made), tuple(rows[asked.id] for rows in parts))


def learned(asked: ToCompare, made: Series, many: int, seconds: float, progress: Progress) -> Learned:
    """What readers of the first so many releases know, who know who is in each."""
    first = made.releases[:many]
    register = None
    if made.option.by_register:
        present = {release.name: ids for release, ids in zip(first, made.members, strict=False)}
        known = asked.table.select(asked.id, *asked.quasi).filter(pl.col(asked.id).is_in(_all(made.members[:many])))
        register = Register.of(known, id=asked.id, present=present)
    post = infer(first, register=register, contradictions="explain", seconds=seconds, progress=progress)
    return _figures(asked, post, many)


def _all(members: Sequence[pl.Series]) -> pl.Series:
    return pl.concat(list(members)).unique().implode()


def _figures(asked: ToCompare, post: Posterior, many: int) -> Learned:
    beliefs = post.to_frame(uncertified=True)
    truth = pl.DataFrame(
        {"id": as_text(asked.table[asked.id], "ids"), "truth": as_text(asked.table[asked.sensitive], "values")}
    )
    said = beliefs.with_columns(
        id=as_text(beliefs["id"], "ids"), value=as_text(beliefs["value"], "values"), p=pl.col("p").fill_nan(None)
    ).join(truth, on="id", how="inner", maintain_order="left")
    each = (
        said.group_by("id", maintain_order=True)
        .agg(
            largest=pl.col("p").max(),
            ties=(pl.col("p") >= pl.col("p").max() - _TIE).sum(),
            true=pl.col("p").filter(pl.col("value") == pl.col("truth")).sum(),
            settled=~pl.col("state").first().is_in([Status.UNCERTIFIED, Status.UNDECIDED]),
        )
        .with_columns(pl.col("largest").fill_null(1.0))
    )
    sure = post.certain()
    return Learned(
        releases=many,
        persons=each.height,
        certain=int(np.count_nonzero(sure)),
        over_90=int((each["largest"] >= 0.9 - _TIE).sum()),
        over_50=int((each["largest"] >= 0.5 - _TIE).sum()),
        largest=float(each["largest"].mean() or 0.0),  # type: ignore[arg-type]
        most=float(each["largest"].max() or 0.0),  # type: ignore[arg-type]
        true=float(each["true"].mean() or 0.0),  # type: ignore[arg-type]
        right=float(((each["true"] >= each["largest"] - _TIE) / each["ties"]).mean() or 0.0),  # type: ignore[arg-type]
        open=int((~each["settled"]).sum()),
    )
