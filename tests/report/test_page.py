"""The page of an audit: what it says to whom, and that its figures are those of the audit."""

from __future__ import annotations

import re
import stat
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import showthrough as st
from showthrough.auditing.bands import Bands
from showthrough.errors import InputError
from showthrough.report import html
from showthrough.report.charts import drawing
from showthrough.report.page.assembly import page_content
from showthrough.report.page.bars import bars, steps
from showthrough.report.page.gathered import Gathered, gather
from showthrough.report.page.wording import THIN, count
from tests.report.histories_to_show import SHOWN, mixed, republished, two_hospitals, worked_example

AUDIENCES = ("shareable", "internal")


class _Text(HTMLParser):
    """The words of a page, and what it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self._style = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._style = tag == "style"
        told = dict(attrs)
        self.attributes |= told.keys()
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told[k] for k in ("href", "src", "xlink:href") if told.get(k)]

    def handle_endtag(self, _tag):
        self._style = False

    def handle_data(self, data):
        if not self._style:
            self.words.append(data)


def read(page: str) -> _Text:
    found = _Text()
    found.feed(page)
    return found


def gathered(audit: st.Audit, audience: str = "shareable") -> Gathered:
    return gather(audit, audience=audience)


def words(page: str) -> str:
    return re.sub(r"\s+", " ", " ".join(read(page).words).replace(THIN, " "))


@pytest.fixture(scope="module")
def small() -> st.Audit:
    return st.audit(republished(1_200, seed=5))


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("name", ["worked example", "two hospitals", "mixed"])
def test_the_page_stands_alone(name, audience):
    page = html.page(SHOWN[name](), audience=audience)
    found = read(page)
    assert len(page.encode()) < 2_000_000
    assert "script" not in found.tags
    assert len(found.ids) == len(set(found.ids)), "ids are unique"
    assert {link[1:] for link in found.links} <= set(found.ids), "every link leads to a place on the page"
    assert not re.search(r"url\(\s*['\"]?(?!#)", page)
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    assert "default-src 'none'" in page
    assert found.tags.count("svg") > 10


def test_the_first_screen_says_the_figures_of_the_audit():
    audit = worked_example()
    said = words(html.page(audit))
    j = audit.joint
    assert f"of the disease of {j.certain} of {j.persons} persons" in said
    for part in (
        "Certain 3 3 more than before (0)",
        "At least 50 % sure 15 11 more than before (4)",
        "2 are new in D2",
    ):
        assert part in said
    for question in (
        "Who is exposed?",
        "How badly?",
        "Why?",
        "Since which release?",
        "May I share this file?",
        "What is not covered?",
    ):
        assert question in said


def test_the_bands_are_those_of_the_audit(small):
    joint, found = small.joint, Bands.of(small.posterior.largest(), small.posterior.certain())
    assert (found.certain, found.p50, found.p90) == (
        joint.certain, joint.best_guess_at_least["0.5"], joint.best_guess_at_least["0.9"],
    )  # fmt: skip
    assert sum(found.apart().values()) == found.persons == joint.persons


@pytest.mark.parametrize("seed", range(20))
def test_bars_add_up_and_none_is_small(seed):
    rng = np.random.default_rng(seed)
    largest = np.round(rng.beta(2, 3, int(rng.integers(1, 400 if seed % 2 else 40))), 2)
    certain = rng.random(largest.size) < 0.1
    counts = steps(np.where(certain, 1.0, largest), certain)
    assert counts.sum() == (~certain).sum()
    single, merged = bars(counts), bars(counts, least=10)
    assert [b.persons for b in single] == counts.tolist()
    assert len(merged) == 1 or all(b.persons == 0 or b.persons >= 10 for b in merged)
    assert (merged[0].low, merged[-1].high) == (0, 100)
    assert all(a.high == b.low for a, b in pairwise(merged))
    for bar in merged:
        own = [b for b in single if bar.low <= b.low and b.high <= bar.high]
        assert sum(b.persons for b in own) == bar.persons
        assert bar.band == (own[0].band if len({b.band for b in own}) == 1 else "mixed")


def test_a_person_at_a_level_is_at_it():
    third = np.array([1 / 3, 0.5 - 1e-12, 0.5, 0.9, 0.9 - 1e-12, 0.4999])
    assert steps(third, np.zeros(6, dtype=bool))[[6, 10, 18]].tolist() == [1, 2, 2]


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("name", ["worked example", "two hospitals", "mixed", "small"])
def test_breakdowns_add_up_and_small_parts_are_merged(name, audience, small):
    audit = small if name == "small" else SHOWN[name]()
    found = gathered(audit, audience)
    for breakdown in (*found.populations, *([found.values] if found.values else [])):
        whole = breakdown.whole
        assert whole.certain == audit.joint.certain
        assert whole.p50 == audit.joint.best_guess_at_least["0.5"]
        assert whole.persons == pytest.approx(audit.joint.persons, abs=1e-6)
        if audience == "shareable" and len(breakdown.parts) > 1:
            for part in breakdown.parts:
                counts = [part.p50] + ([part.certain] if breakdown.measure == "certain" else [])
                assert part.persons >= 9.5
                assert all(n == 0 or n >= 10 for n in counts)


def test_the_expected_counts_of_values_are_sums_of_probabilities(small):
    frame = small.posterior.to_frame().group_by("value").agg(pl.col("p").sum()).sort("value")
    told = small.posterior.expected().sort("value")
    known = told.filter(told["value"].is_in(frame["value"].implode()))
    assert known["persons"].to_list() == pytest.approx(frame["p"].to_list(), abs=1e-8)
    assert told["persons"].sum() == pytest.approx(small.joint.persons)


@pytest.mark.parametrize("name", ["worked example", "two hospitals", "mixed", "small"])
def test_a_shareable_page_names_nobody(name, small):
    """No id, no value of few persons, no cell that few rows hold; the internal page has what this one lacks."""
    audit = small if name == "small" else SHOWN[name]()
    shown, inside = read(html.page(audit)), read(html.page(audit, audience="internal"))
    text, secret = "\n".join(shown.words), "\n".join(inside.words)
    ids = [str(i) for i in audit.posterior.ids if not str(i).isdecimal()]
    if not ids:  # ids such as 10 are numbers like any other: the graph and the proofs are where they would stand
        assert "person 10" in secret
        assert not re.search(r"\bperson \d", text)
    assert not [i for i in ids if re.search(rf"\b{re.escape(i)}\b", text)]
    if ids:
        assert [i for i in ids if re.search(rf"\b{re.escape(i)}\b", secret)]
    for cell in rare_cells(audit):
        assert not re.search(rf"(?<!\w){re.escape(cell)}(?!\w)", text), "a cell of few rows"
    for word in ("Most exposed persons", "The worst place"):
        assert word in secret
        assert word not in text


def rare_cells(audit: st.Audit) -> set[str]:
    """Values and quasi-identifiers that fewer than ten records hold; numbers are left out, as counts are numbers."""
    post, found = audit.posterior, set()
    frames = [post.reader.register.quasi] if post.reader.register is not None else []
    frames += [r.records.select(r.roles.quasi) for r in post.releases if r.roles.id is not None]
    often: dict[str, int] = {}
    for frame in frames:
        for column in frame:
            for cell, many in column.drop_nulls().cast(pl.String).value_counts().iter_rows():
                often[cell] = max(many, often.get(cell, 0))
    found |= {cell for cell, many in often.items() if many < 10}
    expected = post.expected().filter(pl.col("persons") < 9.5)["value"]
    found |= {str(value) for value in expected}
    return {cell for cell in found if not re.fullmatch(r"[\d.,\s\[\]()<>=≥≤–-]*", cell)}


def test_the_scan_would_find_a_cell(small):
    assert rare_cells(mixed()) | rare_cells(worked_example())
    assert "Lung Cancer" in rare_cells(worked_example())


@pytest.mark.parametrize(("audience", "mode"), [("shareable", 0o644), ("internal", 0o600)])
def test_internal_pages_are_private_files(tmp_path, audience, mode):
    worked_example().save_html(tmp_path / "r.html", audience=audience)
    assert stat.S_IMODE((tmp_path / "r.html").stat().st_mode) & ~0o022 == mode & ~0o022
    assert ("INTERNAL" in (tmp_path / "r.html").read_text("utf-8")) == (audience == "internal")


def test_what_comes_from_files_is_text():
    frame = pl.DataFrame(
        {"id": ["<b>1</b>", "2"] * 2, "g": ["<script>alert(1)</script>"] * 4, "v": ["**x** & <i>", "`y` \u202e"] * 2}
    )[:2]
    release = st.Release.bucketized(frame, id="id", sensitive="v", group="g", name="<svg onload=alert(1)>")
    page = html.page(st.audit([release, release.called("two")]), audience="internal")
    found = read(page)
    assert "script" not in found.tags
    assert not [name for name in found.attributes if name.startswith("on")]
    assert "<b>1</b>" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("name", ["worked example", "two hospitals", "mixed", "small"])
def test_the_states_are_those_of_fresh_inferences(name, small):
    audit = small if name == "small" else SHOWN[name]()
    post = audit.posterior
    for k, state in enumerate(gathered(audit).states):
        alone = st.infer(post.releases[: k + 1], register=post.reader.register)
        assert state.bands is not None
        assert state.bands.certain == int(alone.certain().sum())
        assert state.bands.p50 == int((alone.largest() >= 0.5 - 1e-9).sum())


def test_sets_of_releases_are_those_of_the_posterior(small):
    found, wanted = gathered(small), small.posterior.smallest_sets()
    sizes = dict(wanted.group_by(pl.col("releases").list.len()).len().iter_rows())
    told: dict[int, int] = {}
    for need in found.needs or ():
        told[need.size] = told.get(need.size, 0) + need.persons
    assert told == sizes
    assert sum(told.values()) == small.joint.certain


def test_without_time_the_page_says_what_is_missing(small):
    said = words(html.page(small, seconds=0))
    assert "How many before was not worked out." in said
    assert "not worked out" in said
    assert f"of {count(small.joint.persons)}".replace(THIN, " ") in said


def test_without_vl_convert_the_page_has_its_tables(monkeypatch):
    monkeypatch.setattr(drawing, "installed", lambda: False)
    page = html.page(worked_example())
    assert "Charts are left out" in page
    assert "showthrough[report]" in page
    assert 'role="img"' not in page
    assert "<details open>" in page


def test_without_jinja_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    html.environment.cache_clear()
    try:
        with pytest.raises(InputError, match=r'pip install "showthrough\[report\]"'):
            worked_example().save_html("nowhere.html")
        assert worked_example()._repr_html_() is None
    finally:
        html.environment.cache_clear()


def test_unknown_audiences_are_refused():
    with pytest.raises(InputError, match="audience is one of"):
        html.page(worked_example(), audience="everybody")


def test_charts_are_exported_with_their_data_and_colours():
    specs = two_hospitals().charts(audience="internal")
    assert {"before_after", "how_sure", "added", "worst"} <= specs.keys() <= set(drawing.CHARTS)
    for spec in specs.values():
        text = repr(spec)
        assert "var(--" not in text
        assert spec["$schema"].endswith("v5.json")
        assert "values" in text


def test_every_chart_has_words_and_a_table():
    for audience in AUDIENCES:
        for chart in page_content(gathered(mixed(), audience)).charts().values():
            assert chart.title
            assert len(chart.description) > 20
            assert all(len(row) == len(table.headings) for table in chart.tables for row in table.rows)
            assert any(table.rows for table in chart.tables)


@pytest.mark.parametrize("seed", range(30))
def test_sets_of_few_share_a_line(seed):
    from showthrough.report.page.combining import _merged

    rng = np.random.default_rng(seed)
    told = [(f"set {k}", int(n)) for k, n in enumerate(rng.integers(1, 40, int(rng.integers(1, 7))))]
    found = _merged(told)
    assert sum(n for _, n in found) == sum(n for _, n in told)
    assert len(found) == 1 or all(n >= 10 for _, n in found)
    if sum(n for _, n in told) >= 10 and len(told) > 1:
        assert all(n >= 10 for _, n in found)
