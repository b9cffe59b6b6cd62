"""The public names are exactly the documented ones, and importing them costs nothing until used."""

import re
import subprocess
import sys
from pathlib import Path

import showthrough

ROOT = Path(__file__).parents[1]


def documented() -> set[str]:
    """Names in the table of docs/api.md."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `st\.(\w+)`", text, flags=re.MULTILINE))


def test_names_are_the_documented_ones():
    assert set(showthrough.__all__) == documented()
    assert sorted(showthrough.__all__) == dir(showthrough)


def test_every_name_loads():
    for name in showthrough.__all__:
        assert getattr(showthrough, name) is not None


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(showthrough, "anonymise")


def test_import_loads_nothing_heavy():
    script = "import sys, showthrough; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    ).stdout.split()
    assert not {"numpy", "scipy", "polars", "rich", "typer", "pydantic"} & set(loaded)


def test_the_command_starts_without_the_numerical_libraries():
    script = "import sys, showthrough.cli.main; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    ).stdout.split()
    assert not {"numpy", "scipy", "polars"} & set(loaded)


def test_small_histories_need_no_scipy():
    script = (
        "import sys; from showthrough.examples import figure1; import showthrough as st;"
        "post = st.infer(figure1.releases()); [post.explain(i, v) for i, v, *_ in post.proven().iter_rows()];"
        "print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "False"
