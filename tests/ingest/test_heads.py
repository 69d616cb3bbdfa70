"""Sheets as people keep them: titles and notes above the header, `sep=;`, comments."""

from pathlib import Path

import duckdb
import polars as pl
import pytest

from gradelake.ingest.reading.heads import CsvHead, head_of, header_at
from gradelake.ingest.reading.rows import rows_of
from gradelake.sql.common.problems import Problems, Rejected
from gradelake.sql.lake import extensions

MARKS = ",;\t|"
HEADS = [
    ("query,doc,rating\ntent,b1,2\n", CsvHead(",", 0)),
    ("query;doc;score\ntent;b1;2,5\nlamp;b2;1,5\n", CsvHead(";", 0)),
    ("sep=;\nquery;doc\ntent;b1\n", CsvHead(";", 1)),
    ("sep=;\nChecked in May;\nquery;doc\ntent;b1\n", CsvHead(";", 2)),
    ("Checked in May,,\nquery,doc,rating\ntent,b1,2\n", CsvHead(",", 1)),
    ("Checked in May\n\nby Ann\n\nquery,doc,rating\ntent,b1,2\n", CsvHead(",", 2)),
    ("Checked in May, by Ann\nquery,doc,rating\ntent,b1,2\n", CsvHead(",", 1)),
    ("Checked in May, by Ann\nquery;doc;rating\ntent;b1;2\n", CsvHead(";", 1)),
    ("# one\n# two, with a comma\nquery,doc,rating\ntent,b1,2\n", CsvHead(",", 2)),
    ("#query,doc,rating\ntent,b1,2\n", CsvHead(",", 0)),
    # no titles: a header of numbered rows, with a name twice, of two columns where five follow
    (",query,doc\n0,tent,b1\n1,lamp,b2\n", CsvHead(",", 0)),
    ("doc,doc,rating\ntent,b1,2\n", CsvHead(",", 0)),
    ("query,doc\ntent,b1,2,x,y\n", CsvHead(",", 0)),
    ("query;text\n1;tent, for two; or three\n", CsvHead(";", 0)),
    ("1,2,3\n4,5,6\n", CsvHead(",", 0)),
    ("text\ntent\nlamp\n", CsvHead(",", 0)),
    (",,,\n", CsvHead(",", 0)),
    ('query,doc\n"tent,b1\n', CsvHead(",", 0)),
    ("", CsvHead(",", 0)),
]


@pytest.mark.parametrize(("text", "head"), HEADS)
def test_where_a_header_is(text, head):
    assert head_of(text.encode(), MARKS) == head


def test_a_sheet_of_titles_alone_has_its_first_row_for_a_header():
    assert header_at([["a", "", ""], ["b", "", ""], ["c", "1", "2"]]) == 0
    assert header_at([]) == 0


def read(path: Path) -> list[tuple[int, dict]]:
    problems = Problems(path.name, "")
    found = [*rows_of(path, path.name, problems)]
    problems.raise_if_any()
    return found


def test_lines_are_counted_from_the_top(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "# notes\n\nChecked in May,,\n Query ,Doc,Rating\ntent,b1,2\n# Bob was ill\nlamp,b2,1\n"
    )
    assert read(path) == [
        (5, {"query": "tent", "doc": "b1", "rating": "2"}),
        (7, {"query": "lamp", "doc": "b2", "rating": "1"}),
    ]


def book(path: Path, rows: list[list[str | None]]) -> Path:
    with duckdb.connect() as connection:
        extensions.load(connection, "excel")
        names = [f"c{n}" for n in range(len(rows[0]))]
        connection.register("frame", pl.DataFrame(rows, schema=names, orient="row"))
        connection.execute(f"copy (from frame) to '{path}' (format xlsx)")
    return path


def test_a_workbook_is_read_as_far_as_its_cells_reach(tmp_path):
    rows = [
        ["Checked in May", None, None, None],
        [None] * 4,
        [" Query ", "Doc", "Ann", "Bob"],
        ["tent", "b1", "2", None],
        [None] * 4,
        ["lamp", "b2", None, "1"],
    ]
    assert read(book(tmp_path / "a.xlsx", rows)) == [
        (4, {"query": "tent", "doc": "b1", "ann": "2", "bob": None}),
        (6, {"query": "lamp", "doc": "b2", "ann": None, "bob": "1"}),
    ]


def test_a_wide_workbook_is_read_whole(tmp_path):
    names = ["query", "doc", *(f"rater {n}" for n in range(800))]
    rows = [names, ["tent", "b1", *(str(n) for n in range(800))]]
    ((line, row),) = read(book(tmp_path / "wide.xlsx", rows))
    assert (line, len(row), row["rater 799"]) == (2, 802, "799")


def test_a_gap_in_a_header_hides_no_column(tmp_path):
    rows = [["query", None, "doc"], ["tent", "old", "b1"]]
    assert read(book(tmp_path / "gap.xlsx", rows)) == [
        (2, {"query": "tent", "": "old", "doc": "b1"})
    ]


def test_a_workbook_that_names_a_column_twice_is_refused(tmp_path):
    path = book(tmp_path / "twice.xlsx", [["query", "Query"], ["tent", "b1"]])
    with pytest.raises(Rejected, match=r"twice\.xlsx:1: column query appears twice"):
        read(path)
