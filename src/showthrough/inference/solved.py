"""A history with its answer, in arrays: what every question to a posterior is answered from.

`Posterior` is what users ask; this is what it knows. Nothing outside the inference room looks in here.
Legend: n persons with an id, m signatures, pairs (signature, value) as in `Pairs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.errors import ContradictionError, UnknownPersonError, UnknownValueError
from showthrough.inference.certificate import STATES, Status
from showthrough.inference.clock import Clock
from showthrough.inference.face import Face
from showthrough.inference.history import ABSENT, History
from showthrough.inference.intervals import Intervals, Narrowing, narrow
from showthrough.inference.islands import labelled
from showthrough.inference.narrate import Narrator
from showthrough.inference.pairs import Pairs
from showthrough.inference.problem import Problem
from showthrough.register.relaxing import guessed
from showthrough.release.release import Release
from showthrough.said import private
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by
from showthrough.table.ragged import items_of, ranges, starts

_INTERVALS = 10.0  # seconds after which quick bounds are as narrow as they have become


class Settles(Protocol):
    """Tells which facts hold whoever changed."""

    def impossible(self, signature: Ints, value: Codes | Ints) -> Flags:
        """Whether nobody of a signature has a value, whoever changed."""
        ...

    def certain(self, signature: Ints, value: Codes | Ints) -> Flags:
        """Whether everybody of a signature has a value, whoever changed."""
        ...


@dataclass(frozen=True, eq=False)
class Doubts:
    """What hangs on who was taken for changed."""

    touched: Flags  # [m] signatures tied to somebody who was
    firm: Settles


@dataclass(frozen=True, eq=False)
class Solved:
    """The history, its problem, and the answer on the face that was proven."""

    history: History
    problem: Problem
    of_person: Ints  # the signature of each person, those with an id first
    face: Face
    x: Reals  # the answer per variable
    mu: Reals  # the multiplier of each row
    state: Ints  # [m] the number of its island's status
    contradictions: tuple[ContradictionError, ...] = ()
    doubts: Doubts | None = None
    unweighed: Solved | None = None  # the answer before noisy counts weighed in; None: they did not
    gap: Reals | None = None  # [m] what its island can be short of the most entropy, in nats; None: nothing

    @cached_property
    def guessed(self) -> Flags:
        """[n] who is tied to somebody that had to be taken for changed: a guess, so that nothing is safe."""
        none = np.zeros(self.history.named, dtype=bool)
        return none if self.doubts is None else self.doubts.touched[self.mine]

    def hangs(self, signature: Ints, value: npt.NDArray[np.integer], *, certain: bool) -> Flags:
        """Whether facts of pairs hold only if the releases are consistent, or a guess at groups or changes is right."""
        found = (self.conditional | self.located_by_guess)[signature]
        if self.doubts is None:
            return found
        firm = self.doubts.firm.certain if certain else self.doubts.firm.impossible
        return np.asarray(found | ~firm(signature, value.astype(np.int64)))

    @cached_property
    def states(self) -> Ints:
        """[n] the number of everybody's status, in the order of STATES."""
        return self.state[self.mine]

    @cached_property
    def certified(self) -> Flags:
        """[n] whose probabilities are a result."""
        return self.answered[self.mine]

    @cached_property
    def answered(self) -> Flags:
        """[m] signatures whose probabilities are a result."""
        return np.asarray(self.state <= STATES.index(Status.BELIEVED))

    @cached_property
    def consistent(self) -> Flags:
        """[m] signatures on islands of which a point that meets the counts is known: their facts are proven."""
        return np.asarray(self.state <= STATES.index(Status.UNCERTIFIED))

    @cached_property
    def conditional(self) -> Flags:
        """[m] signatures whose facts hold if the releases are consistent, of which nothing is known."""
        return np.asarray(self.state == STATES.index(Status.UNDECIDED))

    @cached_property
    def located_by_guess(self) -> Flags:
        """[m] signatures tied to releases in which persons are taken to be in the group with a near centroid."""
        h, found = self.history, np.zeros(self.problem.signatures, dtype=bool)
        written = [k for k, r in enumerate(h.releases) if isinstance(r, Release)]  # a draft has ids
        by_guess = [k for k in written if guessed(h.reader, h.releases[k], h.names[k])]
        if by_guess:
            island = labelled(self.problem)
            own = np.concatenate([island.group[h.first_group[k] : h.first_group[k + 1]] for k in by_guess])
            found = np.isin(island.signature, own)
        return found

    @cached_property
    def _narrowing(self) -> Narrowing:
        return Narrowing(self.face)

    def intervals(self, clock: Clock) -> Intervals:
        """How many persons of each signature can have each value, by propagation and single rows.

        What an earlier call found is not looked for again, and a later one may find more.
        """
        return self._narrowing.within(clock.at_most(min(_INTERVALS, clock.left() / 2)))

    @cached_property
    def hanging(self) -> Flags:
        """[m] signatures of which nothing holds without an if: they may contradict, or are tied to a guess."""
        return self.conditional if self.doubts is None else np.asarray(self.conditional | self.doubts.touched)

    @cached_property
    def speaking(self) -> Flags:
        """[m] signatures on islands that are not known to contradict."""
        return np.asarray(self.consistent | self.conditional)

    def unless_contradicted(self, lower: Reals, upper: Reals) -> tuple[Reals, Reals]:
        """[pairs] bounds, but any probability where releases contradict each other."""
        nothing = ~self.speaking[self.pairs.signature]
        return np.where(nothing, 0.0, lower), np.where(nothing, 1.0, upper)

    def bounded(self, clock: Clock) -> Flags:
        """[n] who has a value in all their groups whose bounds are narrower than [0, 1] without any program."""
        lower, upper = self.intervals(clock).per_person(self.face, self.pairs)
        return narrow(self.pairs, *self.unless_contradicted(lower, upper))[self.mine]

    @cached_property
    def pairs(self) -> Pairs:
        """One entry per signature and value."""
        return Pairs.of(self.face, self.x)

    @cached_property
    def told(self) -> Flags:
        """[pairs] values that are impossible only with what statements say."""
        return self.face.leans_on_statements(np.arange(self.pairs.value.size)) & ~self.pairs.alive

    @cached_property
    def mine(self) -> Ints:
        """[n] the signature of each person with an id."""
        return self.of_person[: self.history.named]

    @cached_property
    def persons(self) -> Ints:
        """[m] how many persons with an id each signature has."""
        return np.bincount(self.mine, minlength=self.problem.signatures)

    @cached_property
    def narrator(self) -> Narrator:
        """Tells weighings of this history in words."""
        return Narrator(self.history, self.problem, self.of_person)

    @cached_property
    def largest(self) -> Reals:
        """[n] the probability of everybody's likeliest value; NaN where it is not a result."""
        found = self.pairs.p[self.pairs.best][self.mine]
        return found if self.certified.all() else np.where(self.certified, found, np.where(self.certain, 1.0, np.nan))

    @cached_property
    def certain(self) -> Flags:
        """[n] whether one value alone is left, and that is proven."""
        found: Flags = (self.sure & ~self.perhaps)[self.mine]
        return found

    @cached_property
    def by_risk(self) -> Ints:
        """[n] everybody's place, the most exposed first: certain, without an answer, then by the likeliest value."""
        risk = np.where(self.certain, 3.0, np.nan_to_num(self.largest, nan=2.0))
        return np.argsort(-risk, kind="stable")

    @cached_property
    def sure(self) -> Flags:
        """[m] signatures of which one value alone is left, on islands that are not known to contradict."""
        return np.asarray((self.pairs.left() == 1) & self.speaking)

    @cached_property
    def perhaps(self) -> Flags:
        """[m] signatures whose only value that is left hangs on something."""
        found = np.zeros(self.problem.signatures, dtype=bool)
        at = np.flatnonzero(self.pairs.alive & self.sure[self.pairs.signature])
        signature = self.pairs.signature[at]
        found[signature] = self.hangs(signature, self.pairs.value[at], certain=True)
        return found

    @cached_property
    def entropies(self) -> Reals:
        """[n] the entropy of everybody's row, in nats; NaN where it is not a result."""
        p = np.where(self.pairs.p > 0, self.pairs.p, 1.0)
        found: Reals = (0.0 - np.add.reduceat(p * np.log(p), self.pairs.start[:-1]))[self.mine]
        return found if self.certified.all() else np.where(self.certified, found, np.nan)

    @cached_property
    def expected(self) -> Reals:
        """[values] how many persons have each value, by the probabilities that are a result."""
        many = np.where(self.answered, self.persons, 0).astype(np.float64)
        nobody = self.history.nobody
        return sum_by(self.pairs.value, self.pairs.p * many[self.pairs.signature], nobody + 1)[:nobody]

    def probability(self, value: int) -> Reals:
        """[n] P(value | person) of one value, by its code."""
        found = np.zeros(self.problem.signatures)
        here = np.flatnonzero(self.pairs.value == value)
        found[self.pairs.signature[here]] = self.pairs.p[here]
        return found[self.mine]

    def parts(self, numbers: Sequence[int] | None = None) -> Codes:
        """[n] the release of a split-off person, by its place (or by ``numbers`` of it), or −1."""
        split = self.history.split_release
        if split is None:
            return np.full(self.history.named, -1, dtype=np.int32)
        places = np.arange(len(self.history.names)) if numbers is None else np.array(numbers)
        return np.where(split == ABSENT, -1, places[split]).astype(np.int32)

    def who(self, person: Ints) -> list[pl.Series]:
        """The columns that name persons: id, and release where ids were split."""
        columns = [self.history.ids.gather(person).alias("id")]
        if self.history.split_release is not None:
            names = pl.Series([*self.history.names, None], dtype=pl.String)
            part = self.history.split_release[person]
            columns.append(names.gather(np.where(part == ABSENT, len(self.history.names), part)).alias("release"))
        return columns

    def per_person(self, pairs: Ints, *columns: pl.Series, people: Ints | None = None) -> pl.DataFrame:
        """Columns of some (sorted) pairs, spread to the persons of their signatures."""
        people = np.arange(self.history.named) if people is None else people
        owner = self.pairs.signature[pairs]
        start = starts(np.bincount(owner, minlength=self.problem.signatures))
        at, size = items_of(start, self.of_person[people])
        person = np.repeat(people, size)
        values = self.history.values.gather(self.pairs.value[pairs][at])
        return pl.DataFrame([*self.who(person), values.alias("value"), *(c.gather(at) for c in columns)])

    def groups_in(self, release: int, people: Ints) -> tuple[Ints, Ints]:
        """The groups in which persons can be in a release: places in ``people``, and groups or ABSENT."""
        h, codes = self.history, self.history.group_of[release, people].astype(np.int64)
        known = int(h.first_group[-1])
        several = codes >= known
        chosen = np.where(several, codes - known, 0)
        length = np.where(several, np.diff(h.set_start)[chosen], 1) if several.any() else np.ones_like(codes)
        owner = np.repeat(np.arange(people.size), length)
        group = codes[owner]
        wide = several[owner]
        group[wide] = h.set_group[ranges(h.set_start[chosen[several]], length[several])]
        return owner, group

    def span(self, signature: int) -> range:
        """The variables of a signature."""
        return range(int(self.problem.start[signature]), int(self.problem.start[signature + 1]))

    def value_code(self, value: Any) -> int:
        """The code of a published value."""
        found = _places(self.history.values, value)
        if not found.size:
            raise UnknownValueError(f"No release publishes {private(f'the value {value!r}', 'this value')}.")
        return int(found[0])

    def published_id(self, id: Any) -> Any:
        """An id as the history holds it: 14 finds "14"."""
        return self.history.ids[int(self._called(id)[0])]

    def called(self, ids: Iterable[Any] | None) -> Ints:
        """The persons with the given ids, or everybody."""
        if ids is None:
            return np.arange(self.history.named)
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            ids = [ids]  # one person
        return np.concatenate([self._called(i) for i in ids] or [np.empty(0, dtype=np.int64)])

    def locate(self, id: Any, release: str | None = None) -> tuple[int | None, int]:
        """The part of a split id that is meant (None for everybody else), and the signature."""
        people, split = self._called(id), self.history.split_release
        if split is None or split[people[0]] == ABSENT:
            return None, int(self.of_person[people[0]])
        names = [self.history.names[int(split[p])] for p in people]
        if release not in names:
            raise UnknownPersonError(
                f"{private(repr(id), 'This id')} stands for one person per release: give release= one of "
                f"{', '.join(names)}."
            )
        part = self.history.names.index(release)
        return part, int(self.of_person[people[split[people] == part][0]])

    def _called(self, id: Any) -> Ints:
        found = _places(self.history.ids, id)
        if not found.size:
            raise UnknownPersonError(f"No release holds {private(f'a person {id!r}', 'this person')}.")
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What was worked out from the answer is worked out again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def _places(column: pl.Series, entry: Any) -> Ints:
    """Where ``entry`` stands in a column; a number finds the same number written as text."""
    if column.dtype == pl.String and not isinstance(entry, str):
        entry = str(entry)
    try:
        return np.asarray((column == entry).arg_true().to_numpy(), dtype=np.int64)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return np.empty(0, dtype=np.int64)
