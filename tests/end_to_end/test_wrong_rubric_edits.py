"""A file of rubric edits with wrong rows: they are named, and the lake stays as it is."""

import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.lake_copy import fingerprint
from tests.command_line import gradelake, json_of
from tests.edits import edit, write_edits
from tests.end_to_end.edited_demo import BIRDS as QUERY
from tests.rubric_oracle import item_id, items_of, read_bank

pytestmark = pytest.mark.slow
IN_FORCE = "What does the inclination compass of robins measure?"


@pytest.fixture(scope="module")
def items(graded_demo) -> list[str]:
    """The questions of a query."""
    return sorted(items_of(read_bank(graded_demo / "question_bank.jsonl", "question"), QUERY))


@pytest.fixture(scope="module")
def folder(graded_demo, items, tmp_path_factory) -> Path:
    """The graded demo, with an edit that is fine."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("wrong") / "demo")
    write_edits(folder, edit(1, "drop", items[0]))
    gradelake(folder, "build")
    return folder


def derived(folder: Path) -> dict[str, object]:
    """Rows and fingerprint of every table that a build writes, seeds too; the text of its views."""
    with Lake.live(Project.find(folder)) as lake:
        names = lake.rows(
            "select schema_name || '.' || table_name from duckdb_tables() "
            "where database_name = 'lake' and schema_name != 'raw'"
        )
        views = lake.rows(
            "select schema_name || '.' || view_name, sql from duckdb_views() "
            "where database_name = 'lake'"
        )
        tables = {name: fingerprint(lake.connection, f"lake.{name}") for (name,) in names}
        assert min(len(tables), len(views)) > 20
        return tables | dict(views)


def plan(folder: Path, version: int) -> dict:
    command = ("plan", "demo", "--grader", "lexical", "--rubric-version", str(version), "--json")
    return json_of(folder, *command)


WRONG = {
    "items": lambda items: [
        (edit(2, "drop", f"{QUERY}/nonsense"), "has no item 'bird-navigation/nonsense'"),
        (edit(2, "reword", items[1], text=" "), "its text is empty"),
        (edit(2, "reweight", items[2], weight=-1), "weight -1 is negative"),
        (edit(2, "drop", items[0]), "was dropped or reworded before"),
        (edit(2, "restore", items[3]), "there is nothing to restore"),
        (edit(2, "drop", items[4]), None),
        (edit(2, "reweight", items[4], weight=2), "twice in this version (see row 7)"),
        (edit(0, "drop", items[5]), "rubric_version must be a whole number, 1 or more"),
        (edit("1.6", "drop", items[7]), "rubric_version must be a whole number, 1 or more"),
        (edit(2, "reweight", items[7], weight=2, gold_answer="Etna"), "belongs to reword"),
        (edit(2, "reweight", items[8], kind="criterion:optional:own"), "is no criterion"),
    ],
    "texts": lambda items: [
        (edit(2, "add", query_id=QUERY, kind="question", text="Why?"), None),
        (edit(2, "add", query_id=QUERY, kind="question", text="Why? "), "twice in this version"),
        (edit(2, "reword", items[8], text=IN_FORCE), "the query has an item with this text"),
        (edit(2, "drop", items[7], query_id="bird"), "has no query 'bird'"),
        (edit(2, "add", query_id=QUERY, kind="claim", text="So?"), "kind must be question, "),
        (edit(2, "add", query_id=QUERY, kind="nugget", text="No?", facet_id="f"), "no facet 'f'"),
    ],
}


def test_wrong_rows_are_named_and_change_nothing_derived(folder, items):
    assert item_id(QUERY, IN_FORCE) == items[6]
    before, planned = derived(folder), [plan(folder, version) for version in (0, 1)]
    for rows_of in WRONG.values():
        wrong = rows_of(items)
        write_edits(folder, edit(1, "drop", items[0]), *(row for row, _ in wrong))
        words = gradelake(folder, "build", code=2).stderr
        found = [line for line in words.splitlines() if ".csv: " in line]
        named = [line.split("rubric_edits.csv: ")[1] for line in found]
        expected = [(row, problem) for row, (_, problem) in enumerate(wrong, start=2) if problem]
        assert len(named) == len(expected)
        for line, (row, problem) in zip(named, expected, strict=True):
            assert line.startswith(f"row {row} ")
            assert problem in line
        assert "Fix these rows" in words
        assert "Traceback" not in words
        refused = gradelake(folder, "plan", "demo", code=2).stderr
        assert refused.splitlines()[1:] == words.splitlines()[-len(named) - 1 :], "not planned"
    assert derived(folder) == before, "nor derived"
    write_edits(folder, edit(1, "drop", items[0]))
    assert [plan(folder, version) for version in (0, 1)] == planned


def test_the_first_ten_wrong_rows_are_named_and_the_rest_counted(folder, items):
    wrong = [edit(2, "restore", item) for item in items[1:]]
    wrong += [edit(2, "drop", f"{QUERY}/{number}") for number in range(14 - len(wrong))]
    write_edits(folder, edit(1, "drop", items[0]), *wrong)
    words = gradelake(folder, "plan", "demo", code=2).stderr
    assert (words.count("rubric_edits.csv: row"), "and 4 more like these" in words) == (10, True)
