"""Every exception of the package, one tree.

    ShowthroughError
    ├── InputError                bad usage or input: a sentence that says what to do
    │   ├── FileError             a file or folder that cannot be read or written
    │   │   └── LedgerError       a ledger that cannot be opened, read or written, or that refuses what is asked
    │   │       └── RecordedError a release that the ledger holds already
    │   ├── FieldError            an entry of a request that cannot be used; ``field`` names it
    │   ├── ReleaseError          a table that is not a release of the kind it claims to be
    │   ├── ParameterError        a parameter of the wrong type or outside its range
    │   ├── EngineError           a cluster that cannot be reached or used, or that gave the work up
    │   ├── LimitError            more than a limit allows: the work was not begun, or was given up
    │   ├── NotEligibleError      new records too many of which share a value for an m-invariant release
    │   ├── ContradictionError    releases that no assignment of values to persons fits
    │   │   └── ChangedValueError a person whose groups share no value
    │   ├── CriterionError        a method that could not satisfy a criterion; its ``release`` rides along
    │   └── PolicyError           no release that keeps the policy was found; who is exposed rides along
    ├── UnknownError              asked for what the history does not hold; a KeyError too
    │   ├── UnknownPersonError    an id
    │   └── UnknownValueError     a value
    ├── NotProvenError            a pair that is neither certain nor impossible: nothing to explain
    ├── LongProofError            a proof with more steps than were asked for
    ├── NotConvergedError         numbers without a certificate; they ride along in ``posterior``
    ├── Cancelled                 the caller asked long work to end
    └── InternalError             our bug: please report it

Messages come in two audiences. ``str(error)``, which tracebacks and logs show, names files, columns, row numbers
and counts, never an id, a value, a label or a cell; ``error.internal`` tells all. ``error.said`` is the text that
both are made from (`showthrough.said`), for errors that quote another one.

Nobody reads a message to decide what to do next: whatever a caller may want to tell apart is a type,
and what it may want to know rides along. Messages name parameters as Python spells them,
``hold_back=True``; ``error.parameters`` lists them, so that a command can print its options instead.

Every room raises these, so this file imports none of them: what rides along is named in the docstrings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from showthrough import said

if TYPE_CHECKING:
    import polars as pl


class ShowthroughError(Exception):
    """Root of the tree; ``str`` of it is for everybody, ``internal`` may name ids and values."""

    def __init__(self, message: str, *, shareable: str | None = None, parameters: tuple[str, ...] = ()) -> None:
        self.said = message if shareable is None else said.private(message, instead=shareable)
        self.internal, self.shareable = said.internal(self.said), said.shareable(self.said)
        self.parameters = parameters
        super().__init__(self.shareable)

    def without_cells(self) -> ShowthroughError:
        """The same error as everybody may see it: nothing of cells, and nothing that rides along."""
        self.said = self.internal = self.shareable
        for name in self.__dict__.keys() - {"said", "internal", "shareable", "parameters", "field"}:
            setattr(self, name, None)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # what rides along is given by keyword, which exceptions do not pickle by themselves
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[ShowthroughError], args: tuple[Any, ...], state: Mapping[str, Any]) -> ShowthroughError:
    made = kind.__new__(kind, *args)
    made.args = args
    made.__dict__.update(state)
    return made


class InputError(ShowthroughError):
    """What was given cannot be used; the message says what was expected and what to do."""


class FileError(InputError):
    """A file or folder that cannot be read or written."""


class LedgerError(FileError):
    """A ledger that cannot be opened, read or written, or that refuses what is asked of it."""


class RecordedError(LedgerError):
    """A release that the ledger holds already, as ``name`` since event ``number``; it is not recorded twice.

    ``passed`` says whether a gate let it pass that was asked the same. Of several that were to be recorded it is the
    one ``at`` this place.
    """

    def __init__(self, message: str, *, name: str, number: int, passed: bool = False) -> None:
        super().__init__(message)
        self.name, self.number, self.passed, self.at = name, number, passed, 0


class FieldError(InputError):
    """An entry of a request that cannot be used; the message begins with its name, which rides along as ``field``."""

    def __init__(self, field: str, sentence: str, *, where: str = "", parameters: tuple[str, ...] = ()) -> None:
        super().__init__(f"{where}: {field} {sentence}" if where else f"{field} {sentence}", parameters=parameters)
        self.field, self.sentence, self.where = field, sentence, where

    def at(self, where: str) -> FieldError:
        """The same, said of an entry of a file or of a table."""
        place = f"{where}, {self.where}" if self.where else where
        return FieldError(self.field, self.sentence, where=place, parameters=self.parameters)


class ReleaseError(InputError):
    """A table that is not a release of the kind it claims to be."""


class ParameterError(InputError):
    """A parameter of the wrong type or outside its range; ``parameters`` names it."""


class EngineError(InputError):
    """A cluster that cannot be reached or used, or that gave the work up."""


class LimitError(InputError):
    """More than a limit allows: the work was not begun, or was given up."""


class NotEligibleError(InputError):
    """New records too many of which share a value; ``code`` is its code among the values that were given."""

    def __init__(self, m: int, value: str, *, code: int, reason: str) -> None:
        super().__init__(f"The new records are not {m}-eligible: {said.private(value, 'a value')} {reason}")
        self.m, self.code, self.reason = m, code, reason

    def naming(self, value: str) -> NotEligibleError:
        """The same for people, who know values and not codes."""
        return NotEligibleError(self.m, value, code=self.code, reason=self.reason)


class ContradictionError(InputError):
    """Releases whose counts no assignment of values to persons fits; ``contradiction`` is the proof, if any."""

    def __init__(
        self,
        message: str,
        *,
        shareable: str | None = None,
        parameters: tuple[str, ...] = (),
        contradiction: Any = None,
    ) -> None:
        super().__init__(message, shareable=shareable, parameters=parameters)
        self.contradiction = contradiction


class ChangedValueError(ContradictionError):
    """A person whose groups in different releases share no value."""


class UnknownError(ShowthroughError, KeyError):
    """Asked for what the history does not hold."""

    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0])


class UnknownPersonError(UnknownError):
    """An id that the history does not hold."""


class UnknownValueError(UnknownError):
    """A value that no release publishes."""


class NotProvenError(ShowthroughError):
    """A pair that is neither certain nor impossible, so there is nothing to explain."""


class LongProofError(ShowthroughError):
    """A proof takes more steps than the caller wanted to wait for."""


class NotConvergedError(ShowthroughError):
    """The numbers carry no certificate; take them from ``posterior``, a `Posterior`, at your own risk."""

    def __init__(self, message: str, *, posterior: Any) -> None:
        super().__init__(message)
        self.posterior = posterior


class CriterionError(InputError):
    """A method could not satisfy a criterion; ``release``, a `Release`, is what it made."""

    def __init__(
        self, message: str, *, release: Any, shareable: str | None = None, parameters: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, shareable=shareable, parameters=parameters)
        self.release = release


class PolicyError(InputError):
    """No release was found that keeps the policy; ``breaches`` lists who is over which limit."""

    def __init__(
        self, message: str, *, breaches: pl.DataFrame, shareable: str | None = None, parameters: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, shareable=shareable, parameters=parameters)
        self.breaches = breaches


class Cancelled(ShowthroughError):  # noqa: N818 - the caller's wish, not a fault
    """The caller asked long work to end."""

    def __init__(self) -> None:
        super().__init__("The work was cancelled.")


class InternalError(ShowthroughError):
    """A check of our own failed: a bug of the package, never of its input."""
