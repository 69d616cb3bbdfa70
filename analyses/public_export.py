"""`gradelake export track --public`: what can be shared while the rubric stays secret.

The papers of RUBRIC publish boards, labels and correlations and keep the questions, so that no
system is tuned to them. Nothing that is read here holds an item's text or an answer.
"""

import csv
import random
from pathlib import Path

import polars as pl

from gradelake.analyses.qrels_export import export_all
from gradelake.analyses.report.page import ReportRequest, make_report
from gradelake.analyses.scores_export import name_in
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.common.spreadsheet import plain_cell, shown_cell
from gradelake.sql.common.whole_file import whole_file, whole_folder
from gradelake.sql.lake.opening import Lake

# mart -> its columns; a CSV has no lists
TABLES = {
    "leaderboard": "*",
    "leaderboard_correlation": "* replace (array_to_string(left_out, ' ') as left_out)",
}
README = """\
# {collection}

What of the collection can be shared while its rubric stays secret, of the release {release}.

- `leaderboard.csv`: systems' mean scores by label set (whose judgments), level (the label from
  which a passage counts as relevant) and measure, which has its name of {layout}.
- `leaderboard_correlation.csv`: how far boards agree with each other and with official ranks.
- `qrels/`: the labels of passages of each label set, as TREC qrels, where there are any.
{more}
"""
WHOLE = "- `report.html`: all of it to look at, without rubric items and answers."
NAMELESS = "\nSystems have other names here, the same each time; what would name them is left out."


def export_public(
    project: Project,
    lake: Lake,
    collection: str,
    folder: Path,
    layout: str = "ir_measures",
    names: Path | None = None,
) -> dict[str, int]:
    """Write `README.md`, `leaderboard.csv`, `leaderboard_correlation.csv`, a qrels file per label
    set in `qrels/`, and `report.html` without the rubric, into a new or empty folder; it is there
    whole or not at all. Returns file -> rows or bytes.

    Measures are called as `layout` calls them. With `names`, a CSV that keeps which system is
    which and stays here, systems are anonymous and there is no report.

    Raises `BadInput` for a folder that holds something: it could be what must stay secret; and as
    `make_report` and `export_all` do.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: is there already", "Name a new or an empty folder.")
    written = {}
    with whole_folder(folder.absolute()) as unfinished, lake.one_state():  # `.` has no name
        anonymous = _anonymous(lake, collection, names) if names else {}
        for table, columns in TABLES.items():
            rows = lake.frame(
                f"select {columns} from lake.marts.{table} where collection = ? order by all",
                collection,
            )
            called = {each: name_in(layout, each) for each in rows["measure"].unique()}
            rows = rows.with_columns(pl.col("measure").replace(called))
            if names and "system" in rows.columns:
                rows = rows.with_columns(pl.col("system").replace_strict(anonymous))
                rows = rows.sort(rows.columns)  # the order would tell, too
            elif names:
                rows = rows.drop("left_out")
            texts = pl.col(pl.String).map_elements(shown_cell, return_dtype=pl.String)
            rows.with_columns(texts).write_csv(unfinished / f"{table}.csv")
            written[f"{table}.csv"] = rows.height
        labels = "select count(*) from lake.marts.relevance_labels where collection = ?"
        if lake.value(labels, collection) or not written["leaderboard.csv"]:  # not answers alone
            for file, n_labels in export_all(lake, collection, unfinished / "qrels").values():
                written[str(file.relative_to(unfinished))] = n_labels
        if not names:
            html, _ = make_report(project, lake, collection, ReportRequest(without_rubric=True))
            written["report.html"] = (unfinished / "report.html").write_bytes(html.encode())
        about = {"collection": collection, "release": lake.release, "layout": layout}
        readme = README.format(**about, more=NAMELESS if names else WHOLE)
        written["README.md"] = (unfinished / "README.md").write_bytes(readme.encode())
        if names:
            with whole_file(names) as kept:
                pairs = (f"{shown_cell(each)},{name}\n" for each, name in sorted(anonymous.items()))
                kept.write("".join(["system,name\n", *pairs]).encode())
    return written


def _anonymous(lake: Lake, collection: str, names: Path) -> dict[str, str]:
    """system -> its other name, as the file has it; new ones are numbered on in a random order."""
    known: dict[str, str] = {}
    if names.exists():
        with names.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        if not rows or rows[0] != ["system", "name"] or any(len(row) != 2 for row in rows):
            raise BadInput(
                f"{names}: does not hold the two columns system and name",
                "Name another file, or a new one, which is then made.",
            )
        known = {plain_cell(system): name for system, name in rows[1:]}
    systems = lake.column(
        "select distinct system from lake.marts.leaderboard where collection = ?", collection
    )
    new = [system for system in systems if system not in known]
    random.SystemRandom().shuffle(new)
    free = (f"system{n:03}" for n in range(1, len(known) + len(new) + 1))
    unused = [name for name in free if name not in known.values()]
    return known | dict(zip(new, unused, strict=False))
