"""The RUBRIC workbench's graded JSONL: what its grades are called in the lake, and back.

One line per query, `[query_id, [paragraph, ...]]`. A paragraph holds `exam_grades` (an entry per
grader, with a rating or an extracted answer per rubric item) and `grades` (an entry per direct
judge). Field names are those of the workbench's data model, release 2.0.
"""

import json
import re
from typing import Any

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.hashes import id_of, text_sha256
from gradelake.sql.lake.rows import types_of

TARGETS = ("question", "nugget", "direct", "extract", "verify")
RATING_MAX = 5  # questions and nuggets are rated 0 to 5

# columns of raw.graders that a file can bring; created_at travels as ISO text
GRADER_COLUMNS = tuple(name for name in types_of("graders") if name != "label_rubric_id")
# columns of raw.grades that a file can bring; collection and run_id belong to the lake. Of those
# after the tenth a `gradelake` object tells
GRADE_COLUMNS = (
    "grader_id",
    "query_id",
    "passage_id",
    "item_id",
    "grade",
    "status",
    "answer",
    "response",
    "error",
    "passage_sha256",
    "expected_grade",
    "scale_mass",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "cut_characters",
    "query_sha256",
    "gold_sha256",
    "graded_at",
    "probabilities",
    "reasoning",
)
OF_ITEM = GRADE_COLUMNS[3:]  # what a `gradelake` object holds of a grade


def imported_grader(
    *,
    model: str,
    prompt: str,
    target: str,
    settings: dict[str, Any],
    parser: str = "published",
    prefix: str | None = None,
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
        "grader_id": id_of(known),
        "name": as_name(name),
        "engine": "imported",
        "model": model,
        "model_revision": "",
        "target": target,
        "prompt": prompt,
        "prompt_sha256": text_sha256(prompt_text) if prompt_text else "",
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
    if reply is None or reply == str(rating):
        return "ok"
    digit = _LONE_DIGIT.fullmatch(reply)
    return "ok" if digit and int(digit[1]) == rating else "defaulted"


def is_bare_digit(reply: str) -> bool:
    """Whether a reply is one digit of the scale and nothing else."""
    return len(reply) == 1 and "0" <= reply <= str(RATING_MAX)
