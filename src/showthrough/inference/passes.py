"""Passes over all variables: the softmax, its tangent, and sums per row, in plain NumPy or in blocks on all cores.

A pass reads every variable once. Up to `LARGE` variables it is a handful of calls on whole arrays. Above,
whole arrays would travel through memory once per call, so the signatures are cut into blocks whose
intermediate results stay in the cache, and the blocks are shared out among threads. Blocks and the order
of all sums are fixed by the problem: the answer does not depend on the number of threads. Where persons fit
several groups, or statements or a prior speak, `seated` does the same. Legend as in `newton`: mu multipliers
[rows], x probabilities of variables and, behind them, of candidates given the variable [terms], d a direction
[rows], w weights.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.ragged import owners

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from showthrough.inference.reduce import Reduced

LARGE = 60_000  # variables; up to here whole arrays stay in the cache by themselves
_SHARED = 200_000  # variables; up to here handing blocks to threads costs more than it saves
_BLOCK = 1 << 16  # variables; the few arrays of this size that are in use stay in the second-level cache
_STRETCH = 1 << 15  # rows; a step of conjugate gradients uses more arrays at once
_MOST_THREADS = 4  # more wait for the memory bus and the interpreter lock
_CLOSE = 100.0  # nats between scores that exp can span without losing digits

T = TypeVar("T")
Array = TypeVar("Array", Reals, Flags)


class Sweeps(Protocol):
    """What a pass is made of."""

    def spread(self, rows: Reals) -> Reals:
        """[v] sum of a row vector over the rows of each variable."""

    def mass(self, x: Reals) -> Reals:
        """[terms] the probabilities of variables, and of candidates together with their variable."""

    def gather(self, mass: Reals) -> Reals:
        """[rows] persons in each row: sum of w · mass."""

    def gather_release(self, release: int, mass: Reals) -> Reals:
        """[rows] the same over the rows of one release (in the order of the rows' layers); 0 in the others."""

    def softmax(self, mu: Reals) -> tuple[Reals, Reals]:
        """Probabilities, and log Σ exp per signature."""

    def tangent(self, x: Reals, d: Reals) -> Reals:
        """[terms] how the logarithm of each mass changes along d: its score less the mean of the signature."""

    def hessian(self, x: Reals, d: Reals) -> Reals:
        """[rows] persons that the tangent moves: H·d."""

    def diagonal(self, x: Reals) -> Reals:
        """[rows] the diagonal of H."""

    def share(self, work: Callable[[T], None], items: Iterable[T]) -> None:
        """Do all items, each once, in any order."""


def sweeps_over(problem: Reduced, *, threads: int | None = None) -> Sweeps:
    """The quickest way for a problem of this size."""
    if not problem.plain:
        from showthrough.inference.seated import Seated

        return Seated(problem)
    variables = int(problem.start[-1])
    if variables <= LARGE:
        return Whole(problem)
    if threads is None:
        threads = min(_cores(), _MOST_THREADS) if variables > _SHARED else 1
    return Blocks(problem, threads=threads)


class Whole:
    """Whole arrays at once: few calls, for problems whose time is the number of calls."""

    def __init__(self, problem: Reduced) -> None:
        self.row: Ints = np.ascontiguousarray(
            problem.rows.sure, dtype=np.int64
        )  # the type that take and bincount work in
        self.first = problem.start[:-1]
        self.signature: Ints = owners(problem.start)
        self.weight: Reals = problem.weight[self.signature]
        self.extended = np.zeros(problem.rows.size + 1)  # absent rows read the 0 at the end

    def _per_signature(self, variables: Reals) -> Reals:
        return sum_by(self.signature, variables, self.first.size)  # quicker than reduceat on short stretches

    def spread(self, rows: Reals) -> Reals:
        self.extended[:-1] = rows
        total: Reals = np.add.reduce(self.extended.take(self.row), axis=0)
        return total

    def mass(self, x: Reals) -> Reals:
        return x

    def gather(self, variables: Reals) -> Reals:
        persons = self.weight * variables
        total = sum_by(self.row[0], persons, self.extended.size)
        for row in self.row[1:]:
            total += sum_by(row, persons, self.extended.size)
        return total[:-1]

    def gather_release(self, release: int, variables: Reals) -> Reals:
        return sum_by(self.row[release], self.weight * variables, self.extended.size)[:-1]

    def softmax(self, mu: Reals) -> tuple[Reals, Reals]:
        z = self.spread(mu)
        top = _top(z, self.first)
        z -= top if top.size == 1 else top.take(self.signature)
        np.exp(z, out=z)
        total = self._per_signature(z)
        z /= total.take(self.signature)
        return z, np.log(total) + top

    def tangent(self, x: Reals, d: Reals) -> Reals:
        z = self.spread(d)
        z -= self._per_signature(x * z).take(self.signature)
        return z

    def hessian(self, x: Reals, d: Reals) -> Reals:
        z = self.tangent(x, d)
        z *= x
        return self.gather(z)

    def diagonal(self, x: Reals) -> Reals:
        return self.gather(x * (1 - x))

    def share(self, work: Callable[[T], None], items: Iterable[T]) -> None:
        for item in items:
            work(item)


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring signatures with their variables."""

    signatures: slice
    variables: slice
    first: Ints  # where the variables of each signature begin, from 0
    length: Ints
    rows: Any  # sparse [variables, rows + 1] of ones: a product with it is a spread
    sums: Any  # sparse [signatures, variables]: a product with it sums over each signature


class Blocks:
    """Blocks that stay in the cache, on several threads.

    Everything that takes long is a ufunc or a sparse product, which let go of the interpreter lock;
    `bincount` does not, so sums per row are sparse products, one per release.
    """

    def __init__(self, problem: Reduced, *, threads: int) -> None:
        from scipy.sparse import csc_array

        self.weight = problem.weight  # not the problem, which holds these sweeps: a circle outlives its last user
        self.threads = threads
        self.blocks = list(_blocks(problem))
        self.work = np.empty(int(problem.start[-1]))  # what is being summed per row
        start = problem.start.astype(np.int32)
        self.persons = []
        for row in problem.rows.sure:
            # the index arrays are set afterwards: the constructor would copy what is part of a larger array
            persons = csc_array((problem.rows.size + 1, problem.weight.size), dtype=np.float64)
            persons.data, persons.indices, persons.indptr = self.work, np.ascontiguousarray(row), start
            self.persons.append(persons)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self.threads)  # its threads end when this object is dropped

    def share(self, work: Callable[[T], None], items: Iterable[T]) -> None:
        """Do all items, each once, on whichever thread is free."""
        queue = deque(items)
        if min(self.threads, len(queue)) <= 1:
            for item in queue:
                work(item)
            return

        def until_done() -> None:
            while True:
                try:
                    item = queue.popleft()
                except IndexError:
                    return
                work(item)

        try:
            for ended in [self._pool.submit(until_done) for _ in range(min(self.threads, len(queue)))]:
                ended.result()
        finally:
            queue.clear()  # an interrupt stops the other threads after their present block

    def _extended(self, rows: Reals) -> Reals:
        return np.append(rows, 0.0)

    def spread(self, rows: Reals) -> Reals:
        extended, z = self._extended(rows), np.empty(self.work.size)

        def work(block: Block) -> None:
            z[block.variables] = block.rows @ extended

        self.share(work, self.blocks)
        return z

    def mass(self, x: Reals) -> Reals:
        return x

    def gather(self, variables: Reals) -> Reals:
        found: list[Reals] = [np.empty(0)] * len(self.persons)

        def work(release: int) -> None:
            found[release] = self._persons(release, variables)

        self.share(work, range(len(self.persons)))
        total = found[0]
        for more in found[1:]:
            total += more
        return total[:-1]

    def gather_release(self, release: int, variables: Reals) -> Reals:
        return self._persons(release, variables)[:-1]

    def _persons(self, release: int, variables: Reals) -> Reals:
        self.persons[release].data = variables
        return np.asarray(self.persons[release] @ self.weight)

    def softmax(self, mu: Reals) -> tuple[Reals, Reals]:
        extended, x, log_sum = self._extended(mu), np.empty(self.work.size), np.empty(self.weight.size)
        ones = np.ones(max(block.variables.stop - block.variables.start for block in self.blocks))

        def work(block: Block) -> None:
            z = block.rows @ extended
            top = _top(z, block.first)
            z -= top if top.size == 1 else np.repeat(top, block.length)
            np.exp(z, out=z)
            block.sums.data = ones[: z.size]
            total = block.sums @ z
            np.divide(z, np.repeat(total, block.length), out=x[block.variables])
            np.add(np.log(total), top, out=log_sum[block.signatures])

        self.share(work, self.blocks)
        return x, log_sum

    def _tangents(self, x: Reals, d: Reals, use: Callable[[Reals, slice], None]) -> None:
        """Hand the tangent of each block to ``use`` while it is in the cache."""
        extended = self._extended(d)

        def work(block: Block) -> None:
            z = block.rows @ extended
            block.sums.data = x[block.variables]
            z -= np.repeat(block.sums @ z, block.length)
            use(z, block.variables)

        self.share(work, self.blocks)

    def tangent(self, x: Reals, d: Reals) -> Reals:
        found = np.empty(self.work.size)

        def use(tangent: Reals, variables: slice) -> None:
            found[variables] = tangent

        self._tangents(x, d, use)
        return found

    def hessian(self, x: Reals, d: Reals) -> Reals:
        def use(tangent: Reals, variables: slice) -> None:
            np.multiply(x[variables], tangent, out=self.work[variables])

        self._tangents(x, d, use)
        return self.gather(self.work)

    def diagonal(self, x: Reals) -> Reals:
        def work(block: Block) -> None:
            own, out = x[block.variables], self.work[block.variables]
            np.subtract(1.0, own, out=out)
            np.multiply(own, out, out=out)

        self.share(work, self.blocks)
        return self.gather(self.work)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring rows, with the components that they belong to."""

    rows: slice
    components: slice
    first: Ints  # where each component begins, from 0
    size: Ints

    def inner(self, a: Reals, b: Reals) -> Reals:
        """The part of an inner product that these rows give to each of their components."""
        return np.add.reduceat(a[self.rows] * b[self.rows], self.first)

    def on_rows(self, components: Array) -> Array:
        """A figure of each component, on its rows."""
        own = components[self.components]
        return own if own.size == 1 else np.repeat(own, self.size)


def stretches(row_component: Ints, component_start: Ints) -> list[Stretch]:
    """Cut rows that are sorted by component into stretches that stay in the cache."""
    found = []
    for a in range(0, row_component.size, _STRETCH):
        b = min(a + _STRETCH, row_component.size)
        own = slice(int(row_component[a]), int(row_component[b - 1]) + 1)
        first = np.maximum(component_start[own] - a, 0)
        found.append(Stretch(slice(a, b), own, first, np.diff(first, append=b - a)))
    return found


def _top(z: Reals, first: Ints) -> Reals:
    """What to subtract before exp: the largest score of all if they lie close together, else of each signature."""
    if not z.size:
        return z
    top = np.maximum.reduce(z)
    return np.array([top]) if top - np.minimum.reduce(z) < _CLOSE else np.maximum.reduceat(z, first)


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _blocks(problem: Reduced) -> Iterable[Block]:
    """Cut between signatures, about every `_BLOCK` variables."""
    from scipy.sparse import csr_array

    start, releases = problem.start, problem.rows.sure.shape[0]
    inner = np.searchsorted(start, np.arange(_BLOCK, start[-1], _BLOCK), side="right") - 1
    cut = np.unique(np.concatenate([[0], inner, [start.size - 1]]))
    largest = int(np.diff(start[cut]).max())
    # shared by all blocks, so that they stay in the cache
    ones, place = np.ones(releases * largest), np.arange(largest, dtype=np.int32)
    every = np.arange(0, releases * (largest + 1), releases, dtype=np.int32)
    for i, j in zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True):
        a, b = int(start[i]), int(start[j])
        size, signatures = b - a, (start[i : j + 1] - a).astype(np.int32)
        rows = csr_array((size, problem.rows.size + 1), dtype=np.float64)
        rows.data, rows.indptr = ones[: releases * size], every[: size + 1]
        rows.indices = problem.rows.sure[:, a:b].T.ravel()
        sums = csr_array((j - i, size), dtype=np.float64)
        sums.data, sums.indices, sums.indptr = ones[:size], place[:size], signatures
        yield Block(slice(i, j), slice(a, b), start[i:j] - a, np.diff(start[i : j + 1]), rows, sums)
