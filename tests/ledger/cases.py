"""Releases for tests of the ledger."""

from __future__ import annotations

import random

import showthrough as st
from tests.histories import FIGURE1, release, releases

PERMISSIVE = st.Policy(certain=1000)
STRICT = st.Policy(certain=0)


def figure1() -> list[st.Release]:
    return releases(FIGURE1)


def safe(name: str, *, persons: range = range(8)) -> st.Release:
    """Two groups of four with four values each; the same groups whenever it is published again."""
    members = [f"p{k}" for k in persons]
    values = ["Flu", "HIV", "Ulcer", "Asthma"]
    return release([(members[k : k + 4], values) for k in range(0, len(members), 4)], name)


def pair() -> tuple[st.Release, st.Release]:
    """Two candidates after `safe`: each is safe beside it, and both together make everybody certain."""
    one = release([(["p0", "p1"], ["Flu", "HIV"]), (["p2", "p3"], ["Ulcer", "Asthma"])], "one")
    other = release([(["p0", "p2"], ["Flu", "Ulcer"]), (["p1", "p3"], ["HIV", "Asthma"])], "other")
    return one, other


def random_release(rng: random.Random, name: str, persons: int = 30) -> st.Release:
    truth = [("Flu", "HIV", "Ulcer", "Asthma")[k % 4] for k in range(persons)]
    members = list(range(persons))
    rng.shuffle(members)
    groups = [members[k : k + 6] for k in range(0, persons, 6)]
    return release([([f"p{k}" for k in own], [truth[k] for k in own]) for own in groups], name)
