"""Decimal commas: a whole column says what its commas are, or nobody does."""

import re

import pytest

from gradelake.ingest.mapping.columns import read_judgments, read_run
from gradelake.ingest.mapping.numbers import decimal_mark, number_of
from gradelake.sql.common.noting import listening
from gradelake.sql.common.problems import Rejected

COLUMNS = [
    (["1", "2", " 30 "], [1, 2, 30]),
    (["0.75", "1e-3", "-2"], [0.75, 0.001, -2]),
    (["0,75", "1", ""], [0.75, 1, None]),
    (["12,5", "1.234,5"], [12.5, 1234.5]),
    (["1,234", "1,234.5"], [1234, 1234.5]),
    (["1,234", "0,5"], [1.234, 0.5]),  # a cell that can be nothing else settles the others
    (["1,234", "0.5"], [1234, 0.5]),
    (["3,0", "2,0"], [3, 2]),
    (["1,234,567"], [1234567]),
    (["1.234"], [1.234]),  # without commas a point is a point
    (["1.234.567"], [1234567]),
    (["-0,5", "+1,5"], [-0.5, 1.5]),
    ([",5", "1,"], [0.5, 1]),
    ([], []),
]


def numbers(cells: list[str]) -> list[float | None]:
    """What a column says; a cell that is none is none."""
    mark = decimal_mark(cells)
    return [number_of(cell, mark) for cell in cells]


@pytest.mark.parametrize(("cells", "expected"), COLUMNS)
def test_a_column_of_numbers(cells, expected):
    assert numbers(cells) == expected


REFUSED = [
    (["1,234", "5"], "'1,234' may be 1.234 or 1234"),
    (["10,500", "2,250"], "'10,500' may be 10.500 or 10500"),
    (["0,75", "0.5"], "'0,75' has a decimal comma and '0.5' a decimal point"),
]


@pytest.mark.parametrize(("cells", "message"), REFUSED)
def test_what_is_refused(cells, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        numbers(cells)


def test_cells_that_are_no_numbers_decide_nothing():
    assert numbers(["1.5", "n/a", "inf", "1,23,4", "."]) == [1.5, None, None, None, None]
    assert decimal_mark(["0,75", "unsure", "1.000.2"]) == ","
    assert decimal_mark(["unsure", "a,b"]) == "."
    assert number_of("unsure", ",") is None


def run(tmp_path, *scores: str):
    path = tmp_path / "run.csv"
    rows = [f"q1;d{number};{score}" for number, score in enumerate(scores)]
    path.write_text("\n".join(["query;doc;score", *rows]))
    return read_run(path, path.name)


def test_scores_of_a_table_may_have_decimal_commas(tmp_path):
    assert run(tmp_path, "3", "2,5", "1.000,5")["score"].to_list() == [3, 2.5, 1000.5]
    assert run(tmp_path, "0.5", "1,000.5")["score"].to_list() == [0.5, 1000.5]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (["1,500", "2,500"], "run.csv:2: score '1,500' may be 1.500 or 1500"),
        (["0.5", "0,75"], "run.csv:3: score '0,75' has a decimal comma and '0.5' a decimal point"),
        (["1.500", "0,75"], "run.csv:3: score '0,75' has a decimal comma and '1.500' a point"),
        (["0,75", "high, or so"], "run.csv:3: score 'high, or so' is not a number"),
    ],
)
def test_scores_that_nobody_can_tell_are_refused(tmp_path, scores, message):
    with pytest.raises(Rejected, match=re.escape(message)):
        run(tmp_path, *scores)


def test_judgments_may_be_three_comma_nought(tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("query;doc;rating\nq1;d1;3,0\nq1;d2;\nq1;d3;0,0\n")
    assert read_judgments(path, path.name)["relevance"].to_list() == [3, None, 0]


def test_it_is_said_what_commas_are_and_what_stands_above_a_header(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("Our run;;\nof May;;\nquery;doc;score\nq1;d1;0,75\nq1;d2;0,5\n")
    with listening() as heard:
        read_run(path, "run.csv")
    assert [*heard] == [
        "run.csv: 2 rows are above the header, and not read",
        "run.csv: commas of score are decimal",
    ]
    path.write_text("query;doc;score\nq1;d1;1\n")
    with listening() as heard:
        read_run(path, "run.csv")
    assert not heard
