"""Records that come back and counterfeits that go, one after the other."""

import numpy as np

from showthrough.republishing.past import Past
from showthrough.republishing.proposal import Proposal
from showthrough.republishing.taken_back import TakenBack
from tests.inference.test_rough import located


def past_of(values):
    """A past whose table has these values."""
    _, _, past, _ = located(7)
    return Past(**{**past.__dict__, "value": np.array(values)})


def spent():
    """Three groups; records 1, 3 and 6 are withheld, and 1 and 3 have counterfeits in their place."""
    start = Proposal(np.array([0, 0, 0, 1, 1, 1, 2, 2]))
    now = Proposal(np.array([1, -1, 1, -1, 0, 0, -1, 2]), np.array([1, 0, 0, 2]), np.array([5, 5, 4, 4]))
    return start, now, past_of([5, 5, 4, 5, 4, 4, 3, 4])


def test_records_come_back_where_most_of_their_group_is_and_in_place_of_their_counterfeits():
    start, now, past = spent()
    back = TakenBack.of(start, now, past, np.array([0.0, 0.4, 0, 0.2, 0, 0, 0.3, 0]))
    assert back.row.tolist() == [3, 6, 1, -1, -1]  # the farthest from the limit first, then counterfeits of nobody
    assert back.group.tolist() == [0, 2, 1, -1, -1]
    assert back.fake.tolist() == [1, -1, 0, 2, 3]
    first = back.first(2)
    assert first.group.tolist() == [1, -1, 1, 0, 0, 0, 2, 2]
    assert sorted(zip(first.counterfeit_group.tolist(), first.counterfeit_value.tolist(), strict=True)) == [
        (0, 4), (1, 5), (2, 4),
    ]  # fmt: skip
    everything = back.first(back.steps)
    assert not everything.price
    assert everything.group.tolist() == [1, 1, 1, 0, 0, 0, 2, 2]


def test_nothing_taken_nothing_back():
    start = Proposal(np.array([0, 0, 1, 1]))
    assert not TakenBack.of(start, start, past_of([1, 2, 1, 2]), np.zeros(4)).steps
    gone = Proposal(np.array([0, 0, -1, -1]))  # nobody of their group is left: there is no group to come back to
    assert not TakenBack.of(start, gone, past_of([1, 2, 1, 2]), np.zeros(4)).steps
