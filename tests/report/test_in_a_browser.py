"""Pages as a browser shows them: offline, without script, light and dark, on a desk, on a phone and on paper."""

from __future__ import annotations

import os
import re

import pytest

from tests.report.browsing import browser, executable, opened
from tests.report.histories_to_show import ADULT, SHOWN, in_pieces

if executable() is None and not os.environ.get("SHOWTHROUGH_NEEDS_BROWSER"):
    pytest.skip("no Chromium here: install one, or name it in SHOWTHROUGH_BROWSER", allow_module_level=True)

WORDS = """() => {
  const shown = [...document.querySelectorAll('figure.chart:not(.scrolls) svg[role=img]')];
  return shown.filter(svg => svg.getClientRects().length).flatMap(svg => {
    const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll('text')].filter(word => word.textContent.trim()).map(word => {
      const box = word.getBoundingClientRect(), size = parseFloat(getComputedStyle(word).fontSize) * scale;
      return {text: word.textContent, size, left: box.left, right: box.right};
    });
  });
}"""
PIECES = "in pieces"
PAGES = [*((name, audience) for name in SHOWN for audience in ("shareable", "internal")), (PIECES, "shareable")]


@pytest.fixture(scope="module")
def started():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    home, made = tmp_path_factory.mktemp("pages"), {}

    def page(name, audience):
        if name == "Adult" and not ADULT.is_file():
            pytest.skip("Adult is not there: set SHOWTHROUGH_DATA to its folder")
        if (name, audience) not in made:
            made[name, audience] = home / f"{name.replace(' ', '-')}-{audience}.html"
            if name == PIECES:
                in_pieces().save_html(made[name, audience])
            else:
                SHOWN[name]().save_html(made[name, audience], audience=audience)
        return made[name, audience]

    return page


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (360, False), (360, True), (800, False)])
@pytest.mark.parametrize(("name", "audience"), PAGES)
def test_it_needs_nothing_and_fits(started, file, name, audience, width, dark):
    path = file(name, audience)
    with opened(started, path, width=width, dark=dark) as found:
        page = found.page
        assert found.requests == [path.as_uri()]
        assert found.said == []
        body = page.locator("html").bounding_box()
        assert body["width"] <= width, "nothing makes the page scroll sideways"
        assert page.locator("h1").is_visible()
        wide, narrow = page.locator("svg.wide:visible").count(), page.locator("svg.narrow:visible").count()
        scrolling = page.locator(".scroll svg").count()
        assert (wide, narrow > 0) == ((scrolling, True) if width < 760 else (wide, False))
        assert wide + narrow == page.locator("figure.chart").count()
        assert page.locator("svg[role=img]:visible").count() == wide + narrow


@pytest.mark.parametrize(("name", "audience"), PAGES)
def test_verdict_figures_and_next_step_are_on_the_first_screen(started, file, name, audience):
    with opened(started, file(name, audience)) as found:
        for part in ("h1", ".figs", ".two .card h2 >> nth=1"):
            box = found.page.locator(part).first.bounding_box()
            assert box["y"] + box["height"] <= 800
        answers = found.page.locator(".qa").bounding_box()
        assert answers["y"] + answers["height"] <= 1600, "the questions are answered on the first two screens"


@pytest.mark.parametrize(("name", "audience"), PAGES)
def test_charts_stay_inside_their_frame_and_letters_are_large_enough(started, file, name, audience):
    for width in (1280, 360):
        with opened(started, file(name, audience), width=width, script=True) as found:
            sizes = found.page.evaluate(WORDS)
            assert sizes
            assert not [s for s in sizes if s["size"] < 11.4], "letters of 12 pixels, but for rounding of the scale"
            assert not [s for s in sizes if s["left"] < -1 or s["right"] > width + 1], "no word leaves the page"


@pytest.mark.parametrize(("name", "audience"), PAGES)
def test_it_prints(started, file, tmp_path, name, audience):
    with opened(started, file(name, audience)) as found:
        raw = found.page.pdf(path=str(tmp_path / "r.pdf"), prefer_css_page_size=True, print_background=True)
    assert raw.startswith(b"%PDF")
    boxes = set(re.findall(rb"/MediaBox ?\[([^]]+)\]", raw))
    assert boxes, "pages"
    for box in boxes:
        _, _, width, height = map(float, box.split())
        assert (round(width), round(height)) in ((595, 842), (596, 842), (595, 841), (594, 842), (594, 841))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(("name", "audience"), PAGES)
def test_axe_finds_no_serious_violation(started, file, name, audience, width, dark):
    from axe_playwright_python.sync_playwright import Axe

    with opened(started, file(name, audience), width=width, dark=dark, script=True) as found:
        # the library's own script is put into the page by the driver, past the page's policy
        result = Axe().run(found.page)
    bad = [v for v in result.response["violations"] if v["impact"] in ("serious", "critical")]
    assert not [(v["id"], v["help"], [n["html"][:120] for n in v["nodes"][:3]]) for v in bad]
