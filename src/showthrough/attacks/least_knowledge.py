"""The smallest set of statements that gives a person away: how little somebody has to know besides.

All sets of one statement are tried, then all of two, and so on, so a set that is found is smallest: fewer were tried.
Statements about persons of other islands say nothing of the target, and persons of whom the releases say the same are
alike, so one of each has to be tried. What the time leaves open is a bound, and is called one.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import polars as pl

from showthrough.attacks.outcomes import Outcome, Threat
from showthrough.attacks.statistics import rates, true_values
from showthrough.attacks.targets import attacked
from showthrough.attacks.tied_persons import Island, islands
from showthrough.errors import ContradictionError, InputError, LongProofError, NotProvenError, ParameterError
from showthrough.inference.infer import infer
from showthrough.inference.posterior import Posterior, Told
from showthrough.inference.proof import Proof
from showthrough.knowledge.statement import Statement, excluded, known
from showthrough.progress import Progress
from showthrough.release.release import Release

KINDS = ("known", "excluded")
_ROUNDING = 1e-9
_PEOPLE = {"id": pl.String, "value": pl.String, "p": pl.Float64, "statement": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class LeastKnowledge(Outcome):
    """How few statements make somebody certain, or likelier than the limit."""

    size: int | None = None
    """The fewest statements that are known to do; None if none were found."""
    at_least: int = 0
    """Fewer than this were all tried and do not."""
    statements: tuple[Statement, ...] = ()
    """The statements (internal)."""
    id: Any = None
    """Whom they give away (internal)."""
    value: Any = None
    p: float | None = None
    proof: Proof | None = None
    """Why the value is certain then (internal), where it is."""
    tried: int = 0
    """How many sets were looked at."""
    goal: str = ""

    @property
    def exact(self) -> bool:
        """Whether no smaller set does."""
        return self.size is not None and self.size <= self.at_least

    @property
    def sentence(self) -> str:
        """The answer in counts."""
        if self.size is None:
            return f"Fewer than {_statements(self.at_least)} never {self.goal} ({self.tried} sets were tried)."
        if not self.size:
            return f"Nothing has to be known besides the releases to {self.goal}."
        kinds = Counter(one.kind for one in self.statements)
        what = " and ".join(f"{n} of the kind {kind}" for kind, n in sorted(kinds.items()))
        lead = (
            f"{_statements(self.size).capitalize()} ({what}) {'is' if self.size == 1 else 'are'} enough to {self.goal}"
        )
        if self.exact:
            return f"{lead}; no smaller set is: all of them were tried."
        return f"{lead}. That is a bound: sets of fewer than {self.at_least} were all tried, others were not."

    @property
    def said(self) -> str:
        """The answer in counts."""
        return self.sentence

    def as_dict(self) -> dict[str, Any]:
        """Counts and words as plain data for JSON: nobody is named."""
        told = {"size": self.size, "at_least": self.at_least, "exact": self.exact, "tried": self.tried}
        return {**super().as_dict(), **told, "p": self.p, "sentence": self.sentence}

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<LeastKnowledge: {self.sentence}>"


def least_knowledge(
    releases: Release | Sequence[Release],
    id: Any = None,
    *,
    limit: float = 1.0,
    kinds: Sequence[str] = KINDS,
    shares: Sequence[Statement] = (),
    most: int = 3,
    truth: Any = None,
    register: Any = None,
    seconds: float = 60.0,
    progress: Told = None,
) -> LeastKnowledge:
    """The fewest statements that make a person (or, without ``id``, anybody) certain, or likelier than ``limit``.

    Statements are of the declared ``kinds``: the values of other persons (known), values that somebody does not have
    (excluded); and of ``shares``, statements about sub-populations such as `showthrough.knowledge.mine` gives, at most
    one. Whose value is known by a statement does not count as given away. Any statement that the releases allow is
    tried; with ``truth`` (a frame of id and value) only true ones. Sets of up to ``most`` statements are tried within
    ``seconds``.
    """
    given = attacked(releases)
    _check(limit, kinds, most, seconds)
    tell = Progress.of(progress)
    tell.stage("without knowledge")
    base = infer(given, register=register, progress=tell)
    if base.contradictions:  # then every set of statements would contradict something
        raise base.contradictions[0]
    true = None if truth is None else _true(truth)
    search = _SetSearch(base, given, register, limit, tuple(kinds), tuple(shares), true)
    try:
        return search.run(id, most, time.monotonic() + seconds, tell)
    except InputError:
        if register is not None or any(r.roles.id is not None or r.link is not None for r in given):
            raise
        raise InputError(
            "Statements are about persons, and the releases name nobody: give a register of ids and quasi-identifiers.",
            parameters=("register",),
        ) from None


def _check(limit: Any, kinds: Any, most: Any, seconds: Any) -> None:
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit <= 1:
        raise ParameterError(f"limit is a number above 0 and at most 1, not {limit!r}.", parameters=("limit",))
    if isinstance(kinds, str) or not set(kinds) <= set(KINDS):
        raise ParameterError(f"kinds are some of {', '.join(KINDS)}, as a list.", parameters=("kinds",))
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError(f"most is a whole number of 1 or more, not {most!r}.", parameters=("most",))
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise ParameterError(f"seconds is a number of 0 or more, not {seconds!r}.", parameters=("seconds",))


def _true(given: Any) -> dict[str, str]:
    frame = true_values(given)
    return dict(zip(frame["id"], frame["value"], strict=True))


@dataclass(frozen=True)
class _Hit:
    """A set that does it."""

    statements: tuple[Statement, ...]
    id: Any
    value: Any
    p: float
    post: Posterior


class _SetSearch:
    """All sets of statements, by size."""

    def __init__(
        self, base: Posterior, given: list[Release], register: Any, limit: float, kinds: tuple[str, ...],
        shares: tuple[Statement, ...], truth: dict[str, str] | None,
    ) -> None:  # fmt: skip
        self._base, self._given, self._register, self._limit = base, given, register, limit
        self._kinds, self._shares, self._truth = kinds, shares, truth
        self._tried = 0

    def run(self, id: Any, most: int, end: float, tell: Progress) -> LeastKnowledge:
        """Size by size, island by island; a bound where the time is over."""
        wanted = None if id is None else self._called(id)
        apart: dict[str, Any] = dict(self._truth or {})
        if wanted is not None:
            apart[wanted] = (apart.get(wanted), "target")
        parts = islands(self._base, self._given, whole=bool(self._shares), apart=apart)
        if wanted is not None:
            parts = [part for part in parts if wanted in part.ids]
        elif len(self._given) == 1 and self._truth is None and not self._shares:
            parts = _different(parts)
        hit = self._reached(parts, wanted, ())
        if hit is not None:
            return self._told(hit, 0)
        for size in range(1, most + 1):
            for number, part in enumerate(parts):
                tell.stage(f"sets of {_statements(size)}")
                tell.count(number, len(parts))
                for chosen in self._sets(part, size):
                    if time.monotonic() > end:
                        return self._bound(parts, wanted, size)
                    hit = self._reached([part], wanted, chosen)
                    if hit is not None:
                        return self._told(hit, size)
        return self._bound(parts, wanted, most + 1)

    def _called(self, id: Any) -> str:
        if str(id) not in set(self._base.ids.cast(pl.String)):
            raise InputError("The person is in none of the releases.", parameters=("id",))
        return str(id)

    def _sets(self, part: Island, size: int) -> Iterator[tuple[Statement, ...]]:
        """All sets of so many statements about an island, one of each kind of them that are alike."""
        listed = self._listed(part)
        for share in (*self._shares, None):
            rest = size if share is None else size - 1
            for chosen in combinations_with_replacement(range(len(listed)), rest):
                for own in _persons(part, [listed[k] for k in chosen]):
                    yield own if share is None else (share, *own)

    def _listed(self, part: Island) -> list[tuple[int, str, Any]]:
        """(class, kind, value) of every statement about a person of the island that says something."""
        found = []
        for number, (values, members) in enumerate(zip(part.values, part.classes, strict=True)):
            if len(values) < 2:
                continue
            for kind in self._kinds:
                for value in values:
                    fits = self._truth is None or any(self._is_true(kind, who, value) for who in members)
                    if fits:
                        found.append((number, kind, value))
        return found

    def _is_true(self, kind: str, who: str, value: Any) -> bool:
        assert self._truth is not None
        own = self._truth.get(who)
        return own is not None and (own == str(value)) == (kind == "known")

    def _reached(self, parts: list[Island], wanted: str | None, chosen: tuple[Statement, ...]) -> _Hit | None:
        """Who is given away by these statements, if anybody is."""
        told = {str(one.ids[0]) for one in chosen if one.kind == "known"}
        if wanted in told or not self._all_true(chosen):
            return None
        for part in parts:
            if chosen:
                self._tried += 1
            try:
                post = (
                    infer(part.releases, register=self._register, knowledge=chosen, contradictions="refuse")
                    if chosen
                    else self._base
                )
            except ContradictionError:
                continue
            best = post.best().with_columns(pl.col("id").cast(pl.String).alias("_id"))
            over = pl.col("certain") if self._limit == 1 else pl.col("p") > self._limit + _ROUNDING
            mine = best.filter(over & ~pl.col("_id").is_in(pl.Series(sorted(told), dtype=pl.String).implode()))
            mine = mine.filter(pl.col("_id").is_in(pl.Series(sorted(part.ids), dtype=pl.String).implode()))
            if wanted is not None:
                mine = mine.filter(pl.col("_id") == wanted)
            if mine.height:
                row = mine.row(0, named=True)
                return _Hit(chosen, row["id"], row["value"], float(row["p"]), post)
        return None

    def _all_true(self, chosen: tuple[Statement, ...]) -> bool:
        if self._truth is None:
            return True
        return all(self._is_true(one.kind, str(one.ids[0]), one.values[0]) for one in chosen if one.kind in KINDS)

    def _told(self, hit: _Hit, at_least: int) -> LeastKnowledge:
        proof = None
        with contextlib.suppress(NotProvenError, LongProofError):
            proof = hit.post.explain(hit.id, hit.value, most_steps=200)
        return self._outcome(at_least, hit, proof)

    def _outcome(self, at_least: int, hit: _Hit | None = None, proof: Proof | None = None) -> LeastKnowledge:
        """The answer in the shape of all attacks: the baseline is a reader who knows nothing besides."""
        largest = self._base.largest()
        over = self._base.certain() if self._limit == 1 else np.nan_to_num(largest) > self._limit + _ROUNDING
        statements = () if hit is None else hit.statements
        found = None if hit is None else (str(hit.id), str(hit.value), hit.p)
        said: list[str | None] = [str(one) for one in statements] or [None]
        rows = [] if found is None else [(*found, text) for text in said]
        persons = int(over.sum())
        size = len(statements) if hit is not None else None
        reached = max(persons, int(hit is not None))
        threat = Threat(
            f"all releases, and statements about persons ({', '.join(self._kinds)}"
            f"{', shares of sub-populations' if self._shares else ''})",
            f"as few statements as {self._goal()}",
            "that the statements are true; probabilities are those of maximum entropy",
        )
        return LeastKnowledge(
            "least-knowledge", threat, pl.DataFrame(rows, schema=_PEOPLE, orient="row"),
            rates([({"statements": "none are enough" if size is None else str(size)}, reached, over.size)]),
            rates([({"statements": "0"}, persons, over.size)]),
            size=size, at_least=at_least, statements=statements, id=None if hit is None else hit.id,
            value=None if hit is None else hit.value, p=None if hit is None else hit.p, proof=proof,
            tried=self._tried, goal=self._goal(),
        )  # fmt: skip

    def _bound(self, parts: list[Island], wanted: str | None, tried: int) -> LeastKnowledge:
        """What is known where not all sets were tried: excluding every other value of a person does it."""
        best: tuple[int, str, Any, list[Any]] | None = None
        for part in parts if "excluded" in self._kinds else ():
            for values, members in zip(part.values, part.classes, strict=True):
                who = wanted if wanted in members else members[0] if wanted is None else None
                if who is None or (best is not None and len(values) - 1 >= best[0]):
                    continue
                own = None if self._truth is None else self._truth.get(who)
                kept = next((v for v in values if own is None or str(v) == own), None)
                if kept is not None:
                    best = len(values) - 1, who, kept, [v for v in values if v != kept]
        if best is None:
            return self._outcome(tried)
        chosen = tuple(excluded(best[1], value) for value in best[3])
        hit = self._reached([part for part in parts if best[1] in part.ids], best[1], chosen)
        if hit is None:
            return self._outcome(tried)
        return self._told(hit, tried)

    def _goal(self) -> str:
        sure = "certain" if self._limit == 1 else f"more than {100 * self._limit:g} % sure"
        return f"make a reader {sure} of a value"


def _different(parts: list[Island]) -> list[Island]:
    """Of one release one group for each list of counts: what its values are called makes no difference."""
    found: dict[Any, Island] = {}
    for part in parts:
        counts = [tuple(sorted(own["n"])) for r in part.releases for _, own in r.tally.group_by("group")]
        found.setdefault(tuple(sorted(counts)) if len(counts) == 1 else tuple(sorted(part.ids)), part)
    return list(found.values())


def _persons(part: Island, chosen: list[tuple[int, str, Any]]) -> Iterator[tuple[Statement, ...]]:
    """The chosen statements about persons: members of a class are alike, not whether two are about one."""
    yield from _placed(part, chosen, [], {})


def _placed(
    part: Island, rest: list[tuple[int, str, Any]], done: list[Statement], used: dict[str, list[tuple[str, Any]]]
) -> Iterator[tuple[Statement, ...]]:
    if not rest:
        yield tuple(done)
        return
    (number, kind, value), *others = rest
    fresh = False
    for who in part.classes[number]:
        said = used.get(who, [])
        if not said:
            if fresh:
                break  # all members of whom nothing is said are alike
            fresh = True
        elif any(k == "known" for k, _ in said) or kind == "known" or (kind, value) in said:
            continue  # who is known needs no second statement
        make = known if kind == "known" else excluded
        yield from _placed(part, others, [*done, make(who, value)], {**used, who: [*said, (kind, value)]})


def _statements(n: int) -> str:
    return "1 statement" if n == 1 else f"{n} statements"
