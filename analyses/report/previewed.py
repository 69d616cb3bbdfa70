"""What edits will do once they are built, as `gradelake rubric preview --json` printed it."""

import json
from pathlib import Path
from typing import Any

from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.quoting import shell_word

MOST_BYTES = 1 << 30  # of its one line, which has every label and score that moves
EDIT = {
    "query_id": str,
    "change": str,
    **{f"{side}_text": str for side in ("old", "new")},
    **{f"{side}_weight": float for side in ("old", "new")},
    **{f"{side}_gold_answers": list for side in ("old", "new")},
}
LABEL_SET = {
    **dict.fromkeys(("label_set", "measure", "moved_most"), str),
    **dict.fromkeys(("kendall", "moved_by"), float),
    **{f"n_labels_{way}": int for way in ("up", "down", "new", "gone")},
    **dict.fromkeys(("n_boards", "n_boards_moved", "n_ranks_changed"), int),
}
GRADES = {
    **dict.fromkeys(("n_items", "n_passages", "n_wanted", "n_missing", "prompt_tokens"), int),
    **{"grader": str, "seconds": float},
}


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
            f"gradelake rubric preview {shell_word(collection)} --json > {shell_word(file)}",
        ) from None


def _version(version: dict[str, Any]) -> dict[str, Any]:
    return {
        "rubric_version": int(version["rubric_version"]),
        "previous_version": int(version["previous_version"]),
        "edits": [_typed(row, EDIT) for row in version["edits"]],
        "label_sets": [_typed(row, LABEL_SET) for row in version["label_sets"]],
        "grades": [_typed(row, GRADES) for row in version["grades"]],
    }


def _typed(row: dict[str, Any], kinds: dict[str, type]) -> dict[str, Any]:
    return {key: None if row[key] is None else kind(row[key]) for key, kind in kinds.items()}
