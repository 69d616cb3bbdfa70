"""Fifty people review for five minutes, while one night after another works on the lake.

They come within the first half of a minute. Each opens their queue, and for each card thinks for
half a second to three and answers; every 25 answers they open the queue anew. The nights ingest,
grade with the graders without a model, build and tidy. No request may fail, and at the end the lake
must have every answer that was acknowledged, once. The slowest hundredth of the requests is the
result.

    python -m tests.benchmarks.assessors [--people 50] [--minutes 5]
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from rich.table import Table

from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA
from gradelake.sql.lake.opening import Lake
from tests.benchmarks.aims import console
from tests.benchmarks.leaderboards import command
from tests.command_line import gradelake
from tests.lakes import make_graded_demo
from tests.serve.server import Server

THINKING = 0.5, 3.0  # seconds
COMING = 30.0  # seconds, or a quarter of the time
ANEW = 25  # answers, after which somebody opens their queue again
AT = "/c/demo/review/crowd"
FILES = (
    f"select count(*) from {METADATA}ducklake_data_file as files "
    f"inner join {METADATA}ducklake_table as tables using (table_id) "
    "where table_name = 'grade_reviews' and files.end_snapshot is null"
)


@dataclass
class Found:
    """What people and nights met with. Seconds of each request, by what it asked for; `said` is
    the grade that was acknowledged, by who said it and of what."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    said: dict[tuple[str, ...], int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    nights: int = 0
    in_lake: dict[tuple[str, ...], int] = field(default_factory=dict)
    twice: int = 0
    files: int = 0

    @property
    def lost(self) -> int:
        """How many of the acknowledged answers the lake does not have, or has otherwise."""
        return sum(self.in_lake.get(what) != grade for what, grade in self.said.items())


def review(
    client: httpx.Client, name: str, coming: float, over: threading.Event, found: Found
) -> None:
    """One person, until the nights or their cards are over. `coming`: seconds they may wait."""
    rng = random.Random(name)
    time.sleep(rng.uniform(0, coming))

    def timed(what: str, method: str, path: str, **sent: object) -> httpx.Response:
        started = time.perf_counter()
        answer = client.request(method, f"{AT}/{path}", **sent)
        found.seconds.setdefault(what, []).append(time.perf_counter() - started)
        return answer.raise_for_status()

    n = 0
    cards: list[dict] = []
    try:
        while not over.is_set():
            if n % ANEW == 0:
                timed("page", "GET", "")
                cards = timed("cards", "GET", "cards").json()["cards"]
                cards = [card for card in cards if not card["own"]]
            if not cards:
                return
            card, grade = cards.pop(0), rng.randrange(6)
            thinking = rng.uniform(*THINKING)
            time.sleep(thinking)
            timed(
                "answer",
                "POST",
                "answers",
                json={"id": card["id"], "grade": grade, "seconds": thinking},
            )
            found.said[name, card["query_id"], card["passage_id"], card["item_id"]] = grade
            n += 1
    except (httpx.HTTPError, ValueError, KeyError) as error:
        found.errors.append(f"{name}: {error!r}")


def work_at_night(folder: Path, seconds: float, over: threading.Event, found: Found) -> None:
    """One night after the other, each with a new system; the last is waited for."""
    until = time.monotonic() + seconds
    lines = [line.split() for line in (folder / "runs" / "bm25.run").read_text().splitlines()]
    inbox = folder / "inbox"
    inbox.mkdir()
    while time.monotonic() < until:
        name = f"night{found.nights + 1}"
        rng = random.Random(name)
        run = (f"{q} Q0 {p} 1 {rng.random()} {name}\n" for q, _, p, _, _, _ in lines)
        (inbox / f"{name}.run").write_text("".join(run))
        (inbox / f"{name}.run.done").touch()
        try:
            command(folder, "nightly")
        except subprocess.CalledProcessError as error:
            found.errors.append(f"{name}: {error.stdout}{error.stderr}")
        found.nights += 1
    over.set()


def crowd(folder: Path, people: int, seconds: float) -> Found:
    """The graded demo in `folder`, with so many people at once."""
    found = Found()
    names = [f"a{n:02d}" for n in range(people)]
    asked = (part for name in names for part in ("--assessor", name))
    size = int(seconds / 1.4) + 10  # a few more than they can answer
    about = ("--grader", "lexical", "--size", str(size), "--overlap", str(people))
    gradelake(folder, "queue", "add", "demo", "crowd", *about, *asked)
    config = folder / "gradelake.toml"
    text = config.read_text()
    config.write_text(text.replace("min_relevant", 'inbox = "inbox"\nmin_relevant', 1))
    server = Server(folder, is_early=True)
    try:
        browsers = {name: server.browser(name) for name in names}
        coming, over = min(COMING, seconds / 4), threading.Event()
        at_work = [
            threading.Thread(target=review, args=(client, name, coming, over, found))
            for name, client in browsers.items()
        ]
        at_work.append(threading.Thread(target=work_at_night, args=(folder, seconds, over, found)))
        for thread in at_work:
            thread.start()
        for thread in at_work:
            thread.join()
    finally:
        said = server.end()
    found.errors += [line for line in said.splitlines() if "error" in line]
    with Lake.live(Project.read(config)) as lake:
        rows = lake.rows(
            "select assessor, query_id, passage_id, item_id, blind_grade "
            "from lake.raw.grade_reviews"
        )
        found.files = lake.value(FILES)
    found.in_lake = {tuple(ids): grade for *ids, grade in rows}
    found.twice = sum(n - 1 for n in Counter(tuple(ids) for *ids, _ in rows).values())
    return found


def main() -> int:
    """Print the table; 1 where an answer was lost or anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "demo"
        make_graded_demo(folder)
        found = crowd(folder, chosen.people, 60 * chosen.minutes)
    table = Table("request", "n", "p50 ms", "p99 ms", "longest ms")
    for what, seconds in found.seconds.items():
        figures = statistics.median(seconds), statistics.quantiles(seconds, n=100)[-1], max(seconds)
        table.add_row(what, f"{len(seconds):,}", *(f"{1000 * value:.0f}" for value in figures))
    console.print(table)
    console.print(
        f"{chosen.people} people, {chosen.minutes:g} minutes, {found.nights} nights beside: "
        f"{len(found.said):,} answers acknowledged, {len(found.in_lake):,} in the lake, "
        f"{found.lost} lost, {found.twice} twice, {len(found.errors)} errors, "
        f"{found.files} files of reviews"
    )
    for error in found.errors[:5]:
        console.print(error, markup=False)
    return int(bool(found.errors or found.lost or found.twice) or found.in_lake != found.said)


if __name__ == "__main__":
    sys.exit(main())
