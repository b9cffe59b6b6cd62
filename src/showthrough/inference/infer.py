"""`infer`: from releases, and what a reader has beside them, to a posterior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from showthrough.engines.cluster_release import ClusterRelease
from showthrough.errors import ContradictionError, InputError, ParameterError
from showthrough.inference import increment
from showthrough.inference.certificate import Certificate
from showthrough.inference.clock import Clock
from showthrough.inference.draft import Draft, grown, nobody
from showthrough.inference.log import Log
from showthrough.inference.posterior import Posterior, Told
from showthrough.inference.rough import KnownAnswers, rough
from showthrough.inference.run import Wanted, answer, answered, guessed_answer, listed
from showthrough.inference.solved import Solved
from showthrough.inference.splitting import told_from
from showthrough.knowledge.statement import Statement
from showthrough.progress import Progress
from showthrough.register.changed import Changed
from showthrough.register.informing import informed
from showthrough.register.reader import Reader, telling
from showthrough.release.release import Release

if TYPE_CHECKING:
    from showthrough.engines.engine import Engine
    from showthrough.inference.cluster.pieces import MorePerPiece
    from showthrough.inference.cluster.spread import SpreadPosterior
    from showthrough.inference.cluster.wide import CutHistory

SECONDS = 600.0  # that an inference takes at most, if nobody says otherwise


@overload
def infer(
    releases: Sequence[Release],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    changed: Any = "refuse",
    contradictions: str = "explain",
    elastic: bool = False,
    seconds: float = SECONDS,
    progress: Told = None,
    engine: None = None,
) -> Posterior: ...


@overload
def infer(
    releases: Sequence[Any],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    changed: Any = "refuse",
    contradictions: str = "explain",
    elastic: bool = False,
    seconds: float = SECONDS,
    progress: Told = None,
    engine: Engine,
) -> SpreadPosterior: ...


def infer(
    releases: Sequence[Release],
    *,
    register: Any = None,
    membership: Mapping[str, Any] | None = None,
    domain: Sequence[Any] = (),
    knowledge: Iterable[Statement] = (),
    prior: Any = None,
    changed: Any = "refuse",
    contradictions: str = "explain",
    elastic: bool = False,
    seconds: float = SECONDS,
    progress: Told = None,
    engine: Engine | None = None,
) -> Posterior | SpreadPosterior:
    """P(value | person) for every person, from all releases together, by maximum entropy.

    Persons are tied to groups by id where a release publishes ids. ``register`` (a `Register`, or a frame
    with a column "id") ties them by quasi-identifiers where it does not; a release without a sensitive
    column acts as a register too. ``domain`` are further values that somebody outside a release may have.
    ``membership`` maps the name of a release to a frame of id and group, for releases whose members are
    only partly known: each id is in one of the groups listed for it, or, where an empty group is
    listed too, perhaps in none.

    ``knowledge`` are statements that the reader holds (`showthrough.knowledge`, `read_knowledge`), of the newest value
    of somebody whose value changed. ``prior`` is what the reader believes before any release: a frame of p by id, or by
    quasi-identifiers, and value; the answer then differs as little from it as the rest allows (relative entropy). With
    ``elastic`` statements that contradict the releases give way by as few persons as they can; `Posterior.relaxed`
    lists them, and the answer is marked.

    Nobody's value is taken to change. ``changed`` says whose did, as ids, (id, release) pairs or a frame of
    them (such an id is several persons), or what to do where somebody's must have: "refuse"; "split" an id
    whose groups share no value into one person per release; "tolerate" the smallest set of persons whose split
    makes the releases consistent. `Changed.of` says both. ``contradictions`` says what to do with releases that no
    assignment fits: "explain" answers for everybody else and lists them in `Posterior.contradictions`, "refuse"
    raises. After ``seconds`` the answer is what is known by then; `Posterior.states` tells what that is worth,
    person by person. ``progress`` is called with the name of each stage as it begins.

    With an ``engine`` (`showthrough.engines`) the history is answered in pieces that nothing ties together, on all
    cores or on a cluster; the answer is a `SpreadPosterior`, whose persons stand in Parquet files.
    """
    wanted = Wanted(Changed.of(changed), contradictions)
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not seconds >= 0:
        raise ParameterError(f"seconds is a number of 0 or more, not {seconds!r}.", parameters=("seconds",))
    log = Log.of(progress, seconds)  # the time begins
    if engine is not None:
        beside = {"register": register, "membership": membership, "domain": domain, "knowledge": knowledge}
        return infer_on(engine, releases, beside | {"prior": prior, "elastic": elastic}, wanted, log.whole)
    given = listed(releases)
    told = telling(given, domain, noisy=True)
    beside = {"register": register, "membership": membership, "domain": domain}
    reader = Reader.of(given, **beside, knowledge=knowledge, prior=prior, elastic=elastic).checked(told)
    solved, certificate = answer(informed(reader, given), told, wanted, log)
    return Posterior(certificate, solved, Here(wanted, seconds))


def infer_by_guess(
    releases: Sequence[Release],
    *,
    register: Any,
    membership: Mapping[str, Any],
    domain: Sequence[Any],
    changed: Changed,
    seconds: float,
) -> Posterior:
    """`infer` of a piece of a history under the first guess of where persons are, which gives way in no piece alone.

    A guess that is refuted, or not answered in its time, is a contradiction.
    """
    wanted, log = Wanted(changed, "refuse"), Log.of(None, seconds)
    told = telling(releases, domain, noisy=True)
    reader = Reader.of(releases, register=register, membership=membership, domain=domain).checked(told)
    (solved, certificate), again = guessed_answer(reader, told, wanted, log)
    if again:
        raise ContradictionError("A guess was not answered in its time.")
    return Posterior(certificate, solved, Here(wanted, seconds))


def infer_on(
    engine: Engine,
    releases: Sequence[Any] | CutHistory,
    beside: Mapping[str, Any],
    wanted: Wanted,
    clock: Clock,
    further: MorePerPiece | None = None,
) -> SpreadPosterior:
    """`infer` in pieces on an engine; ``beside`` is what the reader has, ``further`` what else is wanted of a piece."""
    from showthrough.inference.cluster.on_cluster import infer_laid
    from showthrough.inference.cluster.wide import CutHistory, Wide, infer_cut, infer_wide

    asked = Wide(infer, infer_by_guess, wanted, clock, further)
    if isinstance(releases, CutHistory):
        return infer_cut(releases, engine, asked)
    if not any(isinstance(one, ClusterRelease) for one in releases):
        given = listed(releases)
        return infer_wide(given, Reader.of(given, **beside).checked(telling(given, noisy=True)), engine, asked)
    if any(what is not None and not isinstance(what, bool) and len(what) for what in beside.values()):
        raise InputError(
            "Persons of releases on a cluster are joined by their ids: leave out register, membership, domain, "
            "knowledge and prior, or give the releases as this process reads them."
        )
    return infer_laid(releases, engine, asked)


def roughly(
    releases: Sequence[Release],
    before: Posterior,
    near: Posterior | None = None,
    *,
    passes: int,
    changed: Any = "refuse",
    progress: Told = None,
    **beside: Any,
) -> Posterior | None:
    """What is believed, roughly, in a fraction of the time; None where only `infer` will do.

    ``before`` is the answer of all releases but the last, ``near`` a rough one with another last release, ``beside``
    what the reader has, as `infer` takes it. Nothing is proven or certified: it is for searching, not for answers.
    """
    wanted, log = Wanted(Changed.of(changed), "refuse"), Log.of(progress, SECONDS)
    told = telling(releases, beside.get("domain", ()), noisy=True)
    reader = Reader.of(releases, **beside).checked(told)
    known = KnownAnswers(before._solved, None if near is None else near._solved, passes)
    found = rough(informed(reader, releases), told, known, wanted, log)
    return None if found is None else Posterior(found[1], found[0], Here(wanted))


@dataclass(frozen=True)
class Here:
    """The solver that works in this process."""

    wanted: Wanted = field(default_factory=Wanted)
    seconds: float = SECONDS

    def part(self, solved: Solved, releases: Sequence[int], clock: Clock | None = None) -> tuple[Solved, Certificate]:
        """The answer from some of the releases alone, by their numbers, within the time of a clock."""
        h, layers = solved.history, solved.history.layers_of(releases)
        reader = h.reader.called([h.names[r] for r in layers])
        wanted = replace(self.wanted, changed=told_from(h, layers))
        log = Log.of(None, self.seconds) if clock is None else Log.of(clock.progress, clock.left())
        return answer(reader, [h.releases[r] for r in layers], wanted, log)

    def extend(self, solved: Solved, release: Release, progress: Progress) -> tuple[Solved, Certificate]:
        """The answer with one more release."""
        return increment.extend(solved, release, self.wanted, Log.of(progress, self.seconds))

    def consider(self, solved: Solved, draft: Draft, progress: Progress) -> tuple[Solved, Certificate]:
        """The answer with one more release that is not written yet."""
        return increment.consider(solved, draft, self.wanted, Log.of(progress, self.seconds))


def first_draft(draft: Draft, reader: Reader | None = None, *, progress: Told = None) -> Posterior:
    """What a release that is not written yet would tell a reader alone."""
    history = grown(replace(nobody(draft.newcomers, draft.values), reader=reader or Reader()), draft)
    here = Here(Wanted(contradictions="refuse"))
    solved, certificate = answered(history, Log.of(progress, here.seconds))
    return Posterior(certificate, solved, here)
