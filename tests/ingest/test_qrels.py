"""Reading TREC qrels: each query and passage judged once, by a whole number."""

import pytest

from gradelake.ingest.collections.trec import read_qrels
from tests.ingest.conftest import report, write_file


def read(path):
    return read_qrels(path, path.name)


def rows(path) -> list[tuple]:
    """(query, passage, relevance, line) of every line."""
    return read(path)[0].rows()


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 p1 2\nq1 0 p2 -1\n",
        "q1\t0\tp1\t2\nq1\t0\tp2\t-1",
        "q1  0 p1\t2\r\nq1 0 p2   -1\r\n",
        "\ufeffq1 Q0 p1 +2\nq1 Q0 p2 -1 \n",
    ],
    ids=["spaces", "tabs", "mixed_crlf", "bom"],
)
def test_columns_may_be_separated_by_any_blanks(tmp_path, content):
    assert rows(write_file(tmp_path / "a.qrels", content)) == [
        ("q1", "p1", 2, 1),
        ("q1", "p2", -1, 2),
    ]
    assert len(rows(write_file(tmp_path / "a.qrels.gz", content))) == 2


def test_ids_that_look_like_numbers_stay_text(tmp_path):
    found = rows(write_file(tmp_path / "a.qrels", ["01 0 007 1", "1 0 7 2", "1 0 7.0 3"]))
    assert found == [("01", "007", 1, 1), ("1", "7", 2, 2), ("1", "7.0", 3, 3)]


@pytest.mark.parametrize("label", ["high", "1.0", "1e0", "", "--1", "nan", "0x1", "\uff19", "1_0"])
def test_a_label_that_is_no_whole_number_is_rejected_by_line(tmp_path, label):
    file = write_file(tmp_path / "a.qrels", f"q1\t0\tp1\t1\n\nq1\t0\tp2\t{label}\n")
    said = report(read_qrels, file)
    wrong = f"relevance {label!r} is not a whole number" if label else "3 columns instead of 4"
    assert said.startswith(f"a.qrels:3: {wrong}")


def test_a_label_too_large_for_the_lake_is_rejected_by_line(tmp_path):
    file = write_file(tmp_path / "a.qrels", ["q1 0 p1 999999999", "q1 0 p2 9999999999"])
    assert report(read_qrels, file).startswith("a.qrels:2: relevance '9999999999' is not a whole")


@pytest.mark.parametrize(("line", "columns"), [("q1 0 p2", 3), ("q1 0 p2 ", 3), ("q1 0 p 2 1", 5)])
def test_a_line_without_four_columns_is_rejected_by_line(tmp_path, line, columns):
    said = report(read_qrels, write_file(tmp_path / "a.qrels", ["q1 0 p1 1", line]))
    assert said.startswith(f"a.qrels:2: {columns} columns instead of 4")
    assert "query_id iteration passage_id relevance" in said


def test_identical_judgments_are_kept_once_and_counted(tmp_path):
    lines = ["q1 0 p1 1", "q1 0 p2 0", "q1 0 p1 1", "q1 1 p1 1", "q2 0 p1 3"]
    frame, repeated = read(write_file(tmp_path / "a.qrels", lines))
    assert frame.rows() == [("q1", "p1", 1, 1), ("q1", "p2", 0, 2), ("q2", "p1", 3, 5)]
    assert repeated == 2


def test_conflicting_judgments_are_rejected_naming_both_lines(tmp_path):
    lines = ["q1 0 p1 1", "q1 0 p2 0", "", "q1 0 p1 2", "q1 0 p1 1", "q1 0 p1 0"]
    said = report(read_qrels, write_file(tmp_path / "a.qrels", lines)).splitlines()
    assert said == [
        "a.qrels:4: query 'q1', passage 'p1' is judged 2 here and 1 on line 1",
        "a.qrels:6: query 'q1', passage 'p1' is judged 0 here and 1 on line 1",
        "  what to do: Keep one relevance for each query and passage.",
    ]
