"""From the log of the face to a proof that people can read: the steps that a fact leans on, or fewer rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from showthrough.errors import ContradictionError, LongProofError, NotProvenError
from showthrough.inference.chain import Weighing, excluding, leading_to, leaving_one
from showthrough.inference.face import NEVER, Contradicted, Face
from showthrough.inference.history import History
from showthrough.inference.narrate import Narrator
from showthrough.inference.problem import STATEMENT
from showthrough.inference.proof import Argument, Contradiction, Proof, WeighedRow, WeighedStatement
from showthrough.inference.solved import Solved
from showthrough.inference.splitting import ADVICE, parts_of
from showthrough.said import private
from showthrough.table.arrays import Ints
from showthrough.table.codes import positions
from showthrough.table.frozen import Frozen

SECONDS = 10.0  # for the search of a short proof
_FEW = 12  # rows that nobody needs to make fewer
_GIVING_WAY = (
    "Leave statements out, give shares a tolerance, or let statements give way by as little as they can: elastic."
)
_FURTHER = 8  # how many times more steps the log may take if all of them can be said in one


def explain(
    post: Solved,
    id: Any,
    value: Any,
    release: str | None,
    most_steps: int | None = None,
    seconds: float = SECONDS,
) -> Proof:
    """The proof that a value is certain or impossible for a person; LongProof if it takes too many steps."""
    part, signature = post.locate(id, release)
    code = post.value_code(value)
    if not (post.consistent | post.conditional)[signature]:
        raise NotProvenError(
            f"Nothing is proven of {private(id, 'this person')}: the releases contradict each other there."
        )
    span = post.span(signature)
    own = next((v for v in span if post.problem.value[v] == code), None)
    removed = [v for v in span if post.face.removed_at[v] != NEVER]
    other = [v for v in span if post.problem.value[v] != code]

    def proof(fact: str, by: str, steps: tuple[Argument, ...], reason: str) -> Proof:
        by = "knowledge" if any(isinstance(row, WeighedStatement) for step in steps for row in step.rows) else by
        word = post.history.values[code]
        h = post.history
        choice, parts = h.changed.otherwise, _parts(h, steps, post.published_id(id))
        leeway = h.reader.leeway
        return Proof(post.published_id(id), word, fact, by, steps, reason, h.names, choice, part, parts, leeway)

    if own is None:
        return proof("impossible", "sets", (), post.narrator.missing_in(signature, code))
    if own in removed:
        weighings = _fewest(post, [own], partial(excluding, post.face, [own]), most_steps, seconds)
        return proof("impossible", "counts", *_told(post, id, weighings, [own], None))
    if not set(other) <= set(removed):
        raise NotProvenError(
            f"{private(value, 'The value')} is neither certain nor impossible for {private(id, 'this person')}"
            f"{private(f': P = {post.x[own]:.6g}', '')}."
        )
    if not other:
        return proof("certain", "sets", (), post.narrator.only_common(signature))
    log = partial(excluding, post.face, other)
    if not post.problem.unsure[signature]:
        log = partial(leaving_one, post.face, own, removed)
    weighings = _fewest(post, other, log, most_steps, seconds)
    return proof("certain", "counts", *_told(post, id, weighings, other, own))


def _fewest(
    post: Solved,
    targets: list[int],
    log: Callable[[int | None], list[Weighing]],
    most_steps: int | None,
    seconds: float,
) -> list[Weighing]:
    """What the log tells, or one weighing on fewer of its rows, if one is found in time."""
    try:
        told = log(most_steps)
    except LongProofError:
        further = [] if not most_steps or seconds <= 0 else log(_FURTHER * most_steps)
        short = _single(post.face, targets, further, seconds)
        if short is None:
            raise LongProofError(f"The proof takes more than {most_steps} steps.") from None
        return short
    if _rows(told) <= _FEW and all(post.narrator.is_plain(post.face.weigh(w, before=step)) for step, w in told):
        return told
    short = _single(post.face, targets, told, seconds)
    return told if short is None or _rows(short) >= _rows(told) else short


def _rows(weighings: list[Weighing]) -> int:
    """How many rows are weighed, step by step."""
    return sum(int(np.count_nonzero(weights)) for _, weights in weighings)


def _single(face: Face, targets: list[int], told: list[Weighing], seconds: float) -> list[Weighing] | None:
    """One weighing that shows the same as several; without targets, a contradiction."""
    if seconds <= 0 or not told:
        return None
    from showthrough.inference.shortest import shortest  # loads the linear-programming library

    rows = np.flatnonzero(np.any([w != 0 for _, w in told], axis=0))
    weights = shortest(face, np.array(targets, dtype=np.int64), rows, seconds)
    return None if weights is None else [(0, weights)]


def _told(
    post: Solved, id: Any, weighings: list[Weighing], targets: list[int], own: int | None
) -> tuple[tuple[Argument, ...], str]:
    """The weighings in words, and what follows from them for the person."""
    words = {
        v: str(post.history.values[int(post.problem.value[v])]) for v in (*targets, *([] if own is None else [own]))
    }
    steps = tuple(_argument(post.face, post.narrator, w, step) for step, w in weighings)
    if len(steps) == 1:
        step, weights = weighings[0]
        named, left = {v: words[v] for v in targets}, "" if own is None else words[own]
        weighed = post.face.weigh(weights, before=step)
        reason = post.narrator.conclude(weighed, post.published_id(id), named, left)
        if reason:
            return steps, reason
    if own is None:
        return steps, ""
    signature = int(post.problem.signature[own])
    if {str(row.value) for row in steps[-1].counts} == {words[own]} and not post.problem.unsure[signature]:
        return steps, ""  # the counts of the value itself tell that the person has it
    return steps, post.narrator.others_excluded(signature, targets)


def contradiction_error(
    history: History, face: Face, of_person: Ints, clash: Contradicted, seconds: float = SECONDS
) -> ContradictionError:
    """The weighings that lead to the clash, as an error that names it."""
    problem, narrator = face.problem, Narrator(history, face.problem, of_person)
    weighings: list[Weighing] = []
    reason = ""
    if clash.weights is not None:
        weighings = leading_to(face, clash.weights)
    elif clash.emptied is not None:
        signature = int(problem.signature[clash.emptied])
        weighings = excluding(face, list(range(int(problem.start[signature]), int(problem.start[signature + 1]))))
        reason = f"\n{narrator.nothing_left(signature)}"
    if _rows(weighings) > _FEW:
        short = _single(face, [], weighings, seconds)
        if short is not None and _rows(short) < _rows(weighings):
            weighings, reason = short, ""
    steps, leeway = tuple(_argument(face, narrator, w, step) for step, w in weighings), history.reader.leeway
    found = Contradiction(steps, history.names, history.changed.otherwise, _parts(history, steps), leeway)
    rows = np.flatnonzero(np.any([w != 0 for _, w in weighings], axis=0))
    published = rows[problem.row_release[rows] != STATEMENT]
    groups = [int(g) for g in dict.fromkeys(problem.row_group[published])]
    values, names = len(set(problem.row_value[published].tolist())), history.names
    where = ", ".join(dict.fromkeys(names[history.release_of(g)] for g in groups))
    about = (
        f"{values} value{'' if values == 1 else 's'} in {len(groups)} group{'' if len(groups) == 1 else 's'} of {where}"
    )
    said = int(rows.size - published.size)
    lead, advice = "The releases contradict each other: no assignment of values to persons fits all counts.", ADVICE
    if said:
        lead = "The statements contradict each other: no assignment of values to persons fits them."
        if groups or said == 1:
            verb = "A statement contradicts" if said == 1 else "Statements contradict"
            lead = f"{verb} the releases: no assignment of values to persons fits both."
        stated = f"{said} statement{'' if said == 1 else 's'}"
        about, advice = f"{stated} and {about}" if groups else stated, _GIVING_WAY
    return ContradictionError(
        f"{lead}\n{found}{reason}\n{advice}",
        shareable=f"{lead} The clash is about {about}. {advice}",
        parameters=("elastic",) if said else ("changed",),
        contradiction=found,
    )


def _parts(history: History, steps: tuple[Argument, ...], *asked: Any) -> Frozen[Any, tuple[int, ...]]:
    """The ids among those whom the steps speak of that stand for several persons."""
    every = parts_of(history)
    if not every:
        return Frozen()
    rows = dict.fromkeys(groups for step in steps for groups in step.groups)
    groups = [int(positions(pl.Series([g]).cast(history.labels[r].dtype), history.labels[r])[0]) for r, g in rows]
    people = [history.who_fits(g + int(history.first_group[r])) for (r, _), g in zip(rows, groups, strict=True)]
    near = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *people]))
    ids = dict.fromkeys([*asked, *history.ids.gather(near[near < history.named]).to_list()])
    return Frozen({i: every[i] for i in ids if i in every})


def _argument(face: Face, narrator: Narrator, weights: Ints, step: int) -> Argument:
    problem, history = face.problem, narrator.history
    rows = tuple(
        WeighedStatement(problem.statement(r), int(weights[r]))
        if problem.row_release[r] == STATEMENT
        else WeighedRow(
            int(problem.row_release[r]),
            history.group_label(int(problem.row_group[r])),
            history.value_name(int(problem.row_value[r])),
            int(weights[r]),
        )
        for r in np.flatnonzero(weights).tolist()
    )
    text, full = narrator.tell(face.weigh(weights, before=step))
    return Argument(rows, text, "" if full == text else full)
