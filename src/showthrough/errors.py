"""Every exception of the package, one tree.

    ShowthroughError
    ├── InputError                bad usage or input: a sentence that says what to do
    │   ├── FileError             a file or folder that cannot be read or written
    │   ├── ReleaseError          a table that is not a release of the kind it claims to be
    │   ├── ContradictionError    releases that no assignment of values to persons fits
    │   │   └── ChangedValueError a person whose groups share no value
    │   ├── CriterionError        a method that could not satisfy a criterion; its ``release`` rides along
    │   └── PolicyError           no release that keeps the policy was found; who is exposed rides along
    ├── UnknownPersonError        an id or value that the history does not hold
    ├── NotProvenError            a pair that is neither certain nor impossible: nothing to explain
    ├── LongProofError            a proof with more steps than were asked for
    ├── NotConvergedError         numbers without a certificate; they ride along in ``posterior``
    ├── Cancelled                 the caller asked long work to end
    └── InternalError             our bug: please report it

Messages come in two audiences. ``str(error)`` is for the person at the keyboard and may name
ids; ``error.shareable`` never does and is what a log may keep.

Every room raises these, so this file imports none of them: what rides along is named in the docstrings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


class ShowthroughError(Exception):
    """Root of the tree."""

    def __init__(self, message: str, *, shareable: str | None = None) -> None:
        super().__init__(message)
        self.shareable = message if shareable is None else shareable


class InputError(ShowthroughError):
    """What was given cannot be used; the message says what was expected and what to do."""


class FileError(InputError):
    """A file or folder that cannot be read or written."""


class ReleaseError(InputError):
    """A table that is not a release of the kind it claims to be."""


class ContradictionError(InputError):
    """Releases whose counts no assignment of values to persons fits; ``contradiction`` is the proof, if any."""

    def __init__(self, message: str, *, shareable: str | None = None, contradiction: Any = None) -> None:
        super().__init__(message, shareable=shareable)
        self.contradiction = contradiction


class ChangedValueError(ContradictionError):
    """A person whose groups in different releases share no value."""


class UnknownPersonError(ShowthroughError, KeyError):
    """An id or value that the history does not hold."""

    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0])


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

    def __init__(self, message: str, *, release: Any, shareable: str | None = None) -> None:
        super().__init__(message, shareable=shareable)
        self.release = release


class PolicyError(InputError):
    """No release was found that keeps the policy; ``breaches`` lists who is over which limit."""

    def __init__(self, message: str, *, breaches: pl.DataFrame, shareable: str | None = None) -> None:
        super().__init__(message, shareable=shareable)
        self.breaches = breaches


class Cancelled(ShowthroughError):  # noqa: N818 - the caller's wish, not a fault
    """The caller asked long work to end."""

    def __init__(self) -> None:
        super().__init__("The work was cancelled.")


class InternalError(ShowthroughError):
    """A check of our own failed: a bug of the package, never of its input."""
