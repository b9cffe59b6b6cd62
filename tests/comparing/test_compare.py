"""Options side by side: figures against inferences made by hand."""

import polars as pl
import pytest

import showthrough as st
from showthrough.comparing.comparison import compare
from showthrough.comparing.course import learned, series
from showthrough.comparing.option import ToCompare, grouping
from showthrough.errors import InputError
from showthrough.progress import Progress
from tests.comparing.tables import people

ROLES = {"id": "id", "sensitive": "ill", "quasi": ["age", "sex", "town"]}
GROUPS = {**ROLES, "epsilons": (), "match": False}


def test_groups_give_more_and_more_persons_away():
    found = compare(people(200), **GROUPS, releases=(1, 2, 5), queries=40)
    assert found.options["refused"].to_list() == ["", ""]
    for (_option,), course in found.course.group_by("option"):
        rows = course.sort("releases")
        assert rows["over_90"][0] < rows["over_90"][2]
        assert rows["true"].is_sorted()
        assert (rows["certain"] <= rows["over_90"]).all()
        assert (rows["over_90"] <= rows["over_50"]).all()
    anatomy = found.course.filter(pl.col("option") == "anatomy, l = 3", pl.col("releases") == 1).row(0, named=True)
    assert anatomy["persons"] == 180
    assert anatomy["largest"] == pytest.approx(anatomy["true"]) == pytest.approx(anatomy["right"])
    assert anatomy["largest"] == pytest.approx(1 / 3, abs=0.01)  # a group of four has a quarter


@pytest.mark.parametrize("method", ["anatomy", "mondrian", "local-recoding", "mdav"])
def test_what_is_learned_is_what_all_releases_tell(method):
    table = people(90, 3)
    asked = ToCompare(table, "id", "ill", ("age", "sex", "town"), {}, k=3, l=2)
    parts = [table[:80], table[10:], table[5:85]]
    made = series(asked, grouping(asked, method), parts, 7, Progress())
    assert [release.name for release in made.releases] == ["R1", "R2", "R3"]
    found = learned(asked, made, 2, 60.0, Progress())
    register = None
    if made.option.by_register:
        present = {"R1": table["id"][:80], "R2": table["id"][10:]}
        register = st.Register.of(table.select("id", "age", "sex", "town"), present=present)
    post = st.infer(made.releases[:2], register=register)
    beliefs = {str(i): post.of(i) for i in post.ids}
    truth = dict(table.select("id", "ill").iter_rows())
    assert found.persons == 90 == len(beliefs)
    assert found.certain == int(post.certain().sum())
    assert found.largest == pytest.approx(sum(max(p.values()) for p in beliefs.values()) / 90)
    assert found.true == pytest.approx(sum(p.get(truth[i], 0.0) for i, p in beliefs.items()) / 90)
    assert found.most == pytest.approx(max(max(p.values()) for p in beliefs.values()))
    assert found.over_50 == sum(max(p.values()) >= 0.5 - 1e-9 for p in beliefs.values())
    right = 0.0
    for i, p in beliefs.items():
        best = [v for v, x in p.items() if x >= max(p.values()) - 1e-9]
        right += (truth[i] in best) / len(best)
    assert found.right == pytest.approx(right / 90)


def test_the_same_seed_gives_the_same_answer_and_the_error_is_that_of_one_release():
    table = people(150, 1)
    one, two = (compare(table, **GROUPS, releases=(1, 2), queries=40, seed=5) for _ in range(2))
    assert one.course.equals(two.course)
    assert one.options.equals(two.options)
    other = compare(table, **GROUPS, releases=(1, 2), queries=40, seed=6)
    assert not one.course.equals(other.course)
    assert (one.options["query_error"] > 0).all()
    assert str(one).startswith("mondrian, k = 5: after 2 releases")
    assert set(one.as_dict()) == {"options", "course", "notes"}


def test_what_cannot_be_published_is_told_and_the_rest_goes_on():
    table = people(80).with_columns(ill=pl.when(pl.int_range(80) < 60).then(pl.lit("ill 0")).otherwise("ill"))
    found = compare(table, **GROUPS, releases=(1,), queries=20)
    told = dict(found.options.select("option", "refused").iter_rows())
    assert told["mondrian, k = 5"] == ""
    assert told["anatomy, l = 3"]
    assert found.course["option"].to_list() == ["mondrian, k = 5"]
    nothing = compare(table, **{**GROUPS, "methods": ("anatomy",)}, releases=(1,), queries=20)
    assert str(nothing) == "No option could be published."
    assert nothing.course.height == 0


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"quasi": []}, "quasi-identifiers"),
        ({"quasi": ["hair"]}, "hair"),
        ({"releases": ()}, "releases are numbers"),
        ({"releases": (0, 1)}, "releases are numbers"),
        ({"releases": (1, 1000)}, "releases are numbers"),
        ({"share": 0.0}, "share"),
        ({"methods": ("magic",)}, ""),
    ],
)
def test_bad_input_is_a_sentence(changed, part):
    if part:
        with pytest.raises(InputError, match=part):
            compare(people(30), **{**GROUPS, **changed})
    else:
        found = compare(people(30), **{**GROUPS, **changed})
        assert "Methods to compare are" in found.options["refused"][0]


@pytest.mark.parametrize(
    ("table", "part"),
    [
        (people(1), "fewer than two rows"),
        (pl.concat([people(10), people(10)]), "more than once"),
        (people(10).with_columns(age=pl.when(pl.col("age") > 40).then("age")), "empty cells"),
    ],
)
def test_bad_tables_are_refused(table, part):
    with pytest.raises(InputError, match=part):
        compare(table, **GROUPS)


def test_a_table_too_small_for_cells_is_told():
    """Two persons with two values: no quasi-identifier is left to count by, with or without a match."""
    found = compare(people(2), **ROLES, methods=["mondrian"], k=2, releases=(1,), queries=5)
    told = dict(found.options.select("option", "refused").iter_rows())
    assert all("need more persons" in told[f"noise, ε = {e}"] for e in ("0.1", "1"))
    assert all("inf" not in words for words in told.values())
