"""Pages of experiments as a browser shows them: offline, without script, light and dark, on a desk and on a phone."""

import os

import pytest

from showthrough.requests.reproduce import ReproduceRequest, run_reproduce
from tests.report.browsing import browser, executable, opened
from tests.report.test_in_a_browser import WORDS

if executable() is None and not os.environ.get("SHOWTHROUGH_NEEDS_BROWSER"):
    pytest.skip("no Chromium here: install one, or name it in SHOWTHROUGH_BROWSER", allow_module_level=True)

PAGES = {
    "bars": ReproduceRequest("partition-models"),
    "lines": ReproduceRequest("inference-analysis", "4", quick=True),
    "map": ReproduceRequest("xcolor", quick=True),
    "exposure": ReproduceRequest("beyond", quick=True),
}


@pytest.fixture(scope="module")
def started():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    home = tmp_path_factory.mktemp("pages")
    for name, request in PAGES.items():
        made = run_reproduce(request)
        (home / f"{name}.html").write_bytes(made.files()[f"{made.content.name}.html"])
    return {name: home / f"{name}.html" for name in PAGES}


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (360, False), (360, True)])
@pytest.mark.parametrize("name", PAGES)
def test_it_needs_nothing_and_fits(started, pages, name, width, dark):
    with opened(started, pages[name], width=width, dark=dark) as found:
        assert found.requests == [pages[name].as_uri()]
        assert found.said == []
        assert found.page.locator("html").bounding_box()["width"] <= width
        assert found.page.locator("h1").is_visible()
        seen = "wide" if width > 760 else "narrow"
        assert found.page.locator(f"svg.{seen}:visible").count() == found.page.locator("figure.chart").count() > 0


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", PAGES)
def test_letters_are_large_enough_and_nothing_bars_the_way(started, pages, name, width):
    from axe_playwright_python.sync_playwright import Axe

    with opened(started, pages[name], width=width, script=True) as found:
        sizes = found.page.evaluate(WORDS)
        result = Axe().run(found.page)
    assert sizes
    assert not [s for s in sizes if s["size"] < 11.4]
    assert not [s for s in sizes if s["left"] < -1 or s["right"] > width + 1], "no word leaves the page"
    bad = [v for v in result.response["violations"] if v["impact"] in ("serious", "critical")]
    assert not [(v["id"], v["help"], [n["html"][:120] for n in v["nodes"][:3]]) for v in bad]
