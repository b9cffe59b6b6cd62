"""Presolve as reversible steps: each returns a smaller problem and how to undo it.

The chain: drop the proven zeros, fix the persons who have one value and one group left, drop rows that no
variable serves any more, take together values that hang on no row (`bunches`), and order everything by connected
component.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from showthrough.inference import graphs
from showthrough.inference.bunches import Bunches, merge
from showthrough.inference.passes import Sweeps, sweeps_over
from showthrough.inference.problem import Problem
from showthrough.inference.remaining import Remaining, choices_of, loose
from showthrough.inference.rows import Rows, Seats, Stated
from showthrough.table.arrays import Flags, Ints, Reals, sum_by
from showthrough.table.ragged import items_of, owners, ranks, starts

_TINY = 1e-300


@dataclass(frozen=True)
class Reduced:
    """A problem in which every signature has a choice, sorted by component, with the way back.

    Legend: m signatures, v variables, k components; ``start`` etc. as in `Problem`.
    """

    weight: Reals  # [m]
    start: Ints  # [m + 1]
    rows: Rows  # with what is left of the counts
    signature_component: Ints  # [m], ascending
    row_component: Ints  # [rows], ascending
    row_block: Ints  # [rows] groups that a constant can be added to without changing anything; −1: none
    components: int
    variable_of: Ints  # [v] the variable of the full problem
    row_of: Ints  # [rows] the row of the full problem
    candidate_of: Ints  # [candidates] the term of the full problem; −1: a group that is certain, or one of many
    log_prior: Reals | None = None  # [v]
    bunches: Bunches | None = None  # what single variables stand for; None: each for itself

    @property
    def count(self) -> Ints:
        """[rows] what is left of the published counts; of ranges the least."""
        return self.rows.lower

    @property
    def plain(self) -> bool:
        """Whether every variable stands in one row per release and nothing else is known."""
        return self.rows.plain and self.log_prior is None

    @cached_property
    def term_of(self) -> Ints:
        """[terms] the term of the full problem."""
        return np.concatenate([self.variable_of, self.candidate_of])

    @property
    def signature(self) -> Ints:
        """[v] the signature of each variable; not kept, as large problems would feel it."""
        return owners(self.start)

    @property
    def term_component(self) -> Ints:
        """[terms] the component of each term."""
        variables = np.repeat(self.signature_component, np.diff(self.start))
        return variables if not self.rows.seats else np.asarray(variables[self.rows.owner])

    @cached_property
    def sweeps(self) -> Sweeps:
        """How passes over the variables are made; prepared once."""
        return sweeps_over(self)

    def behind(self, terms: Ints) -> Ints:
        """The terms of the full problem that some terms stand for."""
        found = self.term_of[terms]
        found = found[found >= 0]
        if self.bunches is None:
            return found
        variables = np.zeros(self.rows.variables, dtype=bool)
        variables[self.rows.owner[terms]] = True
        return np.union1d(found, self.bunches.behind(variables))

    def undo(self, terms: Reals, problem: Problem, alive: Flags) -> Reals:
        """The full answer over terms: zeros where excluded, what was found where some row weighs a choice.

        What no row weighs (persons who are outside all releases if they are not what was excluded) is
        spread evenly, or as the prior says; a single choice is certain. Candidates get their part of their variable.
        """
        full = shares(problem, alive)
        variables = self.variable_of.size
        full[self.variable_of] = terms[:variables]
        if self.bunches is not None:
            self.bunches.spread(terms[:variables], full)
        _seat_evenly(problem, alive, full)
        real = self.candidate_of >= 0
        full[self.candidate_of[real]] = terms[variables:][real]
        return full

    def undo_rows(self, mu: Reals, problem: Problem) -> Reals:
        """The multipliers of all rows of the full problem (0 where the row dropped out)."""
        full = np.zeros(problem.rows.size)
        full[self.row_of] = mu
        return full

    def restrict(self, keep: Flags) -> Reduced:
        """The same batch with some components only."""
        number = ranks(keep)
        signatures = keep[self.signature_component]
        length = np.diff(self.start)
        chosen_variables = np.repeat(signatures, length)
        variables = np.flatnonzero(chosen_variables)
        chosen = np.flatnonzero(keep[self.row_component])
        rows, candidates = self.rows.over(variables)
        return replace(
            self,
            weight=self.weight[signatures],
            start=starts(length[signatures]),
            rows=rows.renumbered(chosen),
            signature_component=number[self.signature_component[signatures]],
            row_component=number[self.row_component[chosen]],
            row_block=self.row_block[chosen],
            components=int(keep.sum()),
            variable_of=self.variable_of[variables],
            row_of=self.row_of[chosen],
            candidate_of=self.candidate_of[candidates],
            log_prior=None if self.log_prior is None else self.log_prior[variables],
            bunches=None if self.bunches is None else self.bunches.at(ranks(chosen_variables)),
        )

    def parts(self) -> Iterator[Reduced]:
        """Each component alone."""
        if self.components == 1:
            yield self
            return
        first_signature = np.searchsorted(self.signature_component, np.arange(self.components + 1))
        first_row = np.searchsorted(self.row_component, np.arange(self.components + 1))
        for k in range(self.components):
            yield self._part(slice(*first_signature[k : k + 2]), slice(*first_row[k : k + 2]))

    def _part(self, signatures: slice, rows: slice) -> Reduced:
        """Neighbouring signatures and rows that make a component."""
        span = slice(int(self.start[signatures.start]), int(self.start[signatures.stop]))
        part, candidates = self.rows.stretch(span, rows)
        return replace(
            self,
            weight=self.weight[signatures],
            start=self.start[signatures.start : signatures.stop + 1] - span.start,
            rows=part,
            signature_component=np.zeros(signatures.stop - signatures.start, dtype=np.int64),
            row_component=np.zeros(rows.stop - rows.start, dtype=np.int64),
            row_block=self.row_block[rows],
            components=1,
            variable_of=self.variable_of[span],
            row_of=self.row_of[rows],
            candidate_of=self.candidate_of[candidates],
            log_prior=None if self.log_prior is None else self.log_prior[span],
            bunches=None if self.bunches is None else self.bunches.within(span),
        )

    def shares_of(self, mass: Reals) -> Reals:
        """[terms] masses as probabilities: of variables within their signature, of candidates within their variable."""
        variables = self.rows.variables
        found, own = mass.copy(), mass[:variables]
        total = sum_by(self.signature, own, self.weight.size)
        found[:variables] = own / np.maximum(total, _TINY)[self.signature]
        for seats in self.rows.seats:
            places = self.rows.places(seats)
            whole = sum_by(seats.owner, mass[places], variables)
            even = 1.0 / np.maximum(np.diff(seats.start), 1)
            part = mass[places] / np.maximum(whole, _TINY)[seats.owner]
            found[places] = np.where(whole[seats.owner] > 0, part, even[seats.owner])
        return found

    def terms_in(self, keep: Flags) -> Flags:
        """[terms] those of some components."""
        variables = np.repeat(keep[self.signature_component], np.diff(self.start))
        return variables if not self.rows.seats else np.asarray(variables[self.rows.owner])


def reduce(problem: Problem, alive: Flags, rows: Rows | None = None) -> Reduced:
    """Apply the chain to all that has a choice and is weighed by some row."""
    free = Remaining.of(problem, alive, choices_of(problem, alive))
    if problem.rows.seats or problem.log_prior is not None:
        free = free.only(~unweighed(problem, alive)[free.signature])
    return reduced_to(free, rows)


def reduced_to(free: Remaining, rows: Rows | None = None, *, merging: bool = False) -> Reduced:
    """What remains as a problem of its own; ``rows`` may have tighter counts than those of the problem.

    With ``merging`` values that hang on no row are taken together.
    """
    problem, signature = free.problem, free.signature
    left, row_of, candidate_of = _left_rows(free, rows)
    first = np.flatnonzero(np.append(True, signature[1:] != signature[:-1])) if signature.size else free.variable
    own, start = signature[first], np.append(first, signature.size)
    variable_of, bunches = free.variable, None
    log_prior = None if problem.log_prior is None else problem.log_prior[variable_of]
    merged = merge(left, start, variable_of, log_prior) if merging else None
    if merged is not None:
        bunches, log_prior = merged.bunches, merged.log_prior
        left, chosen = left.over(merged.kept)
        variable_of, candidate_of = variable_of[merged.kept], candidate_of[chosen]
        several = np.zeros(variable_of.size, dtype=bool)
        several[bunches.owner] = True
        candidate_of[several[left.owner[left.variables :]]] = -1  # they are outside, each with its own part
        start = np.searchsorted(merged.kept, start)
    component, row_component, components = _components(start, left)
    if (component[1:] < component[:-1]).any():
        order = np.argsort(component, kind="stable")
        own, component = own[order], component[order]
        at, length = items_of(start, order)
        variable_of, start = variable_of[at], starts(length)
        log_prior = None if log_prior is None else log_prior[at]
        if bunches is not None:
            bunches = bunches.at(np.argsort(at))
        left, chosen = left.over(at)
        candidate_of = candidate_of[chosen]
    if (row_component[1:] < row_component[:-1]).any():
        order = np.argsort(row_component, kind="stable")
        row_of, row_component = row_of[order], row_component[order]
        left = left.renumbered(order)
    group = problem.row_group[row_of]
    return Reduced(
        weight=problem.weight[own].astype(np.float64),
        start=start.astype(np.int64, copy=False),
        rows=left,
        signature_component=component,
        row_component=row_component,
        row_block=np.append(problem.places.block, -1)[group],  # the last is that of statements
        components=components,
        variable_of=variable_of,
        row_of=row_of,
        candidate_of=candidate_of,
        log_prior=log_prior,
        bunches=bunches,
    )


def shares(problem: Problem, alive: Flags) -> Reals:
    """[terms] an even share of what is left for each signature (or what the prior gives it); candidates 0."""
    live = alive[: problem.variables]
    full = np.zeros(problem.terms)
    if problem.log_prior is None:
        share = 1.0 / np.maximum(choices_of(problem, alive), 1)
        full[: problem.variables] = share.take(problem.signature) * live
        return full
    z = np.where(live, problem.log_prior, -np.inf)
    top = np.maximum.reduceat(z, problem.start[:-1])
    e = np.exp(z - np.where(np.isfinite(top), top, 0.0)[problem.signature])
    total = np.add.reduceat(e, problem.start[:-1])
    full[: problem.variables] = e / np.maximum(total, 1e-300)[problem.signature]
    return full


def nothing_left(problem: Problem, alive: Flags) -> Reals:
    """[terms] the answer where no row leaves a choice."""
    full = shares(problem, alive)
    _seat_evenly(problem, alive, full)
    return full


def _seat_evenly(problem: Problem, alive: Flags, full: Reals) -> None:
    """Give each open candidate an even part of its variable."""
    for own in problem.rows.seats:
        possible = problem.rows.open(own, alive)
        number = np.maximum(np.bincount(own.owner[possible], minlength=problem.variables), 1)
        full[problem.rows.places(own)] = possible * (full[: problem.variables] / number).take(own.owner)


def unweighed(problem: Problem, alive: Flags) -> Flags:
    """[m] signatures with several choices none of which is in any row."""
    rows, size = problem.rows, problem.rows.size
    weighed = alive[: problem.variables] & (rows.sure != size).any(axis=0)
    for own in rows.seats:
        weighed[own.owner[rows.open(own, alive) & (own.row != size)]] = True
    weighed[rows.stated.variable] = True
    weighed &= alive[: problem.variables]
    several = (choices_of(problem, alive) > 1) | loose(problem, alive)
    return np.asarray(~np.logical_or.reduceat(weighed, problem.start[:-1]) & several)


def _left_rows(free: Remaining, tight: Rows | None) -> tuple[Rows, Ints, Ints]:
    """The rows with what is left of their counts, over what remains; the row and candidates of the whole."""
    problem = free.problem
    rows, size = problem.rows, free.variable.size
    tightened = free if tight is None else free.tightened(tight)
    left, most = tightened.left, tightened.most
    seats: list[Seats] = []
    taken = [np.empty(0, dtype=np.int64)]
    for own in free.seats:
        owner, row, term = own.owner, own.row, own.term
        done = np.flatnonzero(np.bincount(owner, minlength=size) == 0)
        if done.size:  # groups that are certain and were taken off
            order = np.argsort(np.concatenate([owner, done]), kind="stable")
            row = np.append(row, np.full(done.size, rows.size, dtype=np.int32))[order]
            term = np.append(term, np.full(done.size, -1))[order]
            owner = np.concatenate([owner, done])[order]
        start = np.searchsorted(owner, np.arange(size + 1)).astype(np.int64)
        seats.append(Seats(own.release, start, row, sum(one.row.size for one in seats)))
        taken.append(term)
    stated = rows.stated
    if stated.row.size:
        place = np.full(problem.variables, -1, dtype=np.int64)
        place[free.variable] = np.arange(size)
        at = np.flatnonzero(place[stated.variable] >= 0)
        stated = Stated(place[stated.variable[at]], stated.row[at], stated.coefficient[at])
    upper = left if most is left else most
    part, kept = Rows(left, upper, free.row, rows.sure_release, tuple(seats), stated).settled()
    return (*part.numbered(), np.concatenate(taken)[kept])


def _components(start: Ints, rows: Rows) -> tuple[Ints, Ints, int]:
    """Components of the graph of signatures and rows."""
    signatures = start.size - 1
    own = np.repeat(np.arange(signatures, dtype=np.int32), np.diff(start))
    # an absent row becomes a loop, so that the edges stay sorted by signature
    heads = [np.where(rows.sure == rows.size, own, rows.sure + np.int32(signatures)).T.ravel()]
    tails = [np.repeat(own, rows.sure.shape[0])]
    for seats in rows.seats:
        mine = own[seats.owner]
        heads.append(np.where(seats.row == rows.size, mine, seats.row + np.int32(signatures)))
        tails.append(mine)
    heads.append(rows.stated.row + np.int32(signatures))
    tails.append(own[rows.stated.variable])
    del own
    tail, head = np.concatenate(tails), np.concatenate(heads)
    del tails, heads
    components, label = graphs.components(signatures + rows.size, tail, head)
    return label[:signatures], label[signatures:], components
