"""deFinetti: all groups of a release teach how quasi-identifiers and values go together, and each group is read by it.

Kifer, *Attacks on Privacy and deFinetti's Theorem*, SIGMOD 2009. Members of a group look interchangeable only as long
as nobody compares groups. The model is naive Bayes with Dirichlet priors (`naive_bayes.py`), the same for all groups;
"gibbs" samples it together with who has which value (`gibbs.py`), "em" looks for a fixed point (`expectation.py`).
Several releases are pooled: beliefs are then those of `infer` with the model as its prior, so that they meet all
releases.

``one_shot`` stands beside it: the model learned once from random worlds, without turning back (Cormode, KDD 2011);
and ``calibrated``, a model that is as sure of itself as groups bear out that it has not seen (`tempering.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, ClassVar

import numpy as np
import polars as pl

from showthrough.attacks.attributes import encoded
from showthrough.attacks.described import all_seated, by_candidates, by_register, descriptions, rows_as_persons, seated
from showthrough.attacks.expectation import learned
from showthrough.attacks.gibbs import AGREE, CHAINS, Gibbs, Sampled
from showthrough.attacks.group_members import GroupMembers
from showthrough.attacks.naive_bayes import Attributes, NaiveBayes
from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import Z, rates
from showthrough.attacks.targets import attacked
from showthrough.attacks.tempering import FEWEST, PooledReleases, Tempered, tempered, tempered_together
from showthrough.errors import InputError, ParameterError
from showthrough.inference.infer import SECONDS, infer
from showthrough.inference.posterior import Posterior, Told
from showthrough.progress import Progress
from showthrough.register.register import Register
from showthrough.release.noisy import refuse_noise
from showthrough.release.release import Release
from showthrough.table.arrays import Reals
from showthrough.table.texts import as_text

METHODS = ("gibbs", "em")
BELIEFS = ("p", "calibrated", "one_shot")
BASELINE = "release"
LIKELY = 0.5
POOLED_STEPS = 30
_ARRIVED = 1e-4
_ROUNDING = 1e-9
_SAME = 1.1  # R-hat of how well chains fit, up to which none fits better
_THREAT = Threat(
    "{what}, and everybody's quasi-identifiers",
    "to guess values better than the shares in each group allow: who has a value that is more likely than not",
    "that quasi-identifiers go with values in the same way in all groups, and independently of each other once the "
    "value is known (naive Bayes, Dirichlet priors); before that, nothing",
)


@dataclass(frozen=True, eq=False, repr=False)
class Definetti(Outcome):
    """The outcome of learning from all groups."""

    meanings: ClassVar[Mapping[str, str]] = {
        "p": "what somebody believes who learned from all groups",
        "calibrated": "the same, as sure of itself as groups bear out that it did not learn from",
        "one_shot": "learned once from shares, without turning back",
        BASELINE: "the baseline: the shares that the releases leave, nothing learned",
    }
    method: str = "gibbs"
    converged: bool = True
    """Whether the chains agree, or the beliefs have stopped moving."""
    sweeps: int = 0
    """Sweeps of each chain that count, or steps of EM."""
    chains: int = 0
    r_hat: float | None = None
    """The largest R-hat of what was watched of the model: 1 where all chains agree."""
    effective: float | None = None
    """Independent draws that the sweeps of all chains are worth, the fewest of what was watched."""
    weight: float | None = None
    """How much evidence counts in the calibrated variant; 1: as in the model."""

    def as_dict(self) -> dict[str, Any]:
        """Counts, words and diagnostics as plain data for JSON."""
        names = ("method", "converged", "sweeps", "chains", "r_hat", "effective", "weight")
        told = {name: getattr(self, name) for name in names}
        if self.r_hat is not None and not np.isfinite(self.r_hat):
            told["r_hat"] = None
        return {**super().as_dict(), **told}


def definetti(
    releases: Release | Sequence[Release],
    *,
    seed: int = 0,
    method: str = "gibbs",
    domain: Mapping[str, Sequence[Any]] | None = None,
    register: Any = None,
    seconds: float = SECONDS,
    progress: Told = None,
) -> Definetti:
    """What somebody guesses who learns from all groups how quasi-identifiers and values go together.

    ``register`` tells everybody's exact quasi-identifiers where the releases do not. ``domain`` maps quasi-identifiers
    to their possible values; of others those that occur are taken, numbers in ranges. ``people`` has id, value, p, its
    standard ``error`` (none for "em"), and the other beliefs. Several releases are read together by ``method="em"``.
    """
    given = attacked(releases)
    _check(given, method, seed)
    tell, end = Progress.of(progress), monotonic() + seconds
    known = None if register is None else Register.of(register)
    alone = rows_as_persons(given[0]) if len(given) == 1 else None
    by_rows = alone is not None and alone is not given[0]
    told = given if alone is None else [alone]
    post = infer(told, register=None if by_rows else known, seconds=seconds, progress=tell)
    columns = descriptions(post, told, None if by_rows else known)
    attributes = encoded(columns, domain)
    if not attributes.sizes:
        attributes = Attributes(np.zeros((post.ids.len(), 0), dtype=np.int64), ())
    run = _Learning(post, told, None if by_rows else known, attributes, seed, end, tell)
    counted = alone is not None and not alone.ranged and not alone.value_cells
    found = run.one(method) if counted else run.pooled()
    people = found.people if not by_rows or known is None else by_register(found.people, columns, post.ids, known)
    notes = [*attributes.notes, *found.notes]
    if not counted and method == "gibbs":
        method = "em"
        notes.append("Counts that are ranges, values that are cells and several files are read by EM, not sampled.")
    if not attributes.sizes:
        notes.insert(0, "No quasi-identifier is known of anybody: there is nothing to learn from.")
    if by_rows:
        notes.append(_by_rows(known, people))
    what = "one release" if len(given) == 1 else f"{len(given)} releases"
    threat = Threat(_THREAT.has.format(what=what), _THREAT.wants, _THREAT.assumes)
    exposed = [_counted(people, belief) for belief in BELIEFS]
    every = rates([own for own in exposed if own[2] or own is exposed[0]])
    return Definetti(
        "definetti", threat, people, every, rates([_counted(people, BASELINE)]), (*BELIEFS, BASELINE), (),
        tuple(notes), method, **found.diagnostics,
    )  # fmt: skip


def _check(given: list[Release], method: str, seed: Any) -> None:
    if method not in METHODS:
        raise ParameterError(f"method is one of {', '.join(METHODS)}, not {method!r}.", parameters=("method",))
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"seed is a whole number of 0 or more, not {seed!r}.", parameters=("seed",))
    for release in given:
        refuse_noise(release, "this attack")
    if sum(release.sensitive is not None for release in given) > 1 and method == "gibbs":
        raise ParameterError(
            'Several releases are pooled by method="em": sampling looks at one release.', parameters=("method",)
        )
    if not any(release.sensitive is not None for release in given):
        raise InputError("No release has a sensitive column: there is no value to guess.")


def _by_rows(known: Register | None, people: pl.DataFrame) -> str:
    if known is None:
        return "The release publishes no ids: persons are its rows, by their number."
    absent = len(known) - people["id"].n_unique()
    left = f" {absent} of the register fit none and are left out." if absent else ""
    return f"The release publishes no ids: persons of the register have the mean belief of the rows they fit.{left}"


def _counted(people: pl.DataFrame, belief: str) -> tuple[dict[str, Any], int, int]:
    """Persons with a value that is likelier than not, beyond chance where p is sampled, among those with a belief."""
    chance = Z * pl.col("error").fill_null(0.0) if belief == BELIEFS[0] else pl.lit(0.0)
    own = (pl.col(belief) - chance).max().alias("least")
    each = people.filter(pl.col(belief).is_not_null()).group_by("id").agg(own)
    return {"belief": belief}, int((each["least"] > LIKELY + _ROUNDING).sum()), each.height


@dataclass(frozen=True)
class _Learned:
    people: pl.DataFrame
    notes: tuple[str, ...]
    diagnostics: dict[str, Any]


@dataclass(frozen=True)
class _Learning:
    """The work on persons who are described."""

    post: Posterior
    releases: list[Release]
    register: Register | None
    attributes: Attributes
    seed: int
    end: float
    tell: Progress

    def _over(self) -> bool:
        return monotonic() >= self.end

    def _step(self, _: int) -> bool:
        self.tell.check()
        return self._over()

    def one(self, method: str) -> _Learned:
        """One release whose groups are known."""
        seats, several = seated(self.post, self.releases[0])
        if several and method == "em":
            return self.pooled()
        model = NaiveBayes(self.attributes, seats, self.post.values.len())
        self.tell.stage("learning")
        first = model.logs(model.mean(model.counts(seats.even())))
        once = seats.normalised(first + np.log(seats.count[seats.column]))
        fixed = learned(model, seats, told=self._step)
        late = self._over()
        calm = None if late else tempered(self.attributes, seats, self.post.values.len(), self.seed, self.tell)
        beliefs: dict[str, Reals | None] = {"p": fixed.p, "error": None}
        told: dict[str, Any] = {"converged": fixed.converged, "sweeps": fixed.steps}
        notes = []
        if method == "gibbs":
            drawn = Gibbs(model, seats, self.seed).run(fixed.logs, self._over, self.tell)
            beliefs = {"p": drawn.p, "error": drawn.error}
            told = {"converged": drawn.converged, "sweeps": drawn.sweeps, "chains": CHAINS}
            told |= {"r_hat": drawn.r_hat, "effective": drawn.effective}
            notes += _agreement(drawn)
        elif not fixed.converged:
            notes.append(f"After {fixed.steps} steps beliefs still move by {fixed.moved:.1g}: more time settles them.")
        if several:
            who = "1 person is" if several == 1 else f"{several} persons are"
            notes.append(
                f'{who} in one of several groups, or in none for sure, and left out; method="em" reads them too.'
            )
        if calm is None and self.attributes.sizes:
            why = "time was over" if late else f"fewer than {FEWEST} groups are too few to choose it by"
            notes.append(f"There is no calibrated variant: {why}.")
        told["weight"] = None if calm is None else calm.weight
        columns = {**beliefs, "calibrated": None if calm is None else calm.p, "one_shot": once, BASELINE: seats.even()}
        return _Learned(self._frame(seats, columns), tuple(notes), told)

    def _frame(self, seats: GroupMembers, columns: dict[str, Reals | None]) -> pl.DataFrame:
        """id, value and the columns, of the members who are known."""
        person = seats.person[seats.member]
        known = np.flatnonzero(person >= 0)
        flat = {
            name: pl.Series(name, own[known])
            if own is not None
            else pl.Series(name, [None] * known.size, dtype=pl.Float64)
            for name, own in columns.items()
        }
        ids, values = self.post.ids.gather(person[known]), self.post.values.gather(seats.value[known])
        return pl.DataFrame({"id": ids, "value": values, **flat})

    def pooled(self) -> _Learned:
        """Any releases, by EM whose beliefs are those of `infer` with the model as its prior."""
        plain = self.post.to_frame().select("id", "value", "p").filter(pl.col("p").is_not_null())
        seats = by_candidates(self.post, plain)
        model = NaiveBayes(self.attributes, seats, self.post.values.len())
        p: Reals = plain["p"].to_numpy()
        once, moved, step = p, np.inf, 0
        if not self.attributes.sizes:
            moved = 0.0
        while step < POOLED_STEPS and moved >= _ARRIVED and not (step and self._over()):
            step += 1
            self.tell.stage(f"learning from all releases, step {step} of at most {POOLED_STEPS}")
            share = np.bincount(seats.value, weights=p, minlength=self.post.values.len())
            logs = model.logs(model.mean(model.counts(p))) + np.log(np.maximum(share, _ROUNDING))[seats.value]
            prior = np.maximum(seats.normalised(logs), _ROUNDING)
            prior /= seats.by_member(prior)[seats.member]
            once = prior if step == 1 else once
            fresh = self._read(plain, prior)
            moved, p = float(np.abs(fresh - p).max(initial=0.0)), fresh
        calm, notes = self._tempered_together(seats, plain["p"].to_numpy())
        calibrated = None if calm is None else calm.p
        columns = {"p": p, "error": None, "calibrated": calibrated, "one_shot": once, BASELINE: plain["p"].to_numpy()}
        lost = self.post.ids.len() - seats.members
        if moved >= _ARRIVED:
            notes.append(f"After {step} steps beliefs still move by {moved:.1g}.")
        if lost:
            who = "1 person is" if lost == 1 else f"{lost} persons are"
            notes.append(f"{who} without a certified answer, and left out.")
        told = {"converged": moved < _ARRIVED, "sweeps": step, "weight": None if calm is None else calm.weight}
        return _Learned(self._frame(seats, columns), tuple(notes), told)

    def _tempered_together(self, every: GroupMembers, plain: Reals) -> tuple[Tempered | None, list[str]]:
        """The calibrated variant of several releases, or why there is none."""
        if not self.attributes.sizes:
            return None, []
        releases = all_seated(self.post, self.releases)
        if self._over():
            why: str | None = "time was over"
        elif releases is None:
            why = "somebody is in one of several groups, or in none for sure, or counts are no numbers"
        else:
            pool = PooledReleases(every, plain, releases)
            why = pool.why_not(self.attributes)
            if why is None:
                values = self.post.values.len()
                calm = tempered_together(self.attributes, pool, values, self.seed, self.tell, lambda: self._step(0))
                late = f"The calibrated variant still moves by {calm.moved:.1g}: releases tie it in circles."
                return calm, [late] if calm.moved else []
        return None, [f"There is no calibrated variant: {why}."]

    def _read(self, plain: pl.DataFrame, prior: Reals) -> Reals:
        """[entries] the beliefs of all releases together that differ least from the model's."""
        believed = pl.DataFrame({"id": as_text(plain["id"], "ids"), "value": plain["value"], "p": prior})
        left = max(self.end - monotonic(), 1.0)
        post = infer(self.releases, register=self.register, prior=believed, seconds=left, progress=self.tell.silent())
        told = post.to_frame().select("id", "value", pl.col("p").alias("fresh"))
        both = plain.join(told, on=["id", "value"], how="left", maintain_order="left")
        fresh = pl.coalesce(
            "fresh", pl.when(pl.col("id").is_in(told["id"].unique().implode())).then(0.0).otherwise("p")
        )
        found: Reals = both.select(fresh.alias("fresh"))["fresh"].to_numpy()
        return found


def _agreement(drawn: Sampled) -> list[str]:
    """How well the chains agree, in words."""
    said = (
        f"{CHAINS} chains of {drawn.sweeps} sweeps: R-hat at most {drawn.r_hat:.3f}, worth at least "
        f"{drawn.effective:.0f} independent draws"
    )
    if drawn.converged:
        return [f"{said}."]
    why = (
        "chains fit the groups equally well with different models, as the groups leave several open"
        if drawn.fit <= _SAME
        else "some chains fit the groups better than others"
    )
    return [
        f"{said}: the chains have not converged (R-hat up to {AGREE:g} is agreement), so p is a mean over chains that "
        f"disagree, and errors are too small: {why}. The beliefs calibrated and one_shot do not depend on it."
    ]
