"""Where exposure sits: by value, and by sub-population of the quasi-identifiers; counted in arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from showthrough.auditing.whole_audit import Audit, reaches
from showthrough.report.page.breakdown import Breakdown, Slice, limited, measure_of, merged
from showthrough.report.page.sure import Holder
from showthrough.report.page.wording import count, cut, percent
from showthrough.report.printable import printable
from showthrough.table.arrays import Flags

MOST_VALUES = 14
MOST_PARTS = 8
MOST_COLUMNS = 5
_LABEL = 40
_WIDTHS = (1, 2, 5, 10, 20, 25, 50)  # of ranges, times a power of ten


@dataclass(frozen=True)
class Exposed:
    """Everybody's band, as flags in the order of ``ids``."""

    certain: Flags
    p50: Flags

    @classmethod
    def of(cls, audit: Audit) -> Exposed:
        """The persons of an audit."""
        certain = audit.posterior.certain()
        return cls(certain, reaches(np.where(certain, 1.0, audit.posterior.largest()), 0.5))


def by_value(people: Holder, *, shareable: bool) -> Breakdown | None:
    """Of the persons who have a value, how many are certain to have it; None where too few are exposed to tell."""
    parts = [
        Slice(printable(cut(str(value), _LABEL), lines=False), max(persons, certain), certain, p50)
        for value, persons, certain, p50 in people.exposed().iter_rows()
    ]
    return _told("value", parts, shareable=shareable, ordered=False, most=MOST_VALUES)


def by_population(audit: Audit, *, shareable: bool) -> tuple[Breakdown, ...]:
    """The share of exposed persons in the parts that each quasi-identifier makes, the most uneven column first."""
    known = attributes(audit)
    if known is None:
        return ()
    exposed, found = Exposed.of(audit), []
    for column in known.columns:
        label, ordered = _ranges(known[column]) or (known[column], False)
        frame = pl.DataFrame({"part": label, "certain": exposed.certain, "p50": exposed.p50})
        tally = frame.group_by("part", maintain_order=True).agg(pl.len().alias("n"), pl.col("certain", "p50").sum())
        tally = tally.sort("part", nulls_last=True) if ordered else tally.sort(-pl.col("n").cast(pl.Int64), "part")
        parts = [Slice(_named(part, ordered), n, certain, p50) for part, n, certain, p50 in tally.iter_rows()]
        told = _told(column, parts, shareable=shareable, ordered=ordered, most=MOST_PARTS)
        if told is not None and len(told.parts) > 1:
            found.append(told)
    return tuple(sorted(found, key=_uneven, reverse=True)[:MOST_COLUMNS])


def attributes(audit: Audit) -> pl.DataFrame | None:
    """What is known of everybody beside the values: the register's columns, then those published beside ids."""
    post, frames = audit.posterior, []
    if (register := post.reader.register) is not None:
        frames.append(register.quasi.with_columns(register.ids.cast(pl.String).alias("\0id")))
    for release in reversed(post.releases):
        roles = release.roles
        if roles.id is not None and roles.id in release.records.columns and roles.quasi:
            own = release.records.select(pl.col(roles.id).cast(pl.String).alias("\0id"), *roles.quasi)
            frames.append(own.filter(pl.col("\0id").is_not_null()))
    if not frames:
        return None
    known: dict[str, pl.Series] = {}
    everybody = pl.DataFrame({"\0id": post.ids.cast(pl.String)})
    for frame in frames:
        columns = [c for c in frame.columns if c != "\0id"]
        told = everybody.join(frame.unique("\0id", keep="first"), on="\0id", how="left", maintain_order="left")
        for column in columns:
            text = told[column].cast(pl.String)
            known[column] = text if column not in known else known[column].zip_with(known[column].is_not_null(), text)
    return pl.DataFrame([series.alias(name) for name, series in known.items()]) if known else None


def _told(name: str, parts: list[Slice], *, shareable: bool, ordered: bool, most: int) -> Breakdown | None:
    measure = measure_of(parts, shareable=shareable)
    if measure is None:
        return None
    others = "# other values" if name == "value" else "# others"
    if shareable:
        parts = merged(parts, measure, ordered=ordered, others=others)
    if not ordered:
        parts = limited(parts, measure, others=others, most=most)
        parts.sort(key=lambda part: (part.merged > 1, -part.share(measure), -part.persons))
    return Breakdown(printable(cut(name, _LABEL), lines=False), tuple(parts), measure, ordered)


def _uneven(breakdown: Breakdown) -> float:
    """How far the shares are apart, weighed by the persons."""
    mean = breakdown.whole.share(breakdown.measure)
    return sum(part.persons * abs(part.share(breakdown.measure) - mean) for part in breakdown.parts)


def _ranges(column: pl.Series) -> tuple[pl.Series, bool] | None:
    """The lower ends of a few ranges of equal width, if the column holds numbers; codes such as 02139 are none."""
    known = column.drop_nulls()
    if known.str.contains(r"^0\d").any() or known.n_unique() <= MOST_PARTS:
        return None
    numbers = column.cast(pl.Float64, strict=False)
    if (
        not known.len()
        or numbers.null_count() > column.null_count()
        or not np.isfinite(numbers.drop_nulls().to_numpy()).all()
    ):
        return None
    inner = numbers.drop_nulls()
    low, high = float(inner.quantile(0.02) or 0.0), float(inner.quantile(0.98) or 0.0)
    width = next(
        (w * 10.0**e for e in range(-6, 16) for w in _WIDTHS if (high - low) / (w * 10.0**e) <= MOST_PARTS - 2), None
    )
    if width is None or high <= low:
        return None
    first = np.floor(low / width) * width
    last = first + width * np.floor((high - first) / width)
    edge = ((numbers - first) / width).floor() * width + first
    edge = edge.clip(first, last)
    return _worded(edge, first, last, width), True


def _worded(edge: pl.Series, first: float, last: float, width: float) -> pl.Series:
    """Ranges in words, as an enumeration in their order."""
    starts = np.arange(first, last + width / 2, width)

    def said(at: float) -> str:
        return f"{at:.10g}"

    names = [
        (
            f"under {said(a + width)}"
            if k == 0
            else f"{said(a)} and over"
            if k == len(starts) - 1
            else f"{said(a)} to under {said(a + width)}"
        )
        for k, a in enumerate(starts)
    ]
    at = ((edge - first) / width).round().cast(pl.Int64, strict=False)
    return pl.Series(names, dtype=pl.Enum(names)).gather(at)


def _named(part: str | None, ordered: bool) -> str:
    return "not known" if part is None else str(part) if ordered else printable(cut(str(part), _LABEL), lines=False)


def of_persons(part: Slice, *, about: bool) -> str:
    """How many persons a part has, in words."""
    whole = abs(part.persons - round(part.persons)) < 1e-6
    return count(part.persons) if whole or not about else f"about {count(part.persons)}"


def exposed_of(part: Slice, measure: str, *, about: bool = False) -> str:
    """How many of a part are exposed: 26 of about 30; no percentage, which small parts do not bear."""
    return f"{count(getattr(part, measure))} of {of_persons(part, about=about)}"


def share_said(part: Slice, measure: str) -> str:
    """The share of a part in percent, or the counts where it is small."""
    return percent(part.share(measure)) if part.persons >= 100 else exposed_of(part, measure)
