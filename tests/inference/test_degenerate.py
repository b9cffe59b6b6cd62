"""Input at the edges still answers."""

import numpy as np
import polars as pl
import pytest

from showthrough import Release, infer
from showthrough.errors import InputError
from tests.histories import release, releases
from tests.inference.problems import plain_problem


def test_one_person_one_value():
    post = infer([release([(["only"], ["v"])])])
    assert post.of("only") == {"v": 1.0}
    assert post.entropy == 0.0
    assert post.proven().rows() == [("only", "v", "certain", "sets")]
    assert post.bounds().rows() == [("only", "v", 1.0, 1.0)]


def test_identical_releases_tell_nothing_new():
    groups = [(list("abc"), ["x", "x", "y"]), (list("de"), ["y", "z"])]
    once, often = infer([release(groups, "D1")]), infer([release(groups, f"D{k}") for k in range(5)])
    assert often.to_frame()["p"].to_list() == pytest.approx(once.to_frame()["p"].to_list(), abs=1e-12)
    assert often.certificate.status == "exact"


def test_disjoint_releases_are_independent():
    both = [release([(list("ab"), ["x", "y"])], "D1"), release([(list("cde"), ["x", "y", "y"])], "D2")]
    post = infer(both)
    assert post.of("a") == pytest.approx({"x": 0.5, "y": 0.5})
    assert post.of("c") == pytest.approx({"x": 1 / 3, "y": 2 / 3})


def test_groups_of_one():
    post = infer(
        [
            release([([p], [p % 3]) for p in range(20)], "D1"),
            release([(list(range(20)), [p % 3 for p in range(20)])], "D2"),
        ]
    )
    assert all(post.of(p) == {p % 3: 1.0} for p in range(20))
    assert post.proven().filter(pl.col("fact") == "certain")["by"].unique().to_list() == ["sets"]


def test_ten_thousand_values():
    n = 10_000
    d1 = release([(list(range(k, k + 10)), list(range(k, k + 10))) for k in range(0, n, 10)], "D1")
    shifted = [[p % n for p in range(k, k + 10)] for k in range(5, n + 5, 10)]
    post = infer([d1, release([(g, g) for g in shifted], "D2")])
    assert post.certificate.status == "exact"
    assert post.of(7) == pytest.approx(dict.fromkeys(range(5, 10), 0.2))


def test_a_value_in_every_group():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 60)
    truth[::5] = 0
    history = []
    for _ in range(3):
        order = rng.permutation(60).tolist()
        groups = [order[k : k + 6] for k in range(0, 60, 6)]
        history.append([(g, [int(truth[p]) for p in g]) for g in groups])
    assert infer(releases(history)).certificate.status == "exact"


def test_a_group_of_a_hundred_thousand():
    n = 100_000
    rng = np.random.default_rng(1)
    values = rng.integers(0, 30, n)
    one = pl.DataFrame({"id": np.arange(n), "v": values, "g": np.zeros(n, dtype=int)})
    two = pl.DataFrame({"id": np.arange(n), "v": values, "g": np.arange(n) // 50_000})
    rels = [Release.bucketized(f, id="id", sensitive="v", group="g", name=k) for k, f in (("D1", one), ("D2", two))]
    post = infer(rels)
    share = np.bincount(values[:50_000], minlength=30) / 50_000
    assert [post.of(0)[v] for v in range(30)] == pytest.approx(share.tolist(), abs=1e-9)


def test_fifty_releases():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 40)
    history = []
    for _ in range(50):
        order = rng.permutation(40)[: rng.integers(20, 40)].tolist()
        groups = [order[k : k + 8] for k in range(0, len(order), 8)]
        history.append([(g, [int(truth[p]) for p in g]) for g in groups])
    post = infer(releases(history))
    assert post.certificate.status == "exact"
    assert all(post.of(p) == {truth[p]: 1.0} for p in range(40))


@pytest.mark.parametrize("scale", [10**3, 10**5, 10**7])
def test_one_case_in_a_huge_group_is_an_honest_small_value(scale):
    """Signatures weigh up to 10⁷: counts as wide as a nation's, one person with the rare value."""
    from showthrough.inference.face import Face
    from showthrough.inference.log import Log
    from showthrough.inference.solving import solve
    from showthrough.table.arrays import Codes

    def codes(*rows: list[int]) -> Codes:
        return np.array(rows, dtype=np.int32)

    # two groups in release 0, two in release 1; three signatures; values 0 and 1
    problem = plain_problem(
        weight=np.array([scale, scale, 2], dtype=np.int64),
        groups=codes([0, 0, 1], [2, 3, 3]),
        start=np.array([0, 2, 4, 6]),
        value=np.array([0, 1, 0, 1, 0, 1], dtype=np.int32),
        row=codes([0, 1, 0, 1, 2, 3], [4, 5, 6, 7, 6, 7]),
        count=np.array([2 * scale - 1, 1, 1, 1, scale - 1, 1, scale + 1, 1], dtype=np.int64),
        row_value=np.array([0, 1] * 4, dtype=np.int32),
        row_group=np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32),
        row_release=np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32),
    )
    face = Face.whole(problem)
    x, _ = solve(face, Log())
    # all of value 1 in group 2 is one person of signature 0; group 0 has one in all, so signature 1 has none
    assert face.alive.tolist() == [True, True, True, False, True, True]
    assert x[1] == pytest.approx(1 / scale, rel=1e-9)
    assert x[5] == pytest.approx(0.5, abs=1e-12)


def test_values_of_different_types_are_refused_in_a_sentence():
    rels = [release([([1, 2], [0.5, 1.5])], "D1"), release([([1, 2], ["a", "b"])], "D2")]
    kinds = r"^The values are of different types \(D1: Float64; D2: String{}\): make them the same\.$"
    with pytest.raises(InputError, match=kinds.format("")):
        infer(rels)
    with pytest.raises(InputError, match=kinds.format("; the declared domain: String")):
        infer(rels, domain=["c"])
