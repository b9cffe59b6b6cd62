"""Rough answers beside full ones, and the influence of changes beside a derivative of our own and beside `infer`."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from showthrough import FrequencyLDiversity, KAnonymity, anonymize, infer, knowledge
from showthrough.anonymizers.table import Shape, prepare
from showthrough.errors import ContradictionError, InputError
from showthrough.inference.infer import roughly
from showthrough.inference.influence import influence, of_counts
from showthrough.inference.nearby import nearby
from showthrough.inference.reduce import reduce
from showthrough.inference.rough import _SparseDual
from showthrough.republishing.located_view import _memberships
from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal, release_of
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}
MADE = {"method": "local-recoding", "criteria": [KAnonymity(3), FrequencyLDiversity(2)], "output": "generalized"}
SEEDS = st.integers(0, 2**20)


def located(seed, *, turnover=0.1, persons=60, k=3):
    """Two releases, a proposal for the third, and the table."""
    made = {**MADE, "criteria": [KAnonymity(k), FrequencyLDiversity(2)]}
    tables = list(raw_tables(seed, persons=persons, values=5, releases=3, turnover=turnover))
    history = [anonymize(t, name=f"R{n}", seed=n, **made, **ROLES) for n, t in enumerate(tables[:2])]
    table = prepare(tables[2], shape=Shape(), **ROLES)
    past = Past.of(table, history)
    groups = anonymize(tables[2], name="R2", seed=5, **made, **ROLES).groups()
    place = dict(zip(groups["id"].to_list(), groups["group"].to_list(), strict=True))
    number = {g: n for n, g in enumerate(sorted(set(place.values())))}
    group = [number[place[i]] if i in place else -1 for i in table.frame["id"].to_list()]
    return history, table, past, Proposal(np.array(group, dtype=np.int32))


def read(history, table, past, proposal, before=None, near=None, passes=800):
    release = release_of(table, past, proposal, kind="generalized", name="R2", seed=0, parameters={})
    releases = [*history, release]
    membership = _memberships(table, releases)
    if before is None:
        return infer(releases, membership=membership, contradictions="refuse")
    return roughly(releases, before, near, passes=passes, membership=membership)


def first(history, table):
    return infer(history, membership=_memberships(table, history), contradictions="refuse")


def apart(one, other):
    keys = ["id", "value"]
    both = one.to_frame().join(other.to_frame(), on=keys, how="full", suffix="_other", coalesce=True)
    return float((both["p"].fill_null(0.0) - both["p_other"].fill_null(0.0)).abs().max())


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.1, 0.3]))
def test_a_rough_answer_is_near_the_full_one(seed, turnover):
    try:
        history, table, past, proposal = located(seed, turnover=turnover)
        before, full = first(history, table), read(history, table, past, proposal)
    except (ContradictionError, InputError):
        return
    rough = read(history, table, past, proposal, before)
    assert rough.ids.equals(full.ids)
    assert apart(rough, full) < 0.02  # zeros that nobody has proven are next to nothing
    assert not rough.certificate.status.consistent or rough.certificate.status == "believed"
    assert apart(read(history, table, past, proposal, before, rough, 50), full) < 0.02


def test_what_rough_answers_leave_to_full_ones():
    history, table, past, proposal = located(7)
    before = first(history, table)
    release = release_of(table, past, proposal, kind="generalized", name="R2", seed=0, parameters={})
    releases = [*history, release]
    membership = _memberships(table, releases)
    said = [knowledge.known(table.frame["id"][0], table.frame["value"][0])]
    assert roughly(releases, before, passes=50, membership=membership, knowledge=said) is None


class Dense:
    """The located dual in plain arrays: x ∝ Π over releases of Σ over candidates of exp mu."""

    def __init__(self, solved):
        self.solved, p = solved, solved.problem
        self.alive = np.zeros((p.signatures, solved.history.values.len()))
        self.alive[p.signature, p.value] = solved.face.alive[: p.variables]
        self.fits = []
        for r in range(p.places.releases):
            own, group = p.places.fits(r)
            self.fits.append((own, group))

    def weights(self, mu):
        p, found = self.solved.problem, self.alive.copy()
        table = np.zeros((int(self.solved.history.first_group[-1]), self.alive.shape[1]))
        table[p.row_group, p.row_value] = np.exp(mu)
        for own, group in self.fits:
            seat = np.zeros_like(found)
            np.add.at(seat, own, np.where((group >= 0)[:, None], table[np.maximum(group, 0)], 1.0))
            found *= seat
        return found

    def x(self, mu):
        found = self.weights(mu)
        return found / found.sum(axis=1, keepdims=True)

    def best(self, count, begin):
        weight = self.solved.problem.weight

        def dual(mu):
            return float(weight @ np.log(self.weights(mu).sum(axis=1)) - count @ mu)

        return minimize(dual, begin, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}).x


def overlapping(seed):
    """Twelve persons in three releases of two groups whose cells overlap; every group has every value."""
    random = np.random.default_rng(seed)
    age = np.sort(random.integers(20, 40, 12))
    frame = pl.DataFrame({"id": [f"p{k}" for k in range(12)], "age": age, "value": list("abc" * 4)})
    table = prepare(frame, shape=Shape(), id="id", sensitive="value", quasi=["age"])
    past = Past.of(table, [])
    releases = []
    for name in ("R0", "R1", "R2"):
        group = np.zeros(12, dtype=np.int32)
        for value in range(3):
            own = np.flatnonzero(np.arange(12) % 3 == value)
            group[random.permutation(own)[: random.integers(1, 4)]] = 1
        made = Proposal(group)
        releases.append(release_of(table, past, made, kind="generalized", name=name, seed=0, parameters={}))
    return table, releases


@pytest.mark.parametrize("seed", [0, 1, 2, 4])  # where nothing is impossible
def test_the_dual_of_rough_answers_is_the_plain_one(seed):
    """Its value, and its gradient as differences of values."""
    table, releases = overlapping(seed)
    solved = infer(releases, membership=_memberships(table, releases))._solved
    p, dense = solved.problem, Dense(solved)
    reduced = reduce(p, solved.face.alive, solved.face.rows)
    whole, random = _SparseDual(reduced), np.random.default_rng(seed)
    mu = random.normal(0, 2, reduced.rows.size)

    def plain(own):
        full = np.zeros(p.rows.size)
        full[reduced.row_of] = own
        weights = dense.weights(full).sum(axis=1)
        return float(p.weight @ np.log(weights) - reduced.rows.lower @ own)

    F, g = whole.at(mu)
    moved = np.eye(mu.size) * 1e-5
    slopes = [(plain(mu + step) - plain(mu - step)) / 2e-5 for step in moved]
    other = random.normal(0, 2, mu.size)
    assert F - whole.at(other)[0] == pytest.approx(plain(mu) - plain(other), abs=1e-9)
    assert g == pytest.approx(slopes, abs=1e-6)


def test_who_fits_a_changed_group_is_near_and_shares_add_up():
    """Beside a loop over persons: those who fit it, then those who share a group with one of them."""
    history, table, past, proposal = located(11, turnover=0.1, persons=150, k=6)
    post = read(history, table, past, proposal)
    changed = np.array([2, 5])
    near = nearby(post, changed, np.arange(2), 2).toarray()
    fits = [post.groups_of(name).drop_nulls("group").rows() for name in post.names]
    of = {i: {(n, g) for n, told in enumerate(fits) for own, g, *_ in told if own == i} for i in post.ids.to_list()}
    labels = post._solved.history.labels[-1].gather(changed).to_list()
    touched = [{(len(fits) - 1, label)} for label in labels]
    first = [{i for i, groups in of.items() if groups & own} for own in touched]
    reached = [set().union(*(of[i] for i in own)) for own in first]
    for k, i in enumerate(post.ids.to_list()):
        for change in range(2):
            if near[k, change] > 0:
                assert of[i] & reached[change]
            if i in first[change]:
                assert near[k, change] > 0
        assert near[k].sum() == pytest.approx(0.0) or near[k].sum() == pytest.approx(1.0)
    alone = [k for k, i in enumerate(post.ids.to_list()) if i in first[0] and i not in first[1]]
    assert alone
    assert all(near[k, 0] >= near[k, 1] for k in alone)


@pytest.mark.parametrize("seed", [0, 1, 2, 4])  # where nothing is impossible
def test_the_influence_of_counts_is_the_derivative(seed):
    """Counts in any number of persons, by an optimizer that knows no derivative of the answer."""
    table, releases = overlapping(seed)
    solved = infer(releases, membership=_memberships(table, releases))._solved
    p, dense = solved.problem, Dense(solved)
    assert solved.face.alive.all()
    target = np.zeros(p.variables)
    target[[0, p.variables // 2]] = 1.0
    y = of_counts(solved, target)
    count = p.count.astype(float)
    mu = dense.best(count, solved.mu)
    assert dense.x(mu)[p.signature, p.value] == pytest.approx(solved.x[: p.variables], abs=1e-5)
    newest = np.flatnonzero(p.row_release == 2)
    weight, step = p.weight[p.signature], 1e-2
    for a, b in [(newest[0], newest[1]), (newest[1], newest[2])]:  # one person more here, one less there
        found = []
        for sign in (1, -1):
            moved = count.copy()
            moved[a], moved[b] = moved[a] + sign * step, moved[b] - sign * step
            moved[a + 3], moved[b + 3] = moved[a + 3] - sign * step, moved[b + 3] + sign * step  # and back elsewhere
            x = dense.x(dense.best(moved, mu))[p.signature, p.value]
            found.append(float((target * weight * x).sum()))
        expected = y[a] - y[b] - y[a + 3] + y[b + 3]
        assert (found[0] - found[1]) / (2 * step) == pytest.approx(expected, abs=0.02 + 0.02 * abs(expected))


def test_promised_effects_are_those_of_a_full_inference():
    """Counterfeits in a twelfth of all places each, and the record whose withholding promises most."""
    alike, gained = [], []
    for seed in (21, 22, 23, 24):
        history, table, past, proposal = located(seed, turnover=0.3, persons=200, k=8)
        post = read(history, table, past, proposal)
        limit, near = float(np.median(post.largest())), 0.1
        seen = influence(post, np.ones(post.ids.len(), dtype=bool), limit, near)
        number = seen.labels.cast(pl.Int64).to_numpy()[seen.group] - 1
        values = [past.values.to_list().index(v) for v in post.values.gather(seen.value).to_list()]
        frame = post.to_frame().select("id", "value", "p")
        weight = np.clip((frame["p"].to_numpy() - (limit - near)) / (2 * near), 0, 1)
        frame = frame.with_columns(weight=pl.Series(weight))

        def effect(made, before=frame, told=(history, table, past)):
            after = read(*told, made).to_frame().select("id", "value", now="p")
            both = before.join(after, on=["id", "value"], how="left").with_columns(pl.col("now").fill_null(0.0))
            return float((both["weight"] * (both["now"] - both["p"])).sum())

        chosen = np.argsort(seen.joining)[:: seen.joining.size // 12]
        fakes = [(np.array([number[k]], np.int32), np.array([values[k]], np.int32)) for k in chosen]
        done = [effect(Proposal(proposal.group, *fake)) for fake in fakes]
        alike.append(np.corrcoef(seen.joining[chosen], done)[0, 1])
        place = {i: n for n, i in enumerate(post.ids.to_list())}
        key = {(int(g), int(v)): k for k, (g, v) in enumerate(zip(number, values, strict=True))}
        rows = np.flatnonzero(proposal.group >= 0)
        ids = table.frame["id"].gather(rows).to_list()
        at = [key[int(g), int(v)] for g, v in zip(proposal.group[rows], past.value[rows], strict=True)]
        promised = seen.leaving[[place[i] for i in ids]] - seen.count[at]
        group = proposal.group.copy()
        group[rows[np.argmin(promised)]] = -1
        gained.append(effect(Proposal(group)))
    assert min(alike) > 0.5
    assert np.mean(gained) < -0.2
