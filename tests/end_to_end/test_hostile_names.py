"""Names that would be SQL, paths, templates or options are names, from ingest to export."""

from pathlib import Path

import pytest

from gradelake.sql.ask import book
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.projects import LEXICAL, USUAL, project

pytestmark = pytest.mark.slow

# of queries, passages and assessed texts: they come from other people's files
NAMES = [
    "'; drop table lake.raw.grades; --",
    "\"; attach '/etc/passwd' as x; --",
    "../../outside",
    "/etc/passwd",
    "..",
    "--grader",
    "{lake}",
    "{{ 7 * 7 }}",
    "%s",
    "$1",
    "q'q",
    'q"q',
    "q\\q",
    "`touch outside`",
    "$(touch outside)",
    "a;b",
    "null",
    "*",
    "<script>x</script>",
    "=1+1",
]
PATTERN = "x[12]*?; it's"
IDS = [name.replace(" ", "_") for name in NAMES]  # a run's columns end at spaces


@pytest.fixture(scope="module")
def folder(tmp_path_factory, new_lake) -> Path:
    """The names as ids, twice over: each query has its passage, its judgment and its question. The
    folder's own name is a pattern, within one that DuckDB would take for a column."""
    folder = tmp_path_factory.mktemp("hostile") / "query_id=3" / PATTERN
    collection = {"queries": "topics.jsonl", "passages": "passages.jsonl", "min_relevant": 1}
    files = {
        "topics.jsonl": [{"query_id": i, "text": f"what is {i}"} for i in IDS],
        "passages.jsonl": [{"passage_id": i, "text": f"it is {i}"} for i in IDS],
        "me.qrels": {i: {i: 1} for i in IDS},
        "runs/one.run": {i: [i] for i in IDS},
        "bank.csv": [{"query_id": i, "kind": "question", "text": f"what is {i}"} for i in IDS],
    }
    project(folder, {"c": USUAL | collection}, {"words": LEXICAL}, files)
    new_lake(folder)
    gradelake(folder, "ingest", "c")
    gradelake(folder, "import", "bank", "c", "bank.csv", "--name", "questions")
    gradelake(folder, "grade", "c", "--grader", "words")
    gradelake(folder, "build")
    return folder


def said(folder: Path, *arguments: str) -> str:
    """What a command says that refuses its input."""
    return gradelake(folder, *arguments, code=2).stderr


def test_every_name_comes_through_all_rooms_as_it_was_written(folder):
    with Lake.published(Project.find(folder)) as lake:
        for table, column in (
            ("raw.queries", "query_id"),
            ("raw.passages", "passage_id"),
            ("raw.run_entries", "query_id"),
            ("raw.judgments", "passage_id"),
            ("raw.rubric_items", "query_id"),
            ("raw.grades", "query_id"),
            ("marts.topic_scores", "query_id"),
            ("marts.verify_grades", "passage_id"),
        ):
            found = {name for (name,) in lake.rows(f"select {column} from lake.{table}")}
            assert found == set(IDS), table


def test_a_question_of_the_query_book_takes_each_as_a_value(folder):
    question = book.entry("verify_grades")
    with Lake.published(Project.find(folder)) as lake:
        lake.connection.execute("use lake.marts")
        for name in IDS[:6]:
            values = question.values({"query_id": name, "tau": "0"})
            book.check_names(lake, values)
            shown = lake.frame(question.sql, **values)
            assert shown["query_id"].unique().to_list() == [name]


def test_they_are_exported_and_lie_nowhere_else(folder):
    gradelake(folder, "export", "qrels", "c", "--label-set", "assessor:me", "--output", "out")
    lines = (folder / "out").read_text().splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(IDS)
    told = gradelake(folder, "grade", "c", "--grader", "words", "--queries", IDS[0]).stdout
    assert "nothing is missing" in told
    below = folder.parent.parent
    assert {path.name for path in below.iterdir()} == {"query_id=3"}
    assert {path.name for path in folder.parent.iterdir()} == {PATTERN}
    assert not list(below.rglob("outside*"))


def test_its_files_are_found_sound_and_its_catalog_is_recovered(folder):
    assert "BAD" not in gradelake(folder, "lake", "verify").stdout
    (folder / "lake" / "catalog.sqlite").unlink()
    gradelake(folder, "lake", "recover", "--from", "r1")
    with Lake.live(Project.find(folder)) as lake:
        assert {name for (name,) in lake.rows("select query_id from lake.raw.grades")} == set(IDS)


def test_what_becomes_a_path_or_a_label_set_is_refused_by_name(folder):
    """Systems, judges, banks and releases."""
    for name in (*NAMES[:3], "..", "x y"):
        bank = said(folder, "import", "bank", "c", str(folder / "bank.csv"), f"--name={name}")
        labels = ("import", "labels", "c", str(folder / "me.qrels"), f"--judge={name}")
        for told in (bank, said(folder, *labels), said(folder, "build", f"--name={name}")):
            assert "cannot be used as a name" in told or "cannot be a release's name" in told
        for command in (("release", "drop", name), ("sql", f"--release={name}", "select 1")):
            assert "there is no release" in said(folder, *command)
    assert not list(folder.parent.parent.rglob("outside*"))


def test_a_run_whose_file_has_such_a_name_does_not_land(folder):
    bad = folder / "runs" / "it's; drop table x; --.run"
    bad.write_text("q Q0 p 1 1.5 x\n")
    told = gradelake(folder, "ingest", "c", code=3).stderr
    bad.unlink()
    assert "it's; drop table x; --" in told
    with Lake.live(Project.find(folder)) as lake:
        assert lake.rows("select system from lake.raw.systems") == [("one",)]
