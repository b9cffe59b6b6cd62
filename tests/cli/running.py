"""Run the command in this process as the shell would: exit code, stdout and stderr."""

from __future__ import annotations

import io
import os
import signal
import sys
from dataclasses import dataclass
from unittest import mock

import polars as pl

from showthrough.cli.main import main

ROLES = ["--id", "pseudonym", "--sensitive", "disease", "--group", "group"]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def run(*arguments: object, encoding: str = "utf-8", columns: int | None = None) -> Done:
    """``columns`` is what COLUMNS says; without it, the width does not depend on where the tests run."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2)]
    argv = ["showthrough", *map(str, arguments)]
    code = 0
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = str(columns)
    heard = signal.getsignal(signal.SIGINT)
    with (
        mock.patch.multiple(sys, argv=argv, stdout=streams[0], stderr=streams[1]),
        mock.patch.dict(os.environ, environment, clear=True),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            signal.signal(signal.SIGINT, heard)
    out, err = (stream.buffer.getvalue().decode(encoding) for stream in streams)
    assert "Traceback" not in out + err
    return Done(code, out, err)


def table(groups: list[tuple[list[str], list[str]]]) -> pl.DataFrame:
    """A table of rows from members and values of each group."""
    rows = [
        (person, group, value)
        for group, (persons, values) in enumerate(groups, start=1)
        for person, value in zip(persons, values, strict=True)
    ]
    return pl.DataFrame(rows, schema=["pseudonym", "group", "disease"], orient="row")


def persons(*numbers: int) -> list[str]:
    """Ids that cannot stand anywhere else."""
    return [f"zq-person-{n}" for n in numbers]
