"""The posterior: P(value | person) with everything that can be asked of it.

Arrays that hold a figure per person stand in the order of `Posterior.ids`. What the answer is made of is
private (`Solved`); questions that take another inference go to the `Solver` that made the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import polars as pl

from showthrough.errors import ContradictionError, InputError
from showthrough.inference import attribution, facts
from showthrough.inference.attribution import Alone, Views
from showthrough.inference.certificate import STATES, Certificate, Status
from showthrough.inference.clock import Clock
from showthrough.inference.draft import Draft
from showthrough.inference.explain import explain
from showthrough.inference.facts import FactCounts
from showthrough.inference.giving_way import gave_way
from showthrough.inference.history import ABSENT
from showthrough.inference.nearness import mass_within
from showthrough.inference.proof import Proof
from showthrough.inference.solved import Solved
from showthrough.inference.splitting import changed_frame
from showthrough.numerals import number_of
from showthrough.progress import Progress
from showthrough.register.reader import Reader
from showthrough.register.unfilled import Unfilled
from showthrough.release.release import Release
from showthrough.showing import Showable
from showthrough.table.arrays import Flags, Ints, Reals

Told = Progress | Callable[[str], None] | None  # who is told each stage as it begins


class Solver(Protocol):
    """Where answers come from; a posterior keeps the one that made it, for questions that need another."""

    def part(self, solved: Solved, releases: Sequence[int], clock: Clock | None = None) -> tuple[Solved, Certificate]:
        """The answer from some of the releases alone, by their numbers, within the time of a clock."""
        ...

    def extend(self, solved: Solved, release: Release, progress: Progress) -> tuple[Solved, Certificate]:
        """The answer with one more release."""
        ...

    def consider(self, solved: Solved, draft: Draft, progress: Progress) -> tuple[Solved, Certificate]:
        """The answer with one more release that is not written yet."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Showable):
    """P(value | person) from all releases together; made by `infer`."""

    certificate: Certificate
    _solved: Solved
    _solver: Solver = field(repr=False)

    @property
    def ids(self) -> pl.Series:
        """Everybody, once each; an id that was split stands once for every release that it is in."""
        return self._solved.history.ids

    @property
    def values(self) -> pl.Series:
        """All values that are published or possible, sorted."""
        return self._solved.history.values

    @property
    def names(self) -> tuple[str, ...]:
        """What the releases are called."""
        return tuple(self._solved.history.names[k] for k in self._solved.history.heads)

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that publish values, in order."""
        return tuple(self._solved.history.releases[k] for k in self._solved.history.heads)

    @property
    def reader(self) -> Reader:
        """What is known beside the releases."""
        return self._solved.history.reader

    @cached_property
    def entropy(self) -> float:
        """Σ over persons of the entropy of their row, in nats; of those whose probabilities are a result."""
        pairs, solved = self._solved.pairs, self._solved
        p = np.where(pairs.p > 0, pairs.p, 1.0)
        persons = np.bincount(solved.mine[solved.certified], minlength=solved.problem.signatures)
        return float(-(persons[pairs.signature] * p * np.log(p)).sum()) + 0.0

    @property
    def contradictions(self) -> tuple[ContradictionError, ...]:
        """Why releases contradict each other, island by island; the persons there have no answer."""
        return self._solved.contradictions

    def states(self) -> pl.Series:
        """What everybody's answer is worth, in the order of ``ids``: the status of the island that each is on.

        "exact" and "certified" probabilities are results; of "uncertified" persons a point that meets the counts is
        known, and of "undecided" ones none; "contradictory" ones are in releases that no assignment fits.
        """
        return pl.Series("state", [str(s) for s in STATES], dtype=pl.String).gather(self._solved.states)

    def to_frame(self, *, uncertified: bool = False) -> pl.DataFrame:
        """One row per person and value not proven impossible: id, value, p.

        p is null for persons whose state is neither exact nor certified; with ``uncertified`` it is the best figure
        there is, and a column ``state`` says what it is worth. If ids were split (``changed="split"``) a column
        ``release`` says which part is meant.
        """
        return self._frame(np.arange(self.ids.len()), uncertified=uncertified)

    def by_people(self, rows: int = 250_000) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """`to_frame` and `proven` of some persons at a time, about so many rows, the most exposed first."""
        told, many = facts.listing(self._solved), max(1, rows // max(1, self.values.len()))
        for first in range(0, self.ids.len(), many):
            people = self._solved.by_risk[first : first + many]
            yield self._frame(people), told(people)

    def _frame(self, people: Ints, *, uncertified: bool = False) -> pl.DataFrame:
        solved, pairs = self._solved, np.flatnonzero(self._solved.pairs.alive)
        p, state = pl.Series("p", solved.pairs.p[pairs]), solved.state[solved.pairs.signature[pairs]]
        if uncertified:
            names = pl.Series("state", [str(s) for s in STATES], dtype=pl.String)
            return solved.per_person(pairs, p, names.gather(state), people=people)
        if not solved.certified.all():
            p = pl.DataFrame([p, pl.Series("state", state)]).select(
                pl.when(pl.col("state") <= STATES.index(Status.BELIEVED)).then("p").alias("p")
            )["p"]
        return solved.per_person(pairs, p, people=people)

    def of(self, id: Any, *, release: str | None = None) -> dict[Any, float]:
        """The distribution of one person: value → probability, likeliest first.

        `states` tells whether it is a result.
        """
        signature, pairs = self._solved.locate(id, release)[1], self._solved.pairs
        span = range(int(pairs.start[signature]), int(pairs.start[signature + 1]))
        found = [(self.values[int(pairs.value[k])], float(pairs.p[k])) for k in span if pairs.alive[k]]
        return dict(sorted(found, key=lambda pair: -pair[1]))

    def best(self) -> pl.DataFrame:
        """Everybody's likeliest value: id, value, p, certain; one row per person in the order of ``ids``.

        p is null where it is not a result (see `states`).
        """
        solved = self._solved
        best = solved.pairs.best[solved.mine]
        columns = [
            self.values.gather(solved.pairs.value[best]).alias("value"),
            pl.Series("p", solved.largest).fill_nan(None),
            pl.Series("certain", solved.certain),
        ]
        return pl.DataFrame([*solved.who(np.arange(self.ids.len())), *columns])

    def largest(self) -> Reals:
        """The probability of everybody's likeliest value, in the order of ``ids``; NaN where it is not a result."""
        return self._solved.largest

    def certain(self) -> Flags:
        """Whether a value is proven certain, as an array in the order of ``ids``."""
        return self._solved.certain

    def unsettled(self) -> Flags:
        """Who cannot be called safe, in the order of ``ids``: without an answer, or tied to a guess at who changed."""
        return np.asarray(~self._solved.certified | self._solved.guessed)

    def entropies(self) -> Reals:
        """The entropy of everybody's row in nats, in the order of ``ids``; NaN where it is not a result."""
        return self._solved.entropies

    def expected(self) -> pl.DataFrame:
        """How many persons have each value, as a reader expects: value, persons; of who has a certified answer."""
        return pl.DataFrame([self.values.alias("value"), pl.Series("persons", self._solved.expected)])

    def within(self, epsilon: float, *, above: float = -1.0) -> pl.DataFrame:
        """How likely a person's value lies within ``epsilon`` of a value that it can be: id, value, p.

        For values that are numbers; only rows with more than ``above`` are made, of persons whose probabilities are a
        result (see `states`).
        """
        solved, mass = self._solved, mass_within(self._solved.pairs, self.values, epsilon)
        pairs = np.flatnonzero((mass > above) & solved.pairs.alive & solved.answered[solved.pairs.signature])
        return solved.per_person(pairs, pl.Series("p", mass[pairs]))

    def ranges(self, *, seconds: float = 0.0, within: float | None = None) -> pl.DataFrame:
        """Where the probability of every value that is not proven impossible lies: id, value, low, high, conditional.

        Of certified persons p and its error bar; of uncertified ones what their error bar and their bounds leave, and
        of undecided ones their bounds, sharp as far as ``seconds`` allow. ``conditional`` ranges hold only if the
        releases are consistent, or if the right persons changed. With ``within`` it is the probability that the
        person's value lies so near to the one in the row, for values that are numbers.
        """
        from showthrough.inference.ranges import ranges_frame

        return ranges_frame(self._solved, seconds, within)

    def groups_of(self, release: str, *, people: Flags | None = None) -> pl.DataFrame:
        """The groups of a release in which persons can be: id, group; several rows for who fits several.

        An empty group says that the person may not be in the release; who is not in it has no row.
        ``people`` are flags in the order of ``ids``.
        """
        solved, number = self._solved, self._numbered(release)
        chosen = np.arange(self.ids.len()) if people is None else np.flatnonzero(people)
        owner, group = solved.groups_in(number, chosen)
        inside = np.flatnonzero((group != ABSENT) | (np.bincount(owner, minlength=chosen.size) > 1)[owner])
        labels = solved.history.labels[number]
        gap = pl.concat([labels, pl.Series([None], dtype=labels.dtype)])
        at = np.where(group == ABSENT, labels.len(), group - solved.history.first_group[number])
        return pl.DataFrame([*solved.who(chosen[owner[inside]]), gap.gather(at[inside]).alias("group")])

    def _numbered(self, release: str) -> int:
        if release not in self.names:
            raise InputError(f"There is no release {release!r}: the releases are {', '.join(self.names)}.")
        return self._solved.history.names.index(release)

    def proven(
        self, *, integral: bool = False, seconds: float = 60.0, tick: Callable[[], None] = lambda: None
    ) -> pl.DataFrame:
        """What is proven, as id, value, fact ("certain" or "impossible") and by ("sets" or "counts").

        Where somebody is undecided, or located by a guess (the nearest centroid), a column ``conditional`` tells facts
        that hold only if the releases are consistent, or if the guess is right. Every certain pair, and every
        impossible pair whose value stands in one of the person's groups. With ``integral`` also what no assignment of
        whole values allows (by "worlds"); pairs that the time budget left open are listed as "undecided".
        """
        return facts.proven(self._solved, (lambda: facts.by_worlds(self._solved, seconds, tick)) if integral else None)

    def changes(self) -> pl.DataFrame:
        """Who counts as changed: id, release (the first of each person that the id stands for) and why: "told",
        "split" or "tolerated".
        """
        return changed_frame(self._solved.history)

    @property
    def relaxed(self) -> pl.DataFrame:
        """What ``elastic`` had to let give way: statement, by (persons); empty where nothing had to."""
        return gave_way(self._solved)

    def fact_counts(self) -> FactCounts:
        """How many facts `proven` lists, without listing them."""
        return facts.counted(self._solved)

    def worlds(
        self, ids: Iterable[Any] | None = None, *, most_states: int = 1_000_000, seconds: float = 60.0
    ) -> pl.DataFrame:
        """The posterior under "all worlds equally likely": id, value, p, error, by, counts.

        A world gives everybody a whole value and, where persons fit several groups of a release, a seat in one: then an
        assignment of values weighs as many worlds as it has seatings, and ``counts`` says "values and seats", else
        "values". With a prior a world weighs what that makes it. Worlds are counted exactly, component by component, in
        at most ``most_states`` steps (``by`` "counted", ``error`` 0); where that does not suffice they are drawn at
        random (``by`` "sampled"), and ``error`` is half of a 95 % interval. Persons whose component could not be
        sampled in time are left out, or refused if they were asked for.
        """
        from showthrough.inference.world_frame import worlds_frame  # loads what counts them

        return worlds_frame(self._solved, ids, most_states=most_states, seconds=seconds)

    def explain(
        self, id: Any, value: Any, *, release: str | None = None, most_steps: int | None = None, seconds: float = 10.0
    ) -> Proof:
        """The proof that a value is certain or impossible for a person, by as few counts as are found in ``seconds``.

        Long chains of arguments can be cut short by ``most_steps``, which raises `LongProofError`.
        """
        return explain(self._solved, id, value, release, most_steps, seconds)

    def bounds(
        self,
        ids: Iterable[Any] | None = None,
        *,
        above: float | None = None,
        seconds: float | None = None,
        workers: int = 1,
        progress: Progress | Callable[[int, int], None] = lambda _done, _all: None,
    ) -> pl.DataFrame:
        """The least and greatest possible probability of every value that is not proven impossible:
        id, value, lower, upper.

        With ``seconds`` linear programs make as many bounds sharp as they can in this time (0: none), the others are
        those of propagation and single counts, and a column ``sharp`` tells which are which. Where somebody is
        undecided, located by a guess or was taken for changed, a column ``conditional`` tells bounds that hold only if
        the releases are consistent, the guess is right, or the right persons changed. In releases that contradict each
        other anybody may have any probability of any value. For everybody, for the given ids, or for persons whose
        likeliest value has at least the probability ``above``, or no certified one. With several ``workers``
        (processes) call it from a script whose start is guarded by ``if __name__ == "__main__"``.
        """
        from showthrough.inference.bounds import bounds_frame  # loads what several processes need

        people = self._solved.called(ids)
        if above is not None:
            people = people[~(self._solved.largest[people] < above)]
        return bounds_frame(self._solved, people, seconds, workers, progress)

    def cells(self, release: str | None = None, *, seconds: float | None = None) -> pl.DataFrame:
        """How many persons each published count can stand for: release, cell, value, published_lower, published_upper,
        lower, upper, sharp.

        What all tables, their totals and the register say together of counts that are hidden or rounded. With
        ``seconds`` programs make as many ends sharp as they can in this time. In contradictions there are none.
        """
        from showthrough.inference.cell_bounds import cells_frame  # loads the linear-programming library

        return cells_frame(self._solved, seconds, None if release is None else self._numbered(release))

    def locatability(self, truth: Mapping[str, Any] | None = None) -> pl.DataFrame | None:
        """How many persons of the register fit one, several or no group of each release, and why none.

        Only for releases whose persons were located by quasi-identifiers; None if there are none.
        ``truth`` maps the name of such a release to a frame of id and group (the publisher's own link,
        for example) and adds ``own``, the persons of a row whose own group is among the groups they fit,
        and ``own_share``, their share of the register's persons who are in the release: in the row "one
        group" the share located uniquely and rightly, over all rows the share with the own group among
        the candidates.
        """
        found = zip(self._solved.history.names, self._solved.history.locatability, strict=False)
        reports = {name: frame for name, frame in found if frame is not None}
        if truth is not None:
            from showthrough.register.truth import beside_truth

            return beside_truth(reports, [*zip(self.names, self.releases, strict=True)], self.reader.register, truth)
        return pl.concat(reports.values()) if reports else None

    def unfilled(self) -> tuple[Unfilled, ...]:
        """The rows of each release that nobody of the register fits, with a guess at the cause; none most often."""
        return self._solved.history.unfilled

    def extend(self, release: Release, *, progress: Told = None) -> Posterior:
        """The posterior with one more release; only what the release touches is solved again."""
        solved, certificate = self._solver.extend(self._solved, release, Progress.of(progress))
        return Posterior(certificate, solved, self._solver)

    def considering(self, draft: Draft, *, progress: Told = None) -> Posterior:
        """The posterior with one more release that is not written yet, as somebody would have who knows the groups."""
        solved, certificate = self._solver.consider(self._solved, draft, Progress.of(progress))
        return Posterior(certificate, solved, self._solver)

    def alone(self, *, seconds: float | None = None, progress: Told = None) -> Alone:
        """What each release tells by itself: largest probability and entropy by release and person.

        Where persons fit several groups that takes inferences, of ``seconds`` in all.
        """
        return attribution.alone(self.views(seconds=seconds, progress=progress))

    def attribution(self, *, progress: Told = None) -> pl.DataFrame:
        """What each release added: id, release, p_before and p_after, the person's largest probability
        from the releases before it and from those up to it (null before: the person was in none).
        """
        return attribution.by_prefix(self.views(), Progress.of(progress))

    def leave_one_out(self, *, progress: Told = None) -> pl.DataFrame:
        """What each release is worth to a reader: id, release, p_without and p_with."""
        return attribution.leave_one_out(self.views(), Progress.of(progress))

    def smallest_sets(self, *, most_runs: int = 200) -> pl.DataFrame:
        """The fewest releases that make a person certain: id, value, releases, smallest.

        ``smallest`` is False where ``most_runs`` inferences did not suffice to try all smaller sets; the
        set is then one from which no release can be left out.
        """
        return attribution.smallest_sets(self.views(), most_runs=most_runs)

    def channels(self) -> pl.DataFrame:
        """Between which releases inference channels exist: first, second, channel, persons, largest_change
        (Wang, Zhu, Du, Teng, Definition 2.2).
        """
        return attribution.channels(self.views())

    def as_dict(self) -> dict[str, Any]:
        """Counts only, as plain data for JSON."""
        return {
            "releases": list(self.names),
            "persons": self.ids.len(),
            "values": self.values.len(),
            "entropy_nats": self.entropy,
            "facts": asdict(self.fact_counts()),
            "certificate": self.certificate.as_dict(),
        }

    def __repr__(self) -> str:
        c = self.certificate
        lead = f"<posterior of {number_of(c.persons, 'person')} from {number_of(c.releases, 'release')}"
        return f"{lead}: {c.proven_ones} certain, entropy {self.entropy:.6f} nats, {c.status}>"

    def views(self, *, seconds: float | None = None, progress: Told = None) -> Views:
        """How to get the answers from some of the releases alone, in ``seconds`` for all of them."""
        clock = None if seconds is None else Clock(seconds, Progress.of(progress).silent())
        return Views(self._solved, lambda some: self._solver.part(self._solved, some, clock)[0])
