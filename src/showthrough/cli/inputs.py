"""Options as entries of a request: text in, plain data out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from showthrough.errors import InputError
from showthrough.table import toml_text
from showthrough.table.files import read_bytes


def pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """NAME=FILE as a table."""
    found: dict[str, str] = {}
    for entry in given or []:
        name, equals, file = entry.partition("=")
        if not (name and equals and file):
            raise InputError(f"--{option} takes NAME=FILE, not {entry!r}.")
        if name in found:
            raise InputError(f"--{option} names {name!r} twice.")
        found[name] = file
    return found


def marks(given: Sequence[str] | None) -> dict[str, str] | None:
    """MARK=LOW-HIGH as a table; nothing before the sign is an empty cell."""
    found: dict[str, str] = {}
    for entry in given or []:
        mark, equals, ends = entry.rpartition("=")
        if not equals or not ends:
            raise InputError(f"--suppressed takes MARK=LOW-HIGH, such as c=1-4, not {entry!r}.")
        if mark in found:
            raise InputError(f"--suppressed names {mark!r} twice.")
        found[mark] = ends
    return found or None


def named_files(option: str, given: Sequence[str]) -> dict[str, str]:
    """FILE, or NAME=FILE where there are several, as a table; a file alone is called after itself."""
    found: dict[str, str] = {}
    for entry in given:
        name, equals, file = entry.partition("=")
        if not equals:
            name, file = Path(entry).stem, entry
        if not (name and file):
            raise InputError(f"--{option} takes FILE or NAME=FILE, not {entry!r}.")
        if name in found:
            raise InputError(f"--{option} names {name!r} twice.")
        found[name] = file
    return found


def columns(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Names of columns, with commas between them or in several options."""
    if given is None:
        return None
    texts = [given] if isinstance(given, str) else given
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


_SUCH_AS = {
    "dissimilarity": "0.1,0.5,5",
    "ck-safety": "0.5,2",
    "skyline": "0.5,1,1,1",
    "population-uniqueness": "0.01,0.1",
}


def numbers(
    option: str, given: str | None, shape: str, *, whole: int | None = None, more: int = 0
) -> list[float] | None:
    """Numbers with commas between them; the one at place ``whole`` is whole; ``more`` may follow repeatedly."""
    if given is None:
        return None
    try:
        found = [float(part) for part in given.split(",")]
    except ValueError:
        found = []
    beyond = len(found) - shape.count(",") - 1
    fits = beyond == 0 or (more > 0 and beyond > 0 and beyond % more == 0)
    fits = fits and all(abs(x) < float("inf") for x in found)
    if not fits or (whole is not None and found[whole] % 1):
        example = _SUCH_AS.get(option, "2,3")
        raise InputError(f"--{option} takes numbers as {shape}, such as --{option} {example}.")
    return [int(x) if place == whole else x for place, x in enumerate(found)]


def whole_numbers(option: str, given: str) -> tuple[int, ...]:
    """Whole numbers with commas between them, as many as there are."""
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError:
        raise InputError(f"--{option} takes whole numbers with commas, such as --{option} 1,2,5.") from None


def codings(given: Sequence[str] | None) -> dict[str, tuple[float | None, float | None]]:
    """COLUMN=LOW:HIGH as a table; either end may be empty."""
    found = {}
    for entry in given or []:
        column, _, ends = entry.partition("=")
        low, colon, high = ends.partition(":")
        try:
            found[column] = (float(low) if low.strip() else None, float(high) if high.strip() else None)
        except ValueError:
            colon = ""
        if not column or not colon:
            raise InputError(f"--coding takes COLUMN=LOW:HIGH, such as age=:90, not {entry!r}.")
    return found


_ON = {
    "distinct-l": int, "frequency-l": float, "entropy-l": float, "recursive": None, "t": float, "distance": str,
    "alpha": float, "beta": float, "delta-disclosure": float,
}  # fmt: skip


def limits_on(given: Sequence[str] | None) -> list[dict[str, Any]]:
    """COLUMN:LIMIT=VALUE, a limit of one sensitive column each, as one entry per column."""
    found: dict[str, dict[str, Any]] = {}
    for entry in given or []:
        column, _, limit = entry.rpartition("=")[0].rpartition(":")
        text = entry.rpartition("=")[2]
        if not column or limit not in _ON:
            known = ", ".join(_ON)
            raise InputError(f"--on takes COLUMN:LIMIT=VALUE, such as pay:t=0.3, with one of the limits {known}.")
        read = _ON[limit]
        try:
            told = numbers("recursive", text, "C,L", whole=1) if read is None else read(text)
        except ValueError:
            raise InputError(f"--on {column}:{limit} takes a number, not {text!r}.") from None
        found.setdefault(column, {})[limit.replace("-", "_")] = told
    return [{"column": column, "criteria": own} for column, own in found.items()]


def level_ranges(given: Sequence[str] | None) -> dict[str, tuple[int | None, int | None]]:
    """COLUMN=LEAST:GREATEST as a table; either end may be empty."""
    found = {}
    for entry in given or []:
        column, _, ends = entry.partition("=")
        low, colon, high = ends.partition(":")
        try:
            found[column] = (int(low) if low.strip() else None, int(high) if high.strip() else None)
        except ValueError:
            colon = ""
        if not column or not colon:
            raise InputError(f"--level takes COLUMN=LEAST:GREATEST, such as zip=1:3, not {entry!r}.")
    return found


def domains(given: Sequence[str] | None) -> dict[str, Any]:
    """COLUMN=VALUES with commas (or semicolons) between them, COLUMN=level:N, or a TOML file with all columns."""
    found: dict[str, Any] = {}
    for entry in given or []:
        column, equals, listed = entry.partition("=")
        own = {column: _values(listed)} if equals else toml_text.parse(read_bytes(Path(entry)), entry)
        if equals and not (column and listed.strip()):
            raise InputError(f"--domain takes COLUMN=VALUES, such as sex=f,m, or a file, not {entry!r}.")
        twice = [name for name in own if name in found]
        if twice:
            raise InputError(f"--domain names {twice[0]!r} twice.")
        found |= own
    return found


def _values(listed: str) -> int | list[str]:
    word, colon, level = listed.partition(":")
    if word.strip() == "level" and colon and level.strip().isdecimal():
        return int(level)
    return [value.strip() for value in listed.split(";" if ";" in listed else ",")]


def marginals(given: Sequence[str] | None) -> list[dict[str, Any]]:
    """COLUMNS or COLUMNS:SHARE for each table; no column at all is a table of the values alone."""
    found = []
    for entry in given or []:
        names, colon, share = entry.rpartition(":")
        try:
            part = float(share) if colon else 1.0
        except ValueError:
            names, part, colon = entry, 1.0, ""
        found.append({"quasi": list(columns(names if colon else entry) or ()), "share": part})
    return found


def proximity(given: str | None) -> tuple[float, float] | None:
    """EPS,LIMIT as a pair."""
    if given is None:
        return None
    try:
        reach, limit = (float(part) for part in given.split(","))
    except ValueError:
        raise InputError(f"--proximity takes EPS,LIMIT, such as 5,0.4, not {given!r}.") from None
    return reach, limit


def releases(paths: Sequence[Path], values: Sequence[Path] | None) -> list[dict[str, Any]]:
    """An entry for every path; tables of values pair up with them in order."""
    if values and len(values) != len(paths):
        raise InputError(
            f"{len(paths)} releases but {len(values)} tables of values: give --values once per release, in order "
            "(or make release folders, which may be mixed with plain files)."
        )
    second: Sequence[Path | None] = values or [None] * len(paths)
    return [{"file": str(path), "values": value} for path, value in zip(paths, second, strict=True)]


def history_file(paths: Sequence[Path], others: Sequence[Any]) -> Path | None:
    """The history file among the releases, if there is one; beside it nothing else says what is read."""
    found = next((path for path in paths if path.suffix.lower() == ".toml" and not path.is_dir()), None)
    if found is None:
        return None
    if len(paths) > 1:
        raise InputError(f"{found} is a history file, which names all releases: give it alone.")
    if any(others):
        raise InputError(
            f"{found} is a history file, which names files and roles itself: give no other options for them."
        )
    return found


def number(text: str | None) -> float | None:
    """A whole number, or a share."""
    if text is None:
        return None
    try:
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise InputError("--over-posterior takes a number of persons (5) or a share (0.01).") from None


def given(limits: Mapping[str, Any]) -> dict[str, Any]:
    """The limits that were set."""
    return {name: limit for name, limit in limits.items() if limit is not None}
