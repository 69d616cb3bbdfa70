"""How tests edit a rubric by hand: rows of seeds/rubric_edits.csv beside gradelake.toml."""

import csv
from pathlib import Path

from gradelake.sql.build.seeds import PACKAGED

COLUMNS = (PACKAGED / "rubric_edits.csv").read_text(encoding="utf-8").strip().split(",")


def edit(
    version: int, action: str, item: str = "", bank: str = "questions", **columns: object
) -> dict:
    """A row of ann's, of the collection `demo` unless `columns` say another."""
    about = {"collection": "demo", "editor": "ann", "bank": bank, "item_id": item}
    return about | {"rubric_version": version, "action": action} | columns


def write_edits(folder: Path, *rows: dict) -> None:
    """Make these rows the project's edits; columns that a row does not name are empty."""
    (folder / "seeds").mkdir(exist_ok=True)
    file = folder / "seeds" / "rubric_edits.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
