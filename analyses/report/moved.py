"""What moved: by the rubric's edits, since an earlier release, and night by night."""

from collections import Counter
from pathlib import Path
from typing import Any

from gradelake.analyses.choosing import measures
from gradelake.analyses.report.comparisons import MEASURES
from gradelake.analyses.report.health import SHOWN
from gradelake.analyses.report.previewed import read_preview
from gradelake.analyses.report.report_queries import ask, ask_book
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import diff


def read_moved(
    project: Project,
    lake: Lake,
    collection: str,
    compared_with: str | None,
    without_rubric: bool,
    preview: Path | None = None,
) -> dict[str, Any]:
    """What moved, for the page: `versions` of the rubric, newest first; `since` the release
    compared with; `nights`; `days` of grading; `previewed`: versions that are not built, of the
    file `preview`, None without one.

    `without_rubric` leaves out items' texts, and nights, which are of the whole lake. Raises what
    `read_preview` raises.
    """
    previewed = None if preview is None else read_preview(preview, collection)
    for version in previewed or []:
        version["edits"] = [] if without_rubric else list(map(shown_edit, version["edits"]))
    known = measures(lake)
    measure = next((name for name in (*MEASURES, *known) if name in known), "")
    asked = {"collection": collection}
    edits = ask(lake, "rubric_edits", **asked)
    moves = ask(lake, "rubric_moves", measure=measure, **asked) if edits else []
    labels = []
    if edits and not without_rubric:
        labels = ask(lake, "rubric_labels_moved", rows=SHOWN, **asked)
    versions = []
    for number in dict.fromkeys(edit["rubric_version"] for edit in edits):
        own = [edit for edit in edits if edit["rubric_version"] == number]
        moved_labels = [row for row in labels if row["rubric_version"] == number]
        versions.append(
            {
                "rubric_version": number,
                "previous_version": own[0]["previous_version"],
                "counts": Counter(edit["change"] for edit in own),
                "edits": [] if without_rubric else list(map(shown_edit, own)),
                "moves": [row for row in moves if row["rubric_version"] == number],
                "labels": moved_labels,
                "n_labels": moved_labels[0]["n_labels"] if moved_labels else 0,
            }
        )
    return {
        "measure": measure,
        "versions": versions,
        "previewed": previewed,
        "since": _since(project, lake, collection, compared_with),
        "nights": [] if without_rubric else list(map(_night, ask_book(lake, "nights"))),
        "days": ask(lake, "grading_days", **asked),
    }


def _night(night: dict[str, Any]) -> dict[str, Any]:
    minutes = None if night["seconds"] is None else round(night["seconds"] / 60, 1)
    return night | {"began": f"{night['started_at']:%Y-%m-%d %H:%M}", "minutes": minutes}


def shown_edit(edit: dict[str, Any]) -> dict[str, Any]:
    """An edit for the page, with what else changes of an item that stays."""
    changes = []
    if edit["old_text"] and edit["new_text"]:
        if edit["old_weight"] != edit["new_weight"]:
            changes.append(f"weight {edit['old_weight']:g} \u2192 {edit['new_weight']:g}")
        if edit["old_gold_answers"] != edit["new_gold_answers"]:
            old, new = (
                ", ".join(edit[f"{side}_gold_answers"] or []) or "none" for side in ("old", "new")
            )
            changes.append(f"answers {old} \u2192 {new}")
    return edit | {"changes": "; ".join(changes)}


def _since(
    project: Project, lake: Lake, collection: str, compared_with: str | None
) -> dict[str, Any] | None:
    """Boards by how many ranks moved, and label sets, of two releases; None where there are no
    two."""
    if not compared_with or not lake.release:
        return None
    try:
        found = diff.compare(project, compared_with, lake.release, collection)
    except GradelakeError:
        return None
    boards = []
    for board in found.leaderboards:
        moved = [
            row
            for row in board.systems
            if row["rank_before"] and row["rank_after"] and row["rank_before"] != row["rank_after"]
        ]
        moved.sort(key=lambda row: -abs(row["rank_after"] - row["rank_before"]))
        if board.n_systems:
            boards.append(vars(board) | {"n_ranks": len(moved), "farthest": moved[:3]})
    boards.sort(key=lambda board: (-board["n_ranks"], board["label_set"], board["measure"]))
    return {
        "n_boards": found.n_boards,
        "n_new": len(found.leaderboards) - len(boards),
        "boards": boards,
        "label_sets": found.label_sets,
        "n_label_sets": found.n_label_sets,
    }
