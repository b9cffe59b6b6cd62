"""Ids as keyed hashes, so that the ledger alone names nobody: HMAC-SHA256 with a key that the ledger never holds.

Whoever has the key can tell which hash an id has; without it an id can not even be guessed and tried (RFC 2104). Quasi-
identifiers and values stay as they are published.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from showthrough.errors import FileError, InputError, LedgerError
from showthrough.ledger.parcel import Parcel
from showthrough.register.register import Register
from showthrough.release import folder
from showthrough.release.release import Release
from showthrough.table.files import read_bytes

VARIABLE = "SHOWTHROUGH_LEDGER_KEY"
_DIGITS = 32  # hexadecimal: 128 bits, so that no two of all persons on earth share a hash
_LEAST = 16  # bytes of a key
_SIGN = b"showthrough ledger "

Rename = Callable[[pl.Series], pl.Series]


@dataclass(frozen=True, repr=False)
class Pseudonyms:
    """What ids are called in a ledger."""

    key: bytes

    def __call__(self, ids: pl.Series) -> pl.Series:
        """Ids as their hashes, as text; empty ones stay empty.

        Hashes do not show that two ids are nearly the same, so what would be told of such ids is refused before.
        """
        _refuse_unlike(ids)
        told = [None if one is None else self.of(one) for one in ids.cast(pl.String).to_list()]
        return pl.Series(ids.name, told, dtype=pl.String)

    def of(self, id: str) -> str:
        """One id."""
        return hmac.digest(self.key, id.encode(errors="surrogatepass"), "sha256").hex()[:_DIGITS]

    def mark(self, ledger: str) -> str:
        """By which a ledger knows the key again, without holding it."""
        return hmac.digest(self.key, _SIGN + ledger.encode(), "sha256").hex()


def _refuse_unlike(ids: pl.Series) -> None:
    """Ids that another release may well write in another way: with blanks around them, or as another type."""
    if ids.dtype not in (pl.String, pl.Int64):
        raise InputError(f"Ids that are hashed are texts or whole numbers, not {ids.dtype}: make them so.")
    text = ids.cast(pl.String)
    if (text != text.str.strip_chars()).any():
        raise InputError("Some ids have blanks around them: trim them, or their hashes count as other persons.")


def key_from(file: str | os.PathLike[str] | None) -> bytes | None:
    """The key in a file, or in the environment; None if there is neither."""
    if file is not None:
        found, where = read_bytes(file).strip(), os.fspath(file)
    elif VARIABLE in os.environ:
        found, where = os.environ[VARIABLE].encode(errors="surrogateescape").strip(), f"The variable {VARIABLE}"
    else:
        return None
    if len(found) < _LEAST:
        raise FileError(f"{where} holds no key: expected at least {_LEAST} bytes that nobody can guess.")
    return found


def renamed_release(release: Release, rename: Rename) -> Release:
    """The release with other ids."""
    id, records, link = release.roles.id, release.records, release.link
    if id is not None and id in records.columns:
        records = records.with_columns(rename(records[id]).alias(id))
    if link is not None:
        link = link.with_columns(rename(link["id"]).alias("id"))
    return replace(release, records=records, link=link, made=None)


def renamed_parcel(parcel: Parcel, rename: Rename) -> Parcel:
    """What is kept of a release with other ids: a folder that reads so, and of what was published hashes alone."""
    release = renamed_release(parcel.release, rename)
    if release.roles.id is None:  # at most the link names somebody
        return replace(parcel, release=release)
    return Parcel(release, folder.carried(release), parcel.published, secret=True)


def renamed_register(register: Register, rename: Rename) -> Register:
    """The register with other ids."""
    return replace(register, ids=rename(register.ids))


def back(ids: pl.Series, pseudonyms: Pseudonyms) -> Rename:
    """From hashes to ids, for the ids of a table; who is not in it keeps the hash."""
    known = dict(zip(pseudonyms(ids).to_list(), ids.cast(pl.String).to_list(), strict=True))

    def rename(hashes: pl.Series) -> pl.Series:
        return pl.Series(hashes.name, [known.get(one, one) for one in hashes.cast(pl.String)], dtype=pl.String)

    return rename


def required(created: dict[str, object], key: bytes | None, where: str) -> Pseudonyms | None:
    """What ids are called in this ledger: None as they are given; a key that is missing or wrong is told."""
    if created.get("ids") != "hashed":
        return None
    if key is None:
        raise LedgerError(
            f"{where} keeps ids as keyed hashes: give the key, key_file=FILE or in the variable {VARIABLE}.",
            parameters=("key_file",),
        )
    found = Pseudonyms(key)
    if not hmac.compare_digest(found.mark(str(created["ledger"])), str(created["key"])):
        raise LedgerError(f"{where} was made with another key.")
    return found


def new_key(path: Path) -> bytes:
    """A key that nobody can guess, in a file that its owner alone can read."""
    from showthrough.storage.unit import Unit

    key = os.urandom(32).hex().encode()
    with Unit() as unit:
        unit.file(path, private=True, replace=False).write(key + b"\n")
        unit.commit()
    return key
