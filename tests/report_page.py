"""The reports that tests look at, each made once; and reading one as its own script does."""

import base64
import gzip
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import gradelake
from tests.conftest import made_once
from tests.lakes import start_lake
from tests.moved_demo import HOSTILE, make_moved
from tests.projects import LEXICAL, USUAL, project

MARKED = "<marquee title='zebras'>Zebras & quaggas</marquee>"


class Page:
    """A report: `html`, and its packs by id."""

    def __init__(self, file: Path):
        self.html = file.read_text(encoding="utf-8")
        found = re.findall(r'<script type="text/plain" id="([^"]+)">([^<]*)</script>', self.html)
        self.packs = dict(found)

    def unpack(self, name: str) -> Any:
        return json.loads(gzip.decompress(base64.b64decode(self.packs[name])))

    @property
    def settled(self) -> dict[str, Any]:
        return self.unpack("settled")

    def board(self, label_set: str) -> dict[str, Any]:
        return self.unpack(f"board-{self.settled['label_sets'].index(label_set)}")

    def grid(self, grader: str, query_id: str) -> tuple[dict[str, Any], dict[str, str]]:
        """(the grid, its passages' texts)."""
        settled = self.settled
        (about,) = (one for one in settled["grids"][grader] if one["query_id"] == query_id)
        return self.unpack(about["id"]), self.unpack(f"texts-{self.number(query_id)}")

    def of_query(self, query_id: str) -> dict[str, Any]:
        """Passages, labels, rankings and items of a query."""
        return self.unpack(f"query-{self.number(query_id)}")

    def number(self, query_id: str) -> int:
        """The number that a query's packs have."""
        return [query["query_id"] for query in self.settled["queries"]].index(query_id)

    def text(self) -> str:
        """What a reader sees without the script, entities and white space resolved."""
        from html import unescape

        body = re.sub(r"<(script|style)\b.*?</\1>", " ", self.html, flags=re.DOTALL)
        return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


def make_hostile(folder: Path) -> None:
    """A collection whose texts try to become part of the page, graded, built and reported."""
    files = {
        "topics.tsv": {"q1": f"sky {HOSTILE}", "q2": "bees"},
        "passages.tsv": {"p1": f"The sky is blue. {HOSTILE}", "p2": "Bees dance.", "p3": MARKED},
        # p3 is relevant and answers nothing: its text stands in a table of the page
        "me.qrels": {"q1": {"p1": 1, "p3": 1}, "q2": {"p2": 1}},
        "bank.csv": [{"query_id": "q1", "kind": "question", "text": f"Is it blue? {HOSTILE}"}],
    }
    for name in ("one", "two"):  # names of systems are plain: others are refused
        files[f"runs/{name}.run"] = {"q1": ["p1"], "q2": ["p2"]}
    project(folder, {"tiny": USUAL}, {"lexical": LEXICAL}, files)
    start_lake(folder)
    gradelake(folder, "ingest", "tiny")
    gradelake(folder, "import", "bank", "tiny", "bank.csv", "--name", "questions")
    gradelake(folder, "grade", "tiny", "--grader", "lexical")
    gradelake(folder, "build")
    gradelake(folder, "report")


# ids that an address would read otherwise, were they not encoded
ODD_QUERY, ODD_PASSAGE, ODD_ITEM = "a/q%20#?&1", "p/1%2F#?", "item 1/2%#?&a=b"
FACET = "the hue of it"
RESPONSE = [" ".join([f"word{n}"] * 300) + "." for n in range(3)]  # a passage each
MORE_QUERIES = 60  # more than are read at once
UNANSWERED = "unanswered"  # a query with a rubric item, and no system's answer


def make_odd(folder: Path) -> None:
    """Odd ids, hostile texts, a pool of depth 2, two people who disagree; graded and built.

    `long` ranks p000 to p119. ann judged p110, below all that any measure looks at; ben did not.
    """
    collection = USUAL | {
        "passages": "passages.jsonl",
        "responses": ["responses.jsonl"],
        "default_pool_depth": 2,
        "judgments": {"ann": "ann.qrels", "ben": "ben.qrels"},
        "min_relevant": 2,
    }
    deep = [f"p{n:03}" for n in range(120)]
    more = [f"q{n:03}" for n in range(MORE_QUERIES)]
    texts = {ODD_PASSAGE: f"It is blue. {HOSTILE}"} | {p: f"Text {p}." for p in deep}
    blue = {"text": f"Is it blue? {HOSTILE}", "facet_id": FACET, "item_id": ODD_ITEM}
    nobody = {"text": "Does anybody know?", "item_id": "unanswered item"}
    response = {"system": "writer", "query_id": ODD_QUERY, "text": "\n\n".join(RESPONSE)}
    files = {
        "topics.tsv": dict.fromkeys([ODD_QUERY, *more, UNANSWERED], f"what is {HOSTILE}"),
        "passages.jsonl": [{"passage_id": p, "text": text} for p, text in texts.items()],
        "ann.qrels": {ODD_QUERY: {ODD_PASSAGE: 3, "p110": 2}},
        "ben.qrels": {ODD_QUERY: {ODD_PASSAGE: 0}},
        "runs/long.run": {ODD_QUERY: deep},
        "runs/odd.run": {ODD_QUERY: [ODD_PASSAGE]} | {q: [deep[n]] for n, q in enumerate(more)},
        "responses.jsonl": [response],
        "bank.csv": [
            {"query_id": query, "kind": "question", **item}
            for query, item in ((ODD_QUERY, blue), (UNANSWERED, nobody))
        ],
    }
    project(folder, {"odd": collection}, {"lexical": LEXICAL}, files)
    start_lake(folder)
    gradelake(folder, "ingest", "odd")
    gradelake(folder, "import", "bank", "odd", "bank.csv", "--name", "questions")
    gradelake(folder, "grade", "odd", "--grader", "lexical")
    gradelake(folder, "build")
    gradelake(folder, "report")


def _reported(folder: Path, collection: str, tmp_path_factory) -> Path:
    """The report of a collection of a lake that nobody changes."""

    def make(reports: Path) -> None:
        reports.mkdir()
        gradelake(folder, "report", collection, "-o", str(reports / f"{collection}.html"))

    return made_once(tmp_path_factory, f"{collection}-page", make) / f"{collection}.html"


@pytest.fixture(scope="session")
def demo_page(graded_demo, tmp_path_factory) -> Path:
    return _reported(graded_demo, "demo", tmp_path_factory)


@pytest.fixture(scope="session")
def odd_page(tmp_path_factory) -> Path:
    return made_once(tmp_path_factory, "odd-report", make_odd) / "reports" / "odd.html"


@pytest.fixture(scope="session")
def moved(graded_demo, tmp_path_factory) -> Path:
    """The demo of `make_moved`, with its report."""
    return made_once(tmp_path_factory, "moved", partial(make_moved, graded_demo))
