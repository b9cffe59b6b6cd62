"""`infer`: from releases, and what a reader has beside them, to a posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from showthrough.inference import increment
from showthrough.inference.certificate import Certificate
from showthrough.inference.draft import Draft, grown, nobody
from showthrough.inference.posterior import Posterior, Told, accepted
from showthrough.inference.run import Log, answer, answered, listed
from showthrough.inference.solved import Solved
from showthrough.inference.splitting import told_from
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.register.reader import Reader, telling
from showthrough.release.release import Release


def infer(
    releases: Sequence[Release],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    changed: Any = "refuse",
    accept_unconverged: bool = False,
    progress: Told = None,
) -> Posterior:
    """P(value | person) for every person, from all releases together, by maximum entropy.

    Persons are tied to groups by id where a release publishes ids. ``register`` (a `Register`, or a frame
    with a column "id") ties them by quasi-identifiers where it does not; a release without a sensitive
    column acts as a register too. ``domain`` are further values that somebody outside a release may have.
    ``membership`` maps the name of a release to a frame of id and group, for releases whose members are
    only partly known: each id is in one of the groups listed for it, or, where an empty group is
    listed too, perhaps in none.

    Nobody's value is taken to change. ``changed`` says whose did, as ids, (id, release) pairs or a frame of
    them (such an id is several persons), or what to do where somebody's must have: "refuse"; "split" an id
    whose groups share no value into one person per release; "tolerate" the smallest set of persons whose split
    makes the releases consistent. `Changed.of` says both. Numbers that could not be certified raise
    `NotConvergedError` unless ``accept_unconverged``. ``progress`` is called with the name of each stage as it begins.
    """
    choice = Changed.of(changed)
    given = listed(releases)
    told = telling(given)
    reader = Reader.of(given, register=register, membership=membership, domain=domain).checked(told)
    solved, certificate = answer(reader, told, choice, Progress.of(progress))
    return accepted(Posterior(certificate, solved, Here()), unconverged=accept_unconverged)


@dataclass(frozen=True)
class Here:
    """The solver that works in this process."""

    def part(self, solved: Solved, releases: Sequence[int]) -> tuple[Solved, Certificate]:
        """The answer from some of the releases alone, by their numbers."""
        h = solved.history
        reader = h.reader.called([h.names[r] for r in releases])
        return answer(reader, [h.releases[r] for r in releases], told_from(h, list(releases)), Progress())

    def extend(self, solved: Solved, release: Release, progress: Progress) -> tuple[Solved, Certificate]:
        """The answer with one more release."""
        return increment.extend(solved, release, progress)

    def consider(self, solved: Solved, draft: Draft, progress: Progress) -> tuple[Solved, Certificate]:
        """The answer with one more release that is not written yet."""
        return increment.consider(solved, draft, progress)


def first_draft(draft: Draft, progress: Told = None) -> Posterior:
    """What a release that is not written yet would tell alone."""
    history = grown(nobody(draft.newcomers, draft.values), draft)
    solved, certificate = answered(history, Log(Progress.of(progress).stage))
    return accepted(Posterior(certificate, solved, Here()))
