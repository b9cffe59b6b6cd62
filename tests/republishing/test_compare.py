"""All strategies on one page, and history-guided publishing through `anonymize`."""

import io
import time

import polars as pl
import pytest
from rich.console import Console

from showthrough import FrequencyLDiversity, Policy, anonymize, infer
from showthrough.errors import InputError
from showthrough.report.publish import comparison_content
from showthrough.report.publish_terminal import show_comparison
from showthrough.republishing.strategies_compared import compare
from tests.republishing.changing import raw_tables

ROLES = {"id": "id", "sensitive": "value", "quasi": ["age", "zip"]}


def publish(table, history, strategy, **more):
    policy = Policy(max_posterior=0.5) if strategy == "guarded" else None
    return anonymize(
        table, method="anatomy", criteria=[FrequencyLDiversity(2)], strategy=strategy, history=history,
        policy=policy, name=f"R{len(history) + 1}", **{"hold_back": True, **ROLES, **more},
    )  # fmt: skip


def page(found):
    """The comparison as a terminal of any width shows it: cells by column, the width of the table, lines below it."""
    stream = io.StringIO()
    show_comparison(Console(file=stream, width=500), comparison_content(found))
    printed = stream.getvalue().splitlines()
    table = [line for line in printed if line[0] in "┏┃┡│└"]
    cells = [[cell.strip() for cell in line[1:-1].replace("┃", "│").split("│")] for line in table if line[0] in "┃│"]
    columns = {name: list(column) for name, *column in zip(*cells, strict=True)}
    return columns, max(map(len, table)), printed[printed.index(table[-1]) + 1 :]


@pytest.mark.parametrize("output", ["bucketized", "generalized"])
def test_every_strategy_in_its_row(output):
    tables = list(raw_tables(6, persons=50, releases=2))
    history = [publish(tables[0], [], "m-invariance", output=output)]

    def make(strategy):
        return publish(tables[1], history, strategy, output=output)

    began = time.perf_counter()
    found = compare(make, history, table=tables[1], id="id", limit=0.5)
    assert 0 < found["seconds"].sum() <= time.perf_counter() - began
    rows = {row["strategy"]: row for row in found.iter_rows(named=True)}
    assert list(rows) == ["independent", "history-guided", "m-invariance", "guarded"]
    assert rows["independent"]["newly_certain"] > 0
    assert rows["independent"]["over_limit"] >= rows["independent"]["newly_certain"]
    for name in ("m-invariance", "guarded"):
        assert rows[name]["newly_certain"] == rows[name]["over_limit"] == 0
        assert 0 < rows[name]["gcp_of_groups"] <= 1
        assert rows[name]["query_error"] >= 0
    assert rows["guarded"]["joint_entropy"] > rows["independent"]["joint_entropy"]
    shown, width, lines = page(found)
    assert width <= 80
    assert list(shown) == ["measure", *rows]
    assert shown["independent"][0] == str(rows["independent"]["newly_certain"])
    assert len(lines) == 1


def test_a_strategy_that_refuses_says_why():
    table = pl.DataFrame({"id": ["a", "b", "c"], "age": [1, 2, 3], "zip": ["z"] * 3, "value": ["x", "x", "y"]})

    def make(strategy):
        return publish(table, [], strategy, hold_back=False) if strategy == "guarded" else refuse()

    def refuse():
        raise InputError("secret of a", shareable="a reason")

    found = compare(make, [], table=table, id="id")
    assert found["remark"].to_list()[:3] == ["a reason"] * 3
    assert "No release of this table was found" in found["remark"][3]
    assert found["over_limit"].null_count() == 4
    shown, _, lines = page(found)
    assert shown["independent"][:7] == [""] * 7
    assert lines[1] == "independent: a reason"
    assert len(lines) == 5


def replaced(values):
    """Eight persons in groups of two; the two of one group leave and persons with these values come."""
    first = pl.DataFrame(
        {"id": list("abcdefgh"), "age": range(8), "zip": ["z"] * 8, "value": ["x", "y", "x", "y", "x", "w", "x", "w"]}
    )
    one = publish(first, [], "independent")
    group = one.groups().filter(pl.col("id") == "a")["group"][0]
    gone = one.groups().filter(pl.col("group") == group)["id"].to_list()
    come = pl.DataFrame({"id": ["m", "n"], "age": [8, 9], "zip": ["z"] * 2, "value": values(first, gone)})
    second = pl.concat([first.filter(~pl.col("id").is_in(gone[:1])), come[:1]])
    return one, second, gone[:1]


def test_filled_slots_keep_the_entropy_of_one_release():
    one, table, gone = replaced(lambda first, gone: [first.filter(id=gone[0])["value"][0], "x"])
    two = publish(table, [one], "history-guided")
    assert two.made.exposed == ()
    joint, alone = infer([one, two]), infer([two])
    stayed = joint.to_frame().filter(~pl.col("id").is_in(gone))
    assert joint.proven().filter(fact="certain").is_empty()
    assert alone.entropy == pytest.approx(-(stayed["p"] * stayed["p"].log()).sum())


def test_an_empty_slot_gives_the_departed_away_and_names_them():
    one, table, gone = replaced(lambda *_: ["v", "x"])
    two = publish(table, [one], "history-guided")
    assert set(two.made.exposed) == set(gone)
    assert "1 departed person can be told from them" in " ".join(two.made.notes)
    assert max(infer([one, two]).of(gone[0]).values()) == 1.0
    repaired = publish(table, [one], "history-guided", repair="counterfeits")
    assert repaired.made.exposed == ()
    assert repaired.made.counterfeits == 1
    assert max(infer([one, repaired]).of(gone[0]).values()) <= 0.5 + 1e-9
    with pytest.raises(InputError, match="repair is one of"):
        publish(table, [one], "history-guided", repair="pray")
