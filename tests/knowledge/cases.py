"""Random small histories with statements and a prior, as releases and knowledge and, for the oracle, as plain data."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

import showthrough as st
from showthrough import knowledge as k
from tests.oracles.factored import Case, Row, Statement


@dataclass(frozen=True)
class Known:
    """What `infer` is given, and the same for the oracle."""

    releases: list[st.Release]
    register: pl.DataFrame
    membership: dict[str, pl.DataFrame]
    knowledge: list[k.Statement]
    prior: pl.DataFrame | None
    case: Case

    def infer(self, **more) -> st.Posterior:
        return st.infer(
            self.releases,
            register=self.register,
            membership=self.membership,
            knowledge=self.knowledge,
            prior=self.prior,
            **more,
        )


def made(seed: int, *, honest: bool = True, prior: bool | None = None, statements: int = 4) -> Known:
    """A history of up to eight persons; statements are true of a hidden truth if ``honest``, else of any."""
    rng = random.Random(seed)
    people = [str(p) for p in range(1, rng.randint(3, 8) + 1)]
    values = ["a", "b", "c", "d"][: rng.randint(2, 4)]
    truth = {p: rng.choice(values) for p in people}
    sex = {p: rng.choice("fm") for p in people}
    age = {p: rng.randint(20, 60) for p in people}
    releases, membership, fits, rows = [], {}, {p: [] for p in people}, []
    for r in range(rng.randint(1, 3)):
        inside = people if r == 0 else rng.sample(people, rng.randint(max(1, len(people) - 2), len(people)))
        group = {p: rng.randint(0, max(0, len(inside) // 3)) for p in inside}
        name = f"D{r + 1}"
        ids, unsure = list(inside), rng.random() < 0.35
        frame = pl.DataFrame({"id": ids, "g": [group[p] for p in ids], "v": [truth[p] for p in ids]})
        releases.append(st.Release.bucketized(frame, id="id", sensitive="v", group="g", name=name))
        also = {p: {group[p]} for p in inside}
        if unsure:
            for p in rng.sample(inside, min(2, len(inside))):
                also[p].add(rng.choice(sorted(set(group.values()))))
            pairs = [(p, g) for p in inside for g in sorted(also[p])]
            membership[name] = pl.DataFrame(pairs, schema={"id": pl.String, "group": pl.Int64}, orient="row")
        for p in people:
            fits[p].append(sorted(also[p]) if p in also else [None])
        rows += [Row(r, g, v, n, n) for (g, v), n in Counter((group[p], truth[p]) for p in inside).items()]
    seen = sorted({row.value for row in rows})
    told = truth if honest else {p: rng.choice(seen) for p in people}
    pairs = [_statement(rng, told, seen, sex, age) for _ in range(rng.randint(1, statements))]
    believed = _prior(rng, people, seen, told) if (rng.random() < 0.4 if prior is None else prior) else None
    case = Case(seen, fits, rows, [one for _, one in pairs], prior=believed)
    frame = None
    if believed is not None:
        entries = [(p, v, believed[p][v]) for p in people for v in seen]
        frame = pl.DataFrame(entries, schema=["id", "value", "p"], orient="row")
    register = pl.DataFrame({"id": people, "sex": [sex[p] for p in people], "age": [str(age[p]) for p in people]})
    return Known(releases, register, membership, [one for one, _ in pairs], frame, case)


def _statement(rng, truth, values, sex, age) -> tuple[k.Statement, Statement]:
    """One statement that is true of ``truth``."""
    people = list(truth)
    p, v = rng.choice(people), rng.choice(values)
    kind = rng.choice(["known", "excluded", "one_of", "exactly_one", "share", "share", "count"])
    if kind == "known":
        return k.known(p, truth[p]), Statement({(p, truth[p]): 1}, 1, 1)
    if kind == "excluded" and truth[p] != v:
        return k.excluded(p, v), Statement({(p, v): 1}, 0, 0)
    if kind == "one_of":
        some = sorted({v, truth[p]})
        return k.one_of(p, some), Statement({(p, s): 1 for s in some}, 1, 1)
    if kind == "exactly_one":
        has = [q for q in people if truth[q] == v]
        if has:
            some = [rng.choice(has), *rng.sample([q for q in people if truth[q] != v], min(1, len(people) - len(has)))]
            return k.exactly_one(some, v), Statement({(q, v): 1 for q in some}, 1, 1)
    where = rng.choice([{"sex": sex[p]}, {"age": {"at_least": age[p]}}, {"age": f"20-{age[p]}"}, None])
    who = rng.sample(people, rng.randint(1, len(people)))
    if where is not None:
        who = [q for q in people if _fits(where, sex[q], age[q], age[p])]
    hits = sum(truth[q] == v for q in who)
    size = len(who)
    low = Fraction(max(0, hits - rng.choice([0, 0, 1])), 1)
    high = Fraction(min(size, hits + rng.choice([0, 0, 1])), 1)
    of = {"where": where} if where is not None else {"ids": who}
    terms = {(q, v): 1 for q in who}
    if kind == "count":
        return k.count(v, **of, at_least=int(low), at_most=int(high)), Statement(terms, int(low), int(high))
    shares = {"at_least": low / size, "at_most": high / size}
    scaled = dict.fromkeys(terms, size)
    return k.share(v, **of, **shares), Statement(scaled, int(low * size), int(high * size))


def _fits(where, sex, age, end) -> bool:
    if "sex" in where:
        return sex == where["sex"]
    return age >= end if isinstance(where["age"], dict) else age <= end


def _prior(rng, people, values, truth) -> dict[str, dict[str, float]]:
    found = {}
    for p in people:
        weight = {v: rng.choice([0, 1, 1, 2, 5]) for v in values}
        weight[truth[p]] = max(1, weight[truth[p]])
        total = sum(weight.values())
        found[p] = {v: n / total for v, n in weight.items()}
    return found
