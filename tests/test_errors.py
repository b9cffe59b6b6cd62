"""The tree of exceptions: what can be told apart by type, and what rides along."""

import pickle

import polars as pl
import pytest

from showthrough import errors
from showthrough.errors import (
    CriterionError,
    InputError,
    NotConvergedError,
    NotEligibleError,
    ParameterError,
    PolicyError,
    ShowthroughError,
    UnknownError,
    UnknownPersonError,
    UnknownValueError,
)
from showthrough.said import private

KINDS = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, ShowthroughError)]
SPECIAL = {
    "CriterionError": lambda: CriterionError("no", release="made", parameters=("accept_violations",)),
    "FieldError": lambda: errors.FieldError("k", "is missing.", where="a request", parameters=("k",)),
    "PolicyError": lambda: PolicyError("ann", breaches=pl.DataFrame({"id": ["ann"]}), shareable="somebody"),
    "NotConvergedError": lambda: NotConvergedError("no", posterior="numbers"),
    "NotEligibleError": lambda: NotEligibleError(3, "value code 1", code=1, reason="is too frequent."),
    "RecordedError": lambda: errors.RecordedError("no", name="D", number=2, passed="x"),
    "Cancelled": lambda: errors.Cancelled(),
}


def made(kind):
    return SPECIAL[kind.__name__]() if kind.__name__ in SPECIAL else kind("ann is there", shareable="somebody")


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_every_exception_survives_the_way_to_another_process(kind):
    error = made(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.shareable, again.parameters) == (str(error), error.shareable, error.parameters)
    assert set(vars(again)) == set(vars(error))


def test_every_exception_has_a_line_in_the_tree():
    assert [k.__name__ for k in KINDS if f" {k.__name__} " not in f" {errors.__doc__} ".replace("\n", " ")] == []


def test_unknown_persons_and_unknown_values_are_different_things():
    assert not issubclass(UnknownValueError, UnknownPersonError)
    for kind in (UnknownPersonError, UnknownValueError):
        assert issubclass(kind, UnknownError)
        assert issubclass(kind, KeyError)
        assert str(kind("No release holds it.")) == "No release holds it."


def test_parameters_default_to_none():
    assert InputError("x").parameters == ()
    assert ParameterError("k is wrong", parameters=("k",)).parameters == ("k",)


def test_a_kernel_speaks_of_codes_and_people_of_values():
    error = NotEligibleError(3, "value code 1", code=1, reason="is too frequent.")
    assert error.internal == "The new records are not 3-eligible: value code 1 is too frequent."
    named = error.naming("the value 'Flu'")
    assert named.internal == "The new records are not 3-eligible: the value 'Flu' is too frequent."
    assert str(named) == named.shareable == "The new records are not 3-eligible: a value is too frequent."
    assert named.code == 1


def test_what_everybody_reads_is_the_text_of_the_exception():
    error = InputError(f"Row 3: {private('Flu', 'a value')} is not listed.", parameters=("k",))
    assert str(error) == error.shareable == "Row 3: a value is not listed."
    assert error.internal == "Row 3: Flu is not listed."
    assert "Flu" not in repr(error)
    above = InputError(f"In the file: {error.said}")
    assert (str(above), above.internal) == (
        "In the file: Row 3: a value is not listed.",
        "In the file: Row 3: Flu is not listed.",
    )


def test_marks_in_data_hide_and_show_nothing():
    """A cell may hold the marks themselves: it neither opens what is private nor closes it early."""
    odd = "\ufdd2Flu\ufdd0\ufdd1"
    error = InputError(f"Row {private(odd)} of {odd}x is bad.")
    assert "Flu" not in str(error).partition(" of ")[0]
    assert not set("\ufdd0\ufdd1\ufdd2") & set(str(error) + error.internal)
