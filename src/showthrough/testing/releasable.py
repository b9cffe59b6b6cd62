"""An assertion for tests of pipelines: all releases together keep the policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showthrough.auditing.whole_audit import Audit


class NotReleasableError(AssertionError):
    """Releases that do not keep a policy; ``audit`` is what was found. The message holds counts only."""

    def __init__(self, message: str, audit: Audit) -> None:
        super().__init__(message)
        self.audit = audit


def assert_releasable(
    *releases: Any,
    policy: Any,
    allow_review: bool = False,
    read: Mapping[str, Any] | None = None,
    **options: Any,
) -> Audit:
    """Audit releases, in order, and fail unless the policy says pass.

    A release is a `Release`, or the file or folder that holds one, read with the options ``read`` of `read_release`;
    one history file (.toml) stands for all of them. ``policy`` and all other options are those of `audit`. With
    ``allow_review`` limits of the softer kind may be broken.
    """
    __tracebackhide__ = True  # a failure is shown where the assertion stands
    from showthrough.auditing.audit import audit
    from showthrough.errors import InputError
    from showthrough.policy.decision import Verdict

    history, known = _history(releases, read or {})
    if not history:
        raise InputError("There is no release to assert anything of: name one, or a history file.")
    found: Audit = audit(history, policy=policy, **{**known, **options})
    decided = found.decision
    if decided is None:
        raise InputError("A policy is needed to say whether releases may be published: policy=Policy(...) or a file.")
    if decided.verdict is Verdict.PASS or (allow_review and decided.verdict is Verdict.REVIEW):
        return found
    told = [f"  {reason.said}" for reason in decided.reasons if reason.outcome in ("over", "open")]
    lines = [f"{decided.verdict}: {decided.said}", *(f"  {doubt}" for doubt in decided.doubts), *told]
    raise NotReleasableError("\n".join(lines), found)


def _history(given: tuple[Any, ...], read: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The releases, and what a history file says beside them."""
    from showthrough.errors import InputError
    from showthrough.release.reading import read_release
    from showthrough.release.release import Release

    found = []
    for one in given:
        if isinstance(one, Release):
            found.append(one)
        elif isinstance(one, (str, os.PathLike)):
            if os.fspath(one).endswith(".toml") and not os.path.isdir(one):
                if len(given) > 1:
                    raise InputError("A history file names all releases: give it alone.")
                return _from_file(one)
            found.append(read_release(one, **read))
        else:
            raise InputError(
                f"A release is a Release or a path, not {type(one).__name__}: make one of a frame with "
                "Release.bucketized(...) or Release.generalized(...)."
            )
    return found, {}


def _from_file(path: str | os.PathLike[str]) -> tuple[list[Any], dict[str, Any]]:
    """What a history file says, as the command understands it."""
    from showthrough.requests.audit import AuditRequest
    from showthrough.requests.changes import tables_of, told_changes

    request = AuditRequest.read(path)
    releases, register = request.load()
    changed = told_changes(tables_of(request, releases, request.tables), otherwise=request.changed)
    asked = {name: getattr(request, name) for name in ("contradictions", "seconds", "whole_values")}
    return list(releases), {"register": register, "changed": changed, **asked}
