"""Results as plain data, and the fingerprint of content.

Plain data is what JSON can hold. A *fingerprint* is the SHA-256 of content in one canonical form, by which a
ledger knows it again: it depends on what is said, not on the class, the order of a mapping, the version of
a library or whether a number came as 5 or as "5" in a table.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
import polars as pl

_GAP = -1  # the length of an entry that is empty


def plain(content: Any) -> Any:
    """Dataclasses and mappings as dictionaries, frames as lists of rows, everything else as JSON knows it."""
    if content is None or isinstance(content, (bool, int)):
        return content
    if isinstance(content, str):
        return str(content.value) if isinstance(content, Enum) else content
    if isinstance(content, (float, np.generic)):
        found = content.item() if isinstance(content, np.generic) else content
        return str(found) if isinstance(found, float) and not math.isfinite(found) else found
    if isinstance(content, pl.DataFrame):
        return [plain(row) for row in content.iter_rows(named=True)]
    if isinstance(content, Mapping):
        return {str(key): plain(entry) for key, entry in content.items()}
    if isinstance(content, (list, tuple, pl.Series, np.ndarray)):
        return [plain(entry) for entry in content]
    if is_dataclass(content) and not isinstance(content, type):
        return {f.name: plain(getattr(content, f.name)) for f in fields(content)}
    return str(content)


def fingerprint(content: Any) -> str:
    """The SHA-256 of plain data and frames, in hexadecimal digits."""
    digest = hashlib.sha256()
    _add(digest, content)
    return digest.hexdigest()


def as_set(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame as text with its rows in order: for content in which the order of rows tells nothing."""
    text = frame.select(pl.all().cast(pl.String))
    return text.sort(text.columns, nulls_last=True) if text.width else text


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


def _add(digest: _Digest, content: Any) -> None:
    """Every entry with its kind and length before it, so that no two contents look alike."""
    if isinstance(content, pl.DataFrame):
        digest.update(f"frame {content.width} {content.height}\n".encode())
        for column in content.get_columns():
            _add_word(digest, "column", column.name)
            _add_column(digest, column.cast(pl.String))
    elif isinstance(content, pl.Series):
        _add(digest, content.to_frame("entries"))
    elif isinstance(content, Mapping):
        digest.update(f"mapping {len(content)}\n".encode())
        for key in sorted(content, key=str):
            _add_word(digest, "key", str(key))
            _add(digest, content[key])
    elif isinstance(content, (list, tuple)):
        digest.update(f"list {len(content)}\n".encode())
        for entry in content:
            _add(digest, entry)
    elif content is None or isinstance(content, bool):
        digest.update(f"{content}\n".encode())
    elif isinstance(content, (int, float, np.integer, np.floating)):
        number = plain(content)
        whole = isinstance(number, float) and number == int(number)
        digest.update(f"number {int(number) if whole else number!r}\n".encode())
    else:
        _add_word(digest, "text", str(content))


def _add_word(digest: _Digest, kind: str, word: str) -> None:
    data = word.encode()
    digest.update(f"{kind} {len(data)}\n".encode())
    digest.update(data)


def _add_column(digest: _Digest, text: pl.Series) -> None:
    lengths = text.str.len_bytes().cast(pl.Int64).fill_null(_GAP).to_numpy().astype("<i8")
    digest.update(lengths.tobytes())
    digest.update("".join(text.drop_nulls().to_list()).encode())
