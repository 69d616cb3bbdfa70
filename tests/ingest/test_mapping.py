"""What settings say of a file: where its rows are, which are meant, what words mean."""

import json

import pytest

from gradelake.ingest.mapping.columns import mapped, read_clicks, read_judgments, read_run
from gradelake.ingest.mapping.form import File
from gradelake.ingest.mapping.paths import nested, value_at
from gradelake.ingest.reading.rows import rows_of
from gradelake.sql.common.problems import Problems, Rejected
from tests.projects import write


def rows(path, kind, **said):
    shown = File(path.name, said)
    problems = Problems(path.name, "")
    found = [row for _, row in mapped(kind, path, shown, rows_of(path, shown, problems), problems)]
    problems.raise_if_any()
    return found


def judgments(path, **said):
    frame = read_judgments(path, File(path.name, said))
    return frame.select("rater", "query_id", "passage_id", "relevance").rows()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("inputs.question", "why"),
        ("Inputs.QUESTION", "why"),
        ("spans[].documents[].text", ["a", "b", "c"]),
        ("spans[0].documents[-1].text", "b"),
        ("metadata.run.id", 7),  # a key with a dot in it
        ("told.answer", "so"),  # a text that holds JSON
        ("nothing.there", None),
        ("spans[].nothing", []),
        ("Score [0-3]", 2),  # a column's name, not a path
    ],
)
def test_a_path_leads_into_nested_rows(path, found):
    row = {
        "inputs": {"question": "why"},
        "spans": [{"documents": [{"text": "a"}, {"text": "b"}]}, {"documents": [{"text": "c"}]}],
        "metadata": {"run.id": 7},
        "told": '{"answer": "so"}',
        "Score [0-3]": 2,
    }
    assert value_at(row, path) == found


def test_rows_are_found_inside_of_others_and_know_what_is_around_them():
    file = {"sets": [{"query": "q1", "ratings": [{"doc": "a"}, {"doc": "b"}]}, {"query": "q2"}]}
    found = [row for _, row in nested([(1, file)], "sets[].ratings[]")]
    assert [(value_at(row, "^.query"), row["doc"], value_at(row, "#")) for row in found] == [
        ("q1", "a", 1),
        ("q1", "b", 2),
    ]
    run = {"q1": {"a": 2.5, "b": 1}, "q2": {"a": 0}}
    found = [row for _, row in nested([(1, run)], "{}.{}")]
    assert [(value_at(row, "^.key"), row["key"], row["value"]) for row in found] == [
        ("q1", "a", 2.5),
        ("q1", "b", 1),
        ("q2", "a", 0),
    ]


def test_columns_are_compared_by_letters_and_digits(tmp_path):
    file = write(tmp_path / "a.csv", "Search Term,Doc ID,Doc Position\nbees,p1,2\nbees,p2,1\n")
    frame = read_run(file, File("a.csv", {"rank": "doc position"}))
    assert frame.select("query_id", "passage_id", "rank").rows() == [
        ("bees", "p1", 2),
        ("bees", "p2", 1),
    ]


def test_an_object_of_objects_is_a_run_or_judgments(tmp_path):
    run = {"q1": {"p1": 0.5, "p2": 0.25}}
    said = {"rows": "{}.{}", "query": "^.key", "passage": "key"}
    for text in (json.dumps(run), json.dumps(run, indent=2)):
        file = write(tmp_path / "run.json", text)
        frame = read_run(file, File("run.json", {**said, "score": "value"}))
        assert frame.select("query_id", "passage_id", "score").rows() == [
            ("q1", "p1", 0.5),
            ("q1", "p2", 0.25),
        ]
    file = write(tmp_path / "qrels.json", json.dumps({"q1": {"p1": 2}}))
    assert judgments(file, judgment="value", **said) == [(None, "q1", "p1", 2)]


def test_words_and_fractions_are_judgments_by_what_settings_say_alone(tmp_path):
    file = write(tmp_path / "j.csv", "query,doc,label,score\nq1,p1,Perfect,0.67\nq1,p2,bad,0.2\n")
    known = judgments(file, judgment="label", labels={"perfect": 3, "Bad": 0})
    assert [row[-1] for row in known] == [3, 0]
    assert [row[-1] for row in judgments(file, judgment="score", cuts=[0.25, 0.5])] == [2, 0]
    with pytest.raises(Rejected) as words:
        judgments(file, judgment="label")
    assert words.value.total == 2
    assert "labels = { Perfect = ..., bad = ... }" in words.value.hint
    with pytest.raises(Rejected) as fractions:
        judgments(file, judgment="score")
    assert "cuts = [0.5]" in fractions.value.hint
    with pytest.raises(Rejected, match="'bad' is not in labels"):
        judgments(file, judgment="label", labels={"Perfect": 3})


def test_a_column_may_hold_the_judgments_of_one_rater(tmp_path):
    file = write(tmp_path / "j.csv", "query,doc,Ann,Bob\nq1,p1,3,\nq1,p2,0,1\n")
    assert judgments(file, judgment=("Ann", "Bob")) == [
        ("Ann", "q1", "p1", 3),
        ("Bob", "q1", "p1", None),
        ("Ann", "q1", "p2", 0),
        ("Bob", "q1", "p2", 1),
    ]
    with pytest.raises(Rejected, match="no column 'Cy'"):
        judgments(file, judgment=("Ann", "Cy"))


def test_only_some_rows_may_be_meant(tmp_path):
    file = write(tmp_path / "j.csv", "query,doc,label,split\nq1,p1,3,Test\nq2,p1,0,train\n")
    assert judgments(file, only={"split": "test"}) == [(None, "q1", "p1", 3)]
    assert len(judgments(file, only={"split": ["test", "train"]})) == 2


@pytest.mark.parametrize("mark", ["\t", " ", ","])
def test_a_table_without_a_header_has_its_columns_named(tmp_path, mark):
    file = write(tmp_path / "run.tsv", f"q1{mark}p1{mark}1\nq1{mark}p2{mark}2\n")
    frame = read_run(file, File("run.tsv", {"columns": ("query", "passage", "rank")}))
    assert frame.select("query_id", "passage_id", "rank", "line").rows() == [
        ("q1", "p1", 1, 1),
        ("q1", "p2", 2, 2),
    ]


def test_quotes_of_a_headerless_table_are_text(tmp_path):
    file = write(tmp_path / "top.tsv", 'q1\tp1\twhat?\t"Bees" dance\n')
    columns = ("qid", "pid", "query", "passage")
    said = {"columns": columns, "passage": "pid", "text": "passage"}
    assert rows(file, "passages", **said) == [{"passage": "p1", "text": '"Bees" dance'}]


def test_a_list_beside_another_is_read_at_the_same_place():
    row = {"labels": [3, 1], "raters": ["ann", "bob"]}
    found = [row for _, row in nested([(1, row)], "labels[]")]
    assert [(row["value"], value_at(row, "^.raters[#]")) for row in found] == [
        (3, "ann"),
        (1, "bob"),
    ]


def test_lines_are_read_by_a_pattern(tmp_path):
    path = write(tmp_path / "ltr.txt", "3 qid:1 # b1 tent\n\n0 qid:1 # b2\nnothing\n")
    pattern = r"(?P<judgment>\d)\s+qid:(?P<query>\d+)\s+#\s+(?P<passage>\S+).*"
    with pytest.raises(Rejected, match=r"ltr\.txt:4: does not look like "):
        read_judgments(path, File("ltr.txt", {"lines": pattern}))
    path.write_text(path.read_text().replace("nothing\n", ""))
    found = read_judgments(path, File("ltr.txt", {"lines": pattern}))
    assert found.select("query_id", "passage_id", "relevance", "line").rows() == [
        ("1", "b1", 3, 1),
        ("1", "b2", 0, 3),
    ]


def test_rows_may_end_early_where_settings_say_so(tmp_path):
    path = write(tmp_path / "a.csv", "query,doc,rating\ntent,b1,2\nlamp\n")
    with pytest.raises(Rejected, match=r"a\.csv:3: 1 cell instead of 3"):
        read_judgments(path, "a.csv")
    assert read_judgments(path, File("a.csv", {"short_rows": True})).height == 1


def test_events_are_counted_where_they_happened(tmp_path):
    events = [("view", 1, "a"), ("view", 2, "b"), ("click", 2, "b"), ("purchase", 2, "b")]
    rows = [
        {"action": action, "q": "tent", "doc": doc, "position": position}
        for action, position, doc in [*events, ("click", 3, "c"), ("click", 3, "c")]
    ]
    path = write(tmp_path / "events.jsonl", rows)
    found = read_clicks(path, File("events.jsonl", {"event": "action", "query": "q"}))
    counted = found.select("passage_id", "n_impressions", "n_clicks").rows()
    assert counted == [("a", 1, 0), ("b", 1, 1), ("c", 2, 2)]
