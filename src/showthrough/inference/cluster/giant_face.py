"""What is possible in a component in parts: rounds of exclusions that the driver rules and the parts carry out.

Rows whose count is used up by certain persons take nobody else; rows that need everybody take all (`closing`). What
weighings of patches prove to be zero is excluded by the same call. The driver knows of each row how many persons could
be in it and how many are left to be found; a part tells by how much a ruling changes that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from showthrough.engines.engine import Engine
from showthrough.inference.cluster.giant_layout import numbered, persons_in
from showthrough.inference.cluster.giant_marks import FaceMark
from showthrough.inference.cluster.giant_part import NOTHING, GiantPart, GiantRows, Letter, drop, letter
from showthrough.inference.cluster.giant_worker import let_go
from showthrough.inference.face import Contradicted, Step, WeighingStep
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import items_of, owners, starts

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Ruling:
    """What a part shall exclude: by rows that need everybody (+1) or take nobody (−1), or variables one by one."""

    part: GiantPart
    rows: Letter  # of the part
    sign: Letter
    zeros: Letter


@dataclass(frozen=True, eq=False)
class Ruled:
    """What a ruling changed, by rows of the part."""

    rows: Letter
    room: Letter  # fewer persons who could be there
    certain: Letter  # more persons who surely are
    zeros: int
    clash: Ints  # rows of one signature that both need it
    emptied: int  # signatures without a value that is left


def carry_out(ruling: Ruling, version: int) -> Ruled:
    """Exclude what is ruled from one version of what is possible, and write the next."""
    part = ruling.part
    let_go(part)
    start, row, weight, alive = (part.read(name) for name in ("start", "row", "weights", f"alive-{version}"))
    rows, owner = part.read("touched").size, owners(start).astype(np.int32)
    choices = np.bincount(owner[alive], minlength=weight.size)
    zero, clash = _asked(ruling, row, owner, alive & (choices > 1).take(owner))
    none, zeros = np.empty(0, dtype=np.int64), ruling.zeros.read()
    if clash.size:
        return Ruled(NOTHING, NOTHING, NOTHING, 0, clash, 0)
    zero[zeros] = alive[zeros]
    concerned = np.unique(owner.take(np.flatnonzero(zero))).astype(np.int64)
    at, length = items_of(start, concerned)
    persons = np.repeat(weight.take(concerned), length)
    before = alive.take(at)
    alive &= ~zero
    part.write(**{f"alive-{version + 1}": alive})
    after = alive.take(at)
    left = np.add.reduceat(after.astype(np.int64), starts(length)[:-1]) if at.size else none
    several = np.repeat(left > 1, length)
    gone, sure = before & ~(after & several), after & ~several
    room = persons_in(row, at[gone], persons[gone], rows)
    certain = persons_in(row, at[sure], persons[sure], rows)
    changed = np.flatnonzero(room | certain)
    where, fewer, more = (
        letter(part.folder, f"ruled-{version}-{name}", own)
        for name, own in (("rows", changed), ("room", room[changed]), ("certain", certain[changed]))
    )
    return Ruled(where, fewer, more, int(zero.sum()), none, int((left == 0).sum()))


def _asked(ruling: Ruling, row: Codes, owner: Codes, open_ones: Flags) -> tuple[Flags, Ints]:
    """The open variables that the signs of rows make zero, and rows that ask for the same persons."""
    signs = np.zeros(int(row.max(initial=0)) + 2, dtype=np.int8)
    signs[ruling.rows.read()] = ruling.sign.read()
    least, most = np.zeros(owner.size, dtype=np.int8), np.zeros(owner.size, dtype=np.int8)
    for own in row:
        asked = signs.take(own)
        np.minimum(least, asked, out=least)
        np.maximum(most, asked, out=most)
    zero = (least < 0) & open_ones
    one = (most > 0) & open_ones & ~zero
    taken = np.bincount(owner.take(np.flatnonzero(one)), minlength=int(owner.max(initial=-1)) + 1)
    if (taken > 1).any():
        both = np.flatnonzero(one & (owner == np.argmax(taken > 1)))
        clash = [int(row[k, v]) for v in both for k in range(len(row)) if signs[row[k, v]] > 0]
        return zero, np.unique(clash)
    zero |= open_ones & ~one & (taken > 0).take(owner)
    return zero, np.empty(0, dtype=np.int64)


def take_open(part: GiantPart, version: int) -> tuple[int, int]:
    """Write the problem of the signatures that have a choice; gives the number of signatures and of variables."""
    start, row, weight, alive = (part.read(name) for name in ("start", "row", "weights", f"alive-{version}"))
    touched, owner = part.read("touched"), owners(start).astype(np.int32)
    choices = np.bincount(owner[alive], minlength=weight.size)
    several = choices > 1
    variable = np.flatnonzero(alive & several.take(owner)).astype(np.int32)
    used, row = numbered(row.take(variable, axis=1), touched.size)
    part.write(
        **{
            f"open-{version}-variable": variable,
            f"open-{version}-start": starts(choices[several]),
            f"open-{version}-row": row,
            f"open-{version}-weight": weight[several].astype(np.float64),
            f"open-{version}-rows": touched[used],
        }
    )
    return int(several.sum()), variable.size


@dataclass
class GiantFace:
    """The driver's side: what is left of the counts, and the log of how the rest was excluded."""

    engine: Engine
    parts: Sequence[GiantPart]
    rows: GiantRows
    touched: list[Codes]
    room: Ints  # [rows] persons without a certain value who could be there
    left: Ints  # [rows] of the counts, beside who is certain
    version: int = 0
    zeros: int = 0
    steps: list[Step] = field(default_factory=list)
    held: int = -1  # the version of the last mark, whose files stay

    @classmethod
    def whole(cls, engine: Engine, parts: Sequence[GiantPart], rows: GiantRows) -> GiantFace:
        """Nothing excluded yet from what the parts have laid out."""
        touched = [part.read("touched") for part in parts]
        face = cls(engine, parts, rows, touched, np.zeros(rows.size, np.int64), rows.row_count.astype(np.int64))
        for part, own in zip(parts, touched, strict=True):
            face.room[own] += part.read("room")
            face.left[own] -= part.read("certain")
            part.remove("room", "certain")
        return face

    @classmethod
    def marked(cls, engine: Engine, parts: Sequence[GiantPart], rows: GiantRows, mark: FaceMark) -> GiantFace:
        """As it was at a mark."""
        touched = [part.read("touched") for part in parts]
        state = (mark.room, mark.left, mark.version, mark.zeros, list(mark.steps), mark.version)
        return cls(engine, parts, rows, touched, *state)

    def mark(self) -> FaceMark:
        """What it takes to be here again."""
        return FaceMark(self.version, self.room, self.left, self.zeros, tuple(self.steps))

    def hold(self) -> None:
        """Keep the files of this version from now on, instead of those that were kept."""
        if self.held not in (-1, self.version, self.version - 1):
            for part in self.parts:
                part.path(f"alive-{self.held}").unlink(missing_ok=True)
        self.held = self.version

    def propagate(self) -> None:
        """Rule row by row until nothing more is decided."""
        while True:
            spare = self.room - self.left
            if min(self.left.min(initial=0), spare.min(initial=0)) < 0:
                # what several weighings show, their sum shows, and whoever may have changed stands in several
                raise Contradicted((spare < 0).astype(np.int64) - (self.left < 0))
            sign = (spare == 0).astype(np.int8) - (self.left == 0).astype(np.int8)
            rows = np.flatnonzero(sign)
            if not rows.size:
                return
            self._rule(sign, [np.empty(0, dtype=np.int64)] * len(self.parts))
            self.steps.append(WeighingStep(rows, sign[rows].astype(np.int64), np.arange(rows.size)))

    def exclude(self, zeros: Sequence[Ints], steps: Sequence[Step]) -> None:
        """Take out variables of each part that some steps prove to be zero."""
        self._rule(np.zeros(self.rows.size, dtype=np.int8), zeros)
        self.steps.extend(steps)

    def _rule(self, sign: Signs, zeros: Sequence[Ints]) -> None:
        rulings = []
        for part, touched, own in zip(self.parts, self.touched, zeros, strict=True):
            mine = sign[touched]
            at = np.flatnonzero(mine)
            told = {"rows": at, "sign": mine[at], "zeros": own}
            posted = (letter(part.folder, f"ruling-{self.version}-{name}", what) for name, what in told.items())
            rulings.append(Ruling(part, *posted))
        found = self.engine.map(carry_out, rulings, self.version)
        drop(one for ruling in rulings for one in (ruling.rows, ruling.sign, ruling.zeros))
        clash = [touched[one.clash] for touched, one in zip(self.touched, found, strict=True) if one.clash.size]
        if clash:
            weights = np.zeros(self.rows.size, dtype=np.int64)
            weights[np.concatenate(clash)] = 1
            raise Contradicted(weights)
        self.version += 1
        for part, touched, one in zip(self.parts, self.touched, found, strict=True):
            rows = touched[one.rows.read()]
            self.room[rows] -= one.room.read()
            self.left[rows] -= one.certain.read()
            drop((one.rows, one.room, one.certain))
            self.zeros += one.zeros
            if self.version > 1 and self.version - 2 != self.held:
                part.path(f"alive-{self.version - 2}").unlink(missing_ok=True)
        if any(one.emptied for one in found):
            raise Contradicted(emptied=0)
