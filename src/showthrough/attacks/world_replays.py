"""Worlds of a table that is published again: which of them come out as this very release, and what that tells.

All worlds of the whole table, or worlds of all its classes side by side (see `minimality.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import polars as pl

from showthrough.attacks.class_worlds import ClassBlock
from showthrough.attacks.classes_tied import ids_as_text, tied_classes
from showthrough.attacks.replay import Publisher, class_keys
from showthrough.attacks.statistics import wilson
from showthrough.inference.posterior import Posterior
from showthrough.progress import Progress
from showthrough.release.release import Release
from showthrough.table.arrays import Ints, Reals

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
BASELINE = "release"


class WorldReplays:
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
