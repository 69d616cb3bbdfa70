"""How large a report is and how long it takes to open: the demo, TREC DL 2019, LLMJudge, and two
made-up ones, of 300 systems and of 2,000 queries.

    python -m tests.benchmarks.pages            makes the lakes first (some minutes)
    python -m tests.benchmarks.pages REPORT...  looks at reports that are there

In a new page of Chromium each time, the middle of five looks, at each of `PLACES`: until the first
board is drawn, until every section of the tab is, the longest task of the two, in which the page
answers nobody, how many nodes there are then, and how far what was there had moved (Chromium's
layout shift; 0.1 is the most that web.dev calls good).
"""

import re
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random

from playwright.sync_api import Browser
from rich.table import Table

from tests.benchmarks.aims import console
from tests.benchmarks.leaderboards import command, import_labels
from tests.benchmarks.waits import make_graded
from tests.browser import chromium
from tests.lakes import make_graded_demo
from tests.places import DL19, missing_dl19, missing_llmjudge
from tests.projects import USUAL, project
from tests.tools.reproduce import make_llmjudge

LOOKS = 5
PLACES = ("", "#queries", "#system/{}")  # the first system
NODES = "document.evaluate('count(//node())', document).numberValue"
SIZES = {"300x100": (300, 100), "20x2000": (20, 2_000)}  # systems, queries
WATCH = """
    window.tasks = [0]; window.at = {}; window.moved = 0;
    new PerformanceObserver((seen) => seen.getEntries().forEach((one) => { moved += one.value; }))
      .observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((seen) => seen.getEntries().forEach((one) => tasks.push(one.duration)))
      .observe({ type: "longtask", buffered: true });
    new MutationObserver(([{ target }]) => { at[target.dataset.ready] ??= performance.now(); })
      .observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });
"""


def look(browser: Browser, report: Path, place: str) -> tuple[float, ...]:
    """Milliseconds until the first section, until all, of the longest task; nodes; shift."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH)
    page.goto(report.as_uri() + place, wait_until="commit")
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_timeout(200)  # the observer is told a little later
    seen = page.evaluate(f"[at.first ?? at.yes, at.yes, Math.max(...tasks), {NODES}, moved]")
    page.close()
    return tuple(seen)


def main() -> None:
    """Print a row for each report."""
    table = Table(title="Reports in Chromium")
    for column in ("report", "MB", "first ms", "all ms", "longest task ms", "nodes", "shift"):
        table.add_column(column, justify="left" if column == "report" else "right")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for report in map(Path, sys.argv[1:]) if sys.argv[1:] else reports(Path(folder)):
            system = first_system(browser, report)
            for place in (each.format(system) for each in PLACES if system or "{" not in each):
                looks = zip(*(look(browser, report, place) for _ in range(LOOKS)), strict=True)
                *whole, shift = (statistics.median(each) for each in looks)
                figures = [*(f"{figure:,.0f}" for figure in whole), f"{shift:.2f}"]
                size = f"{report.stat().st_size / 1e6:.2f}"
                table.add_row(report.stem + place, size, *figures)
    console.print(table)


def first_system(browser: Browser, report: Path) -> str | None:
    """As addresses have it; None where labels are all that there is."""
    page = browser.new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    found = re.search(r'href="#system/([^"?]+)', page.content())
    page.close()
    return found and found[1]


def reports(place: Path) -> list[Path]:
    """The report of each lake, made in its folder; those without data are left out."""
    makers = {"demo": make_graded_demo}
    makers |= {name: partial(make_sized, name, *size) for name, size in SIZES.items()}
    if not missing_dl19():
        makers["dl19"] = make_dl19
    if not missing_llmjudge():
        makers["llmjudge"] = make_llmjudge
    for name, make in makers.items():
        make(place / name)
        command(place / name, "report", name, "-o", str(place / f"{name}.html"))
    return [place / f"{name}.html" for name in makers]


def make_dl19(folder: Path) -> None:
    """37 runs, three foreign judges, and 430 questions graded by the engine without a model."""
    make_graded(folder, list((DL19 / "runs").glob("*.run.gz")))
    import_labels(folder)
    command(folder, "build")


def make_sized(name: str, systems: int, queries: int, folder: Path) -> None:
    """Systems that each rank ten of a query's twenty passages, the later ones less well."""
    chance = Random(systems)
    pools = {f"q{n:04}": [f"q{n:04}p{rank:02}" for rank in range(20)] for n in range(queries)}
    ranked = {  # by judgment, and luck
        f"runs/system{n:03}.run": {
            query: sorted(pool, key=lambda p: int(p[-2:]) % 4 + (2 + n / 50) * chance.random())[:10]
            for query, pool in pools.items()
        }
        for n in range(systems)
    }
    files = {
        "topics.tsv": {query: f"what is told of {query}" for query in pools},
        "passages.tsv": {p: f"what {p} says" for pool in pools.values() for p in pool},
        "me.qrels": {q: {p: 3 - int(p[-2:]) % 4 for p in pool} for q, pool in pools.items()},
    }
    project(folder, {name: USUAL}, files=files | ranked)
    command(folder, "ingest", name)
    command(folder, "build")


if __name__ == "__main__":
    main()
