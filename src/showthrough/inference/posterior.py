"""The posterior: P(value | person) with everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import UnknownPersonError, UnknownValueError
from showthrough.inference.certificate import Certificate
from showthrough.inference.explain import explain
from showthrough.inference.face import Face
from showthrough.inference.history import ABSENT, History
from showthrough.inference.narrate import Narrator
from showthrough.inference.pairs import Pairs, added
from showthrough.inference.problem import Problem
from showthrough.inference.proof import Proof
from showthrough.release.release import Release
from showthrough.table.arrays import Flags, Ints, Reals


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """P(value | person) from all releases together; made by `infer`."""

    history: History
    problem: Problem
    of_person: Ints  # [n] the signature of each person
    face: Face
    x: Reals  # [v] the answer per variable
    mu: Reals  # [rows] its multipliers
    certificate: Certificate

    @cached_property
    def entropy(self) -> float:
        """Σ over persons of the entropy of their row, in nats."""
        pairs = self.pairs
        p = np.where(pairs.p > 0, pairs.p, 1.0)
        persons = np.bincount(self.of_person[: self.history.named], minlength=self.problem.signatures)
        return float(-(persons[pairs.signature] * p * np.log(p)).sum()) + 0.0

    @cached_property
    def pairs(self) -> Pairs:
        """One entry per signature and value, whatever the seat."""
        return Pairs.of(self.face, self.x)

    def to_frame(self) -> pl.DataFrame:
        """One row per person and value not proven impossible: id, value, p.

        If ids were split (``changed="split"``) a column ``release`` says which part is meant.
        """
        pairs = np.flatnonzero(self.pairs.alive)
        return self._per_person(pairs, pl.Series("p", self.pairs.p[pairs]))

    def of(self, id: Any, *, release: str | None = None) -> dict[Any, float]:
        """The distribution of one person: value → probability, likeliest first."""
        signature, pairs = self.locate(id, release)[1], self.pairs
        span = range(int(pairs.start[signature]), int(pairs.start[signature + 1]))
        found = [(self.history.values[int(pairs.value[k])], float(pairs.p[k])) for k in span if pairs.alive[k]]
        return dict(sorted(found, key=lambda pair: -pair[1]))

    def proven(
        self, *, integral: bool = False, seconds: float = 60.0, tick: Callable[[], None] = lambda: None
    ) -> pl.DataFrame:
        """What is proven, as id, value, fact ("certain" or "impossible") and by ("sets" or "counts").

        Every certain pair, and every impossible pair whose value stands in one of the person's groups.
        With ``integral`` also what no assignment of whole values allows (by "worlds"); pairs that the
        time budget left open are listed as "undecided".
        """
        pairs = self.pairs
        alone = pairs.alive & (pairs.left() == 1)[pairs.signature]
        by_sets = alone & (np.diff(pairs.start) == 1)[pairs.signature]
        kinds = [
            (by_sets, "certain", "sets"),
            (alone & ~by_sets, "certain", "counts"),
            (~pairs.alive, "impossible", "counts"),
        ]
        if integral:
            kinds += self._integral_kinds(seconds, tick)
        parts = [self._facts(pairs.signature[flags], pairs.value[flags], fact, by) for flags, fact, by in kinds]
        parts.append(self._facts(*self.outside_common(), "impossible", "sets"))
        return pl.concat(parts).sort("_person", "fact", "value", maintain_order=True).drop("_person")

    def worlds(self, ids: Iterable[Any] | None = None, *, most_states: int = 200_000) -> pl.DataFrame:
        """The posterior under "all assignments of whole values equally likely": id, value, p.

        Counted exactly, component by component. Persons whose component takes more than ``most_states``
        steps are left out, or refused if they were asked for.
        """
        from showthrough.inference.integral import world_shares

        people = self._asked(ids)
        shares = world_shares(self.face, self.of_person[people], most_states=most_states, refuse=ids is not None)
        shares = added(self.face, shares)
        counted = np.flatnonzero(~np.isnan(shares) & self.pairs.alive)
        known = np.isin(self.of_person[people], self.pairs.signature[counted])
        return self._per_person(counted, pl.Series("p", shares[counted]), people=people[known])

    def explain(self, id: Any, value: Any, *, release: str | None = None, most_steps: int | None = None) -> Proof:
        """The proof that a value is certain or impossible for a person.

        Long chains of arguments can be cut short by ``most_steps``, which raises `LongProofError`.
        """
        return explain(self, id, value, release, most_steps)

    def bounds(
        self,
        ids: Iterable[Any] | None = None,
        *,
        above: float | None = None,
        workers: int = 1,
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> pl.DataFrame:
        """The least and greatest possible probability of every value that is not proven impossible:
        id, value, lower, upper.

        For everybody, for the given ids, or for persons whose likeliest value has at least the
        probability ``above``. With several ``workers`` (processes) call it from a script whose start is
        guarded by ``if __name__ == "__main__"``.
        """
        from showthrough.inference.bounds import bounds

        people = self._asked(ids)
        if above is not None:
            top = self.pairs.p[self.pairs.best]
            people = people[top[self.of_person[people]] >= above]
        asked = np.unique(self.of_person[people])
        lower, upper = bounds(self.face, self.pairs, asked, workers=workers, progress=progress)
        wanted = np.flatnonzero(self.pairs.alive & np.isin(self.pairs.signature, asked))
        columns = pl.Series("lower", lower[wanted]), pl.Series("upper", upper[wanted])
        return self._per_person(wanted, *columns, people=people)

    def locatability(self, truth: Mapping[str, Any] | None = None) -> pl.DataFrame | None:
        """How many persons of the register fit one, several or no group of each release, and why none.

        Only for releases whose persons were located by quasi-identifiers; None if there are none.
        ``truth`` maps the name of such a release to a frame of id and group (the publisher's own link,
        for example) and adds ``own``, the persons of a row whose own group is among the groups they fit,
        and ``own_share``, their share of the register's persons who are in the release: in the row "one
        group" the share located uniquely and rightly, over all rows the share with the own group among
        the candidates.
        """
        h = self.history
        reports = {name: frame for name, frame in zip(h.names, h.located, strict=False) if frame is not None}
        if truth is not None:
            from showthrough.register.truth import beside_truth

            return beside_truth(reports, list(zip(h.names, h.releases, strict=True)), h.given.register, truth)
        return pl.concat(reports.values()) if reports else None

    def extend(self, release: Release, *, progress: Callable[[str], None] | None = None) -> Posterior:
        """The posterior with one more release; only what the release touches is solved again."""
        from showthrough.inference.increment import extend

        return extend(self, release, progress=progress)

    def attribution(self, *, progress: Callable[[str], None] | None = None) -> pl.DataFrame:
        """What each release added: id, release, p_before and p_after, the person's largest probability
        from the releases before it and from those up to it (null before: the person was in none).
        """
        from showthrough.inference.attribution import by_prefix

        return by_prefix(self, progress=progress)

    def leave_one_out(self, *, progress: Callable[[str], None] | None = None) -> pl.DataFrame:
        """What each release is worth to a reader: id, release, p_without and p_with."""
        from showthrough.inference.attribution import leave_one_out

        return leave_one_out(self, progress=progress)

    def smallest_sets(self, *, most_runs: int = 200) -> pl.DataFrame:
        """The fewest releases that make a person certain: id, value, releases, smallest.

        ``smallest`` is False where ``most_runs`` inferences did not suffice to try all smaller sets; the
        set is then one from which no release can be left out.
        """
        from showthrough.inference.attribution import smallest_sets

        return smallest_sets(self, most_runs=most_runs)

    def channels(self) -> pl.DataFrame:
        """Between which releases inference channels exist: first, second, channel, persons, largest_change
        (Wang, Zhu, Du, Teng, Definition 2.2).
        """
        from showthrough.inference.attribution import channels

        return channels(self)

    def __repr__(self) -> str:
        c = self.certificate
        return (
            f"<posterior of {c.persons} persons from {c.releases} releases: {c.proven_ones} certain, "
            f"entropy {self.entropy:.6f} nats, {c.status}>"
        )

    @cached_property
    def narrator(self) -> Narrator:
        """Tells weighings of this history in words."""
        return Narrator(self.history, self.problem, self.of_person)

    def _per_person(self, pairs: Ints, *columns: pl.Series, people: Ints | None = None) -> pl.DataFrame:
        """Spread columns over (sorted) pairs to the persons of their signatures."""
        people = np.arange(self.history.named) if people is None else people
        owner = self.pairs.signature[pairs]
        size = np.bincount(owner, minlength=self.problem.signatures)
        first = np.cumsum(size) - size
        mine = self.of_person[people]
        length = size[mine]
        offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        at = np.repeat(first[mine], length) + offset
        person = np.repeat(people, length)
        values = self.history.values.gather(self.pairs.value[pairs][at])
        return pl.DataFrame([*self.who(person), values.alias("value"), *(c.gather(at) for c in columns)])

    def who(self, person: Ints) -> list[pl.Series]:
        """The columns that name persons: id, and release where ids were split."""
        columns = [self.history.ids.gather(person).alias("id")]
        if self.history.split_release is not None:
            names = pl.Series([*self.history.names, None], dtype=pl.String)
            part = self.history.split_release[person]
            columns.append(names.gather(np.where(part == ABSENT, len(self.history.names), part)).alias("release"))
        return columns

    def _facts(self, signature: Ints, value: Any, fact: str, by: str) -> pl.DataFrame:
        """Facts about signatures as facts about their persons."""
        order = np.argsort(signature, kind="stable")
        signature, value = signature[order], value[order]
        mine = self.of_person[: self.history.named]
        first = np.searchsorted(signature, mine)
        length = np.searchsorted(signature, mine, side="right") - first
        offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        person = np.repeat(np.arange(self.history.named), length)
        at = np.repeat(first, length) + offset
        return pl.DataFrame(
            [
                *self.who(person),
                self.history.values.gather(value[at]).alias("value"),
                pl.repeat(fact, person.size, dtype=pl.String, eager=True).alias("fact"),
                pl.repeat(by, person.size, dtype=pl.String, eager=True).alias("by"),
                pl.Series("_person", person),
            ]
        )

    def outside_common(self) -> tuple[Ints, Ints]:
        """(signature, value) for values of a signature's groups that are not common to all of a seat."""
        h, problem = self.history, self.problem
        span = h.values.len()
        seen = []
        for own in problem.groups:
            here = np.flatnonzero(own != ABSENT)
            length = np.diff(h.group_rows)[own[here]]
            offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
            row = np.repeat(h.group_rows[own[here]], length) + offset
            seen.append(np.repeat(problem.owner[here], length) * span + h.row_value[row])
        inside = self.pairs.signature * span + self.pairs.value
        outside = np.setdiff1d(np.concatenate(seen), inside)
        return outside // span, outside % span

    def span(self, signature: int) -> range:
        """The variables of a signature."""
        return range(int(self.problem.start[signature]), int(self.problem.start[signature + 1]))

    def value_code(self, value: Any) -> int:
        """The code of a published value."""
        found = _positions(self.history.values, value)
        if not found.size:
            raise UnknownValueError(f"No release publishes the value {value!r}.")
        return int(found[0])

    def _asked(self, ids: Iterable[Any] | None) -> Ints:
        """The persons with the given ids, or everybody."""
        if ids is None:
            return np.arange(self.history.named)
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            ids = [ids]  # one person
        return np.concatenate([self._people(i) for i in ids] or [np.empty(0, dtype=np.int64)])

    def _integral_kinds(self, seconds: float, tick: Callable[[], None]) -> list[tuple[Flags, str, str]]:
        """What whole values add: impossible, undecided and newly certain variables."""
        from showthrough.inference.integral import decide

        found, pairs = decide(self.face, seconds=seconds, tick=tick), self.pairs
        shown = added(self.face, (self.face.alive & ~found.impossible & ~found.undecided).astype(np.float64)) > 0
        left = added(self.face, (self.face.alive & ~found.impossible).astype(np.float64)) > 0
        choices = np.add.reduceat(left.astype(np.int64), pairs.start[:-1])
        certain = left & (choices == 1)[pairs.signature] & (pairs.left() > 1)[pairs.signature]
        return [
            (certain, "certain", "worlds"),
            (pairs.alive & ~left, "impossible", "worlds"),
            (left & ~shown & ~certain, "undecided", "worlds"),
        ]

    def published_id(self, id: Any) -> Any:
        """An id as the history holds it: 14 finds "14"."""
        return self.history.ids[int(self._people(id)[0])]

    def _people(self, id: Any) -> Ints:
        found = _positions(self.history.ids, id)
        if not found.size:
            raise UnknownPersonError(f"No release holds a person {id!r}.", shareable="No release holds this person.")
        return found

    def locate(self, id: Any, release: str | None = None) -> tuple[int | None, int]:
        """The part of a split id that is meant (None for everybody else), and the signature."""
        people = self._people(id)
        part = self._split_part(id, release)
        if part is not None and self.history.split_release is not None:
            people = people[self.history.split_release[people] == part]
        return part, int(self.of_person[people[0]])

    def _split_part(self, id: Any, release: str | None) -> int | None:
        """The release that tells the parts of a split id apart; None for everybody else."""
        split = self.history.split_release
        people = self._people(id)
        if split is None or split[people[0]] == ABSENT:
            return None
        names = [self.history.names[int(split[p])] for p in people]
        if release not in names:
            raise UnknownPersonError(
                f"{id!r} stands for one person per release: give release= one of {', '.join(names)}."
            )
        return self.history.names.index(release)


def _positions(column: pl.Series, entry: Any) -> Ints:
    """Where ``entry`` stands in a column; a number finds the same number written as text."""
    if column.dtype == pl.String and not isinstance(entry, str):
        entry = str(entry)
    try:
        return np.asarray((column == entry).arg_true().to_numpy(), dtype=np.int64)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return np.empty(0, dtype=np.int64)
