"""Where each signature can be: one group, one of several, or outside, release by release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.history import ABSENT
from showthrough.table.arrays import Codes, Flags, Ints
from showthrough.table.ragged import owners, ranges


@dataclass(frozen=True)
class Places:
    """A code per release and signature: a group, ABSENT, or ``known`` + k for one of candidate set k."""

    codes: Codes  # [R, m]
    known: int  # groups of all releases together
    set_start: Ints
    set_group: Codes  # ABSENT: maybe not in the release
    spare: Flags | None = None  # [m] whose members may not exist

    @property
    def releases(self) -> int:
        return int(self.codes.shape[0])

    @property
    def signatures(self) -> int:
        return int(self.codes.shape[1])

    @cached_property
    def plain(self) -> bool:
        """Whether everybody's group is known in every release."""
        return not self.set_group.size or bool((self.codes < self.known).all())

    @cached_property
    def unsure(self) -> Flags:
        """[m] who fits several groups of some release, or is perhaps in none."""
        if self.plain:
            return np.zeros(self.signatures, dtype=bool)
        return np.asarray((self.codes >= self.known).any(axis=0))

    @property
    def groups(self) -> Codes:
        """[R, m] the group where it is known, else ABSENT."""
        return self.codes if self.plain else np.where(self.codes >= self.known, ABSENT, self.codes)

    def fits(self, release: int, signatures: Ints | None = None) -> tuple[Ints, Ints]:
        """All (signature, group) that are possible, ABSENT included, sorted by signature."""
        own = np.arange(self.signatures) if signatures is None else signatures
        code = self.codes[release, own].astype(np.int64)
        if self.plain:
            return own, code
        several = code >= self.known
        chosen = np.where(several, code - self.known, 0)
        length = np.where(several, np.diff(self.set_start)[chosen], 1)
        at = ranges(np.where(several, self.set_start[chosen], 0), length)
        group = np.where(
            np.repeat(several, length),
            self.set_group[np.minimum(at, self.set_group.size - 1)],
            np.repeat(code, length),
        )
        return np.repeat(own, length), group

    def groups_of(self, release: int, signature: int) -> list[int]:
        """The groups in which a signature can be; ABSENT if it may be in none."""
        return [int(g) for g in self.fits(release, np.array([signature]))[1]]

    def present(self, release: int) -> Flags:
        """[m] who may be in the release."""
        return np.asarray(self.codes[release] != ABSENT)

    def select(self, signatures: Flags) -> Places:
        """The same of some signatures."""
        return replace(
            self, codes=self.codes[:, signatures], spare=None if self.spare is None else self.spare[signatures]
        )

    @cached_property
    def block(self) -> Ints:
        """[groups] sets of groups of one release in which every signature surely is, or surely is not.

        A constant on all rows of a block changes no comparison. −1: somebody may be outside the release, or not exist.
        """
        if self.plain:
            return np.where(self._spared, -1, np.arange(self.known))
        used = np.zeros(self.set_start.size - 1, dtype=bool)
        used[np.unique(self.codes[self.codes >= self.known]) - self.known] = True
        number = owners(self.set_start)
        here = used[number] & (self.set_group != ABSENT)
        tail, head = number[here] + self.known, self.set_group[here].astype(np.int64)
        _, label = graphs.components(self.known + used.size, tail, head)
        loose = np.zeros(int(label.max(initial=-1)) + 1, dtype=bool)
        loose[label[number[used[number] & (self.set_group == ABSENT)] + self.known]] = True
        loose[label[np.flatnonzero(self._spared)]] = True
        own = label[: self.known]
        return np.where(loose[own], -1, own)

    @property
    def _spared(self) -> Flags:
        """[groups] those that somebody who may not exist fits."""
        found = np.zeros(self.known + 1, dtype=bool)
        if self.spare is not None:
            own = np.flatnonzero(self.spare)
            for r in range(self.releases):
                found[self.fits(r, own)[1]] = True
        return found[:-1]
