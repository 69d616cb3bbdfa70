"""Cells that hold lists are read alike in every form that knows none; what is none is a text."""

import csv
import io
import json

import polars as pl
import pytest

from gradelake.ingest.collections.responses import read_responses
from gradelake.ingest.mapping.columns import read_run
from gradelake.ingest.rag.log import read
from gradelake.ingest.reading.lists import list_of
from tests.ingest.conftest import report
from tests.projects import write

CUT = "begins like a list, and is none that can be read"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"it's\"]", ["a", "it's"]),
        ("['a' 'b']", ["a", "b"]),
        ("['a b'\n 'c, d' \"it's\"]", ["a b", "c, d", "it's"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("[{'t': 'x', 'n': 1}\n {'t': 'y'}]", [{"t": "x", "n": 1}, {"t": "y"}]),
        ("[['a' 'b'] ['c']]", [["a", "b"], ["c"]]),
        ("[]", []),
        ("[1 2]", [1, 2]),
        ("a", None),
        ("[1] says so", None),
        ("[sic]", None),
        ("['a' ... 'b']", ValueError),  # numpy prints no more of a long one
        ("['a', 'b", ValueError),
        ("['a' 'b'", ValueError),
        (r"['\ud800' 'b']", ValueError),
        ("['" + r"\'" * 100_000, ValueError),
        ("[" * 100_000, ValueError),
    ],
)
def test_a_list_is_what_a_program_wrote(cell, expected):
    if expected is ValueError:
        with pytest.raises(ValueError, match=CUT):
            list_of(cell)
    else:
        assert list_of(cell) == expected


def in_form(folder, form: str, row: dict) -> tuple:
    path = folder / f"v1.{form}"
    if form == "parquet":
        pl.DataFrame([row]).write_parquet(path)
    elif form == "jsonl":
        path.write_text(json.dumps(row))
    else:
        text = io.StringIO()
        csv.writer(text).writerows([row.keys(), row.values()])
        path.write_text(text.getvalue())
    return path, path.name


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("cell", "contexts"),
    [
        ("['a' 'b']", ["a", "b"]),
        ('[{"id": "7.0", "text": "a"}]', ["a"]),
        ("[1] is a mark", ["[1] is a mark"]),
        ("a|b", ["a|b"]),
    ],
)
def test_contexts_in_a_cell_are_a_list_and_in_json_a_text_is_a_text(tmp_path, form, cell, contexts):
    ((row,), _) = read(*in_form(tmp_path, form, {"question": "q", "contexts": cell, "answer": "x"}))
    assert [each.text for each in row.contexts] == ([cell] if form == "jsonl" else contexts)


def test_an_answer_in_a_cell_is_what_it_is_in_json(tmp_path):
    parts = [{"text": "Air.", "citations": [0]}, {"text": "Sun.", "citations": [1]}]
    asked = {"question": "q", "contexts": '["a", "b"]'}
    for answer, expected in (
        (json.dumps(parts), parts),
        (str(parts), parts),
        ("[1]", "[1]"),
        ('["go," she said', '["go," she said'),
    ):
        ((row,), _) = read(*in_form(tmp_path, "csv", asked | {"answer": answer}))
        assert row.answer == expected
    refusal = "v1.csv:2: the answer is neither a text nor a list of sentences with citations"
    assert refusal in report(read, in_form(tmp_path, "csv", asked | {"answer": "['a' 'b']"})[0])
    path, _ = in_form(tmp_path, "csv", {"query": "q", "answer": str(parts)})
    assert "text is missing, or is no text" in report(read_responses, path)


def test_bars_part_contexts_where_deepeval_wrote_them(tmp_path):
    theirs = ("input", "actual_output", "expected_output", "retrieval_context", "context")
    for context, expected in (
        ("a b|c", ["a b", "c"]),
        ('["a|b", "c"]', ["a|b", "c"]),
        ("a", ["a"]),
    ):
        row = dict(zip(theirs, ("q", "x", "y", context, "z"), strict=True))
        ((found,), _) = read(*in_form(tmp_path, "csv", row))
        assert [each.text for each in found.contexts] == expected


def test_a_list_that_was_cut_off_is_refused_with_its_row(tmp_path):
    row = {"question": "q", "contexts": "['a', 'b", "answer": "x"}
    assert f"v1.csv:2: contexts: {CUT}" in report(read, in_form(tmp_path, "csv", row)[0])


def test_a_ranking_in_a_cell_is_a_list_too(tmp_path):
    for cell in ('["p2", "p1"]', "['p2' 'p1']"):
        frame = read_run(*in_form(tmp_path, "csv", {"query": "q", "results": cell}))
        assert frame["passage_id"].to_list() == ["p2", "p1"]
    path = write(tmp_path / "run.jsonl", [{"query": "q", "passage": "[1]", "rank": 1}])
    assert read_run(path, path.name)["passage_id"].to_list() == ["[1]"]
