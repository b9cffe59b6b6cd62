"""The strongest rules of a table as statements: what somebody who knows the population may know.

Du, Teng, Zhu, *Privacy-MaxEnt: Integrating Background Knowledge in Privacy Quantification*, SIGMOD 2008: of the rules
"whoever has these quasi-identifiers has the value" and "… does not have the value", the K⁺ and the K⁻ of the highest
confidence (Top-(K⁺, K⁻)), among those that enough persons bear out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl

from showthrough.errors import InputError, ParameterError
from showthrough.knowledge.statement import Statement, share
from showthrough.table.frames import need_columns, scalar, to_polars
from showthrough.table.texts import as_text

_MOST = 10**9


def mine(
    table: Any,
    *,
    sensitive: str,
    quasi: Sequence[str] | None = None,
    positive: int = 10,
    negative: int = 10,
    support: int = 3,
    columns: int = 1,
) -> list[Statement]:
    """The strongest rules of a table, as exact shares, the highest confidence first.

    A rule holds for the persons with the same entries in up to ``columns`` of the ``quasi``-identifiers (all other
    columns if none are named). Its confidence is the share of them who have a value (``positive`` rules), or who do not
    have it (``negative`` ones), and at least ``support`` of them must. A rule that a shorter condition implies (the
    same persons, or all or none of more persons) is left out. Of equal confidence the rule with more persons comes
    first, then a positive one.
    """
    for name, given in (("positive", positive), ("negative", negative), ("support", support), ("columns", columns)):
        _whole(name, given, least=0 if name in ("positive", "negative") else 1)
    frame = to_polars(table)
    named = (
        [c for c in frame.columns if c != sensitive] if quasi is None else [quasi] if isinstance(quasi, str) else quasi
    )
    need_columns(frame, [sensitive, *named], "The table")
    if not named:
        raise InputError("Rules need quasi-identifiers: name their columns with quasi=.", parameters=("quasi",))
    cells = {c: as_text(frame[c], f"The table: column {c!r}") for c in named}
    values = scalar(frame[sensitive], f"The table: column {sensitive!r}")
    coded = pl.DataFrame({**{f"q{k}": cells[c] for k, c in enumerate(named)}, "value": values}).drop_nulls("value")
    found = [
        _rules(coded, [f"q{k}" for k in chosen], support=support, most=max(positive, negative))
        for width in range(1, min(columns, len(named)) + 1)
        for chosen in combinations(range(len(named)), width)
    ]
    rules = sorted((rule for part in found for rule in part), key=_order)
    kept = [rule for rule in rules if rule["sign"] > 0][:positive] + [rule for rule in rules if rule["sign"] < 0][
        :negative
    ]
    return [_statement(rule, named) for rule in sorted(kept, key=_order)]


def _rules(frame: pl.DataFrame, keys: list[str], *, support: int, most: int) -> list[dict[str, Any]]:
    """The strongest rules with conditions on these columns."""
    fits = frame.drop_nulls(keys)
    every = _counted(fits, keys, frame["value"].unique())
    known = pl.lit(False), pl.lit(False)  # whether a shorter condition says the same, of having it and of not having it
    for number, one in enumerate(keys if len(keys) > 1 else ()):
        rest = [c for c in keys if c != one]
        wider = _counted(frame.drop_nulls(rest), rest, frame["value"].unique())
        every = every.join(wider, on=[*rest, "value"], how="left", suffix=f"_{number}")
        every = every.filter(pl.col("persons") < pl.col(f"persons_{number}"))
        all_have = pl.col(f"have_{number}") == pl.col(f"persons_{number}")
        known = known[0] | all_have, known[1] | (pl.col(f"have_{number}") == 0)
    found: list[dict[str, Any]] = []
    for sign, bear in ((1, pl.col("have")), (-1, pl.col("persons") - pl.col("have"))):
        told = every.with_columns(bear.alias("bear"), (bear / pl.col("persons")).alias("confidence"))
        told = told.filter((pl.col("bear") >= support) & ~known[sign < 0])
        told = told.select(*keys, "value", "persons", "have", "bear", "confidence")
        told = told.sort("confidence", "bear", *keys, "value", descending=[True, True, *[False] * (len(keys) + 1)])
        found += [{**row, "sign": sign, "keys": keys} for row in told.head(most).iter_rows(named=True)]
    return found


def _counted(frame: pl.DataFrame, keys: list[str], values: pl.Series) -> pl.DataFrame:
    """For each condition and value: the persons who fit, and how many of them have it."""
    have = frame.group_by([*keys, "value"]).len("have")
    size = have.group_by(keys).agg(pl.col("have").sum().alias("persons"))
    every = size.join(values.to_frame("value"), how="cross").join(have, on=[*keys, "value"], how="left")
    return every.with_columns(pl.col("have").fill_null(0).cast(pl.Int64), pl.col("persons").cast(pl.Int64))


def _order(rule: dict[str, Any]) -> tuple[Any, ...]:
    """The strongest first, and always in the same order."""
    cells = tuple(str(rule[key]) for key in rule["keys"])
    return (
        -rule["confidence"],
        -rule["bear"],
        -rule["sign"],
        len(rule["keys"]),
        rule["keys"],
        cells,
        str(rule["value"]),
    )


def _statement(rule: dict[str, Any], named: Sequence[str]) -> Statement:
    where = {named[int(key[1:])]: rule[key] for key in rule["keys"]}
    return share(rule["value"], where=where, equals=Fraction(rule["have"], rule["persons"]))


def _whole(name: str, given: Any, *, least: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= _MOST:
        raise ParameterError(f"{name} is a whole number of {least} or more, not {given!r}.", parameters=(name,))
