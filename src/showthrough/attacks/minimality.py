"""Minimality: what the algorithm itself gives away, as it generalizes only where it must.

Wong, Fu, Wang, Pei, *Minimality Attack in Privacy Preserving Data Publishing*, VLDB 2007. The attacker knows
everybody's quasi-identifiers and the algorithm. Of all worlds (who has which value) that the release allows, only
those count in which the algorithm would have published this very release: it is run again on each. The credibility of
a value is its share in them; a release is m-confidential if none is larger than 1/m.

All worlds are tried where there are few. Otherwise classes are looked at side by side: each replay of the whole table
tries one world of every class at once, and a class that comes out as it was published has accepted its world. That is
exact if what the algorithm does with one class does not depend on who has which of the same values in another one;
the world that is put together from all accepted ones is replayed too, and a note tells how many classes came out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from time import monotonic
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.class_worlds import ClassBlock, joint
from showthrough.attacks.classes_tied import ids_as_text, tied_classes
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.replay import Publisher, class_keys
from showthrough.attacks.statistics import rates, wilson
from showthrough.attacks.targets import attacked_alone
from showthrough.errors import InputError, ParameterError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior, Told
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.noisy import refuse_noise
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals
from showthrough.table.frames import to_polars

MOST = 2000
"""Worlds of the whole table that are all tried."""
LISTED = 100
"""Worlds of one class that are all tried, where the table has more."""
ENOUGH = 100
"""Accepted worlds of each class after which sampling ends."""
FEWEST = 20
"""Accepted worlds of a class without which nothing is said of it."""
ROUNDS = 5000
HOPELESS = 300
"""Worlds of a class that are drawn without any that comes out before it is given up."""
SEEDS = 8
"""Seeds over which an algorithm that draws at random is replayed on each world, where all are tried."""
FEW = 50
"""Worlds that are replayed over all seeds at once; more are over two of them first, to see whether they matter."""
LIKELY = 0.5
BASELINE = "release"
_ROUNDING = 1e-9
_THREAT = Threat(
    "the release, everybody's quasi-identifiers, and the algorithm that published it with its parameters",
    "to learn from the fact that the algorithm published this and nothing finer who has a value that is more likely "
    "than not",
    "that everybody in the register is in the table, and that all worlds that the release allows are alike beforehand",
)

_APART = (
    "and, as there are too many worlds to try all, that what the algorithm does with one class does not depend on who "
    "has which of the published values in another one"
)


@dataclass(frozen=True, eq=False, repr=False)
class Minimality(Outcome):
    """The outcome of replaying the publisher's algorithm."""

    meanings: ClassVar[Mapping[str, str]] = {
        "p": "the credibility: the share of the worlds in which the algorithm would have published this release",
        BASELINE: "the baseline: the share of all worlds that the release allows",
    }
    confidentiality: float | None = None
    """The largest credibility of anybody's value: the release is m-confidential for m up to 1 over it."""
    interval: tuple[float, float] | None = None
    """Its own 95 % interval; the largest of many estimates tends to be one that chance made large."""
    exact: bool = True
    """Whether all worlds were tried, of the whole table or of every class."""
    replays: int = 0
    inconclusive: int = 0
    """Persons of whom nothing is known, as no world of theirs came out as published."""

    @property
    def said(self) -> str:
        """The largest credibility in words."""
        if self.confidentiality is None:
            return "No credibility is known of anybody."
        low, high = self.interval or (self.confidentiality, self.confidentiality)
        about = f" ({low:.3f} to {high:.3f})" if low < high else ""
        return (
            f"The largest credibility of a value is {self.confidentiality:.3f}{about}: the release is m-confidential "
            f"up to m = {1 / self.confidentiality:.2f}."
        )

    def believed(self) -> pl.DataFrame:
        """The persons of whom a credibility is known: the baseline is scored on the same ones."""
        return self.people.filter(pl.col("p").is_not_null())

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON."""
        names = ("confidentiality", "interval", "exact", "replays", "inconclusive")
        return {**super().as_dict(), **{name: getattr(self, name) for name in names}}


def minimality(
    release: Release,
    *,
    register: Any,
    publish: Any,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Minimality:
    """What the algorithm gives away by publishing this and nothing finer.

    ``register`` is a frame of id and exact quasi-identifiers of everybody in the table. ``publish`` is the algorithm: a
    function from such a frame with the sensitive column to a release (None: it refuses; with a parameter ``seed`` if it
    draws at random), or a dict of the arguments of `anonymize`. ``people`` has id, value, p (the credibility), its
    interval low and high (p itself where all worlds were tried), and the ``release``'s own probability.
    """
    release = attacked_alone(release)
    _check(release, seed)
    tell, end = Progress.of(progress), monotonic() + seconds
    publisher = Publisher.of(publish, release)
    known, table = _table(release, register)
    post = infer([release], register=known, seconds=seconds, progress=tell)
    work = _Replays(release, post, publisher, table, np.random.default_rng(seed), tell)

    def over() -> bool:
        return monotonic() >= end or tell.satisfied

    whole = joint(work.blocks, MOST)
    finished = work.all_worlds(over) if whole else work.side_by_side(over)
    people, lost = work.people()
    told = people.filter(pl.col("p").is_not_null())
    top = told.sort("p", "low", descending=True).head(1)
    largest = None if not top.height else float(top["p"][0])
    every = [_counted(told, belief) for belief in ("p", BASELINE)]  # the baseline is of the same persons
    exact = finished and not lost and all(block.settled for block in work.blocks)
    threat = _THREAT if whole else replace(_THREAT, assumes=f"{_THREAT.assumes}; {_APART}")
    return Minimality(
        "minimality", threat, people, rates(every[:1]), rates(every[1:]), ("p", BASELINE), (),
        tuple(work.notes(lost, whole=whole, finished=finished)),
        largest, None if largest is None else (float(top["low"][0]), float(top["high"][0])), exact,
        publisher.replays, lost,
    )  # fmt: skip


def _check(release: Release, seed: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"seed is a whole number of 0 or more, not {seed!r}.", parameters=("seed",))
    refuse_noise(release, "minimality")
    if release.sensitive is None:
        raise InputError("The release has no sensitive column: there is no value to learn.")
    if release.ranged or release.value_cells:
        raise InputError("Counts that are ranges, or values that are cells, cannot be compared with replays.")
    if int(release.counterfeits["n"].sum()):
        raise InputError("The release has counterfeits: which tables it can come from is not defined by its persons.")


def _table(release: Release, register: Any) -> tuple[Register, pl.DataFrame]:
    """The register to locate persons by, and the table that is published again but for its values."""
    if register is None:
        raise InputError(
            "Minimality replays the algorithm on everybody's quasi-identifiers: give a register of them.",
            parameters=("register",),
        )
    if isinstance(register, Register):
        known = register
        table = register.quasi.with_columns(register.ids.alias("id"))
    else:
        known = Register.of(register)
        frame = to_polars(register)
        table = frame.rename(
            {c: "id" for c in frame.columns if c != "id" and "id" not in frame.columns and c not in known.quasi.columns}
        )
    missing = [c for c in release.roles.quasi if c not in table.columns]
    if missing:
        raise InputError(
            f"The register lacks the quasi-identifier {missing[0]!r} of the release.", parameters=("register",)
        )
    persons = release.members - table.height
    if persons > 0:
        raise InputError(
            f"The register lists fewer persons than the release holds, by {persons}: list everybody in the table.",
            parameters=("register",),
        )
    return known, table.select("id", *release.roles.quasi)


def _counted(people: pl.DataFrame, belief: str) -> tuple[dict[str, Any], int, int]:
    """Persons with a value that is more likely than not, among those with a belief."""
    each = people.filter(pl.col(belief).is_not_null()).group_by("id").agg(pl.col(belief).max())
    return {"belief": belief}, int((each[belief] > LIKELY + _ROUNDING).sum()), each.height


class _Replays:
    """Worlds and what the algorithm makes of them."""

    def __init__(
        self, release: Release, post: Posterior, publisher: Publisher, table: pl.DataFrame,
        rng: np.random.Generator, tell: Progress,
    ) -> None:  # fmt: skip
        self._release, self._post, self._publisher, self._table = release, post, publisher, table
        self._rng, self._tell = rng, tell
        self._values = release.tally["value"].unique(maintain_order=True).sort()
        self._keys = class_keys(release)
        self._whole = Counter(self._keys)
        self.blocks = tied_classes(release, post, table, self._values)
        self._composed = (0, 0)  # classes that come out of the accepted worlds put together, of how many
        self._seeds = 0  # over which every world was replayed

    def _run(self, values: Ints, seed: int) -> Counter[str] | None:
        column = self._values.gather(values).alias(str(self._release.sensitive))
        return self._publisher.classes(self._table.with_columns(column), seed)

    def all_worlds(self, over: Callable[[], bool]) -> bool:
        """Try every world of the whole table; whether all were."""
        listed = [block.worlds or [] for block in self.blocks]
        many = int(np.prod([len(one) for one in listed]))
        self._tell.stage(f"replaying the algorithm on {many} worlds")
        came = np.zeros(many, dtype=np.int64)
        for seeds in self._rounds(many):
            found = self._replayed(listed, many, seeds, over)
            if found is None:  # time was over: what is known is of the seeds before
                break
            came += found[0]
            self._seeds += len(seeds)
            if not found[1]:
                break
        if not self._seeds:
            return False
        for own, choice in zip(came.tolist(), product(*listed), strict=True):
            if own:
                weight = float(np.prod([float(ways) for _, ways in choice]))
                for block, (matrix, _) in zip(self.blocks, choice, strict=True):
                    block.count(matrix, weight, own / self._seeds)
        for block in self.blocks:
            block.tried = len(block.queue)
        return True

    def _replayed(
        self, listed: list[list[tuple[Ints, int]]], many: int, seeds: range, over: Callable[[], bool]
    ) -> tuple[Ints, bool] | None:
        """Of every world, with how many seeds it came out as published; and whether seeds make a difference."""
        came, differ = np.zeros(many, dtype=np.int64), False
        for done, choice in enumerate(product(*listed)):
            if over():
                return None
            values = self._spelled(choice)
            found = [self._run(values, seed) for seed in seeds]
            differ |= any(other != found[0] for other in found)
            came[done] = sum(own == self._whole for own in found)
            self._tell.count(done + 1, many)
        return came, differ

    def _rounds(self, worlds: int) -> list[range]:
        """Seeds to replay every world over: few at first, the others only if one of the first makes a difference."""
        if not self._publisher.seeded:
            return [range(1)]
        first = SEEDS if worlds <= FEW else 2
        return [range(first), range(first, SEEDS)] if first < SEEDS else [range(SEEDS)]

    def _spelled(self, choice: tuple[tuple[Ints, int], ...]) -> Ints:
        values = np.zeros(self._table.height, dtype=np.int64)
        for block, (matrix, _) in zip(self.blocks, choice, strict=True):
            values[block.persons] = block.spelled(matrix, self._rng)
        return values

    def side_by_side(self, over: Callable[[], bool]) -> bool:
        """Replay worlds of all classes at once until enough of each are accepted, or time is over."""
        for block in self.blocks:
            if not block.enumerate(LISTED):
                block.worlds = None
        self._tell.stage("replaying the algorithm on worlds of all classes at once")
        values = np.zeros(self._table.height, dtype=np.int64)
        rounds = 0
        while rounds < ROUNDS and not over():
            rounds += 1
            fresh = [block for block in self.blocks if self._renewed(block, values)]
            came = self._run(values, int(self._rng.integers(2**31)) if self._publisher.seeded else 0)
            for block in fresh:
                self._judge(block, values, came)
            for block in self.blocks:
                if block.state is not None:
                    values[block.persons] = block.state
            waiting = sum(not _done(block) for block in self.blocks)
            self._tell.count(len(self.blocks) - waiting, len(self.blocks))
            if not waiting:
                break
        came = self._run(values, 0)
        told = [self._came_out(block, came) for block in self.blocks if block.state is not None]
        self._composed = (sum(told), len(told))
        return all(block.accepted and _done(block) for block in self.blocks)

    def _renewed(self, block: ClassBlock, values: Ints) -> bool:
        """Put another world of a block into the table; half of the others stay as they came out last."""
        if block.state is not None and self._rng.random() < 0.5:
            return False
        if block.settled:
            return False
        listed = block.listed
        fresh = block.drawn(self._rng) if listed is None else block.spelled(listed[0], self._rng)
        values[block.persons] = fresh
        return True

    def _came_out(self, block: ClassBlock, came: Counter[str] | None) -> bool:
        wanted = Counter(self._keys[at] for at in block.classes)
        return came is not None and all(came[key] >= many for key, many in wanted.items())

    def _judge(self, block: ClassBlock, values: Ints, came: Counter[str] | None) -> None:
        """Count a world of a block if all its classes came out as they were published."""
        good = self._came_out(block, came)
        own = values[block.persons]
        matrix = block.matrix(own)
        listed = block.listed
        if good:
            block.state = own.copy()
            block.count(matrix, 1.0 if listed is None else float(listed[1]))
        else:
            block.failed()
        block.tried += 1
        block.every += matrix

    def people(self) -> tuple[pl.DataFrame, int]:
        """id, value, p, low, high and the release's own probability; and how many persons have no p."""
        size, lost = self._values.len(), 0
        p = np.full((self._table.height, size), np.nan)
        low, high = p.copy(), p.copy()
        for block in self.blocks:
            found = block.credibility()
            if found is None or not (block.settled or block.accepted >= FEWEST):
                lost += block.persons.size
                continue
            p[block.persons] = found[block.kind]
            ends = _ends(found, block)
            low[block.persons], high[block.persons] = ends[0][block.kind], ends[1][block.kind]
        told = self._post.to_frame().select(ids_as_text(pl.col("id")), "value", pl.col("p").alias(BASELINE))
        frame = pl.DataFrame(
            {
                "id": self._table["id"].gather(np.repeat(np.arange(self._table.height), size)),
                "value": self._values.gather(np.tile(np.arange(size), self._table.height)),
                **{
                    name: pl.Series(own.ravel()).fill_nan(None)
                    for name, own in (("p", p), ("low", low), ("high", high))
                },
            }
        ).with_columns(ids_as_text(pl.col("id")).alias("_id"))
        both = frame.join(told.rename({"id": "_id"}), on=["_id", "value"], how="left", maintain_order="left").drop(
            "_id"
        )
        there = both.filter((pl.col("p") > 0) | (pl.col(BASELINE) > 0))
        return there.with_columns(pl.col(BASELINE).fill_null(0.0)), lost

    def notes(self, lost: int, *, whole: bool, finished: bool) -> list[str]:
        """How it was done, and what is open."""
        done, found = self._publisher, []
        if whole:
            over = f", each with {self._seeds} seeds" if self._seeds > 1 else ""
            found.append(
                f"All worlds of the table were tried{over}."
                if finished
                else "Time was over before all worlds were tried."
            )
        else:
            exact = sum(block.settled for block in self.blocks)
            found.append(
                f"{done.replays} replays of the whole table; of {exact} of {len(self.blocks)} blocks of classes all "
                f"worlds were tried, of the others as many as time allowed, up to {ENOUGH} accepted ones each."
            )
            came, of = self._composed
            alone = "" if came == of else ": classes depend on each other, and figures are those of each class alone"
            if of:
                found.append(
                    f"Accepted worlds put together: {came} of {of} blocks of classes come out as published{alone}."
                )
        if done.refused:
            why = f", the last one with these words: {done.why}" if done.why and done.refused == done.replays else "."
            found.append(f"The algorithm refused {done.refused} of {done.replays} tables{why}")
        if lost:
            who = "1 person" if lost == 1 else f"{lost} persons"
            found.append(
                f"Of {who} nothing is known: fewer than {FEWEST} worlds that were tried come out as published. The "
                "algorithm or its parameters may be others, or such worlds are too rare to be met at random."
            )
        return found


def _done(block: ClassBlock) -> bool:
    """Whether nothing more is asked of a block: also where chance does not meet any world of it that comes out."""
    return block.settled or block.accepted >= ENOUGH or (not block.accepted and block.tried >= HOPELESS)


def _ends(found: Reals, block: ClassBlock) -> tuple[Reals, Reals]:
    """The interval of each credibility; none where all worlds were tried."""
    if block.settled:
        return found, found
    pairs = [[wilson(p * block.worth, block.worth) for p in row] for row in found.tolist()]
    ends = np.array(pairs).reshape(*found.shape, 2)
    return ends[..., 0], ends[..., 1]
