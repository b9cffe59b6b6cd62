"""Residual and gap of an answer with seats, ranges, statements and priors: loops over persons, nothing else.

Groups of all releases have different names. A person fits, in each release, a list of groups; None in
the list says that it may not be there, [None] that it is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, isfinite, isnan, log

Group = int | None


@dataclass
class Row:
    """A published count, or the ends of its range, and the multiplier that an answer gives it."""

    group: int
    value: int
    lower: float
    upper: float
    mu: float = 0.0


@dataclass
class Statement:
    """lower ≤ Σ coefficient · P(value | person) ≤ upper."""

    lower: float
    upper: float
    terms: list[tuple[int, int, int]]  # person, value, coefficient
    nu: float = 0.0


@dataclass
class Person:
    """A person (or ``weight`` of them) and what the answer says: (probability, whether it is possible)."""

    signature: int
    fits: list[list[Group]]
    weight: int = 1
    prior: list[float] | None = None
    p: dict[int, tuple[float, bool]] = field(default_factory=dict)
    y: list[dict[tuple[int, Group], tuple[float, bool]]] = field(default_factory=list)


@dataclass
class Claim:
    """All that is known and all that is claimed."""

    values: int
    rows: list[Row]
    people: list[Person]
    statements: list[Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.row = {(row.group, row.value): row for row in self.rows}

    def candidates(self, person: Person, release: int, value: int) -> list[Group]:
        """Where a person with a value can be in a release."""
        return [g for g in person.fits[release] if g is None or (g, value) in self.row]

    def values_of(self, person: Person) -> list[int]:
        """What a person can have."""
        releases = range(len(person.fits))
        return [v for v in range(self.values) if all(self.candidates(person, r, v) for r in releases)]


def model(claim: Claim, number: int) -> tuple[dict[int, float], list[dict[tuple[int, Group], float]]]:
    """What the multipliers say of a person: the distribution of values, and of groups given the value."""
    person = claim.people[number]
    q: list[dict[tuple[int, Group], float]] = [{} for _ in person.fits]
    weight = {}
    for value, (_, possible) in person.p.items():
        found = 1.0 if person.prior is None else person.prior[value]
        for statement in claim.statements:
            for who, what, coefficient in statement.terms:
                if (who, what) == (number, value):
                    found *= exp(statement.nu * coefficient)
        for r in range(len(person.fits)):
            e = {}
            for g in claim.candidates(person, r, value):
                e[g] = 1.0 if g is None else exp(claim.row[g, value].mu)
                if not person.y[r][value, g][1]:
                    e[g] = 0.0
            z = sum(e.values())
            for g in e:
                q[r][value, g] = e[g] / z if z > 0 else 0.0
            found *= z
        weight[value] = found if possible else 0.0
    total = sum(weight.values())
    return {v: w / total if total > 0 else inf for v, w in weight.items()}, q


def excess(p: float, q: float) -> float:
    """p·log(p/q) − p + q, for p below 0 as for 0; infinite where it has no meaning."""
    if isnan(p) or isnan(q) or q == inf:
        return inf
    if p <= 0:
        return max(q, 0.0)
    return inf if q <= 0 else p * log(p / q) - p + q


def divergence(claim: Claim, number: int) -> float:
    """How far a person's answer is from what the multipliers say."""
    person = claim.people[number]
    x, q = model(claim, number)
    total = sum(excess(p, x[v]) for v, (p, _) in person.p.items())
    for r in range(len(person.fits)):
        for (v, g), (y, _) in person.y[r].items():
            total += excess(y, person.p[v][0] * q[r][v, g])
    return total


def wrongness(person: Person) -> float:
    """What is wrong with an answer of one person, whatever the counts are."""
    found = [abs(sum(p for p, _ in person.p.values()) - 1)]
    for p, possible in person.p.values():
        found.append(max(-p, 0.0) if possible else abs(p))
    for shares in person.y:
        for y, possible in shares.values():
            found.append(max(-y, 0.0) if possible else abs(y))
        for v, (p, _) in person.p.items():
            found.append(abs(sum(y for (value, _), (y, _) in shares.items() if value == v) - p))
    return inf if any(isnan(f) for f in found) else max(found)


def expected(claim: Claim, row: Row) -> float:
    """Persons with the value in the group."""
    found = 0.0
    for person in claim.people:
        for shares in person.y:
            found += person.weight * shares.get((row.value, row.group), (0.0, True))[0]
    return found


def said(claim: Claim, statement: Statement) -> float:
    """What the answer says of a statement."""
    return sum(
        c * claim.people[who].weight * claim.people[who].p.get(v, (0.0, True))[0] for who, v, c in statement.terms
    )


def islands(claim: Claim) -> list[set[tuple[str, int]]]:
    """Groups, statements and signatures tied together: by smallest group, then statement, then signature."""
    links = [{("person", person.signature)} for person in claim.people]
    for person, link in zip(claim.people, links, strict=True):
        link |= {("group", g) for own in person.fits for g in own if g is not None}
    for k, statement in enumerate(claim.statements):
        links.append({("statement", k)} | {("person", claim.people[who].signature) for who, _, _ in statement.terms})
    found: list[set[tuple[str, int]]] = []
    for link in links:
        apart = [island for island in found if not island & link]
        found = [*apart, link.union(*(island for island in found if island & link))]
    rank = {"group": 0, "statement": 1, "person": 2}
    return sorted(found, key=lambda island: min((rank[kind], n) for kind, n in island))


def figures(claim: Claim) -> list[tuple[float, float]]:
    """Residual and gap of each island."""
    found = []
    for island in islands(claim):
        wrong, gap = [0.0], 0.0
        for number, person in enumerate(claim.people):
            if ("person", person.signature) in island:
                wrong.append(wrongness(person))
                gap += person.weight * divergence(claim, number)
        limits = [(r.lower, r.upper, expected(claim, r), r.mu) for r in claim.rows if ("group", r.group) in island]
        for k, s in enumerate(claim.statements):
            if ("statement", k) in island:
                limits.append((s.lower, s.upper, said(claim, s), s.nu))
        for lower, upper, count, multiplier in limits:
            wrong.append(inf if isnan(count) else max(lower - count, count - upper, 0.0))
            if lower < upper:
                gap += max(multiplier, 0.0) * max(count - lower, 0.0) + max(-multiplier, 0.0) * max(upper - count, 0.0)
        found.append((max(wrong), gap if isfinite(gap) else inf))
    return found
