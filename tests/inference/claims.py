"""Random claims about small histories, and a claim of the oracle as the checker wants it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl

from showthrough.inference.checker import Answer, SeatShares
from showthrough.inference.history import ABSENT, History, Statements
from tests.oracles.answers import Claim, Person, Row, Statement, expected, model, said


def random_claim(rng: random.Random, *, planted: bool) -> Claim:
    """Some signatures of one to three persons each, in up to three releases.

    A planted claim is the optimum of its counts (which are whatever the multipliers say, not whole); any
    other has wrong figures of all kinds.
    """
    values, groups = (
        rng.randint(2, 4),
        [list(range(3 * r, 3 * r + rng.randint(1, 3))) for r in range(rng.randint(1, 3))],
    )
    rows = [
        Row(g, v, rng.randint(0, 3), 0, rng.choice([-1, 1]) * rng.random())
        for own in groups
        for g in own
        for v in sorted(rng.sample(range(values), rng.randint(1, values)))
    ]
    for row in rows:
        row.upper = row.lower + rng.choice([0, 0, 2])
    claim = Claim(values, rows, [])
    priors = [[rng.choice([0.0, 0.5, 1.0, 3.0]) for _ in range(values)] for _ in range(2)]
    with_prior, kinds = rng.random() < 0.5, [_fits(rng, groups) for _ in range(rng.randint(1, 4))]
    for r, own in enumerate(groups):  # every group has somebody
        kinds += [[[g] if k == r else [None] for k in range(len(groups))] for g in own if not _found(kinds, r, g)]
    for number, fits in enumerate(kinds):
        prior = rng.choice(priors) if with_prior else None
        own = Person(number, fits, prior=prior)
        if with_prior and not any(prior[v] for v in claim.values_of(own)):
            prior = [1.0] * values
        if claim.values_of(own):
            claim.people += [Person(number, fits, rng.choice([1, 1, 5]), prior) for _ in range(rng.randint(1, 3))]
        else:
            return random_claim(rng, planted=planted)
    for _ in range(rng.choice([0, 0, 1, 2])):
        claim.statements.append(_statement(rng, claim))
    _answer(rng, claim, planted)
    return claim


def _found(kinds: list[list[list[int | None]]], release: int, group: int) -> bool:
    return any(group in fits[release] for fits in kinds)


def _fits(rng: random.Random, groups: list[list[int]]) -> list[list[int | None]]:
    found: list[list[int | None]] = []
    for own in groups:
        some: list[int | None] = sorted(rng.sample(own, rng.randint(0, len(own))))
        found.append([None, *some] if not some or rng.random() < 0.3 else some)
    return found


def _statement(rng: random.Random, claim: Claim) -> Statement:
    """A statement treats the persons of a signature alike; it may speak of values that nobody can have."""
    signatures = [p.signature for p in claim.people]
    terms = []
    for signature in rng.sample(sorted(set(signatures)), rng.randint(1, len(set(signatures)))):
        for value in rng.sample(range(claim.values), rng.randint(1, 2)):
            coefficient = rng.choice([-2, -1, 1, 1, 3])
            terms += [(k, value, coefficient) for k, own in enumerate(signatures) if own == signature]
    return Statement(0, rng.choice([0, 2]), terms, rng.choice([-1, 1]) * rng.random())


def _answer(rng: random.Random, claim: Claim, planted: bool) -> None:
    """The persons of a signature get the same answer."""
    first: dict[int, int] = {}
    for number, person in enumerate(claim.people):
        if person.signature in first:
            person.p, person.y = (same := claim.people[first[person.signature]]).p, same.y
            continue
        first[person.signature] = number
        listed = claim.values_of(person)
        kept = {rng.choice([v for v in listed if person.prior is None or person.prior[v]])}
        kept |= {v for v in listed if rng.random() < 0.8}
        person.p = {v: (0.0, v in kept) for v in listed}
        for r in range(len(person.fits)):
            shares = {}
            for v in listed:
                some = claim.candidates(person, r, v)
                left = {rng.choice(some)} | {g for g in some if rng.random() < 0.8}
                left = left if v in kept or rng.random() < 0.3 else set()
                shares |= {(v, g): (0.0, g in left) for g in some}
            person.y.append(shares)
        x, q = model(claim, number)
        wrong = (lambda: 0.0) if planted else (lambda: rng.choice([0.0, 0.0, 1e-6, 0.1 * rng.gauss(0, 1)]))
        person.p = {v: (x[v] + wrong(), ok) for v, (_, ok) in person.p.items()}
        for r, shares in enumerate(person.y):
            sure = len(person.fits[r]) == 1  # then the share is the value's own
            for (v, g), (_, ok) in shares.items():
                shares[v, g] = (person.p[v][0] * q[r][v, g] + (0.0 if sure else wrong()), ok or sure)
                if sure:
                    shares[v, g] = (person.p[v][0], True)
    if planted:
        for limit, count in [(row, expected(claim, row)) for row in claim.rows] + [
            (s, said(claim, s)) for s in claim.statements
        ]:
            multiplier = limit.mu if isinstance(limit, Row) else limit.nu
            wide = rng.random() < 0.5
            limit.lower = count - (wide and multiplier < 0)
            limit.upper = count + (wide and multiplier > 0)


def as_history(claim: Claim) -> History:
    """The history of a claim; groups are numbered in the order of their names."""
    names = sorted({row.group for row in claim.rows})
    code = {None: ABSENT, **{g: k for k, g in enumerate(names)}}
    releases, sets = len(claim.people[0].fits), []
    group_of = np.empty((releases, len(claim.people)), dtype=np.int32)
    for n, person in enumerate(claim.people):
        for r, own in enumerate(person.fits):
            codes = [code[g] for g in own]
            if len(codes) > 1 and codes not in sets:
                sets.append(codes)
            group_of[r, n] = codes[0] if len(codes) == 1 else len(names) + sets.index(codes)
    rows = sorted(claim.rows, key=lambda row: (row.group, row.value))
    assert rows == claim.rows
    priors = [p.prior for p in claim.people if p.prior is not None]
    told: Any = None
    if claim.statements:
        terms = [(k, *term) for k, s in enumerate(claim.statements) for term in s.terms]
        columns = [np.array(column) for column in zip(*terms, strict=True)]
        ends = [np.array([getattr(s, end) for s in claim.statements]) for end in ("lower", "upper")]
        told = Statements(*ends, tuple(f"s{k}" for k in range(len(claim.statements))), *columns)
    release_of = [g // 3 for g in names]
    exact = all(row.lower == row.upper for row in rows)
    return History(
        releases=(None,) * releases,
        names=tuple(f"D{r}" for r in range(releases)),
        ids=pl.Series(range(len(claim.people))),
        values=pl.Series(range(claim.values)),
        group_of=group_of,
        labels=(),
        first_group=np.array([sum(r < k for r in release_of) for k in range(releases + 1)]),
        row_group=np.array([code[row.group] for row in rows], dtype=np.int32),
        row_value=np.array([row.value for row in rows], dtype=np.int32),
        row_count=np.array([row.lower for row in rows]),
        row_upper=None if exact else np.array([row.upper for row in rows]),
        set_start=np.cumsum([0, *(len(own) for own in sets)]),
        set_group=np.array([g for own in sets for g in own], dtype=np.int32),
        weight=None if all(p.weight == 1 for p in claim.people) else np.array([p.weight for p in claim.people]),
        statements=told,
        prior_of=np.array([priors.index(p.prior) for p in claim.people]) if priors else None,
        prior=np.array(priors) if priors else None,
    )


def as_answer(claim: Claim, rng: random.Random) -> Answer:
    """The answer of a claim, its lists in any order."""
    names = sorted({row.group for row in claim.rows})
    code = {None: ABSENT, **{g: k for k, g in enumerate(names)}}
    people = {p.signature: p for p in claim.people}
    entries = [(s, v) for s, p in sorted(people.items()) for v in rng.sample(sorted(p.p), len(p.p))]
    seats: list[SeatShares | None] = []
    for r in range(len(claim.people[0].fits)):
        if all(len(p.fits[r]) == 1 for p in claim.people) and rng.random() < 0.8:
            seats.append(None)
            continue
        start, shares = [0], []
        for s, v in entries:
            own = [(code[g], *found) for (value, g), found in people[s].y[r].items() if value == v]
            shares += rng.sample(own, len(own)) if rng.random() < 0.3 else own
            start.append(len(shares))
        group, y, possible = zip(*shares, strict=True)
        seats.append(SeatShares(np.array(start), np.array(group, dtype=np.int32), np.array(y), np.array(possible)))
    return Answer(
        of_person=np.array([sorted(people).index(p.signature) for p in claim.people]),
        start=np.cumsum([0, *(len(p.p) for _, p in sorted(people.items()))]),
        value=np.array([v for _, v in entries], dtype=np.int32),
        p=np.array([people[s].p[v][0] for s, v in entries]),
        possible=np.array([people[s].p[v][1] for s, v in entries]),
        mu=np.array([row.mu for row in claim.rows]),
        seats=tuple(seats),
        nu=np.array([s.nu for s in claim.statements]),
    )
