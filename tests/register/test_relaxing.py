"""Nearest centroids that contradict each other: the next ones are candidates too, and then the releases agree."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

import showthrough as st
from showthrough.inference.log import Log
from showthrough.inference.run import Wanted, answer
from showthrough.register.centroids import Measure, nearest, share_correct
from showthrough.register.leeway import Near
from showthrough.register.locating import locate
from showthrough.register.reader import Reader
from showthrough.register.relaxing import relaxed
from showthrough.register.truth import own_groups
from showthrough.register.tying import tie
from tests.histories import release
from tests.register.instances import lists


def microaggregated(seed: int, people: int = 150, k: int = 5) -> tuple[pl.DataFrame, list]:
    """A table without its values, and two MDAV releases of most of its persons each."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(people, 2)).round(2)
    values = rng.choice(list("abcdef"), people, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])
    table = pl.DataFrame({"id": [f"p{i}" for i in range(people)], "x": points[:, 0], "y": points[:, 1], "v": values})
    made = []
    for r in (1, 2):
        some = table.sample(int(0.7 * people), seed=seed + r)
        roles = {"id": "id", "sensitive": "v", "quasi": ["x", "y"]}
        made.append(replace(st.anonymize(some, method="mdav", criteria=[st.KAnonymity(k)], **roles), name=f"M{r}"))
    return table.drop("v"), made


def consistent(releases, reader: Reader) -> bool:
    """Whether some shares of values and seats meet all counts: a linear program from the ties alone."""
    seats: dict = {}  # person → release → groups, −1 outside
    for r, one in enumerate(releases):
        ties = tie(one, one.name, reader)
        for p, id in enumerate(ties.ids):
            own = ties.group[ties.start[p] : ties.start[p + 1]].tolist()
            seats.setdefault((id, 1), {})[r] = own + [-1] * bool(ties.outside[p])
        for k, pool in enumerate(ties.pools):
            seats[("unnamed", r, k), pool.members] = {r: pool.groups.tolist()}
    counts = {(r, int(one.labels.index_of(g)), v): n for r, one in enumerate(releases) for g, v, n in one.tally.rows()}
    values = sorted({v for _, _, v in counts})
    rows: dict = {}
    entries, right, columns = [], [], 0
    for (who, members), homes in seats.items():
        for v in values:
            x, columns = columns, columns + 1
            entries.append((rows.setdefault(("one", who), len(rows)), x, 1.0))
            for r, own in homes.items():
                link = rows.setdefault(("link", who, v, r), len(rows))
                entries.append((link, x, -1.0))
                for g in own:
                    if g == -1 or (r, g, v) in counts:
                        entries.append((link, columns, 1.0))
                        if g != -1:
                            entries.append((rows.setdefault(("count", r, g, v), len(rows)), columns, 1.0))
                        columns += 1
        right.append((("one", who), members))
    if any(("count", *key) not in rows for key in counts):
        return False
    b = np.zeros(len(rows))
    for key, n in [*right, *((("count", *key), n) for key, n in counts.items())]:
        b[rows[key]] = n
    row, column, weight = map(np.array, zip(*entries, strict=True))
    A = csr_array((weight, (row, column)), shape=(len(rows), columns))
    return linprog(np.zeros(columns), A_eq=A, b_eq=b, bounds=(0, None)).status == 0


@pytest.mark.parametrize("seed", [1, 5, 9])
def test_two_releases_that_contradict_by_nearest_centroids_agree_with_the_next_ones(seed):
    people, releases = microaggregated(seed)
    strict = Reader.of(releases, register=people)
    assert not consistent(releases, strict)
    wider = relaxed(strict, releases)
    assert consistent(releases, wider)
    for one in releases:
        truth = own_groups(one, one.name, wider.register, one.link)
        found = locate(one, one.name, wider.register, near=wider.leeway.near[one.name])
        assert share_correct(found.candidates, truth)[1] > 0.98
    assert len(wider.notes()) == 2
    assert "M1: the nearest centroids contradict" in wider.notes()[0]
    assert wider.fingerprint() != strict.fingerprint()
    assert wider.strict().fingerprint() == strict.fingerprint()


def test_what_is_proven_under_leeway_verifies_under_it():
    people, releases = microaggregated(0, people=24, k=4)
    reader = relaxed(Reader.of(releases, register=people), releases)
    solved, certificate = answer(reader, releases, Wanted(), Log())
    assert certificate.residual < 1e-6
    assert solved.history.reader.leeway.near == {"M1": Near(12), "M2": Near(12)}


def test_every_call_widens_until_everybody_may_be_anywhere():
    people, releases = microaggregated(1, people=40)
    reader, widths = Reader.of(releases, register=people), []
    while (wider := relaxed(reader, releases)) is not reader:
        reader = wider
        widths.append(tie(releases[0], "M1", reader).group.size)
    assert widths == sorted(set(widths))
    assert reader.leeway.near["M1"].least >= releases[0].labels.len()


def test_only_guesses_are_relaxed():
    people, releases = microaggregated(1, people=40)
    members = releases[0].groups()
    others = [release([(["p1", "p2"], ["a", "b"])], "D"), releases[0]]
    reader = Reader.of(others, register=people, membership={"M1": members})
    assert relaxed(reader, others) is reader  # ids are published, or who is where is known
    assert relaxed(Reader.of(releases), releases).leeway.near == {}  # without a register nobody is located


def test_the_nearest_up_to_a_number():
    one = [Measure("numeric")]
    persons, centroids = np.array([[0.0], [10.0], [np.nan]]), np.array([[1.0], [1.5], [3.0], [10.0]])
    assert lists(nearest(persons, centroids, measures=one)) == [[0], [3], [0, 1, 2, 3]]
    assert lists(nearest(persons, centroids, measures=one, least=2)) == [[0, 1], [2, 3], [0, 1, 2, 3]]
    assert lists(nearest(persons, centroids, measures=one, least=3)) == [[0, 1, 2], [1, 2, 3], [0, 1, 2, 3]]
    assert lists(nearest(persons, centroids, measures=one, least=9)) == [[0, 1, 2, 3]] * 3
    many = [Measure("nominal")] * 21  # too many dimensions for a tree
    far = np.eye(4, 21)
    assert lists(nearest(far[:1], far, measures=many, least=2)) == [[0, 1, 2, 3]]
    assert lists(nearest(far[:1], far, measures=many)) == [[0]]


def test_who_has_no_value_even_near_the_next_centroids_may_be_anywhere():
    places = [float(k) for k in range(30)]
    values = ["a"] * 29 + ["z"]
    guess = st.Release.microaggregated({"x": places, "v": values}, sensitive="v", quasi=["x"], name="M")
    people = pl.DataFrame({"id": range(30), "x": places, "in_M": [1] * 30})
    told = release([([0], ["z"]), (list(range(1, 30)), ["a"] * 29)], "D")
    post = st.infer([told, guess], register=people)
    assert post.of(0) == {"z": 1.0}
    leeway = post.reader.leeway
    assert leeway.anywhere == {"M": ("0",)}  # the only z is far away; 29, beside it, has another a near
    assert any("may be in any group of M" in note for note in post.reader.notes())
    proof = post.explain(0, "z")
    assert proof.verify([told, guess], register=people)


def test_facts_that_rest_on_a_near_centroid_hold_only_if_the_guess_does():
    people, releases = microaggregated(2, people=60)
    post = st.infer(releases, register=people)
    facts, bounds = post.proven(), post.bounds()
    assert facts.height
    assert facts["conditional"].all()
    assert bounds["conditional"].all()
    counted = post.fact_counts()
    assert counted.certain == counted.impossible_by_sets == counted.impossible_by_counts == 0
    alone = st.Release.bucketized(
        {"id": ["x", "y"], "g": [1, 1], "v": ["a", "b"]}, id="id", sensitive="v", group="g", quasi=[], name="B"
    )
    beside = st.infer([*releases, alone], register=people)  # on an island of its own
    assert not beside.bounds(ids=["x"])["conditional"].any()
