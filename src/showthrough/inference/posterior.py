"""The posterior: P(value | person) with everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import NotProvenError, UnknownPersonError
from showthrough.inference.arrays import Ints, Reals
from showthrough.inference.certificate import Certificate
from showthrough.inference.explain import arguments, arguments_for_certain, excluded_by_counts
from showthrough.inference.face import Face
from showthrough.inference.history import ABSENT, History
from showthrough.inference.narrate import Narrator, listed
from showthrough.inference.problem import Problem
from showthrough.inference.proof import Proof


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
        p = np.where(self.x > 0, self.x, 1.0)
        return float(-(self.problem.weight[self.problem.signature] * p * np.log(p)).sum()) + 0.0

    def to_frame(self) -> pl.DataFrame:
        """One row per person and value not proven impossible: id, value, p.

        If ids were split (``changed="split"``) a column ``release`` says which part is meant.
        """
        variables = np.flatnonzero(self.face.alive)
        return self._per_person(variables, pl.Series("p", self.x[variables]))

    def of(self, id: Any, *, release: str | None = None) -> dict[Any, float]:
        """The distribution of one person: value → probability, likeliest first."""
        span = self._span(self._signature(id, release))
        pairs = [
            (self.history.values[int(self.problem.value[v])], float(self.x[v])) for v in span if self.face.alive[v]
        ]
        return dict(sorted(pairs, key=lambda pair: -pair[1]))

    def proven(self) -> pl.DataFrame:
        """Every certain pair, and every impossible pair whose value stands in one of the person's
        groups: id, value, fact ("certain" or "impossible"), by ("sets" or "counts").
        """
        problem, alive = self.problem, self.face.alive
        size = np.diff(problem.start)
        alone = alive & (self.face.choices() == 1)[problem.signature]
        by_sets = alone & (size == 1)[problem.signature]
        parts = []
        for variables, fact, by in (
            (by_sets, "certain", "sets"),
            (alone & ~by_sets, "certain", "counts"),
            (~alive, "impossible", "counts"),
        ):
            at = np.flatnonzero(variables)
            parts.append(self._facts(problem.signature[at], problem.value[at], fact, by))
        parts.append(self._facts(*self._outside_mcs(), "impossible", "sets"))
        frame = pl.concat(parts).sort("_person", "fact", "value", maintain_order=True)
        return frame.drop("_person")

    def explain(self, id: Any, value: Any, *, release: str | None = None) -> Proof:
        """The proof that a value is certain or impossible for a person."""
        signature = self._signature(id, release)
        code = self._value_code(value)
        span = self._span(signature)
        own = [v for v in span if self.problem.value[v] == code]
        removed = excluded_by_counts(self.face, signature)
        open_values = [v for v in span if self.face.alive[v]]
        part = self._split_part(id, release)
        if not own:
            return self._proof(id, value, "impossible", "sets", (), self._missing_in(signature, code), part)
        if own[0] in removed:
            steps = arguments(self.face, self._narrator, own)
            return self._proof(id, value, "impossible", "counts", steps, "", part)
        if open_values != own:
            raise NotProvenError(
                f"{value} is neither certain nor impossible for {id}: P = {self.x[own[0]]:.6g}.",
                shareable="The value is neither certain nor impossible for this person.",
            )
        if not removed:
            return self._proof(id, value, "certain", "sets", (), self._only_common(signature), part)
        steps = arguments_for_certain(self.face, self._narrator, own[0], removed)
        straight = {row.value for row in steps[-1].rows} == {self.history.values[code]}
        reason = "" if straight else self._others_excluded(signature, removed)
        return self._proof(id, value, "certain", "counts", steps, reason, part)

    def bounds(self, ids: Iterable[Any] | None = None, *, tick: Callable[[], None] = lambda: None) -> pl.DataFrame:
        """The least and greatest possible probability of every value that is not proven impossible:
        id, value, lower, upper; for all persons, or those with the given ids.
        """
        from showthrough.inference.bounds import bounds

        if ids is None:
            people = np.arange(self.history.persons)
        else:
            people = np.concatenate([self._people(i) for i in ids] or [np.empty(0, dtype=np.int64)])
        asked = np.unique(self.of_person[people])
        variables, lower, upper = bounds(self.face, asked, tick=tick)
        return self._per_person(variables, pl.Series("lower", lower), pl.Series("upper", upper), people=people)

    def __repr__(self) -> str:
        c = self.certificate
        return (
            f"<posterior of {c.persons} persons from {c.releases} releases: {c.proven_ones} certain, "
            f"entropy {self.entropy:.6f} nats, {c.status}>"
        )

    @cached_property
    def _narrator(self) -> Narrator:
        return Narrator(self.history, self.problem, self.of_person)

    def _proof(self, id: Any, value: Any, fact: str, by: str, steps: Any, reason: str, part: int | None) -> Proof:
        changed = "refuse" if self.history.split_release is None else "split"
        return Proof(id, value, fact, by, steps, reason, self.history.names, changed, part)

    def _per_person(self, variables: Ints, *columns: pl.Series, people: Ints | None = None) -> pl.DataFrame:
        """Spread columns over (sorted) variables to the persons of their signatures."""
        people = np.arange(self.history.persons) if people is None else people
        owner = self.problem.signature[variables]
        size = np.bincount(owner, minlength=self.problem.signatures)
        first = np.cumsum(size) - size
        mine = self.of_person[people]
        length = size[mine]
        offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        at = np.repeat(first[mine], length) + offset
        person = np.repeat(people, length)
        values = self.history.values.gather(self.problem.value[variables][at])
        return pl.DataFrame([*self._who(person), values.alias("value"), *(c.gather(at) for c in columns)])

    def _who(self, person: Ints) -> list[pl.Series]:
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
        first = np.searchsorted(signature, self.of_person)
        length = np.searchsorted(signature, self.of_person, side="right") - first
        offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        person = np.repeat(np.arange(self.history.persons), length)
        at = np.repeat(first, length) + offset
        return pl.DataFrame(
            [
                *self._who(person),
                self.history.values.gather(value[at]).alias("value"),
                pl.repeat(fact, person.size, dtype=pl.String, eager=True).alias("fact"),
                pl.repeat(by, person.size, dtype=pl.String, eager=True).alias("by"),
                pl.Series("_person", person),
            ]
        )

    def _outside_mcs(self) -> tuple[Ints, Ints]:
        """(signature, value) for values of a signature's groups that are not common to all of them."""
        h, problem = self.history, self.problem
        span = h.values.len()
        seen = []
        for own in problem.groups:
            here = np.flatnonzero(own != ABSENT)
            length = np.diff(h.group_rows)[own[here]]
            offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
            row = np.repeat(h.group_rows[own[here]], length) + offset
            seen.append(np.repeat(here, length) * span + h.row_value[row])
        inside = problem.signature * span + problem.value
        outside = np.setdiff1d(np.concatenate(seen), inside)
        return outside // span, outside % span

    def _missing_in(self, signature: int, code: int) -> str:
        h = self.history
        for group in (int(g) for g in self.problem.groups[:, signature] if g != ABSENT):
            values = h.values_in(group)
            if h.values[code] not in values:
                where = self._narrator.groups([group])
                return f"{h.values[code]} is not among the values of {where}, where this person is: {listed(values)}."
        raise AssertionError("a value outside the common subset is missing in some group")

    def _groups_in_words(self, signature: int) -> str:
        groups = [int(g) for g in self.problem.groups[:, signature] if g != ABSENT]
        return listed(self._narrator.groups([g]) for g in groups)

    def _only_common(self, signature: int) -> str:
        where = self._groups_in_words(signature)
        several = (self.problem.groups[:, signature] != ABSENT).sum() > 1
        return f"It is the only value {'common to' if several else 'of'} {where}, where this person is."

    def _others_excluded(self, signature: int, removed: list[int]) -> str:
        where = self._groups_in_words(signature)
        common = [self.history.values[int(self.problem.value[v])] for v in self._span(signature)]
        gone = [self.history.values[int(self.problem.value[v])] for v in removed]
        return (
            f"This person is in {where}, so only {listed(common, joint='or')} are possible; "
            f"{listed(gone)} {'are' if len(gone) > 1 else 'is'} excluded by the counts above."
        )

    def _span(self, signature: int) -> range:
        return range(int(self.problem.start[signature]), int(self.problem.start[signature + 1]))

    def _value_code(self, value: Any) -> int:
        found = _positions(self.history.values, value)
        if not found.size:
            raise UnknownPersonError(f"No release publishes the value {value!r}.")
        return int(found[0])

    def _people(self, id: Any) -> Ints:
        found = _positions(self.history.ids, id)
        if not found.size:
            raise UnknownPersonError(f"No release holds a person {id!r}.", shareable="No release holds this person.")
        return found

    def _signature(self, id: Any, release: str | None) -> int:
        people = self._people(id)
        part = self._split_part(id, release)
        if part is not None and self.history.split_release is not None:
            people = people[self.history.split_release[people] == part]
        return int(self.of_person[people[0]])

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
    except (TypeError, pl.exceptions.PolarsError):
        return np.empty(0, dtype=np.int64)
