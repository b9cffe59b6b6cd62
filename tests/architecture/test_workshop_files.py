"""The files around the code: the workflow, the hooks and the citation are what their readers expect."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

import showthrough
from tests.architecture.plain_yaml import read
from tests.architecture.source import ROOT

TEXT = {"type": "string", "minLength": 1}

# What GitHub's own schema says of the parts that we use, and nothing else: a workflow calls `.ci/run`.
WORKFLOW = {
    "type": "object",
    "required": ["name", "on", "permissions", "jobs"],
    "additionalProperties": False,
    "properties": {
        "name": TEXT,
        "on": {
            "type": "object",
            "propertyNames": {"enum": ["push", "pull_request", "workflow_dispatch", "schedule"]},
            "additionalProperties": {
                "type": ["object", "null"],
                "properties": {"branches": {"type": "array", "items": TEXT}},
                "additionalProperties": False,
            },
        },
        "permissions": {"const": {"contents": "read"}},
        "jobs": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/job"}},
    },
    "$defs": {
        "job": {
            "type": "object",
            "required": ["runs-on", "steps", "strategy", "defaults"],
            "additionalProperties": False,
            "properties": {
                "name": TEXT,
                "runs-on": {"const": "${{ matrix.os }}"},
                "timeout-minutes": {"type": "integer", "minimum": 1, "maximum": 360},
                "defaults": {"const": {"run": {"shell": "bash"}}},
                "strategy": {
                    "type": "object",
                    "required": ["matrix"],
                    "additionalProperties": False,
                    "properties": {
                        "fail-fast": {"type": "boolean"},
                        "matrix": {
                            "type": "object",
                            "required": ["os", "python"],
                            "additionalProperties": {"type": "array", "minItems": 1, "items": TEXT},
                        },
                    },
                },
                "steps": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "oneOf": [
                            {
                                "type": "object",
                                "required": ["uses"],
                                "additionalProperties": False,
                                "properties": {
                                    "uses": {"type": "string", "pattern": r"^actions/(checkout|setup-python)@v\d+$"},
                                    "with": {"type": "object", "additionalProperties": TEXT},
                                },
                            },
                            {"const": {"run": ".ci/run"}},
                        ]
                    },
                },
            },
        }
    },
}

PERSON = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"family-names": TEXT, "given-names": TEXT, "name": TEXT, "orcid": TEXT, "affiliation": TEXT},
    "anyOf": [{"required": ["family-names"]}, {"required": ["name"]}],
}

# The Citation File Format 1.2.0, as far as we use it.
CITATION = {
    "type": "object",
    "required": ["cff-version", "message", "title", "authors"],
    "additionalProperties": False,
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "message": TEXT,
        "title": TEXT,
        "type": {"enum": ["software", "dataset"]},
        "version": TEXT,
        "license": TEXT,
        "abstract": TEXT,
        "keywords": {"type": "array", "items": TEXT, "uniqueItems": True},
        "authors": {"type": "array", "minItems": 1, "items": PERSON},
        "references": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "title", "authors"],
                "additionalProperties": False,
                "properties": {
                    "type": {"enum": ["article", "conference-paper", "book", "software"]},
                    "title": TEXT,
                    "authors": {"type": "array", "minItems": 1, "items": PERSON},
                    "collection-title": TEXT,
                    "year": {"type": "integer"},
                },
            },
        },
    },
}


def loaded(name: str) -> Any:
    return read((ROOT / name).read_text(encoding="utf-8"))


def test_the_workflow_is_one_and_runs_nothing_but_the_checks():
    workflow = loaded(".github/workflows/ci.yml")
    Draft202012Validator(WORKFLOW).validate(workflow)
    (job,) = workflow["jobs"].values()
    assert {system.partition("-")[0] for system in job["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    assert [step for step in job["steps"] if "run" in step] == [{"run": ".ci/run"}]
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert job["strategy"]["matrix"]["python"][0] == lowest.removeprefix(">=")


def test_a_workflow_that_does_more_is_refused():
    workflow = loaded(".github/workflows/ci.yml")
    (job,) = workflow["jobs"].values()
    job["steps"].append({"run": "pip install something"})
    with pytest.raises(ValidationError):
        Draft202012Validator(WORKFLOW).validate(workflow)


def test_what_the_workflow_runs_exists():
    script = (ROOT / ".ci" / "run").read_bytes()
    assert script.startswith(b"#!/usr/bin/env bash\n")
    assert b"\r" not in script
    assert (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()[-1] == "* -text"


def test_the_citation_is_one_of_this_version():
    citation = loaded("CITATION.cff")
    Draft202012Validator(CITATION).validate(citation)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == showthrough.__version__
    assert citation["license"] == project["license"]
    assert citation["keywords"] == project["keywords"]


def test_hooks_are_local_and_run_the_lint():
    (repo,) = loaded(".pre-commit-config.yaml")["repos"]
    assert repo["repo"] == "local"
    assert [(hook["entry"], hook["language"]) for hook in repo["hooks"]] == [("python3 run.py lint", "system")]


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "README.md", "docs/api.md", "docs/examples.md"])
def test_links_lead_somewhere(name: str):
    page = ROOT / name
    targets = re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
    here = [target for target in targets if "://" not in target]
    assert [target for target in here if not (page.parent / target).exists()] == []
