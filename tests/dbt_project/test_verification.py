"""The verification lists between builds, and over versions of the rubric."""

import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.edits import edit, write_edits

pytestmark = pytest.mark.slow

PAIR = "collection, grader, rubric_version, query_id, passage_id, item_id"
LISTS = [
    "verify_grades",
    "grade_grid",
    "uncovered_passages",
    "spurious_items",
    "never_covered_items",
    "missing_grades",
    "disagreements",
]


@pytest.fixture(scope="module")
def edited(tmp_path_factory, graded_demo) -> tuple[Path, str, str]:
    """(folder, query, item): the graded demo, one of whose questions version 1 drops."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("verification") / "demo")
    with Lake.live(Project.find(folder)) as lake:
        query, item = lake.rows(
            "select query_id, item_id from lake.marts.spurious_items "
            "where grader = 'lexical' and tau = 2 and is_usual order by rate desc, item_id limit 1"
        )[0]
    write_edits(folder, edit(1, "drop", item))
    gradelake(folder, "build")
    return folder, query, item


def ask(folder: Path, entry: str, **parameters) -> list[dict]:
    options = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
    return json_of(folder, "sql", "--format", "json", f"@{entry}", *options)


def test_the_query_book_asks_about_the_newest_version_of_the_rubric(edited):
    folder, query, item = edited
    asked = {"grader": "lexical", "query_id": query, "tau": 2}
    newest = ask(folder, "spurious_items", **asked)
    first = ask(folder, "spurious_items", rubric_version=0, **asked)
    both = ask(folder, "spurious_items", rubric_version="any", **asked)
    assert {row["rubric_version"] for row in newest} == {1}
    assert {row["rubric_version"] for row in first} == {0}
    assert {row["item_id"] for row in first} - {row["item_id"] for row in newest} == {item}
    assert len(both) == len(first) + len(newest)


@pytest.mark.parametrize("entry", LISTS)
def test_every_list_knows_the_versions_of_the_rubric(edited, entry):
    folder, query, _ = edited
    asked = {"grader": "lexical", "query_id": query}
    newest, first, both = (
        ask(folder, entry, rubric_version=version, **asked) for version in ("newest", "0", "any")
    )
    assert len(both) == len(newest) + len(first)
    for name, why in (("9", "there is none"), ("newst", "a whole number is needed")):
        wrong = gradelake(folder, "sql", f"@{entry}", "--rubric_version", name, code=2)
        assert f"--rubric_version '{name}': {why}" in wrong.stderr


def test_a_dropped_item_leaves_the_grid_and_no_other_grade_changes(edited):
    folder, query, item = edited
    with Lake.published(Project.find(folder)) as lake:
        cells = "select {} from lake.marts.grade_grid where grader = 'lexical' and query_id = ? "
        before = lake.rows(
            cells.format("passage_id, item_id, grade") + "and rubric_version = 0", query
        )
        after = lake.rows(
            cells.format("passage_id, item_id, grade") + "and rubric_version = 1", query
        )
        labels = lake.rows(cells.format("distinct rubric_version, passage_id, label"), query)
        published = lake.rows(
            "select rubric_version, passage_id, label from lake.intermediate.int_rubric_labels "
            "where grader = 'lexical' and policy = 'best' and query_id = ?",
            query,
        )
    assert set(before) - set(after) == {cell for cell in before if cell[1] == item}
    assert set(after) < set(before)
    assert sorted(labels) == sorted(published)


def test_missing_and_failed_pairs_are_listed_as_soon_as_they_are_so(edited, tmp_path):
    folder = shutil.copytree(edited[0], tmp_path / "demo")
    listed = f"select {PAIR} from lake.marts.missing_grades where status = '{{}}'"
    with Lake.writer(Project.find(folder)) as lake:
        assert lake.value("select count(*) from lake.marts.missing_grades") == 0
        first, last = lake.rows(
            "select min(passage_id), max(passage_id) from lake.raw.grades where item_id != ''"
        )[0]
        count = "select count(*) from lake.raw.grades where item_id != '' and passage_id = ?"
        n_failed, n_deleted = lake.value(count, first), lake.value(count, last)
        with lake.transaction("test") as transaction:
            transaction.run(
                "update {lake}.raw.grades set grade = null, status = 'failed' "
                "where item_id != '' and passage_id = ?",
                first,
            )
            transaction.run(
                "delete from {lake}.raw.grades where item_id != '' and passage_id = ?", last
            )
        failed = lake.rows(listed.format("failed"))
        missing = lake.rows(listed.format("missing"))
        assert {row[:2] + row[3:] for row in failed} == set(
            lake.rows(
                "select collection, grader, query_id, passage_id, item_id "
                "from lake.marts.failed_grades"
            )
        )
        assert sorted(missing) == lake.rows(
            f"select {PAIR} from lake.marts.grading_backlog where item_id != '' order by all"
        )
    for rows, n in ((failed, n_failed), (missing, n_deleted)):
        assert len({row[:2] + row[3:] for row in rows}) == n > 0
