"""An id that is split in the whole history and one person in a part of it: both parts have what the part tells."""

import polars as pl

from showthrough import infer
from tests.histories import release

# 1 and 2 have x or y first and z or w later: one id, two persons
HISTORY = [
    release([([1, 2], ["x", "y"]), ([3, 4], ["x", "z"])], "D1"),
    release([([1, 2], ["z", "w"]), ([3, 4], ["x", "z"])], "D2"),
]


def of_one(frame):
    return frame.filter(pl.col("id") == 1).drop("id").rows()


def test_each_part_is_told_by_its_own_release():
    post = infer(HISTORY, changed="split")
    assert of_one(post.attribution()) == [
        ("D1", "D1", None, 0.5),
        ("D1", "D2", 0.5, 0.5),
        ("D2", "D2", None, 0.5),
    ]


def test_without_its_own_release_a_part_is_not_known():
    post = infer(HISTORY, changed="split")
    assert sorted(of_one(post.leave_one_out())) == sorted(
        [("D1", "D1", None, 0.5), ("D2", "D1", 0.5, 0.5), ("D1", "D2", 0.5, 0.5), ("D2", "D2", None, 0.5)],
    )
