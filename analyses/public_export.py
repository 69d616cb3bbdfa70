"""`gradelake export public`: what of a collection can be shared while its rubric stays secret.

The papers of RUBRIC publish boards, labels and correlations and keep the questions, so that no
system is tuned to them. Nothing that is read here holds an item's text or an answer.
"""

from pathlib import Path

import polars as pl

from gradelake.analyses.qrels_export import export_all
from gradelake.analyses.report.page import Request, make_report
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.common.spreadsheet import shown_cell
from gradelake.sql.common.whole_file import whole_folder
from gradelake.sql.lake.opening import Lake

# mart -> its columns; a CSV has no lists
TABLES = {
    "leaderboard": "*",
    "leaderboard_correlation": "* replace (array_to_string(left_out, ' ') as left_out)",
}


def export_public(project: Project, lake: Lake, collection: str, folder: Path) -> dict[str, int]:
    """Write `leaderboard.csv`, `leaderboard_correlation.csv`, a qrels file per label set in
    `qrels/`, and `report.html` without the rubric, into a new or empty folder; it is there whole
    or not at all. Returns file -> rows or bytes.

    Raises `BadInput` for a folder that holds something: it could be what must stay secret; and as
    `make_report` and `export_all` do.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: is there already", "Name a new or an empty folder.")
    written = {}
    with whole_folder(folder.absolute()) as unfinished, lake.one_state():  # `.` has no name
        html, _ = make_report(project, lake, collection, Request(without_rubric=True))
        for table, columns in TABLES.items():
            rows = lake.frame(
                f"select {columns} from lake.marts.{table} where collection = ? order by all",
                collection,
            )
            texts = pl.col(pl.String).map_elements(shown_cell, return_dtype=pl.String)
            rows.with_columns(texts).write_csv(unfinished / f"{table}.csv")
            written[f"{table}.csv"] = rows.height
        for file, n_labels in export_all(lake, collection, unfinished / "qrels").values():
            written[str(file.relative_to(unfinished))] = n_labels
        written["report.html"] = (unfinished / "report.html").write_bytes(html.encode())
    return written
