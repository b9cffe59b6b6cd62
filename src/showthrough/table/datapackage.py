"""What a Frictionless ``datapackage.json`` beside a file says about its columns.

Table Schema, https://datapackage.org/standard/table-schema/. Read are names, types, constraints,
missing values, the primary key, and our own property ``showthrough:role``. Only files beside the
package are followed; addresses of the web are not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from showthrough.errors import FileError
from showthrough.table.files import read_bytes

FILE = "datapackage.json"
ROLE = "showthrough:role"


@dataclass(frozen=True)
class Field:
    """One column as described; ``enum`` is empty where the values are not listed."""

    name: str
    type: str = "any"
    enum: tuple[str, ...] = ()
    constraints: tuple[tuple[str, Any], ...] = ()
    missing: tuple[str, ...] = ("",)
    primary_key: bool = False
    role: str | None = None


def read_datapackage(beside: str | os.PathLike[str]) -> dict[str, Field] | None:
    """The columns of the file ``beside`` which a package lies; None if there is none or it does not tell.

    A folder holds its package itself; it must describe one table alone.
    """
    target = Path(beside)
    folder = target if target.is_dir() else target.parent
    package = folder / FILE
    if not package.is_file():
        return None
    content = _json(package)
    resources = content.get("resources", [])
    if not isinstance(resources, list) or not all(isinstance(r, Mapping) for r in resources):
        raise FileError(f"{package}: expected 'resources' to be a list of objects.")
    for resource in resources if not target.is_dir() or len(resources) == 1 else []:
        if target.is_dir() or _is_of(resource, folder, target):
            return _fields(resource, package)
    return None


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_bytes(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text, which JSON has to be.") from None
    except json.JSONDecodeError as problem:
        raise FileError(f"{path} is not JSON: {problem.msg.lower()} in line {problem.lineno}.") from None
    except (RecursionError, ValueError):
        raise FileError(
            f"{path} is not JSON that can be read: it is nested too deeply, or a number is too long."
        ) from None
    if not isinstance(content, dict):
        raise FileError(f"{path}: expected a JSON object, found {_named(content)}.")
    return content


def _is_of(resource: Mapping[str, Any], folder: Path, target: Path) -> bool:
    paths = resource.get("path", [])
    listed = paths if isinstance(paths, list) else [paths]
    wanted = os.path.realpath(target)
    return any(
        isinstance(path, str) and "\x00" not in path and os.path.realpath(folder / path) == wanted for path in listed
    )


def _fields(resource: Mapping[str, Any], package: Path) -> dict[str, Field] | None:
    schema = resource.get("schema")
    if isinstance(schema, str):
        if "://" in schema or os.path.isabs(schema) or ".." in Path(schema).parts:
            return None
        package = package.parent / schema
        schema = _json(package)
    if schema is None:
        return None
    if not isinstance(schema, Mapping) or not isinstance(schema.get("fields"), list):
        raise FileError(f"{package}: expected a 'schema' with a list of 'fields'.")
    keys = schema.get("primaryKey", [])
    keys = keys if isinstance(keys, list) else [keys]
    marks = _missing(schema.get("missingValues", [""]), package)
    found: dict[str, Field] = {}
    for k, field in enumerate(schema["fields"]):
        place = f"{package}, field {k + 1}"
        one = _field(field, place, marks, keys)
        if one.name in found:
            raise FileError(f"{place}: the name {one.name!r} stands more than once.")
        found[one.name] = one
    return found


def _field(field: Any, place: str, marks: tuple[str, ...], keys: list[Any]) -> Field:
    if not isinstance(field, Mapping) or not isinstance(field.get("name"), str):
        raise FileError(f"{place}: expected an object with a 'name'.")
    kind, role = field.get("type", "any"), field.get(ROLE)
    if not isinstance(kind, str):
        raise FileError(f"{place}: expected 'type' to be text, found {_named(kind)}.")
    if role is not None and not isinstance(role, str):
        raise FileError(f"{place}: expected {ROLE!r} to be text, found {_named(role)}.")
    constraints = field.get("constraints", {})
    if not isinstance(constraints, Mapping):
        raise FileError(f"{place}: expected 'constraints' to be an object, found {_named(constraints)}.")
    enum = constraints.get("enum", [])
    if not isinstance(enum, list):
        raise FileError(f"{place}: expected 'enum' to be a list, found {_named(enum)}.")
    own = _missing(field["missingValues"], place) if "missingValues" in field else marks
    return Field(
        name=field["name"],
        type=kind,
        enum=tuple(_printed(value) for value in enum),
        constraints=tuple((name, value) for name, value in constraints.items() if name != "enum"),
        missing=own,
        primary_key=field["name"] in keys,
        role=role,
    )


def _missing(marks: Any, place: object) -> tuple[str, ...]:
    """Texts, or since version 2 objects with a value and a label."""
    if not isinstance(marks, list):
        raise FileError(f"{place}: expected 'missingValues' to be a list, found {_named(marks)}.")
    values: list[Any] = [mark.get("value") if isinstance(mark, Mapping) else mark for mark in marks]
    texts = tuple(value for value in values if isinstance(value, str))
    if len(texts) < len(values):
        raise FileError(f"{place}: expected the 'missingValues' to be texts.")
    return texts


def _printed(value: Any) -> str:
    """A value as it stands in a CSV file."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _named(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
