"""The account of a series: state as plain data, what one more costs, releases of any relation, and the command."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import showthrough as st
from showthrough.dp.items import Promise
from showthrough.errors import InputError
from tests.cli.running import run

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "HIV", "flu", "HIV"], "count": [7, -1, 3, 2]})


def noisy(scale=4.0, neighbours="replace-one", shift=0, **more) -> st.Release:
    frame = FRAME.with_columns(pl.col("count") + shift)
    law = {"mechanism": "geometric", "scale": scale, "neighbours": neighbours}
    return st.Release.noisy(frame, sensitive="ill", **{**law, **more})


def test_state_is_plain_data():
    parts = st.dp.parallel([st.dp.geometric(2, [1, 1]), (0.3, 1e-9)], moves=True, add_remove=[(0.5, 0), (0.2, 0)])
    account = st.dp.Account().adding((0.1, 0), st.dp.laplace(4), parts).adding(noisy())
    assert len(account.items) == 4
    back = st.dp.Account.from_json(account.to_json())
    assert back == account
    assert back.spent(delta=1e-6) == account.spent(delta=1e-6)
    assert st.dp.Account.from_dict(json.loads(json.dumps(account.as_dict()))) == account
    for wrong in ("[]", "{}", "nonsense", '{"version": 2, "neighbours": "replace-one", "items": []}'):
        with pytest.raises(InputError):
            st.dp.Account.from_json(wrong)


def test_what_one_more_release_costs():
    account = st.dp.Account.of([noisy(), noisy()])
    cost = account.cost(noisy(scale=8.0))
    assert (cost.before.epsilon, cost.after.epsilon, cost.epsilon) == (1.0, 1.25, 0.25)
    by_delta = account.cost(st.dp.geometric(8, [1, 1]), delta=1e-6)
    assert by_delta.after.epsilon - by_delta.before.epsilon == by_delta.epsilon
    assert cost.as_dict()["after"]["method"] == "basic"


def test_tables_of_counts_have_a_promise_under_either_relation():
    assert st.dp.mechanisms(noisy()) == (st.dp.geometric(4, [1, 1]),)
    assert st.dp.mechanisms(noisy(), neighbours="add-remove") == (st.dp.geometric(4, 1),)
    mixed = st.dp.Account.of([noisy(), noisy(neighbours="add-remove")])
    assert mixed.neighbours == "replace-one"
    assert mixed.spent().epsilon == 1.0  # the add-remove release of ε = 0.25 moves two cells when a record is replaced
    odd = noisy(sensitivity=6.0)
    assert st.dp.mechanisms(odd) == (Promise(1.5),)
    with pytest.raises(InputError, match="has a sensitivity of its own"):
        st.dp.mechanisms(odd, neighbours="add-remove")
    with pytest.raises(InputError, match="publishes no noise"):
        st.dp.mechanisms(st.Release.counted(FRAME.with_columns(count=1), sensitive="ill"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k in range(3):
        noisy(shift=k, name=f"N{k}").save(f"N{k}")
    st.Release.counted(FRAME.with_columns(count=2), sensitive="ill", name="C").save("C")
    return tmp_path


def told(*arguments) -> dict:
    done = run("dp", "account", *arguments, "--json", "-")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_command_adds_up(home):
    found = told("N0", "N1", "N2")
    assert found["total"] == {"epsilon": 1.5, "delta": 0.0, "method": "basic", "tried": {"basic": 1.5}}
    assert [row["epsilon"] for row in found["releases"]] == [0.5, 0.5, 0.5]
    with_delta = told("N0", "N1", "N2", "--delta", "1e-3", "--next", "geometric:8")
    direct = st.dp.compose([st.dp.geometric(4, [1, 1])] * 3, delta=1e-3)
    assert with_delta["total"]["epsilon"] == pytest.approx(direct.epsilon)
    assert with_delta["next"]["after"]["epsilon"] > direct.epsilon
    assert told("N0", "--next", "N1")["next"]["epsilon"] == 0.5
    assert told("N0", "--next", "0.25,1e-9")["next"]["after"]["delta"] == 1e-9
    assert told("N0", "--neighbours", "add-remove")["total"]["epsilon"] == 0.25


def test_copies_are_counted_once(home):
    assert told("N0", "N0", "N1")["total"]["epsilon"] == 1.0
    assert any("counted once" in line for line in told("N0", "N0")["words"])


def test_what_was_written_is_read_again(home):
    Path("state.json").write_text(json.dumps(told("N0", "N1")))
    assert told("state.json", "N2")["total"]["epsilon"] == 1.5
    Path("own.json").write_text(st.dp.Account.of([noisy()]).to_json())
    assert told("own.json", "N2")["total"]["epsilon"] == 1.0


def test_a_state_knows_which_releases_it_holds(home):
    Path("state.json").write_text(json.dumps(told("N0", "N1")))
    again = told("state.json", "N1", "N2", "state.json")
    assert again["total"]["epsilon"] == 1.5
    assert any("counted once" in line for line in again["words"])
    Path("longer.json").write_text(json.dumps(again))
    assert told("longer.json", "N0", "state.json")["total"]["epsilon"] == 1.5


def test_releases_without_noise_are_named(home):
    found = told("N0", "C")
    assert found["without_noise"] == ["C"]
    assert "promises no differential privacy" in " ".join(found["words"])


def test_limits_decide(home):
    assert run("dp", "account", "N0", "N1", "--max-epsilon", "1").code == 0
    over = run("dp", "account", "N0", "N1", "--max-epsilon", "0.9")
    assert over.code == 1
    assert "The limit of ε = 0.9 is not kept." in over.out
    assert run("dp", "account", "N0", "C", "--max-epsilon", "5").code == 1
    more = run("dp", "account", "N0", "--next", "N1", "--max-epsilon", "0.9")
    assert more.code == 1
    assert "One more release would not keep the limit of ε = 0.9." in more.out
    assert run("dp", "account", "N0", "--next", "N1", "--max-epsilon", "1").code == 0
    quiet = run("dp", "account", "N0", "N1", "--max-epsilon", "0.9", "--quiet")
    assert (quiet.code, quiet.out) == (1, "")
    assert "not kept" in quiet.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["N9"], "neither a release folder nor the state of an account"),
        (["N0", "--delta", "1"], "delta is a probability"),
        (["N0", "--method", "x"], "--method is one of basic"),
        (["N0", "--method", "pld"], "needs a delta above 0"),
        (["N0", "--next", "nothing"], "--next is a release folder, MECHANISM:SCALE"),
        (["N0", "--next", "geometric:0"], "scale is a number above 0"),
        (["N0", "--next", "0"], "epsilon is a number above 0"),
        (["N0", "--neighbours", "x"], "replace-one or add-remove"),
        (["N0", "--max-epsilon", "nan"], "--max-epsilon is at least 0, not nan"),
    ],
)
def test_bad_input_of_the_command(home, arguments, message):
    done = run("dp", "account", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())


def test_no_module_hides_a_public_name():
    """A module called like a function of the room takes its place as soon as it is loaded."""
    script = (
        "import pkgutil, importlib, types, showthrough as st, showthrough.dp as room\n"
        "for found in pkgutil.iter_modules(room.__path__): importlib.import_module(f'showthrough.dp.{found.name}')\n"
        "hidden = [n for n in room.__all__ if isinstance(getattr(st.dp, n), types.ModuleType)]\n"
        "print(hidden, dir(room) == sorted(room.__all__))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split("\n")[0] == "[] True"
