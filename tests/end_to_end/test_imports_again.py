"""Every import of a file that is in the lake already: nothing is written, and that is said."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from gradelake.app import app
from gradelake.sql.common import files as files_
from tests.command_line import gradelake, run
from tests.reading import live

pytestmark = pytest.mark.slow


def table(file: Path, rows: list[tuple]) -> Path:
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return file


def files(folder: Path) -> dict[str, list]:
    """Import -> collection, file and options."""
    judged = live(folder).rows(
        "select query_id, passage_id, relevance from lake.raw.judgments where collection = 'demo'"
    )
    (folder / "scores.json").write_text(json.dumps({"bm25": 0.5, "lsa": 0.25}))
    gradelake(folder, "export", "grades", "demo", "-o", "graded.jsonl", "--grader", "lexical")
    header = ("query_id", "passage_id", "judgment")
    own = table(folder / "own.csv", [header, *judged[:9]])
    return {
        "bank": ["demo", "question_bank.jsonl", "--name", "again"],
        "grades": ["demo", "graded.jsonl"],
        "judgments": ["demo", own, "--assessor", "ann"],
        "labels": ["demo", "labels/overlap.qrels", "--judge", "again"],
        "rag": ["logs", "rag/v1.jsonl"],
        "scores": ["demo", "scores.json", "--name", "EXAM", "--measure", "Cover@20"],
        "support": ["answers", "answers/support.csv", "--assessor", "cleo"],
    }


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    copy = shutil.copytree(graded_demo, tmp_path_factory.mktemp("again") / "demo")
    gradelake(copy, "ingest", "answers")
    with (copy / "gradelake.toml").open("a") as settings:
        settings.write("\n[collections.logs]\n")
    return copy


@pytest.fixture(scope="module")
def imports(folder) -> dict[str, list]:
    return files(folder)


def test_every_import_is_tried(imports):
    group = app.get_command(None, "import")
    assert set(imports) == set(group.list_commands(None))


@pytest.mark.parametrize(
    "name", ["bank", "grades", "judgments", "labels", "rag", "scores", "support"]
)
def test_a_file_that_comes_again_changes_nothing(folder, imports, name):
    def snapshot() -> int:
        return live(folder).newest_snapshot()

    words = ("import", name, *map(str, imports[name]))
    gradelake(folder, *words)
    before = snapshot()
    again = gradelake(folder, *words)
    said = again.stdout + again.stderr
    assert "unchanged" in said or "nothing new" in said
    assert snapshot() == before


@pytest.mark.parametrize(
    "name", ["bank", "grades", "judgments", "labels", "rag", "scores", "support"]
)
def test_a_file_that_changes_while_it_is_read_is_refused(folder, imports, name, monkeypatch):
    collection, file, *options = map(str, imports[name])
    changing = folder / f"changing{Path(file).suffix}"
    changing.write_bytes((folder / file).read_bytes() + b"\n")  # other bytes than before
    before, hashed = live(folder).newest_snapshot(), files_.sha256_of

    def then_changed(path: Path) -> str:
        sha256 = hashed(path)
        if Path(path).name == changing.name:
            with changing.open("a") as stream:
                stream.write("\n")
        return sha256

    monkeypatch.setattr(files_, "sha256_of", then_changed)
    done = run(folder, "import", name, collection, changing.name, *options)
    assert done.returncode == 2
    assert "was changed while it was read" in done.stderr
    assert live(folder).newest_snapshot() == before
    monkeypatch.undo()
    assert gradelake(folder, "import", name, collection, changing.name, *options)
