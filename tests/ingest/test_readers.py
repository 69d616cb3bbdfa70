"""The readers of a collection's files: every spelling people use, and every refusal by line."""

import bz2
import json
import lzma
import random
import struct
from io import BytesIO
from zipfile import ZipFile

import polars as pl
import pytest

from gradelake.ingest.collections import trec
from gradelake.ingest.collections.responses import read_responses
from gradelake.ingest.collections.texts import (
    read_near_duplicates,
    read_official_ranks,
    read_passages,
    read_queries,
    read_query_weights,
)
from gradelake.ingest.collections.trec import once_per_pair, read_run, system_name
from gradelake.sql.common.problems import Rejected
from tests.ingest.conftest import report
from tests.projects import write


def read(reader, path, content):
    """What a reader makes of a file."""
    return list(reader(write(path, content), path.name))


def read_qrels(path, shown) -> tuple[pl.DataFrame, int]:
    return once_per_pair(trec.read_qrels(path, shown), shown)


def run(path, content) -> pl.DataFrame:
    return pl.concat(read(read_run, path, content))


def tuples(found) -> list[tuple]:
    return [tuple(each) for each in found]


# --- what is refused ----------------------------------------------------------------------------

TOPIC, SUBTOPICS = {"query_id": "q", "text": "x"}, "subtopics are not a list of texts"
PASSAGE = '{"passage_id": "p1", "text": "x"}\n\n'
PLAIN = {"system": "s", "query_id": "q1", "text": "Words."}
TWICE = "judged 2 here and 1 on line 1"
DEEP = "[" * 100_000 + "]" * 100_000


def a_report(*sentences, **more) -> dict:
    """A TREC RAG report of (text, citations) sentences."""
    return {
        "metadata": {"team_id": "t", "run_id": "writer", "topic_id": "q1"},
        "responses": [{"text": text, "citations": cited} for text, cited in sentences],
    } | more


def with_subtopics(subtopics) -> list[dict]:
    return [TOPIC, TOPIC | {"query_id": "r", "subtopics": subtopics}]


# reader, what to do -> (file, content, line (None: of the whole), what is said)
REFUSED = {
    (read_run, "Fix these lines, or leave the run out"): [
        *(
            (
                "a.run",
                f"q1 Q0 p1 1 2.5 t\nq1 Q0 p2 2 {score} t\n",
                2,
                f"score {score!r} is not a finite number",
            )
            for score in (
                *("high", "nan", "-inf", "Infinity", "1e400", "1,5", "1_000", "0x10", "\uff11"),
            )
        ),
        *(
            (
                "a.run",
                f"q1 Q0 p1 1 3.4028234663852886e38 t\nq1 Q0 p2 2 {score} t",
                2,
                f"score {score!r} is not a finite 32-bit number",
            )
            for score in ("1e39", "-3.5e38", "1.7976931348623157e308")
        ),
    ],
    (read_run, "columns: query_id Q0 passage_id rank score tag"): [
        ("a.run", f"{first}{newline}{line}{newline}", 2, f"{n} column{'s' * (n > 1)} instead of 6")
        for first in ("q1 Q0 p1 1 2.5 t", "q1\tQ0\tp1\t1\t2.5\tt")
        for newline in ("\n", "\r\n")
        for line, n in (
            ("q1 Q0 p2 2 1.5", 5),
            ("q1 Q0 p2 2 1.5 ", 5),  # a blank at an end is no column
            (" q1 Q0 p2 2 1.5", 5),
            ("q1 Q0 p2 2 1.5 a b", 7),
            ("q1\tQ0\tp2\t2\t1.5\t", 5),
            ("q1,Q0,p2,2,1.5,t", 1),
        )
    ],
    (read_qrels, "A judgment is a whole number, the last of 4 columns (BEIR: of 3)."): [
        (
            "a.qrels",
            f"q1 0 p1 1\n\nq1\t0\tp2\t{label}\n",
            3,
            f"relevance {label!r} is not a whole number",
        )
        for label in ("high", "1.0", "1e0", "--1", "nan", "0x1", "\uff19", "1_0", "9999999999")
    ],
    (read_qrels, "columns: query_id iteration passage_id relevance"): [
        ("a.qrels", f"q1 0 p1 1\n{line}", 2, f"{n} columns instead of 4")
        for line, n in (("q1 0 p2", 3), ("q1 0 p2 ", 3), ("q1 0 p 2 1", 5))
    ],
    (read_qrels, "Keep one relevance for each query and passage."): [
        (
            "a.qrels",
            "q1 0 p1 1\nq1 0 p2 0\n\nq1 0 p1 2\nq1 0 p1 1\n",
            4,
            f"query 'q1', passage 'p1' is {TWICE}",
        )
    ],
    (read_queries, "Each query needs an id of its own and a text: on a line, with a TAB"): [
        ("t.tsv", "q1\tsky\nq2 bees\n", 2, "no TAB between the query's id and its text"),
        ("t.tsv", "q1\tsky\n\nq2\t\n", 3, "a query without an id or without a text"),
        ("t.tsv", "\tsky\n", 1, "a query without an id or without a text"),
        ("t.tsv", "q1\tsky\nq2\tbees\nq1\tsea\n", 3, "query 'q1' is listed twice (first on "),
        ("t.tsv", "q1\tsky\nq 2\tbees\n", 2, "query id 'q 2' holds a space"),
        ("t.tsv", "q1\tsky\tblue\n", 1, "3 columns instead of 2"),
        ("t.tsv", "query_id\ttext\n", None, "holds no topics, only a header"),
        ("t.json", '{"q1": "sky", "q2": "bees", "q1": "sea"}', 3, "query 'q1' is listed twice"),
        ("t.json", '{"q1": "sky", "q2": null}', 2, "a query without an id or without a text"),
        ("t.jsonl", with_subtopics("dance"), 2, SUBTOPICS),
        ("t.jsonl", with_subtopics({"id": "a", "text": "dance"}), 2, SUBTOPICS),
        ("t.jsonl", with_subtopics(["a", " "]), 2, "subtopic 2 is without an id or without a text"),
        ("t.jsonl", with_subtopics([["dance"]]), 2, "subtopic 1 is without an id or"),
        ("t.jsonl", with_subtopics([{"text": "dance"}]), 2, "subtopic 1 is without an id or"),
        (
            "t.jsonl",
            with_subtopics([{"id": "a b", "text": "x"}]),
            2,
            "subtopic id 'a b' holds a space",
        ),
        ("t.jsonl", with_subtopics(["a", "b", "a"]), 2, "subtopic 'a' is listed twice"),
    ],
    (read_passages, ""): [
        ("p.tsv", "p1\tx\np2 y\n", 2, "no TAB between the passage's id and"),
        ("p.tsv", "docid\ttext\n", None, "holds no passages, only a header"),
        *(
            ("p.jsonl", PASSAGE + line, 3, message)
            for line, message in (
                (
                    PASSAGE.replace('"x"', '"y"'),
                    "passage 'p1' is listed twice (first on line 1), with another text",
                ),
                ('{"passage_id": "p2"}', "a passage without a text: no field text, passage, con"),
                ('{"passage_id": true, "text": "x"}', "a passage without an id"),
                (
                    '{"passage_id": "p2", "text": "x"',
                    "not JSON: Expecting ',' delimiter at column 33",
                ),
                ('["p2", "x"]', "a JSON list, not an object"),
                ('{"passage_id": "p2", "text": "\\ud800"}', "half a character"),
                ('{"passage_id": ' + "9" * 5000 + ', "text": "x"}', "not JSON that can be read"),
                (f'{{"passage_id": {DEEP}}}', "nested too deeply"),
            )
        ),
    ],
    (read_official_ranks, 'Give {"system": rank, ...}, or lines of: system TAB rank.'): [
        *(
            (
                "r.tsv",
                f"a 1\nb {rank}\n",
                2,
                f"system 'b': rank {rank!r} is not a number of at least 1",
            )
            for rank in ("first", "0", "nan", "inf")
        ),
        ("r.tsv", "a 1\na 2\n", 2, "system 'a' is listed twice"),
        ("r.tsv", "a 1 0.5\nb 2 good\n", 2, "system 'b': score 'good' is not a number"),
        ("r.tsv", "a 1\n\nb\n", 3, "1 column instead of 2 or 3"),
        *(
            ("r.json", f'{{"a": {rank}}}', None, f"system 'a': rank {shown} is not a number of at")
            for rank, shown in (("true", True), ("null", None), ("[1]", [1]))
        ),
        ("r.json", '{"a": 1' + "0" * 400 + "}", None, "system 'a': rank 1000"),
        ("r.json", '{"a": 1' + "0" * 5000 + "}", None, "thousands of digits"),
        ("r.json", f'{{"a": {DEEP}}}', None, "nested too deeply"),
        ("r.json", '{"a": 1, "a": 2}', None, "system 'a' is listed twice"),
        ("r.json", '{"\\udc00": 1}', None, "half a character"),
        ("r.json", '{"a": 1,\n"b" 2}', 2, "not JSON: Expecting ':' delimiter"),
        ("r.json", '["a", "b"]', 1, "not a JSON object"),
        ("r.json", '{"": 1}', None, "a system without a name"),
    ],
    (read_query_weights, "It needs a column of queries, and at least one of weight, cluster"): [
        ("w.csv", "query_id,wait\nq1,2\n", None, "says nothing of weight"),
        ("w.csv", "who,weight\nq1,2\n", 2, "a query without an id"),
        *(
            ("w.csv", f"query_id,weight\nq1,{weight}\n", 2, f"weight '{weight}' is not a number")
            for weight in ("-1", "nan", "inf", "often")
        ),
        ("w.csv", "query_id,weight\nq1,1\nq1,2\n", 3, "query 'q1' is listed twice"),
    ],
    (read_near_duplicates, "One cluster a line: the canonical passage id, then its duplicates."): [
        ("c.tsv", "p1 p2\np3\n", 2, "a cluster of one: 'p3'"),
        ("c.tsv", "p1 p2\np3 p2\n", 2, "passage 'p2' is also on line 1"),
        ("c.tsv", "p1 p2\np2 p3\n", 2, "passage 'p2' is also on line 1"),
        ("c.tsv", "p1 p1\n", 1, "passage 'p1' is also on line 1"),
    ],
    (read_responses, 'Each line: {"system": ..., "query_id": ..., "text": ...}, or a TREC RAG'): [
        ("a.jsonl", [PLAIN | {"query_id": "q0"}, row], 2, message)
        for row, message in (
            (PLAIN | {"query_id": "q0"}, "system 's' answers query 'q0' twice (first on line 1)"),
            (PLAIN | {"system": ""}, "system is missing or empty"),
            (PLAIN | {"system": None}, "system is missing or empty"),
            (PLAIN | {"query_id": " "}, "query_id is missing or empty"),
            (PLAIN | {"query_id": 1.5}, "query_id is missing or empty"),
            (PLAIN | {"text": ["Words."]}, "text is missing, or is no text"),
            ({"system": "s", "query_id": "q1"}, "text is missing, or is no text"),
            ({"query_id": "q1"}, "system is missing or empty"),
            ({"metadata": "m"}, "metadata is not an object"),
            ({"metadata": {"run_id": "r"}}, "there is no topic_id or narrative_id"),
            (a_report(metadata={"topic_id": "q1"}), "run_id is missing or empty"),
            (a_report(responses=None), "neither responses nor answer holds a list of sentences"),
            (a_report(("Words.", []), metadata={"topic_id": "q1"}), "run_id is missing or empty"),
            (a_report(responses={"text": "x"}), "neither responses nor answer holds a list"),
            (a_report(responses=["x"]), "sentence 1 has no text"),
            (a_report(responses=[{"text": "x"}, {"text": 1}]), "sentence 2 has no text"),
            (a_report(("x", [2]), references=["a", "b"]), "sentence 1 cites reference 2, but"),
            (a_report(("x", [-1]), references=["a", "b"]), "sentence 1 cites reference -1, but"),
            (a_report(("x", [0])), "cites reference 0, but there are 0 (counted from 0)"),
            (a_report(("x", [0]), references=[{"id": "a"}]), "is not a document id"),
            (a_report(("x", [0]), references={"0": "a"}), "references is not a list"),
            (a_report(("x", [0]), references="abc"), "references is not a list"),
            (a_report(("x", [""])), "sentence 1: citation '' is not a document id"),
            (a_report(("x", [None])), "sentence 1: citation None is not a document id"),
            (a_report(("x", [True])), "sentence 1: citation True is not a document id"),
            (a_report(("x", "d1")), "sentence 1: citations are neither a list nor an object"),
            (a_report(("x", {"": 0.5})), "sentence 1: citation '' is not a document id"),
            (a_report(("x", {"d": "high"})), "confidence 'high' is not a finite number"),
            (a_report(("x", {"d": True})), "confidence True is not a finite number"),
            (a_report(("x", {"d": float("nan")})), "confidence nan is not a finite number"),
            (a_report(("x", {"d": 10**400})), "is not a finite number"),
        )
    ],
}


@pytest.mark.parametrize(
    ("reader", "advice"), REFUSED, ids=lambda value: getattr(value, "__name__", "")
)
def test_what_is_wrong_is_refused_by_line_with_what_to_do(tmp_path, reader, advice):
    for name, content, line, message in REFUSED[reader, advice]:  # type: ignore[attr-defined]
        shown = report(reader, write(tmp_path / name, content))
        where = f"{name}:{line}: " if line else f"{name}: "
        assert shown.startswith(where), (content, shown)
        assert message in shown.splitlines()[0], (content, shown)
        assert "\n  what to do: " in shown
        assert advice in shown
        assert len(shown) < 1000


def test_all_that_is_wrong_with_a_file_is_told_together(tmp_path):
    rows = [PLAIN | {"text": 1}, PLAIN, PLAIN | {"query_id": "q2"}, {}, {"metadata": 1}, PLAIN]
    told = report(read_responses, write(tmp_path / "a.jsonl", rows)).splitlines()
    places = ["a.jsonl:1", "a.jsonl:4", "a.jsonl:5", "a.jsonl:6", "  what to do"]
    assert [line.split(": ")[0] for line in told] == places
    scores = write(tmp_path / "a.run", [f"q1 Q0 p{n} 1 high t" for n in range(1, 41)])
    with pytest.raises(Rejected) as caught:
        list(read_run(scores, "a.run"))
    assert [problem.line for problem in caught.value.problems] == list(range(1, 11))
    assert caught.value.total == 40
    assert caught.value.lines()[10] == "a.run: and 30 more like these"


def test_lines_are_counted_whatever_ends_them_and_stands_before_them(tmp_path):
    for newline in ("\n", "\r\n"):
        for start in ("", "\ufeff", "\n\n"):
            for blank in (" ", "\t", "  "):
                good, bad = (blank.join(["q1", "Q0", "p", "1", s, "t"]) for s in ("2.5", "high"))
                file = write(tmp_path / "a.run", start + good + newline * 2 + bad)
                line = 3 + start.count("\n")
                assert report(read_run, file).startswith(f"a.run:{line}: score 'high' is not a")
    null = write(tmp_path / "topics.tsv", b"q1\tfine\nq2\tnot\0fine\n")
    assert "topics.tsv:2: holds a null byte" in report(read_queries, null)
    for content in ("\x1c\n\u3000", "\ufeff \xa0", "\r\r"):
        file = write(tmp_path / "t.tsv", content)
        for reader in (read_queries, read_passages, read_official_ranks, read_near_duplicates):
            assert report(reader, file).startswith("t.tsv: the file is empty\n  what to do: ")


def test_what_is_no_text_is_called_by_its_name(tmp_path):
    sheet = BytesIO()
    with ZipFile(sheet, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    for content, told in (
        (sheet.getvalue(), "is a spreadsheet (.xlsx) or another zip archive, not text"),
        (lzma.compress(b"q1 0 p1 1"), "is an xz file, not text"),
        (bz2.compress(b"q1 0 p1 1"), "is a bzip2 file, not text"),
    ):
        file = write(tmp_path / "a.qrels", content)
        assert report(read_qrels, file).startswith(f"a.qrels: {told}\n  what to do: ")


def test_a_title_is_the_text_where_there_is_no_other_and_empty_passages_stay_empty(tmp_path):
    rows = [
        {"_id": "p1", "title": "Bees", "text": "They dance."},
        {"_id": "p2", "title": "Bees", "text": ""},
        {"_id": "p3", "title": "Bees"},
        {"_id": "p4", "text": ""},
    ]
    assert tuples(read(read_passages, tmp_path / "p.jsonl", rows)) == [
        ("p1", "Bees\nThey dance."),
        ("p2", "Bees"),
        ("p3", "Bees"),
        ("p4", ""),
    ]


# --- runs and qrels -----------------------------------------------------------------------------


def test_qrels_may_have_the_columns_of_beir_or_of_tracks_that_judge_two_more_aspects(tmp_path):
    expected = [("q1", "p1", 2), ("q2", "p2", 0)]
    for content in (
        "q1 0 p1 2\nq2 0 p2 0\n",
        "query-id\tcorpus-id\tscore\nq1\tp1\t2\nq2\tp2\t0\n",
        "q1\tp1\t2\nq2\tp2\t0\n",
        "q1 0 p1 2 1 0\nq2 0 p2 0 -1 -1\n",
    ):
        found, _ = read_qrels(write(tmp_path / "a.qrels", content), "a.qrels")
        assert found.select("query_id", "passage_id", "relevance").rows() == expected
    a_run = write(tmp_path / "a.qrels", "q1 Q0 p1 1 2.5 bm25\n")
    assert "a.qrels:1: second aspect '2.5' is not a whole number" in report(read_qrels, a_run)


def test_columns_may_be_separated_by_any_blanks(tmp_path):
    expected = [("q1", "p1", 1, 2.5, 1), ("q1", "p2", 2, 1.5, 2), ("q2", "p1", 1, 0.5, 3)]
    plain = "q1 Q0 p1 1 2.5 t\nq1 Q0 p2 2 1.5 t\nq2 Q0 p1 1 0.5 t\n"
    for content in (
        plain,
        plain.rstrip(),
        f"\ufeff{plain}",
        plain.replace(" ", "\t"),
        plain.replace("\n", "\r\n"),
        "q1  Q0   p1 1 2.5 t\nq1 Q0 p2    2 1.5 t\nq2 Q0 p1 1 0.5  t\n",
        "q1 Q0\tp1 1 \t 2.5 t\nq1\tQ0 p2 2 1.5\tt\nq2 Q0 p1\t\t1 0.5 t\n",
        "  q1 Q0 p1 1 2.5 t\n\tq1 Q0 p2 2 1.5 t\nq2 Q0 p1 1 0.5 t\n",
        "q1 Q0 p1 1 2.5 t \nq1 Q0 p2 2 1.5 t\t\nq2 Q0 p1 1 0.5 t  \n",
    ):
        for name in ("a.run", "a.run.gz"):
            assert run(tmp_path / name, content).rows() == expected
    blank = "\n\nq1 Q0 p1 1 2.5 t\n \t \nq1 Q0 p2 2 1.5 t\n\n"
    assert run(tmp_path / "a.run", blank)["line"].to_list() == [3, 5]
    for content in (
        "q1 0 p1 2\nq1 0 p2 -1\n",
        "q1\t0\tp1\t2\nq1\t0\tp2\t-1",
        "q1  0 p1\t2\r\nq1 0 p2   -1\r\n",
        "\ufeffq1 Q0 p1 +2\nq1 Q0 p2 -1 \n",
    ):
        frame, _ = read(read_qrels, tmp_path / "a.qrels", content)
        assert frame.rows() == [("q1", "p1", 2, 1), ("q1", "p2", -1, 2)]


def test_any_file_reads_as_plain_splitting_at_blanks_would_read_it(tmp_path):
    """The fast road for regular files and the patient one for the rest cannot be told apart."""
    choose = random.Random(11)
    for _ in range(400):
        blanks = choose.choice([[" "], ["\t"], [" ", "\t", "  "]])
        ends = choose.choice(
            [["\n"], ["\r\n"], ["\n", "\r\n", "\n\n", " \n", "\n "], ["\n", "\r", "\n\n"]]
        )
        content = ""
        for n in range(choose.randint(1, 5)):
            cells = ["q1", "Q0", f"p{n}", str(n), "1.5", "t"]
            if choose.random() < 0.1:
                cells = cells[: choose.randint(1, 5)]
            content += "".join(cell + choose.choice(blanks) for cell in cells)
            content = content.rstrip(" \t") if choose.random() < 0.8 else content
            content += choose.choice(ends)
        lines = [(n, line.split()) for n, line in enumerate(content.split("\n"), start=1)]
        wrong = [n for n, cells in lines if len(cells) not in (0, 6)]
        if wrong:
            with pytest.raises(Rejected) as caught:
                run(tmp_path / "a.run", content)
            assert [problem.line for problem in caught.value.problems] == wrong, repr(content)
        else:
            expected = [(cells[2], n) for n, cells in lines if cells]
            found = run(tmp_path / "a.run", content).select("passage_id", "line")
            assert found.rows() == expected, repr(content)


def test_scores_equal_what_python_reads_to_the_last_bit(tmp_path):
    numbers = random.Random(7)
    texts = ["1e-3", "+1", ".5", "5.", "-2", "1E+2", "-.5e-1", "007", "1e-400", "-0"]
    while len(texts) < 900:
        (number,) = struct.unpack("<d", numbers.randbytes(8))
        if abs(number) < 1e38:  # NaN is not
            usual = numbers.gauss(0, 10)
            texts += [repr(number), f"{number:.17e}", f"{number:.40e}", f"{number:g}"]
            texts += [repr(usual), f"{usual:.6f}", f"{usual:.30f}", f"{usual:+.3E}"]
    lines = [f"q1 Q0 p{n} {n} {text} t" for n, text in enumerate(texts)]
    scores = run(tmp_path / "a.run", lines)["score"].to_list()
    assert scores == [float(text) for text in texts]


def test_ids_stay_text_whatever_they_look_like(tmp_path):
    ids = ["01", "1", "1e1", "007", "7.0", "NA", "null", "NULL", '"a"', 'b"c', "#x", "N/A"]
    ids += ["straße", "日本語", "emoji🐝", "a\u00a0b", "ü", "u\u0308"]
    for blank in (" ", "  "):
        lines = [f"{name} Q0 {name} 1 1 t".replace(" ", blank) for name in ids]
        frame = run(tmp_path / "a.run", lines)
        assert frame["query_id"].to_list() == frame["passage_id"].to_list() == ids
    frame, _ = read(read_qrels, tmp_path / "a.qrels", [f"{name} 0 {name} 1" for name in ids])
    assert frame["query_id"].to_list() == frame["passage_id"].to_list() == ids


def test_ranks_and_tags_are_read_as_far_as_they_can_be(tmp_path):
    lines = ["q1 Q0 p1 first 3 t", "q1 Q0 p2 2 2 t", "q1 Q0 p3 3.0 1 t"]
    assert run(tmp_path / "a.run", lines)["rank"].to_list() == [None, 2, None]
    for tag in ("bm25", "owner/model", "日本", "v1.2(final)", "it's", 'say"so"', "a\\b", "<b>"):
        assert run(tmp_path / "a.run", [f"q1 Q0 p1 1 2.5 {tag}"]).height == 1


def test_identical_judgments_are_kept_once_and_counted(tmp_path):
    lines = ["q1 0 p1 1", "q1 0 p2 0", "q1 0 p1 1", "q1 1 p1 1", "q2 0 p1 3"]
    frame, repeated = read(read_qrels, tmp_path / "a.qrels.gz", lines)
    assert frame.rows() == [("q1", "p1", 1, 1), ("q1", "p2", 0, 2), ("q2", "p1", 3, 5)]
    assert repeated == 2


def test_a_system_is_named_by_its_file_without_endings(tmp_path):
    for file in ("bm25.run", "bm25.run.gz", "bm25.txt", "bm25.trec.gz", "bm25.gz", "bm25"):
        assert system_name(tmp_path / file) == "bm25"
    for file, system in (
        ("input.bm25", "input.bm25"),
        ("v1.2.run", "v1.2"),
        ("bm25.run.run", "bm25.run"),
        ("run", "run"),
        (".run", ""),
    ):
        assert system_name(tmp_path / file) == system


# --- topics, passages, ranks, near-duplicates ---------------------------------------------------


def test_topics_are_read_from_lines_and_from_json_by_the_names_that_other_formats_have(tmp_path):
    content = "\ufeff01\twhy is the sky blue\r\n\r\n1\t  wie heißt das?  \r\n"
    for name in ("topics.tsv", "topics.tsv.gz", "topics.txt"):
        assert [q[:5] for q in read(read_queries, tmp_path / name, content)] == [
            ("01", "why is the sky blue", None, None, ()),
            ("1", "wie heißt das?", None, None, ()),
        ]
    lines = [
        {"query_id": "q1", "text": "sky", "description": "why", "narrative": "long"},
        {"query_id": 2, "text": " bees ", "description": "", "narrative": None},
        {"request_id": "7", "title": "sky", "problem_statement": "p", "background": "b"},
    ]
    for name in ("topics.jsonl", "topics.jsonl.gz", "topics.ndjson"):
        assert [q[:5] for q in read(read_queries, tmp_path / name, lines)] == [
            ("q1", "sky", "why", "long", ()),
            ("2", "bees", None, None, ()),
            ("7", "sky", "p", "b", ()),
        ]
    for row in (
        {"qid": "q1", "query": "sky"},
        {"id": "q1", "query_text": "sky"},
        {"_id": "q1", "text": "sky", "metadata": {}},
        {"topic_id": "q1", "title": "sky"},
        {"narrative_id": "q1", "title": "sky"},
    ):
        (query,) = read(read_queries, tmp_path / "topics.jsonl", [row])
        assert (query.query_id, query.text) == ("q1", "sky")
    for text in ("sky", {"text": "sky"}):  # a dictionary, as `dl20-queries.json` is one
        content = '{\n  "1": "wie heißt das?",\n  "01": ' + json.dumps(text) + "\n}"
        found = [q[:2] for q in read(read_queries, tmp_path / "dl20-queries.json", content)]
        assert found == [("1", "wie heißt das?"), ("01", "sky")]
    for content, expected in (
        ("query_id\ttext\nq1\tsky\n", "q1"),  # a header is no row
        ("\u2028\nq1\tsky\n", "q1"),  # nor is a line of blanks
        ("<q>\t<b>sky</b>\n", "<q>"),
    ):
        assert [q.query_id for q in read(read_queries, tmp_path / "t.tsv", content)] == [expected]


def test_subtopics_are_texts_or_objects_with_id_and_text(tmp_path):
    for subtopics, facets in (
        (["dance", " sun & sky "], [("dance", "dance"), ("sun%20%26%20sky", "sun & sky")]),
        ([{"id": 7, "text": "dance"}], [("7", "dance")]),
        ([{"subtopic_id": "a/b", "subtopic": "dance"}], [("a/b", "dance")]),
        ([], []),
        (None, []),
    ):
        _, query = read(read_queries, tmp_path / "t.jsonl", with_subtopics(subtopics))
        assert tuples(query.facets) == facets


def test_passages_are_read_from_lines_and_from_json_by_the_names_that_other_formats_have(tmp_path):
    for name in ("p.tsv", "p.tsv.gz"):
        found = read(
            read_passages, tmp_path / name, "pid\tpassage\n01\tOne.\r\n\n1\t Two\tcells. \n"
        )
        assert tuples(found) == [("01", "One."), ("1", "Two\tcells.")]
    lines = [{"passage_id": "01", "text": "Ein Weiß\nmit Zeilen."}, {"pid": 1, "text": "b"}]
    for name in ("p.jsonl", "p.jsonl.gz"):
        found = read(read_passages, tmp_path / name, lines)
        assert tuples(found) == [("01", "Ein Weiß\nmit Zeilen."), ("1", "b")]
    for row in (
        {"docid": "p1", "text": "words"},
        {"doc_id": "p1", "contents": "words"},
        {"pid": "p1", "passage": "words"},
        {"id": "p1", "segment": "words"},
        {"_id": "p1", "body": "words", "title": ""},
        {"paragraph_id": "p1", "text": "words"},
        {"docno": "p1", "text": "words"},
        {"docno": "p1", "docid": 17, "text": "words"},  # PyTerrier numbers its documents, too
        {"chunk_id": "p1", "text": "words"},
        {"docid": "p1", "doc": "words"},
    ):
        assert read(read_passages, tmp_path / "p.jsonl", [row]) == [("p1", "words")]


def test_official_ranks_are_read_from_json_and_lines_and_tied_systems_share_a_rank(tmp_path):
    found = read(read_official_ranks, tmp_path / "r.json", {"b": 2, "a": 1.0, "c": "3"})
    assert sorted(found) == [("a", 1.0, None), ("b", 2.0, None), ("c", 3.0, None)]
    for header in ([], ["system\trank\tscore"]):
        lines = [*header, "a\t1\t0.75", "b\t2", "c 3 -0.5"]
        found = read(read_official_ranks, tmp_path / "ranks.tsv.gz", lines)
        assert found == [("a", 1.0, 0.75), ("b", 2.0, None), ("c", 3.0, -0.5)]
    for ranks in ([1, 2, 2, 4], [1, 2.5, 2.5, 4], [1, 3, 3, 4], [10, 20, 20, 21]):
        content = dict(zip("abcd", ranks, strict=True))
        found = read(read_official_ranks, tmp_path / "r.json", content)
        assert [rank for _, rank, _ in found] == [1.0, 2.5, 2.5, 4.0]


def test_near_duplicates_point_to_the_first_passage_of_their_line(tmp_path):
    found = read(read_near_duplicates, tmp_path / "c.tsv", "p1\tp2 p3\n\u3000\x1c\n\xa0\np7  p4\n")
    assert found == [("p2", "p1"), ("p3", "p1"), ("p4", "p7")]
