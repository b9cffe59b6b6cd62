"""What a release tells beside its history is said when it is made, also by a plan."""

import polars as pl

from showthrough import FrequencyLDiversity, KAnonymity, anonymize
from showthrough.anonymizers.plan import plan_of

ROWS = pl.DataFrame(
    {
        "id": [f"p{k}" for k in range(24)],
        "age": [20 + k for k in range(24)],
        "sex": ["f", "m"] * 12,
        "v": ["a", "b", "c", "d"] * 6,
    }
)
ROLES = {"id": "id", "sensitive": "v", "quasi": ["age", "sex"]}


def test_independent_buckets_beside_each_other():
    first = anonymize(ROWS, method="anatomy", criteria=[FrequencyLDiversity(2)], name="one", **ROLES)
    second = anonymize(ROWS, method="anatomy", criteria=[FrequencyLDiversity(2)], history=[first], seed=1, **ROLES)
    note = second.made.notes[-1]
    assert note.startswith("Beside the history (persons tied by id or link) a reader is certain about ")
    assert "certain about 0 of 24" not in note


def test_a_plan_is_judged_with_the_release_it_comes_from():
    first = anonymize(ROWS, method="mondrian", criteria=[KAnonymity(3)], name="one", **ROLES)
    again = anonymize(ROWS, criteria=[KAnonymity(3)], plan=plan_of(first), history=[first], **ROLES)
    assert "certain about" in again.made.notes[-1]
    assert "0 of them by this release" in again.made.notes[-1]  # the same groups tell nothing new


def test_without_ids_or_values_nothing_is_looked_at():
    first = anonymize(ROWS, method="mondrian", criteria=[KAnonymity(3)], name="one", **ROLES)
    for missing in ("id", "sensitive"):
        roles = {**ROLES, missing: None}
        made = anonymize(ROWS, method="mondrian", criteria=[KAnonymity(3)], history=[first], **roles).made
        assert made.notes[-1].startswith("Beside the history nothing was looked at"), missing
