"""How large a report is and how long it takes to open: the demo, TREC DL 2019 and LLMJudge.

    python -m tests.benchmarks.pages            makes the lakes first (some minutes)
    python -m tests.benchmarks.pages REPORT...  looks at reports that are there

In a new page of Chromium each time, the middle of five looks: until the first board is drawn, until
every section is, and the longest task of the two, in which the page answers nobody.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser
from rich.table import Table

from tests.benchmarks.aims import console
from tests.benchmarks.leaderboards import command, import_labels
from tests.benchmarks.waits import make_graded
from tests.browser import chromium
from tests.lakes import make_graded_demo
from tests.places import DL19, missing_dl19, missing_llmjudge
from tests.tools.reproduce import make_llmjudge

LOOKS = 5
WATCH = """
    window.tasks = [0]; window.at = {};
    new PerformanceObserver((seen) => seen.getEntries().forEach((one) => tasks.push(one.duration)))
      .observe({ type: "longtask", buffered: true });
    new MutationObserver(([{ target }]) => { at[target.dataset.ready] ??= performance.now(); })
      .observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });
"""


def look(browser: Browser, report: Path) -> tuple[float, float, float]:
    """Milliseconds until the first section, until all, and of the longest task."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH)
    page.goto(report.as_uri(), wait_until="commit")
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_timeout(200)  # the observer is told a little later
    seen = page.evaluate("[at.first ?? at.yes, at.yes, Math.max(...tasks)]")
    page.close()
    return tuple(seen)


def main() -> None:
    """Print a row for each report."""
    table = Table(title="Reports in Chromium")
    for column in ("report", "MB", "first board ms", "all drawn ms", "longest task ms"):
        table.add_column(column, justify="left" if column == "report" else "right")
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        for report in map(Path, sys.argv[1:]) if sys.argv[1:] else reports(Path(place)):
            looks = zip(*(look(browser, report) for _ in range(LOOKS)), strict=True)
            figures = [f"{statistics.median(each):.0f}" for each in looks]
            table.add_row(report.stem, f"{report.stat().st_size / 1e6:.2f}", *figures)
    console.print(table)


def reports(place: Path) -> list[Path]:
    """The reports of three lakes, each made in its folder; those without data are left out."""
    makers = {"demo": make_graded_demo}
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


if __name__ == "__main__":
    main()
