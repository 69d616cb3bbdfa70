"""What edits will do once they are built, as `gradelake rubric preview --json` printed it."""

import json
from pathlib import Path
from typing import Any

from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput

MOST_BYTES = 1 << 30  # of its one line, which has every label and score that moves
COUNTS = (
    *("n_labels_up", "n_labels_down", "n_labels_new", "n_labels_gone"),
    *("n_boards", "n_boards_moved"),
)
WANTED = ("n_items", "n_passages", "n_wanted", "n_missing")


def read_preview(file: Path, collection: str) -> list[dict[str, Any]]:
    """A collection's versions in a preview, for the page: {rubric_version, previous_version,
    edits, label_sets, grades}; edits are as `moved.shown_edit` takes them.

    Raises `BadInput` for a file that `rubric preview --json` did not print.
    """
    text = files.read(file, str(file), MOST_BYTES).decode()
    try:
        found = [one for one in json.loads(text)["versions"] if one["collection"] == collection]
        return [_version(one) for one in found]
    except (ValueError, TypeError, LookupError, AttributeError):
        raise BadInput(
            f"{file}: is not what `rubric preview --json` prints",
            f"gradelake rubric preview {collection} --json > {file}",
        ) from None


def _version(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "rubric_version": int(one["rubric_version"]),
        "previous_version": int(one["previous_version"]),
        "edits": [_edit(edit) for edit in one["edits"]],
        "label_sets": [_label_set(row) for row in one["label_sets"]],
        "grades": [_grades(row) for row in one["grades"]],
    }


def _edit(edit: dict[str, Any]) -> dict[str, Any]:
    sides = {"before": "old", "after": "new"}
    return {
        "query_id": str(edit["query_id"]),
        "action": str(edit["change"]),
        **{f"text_{when}": edit[f"{side}_text"] for when, side in sides.items()},
        **{f"weight_{when}": edit[f"{side}_weight"] for when, side in sides.items()},
        **{f"answers_{when}": edit[f"{side}_gold_answers"] for when, side in sides.items()},
    }


def _label_set(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: int(row[name]) for name in COUNTS},
        "label_set": str(row["label_set"]),
        "measure": row["measure"],
        "kendall": None if row["kendall"] is None else float(row["kendall"]),
        "n_ranks_changed": None if row["measure"] is None else int(row["n_ranks_changed"]),
        "moved_most": str(row["moved_most"]),
        "moved_by": float(row["moved_by"] or 0),
    }


def _grades(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: int(row[name]) for name in WANTED},
        "grader": str(row["grader"]),
        "prompt_tokens": int(row["prompt_tokens"] or 0),
        "seconds": None if row["seconds"] is None else float(row["seconds"]),
    }
