"""Persons of a giant component: in which signature each is, and, once that is answered, what is known of each.

Both are done part by part by the workers, who alone see ids; the driver hears sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from showthrough.inference.attribution import PartTold
from showthrough.inference.certificate import Status
from showthrough.inference.cluster.giant_layout import sharing_nothing
from showthrough.inference.cluster.giant_part import GiantPart, mapped_array
from showthrough.inference.cluster.giant_some import ReleaseSet, noted
from showthrough.inference.cluster.pieces import ANSWER, FACTS, PEOPLE, keep
from showthrough.inference.history import ABSENT
from showthrough.table.arrays import Codes, Flags, Ints, Reals, sum_by
from showthrough.table.ragged import items_of, owners, ranges

GROUPS = ("code", "largest", "entropy", "row_start", "row_value")
"""What is published of each group, in the order of their numbers: the hash, figures of the release alone, its rows."""


@dataclass(frozen=True)
class PeopleOf:
    """Where the persons of a part lie, in how many releases, and where groups are told.

    With ``split`` an id whose groups share no value is one person per release, as are those at the places ``changed``.
    """

    files: str
    folder: str
    first_group: tuple[int, ...]
    split: bool = False
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class LaidPeople:
    """How many persons were laid out, and how many ids are in groups that share no value."""

    persons: int
    apart: int


def lay_people(part: GiantPart, where: dict[int, PeopleOf]) -> LaidPeople:
    """Write the signatures of a part, and the signature of each person in the order of ids."""
    own = where[part.number]
    people = pl.read_parquet(Path(own.files) / "*.parquet", hive_partitioning=False).sort("id")
    code = mapped_array(Path(own.folder) / "code.npy")
    group_of = np.full((len(own.first_group) - 1, people.height), ABSENT, dtype=np.int32)
    for r, (a, b) in enumerate(zip(own.first_group[:-1], own.first_group[1:], strict=True)):
        group = people[f"g{r}"]
        there = group.is_not_null().to_numpy()
        group_of[r, there] = a + np.searchsorted(code[a:b], group.drop_nulls().to_numpy())
    del people, code
    signatures, mine, weight = _collapsed(group_of)
    apart = sharing_nothing(own.folder, signatures)[mine]
    taken = apart.copy() if own.split else np.zeros(apart.size, dtype=bool)
    taken[list(own.changed)] = True
    if taken.any():
        who, release = _one_per_release(group_of, taken)
        whole = release == ABSENT
        group_of = np.where(whole | (release == np.arange(len(group_of))[:, None]), group_of[:, who], ABSENT)
        signatures, mine, weight = _collapsed(group_of)
        part.write(who=who, split=release)
    part.write(group_of=signatures, weight=weight, mine=mine)
    return LaidPeople(mine.size, int(apart.sum()))


def _collapsed(group_of: Codes) -> tuple[Codes, Codes, Ints]:
    """The signatures, that of each person, and how many persons each has."""
    found, mine, weight = np.unique(group_of, axis=1, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(found), mine.ravel().astype(np.int32), weight.astype(np.int64)


def _one_per_release(group_of: Codes, apart: Flags) -> tuple[Ints, Codes]:
    """Persons after some ids are taken apart: the place of the id of each, and the release that names it, or −1."""
    release, at = np.nonzero(group_of[:, apart] != ABSENT)
    whole = np.flatnonzero(~apart)
    who = np.concatenate([whole, np.flatnonzero(apart)[at]])
    named = np.concatenate([np.full(whole.size, ABSENT), release]).astype(np.int32)
    order = np.lexsort((named, who))
    return who[order], named[order]


@dataclass(frozen=True, eq=False)
class Telling:
    """What is written of persons, and where."""

    folder: str
    id_type: pl.DataType
    status: Status
    values: pl.Series
    people: dict[int, PeopleOf]
    names: tuple[str, ...] = ()  # of the releases
    limits: dict[str, float] = field(default_factory=dict)  # of a policy, to be counted
    sets: tuple[ReleaseSet, ...] = ()  # of releases, that were answered besides
    of_part: Callable[[Mapping[ReleaseSet, PartTold], Flags], Any] | None = None  # counts what sets of releases tell
    conditional: bool = False  # whether facts hold only if those changed who were taken for changed


@dataclass(frozen=True, eq=False)
class GiantCounts:
    """Sums over the persons of a part, and by release where they are in it."""

    sums: dict[str, float]
    levels: dict[str, dict[str, int]]
    releases: tuple[dict[str, float], ...]
    since: Any = None  # what sets of releases tell, if that is counted


class _Everybody:
    """The persons of a part with their answer, in arrays over persons and over pairs of signature and value."""

    def __init__(self, part: GiantPart, told: Telling) -> None:
        self.own = told.people[part.number]
        self.ids = pl.read_parquet(Path(self.own.files) / "*.parquet", columns=["id"], hive_partitioning=False).sort(
            "id"
        )["id"]
        self.mine, self.group_of = part.read("mine"), part.read("group_of")
        self.named: pl.Series | None = None  # by the first release of each who is part of an id
        if part.path("split").exists():
            self.ids = self.ids.gather(part.read("who"))
            split = part.read("split")
            called = pl.Series("release", [*told.names, None], dtype=pl.String)
            self.named = called.gather(np.where(split == ABSENT, len(told.names), split))
        self.answered = told.status.certain
        if part.path("answer-start").exists():
            names = ("start", "value", "p", "possible")
            self.start, self.value, self.p, self.possible = (part.read(f"answer-{name}") for name in names)
        else:
            self.start = np.zeros(self.group_of.shape[1] + 1, dtype=np.int64)
            self.value, self.p = np.empty(0, dtype=np.int32), np.empty(0)
            self.possible = np.empty(0, dtype=bool)
        self.owner = owners(self.start)
        self.left = np.bincount(self.owner[self.possible], minlength=self.start.size - 1)
        self.known = told.status.consistent
        self.perhaps: Flags = (self.left == 1) & self.known
        self.conditional = told.conditional
        self.certain: Flags = self.perhaps & (not told.conditional)

    def groups(self, name: str) -> Any:
        """A figure of all groups."""
        return mapped_array(Path(self.own.folder) / f"{name}.npy")

    def release_told(self, frame: pl.DataFrame, person: Ints | None = None) -> pl.DataFrame:
        """A table of persons with the release that names each, where ids are several persons."""
        if self.named is None:
            return frame
        return frame.insert_column(1, self.named if person is None else self.named.gather(person))

    def best(self) -> tuple[Ints, Reals]:
        """[signatures] the place of the likeliest value, and its probability; −1 and NaN where there is none."""
        place, largest = np.full(self.left.size, -1), np.full(self.left.size, np.nan)
        length = np.diff(self.start)
        some = np.flatnonzero(length)
        if some.size:
            top = np.maximum.reduceat(self.p, self.start[some])
            reached = np.flatnonzero(self.p == np.repeat(top, length[some]))
            place[self.owner[reached][::-1]] = reached[::-1]
            largest[some] = top
        return place, largest

    def entropies(self) -> Reals:
        """[signatures] in nats."""
        p = np.where(self.p > 0, self.p, 1.0)
        return sum_by(self.owner, -p * np.log(p), self.left.size) + 0.0

    def outside_common(self) -> tuple[Ints, Ints]:
        """(signature, value) of values that a group of the signature publishes and not all of them do."""
        row_start, row_value = self.groups("row_start"), self.groups("row_value")
        span = int(self.groups("span")[0])
        seen = [np.empty(0, dtype=np.int64)]
        for own in self.group_of:
            there = np.flatnonzero(own != ABSENT)
            first = row_start[own[there]]
            length = row_start[own[there] + 1] - first
            at = ranges(first, length)
            seen.append(np.repeat(there, length) * span + row_value[at])
        outside = np.setdiff1d(np.concatenate(seen), self.owner * span + self.value)
        return outside // span, outside % span

    def alone(self) -> tuple[Reals, Reals]:
        """[releases, signatures] the largest probability and the entropy from each release alone; NaN outside."""
        here = self.group_of != ABSENT
        largest, entropy = (np.full(here.shape, np.nan) for _ in range(2))
        for found, name in ((largest, "largest"), (entropy, "entropy")):
            found[here] = self.groups(name)[self.group_of[here]]
        return largest, entropy


def tell_people(part: GiantPart, told: Telling) -> GiantCounts:
    """Write what is known of the persons of a part, and tell the sums."""
    them = _Everybody(part, told)
    state = str(told.status)
    place, largest = them.best()
    largest = largest if them.answered else np.full_like(largest, np.nan)
    signature, value = them.outside_common()
    alone, alone_entropy = them.alone()
    best_alone = np.nan_to_num(alone).max(axis=0, initial=0.0)
    newly = them.certain & (best_alone < 1)

    def by_person(per_signature: Any) -> Any:
        return per_signature[them.mine]

    def told_of(owner: Ints, values: Ints, **more: Any) -> pl.DataFrame:
        """Rows of signatures as rows of persons."""
        order = np.argsort(owner, kind="stable")
        first = np.searchsorted(owner[order], np.arange(them.left.size + 1))
        at, length = items_of(first, them.mine)
        person, at = np.repeat(np.arange(them.mine.size), length), order[at]
        columns = {name: by[at] if isinstance(by, np.ndarray) else pl.lit(by) for name, by in more.items()}
        frame = pl.DataFrame({"id": them.ids.gather(person), "value": told.values.gather(values[at])})
        return them.release_told(frame.with_columns(**columns), person)

    name = f"{part.folder.rstrip('/').rpartition('/')[2]}-{part.number:06d}.parquet"
    folder = Path(told.folder)
    open_ones = np.flatnonzero(them.possible)
    answer = told_of(them.owner[open_ones], them.value[open_ones], p=them.p[open_ones], state=state)
    keep(answer, folder / ANSWER / name, told.id_type)
    likeliest = np.append(them.value, -1)[place]
    people = pl.DataFrame(
        {
            "id": them.ids,
            "value": told.values.gather(pl.Series(by_person(likeliest)).replace(-1, None)),
            "p": pl.Series(by_person(largest)).fill_nan(None),
            "certain": by_person(them.certain),
            "state": pl.repeat(state, them.mine.size, dtype=pl.String, eager=True),
            "p_alone": by_person(best_alone),
            "newly_certain": by_person(newly),
        }
    )
    people = them.release_told(people)
    keep(people if told.limits else people.drop("p_alone", "newly_certain"), folder / PEOPLE / name, told.id_type)
    keep(_facts(them, told_of, (signature, value)), folder / FACTS / name, told.id_type)
    found = _counted(them, told, (largest, best_alone, newly, signature), (alone, alone_entropy))
    if told.of_part is None:
        return found
    sets = dict(noted(part, told.sets, them.mine))
    for r, own in enumerate(alone):
        sets[(r,)] = PartTold(by_person(own), by_person(own == 1), True)
    sets[tuple(range(len(alone)))] = PartTold(by_person(largest), by_person(them.certain), them.answered)
    return replace(found, since=told.of_part(sets, by_person((~np.isnan(alone)).T).T))


def _facts(them: _Everybody, told_of: Any, outside: tuple[Ints, Ints]) -> pl.DataFrame:
    if not them.known:
        none: pl.DataFrame = told_of(outside[0][:0], outside[1][:0], fact="certain", by="sets", conditional=False)
        return none
    sure = np.flatnonzero(them.possible & them.perhaps[them.owner])
    by_sets = (np.diff(them.start) == 1)[them.owner[sure]]
    gone = np.flatnonzero(~them.possible)
    kinds = [
        (them.owner[sure[by_sets]], them.value[sure[by_sets]], "certain", "sets"),
        (them.owner[sure[~by_sets]], them.value[sure[~by_sets]], "certain", "counts"),
        (them.owner[gone], them.value[gone], "impossible", "counts"),
        (*outside, "impossible", "sets"),
    ]
    found = [told_of(owner, value, fact=fact, by=by, conditional=them.conditional) for owner, value, fact, by in kinds]
    every: pl.DataFrame = pl.concat(found)
    by = ["id", "fact", "value"] if them.named is None else ["id", "release", "fact", "value"]
    return every.sort(by, maintain_order=True)


def _counted(
    them: _Everybody,
    told: Telling,
    joint: tuple[Reals, Reals, Flags, Ints],
    alone: tuple[Reals, Reals],
) -> GiantCounts:
    """The sums that figures and limits are made of."""
    largest, best_alone, newly, outside = joint
    persons = np.bincount(them.mine, minlength=them.left.size)
    entropy = them.entropies() if them.answered else np.zeros(them.left.size)
    best = np.nan_to_num(np.where(them.perhaps, 1.0, largest))
    gone = np.bincount(them.owner[~them.possible], minlength=them.left.size)
    sums = {
        "persons": persons.sum(),
        "entropy_nats": (persons * entropy).sum(),
        "answered": persons.sum() if them.answered else 0,
        "certain": persons[them.certain].sum(),
        "certain_alone": persons[best_alone == 1].sum(),
        "newly_certain": persons[newly].sum(),
        "impossible_by_sets": persons[outside].sum() if them.known else 0,
        "impossible_by_counts": (persons * gone).sum() if them.known and not them.conditional else 0,
        "certain_if_consistent": persons[them.perhaps & ~them.certain].sum(),
        "expected_guesses": (persons * best).sum(),
        "expected_guesses_alone": (persons * best_alone).sum(),
        "worst_p": float(np.nanmax(largest, initial=0.0)),
        "least_anonymity": float(np.exp(entropy).min(initial=np.inf)) if them.answered else np.inf,
        "over_posterior": persons[np.nan_to_num(largest) > told.limits.get("max_posterior", 1.0)].sum(),
        "under_anonymity": persons[np.exp(entropy) < told.limits.get("min_anonymity", 0.0)].sum(),
    }
    levels = {
        name: {str(level): int(persons[np.nan_to_num(p) >= level - 1e-9].sum()) for level in (0.5, 0.9)}
        for name, p in (("best_guess_at_least", best), ("best_guess_at_least_alone", best_alone))
    }
    releases = []
    for own, apart in zip(*alone, strict=True):
        here = ~np.isnan(own)
        several = (them.group_of != ABSENT).sum(axis=0) > 1
        releases.append(
            {
                "persons": persons[here].sum(),
                "certain_alone": persons[own == 1].sum(),
                "entropy_alone_nats": np.nansum(persons * apart),
                "entropy_joined_nats": (persons * entropy)[here].sum(),
                "shared": persons[here & several].sum(),
            }
        )
    plain = [{name: float(figure) for name, figure in own.items()} for own in (sums, *releases)]
    return GiantCounts(plain[0], levels, tuple(plain[1:]))
