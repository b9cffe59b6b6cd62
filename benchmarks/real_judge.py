"""Facts and bounds beside the linear programs of `real_oracle`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from benchmarks.real_oracle import Program

REFUTED, CONFIRMED = 1e-2, 1e-5  # persons
BATCH = 30_000  # variables of islands that are judged together


@dataclass
class Judged:
    """What the programs said of facts or bounds."""

    confirmed: int = 0
    refuted: int = 0
    doubtful: int = 0  # the program ended near 0, not at it
    unjudged: int = 0  # no program ended in time
    infeasible: int = 0  # facts of islands where nothing fits
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)


def judge_facts(program: Program, facts: pl.DataFrame, seconds: float) -> Judged:
    """All facts by as few programs as possible: id, (release,) value, fact."""
    said, began = Judged(), time.process_time()
    who = [c for c in facts.columns if c in ("id", "release")]
    behind: dict[int, list[str]] = {}  # a variable that must be 0, and the facts that say so
    for *key, value, fact in facts.select(*who, "value", "fact").iter_rows():
        person = program.people.get(tuple(key))
        if person is None:
            said.unjudged += 1
            continue
        own = program.x[program.signature[person]]
        mine = int(own[program.values[value]])
        others = [int(k) for k in own if k >= 0 and k != mine]
        must = others if fact == "certain" else [mine] * (mine >= 0)
        text = f"{' '.join(map(str, key))}: {value} {fact}"
        if fact == "certain" and mine < 0:
            said.refuted += 1
            said.examples.append(text)
        elif not must:
            said.confirmed += 1  # the groups alone say it
        else:
            for k in must:
                behind.setdefault(k, []).append(text)
    claims = np.array(sorted(behind), dtype=np.int64)
    for part in _batches(program, claims):
        _judge(program, part, behind, said, seconds)
    said.seconds = time.process_time() - began
    return said


def _batches(program: Program, claims: np.ndarray) -> list[np.ndarray]:
    """The claims by island; small islands together."""
    size, found, now, room = np.bincount(program.island), list[np.ndarray](), list[np.ndarray](), BATCH
    order = claims[np.argsort(program.island[claims], kind="stable")]
    for part in np.split(order, np.flatnonzero(np.diff(program.island[order])) + 1) if order.size else []:
        if now and size[program.island[part[0]]] > room:
            found, now, room = [*found, np.concatenate(now)], [], BATCH
        now.append(part)
        room -= int(size[program.island[part[0]]])
    return [*found, np.concatenate(now)] if now else found


def _judge(program: Program, claims: np.ndarray, behind: dict[int, list[str]], said: Judged, seconds: float) -> None:
    """The claims of some islands; islands where nothing fits are found by halving."""
    islands = np.unique(program.island[claims])
    status, point = program.raised(claims, seconds)
    if status == "none" and islands.size > 1:
        for half in np.array_split(islands, 2):
            _judge(program, claims[np.isin(program.island[claims], half)], behind, said, seconds)
        return
    facts = {fact for k in claims for fact in behind[int(k)]}
    if status == "none":
        said.infeasible += len(facts)
        return
    if status == "open":
        said.unjudged += len(facts)
        return
    raised = claims[point[claims] > CONFIRMED]
    if program.point is not None and raised.size:  # the point it starts from is one of double precision: ask again
        status, again = program.extreme(raised, seconds)
        if status == "found":
            point[raised] = again[raised]
        else:  # what the first program says of these is not to be relied upon
            open_ones = {fact for k in raised for fact in behind[int(k)]}
            said.unjudged += len(open_ones)
            facts, claims = facts - open_ones, claims[~np.isin(claims, raised)]
    wrong = {fact for k in claims[point[claims] > REFUTED] for fact in behind[int(k)]}
    near = {fact for k in claims[point[claims] > CONFIRMED] for fact in behind[int(k)]} - wrong
    said.refuted += len(wrong)
    said.doubtful += len(near)
    said.confirmed += len(facts) - len(wrong) - len(near)
    said.examples += sorted(wrong)[:3]


def judge_bounds(program: Program, bounds: pl.DataFrame, seconds: float) -> Judged:
    """Every bound by two programs: id, (release,) value, lower, upper."""
    said, began = Judged(), time.process_time()
    who = [c for c in bounds.columns if c in ("id", "release")]
    for *key, value, lower, upper in bounds.select(*who, "value", "lower", "upper").iter_rows():
        person = program.people.get(tuple(key))
        if person is None:
            said.unjudged += 1
            continue
        signature, code = int(program.signature[person]), program.values[value]
        ends = (0.0, 0.0) if program.x[signature, code] < 0 else program.ends(signature, code, seconds)
        if ends is None:
            said.unjudged += 1
        elif lower <= ends[0] + CONFIRMED and upper >= ends[1] - CONFIRMED:
            said.confirmed += 1
        else:
            said.refuted += 1
            said.examples.append(f"{key[0]} {value}: [{lower:g}, {upper:g}] leaves out [{ends[0]:g}, {ends[1]:g}]")
    said.seconds = time.process_time() - began
    return said
