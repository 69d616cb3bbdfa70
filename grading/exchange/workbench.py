"""The RUBRIC workbench's graded JSONL: what its grades are called in the lake, and back.

One line per query, `[query_id, [paragraph, ...]]`. A paragraph holds `exam_grades` (an entry per
grader, with a rating or an extracted answer per rubric item) and `grades` (an entry per direct
judge). Field names are those of the workbench's data model, release 2.0.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.problems import Rejected, reject
from gradelake.sql.lake.rows import contract
from gradelake.sql.lake.transaction import Transaction

TARGETS = ("question", "nugget", "direct", "extract", "verify")
STATUSES = ("ok", "unanswerable", "defaulted", "failed")
RATING_MAX = 5  # questions and nuggets are rated 0 to 5

# columns of raw.graders that a file can bring; created_at travels as ISO text
GRADER_COLUMNS = tuple(name for name in contract("graders").columns if name != "label_rubric_id")
# columns of raw.grades that a file can bring; collection and run_id belong to the lake
GRADES: dict[str, pl.DataType | type[pl.DataType]] = {
    "grader_id": pl.String,
    "query_id": pl.String,
    "passage_id": pl.String,
    "item_id": pl.String,
    "grade": pl.Int64,
    "status": pl.String,
    "answer": pl.String,
    "response": pl.String,
    "error": pl.String,
    "passage_sha256": pl.String,
    "expected_grade": pl.Float64,
    "scale_mass": pl.Float64,
    "prompt_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cut_characters": pl.Int64,
    "query_sha256": pl.String,
    "gold_sha256": pl.String,
    "graded_at": pl.Datetime("us"),
}
# those that every grade of a file has, but for the time; others are in a `gradelake` object
COMMON = dict(list(GRADES.items())[:10])
OF_ITEM = tuple(GRADES)[3:]  # what a `gradelake` object holds of a grade
_PAIR = {"query_id": pl.String, "passage_id": pl.String}
PASSAGES = {"passage_id": pl.String, "text": pl.String, "text_sha256": pl.String}
JUDGMENTS = {**_PAIR, "assessor": pl.String, "relevance": pl.Int64}
RANKINGS = {"system": pl.String, **_PAIR, "rank": pl.Int32, "score": pl.Float64}
BROUGHT_ALONG = {"query_id": pl.String, "part": pl.String, "content": pl.String}
ITEMS = {"query_id": pl.String, "item_id": pl.String, "kind": pl.String, "text": pl.String}


# kind of rows -> their columns; of `grades` those of every file, of `restored` what a lake exported
_KINDS: dict[str, dict[str, Any]] = {
    "grades": COMMON,
    "restored": GRADES,
    "passages": PASSAGES,
    "judgments": JUDGMENTS,
    "rankings": RANKINGS,
    "brought_along": BROUGHT_ALONG,
}
_ROWS = 10_000  # put into one frame


class Rows:
    """A file's rows on their way into the lake, some thousands at a time."""

    def __init__(self, transaction: Transaction, collection: str, target: str):
        self.lake, self.collection = transaction.lake, collection
        self.now = utc_now()
        self.grades = self.restored = transaction.staged("grades")
        self.passages = transaction.staged("passages")
        self.judgments = transaction.staged("judgments", JUDGMENTS)
        self.rankings = transaction.staged("run_entries")
        self.brought_along = transaction.staged("brought_along")
        of_lake = {"collection": collection, "run_id": transaction.run_id}
        self._constants: dict[str, dict[str, Any]] = {
            "grades": of_lake | {"graded_at": pl.lit(self.now, GRADES["graded_at"])},
            "restored": of_lake,
            "passages": {"collection": collection, "origin": "corpus"},
            "judgments": {},
            "rankings": {"collection": collection},
            "brought_along": {"collection": collection, "target": target},
        }
        self._kept: dict[str, list[tuple]] = {kind: [] for kind in _KINDS}
        self._n_kept = 0

    def put(self, kind: str, *row: Any) -> None:
        """A row of a kind, as `_KINDS` has its columns."""
        self._kept[kind].append(row)
        self._n_kept += 1
        if self._n_kept >= _ROWS:
            self.flush()

    def flush(self) -> None:
        """Hand over the rows that are kept."""
        for kind, rows in self._kept.items():
            if rows:  # columns first: making a frame from many rows is slow
                columns = dict(zip(_KINDS[kind], zip(*rows, strict=True), strict=True))
                frame = pl.DataFrame(columns, schema=_KINDS[kind])
                constants = {
                    name: value if isinstance(value, pl.Expr) else pl.lit(value)
                    for name, value in self._constants[kind].items()
                }
                getattr(self, kind).add(frame.with_columns(**constants))
                rows.clear()
        self._n_kept = 0


@dataclass
class Found:
    """What a file of grades holds beside its `Rows`.

    `graders` maps grader_id to a row of raw.graders; those in `scale_at_least` get their scale
    from their grades, from 0 to that number or wider. `items` has the columns `ITEMS`, `counts`
    says what else was seen, `unknown_queries` which topics were left out.
    """

    graders: dict[str, dict[str, Any]]
    scale_at_least: dict[str, int]
    items: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ITEMS))
    counts: dict[str, int] = field(default_factory=dict)
    unknown_queries: list[str] = field(default_factory=list)


def sha256(text: str) -> str:
    """Hash of a passage's text, as raw.passages has it."""
    return hashlib.sha256(text.encode()).hexdigest()


def reject_other_collection(shown: str, unknown: list[str]) -> Rejected:
    """The rejection of a file that has no query of the collection."""
    return reject(
        shown,
        None,
        f"none of its queries is in the collection ({', '.join(unknown[:5])} ...)",
        "Is this the collection that was graded? Ingest its topics first.",
    )


def imported_grader(
    *,
    model: str,
    prompt: str,
    target: str,
    parser: str,
    settings: dict[str, Any],
    prefix: str | None,
    prompt_text: str | None = None,
) -> dict[str, Any]:
    """A row of raw.graders for a grader that others ran; its id hashes all that is known of it.

    Its name is the model's last path part and the prompt's name; `prefix` stands for the former
    and keeps graders apart that the file cannot tell from others. The scale is entered later,
    from the grades.
    """
    if prefix:
        settings = settings | {"prefix": prefix}
    known = ["imported", model, prompt, target, parser, settings]
    name = f"{prefix or model.rstrip('/').rpartition('/')[2] or 'unknown'}.{prompt or 'unknown'}"
    if parser != "published":
        name += f".{parser}"
    return {
        "grader_id": hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16],
        "name": as_name(name),
        "engine": "imported",
        "model": model,
        "model_revision": "",
        "target": target,
        "prompt": prompt,
        "prompt_sha256": sha256(prompt_text) if prompt_text else "",
        "prompt_text": prompt_text,
        "scale_min": 0,
        "scale_max": 0,
        "settings": json.dumps(settings, sort_keys=True),
        "parser": parser,
        "created_at": utc_now(),
    }


def as_name(text: str) -> str:
    """The nearest text that `gradelake.sql.common.project.is_name` accepts."""
    safe = re.sub(r"[^A-Za-z0-9_.+=@-]+", "-", text)
    return re.sub(r"\.{2,}", ".", safe).lstrip("_.+=@-").rstrip(".-") or "unknown"


_LONE_DIGIT = re.compile(r"\W*([0-9])\W*")


def published_status(rating: int, reply: str | None) -> str:
    """How a published rating came about: `ok` when the reply is that digit, punctuation aside;
    else the workbench fell back on its default rating (`defaulted`). Without a reply nothing
    speaks against the rating: `ok`."""
    if reply is None:
        return "ok"
    digit = _LONE_DIGIT.fullmatch(reply)
    return "ok" if digit and int(digit[1]) == rating else "defaulted"


def is_bare_digit(reply: str) -> bool:
    """Whether a reply is one digit of the scale and nothing else."""
    return len(reply) == 1 and "0" <= reply <= str(RATING_MAX)
