"""A real Chromium without a screen, for tests that look at a page as a person does."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# as root in a container, and with nothing to say to anybody outside
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@contextmanager
def chromium() -> Iterator[Browser]:
    """A started browser; skips where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed (Debian: `make browser`)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


def wrong(page: Page, *rules: str) -> str:
    """What axe finds wrong in a page, by these rules or all. What it finds right, thousands of
    elements, stays there."""
    page.wait_for_load_state()  # half a page lacks what the other half has
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = Axe().run(page, options=options)
    return f"{page.url}: {found.generate_report()}" if found.violations_count else ""


def look_twice(page: Page) -> None:
    """Accessible, and no wider than the window, on a phone and a tablet by night, at a desk by
    day."""
    scrolled = ("scrollable-region-focusable",)  # of what a width of its own may change
    colours = ("color-contrast",)  # all else is the same by day
    for width, scheme, rules in (
        *((390, "dark", ()), (1024, "dark", scrolled)),
        (1440, "light", colours),
    ):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert not (found := wrong(page, *rules)), found
        assert not page.evaluate(WIDE), page.url


class Look:
    """One look at a file: the open page, what its console said, and what it asked the network."""

    def __init__(
        self,
        browser: Browser,
        file: Path,
        width: int,
        scheme: str = "light",
        ready: str = "html[data-ready=yes]",
        at: str = "",
    ):
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page: Page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.page.on("console", lambda line: self.said.append(f"{line.type}: {line.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri() + at)
        self.page.wait_for_selector(ready, timeout=60_000)
        del self.asked[0]  # the file itself

    @property
    def wider_than_the_window(self) -> bool:
        return self.page.evaluate(WIDE)

    def runs(self, code: str) -> Any:
        """What the page itself gets from an expression; None, and a line in `said`, where it fails.

        A timer runs it: what the browser's driver evaluates is not held to the page's policy.
        """
        return self.page.evaluate(
            "() => new Promise((resolve) => setTimeout(() => {"
            f"  try {{ resolve({code}); }}"
            "  catch (error) { console.error(String(error)); resolve(null); }"
            "}))"
        )

    def go(self, address: str) -> None:
        """Follow an address of the report, such as #judges, until all of its tab is drawn."""
        self.page.evaluate("to => { location.hash = to; return follow(); }", address)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def column(self, table: str, number: int) -> list[str]:
        """What the cells of a column (from 1) show."""
        return self.page.locator(f"{table} tbody tr > *:nth-child({number})").all_inner_texts()
