"""Every check of a request fires, with a sentence that names the field."""

import pickle

import pytest

from showthrough import Policy
from showthrough.criteria.criteria_entries import CriteriaEntries
from showthrough.errors import FieldError, FileError, InputError
from showthrough.requests.audit import AuditRequest
from showthrough.requests.check import CheckRequest
from showthrough.requests.publish import PublishRequest

ONE = [{"file": "a.csv"}]


@pytest.mark.parametrize(
    ("kind", "entries", "field", "words"),
    [
        (AuditRequest, {"release": ONE, "changed": "no"}, "changed", "is one of refuse, split, tolerate, not 'no'"),
        (AuditRequest, {"release": ONE, "audience": 3}, "audience", "is shareable or internal, not 3"),
        (AuditRequest, {"release": ONE, "whole_values": -1}, "whole_values", "is at least 0"),
        (AuditRequest, {"release": ONE, "whole_values": float("nan")}, "whole_values", "is at least 0"),
        (AuditRequest, {"release": ONE, "people": True, "bounds": 1.5}, "bounds", "is between 0 and 1, not 1.5"),
        (AuditRequest, {"release": ONE, "bounds": 0.5}, "bounds", "adds columns to the people file"),
        (AuditRequest, {"release": ONE, "quasi": 5}, "quasi", "has the wrong type: expected a list"),
        (AuditRequest, {"release": ONE, "quasi": [5]}, "quasi", "has the wrong type: expected a list"),
        (AuditRequest, {"release": ONE, "id": 5}, "id", "expected text, not 5"),
        (AuditRequest, {"release": ONE, "hierarchies": ["x"]}, "hierarchies", "is a table, not a list"),
        (CheckRequest, {"release": []}, "release", "lists no releases"),
        (CheckRequest, {}, "release", "is missing"),
        (CheckRequest, {"release": ONE, "negations": -1}, "negations", "is at least 0"),
        (CheckRequest, {"release": ONE, "queries": 1.5}, "queries", "expected a whole number, not 1.5"),
        (CheckRequest, {"release": ONE, "seed": True}, "seed", "expected a whole number, not True"),
        (CheckRequest, {"release": ONE, "threshold": 2}, "threshold", "is between 0 and 1"),
        (CheckRequest, {"release": ONE, "others": "x"}, "others", "is one of alone, quasi, together"),
        (CheckRequest, {"release": ONE, "risk": "x"}, "risk", "is category or wildcard"),
        (CriteriaEntries, {"k": 0}, "k", "at least 1"),
        (CriteriaEntries, {"t": float("nan")}, "t", "between 0 and 1"),
        (CriteriaEntries, {"recursive": [2]}, "recursive", "expected a list of 2 (a number, a whole number)"),
        (CriteriaEntries, {"recursive": [2, 1.5]}, "recursive", "wrong type"),
        (CriteriaEntries, {"dissimilarity": [0.1, 0.5, 0]}, "dissimilarity", "at least 1"),
        (CriteriaEntries, {"k_map": 0}, "k_map", "at least 1"),
        (CriteriaEntries, {"presence": [0.5, 0.1]}, "presence", "presence"),
        (CriteriaEntries, {"metric": "cosine"}, "metric", "is one of numeric"),
        (PublishRequest, {"table": "t", "seconds": 0}, "seconds", "is at least 1"),
        (PublishRequest, {"table": "t", "seed": -1}, "seed", "is at least 0"),
        (PublishRequest, {"table": "t", "passes": -1}, "passes", "is at least 0"),
        (PublishRequest, {"table": "t", "suppression_limit": -1}, "suppression_limit", "is at least 0"),
        (PublishRequest, {"table": "t", "cells": "wide"}, "cells", "is one of tight, recursion"),
        (PublishRequest, {"table": "t", "missing": "guess"}, "missing", "is one of refuse, value, suppress"),
        (PublishRequest, {"table": "t", "limits": {"age": [1]}}, "limits", "wrong type"),
        (PublishRequest, {"table": "t", "hold_back": 1}, "hold_back", "expected true or false, not 1"),
    ],
)
def test_every_check_names_its_field(kind, entries, field, words):
    with pytest.raises(InputError) as caught:
        kind.from_dict(entries)
    told = caught.value
    if isinstance(told, FieldError):
        assert told.field == field
        assert str(pickle.loads(pickle.dumps(told))) == str(told)
    assert field in str(told)
    assert words in told.internal


@pytest.mark.parametrize(
    ("kind", "entries", "words"),
    [
        (AuditRequest, {"release": [], "foo": 1}, "x.toml: 'foo' is unknown; the entries are release, register"),
        (AuditRequest, {"release": [{}]}, "x.toml, release 1: name its file"),
        (AuditRequest, {"release": [{"file": "a", "quasi": 3}]}, "x.toml, release 1: quasi has the wrong type"),
        (AuditRequest, {"release": ONE, "register": {"file": "a", "id": 3}}, "x.toml, register: id has the wrong type"),
        (CheckRequest, {"release": ONE, "criteria": {"k": 0}}, "x.toml, criteria: k cannot be used"),
        (PublishRequest, {"table": "t", "policy": {"max_posterior": 2}}, "x.toml, policy: max_posterior lies between"),
        (PublishRequest, {"table": "t", "policy": {"limit": 2}}, "x.toml, policy: 'limit' is unknown"),
        (PublishRequest, {"table": "t", "method": "magic"}, "The method is one of mondrian"),
        (PublishRequest, {"table": "t", "strategy": "magic"}, "The strategy is one of independent"),
    ],
)
def test_faults_in_files_say_where(kind, entries, words):
    with pytest.raises(InputError) as caught:
        kind.from_dict(entries, where="x.toml")
    assert words in caught.value.internal


def test_a_long_or_private_entry_is_not_shown():
    with pytest.raises(FieldError) as caught:
        AuditRequest.from_dict({"release": ONE, "id": ["zq-person-1"]})
    assert "zq" not in str(caught.value)


def test_text_that_is_no_request():
    for read in (AuditRequest.from_json, AuditRequest.from_toml):
        with pytest.raises(FileError, match="x is not valid"):
            read("{", where="x")
    with pytest.raises(FileError, match="no JSON object"):
        AuditRequest.from_json("[]")


def test_none_where_a_default_is_not_none():
    request = PublishRequest("t", policy=Policy(max_posterior=0.5, certain=None))
    assert request.as_dict()["policy"] == {"max_posterior": 0.5, "certain": False}
    assert PublishRequest.from_toml(request.to_toml()).policy.certain is None
