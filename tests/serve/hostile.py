"""A small lake whose ids are odd in addresses, and whose texts would like to be HTML."""

from html.parser import HTMLParser
from pathlib import Path

from gradelake.grading.review.cards import Assignment, deal, find_grader
from gradelake.grading.review.revise import ReviewAnswer
from gradelake.grading.review.verdicts import Verdicts
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.edits import edit, write_edits
from tests.lakes import start_lake
from tests.projects import LEXICAL, USUAL, project

# what gets out of an attribute, a text area or a script makes an element or attribute `xss`
XSS = "\"'></textarea></script></title><xss xss=1><img src=x onerror=xss xss='1'>{{ 7 * 7 }}"
BARE = XSS.replace(" ", "/")  # of a query's id, which has no blanks
QUERIES = ["a/q%20#?&1", "naïve:日本+x", f"q{BARE}"]
PASSAGES = ["p/1%2F#?", "π2&=+", f"p{BARE}"]
UNASKED = "two words"  # a passage that no run can name
WORDS = dict(zip([*PASSAGES, UNASKED], ("sky", "sea", "ink", "sleep"), strict=True))
SYSTEM = "run@1+x=y"
ITEM = f"item/1%2F#? {XSS}"


def make(folder: Path) -> None:
    """Fill a folder with the collection `odd`: ingested, graded, its rubric edited, reviewed by
    ann, a queue `first` of hers, built."""
    collection = USUAL | {"queries": "topics.jsonl", "passages": "passages.jsonl"}
    item = {"kind": "question", "text": f"Is it blue? {XSS}", "facet_id": f"hue {XSS}"}
    files = {
        "topics.jsonl": [
            {"query_id": each, "text": f"why is {n} blue {XSS}"} for n, each in enumerate(QUERIES)
        ],
        "passages.jsonl": [
            {"passage_id": each, "text": f"{word} is blue, {n}. {XSS}"}
            for n, (each, word) in enumerate(WORDS.items())
        ],
        "me.qrels": {q: dict.fromkeys(PASSAGES, n) for n, q in enumerate(QUERIES)},
        **{
            f"runs/{system}.run": dict.fromkeys(QUERIES, PASSAGES[:1])
            for system in (SYSTEM, "plain")
        },
        "bank.csv": [{"query_id": each, "item_id": ITEM, **item} for each in QUERIES],
    }
    project(folder, {"odd": collection}, {"lexical": LEXICAL}, files)
    added = {"query_id": QUERIES[0], "kind": "question", "text": f"Who? {XSS}"}
    write_edits(folder, edit(1, "add", collection="odd", reason=f"because {XSS}", **added))
    start_lake(folder)
    gradelake(folder, "ingest", "odd")
    gradelake(folder, "import", "bank", "odd", "bank.csv", "--name", "questions")
    gradelake(folder, "grade", "odd", "--grader", "lexical")
    people = ("--assessor", "ann", "--assessor", "bob")
    gradelake(folder, "queue", "add", "odd", "first", "--grader", "lexical", "--tau", "3", *people)
    with Lake.writer(Project.find(folder)) as lake:
        assignment = Assignment("odd", find_grader(lake, "lexical"), "ann", 3)
        for card in deal(lake, assignment).cards:
            Verdicts(lake, assignment).put(card, ReviewAnswer(card.grade, None, f"note {XSS}"))
    gradelake(folder, "build")


class Seen(HTMLParser):
    """A page as a browser reads it: its elements, attributes and texts."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.texts += [value or "" for name, value in attrs if name in ("value", "placeholder")]

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def is_clean(self) -> bool:
        """Whether no text became an element, an attribute or a script."""
        assert not {"xss", "img"} & self.tags, self.tags
        assert not {"xss", "onerror"} & self.attributes, self.attributes
        assert not [to for to in self.links if to.strip().lower().startswith("javascript:")]
        return True
