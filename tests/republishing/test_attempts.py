"""What a guard may offer: nothing that contradicts the past, and nothing withheld where records may not be."""

import numpy as np
import polars as pl
import pytest

from showthrough import KAnonymity, Policy, anonymize, knowledge
from showthrough.anonymizers.table import Shape, prepare
from showthrough.errors import ContradictionError
from showthrough.register.register import Register
from showthrough.republishing.drafts import Drafts
from showthrough.republishing.guard_terms import Guard
from showthrough.republishing.past import Past
from showthrough.republishing.people import People, once_beside
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.search import Search
from showthrough.republishing.tied import joint
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
LIMIT = Policy(max_posterior=0.5, integral="no")


def first():
    """Two groups of two, one of which holds the only gout."""
    rows = [("a", 20, "x", "flu"), ("b", 21, "x", "gout"), ("c", 40, "y", "flu"), ("d", 41, "y", "cold")]
    return pl.DataFrame(rows, schema=["id", "age", "zip", "value"], orient="row")


def history():
    return [anonymize(first(), method="mondrian", criteria=[KAnonymity(2)], output="bucketized", name="R1", **ROLES)]


def search(table, *, hold_back=True):
    past = Past.of(table, history())
    guard = Guard(table, past, LIMIT, 2, lambda _: None, "bucketized", 0, 10.0, hold_back=hold_back)
    return Search(guard, joint(past.history), set(), np.inf)


def test_a_draft_that_contradicts_the_past_is_told_so_where_readers_know_something():
    changed = first().with_columns(value=pl.Series(["flu", "flu", "flu", "cold"]))
    table = prepare(changed, shape=Shape(), **ROLES)
    register = Register.of(table.frame, id="id", quasi=ROLES["quasi"])
    known = {"knowledge": [knowledge.excluded("c", "gout")], "prior": None, "register": register}
    past = Past.of(table, history(), known=known)
    drafts = Drafts(table, past, joint(past.history, known=known))
    with pytest.raises(ContradictionError):
        drafts.posterior(Proposal(np.zeros(4, dtype=np.int32)))


def test_what_contradicts_the_past_is_no_attempt():
    changed = prepare(first().with_columns(value=pl.Series(["flu", "flu", "flu", "cold"])), shape=Shape(), **ROLES)
    looking = search(changed)
    assert looking.over(Proposal(np.zeros(4, dtype=np.int32))).sum() == 4
    assert looking.contradicted
    assert looking.nearest is None
    assert not looking.front.attempts


@pytest.mark.parametrize("hold_back", [True, False])
def test_what_withholds_is_an_attempt_where_records_may_be_withheld(hold_back):
    looking = search(prepare(first(), shape=Shape(), **ROLES), hold_back=hold_back)
    proposal = Proposal(np.array([0, 1, 0, -1], dtype=np.int32))
    assert looking.over(proposal).any()
    assert bool(looking.front.attempts) == hold_back
    assert (looking.nearest is proposal) == hold_back
    assert (looking.mildest is proposal) == hold_back


def test_persons_without_those_who_are_exposed_stay_read():
    people = People(pl.Series(["a", "b"]), np.array([True, True]), read=False)
    assert not people.without({"a"}).read
    assert people.without({"a"}).over.tolist() == [False, True]


def test_who_was_once_beside_somebody():
    past = Past.of(prepare(first(), shape=Shape(), **ROLES), history())
    assert sorted(once_beside(past, pl.Series(["a"]))) == ["a", "b"]


@pytest.mark.parametrize("seed", [1, 4])
def test_splitting_changed_values_is_the_same_where_nobody_changed(seed):
    *before, table = raw_tables(seed, persons=40, releases=3)
    given = {"method": "mondrian", "criteria": [KAnonymity(3)], "output": "bucketized", "seed": 1, **ROLES}
    past = [anonymize(earlier, name=f"R{k}", **given) for k, earlier in enumerate(before)]
    given |= {"strategy": "guarded", "policy": LIMIT, "history": past, "exposed": "accept", "hold_back": True}
    refusing, splitting = (anonymize(table, changed=changed, **given) for changed in ("refuse", "split"))
    assert refusing.fingerprint() == splitting.fingerprint()
    assert refusing.groups().equals(splitting.groups())
    assert [r.kind for r in refusing.made.remarks] == [r.kind for r in splitting.made.remarks]
