"""The pictures of the report, and of reviews in the browser, that their pages show, made from the
demo.

python -m tests.tools.gallery   renews them in analyses/report/gallery/ and grading/review/gallery/

Each carries what it shows in words, and a hash of what changes its look alone: a test compares
both with the report of today.
"""

import hashlib
import json
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser, Page

from gradelake.sql.shown.pictures import picture as pictures
from tests.browser import Look, chromium
from tests.command_line import gradelake
from tests.end_to_end.edited_demo import BIRDS
from tests.lakes import make_graded_demo
from tests.places import REPOSITORY
from tests.serve.server import own_server, reviews

GALLERY = REPOSITORY / "analyses" / "report" / "gallery"
REVIEWS = REPOSITORY / "grading" / "review" / "gallery"
SERVED = ("before", "after", "progress")
QUEUE = ("queue", "add", "demo", "first", "--grader", "lexical", "--size", "12")
PEOPLE = ("ann", "bob", "cy")
SIZE = {"width": 1000, "height": 720}
COLOURS = 128
SHOWS = "shows"  # the picture's text chunk with its words and the hash
LOOK = ("report.css", "charts.js")  # what changes a picture and none of its words
WORDS = """element => [element.innerText, ...[...element.querySelectorAll('[aria-label]')].map(
  (one) => one.getAttribute('aria-label'))].join('\\n')"""


@dataclass(frozen=True)
class Shown:
    """A picture: an address of the report, the element at the top, and one to put the focus on."""

    address: str
    at_top: str
    focus: str | None = None


PICTURES = {
    "leaderboard": Shown("#board?labels=judge:lexical_direct&measure=nDCG@10", "#board"),
    "scatter": Shown("#judges?labels=lexical/v0/best&measure=nDCG@10", "#scatter"),
    "grid": Shown(f"#grid?grader=lexical&query={BIRDS}", "#grid", "#grid-table td.g4"),
    "coverage": Shown("#coverage?labels=lexical/v0/best&system=bm25", "#coverage"),
}


def picture(browser: Browser, report: Path, shown: Shown) -> tuple[bytes, str]:
    """A PNG of the report of the demo, and what it shows."""
    look = Look(browser, report, SIZE["width"])
    look.page.set_viewport_size(SIZE)
    look.page.evaluate("hash => { location.hash = hash; return follow(); }", shown.address)
    if shown.focus:
        look.page.locator(shown.focus).first.focus()
    page = files("gradelake.analyses.report") / "page"
    parts = [(page / name).read_text(encoding="utf-8") for name in LOOK]
    specs = json.dumps([pictures.look(), pictures.specs()])
    return _taken(look.page, shown.at_top, [*parts, specs])


def served(browser: Browser, demo: Path, place: Path) -> dict[str, tuple[bytes, str]]:
    """The same of a queue in the browser, of a copy of the demo in `place`: a card before and after
    its answer, and how far people are."""
    taken = {}
    card_css = files("gradelake.serve") / "static" / "card.css"
    parts = [card_css.read_text(encoding="utf-8")]
    with own_server(demo, place) as server:
        gradelake(server.folder, *QUEUE, *(part for who in PEOPLE for part in ("--assessor", who)))

        def entered(name: str, role: str) -> Page:
            page = browser.new_context(viewport={**SIZE, "height": 640}).new_page()
            page.goto(f"{server.url}/enter#{server.people.add(name, role)}")
            page.wait_for_url(f"{server.url}/")
            page.goto(f"{server.url}/c/demo/review/{'first/' if role == 'assessor' else ''}")
            page.wait_for_selector("h2")
            page.wait_for_selector(".who:not(:empty)")  # the bar asks who they are
            return page

        for name in PEOPLE[1:]:
            server.people.add(name, "assessor")
        page = entered(PEOPLE[0], "assessor")
        page.wait_for_selector(".waiting:not(:empty)")
        taken["before"] = _taken(page, "body", parts, keep=True)
        page.keyboard.press("3")
        page.get_by_role("button", name="Keep it").wait_for()
        taken["after"] = _taken(page, "body", parts)
        reviews(server.folder, PEOPLE[0])  # until it is in the lake
        taken["progress"] = _taken(entered("edna", "editor"), "body", [])
    return taken


def _taken(page: Page, at_top: str, parts: list[str], keep: bool = False) -> tuple[bytes, str]:
    top = page.locator(at_top)
    look = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    written = f"{top.evaluate(WORDS)}\n{look}"
    top.evaluate("element => scrollTo(0, element.getBoundingClientRect().top + scrollY)")
    image = page.screenshot()
    if not keep:
        page.close()
    return image, written


def renew(report: Path, demo: Path, place: Path) -> None:
    """Make each picture of a report of the demo, and those of the browser."""
    with chromium() as browser:
        for name, shown in PICTURES.items():
            _keep(GALLERY / f"{name}.png", *picture(browser, report, shown))
        for name, found in served(browser, demo, place).items():
            _keep(REVIEWS / f"{name}.png", *found)


def _keep(file: Path, image: bytes, shows: str) -> None:
    file.parent.mkdir(exist_ok=True)
    about = PngInfo()
    about.add_text(SHOWS, shows, zip=True)
    whole = Image.open(BytesIO(image)).convert("RGB")
    few = whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)  # rare colours stay
    few.save(file, optimize=True, pnginfo=about)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        demo, report = (Path(place) / name for name in ("demo", "demo.html"))
        make_graded_demo(demo)
        gradelake(demo, "report", "demo", "-o", report)
        renew(report, demo, Path(place) / "served")


if __name__ == "__main__":
    main()
