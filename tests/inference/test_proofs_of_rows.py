"""Every fact from ranges, statements and candidates has a proof that somebody else can replay."""

import math

import polars as pl
import pytest

from showthrough.errors import ContradictionError
from showthrough.inference import proof_check
from showthrough.inference.explain import explain
from showthrough.inference.facts import proven
from showthrough.inference.log import Log
from showthrough.inference.proof import WeighedStatement
from showthrough.inference.run import answered
from tests import factored_cases
from tests.inference.coded import history_of
from tests.saying import refusing

FLAVOURS = ("plain", "seated", "ranges", "seated ranges", "statements")
FAR = 10**6


class Published:
    """The counts of one release as a reader finds them."""

    def __init__(self, case, release):
        rows = [(row.group, row.value, max(1, row.lower)) for row in case.rows if row.release == release]
        self.frame = pl.DataFrame(rows, schema={"group": pl.Int64, "value": pl.String, "n": pl.Int64}, orient="row")

    def counts(self):
        return self.frame


def told(case):
    """The releases, who can be where, ranges and statements, as the check wants them."""
    releases = [Published(case, r) for r in range(case.releases())]
    members = []
    for r in range(case.releases()):
        rows = [(p, g) for p, fits in case.fits.items() for g in fits[r] if fits[r] != [None]]
        frame = pl.DataFrame(rows, schema={"id": pl.String, "group": pl.Int64}, orient="row")
        members.append(proof_check.Members(frame))
    ranges = {(w.release, w.group, w.value): (w.lower, int(min(w.upper, FAR))) for w in case.rows}
    statements = [
        proof_check.KnownSum(
            f"S{k}",
            -FAR if said.lower == -math.inf else said.lower,
            FAR if said.upper == math.inf else said.upper,
            dict(said.terms),
        )
        for k, said in enumerate(case.statements)
    ]
    return releases, members, ranges, statements


def as_checked(row):
    if isinstance(row, WeighedStatement):
        return None, row.statement, None, row.weight
    return row.release, row.group, row.value, row.weight


def known_somewhere(case, person):
    return any(fits != [None] for fits in case.fits[person])


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_every_fact_has_a_proof_that_is_replayed(flavour):
    checked = 0
    for seed in range(60):
        case = factored_cases.case(seed, flavour)
        spoken_of = {person for said in case.statements for person, _ in said.terms}
        if not case.rows or not all(known_somewhere(case, person) for person in spoken_of):
            continue  # the check knows whom the releases or a register name
        solved, _ = answered(history_of(case), Log())
        releases, members, ranges, statements = told(case)
        for person, value, fact, by in proven(solved).iter_rows():
            if not known_somewhere(case, person):
                continue
            proof = explain(solved, person, value, None)
            assert (proof.fact, proof.by) == (fact, by)
            assert str(proof)
            assert proof_check.holds(
                releases,
                members,
                steps=[[as_checked(row) for row in step.rows] for step in proof.steps],
                person=(person, None),
                value=value,
                fact=fact,
                split=False,
                domain=list(case.values),
                ranges=ranges,
                statements=statements,
            ), (seed, person, value, fact, str(proof))
            checked += 1
    assert checked > 20


def test_a_statement_that_nobody_can_keep_is_told_by_its_name():
    from tests.oracles import factored

    rows = [factored.Row(0, 0, "a", 1, 1), factored.Row(0, 0, "b", 1, 1)]
    said = [factored.Statement({("p", "a"): 1, ("q", "a"): 1}, 2, 2)]
    case = factored.Case(["a", "b"], {"p": [[0]], "q": [[0]]}, rows, said)
    with refusing(ContradictionError, match="S0"):
        answered(history_of(case), Log())
