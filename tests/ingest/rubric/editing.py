"""What tests of `rubric edit` share: a scripted edit, and what it left."""

import csv
import io
import os

from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake.transaction import author
from tests.ingest.rubric.conftest import BEES, BLUE, LIGHT, SKY


def rows(tiny) -> list[tuple]:
    """The file's rows: (version, bank, item's text, action, query, kind, text, answers, weight)."""
    names = {item_id_of("q1", "", text): text for text in (SKY, LIGHT, BLUE)}
    names[item_id_of("q2", "", BEES)] = BEES
    found = list(csv.DictReader(io.StringIO(tiny.edits.read_bytes().decode(), newline="")))
    assert {row["editor"] for row in found} == {author()}
    assert {row["collection"] for row in found} == {"tiny"}
    return [
        (
            row["rubric_version"],
            row["bank"],
            names.get(row["item_id"], row["item_id"]),
            row["action"],
            row["query_id"],
            row["kind"],
            row["text"],
            row["gold_answer"],
            row["weight"],
        )
        for row in found
    ]


def edit(tiny, code: str, *options: str, exit_code: int = 0):
    """Edit q1 with a scripted editor."""
    os.environ["EDITOR"] = tiny.editor(code)  # the fixture puts it back
    return tiny.rubric("edit", "q1", "--bank", "mine", *options, code=exit_code)


def sheets(tiny) -> list:
    """Sheets that were kept."""
    return sorted((tiny.folder / "lake" / "sheets").glob("*"))
