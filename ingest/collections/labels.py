"""`gradelake import labels`: a qrels-style file becomes a direct judge's grades."""

import json
from pathlib import Path

import polars as pl

from gradelake.ingest.collections import trec
from gradelake.ingest.landing.imported import ImportedFile
from gradelake.ingest.landing.landing import landing
from gradelake.ingest.mapping.columns import read_judgments
from gradelake.ingest.mapping.form import settings_of
from gradelake.ingest.mapping.stated import Form, file_of_import
from gradelake.ingest.reading.rows import is_table
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import id_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction


def judge_id(name: str) -> str:
    """Grader id of an imported judge: its name is all that is known of it."""
    return id_of(["imported", name])


def import_labels(
    lake: Lake,
    collection: str,
    path: Path,
    judge: str,
    arguments: list[str],
    max_label: int | None = None,
    form: Form | None = None,
) -> ImportedFile:
    """Store a judge's labels as grades with an empty item_id, from TREC qrels or a table.

    `form`: what the file looks like (mapping/stated.py), where that is not as usual.
    `max_label` is the top of its scale; where nobody says, its highest label is.
    A changed file replaces the judge's grades on this collection in one commit. Raises `BadInput`
    for an unknown collection or judge name, and `Rejected` for a file that cannot be used.
    """
    shown = str(path)
    done = ImportedFile(shown, collection, "labels", {"judge": judge})
    known_as = "Name a file in TREC qrels format."
    with landing(lake, done, "--judge", arguments, known_as) as land:
        kinds = ("judgments", "labels")
        file = file_of_import(lake.project.folder, path, kinds, form, without=["rater"])
        known = lake.value(
            "select scale_max from lake.raw.graders where grader_id = ?", judge_id(judge)
        )
        if land.is_known(settings_of(file) or None) and max_label in (None, known):
            return done
        read = read_judgments if is_table(path, file, "judgments") else trec.read_qrels
        frame = done.taken(read(path, file).drop_nulls("relevance"), lake)
        done.written = _write(land.transaction, collection, judge, frame, path.name, max_label)
        land.commit(labels=done.written)
    return done


def _write(
    transaction: Transaction,
    collection: str,
    judge: str,
    frame: pl.DataFrame,
    file: str,
    max_label: int | None,
) -> int:
    grader_id, now = judge_id(judge), utc_now()
    transaction.delete("grades", collection=collection, grader_id=grader_id)
    elsewhere = transaction.lake.rows(
        "select scale_min, scale_max from lake.raw.graders where grader_id = ?", grader_id
    )
    labels = frame["relevance"].to_list()
    scale_min = min([0, *labels, *(lowest for lowest, _ in elsewhere)])
    scale_max = max([*labels, *(highest for _, highest in elsewhere)])
    if max_label is not None:
        _require_below(max_label, transaction.lake, grader_id, max(labels))
        scale_max = max_label
    transaction.delete("graders", grader_id=grader_id)
    grader = {
        "grader_id": grader_id,
        "name": judge,
        "engine": "imported",
        "model": "",
        "model_revision": "",
        "prompt": "",
        "prompt_sha256": "",
        "scale_min": scale_min,
        "scale_max": scale_max,
        "settings": json.dumps({"file": file}),
        "parser": "qrels",
        "created_at": now,
        "target": "direct",
    }
    transaction.insert("graders", [grader])
    grades = frame.select("query_id", "passage_id", grade="relevance")
    of_judge = {"grader_id": grader_id, "collection": collection, "item_id": ""}
    given = {"status": "ok", "run_id": transaction.run_id, "graded_at": now}
    return transaction.insert("grades", grades, **of_judge, **given)


def _require_below(max_label: int, lake: Lake, grader_id: str, highest: int) -> None:
    """Raise `BadInput` where the judge has a label above the top of its scale, anywhere."""
    elsewhere = lake.value("select max(grade) from lake.raw.grades where grader_id = ?", grader_id)
    if (found := max(highest, elsewhere or 0)) > max_label:
        raise BadInput(
            f"--max-label {max_label}: the judge has the label {found}",
            "State the top of its scale, or leave the option out.",
        )
