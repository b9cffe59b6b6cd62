"""``showthrough ci``: a snippet for a pipeline that stops what must not be published."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from typing import Annotated

import typer

from showthrough.cli.common import errors_as_sentences
from showthrough.errors import InputError


class Pipeline(StrEnum):
    github = "github"
    gitlab = "gitlab"
    pre_commit = "pre-commit"
    airflow = "airflow"
    dbt = "dbt"


_FILES = {
    Pipeline.github: "github.yml",
    Pipeline.gitlab: "gitlab.yml",
    Pipeline.pre_commit: "pre-commit.yml",
    Pipeline.airflow: "airflow.py.txt",
    Pipeline.dbt: "dbt.yml",
}


def ci(
    pipeline: Annotated[Pipeline, typer.Argument(help="Where the gate is to stand.")],
    history: Annotated[
        str, typer.Option(help="The history file that names the releases, seen from the repository.")
    ] = "history.toml",
    policy: Annotated[str, typer.Option(help="The policy file, seen from the repository.")] = "policy.toml",
) -> None:
    """Print a snippet for a pipeline: it audits the history and stops on block, review and inconclusive."""
    with errors_as_sentences():
        for name in (history, policy):
            if not name or not all(c.isalnum() or c in "-_./" for c in name) or name.startswith("-"):
                raise InputError(
                    "Name the files with letters, digits, points, slashes, - and _ alone: they are quoted by many."
                )
        text = (files("showthrough.cli") / "snippets" / _FILES[pipeline]).read_text("utf-8")
        typer.echo(text.replace("HISTORY", history).replace("POLICY", policy), nl=False)
