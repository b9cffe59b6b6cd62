"""The facts of an answer: which values are certain or impossible for whom, and by which argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from showthrough.inference.history import ABSENT
from showthrough.inference.solved import Solved
from showthrough.table.arrays import Flags, Ints
from showthrough.table.ragged import ranges


@dataclass(frozen=True)
class FactCounts:
    """How many persons are certain, and how many pairs (person, value) are impossible.

    ``certain_if_consistent`` are further persons: their releases may contradict, they may be in other groups than
    those with a near centroid, or the wrong ones were taken for changed.
    """

    certain: int
    impossible_by_sets: int
    impossible_by_counts: int
    certain_if_consistent: int = 0
    certain_by_knowledge: int = 0  # of those who are certain
    impossible_by_knowledge: int = 0


def proven(solved: Solved, whole: Callable[[], list[tuple[Flags, str, str]]] | None = None) -> pl.DataFrame:
    """Every certain pair, and every impossible pair whose value stands in one of the person's groups.

    ``whole`` adds what assignments of whole values tell. What is known of releases that contradict each other is
    nothing; where no point that meets the counts is known, or persons are located by a guess, facts are conditional.
    """
    return listing(solved, whole)(np.arange(solved.history.named))


def listing(
    solved: Solved, whole: Callable[[], list[tuple[Flags, str, str]]] | None = None
) -> Callable[[Ints], pl.DataFrame]:
    """The same facts of some persons, by their places, person by person: found once, told as often as asked."""
    pairs = solved.pairs
    known = solved.consistent | solved.conditional
    alone = pairs.alive & ((pairs.left() == 1) & known)[pairs.signature]
    by_sets = alone & (np.diff(pairs.start) == 1)[pairs.signature]
    told = solved.told
    gone = ~pairs.alive & known[pairs.signature]
    by_told = alone & ~by_sets & _by_knowledge(solved)[pairs.signature]
    kinds = [
        (by_sets, "certain", "sets"),
        (alone & ~by_sets & ~by_told, "certain", "counts"),
        (by_told, "certain", "knowledge"),
        (gone & ~told, "impossible", "counts"),
        (gone & told, "impossible", "knowledge"),
        *((flags & known[pairs.signature], fact, by) for flags, fact, by in (whole() if whole else [])),
    ]
    parts = [_Fact.of(solved, pairs.signature[flags], pairs.value[flags], fact, by) for flags, fact, by in kinds]
    signature, value = outside_common(solved)
    kept = known[signature]
    parts.append(_Fact.of(solved, signature[kept], value[kept], "impossible", "sets"))
    hanging = solved.conditional | solved.located_by_guess
    conditional = bool(hanging.any()) or solved.doubts is not None

    def of(people: Ints) -> pl.DataFrame:
        told = [part.of_people(solved, people) for part in parts]
        found = pl.concat(told).sort("_person", "fact", "value", maintain_order=True).drop("_person")
        return found if conditional else found.drop("conditional")

    return of


def counted(solved: Solved) -> FactCounts:
    """The same facts as numbers."""
    pairs, persons = solved.pairs, solved.persons * (solved.consistent & ~solved.located_by_guess)
    gone = np.flatnonzero(~pairs.alive)
    gone = gone[~solved.hangs(pairs.signature[gone], pairs.value[gone], certain=False)]
    return FactCounts(
        certain=int(solved.certain.sum()),
        impossible_by_sets=int(persons[outside_common(solved)[0]].sum()),
        impossible_by_counts=int(persons[pairs.signature[gone[~solved.told[gone]]]].sum()),
        certain_if_consistent=int(solved.persons[solved.perhaps].sum()),
        certain_by_knowledge=int((solved.certain & _by_knowledge(solved)[solved.mine]).sum()),
        impossible_by_knowledge=int(persons[pairs.signature[gone[solved.told[gone]]]].sum()),
    )


def _by_knowledge(solved: Solved) -> Flags:
    """[m] signatures that lost a value only when statements were looked at."""
    return np.bincount(solved.pairs.signature[solved.told], minlength=solved.problem.signatures) > 0


def by_worlds(solved: Solved, seconds: float, tick: Callable[[], None]) -> list[tuple[Flags, str, str]]:
    """What whole values add: impossible, undecided and newly certain pairs."""
    from showthrough.inference.integral import decide  # loads the linear-programming library

    face, pairs = solved.face, solved.pairs
    found = decide(face, seconds=seconds, tick=tick)
    left = face.possible & ~found.impossible
    shown = left & ~found.undecided
    choices = np.add.reduceat(left.astype(np.int64), pairs.start[:-1])
    certain = left & (choices == 1)[pairs.signature] & (pairs.left() > 1)[pairs.signature]
    return [
        (certain, "certain", "worlds"),
        (pairs.alive & ~left, "impossible", "worlds"),
        (left & ~shown & ~certain, "undecided", "worlds"),
    ]


def outside_common(solved: Solved) -> tuple[Ints, Ints]:
    """(signature, value) for values of groups that persons can be in, but not common to all their groups."""
    h, pairs = solved.history, solved.pairs
    entries = h.entries
    span, size = h.nobody + 1, np.diff(entries.start)
    person = np.full(solved.problem.signatures, -1)
    person[solved.mine[::-1]] = np.arange(h.named)[::-1]  # one person speaks for all of a signature
    signature = np.flatnonzero(person >= 0)
    seen: list[npt.NDArray[np.integer]] = [np.empty(0, dtype=np.int64)]
    for release in range(h.group_of.shape[0]):
        owner, group = solved.groups_in(release, person[signature])
        owner, group = owner[group != ABSENT], group[group != ABSENT]
        at = ranges(entries.start[group], size[group])
        seen.append(np.repeat(signature[owner], size[group]) * span + entries.value[at])
    outside = np.setdiff1d(np.concatenate(seen), pairs.signature * span + pairs.value)
    return outside // span, outside % span


@dataclass(frozen=True, eq=False)
class _Fact:
    """Facts of one sort about signatures, in their order."""

    signature: Ints
    value: npt.NDArray[np.integer]
    hangs: Flags
    fact: str
    by: str

    @classmethod
    def of(cls, solved: Solved, signature: Ints, value: npt.NDArray[np.integer], fact: str, by: str) -> _Fact:
        order = np.argsort(signature, kind="stable")
        signature, value = signature[order], value[order]
        return cls(signature, value, solved.hangs(signature, value, certain=fact == "certain"), fact, by)

    def of_people(self, solved: Solved, people: Ints) -> pl.DataFrame:
        """As facts about persons, by their places."""
        mine = solved.mine[people]
        first = np.searchsorted(self.signature, mine)
        length = np.searchsorted(self.signature, mine, side="right") - first
        person = np.repeat(people, length)
        at = ranges(first, length)
        return pl.DataFrame(
            [
                *solved.who(person),
                solved.history.values.gather(self.value[at]).alias("value"),
                pl.repeat(self.fact, person.size, dtype=pl.String, eager=True).alias("fact"),
                pl.repeat(self.by, person.size, dtype=pl.String, eager=True).alias("by"),
                pl.Series("conditional", self.hangs[at], dtype=pl.Boolean),
                pl.Series("_person", person),
            ]
        )
