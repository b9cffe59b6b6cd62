"""The audit on a terminal: complete, inside the width, capped, and safe to print."""

import io

import pytest
from rich.console import Console

from showthrough import audit
from showthrough.cli.output import AUDIT
from showthrough.report.content import content, views
from showthrough.report.printable import printable
from showthrough.report.terminal import SHOWN, posterior_table, releases_table, show_audit
from tests.histories import FIGURE1, release, releases


def shown(found, audience, width=80, **more) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, **more)
    show_audit(console, content(found, audience=audience), hints=AUDIT)
    return stream.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("audience", ["shareable", "internal"])
def test_everything_fits_and_nothing_is_cut(width, audience):
    text = shown(audit(releases(FIGURE1)), audience, width)
    assert max(map(len, text.split("\n"))) <= width
    assert "…" not in text
    for figure in ("2.95", "2.24", "1.91", "equally likely values per person"):
        assert figure in words(text)
    assert "3 of them became certain only by combining: no single release gives them away." in words(text)
    if audience == "internal":
        assert "only person 10 can have it" in words(text)


def test_long_names_are_folded_not_cut():
    name = "a-very-long-name-of-a-release-that-no-terminal-can-hold-in-one-cell-" * 2
    text = shown(audit([release([([1, 2], ["a", "b"])], name=name)]), "shareable")
    cells = "".join(line.split("│")[1].strip() for line in text.split("\n") if line.startswith("│"))
    assert cells.startswith(name)


def test_sentences_wrap_under_themselves():
    lines = shown(audit(releases(FIGURE1)), "shareable").split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("• Laid"))
    assert lines[first + 1].startswith("  persons of 15")


def test_shareable_names_nobody():
    history = [[([f"zq-person-{p}" for p in members], values) for members, values in groups] for groups in FIGURE1]
    found = audit(releases(history))
    assert "zq" not in shown(found, "shareable")
    assert "zq-person-10: Lung Cancer" in shown(found, "internal")


def test_many_facts_are_capped_and_that_is_said():
    found = audit([release([([f"zq{k:04}"], [f"v{k}"]) for k in range(SHOWN + 7)])])
    text = shown(found, "internal")
    assert text.count("Therefore") == 0
    assert sum(line.startswith("  zq") for line in text.split("\n")) == SHOWN
    assert "… and 7 more facts: --people FILE writes them all." in text


def test_all_facts_are_shown_when_they_fit():
    found = audit([release([([f"zq{k:04}"], [f"v{k}"]) for k in range(SHOWN)])])
    assert "more facts" not in shown(found, "internal")


def test_persons_with_the_same_reason_are_told_once():
    text = shown(audit(releases(FIGURE1)), "internal", 120)
    assert text.count("14 and 15: Flu") == 1
    assert text.count("Group 1 of D1 publishes 2 × Flu.") == 1


@pytest.mark.parametrize("name", ["[bold]x[/bold]", "[/nothing]", "[red]", "\\[x]"])
def test_brackets_are_text(name):
    found = audit([release([([name], [name]), (["a", "b"], ["c", name])], name=name)])
    for text in (shown(found, "internal", 200), shown(found, "internal", 200, force_terminal=True, no_color=True)):
        assert f"{name} alone" in text
        assert f"{name}: {name}" in text
    stream = io.StringIO()
    Console(file=stream, width=200).print(
        posterior_table(views([(name, found.posterior)]), title="x"), releases_table(content(found))
    )
    assert f"{name} certain" in stream.getvalue()
    assert stream.getvalue().count(name) >= 5


def test_control_characters_are_shown_as_escapes():
    found = audit([release([(["\x1b[31mid"], ["\x07bell\r"])], name="\x9bname")])
    text = shown(found, "internal", 200)
    assert not set(text) & set("\x1b\x07\r\x9b")
    assert "\\x1b[31mid: \\x07bell\\r" in text
    assert "\\x9bname alone" in text


@pytest.mark.parametrize("text", ["plain", "Zürich × −5 °C", "two\nlines", "emoji 🙂", "no\u00a0break"])
def test_ordinary_text_is_left_alone(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb", "a\\rb"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
    ],
)
def test_hidden_characters(text, safe):
    assert printable(text) == safe


def test_a_single_release():
    text = shown(audit([release([([1, 2], ["a", "b"])])]), "shareable")
    assert "From this release alone a reader can be certain about nobody of 2." in words(text)
    assert "--audience internal" not in text
