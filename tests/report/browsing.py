"""The machine's own Chromium, driven by Playwright: no network, no script unless a test asks for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell")


def executable() -> str | None:
    """Where a browser is: SHOWTHROUGH_BROWSER, or one of the usual names."""
    asked = os.environ.get("SHOWTHROUGH_BROWSER", "")
    found = (*map(shutil.which, NAMES), *(place for place in PLACES if Path(place).is_file()))
    return asked or next(filter(None, found), None)


@dataclass
class Opened:
    """A page with what it asked for and what the console said."""

    page: Any
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextmanager
def browser() -> Iterator[Any]:
    """One browser for several pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=executable(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield started
        finally:
            started.close()


@contextmanager
def opened(
    started: Any, file: Path, *, width: int = 1280, dark: bool = False, script: bool = False
) -> Iterator[Opened]:
    """A file in a fresh context; whatever it asks of anybody else is aborted and listed."""
    context = started.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light", java_script_enabled=script
    )
    found = Opened(context.new_page())

    def answer(route: Any) -> None:
        found.requests.append(route.request.url)
        if route.request.url == file.as_uri():
            route.continue_()
        else:
            route.abort()

    context.route("**/*", answer)
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.goto(file.as_uri())
    try:
        yield found
    finally:
        context.close()
