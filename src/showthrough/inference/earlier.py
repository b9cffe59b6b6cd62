"""The posterior as it was before the newest release; and for those who can do with nothing less than a result."""

from __future__ import annotations

from showthrough.errors import NotConvergedError
from showthrough.inference.attribution import PartTold, Views
from showthrough.inference.clock import Clock
from showthrough.inference.posterior import Posterior, Told
from showthrough.progress import Progress


def earlier(post: Posterior, *, seconds: float | None = None, progress: Told = None) -> Posterior | None:
    """What all releases but the newest tell; None if it is the first."""
    if len(post.releases) < 2:
        return None
    clock = None if seconds is None else Clock(seconds, Progress.of(progress).silent())
    solved, certificate = post._solver.part(post._solved, range(len(post.releases) - 1), clock)
    return Posterior(certificate, solved, post._solver)


def required(posterior: Posterior) -> Posterior:
    """The posterior, if it is a result for everybody: for those who cannot do with less."""
    found = posterior.certificate
    if not found.status.certain:
        raise NotConvergedError(f"The releases do not give an answer for everybody: {found}.", posterior=posterior)
    return posterior


def told_before(post: Posterior, before: Posterior) -> PartTold:
    """What ``before``, the answer of all releases but the newest, tells of the persons of ``post``."""
    return Views(post._solved, lambda _: before._solved).told(range(len(before.releases)))
