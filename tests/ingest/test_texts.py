"""Reading topics, passages, official ranks and near-duplicate clusters."""

import json

import pytest

from gradelake.ingest.collections.texts import (
    read_near_duplicates,
    read_official_ranks,
    read_passages,
    read_queries,
)
from tests.ingest.conftest import report, write_file


def read(reader, path, content):
    write_file(path, content)
    return list(reader(path, path.name))


def json_lines(*objects) -> list[str]:
    return [json.dumps(each, ensure_ascii=False) for each in objects]


# --- topics -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["topics.tsv", "topics.tsv.gz", "topics.txt"])
def test_topics_are_read_from_tab_separated_lines(tmp_path, name):
    content = "\ufeff01\twhy is the sky blue\r\n\r\n1\t  wie heißt das?  \r\n"
    found = read(read_queries, tmp_path / name, content)
    assert [tuple(query) for query in found] == [
        ("01", "why is the sky blue", None, None, ()),
        ("1", "wie heißt das?", None, None, ()),
    ]


@pytest.mark.parametrize("name", ["topics.jsonl", "topics.jsonl.gz", "topics.ndjson"])
def test_topics_are_read_from_json_lines_with_description_and_narrative(tmp_path, name):
    lines = json_lines(
        {"query_id": "q1", "text": "sky", "description": "why", "narrative": "long"},
        {"query_id": 2, "text": " bees ", "description": "", "narrative": None},
    )
    found = read(read_queries, tmp_path / name, lines)
    assert [tuple(query) for query in found] == [
        ("q1", "sky", "why", "long", ()),
        ("2", "bees", None, None, ()),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"qid": "q1", "query": "sky"},
        {"id": "q1", "query_text": "sky"},
        {"_id": "q1", "text": "sky", "metadata": {}},
        {"topic_id": "q1", "title": "sky"},
        {"narrative_id": "q1", "title": "sky"},
    ],
)
def test_topics_may_use_the_names_other_formats_have(tmp_path, row):
    (query,) = read(read_queries, tmp_path / "topics.jsonl", json_lines(row))
    assert (query.query_id, query.text) == ("q1", "sky")


def test_a_trec_rag_request_gives_title_problem_and_background(tmp_path):
    request = {"request_id": "7", "title": "sky", "problem_statement": "p", "background": "b"}
    (query,) = read(read_queries, tmp_path / "topics.jsonl", json_lines(request))
    assert tuple(query) == ("7", "sky", "p", "b", ())


@pytest.mark.parametrize(
    ("subtopics", "facets"),
    [
        (["dance", " sun & sky "], [("dance", "dance"), ("sun%20%26%20sky", "sun & sky")]),
        ([{"id": 7, "text": "dance"}], [("7", "dance")]),
        ([{"subtopic_id": "a/b", "subtopic": "dance"}], [("a/b", "dance")]),
        ([], []),
        (None, []),
    ],
)
def test_subtopics_are_texts_or_objects_with_id_and_text(tmp_path, subtopics, facets):
    row = {"query_id": "q1", "text": "bees", "subtopics": subtopics}
    (query,) = read(read_queries, tmp_path / "topics.jsonl", json_lines(row))
    assert [tuple(facet) for facet in query.facets] == facets


@pytest.mark.parametrize(
    ("subtopics", "wrong"),
    [
        ("dance", "subtopics are not a list of texts, or of objects with id and text"),
        ({"id": "a", "text": "dance"}, "subtopics are not a list of texts"),
        (["dance", " "], "subtopic 2 is without an id or without a text"),
        ([["dance"]], "subtopic 1 is without an id or without a text"),
        ([{"text": "dance"}], "subtopic 1 is without an id or without a text"),
        ([{"id": "a b", "text": "dance"}], "subtopic id 'a b' holds a space"),
        (["dance", "sun", "dance"], "subtopic 'dance' is listed twice"),
    ],
)
def test_malformed_subtopics_are_refused_by_line(tmp_path, subtopics, wrong):
    good, bad = ({"query_id": "q", "text": "x"}, {"query_id": "r", "text": "y"})
    lines = json_lines(good, bad | {"subtopics": subtopics})
    file = write_file(tmp_path / "topics.jsonl", lines)
    assert f"topics.jsonl:2: {wrong}" in report(read_queries, file)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("q1\tsky\nq2 bees\n", "topics.tsv:2: no TAB between the query's id and its text"),
        ("q1\tsky\n\nq2\t\n", "topics.tsv:3: a query without an id or without a text"),
        ("\tsky\n", "topics.tsv:1: a query without an id or without a text"),
        ("q1\tsky\nq2\tbees\nq1\tsea\n", "topics.tsv:3: query 'q1' is listed twice (first on "),
        ("q1\tsky\nq 2\tbees\n", "topics.tsv:2: query id 'q 2' holds a space"),
        ("q1\tsky\tblue\n", "topics.tsv:1: 3 columns instead of 2"),
    ],
)
def test_a_faulty_topic_is_rejected_by_line(tmp_path, content, wrong):
    file = write_file(tmp_path / "topics.tsv", content)
    said = report(read_queries, file)
    assert wrong in said
    assert "what to do: Each query needs an id of its own and a text: on a line, with a TAB" in said


def test_topics_of_trecs_own_form_are_refused_with_the_forms_that_are_read(tmp_path):
    for text in ("<top>\n<num> Number: 1\n</top>\n", '\n<?xml version="1.0"?>\n<topics>\n'):
        said = report(read_queries, write_file(tmp_path / "topics.txt", text))
        assert said.startswith("topics.txt:1: looks like XML; topics are not read from XML\n")
        assert '{"query_id": ..., "text": ...}' in said
    marked_up = write_file(tmp_path / "topics.tsv", "<q>\t<b>sky</b>\n")
    assert read_queries(marked_up, "topics.tsv") == [("<q>", "<b>sky</b>", None, None, ())]


# --- passages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["passages.tsv", "passages.tsv.gz"])
def test_passages_are_read_from_tab_separated_lines(tmp_path, name):
    content = "01\tOne.\r\n\n1\t Two\tcells. \n"
    found = read(read_passages, tmp_path / name, content)
    assert [tuple(passage) for passage in found] == [("01", "One."), ("1", "Two\tcells.")]


@pytest.mark.parametrize("name", ["passages.jsonl", "passages.jsonl.gz"])
def test_passages_are_read_from_json_lines(tmp_path, name):
    lines = json_lines(
        {"passage_id": "01", "text": "Ein Weiß\nmit Zeilen."}, {"pid": 1, "text": "b"}
    )
    found = read(read_passages, tmp_path / name, lines)
    assert [tuple(passage) for passage in found] == [("01", "Ein Weiß\nmit Zeilen."), ("1", "b")]


@pytest.mark.parametrize(
    "row",
    [
        {"docid": "p1", "text": "words"},
        {"doc_id": "p1", "contents": "words"},
        {"pid": "p1", "passage": "words"},
        {"id": "p1", "segment": "words"},
        {"_id": "p1", "body": "words", "title": ""},
        {"paragraph_id": "p1", "text": "words"},
        {"docid": "p1", "doc": "words"},
    ],
)
def test_passages_may_use_the_names_other_formats_have(tmp_path, row):
    assert read(read_passages, tmp_path / "p.jsonl", json_lines(row)) == [("p1", "words")]


def test_a_passages_title_stands_before_its_text(tmp_path):
    lines = json_lines({"_id": "p1", "title": "Bees", "text": "They dance."})
    assert read(read_passages, tmp_path / "p.jsonl", lines) == [("p1", "Bees\nThey dance.")]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('{"passage_id": "p1", "text": "again"}', "passage 'p1' is listed twice (first on line 1)"),
        ('{"passage_id": "p2"}', "a passage without an id or without a text"),
        ('{"passage_id": "p2", "text": ["no"]}', "a passage without an id or without a text"),
        ('{"passage_id": true, "text": "x"}', "a passage without an id or without a text"),
        ('{"passage_id": "p2", "text": "x"', "not JSON: Expecting ',' delimiter at column 33"),
        ('["p2", "x"]', "a JSON list, not an object"),
        ('{"passage_id": "p2", "text": "\\ud800"}', "half a character"),
        ('{"passage_id": ' + "9" * 5000 + ', "text": "x"}', "not JSON that can be read"),
        ('{"passage_id": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    ],
)
def test_a_faulty_passage_is_rejected_by_line(tmp_path, line, wrong):
    file = write_file(tmp_path / "p.jsonl", ['{"passage_id": "p1", "text": "x"}', "", line])
    said = report(read_passages, file)
    assert said.startswith("p.jsonl:3: ")
    assert wrong in said
    assert len(said) < 500


def test_a_passage_line_without_a_tab_is_rejected_by_line(tmp_path):
    file = write_file(tmp_path / "p.tsv", ["p1\tx", "p2 y"])
    assert report(read_passages, file).startswith("p.tsv:2: no TAB between the passage's id and")


# --- official ranks -----------------------------------------------------------------------------


def test_official_ranks_are_read_from_json(tmp_path):
    content = json.dumps({"b": 2, "a": 1.0, "c": "3"})
    found = read(read_official_ranks, tmp_path / "ranks.json", content)
    assert sorted(found) == [("a", 1.0, None), ("b", 2.0, None), ("c", 3.0, None)]


@pytest.mark.parametrize("header", [[], ["system\trank\tscore"]])
def test_official_ranks_are_read_from_lines_with_or_without_a_header(tmp_path, header):
    lines = [*header, "a\t1\t0.75", "b\t2", "c 3 -0.5"]
    found = read(read_official_ranks, tmp_path / "ranks.tsv.gz", lines)
    assert found == [("a", 1.0, 0.75), ("b", 2.0, None), ("c", 3.0, -0.5)]


@pytest.mark.parametrize("given", [[1, 2, 2, 4], [1, 2.5, 2.5, 4], [1, 3, 3, 4], [10, 20, 20, 21]])
def test_tied_systems_share_the_average_rank(tmp_path, given):
    content = json.dumps(dict(zip("abcd", given, strict=True)))
    found = read(read_official_ranks, tmp_path / "ranks.json", content)
    assert [rank for _, rank, _ in found] == [1.0, 2.5, 2.5, 4.0]


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        (
            "r.tsv",
            "a 1\nb first\n",
            "r.tsv:2: system 'b': rank 'first' is not a number of at least 1",
        ),
        ("r.tsv", "a 1\nb 0\n", "r.tsv:2: system 'b': rank '0' is not a number of at least 1"),
        ("r.tsv", "a 1\nb nan\n", "r.tsv:2: system 'b': rank 'nan' is not a number"),
        ("r.tsv", "a 1\nb inf\n", "r.tsv:2: system 'b': rank 'inf' is not a number"),
        ("r.tsv", "a 1\na 2\n", "r.tsv:2: system 'a' is listed twice"),
        ("r.tsv", "a 1 0.5\nb 2 good\n", "r.tsv:2: system 'b': score 'good' is not a number"),
        ("r.tsv", "a 1\n\nb\n", "r.tsv:3: 1 column instead of 2 or 3"),
        ("r.json", '{"a": 1, "a": 2}', "r.json: system 'a' is listed twice"),
        ("r.json", '{"a": true}', "r.json: system 'a': rank True is not a number of at least 1"),
        ("r.json", '{"a": null}', "r.json: system 'a': rank None is not a number of at least 1"),
        ("r.json", '{"a": [1]}', "r.json: system 'a': rank [1] is not a number of at least 1"),
        ("r.json", '{"a": 1' + "0" * 400 + "}", "is not a number of at least 1"),
        ("r.json", '{"a": 1' + "0" * 5000 + "}", "r.json: Exceeds the limit (4300 digits)"),
        ("r.json", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "r.json: nested too deeply"),
        ("r.json", '{"\\udc00": 1}', "r.json: half a character"),
        ("r.json", '{"a": 1,\n"b" 2}', "r.json:2: not JSON: Expecting ':' delimiter"),
        ("r.json", '["a", "b"]', "r.json:1: not a JSON object"),
        ("r.json", '{"": 1}', "r.json: a system without a name"),
    ],
)
def test_faulty_ranks_are_rejected(tmp_path, name, content, wrong):
    said = report(read_official_ranks, write_file(tmp_path / name, content))
    assert wrong in said
    assert 'what to do: Give {"system": rank, ...}, or lines of: system TAB rank.' in said
    assert len(said) < 1000


# --- near-duplicates ----------------------------------------------------------------------------


def test_near_duplicates_point_to_the_first_passage_of_their_line(tmp_path):
    lines = ["p1\tp2 p3", "", "p7  p4"]
    found = read(read_near_duplicates, tmp_path / "clusters.tsv", lines)
    assert found == [("p2", "p1"), ("p3", "p1"), ("p4", "p7")]


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["p1 p2", "p3"], "c.tsv:2: a cluster of one: 'p3'"),
        (["p1 p2", "p3 p2"], "c.tsv:2: passage 'p2' is also on line 1"),
        (["p1 p2", "p2 p3"], "c.tsv:2: passage 'p2' is also on line 1"),
        (["p1 p1"], "c.tsv:1: passage 'p1' is also on line 1"),
    ],
)
def test_a_passage_belongs_to_one_cluster(tmp_path, lines, wrong):
    said = report(read_near_duplicates, write_file(tmp_path / "c.tsv", lines))
    assert said.startswith(wrong)
    assert "what to do: One cluster a line: the canonical passage id, then its duplicates." in said


def test_a_header_that_names_the_columns_is_no_row(tmp_path):
    topics = write_file(tmp_path / "topics.tsv", ["query_id\ttext", "q1\twhy is the sky blue"])
    assert [query.query_id for query in read_queries(topics, "topics.tsv")] == ["q1"]
    passages = write_file(tmp_path / "passages.tsv", ["pid\tpassage", "p1\tThe sky."])
    assert [passage.doc_id for passage in read_passages(passages, "p.tsv")] == ["p1"]


def test_a_null_byte_is_refused_by_line(tmp_path):
    path = write_file(tmp_path / "topics.tsv", b"q1\tfine\nq2\tnot\0fine\n")
    assert "topics.tsv:2: holds a null byte" in report(read_queries, path)


# --- lines without anything to see ----------------------------------------------------------------


def test_a_line_of_blanks_beyond_ascii_is_a_blank_line(tmp_path):
    pairs = read(read_near_duplicates, tmp_path / "c.tsv", "p1 p2\n\u3000\x1c\n\xa0\n")
    assert pairs == [("p2", "p1")]
    topics = read(read_queries, tmp_path / "t.tsv", "\u2028\nq1\tsky\n")
    assert [query.query_id for query in topics] == ["q1"]


@pytest.mark.parametrize("content", ["\x1c\n\u3000", "\ufeff \xa0", "\r\r"])
def test_a_file_of_such_lines_is_empty(tmp_path, content):
    file = write_file(tmp_path / "t.tsv", content)
    for reader in (read_queries, read_passages, read_official_ranks, read_near_duplicates):
        assert report(reader, file).startswith("t.tsv: the file is empty\n  what to do: ")


def test_a_header_alone_is_not_a_collection_of_nothing(tmp_path):
    file = write_file(tmp_path / "t.tsv", ["query_id\ttext"])
    assert report(read_queries, file).startswith("t.tsv: holds no topics, only a header")
    file = write_file(tmp_path / "p.tsv", ["docid\ttext"])
    assert report(read_passages, file).startswith("p.tsv: holds no passages, only a header")
