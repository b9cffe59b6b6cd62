"""What a release tells beside its history, in one remark for its publisher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from showthrough.anonymizers.remark import Remark
from showthrough.anonymizers.table import Table
from showthrough.errors import ContradictionError, NotConvergedError, ReleaseError
from showthrough.inference.earlier import required
from showthrough.inference.infer import infer
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.release import Release
from showthrough.republishing.figures import certain
from showthrough.republishing.tied import joint


def told_together(
    table: Table, history: Sequence[Release], release: Release, *, changed: str, progress: Progress
) -> Remark:
    """How many persons the history exposes with and without the release.

    Persons are tied by id or private link where all releases have one, otherwise located by the table's
    quasi-identifiers.
    """
    if table.id is None or table.sensitive is None:
        words = "Beside the history nothing was looked at: that takes the id and the sensitive column."
        return Remark("beside the history", words)
    try:
        before, after, how = _posteriors(table, history, release, changed, progress)
    except (ContradictionError, NotConvergedError) as problem:
        words = "Beside the history it could not be judged: {reason}"
        return Remark.of("beside the history", words, reason=problem.shareable)
    old, new = certain(before), certain(after)
    return Remark.of(
        "beside the history",
        "Beside the history ({how}) a reader is certain about {certain} of {persons} persons, {newly_certain} of them "
        "by this release, and guesses {guesses:.1f} right on average.",
        how=how,
        certain=len(new),
        persons=after.ids.len(),
        newly_certain=len(new - old),
        guesses=float(after.largest().sum()),
    )


def linked_remark(history: Sequence[Release]) -> tuple[Remark, ...]:
    """Which earlier releases are read with the publisher's private link."""
    linked = [
        r.name or f"release {k}" for k, r in enumerate(history, start=1) if r.roles.id is None and r.link is not None
    ]
    if not linked:
        return ()
    words = (
        "{n:earlier release is|earlier releases are} read with private links or a register: for a reader who "
        "knows everybody's group."
    )
    return (Remark.of("links", words, n=len(linked), releases=", ".join(linked)),)


def _posteriors(
    table: Table, history: Sequence[Release], release: Release, changed: str, progress: Progress
) -> tuple[Posterior, Posterior, str]:
    try:
        before = joint(history, changed=changed, progress=progress)
        return before, joint([*history, release], changed=changed, progress=progress), "persons tied by id or link"
    except ReleaseError:  # no link: a reader locates persons
        register = Register.of(table.frame, id=table.id, quasi=table.quasi)
        given: dict[str, Any] = {"register": register, "changed": changed, "contradictions": "refuse"}
        before = required(infer(history, **given, progress=progress))
        after = required(infer([*history, release], **given, progress=progress))
        return before, after, "persons located by quasi-identifiers"
