"""Linear programs that judge the facts and bounds of large histories.

The program is built from what is published and from who fits where (`Posterior.groups_of`), with nothing of
the package's solver:

    X[σ, s] ≥ 0    persons of signature σ (who fit the same groups everywhere) with value s, Σ_s X = persons
    Y[c, g, s] ≥ 0 those of candidate set c who sit in group g with value s, Σ_g Y = Σ of the X of c
                   (at most that, where being outside is possible)
    U[p, g, s] ≥ 0 members of pool p whom nobody names, or counterfeits
    Σ Y + Σ U = count of (g, s)

Seats need no variable per signature: whatever a set holds of a value can be dealt to its signatures in
proportion. One program judges all facts of an island at once: if the largest possible sum of everything
that is said to be impossible is 0, each of it is. Where the truth fits the program it is a point to start from:
something is impossible if and only if no direction that leads from there into what fits raises it, and this
program over directions takes the simplex method a moment where the other can take minutes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linprog
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

import showthrough as st

SMALL = 4_000  # variables that the simplex method takes in a moment
MET = 1e-5  # persons by which a point may miss a count


@dataclass(frozen=True)
class Sets:
    """The candidate sets of one release: groups of each, and whether being outside is possible."""

    groups: list[np.ndarray]
    outside: np.ndarray  # [sets]
    persons: np.ndarray  # [sets]


class Program:
    """The linear program of a history."""

    def __init__(self, releases: Sequence[st.Release], candidates: Sequence[pl.DataFrame]) -> None:
        told = [v for r in releases for v in r.counts()["value"].unique().to_list()]
        self.values = {v: k for k, v in enumerate(sorted(set(told), key=str))}
        self._entries: list[tuple[np.ndarray, np.ndarray, float]] = []
        self._right: list[np.ndarray] = []
        self._rows = self._columns = 0
        self.point: np.ndarray | None = None  # something that fits
        tables = [_table(r, self.values) for r in releases]
        sets, of_person = _candidate_sets(releases, candidates)
        self.people = {key: k for k, key in enumerate(of_person)}
        codes = np.array(list(of_person.values()), dtype=np.int64).reshape(len(of_person), len(releases))
        unique, signature, self.weight = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        self.signature = signature.ravel()
        self._persons(unique, sets, tables)
        for r, (release, table) in enumerate(zip(releases, tables, strict=True)):
            self._seats(release, table, sets[r], unique[:, r])
        self._finish()

    # Building --------------------------------------------------------------------------------

    def _new(self, size: int) -> np.ndarray:
        """Numbers of new variables."""
        self._columns += size
        return np.arange(self._columns - size, self._columns)

    def _add(self, rows: np.ndarray, columns: np.ndarray, factor: float) -> None:
        """Entries in rows that are numbered from the next new one."""
        self._entries.append((np.broadcast_to(rows, columns.shape) + self._rows, columns, factor))

    def _close(self, right: np.ndarray) -> None:
        """The new rows are complete."""
        self._right.append(np.asarray(right, dtype=float))
        self._rows += len(right)

    def _persons(self, unique: np.ndarray, sets: Sequence[Sets], tables: Sequence[np.ndarray]) -> None:
        """X: the values that somebody can have, as far as the groups alone tell."""
        allowed = np.ones((unique.shape[0], len(self.values)), dtype=bool)
        for r, own in enumerate(sets):
            can = np.ones((len(own.groups), len(self.values)), dtype=bool)
            for c in np.flatnonzero(~own.outside):
                can[c] = (tables[r][own.groups[c]] > 0).any(axis=0)
            here = unique[:, r] >= 0
            allowed[here] &= can[unique[here, r]]
        self.x = np.full(allowed.shape, -1, dtype=np.int64)
        sigma, _ = np.nonzero(allowed)
        self.x[allowed] = self._new(sigma.size)
        self._add(sigma, self.x[allowed], 1.0)
        self._close(self.weight)

    def _seats(self, release: st.Release, table: np.ndarray, sets: Sets, code: np.ndarray) -> None:
        """Y, U and the counts of one release."""
        row = np.full(table.shape, -1, dtype=np.int64)
        row[table > 0] = np.arange(int((table > 0).sum()))
        ties: list[tuple[np.ndarray, np.ndarray]] = []  # variables of a set and value, minus the X of its signatures
        for c, groups in enumerate(sets.groups):
            x = self.x[code == c]
            if groups.size == 1 and not sets.outside[c]:
                sigma, value = np.nonzero(x >= 0)
                self._add(row[groups[0], value], x[sigma, value], 1.0)
                continue
            for value in np.flatnonzero((x >= 0).any(axis=0)):
                at = groups[table[groups, value] > 0]
                seats = self._new(at.size)
                self._add(row[at, value], seats, 1.0)
                away = self._new(1) if sets.outside[c] else np.empty(0, dtype=np.int64)
                ties.append((np.concatenate([seats, away]), x[x[:, value] >= 0, value]))
        pools = []
        for groups, members in _pools(release, sets):
            g, value = np.nonzero(table[groups] > 0)
            unnamed = self._new(g.size)
            self._add(row[groups[g], value], unnamed, 1.0)
            pools.append((unnamed, members))
        self._close(table[table > 0])
        for k, (seats, persons) in enumerate(ties):
            self._add(np.array(k), seats, 1.0)
            self._add(np.array(k), persons, -1.0)
        self._close(np.zeros(len(ties)))
        for k, (unnamed, _) in enumerate(pools):
            self._add(np.array(k), unnamed, 1.0)
        self._close(np.array([members for _, members in pools]))

    def _finish(self) -> None:
        i = np.concatenate([rows for rows, _, _ in self._entries])
        j = np.concatenate([columns for _, columns, _ in self._entries])
        a = np.concatenate([np.full(columns.size, factor) for _, columns, factor in self._entries])
        self.A = csr_array(coo_array((a, (i, j)), shape=(self._rows, self._columns)))
        self.b = np.concatenate(self._right)
        count = self._rows + self._columns
        edges = coo_array((np.ones(i.size, dtype=np.int8), (i, self._rows + j)), shape=(count, count))
        _, label = connected_components(edges, directed=False)
        self.island_of_row, self.island = label[: self._rows], label[self._rows :]
        self._entries.clear()

    # Solving ---------------------------------------------------------------------------------

    def start_from(self, truth: pl.DataFrame, seconds: float) -> None:
        """Take the truth (id, release, value) as a point that fits, if it does; seats are found for it."""
        of_id: dict[Any, set[Any]] = {}
        of_part: dict[Any, Any] = {}
        for id, release, value in truth.select("id", "release", "value").iter_rows():
            of_id.setdefault(id, set()).add(value)
            of_part[id, release] = value
        point = np.zeros(self._columns)
        for (first, *part), person in self.people.items():
            told = {of_part.get((str(first), part[0]))} if part and part[0] else of_id.get(str(first), set())
            value = self.values.get(next(iter(told))) if len(told) == 1 else None
            variable = -1 if value is None else self.x[self.signature[person], value]
            if variable < 0:
                return
            point[variable] += 1.0
        others = np.arange(int(self.x.max(initial=-1)) + 1, self._columns)
        if others.size:
            left = self.b - self.A @ point
            status, seats = _solve(np.zeros(others.size), csc_array(self.A)[:, others], left, seconds)
            if seats is None or status != "found":
                return
            point[others] = np.where(seats < 1e-9, 0.0, seats)
        if np.abs(self.A @ point - self.b).max(initial=0.0) < 1e-7:
            self.point = point

    def extreme(self, wanted: np.ndarray, seconds: float, *, least: bool = False) -> tuple[str, np.ndarray]:
        """A point of the islands of some variables where their sum is largest: "found", "none" or "open"."""
        rows, columns, A = self._part(wanted)
        cost, point = np.zeros(self._columns), np.zeros(self._columns)
        cost[wanted] = 1.0 if least else -1.0
        status, found = _solve(cost[columns], A, self.b[rows], seconds)
        if found is not None:
            point[columns] = found
        return status, point

    def raised(self, wanted: np.ndarray, seconds: float) -> tuple[str, np.ndarray]:
        """A direction from the known point that raises the sum of some variables most, by at most 1 each.

        What is above 0 at the point is told as it is there.
        """
        if self.point is None:
            return self.extreme(wanted, seconds)
        rows, columns, A = self._part(wanted)
        cost, direction = np.zeros(self._columns), np.zeros(self._columns)
        cost[wanted[self.point[wanted] == 0]] = -1.0
        free = self.point[columns] > 0
        limits = np.column_stack([np.where(free, -np.inf, 0.0), np.where(free, np.inf, 1.0)])
        options = {"time_limit": seconds}
        found = linprog(
            cost[columns], A_eq=A, b_eq=np.zeros(rows.size), bounds=limits, method="highs-ds", options=options
        )
        if found.status != 0:
            return self.extreme(wanted, seconds)
        direction[columns] = np.where(free, self.point[columns], found.x)
        return "found", direction

    def _part(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, csc_array]:
        """Rows, columns and entries of the islands of some variables."""
        islands = np.unique(self.island[wanted])
        rows = np.flatnonzero(np.isin(self.island_of_row, islands))
        columns = np.flatnonzero(np.isin(self.island, islands))
        return rows, columns, csc_array(self.A[rows])[:, columns]

    def ends(self, signature: int, value: int, seconds: float) -> tuple[float, float] | None:
        """The smallest and largest probability of a value for one person; None if no program ended in time."""
        variable = self.x[signature, [value]]
        weight, found = self.weight[signature], []
        for least in (True, False):
            status, point = self.extreme(variable, seconds, least=least)
            if status != "found":
                return None
            found.append(float(point[variable[0]]))
        return max(0.0, found[0] - (weight - 1)), min(1.0, found[1])


def _solve(cost: np.ndarray, A: csc_array, b: np.ndarray, seconds: float) -> tuple[str, np.ndarray | None]:
    """One program: simplex where it is small, otherwise interior point, without crossover if need be."""
    ways: list[tuple[str, dict[str, Any]]] = [
        ("highs-ipm", {"presolve": False, "run_crossover": "off"}),
        ("highs-ipm", {"presolve": True, "run_crossover": "off", "ipm_optimality_tolerance": 1e-4}),
        ("highs-ds", {}),
    ]
    if cost.size <= SMALL:
        ways = [("highs-ds", {}), *ways]
    for method, options in ways:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = linprog(cost, A_eq=A, b_eq=b, method=method, options={"time_limit": seconds, **options})
        if found.status == 2:
            return "none", None
        if found.status == 0 and np.abs(A @ found.x - b).max(initial=0.0) < MET:
            return "found", found.x
    return "open", None


def _table(release: st.Release, values: dict[Any, int]) -> np.ndarray:
    """[groups, values] the published counts."""
    counts, place = release.counts(), {g: k for k, g in enumerate(release.labels.to_list())}
    found = np.zeros((len(place), len(values)))
    group = [place[g] for g in counts["group"].to_list()]
    found[group, [values[v] for v in counts["value"].to_list()]] = counts["n"].to_numpy()
    return found


def _candidate_sets(
    releases: Sequence[st.Release], candidates: Sequence[pl.DataFrame]
) -> tuple[list[Sets], dict[tuple[Any, ...], list[int]]]:
    """The sets of every release, and for everybody the number of the own set in each, -1 for none."""
    found, of_person = list[Sets](), dict[tuple[Any, ...], list[int]]()
    for r, (release, frame) in enumerate(zip(releases, candidates, strict=True)):
        place = {g: k for k, g in enumerate(release.labels.to_list())}
        who = [c for c in frame.columns if c != "group"]
        lists: dict[tuple[Any, ...], list[int]] = {}
        for *key, group in frame.select(*who, "group").iter_rows():
            lists.setdefault(tuple(key), []).append(-1 if group is None else place[group])
        numbers: dict[tuple[int, ...], int] = {}
        persons: list[int] = []
        for key, groups in lists.items():
            number = numbers.setdefault(tuple(sorted(groups)), len(numbers))
            if number == len(persons):
                persons.append(0)
            persons[number] += 1
            of_person.setdefault(key, [-1] * len(releases))[r] = number
        outside = np.array([-1 in own for own in numbers], dtype=bool)
        groups_of = [np.array([g for g in own if g >= 0], dtype=np.int64) for own in numbers]
        found.append(Sets(groups_of, outside, np.array(persons, dtype=np.int64)))
    return found, of_person


def _pools(release: st.Release, sets: Sets) -> list[tuple[np.ndarray, int]]:
    """Groups and number of the members whom nobody names, and of counterfeits.

    As many persons of a register as fit are in the release; groups that persons tie together share the rest.
    """
    labels = release.labels.to_list()
    place = {g: k for k, g in enumerate(labels)}
    fakes = {place[g]: int(n) for g, n in release.counterfeits.select("group", "n").iter_rows()}
    found = [(np.array([g]), n) for g, n in fakes.items()]
    if release.roles.id is not None:
        return found
    room = release.size.to_numpy().astype(np.int64).copy()
    for g, n in fakes.items():
        room[g] -= n
    tail = np.repeat(np.arange(len(sets.groups)), [own.size for own in sets.groups])
    head = np.concatenate([*sets.groups, np.empty(0, dtype=np.int64)])
    count, S, G = len(sets.groups) + len(labels) + 2, len(sets.groups), len(labels)
    ends = [np.full(S, S + G), tail, S + np.arange(G)], [np.arange(S), S + head, np.full(G, S + G + 1)]
    capacity = np.concatenate([sets.persons, sets.persons[tail], room]).astype(np.int32)
    graph = csr_array((capacity, (np.concatenate(ends[0]), np.concatenate(ends[1]))), shape=(count, count))
    flow = csr_array(maximum_flow(graph, S + G, S + G + 1).flow)
    taken = np.asarray(flow[[S + G + 1], :].toarray()).ravel()[S : S + G] * -1
    tied = coo_array((np.ones(tail.size, dtype=np.int8), (tail, S + head)), shape=(S + G, S + G))
    _, label = connected_components(tied, directed=False)
    left = np.bincount(label[S:], weights=room - taken).astype(int)
    return [*found, *((np.flatnonzero(label[S:] == k), int(left[k])) for k in np.flatnonzero(left > 0))]
