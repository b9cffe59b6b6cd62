"""What the guard may cost, and for whom it works: not for those whom earlier releases give away."""

import numpy as np
import polars as pl

from showthrough import FrequencyLDiversity, KAnonymity, Policy, Release, infer
from tests.republishing.changing import raw_tables
from tests.republishing.test_guarded import guard

TOLERANCE = 2e-5


def test_no_record_is_withheld_where_a_coarser_release_needs_none():
    """A withheld record buys smaller groups here; the guard publishes everybody in larger ones all the same."""
    table = next(iter(raw_tables(1, persons=10, releases=1, values=4)))
    made = guard(table, [], Policy(max_posterior=0.6), method="mondrian", prefer="useful", seconds=60).made
    assert (made.counterfeits, made.suppressed) == (0, 0)


def test_in_large_tables_too_nothing_is_spent_on_persons_who_are_exposed_already():
    """Pairs of neighbours with two values; two of 2 002 persons are certain before and need no repair."""
    pair = np.repeat(np.arange(1001), 2)
    table = pl.DataFrame(
        {"id": [f"p{i}" for i in range(2002)], "age": pair, "zip": ["z"] * 2002, "value": ["x", "y"] * 1001}
    )
    roles = {"id": "id", "sensitive": "value", "group": "group"}
    first = Release.bucketized(table.with_columns(group=pl.Series(pair)), name="D1", **roles)
    told = pl.DataFrame({"id": ["p0", "n"], "age": [0, 0], "zip": ["z", "z"], "value": ["x", "w"], "group": [1, 1]})
    history = [first, Release.bucketized(told, name="D2", **roles)]
    policy, criteria = Policy(max_posterior=0.5), [KAnonymity(2), FrequencyLDiversity(2)]
    release = guard(table, history, policy, method="mondrian", output="bucketized", criteria=criteria, exposed="accept")
    assert set(release.made.exposed) == {"p0", "p1", "n"}
    assert (release.made.counterfeits, release.made.suppressed) == (0, 0)
    largest = infer([*history, release]).to_frame().group_by("id").agg(pl.col("p").max())
    assert set(largest.filter(pl.col("p") > 0.5 + TOLERANCE)["id"]) == {"p0", "p1", "n"}


def test_the_price_tells_of_counting_queries_where_there_are_two_columns_to_count_by():
    (table,) = raw_tables(4, persons=40, releases=1)
    for quasi in (["age", "zip"], ["age"]):
        made = guard(table, [], Policy(max_posterior=0.6), method="mondrian", quasi=quasi).made
        (told,) = [note for note in made.notes if note.startswith("Independent release → guarded")]
        assert ("counting queries off by" in told) == (len(quasi) == 2)
