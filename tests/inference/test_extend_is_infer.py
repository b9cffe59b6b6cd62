"""One more release answers as all releases at once, whatever `infer` was told beside them."""

import numpy as np
import polars as pl
import pytest

from showthrough import Register, Release, infer
from showthrough.errors import InputError, ShowthroughError
from tests.extended_cases import extended
from tests.histories import release

CASES = 300


def outcome(ask):
    """A posterior, or the type of the refusal."""
    try:
        return ask()
    except ShowthroughError as refused:
        return type(refused)


def same(one, other) -> None:
    if isinstance(one, type) or isinstance(other, type):
        assert one is other
        return
    assert one.names == other.names
    assert one.values.to_list() == other.values.to_list()
    keys = [c for c in ("id", "release", "value") if c in one.to_frame().columns]
    both = [post.to_frame().sort(keys, nulls_last=True) for post in (one, other)]
    assert both[0].select(keys).equals(both[1].select(keys))
    slack = 1e-9 + sum(float(np.sqrt(2 * max(post.certificate.gap, 0.0))) for post in (one, other))
    assert one.states().equals(other.states())
    assert both[0]["p"].is_null().equals(both[1]["p"].is_null())
    assert (
        np.abs(both[0]["p"].fill_null(0.0).to_numpy() - both[1]["p"].fill_null(0.0).to_numpy()).max(initial=0.0)
        <= slack
    )
    facts = [post.proven().select(*keys, "fact", "by").sort([*keys, "fact"], nulls_last=True) for post in (one, other)]
    assert facts[0].equals(facts[1])
    assert one.reader.fingerprint() == other.reader.fingerprint()


@pytest.mark.parametrize("part", range(3))
def test_extending_is_inferring_for_every_argument(part):
    extensions = refusals = 0
    for seed in range(part * CASES // 3, (part + 1) * CASES // 3):
        case = extended(seed)
        before = outcome(lambda c=case: infer(c.releases[:-1], **c.given))
        if isinstance(before, type):
            continue
        grown = outcome(lambda c=case, b=before: b.extend(c.releases[-1]))
        same(outcome(lambda c=case: infer(c.releases, **c.given)), grown)
        extensions += 1
        refusals += isinstance(grown, type)
    assert extensions > CASES // 3 // 2
    assert refusals < extensions / 2


CELLS = {"age": ["2*", "2*", "3*"], "v": ["a", "b", "c"]}
PEOPLE = pl.DataFrame({"id": [1, 2, 3, 4], "age": ["21", "22", "23", "35"]})
FIRST = Release.generalized(CELLS, sensitive="v", quasi=["age"], name="G")
BESIDE = {
    "membership": {"membership": {"G": pl.DataFrame({"id": [1, 2, 4], "group": [1, 1, 2]})}},
    "presence": {"register": Register.of(PEOPLE, present={"G": [1, 2, 4]})},
    "presence in a column": {"register": PEOPLE.with_columns(pl.Series("in_G", ["yes", "yes", "no", "yes"]))},
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_second_release_of_the_name_makes_what_was_said_of_the_first_unclear(beside):
    post = infer([FIRST], **BESIDE[beside])
    for ask in (lambda: post.extend(FIRST), lambda: infer([FIRST, FIRST], **BESIDE[beside])):
        with pytest.raises(InputError, match=r"'G'.*but the releases are G \(1\), G \(2\)"):
            ask()
    other = release([([1, 2], ["a", "b"])], "H")
    same(infer([FIRST, other], **BESIDE[beside]), post.extend(other))


@pytest.mark.parametrize("number", [0, 1])
def test_values_that_any_release_declares_are_possible_for_who_may_be_outside(number):
    from dataclasses import replace

    both = [FIRST, Release.generalized(CELLS, sensitive="v", quasi=["age"], name="H")]
    both[number] = replace(both[number], domain=("z",))
    grown = infer(both[:1], register=PEOPLE).extend(both[1])
    assert grown.of(1)["z"] > 0  # three persons fit two rows: each may be in neither release
    same(infer(both, register=PEOPLE), grown)


def test_who_is_in_a_release_that_is_none_of_these_is_refused_unless_all_is_said_of_these():
    elsewhere = PEOPLE.with_columns(pl.lit("yes").alias("in_H"))
    with pytest.raises(InputError, match=r"who is in 'H' \(column in_H\), but the releases are G: name the column"):
        infer([FIRST], register=elsewhere)
    later = Release.generalized(CELLS, sensitive="v", quasi=["age"], name="H")
    register = Register.of(elsewhere.with_columns(pl.lit(None, dtype=pl.String).alias("in_G")))
    known = register.with_presence({"H": [1, 2, 4]})
    same(infer([FIRST, later], register=known), infer([FIRST], register=known).extend(later))
    ids = release([([1, 2], ["a", "b"])], "D")
    same(infer([ids, later], register=known), infer([ids], register=known).extend(later))


def test_a_release_without_values_at_the_end_tells_who_is_who():
    mute = Release.generalized(
        pl.DataFrame({"id": [5], "age": ["36"]}), sensitive=None, quasi=["age"], id="id", name="later"
    )
    same(infer([FIRST, mute], register=PEOPLE), infer([FIRST], register=PEOPLE).extend(mute))
