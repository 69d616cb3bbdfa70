"""Reading TREC runs: every spelling people use, every line number right, every score exact."""

import random
import struct

import polars as pl
import pytest

from gradelake.ingest.collections.trec import read_run, system_name
from gradelake.sql.common.problems import Rejected
from tests.ingest.conftest import report, write_file


def read(path):
    return pl.concat(read_run(path, path.name))


def rows(path) -> list[tuple]:
    """(query, passage, rank, score, line) of every line."""
    return read(path).rows()


EXPECTED = [("q1", "p1", 1, 2.5, 1), ("q1", "p2", 2, 1.5, 2), ("q2", "p1", 1, 0.5, 3)]


@pytest.mark.parametrize(
    "content",
    [
        "q1 Q0 p1 1 2.5 t\nq1 Q0 p2 2 1.5 t\nq2 Q0 p1 1 0.5 t\n",
        "q1\tQ0\tp1\t1\t2.5\tt\nq1\tQ0\tp2\t2\t1.5\tt\nq2\tQ0\tp1\t1\t0.5\tt\n",
        "q1  Q0   p1 1 2.5 t\nq1 Q0 p2    2 1.5 t\nq2 Q0 p1 1 0.5  t\n",
        "q1 Q0\tp1 1 \t 2.5 t\nq1\tQ0 p2 2 1.5\tt\nq2 Q0 p1\t\t1 0.5 t\n",
        "  q1 Q0 p1 1 2.5 t\n\tq1 Q0 p2 2 1.5 t\nq2 Q0 p1 1 0.5 t\n",
        "q1 Q0 p1 1 2.5 t \nq1 Q0 p2 2 1.5 t\t\nq2 Q0 p1 1 0.5 t  \n",
        "q1 Q0 p1 1 2.5 t\r\nq1 Q0 p2 2 1.5 t\r\nq2 Q0 p1 1 0.5 t\r\n",
        "\ufeffq1 Q0 p1 1 2.5 t\nq1 Q0 p2 2 1.5 t\nq2 Q0 p1 1 0.5 t\n",
        "q1 Q0 p1 1 2.5 t\nq1 Q0 p2 2 1.5 t\nq2 Q0 p1 1 0.5 t",
    ],
    ids=["spaces", "tabs", "repeated", "mixed", "leading", "trailing", "crlf", "bom", "no_newline"],
)
def test_columns_may_be_separated_by_any_blanks(tmp_path, content):
    assert rows(write_file(tmp_path / "a.run", content)) == EXPECTED
    assert rows(write_file(tmp_path / "a.run.gz", content)) == EXPECTED


def test_blank_lines_are_skipped_and_counted(tmp_path):
    file = write_file(tmp_path / "a.run", "\n\nq1 Q0 p1 1 2.5 t\n \t \nq1 Q0 p2 2 1.5 t\n\n")
    assert [row[-1] for row in rows(file)] == [3, 5]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
@pytest.mark.parametrize("end", ["", "newline"])
@pytest.mark.parametrize("blank", [" ", "\t", "  "])
def test_a_faulty_line_is_named_by_its_number(tmp_path, newline, start, end, blank):
    good = blank.join(["q1", "Q0", "p1", "1", "2.5", "t"])
    bad = blank.join(["q1", "Q0", "p2", "2", "high", "t"])
    content = start + good + newline + newline + bad + (newline if end else "")
    line = 3 + start.count("\n")
    file = write_file(tmp_path / "a.run", content)
    assert report(read_run, file).startswith(f"a.run:{line}: score 'high' is not a finite number")


def test_scores_may_be_written_in_any_way_that_means_a_number(tmp_path):
    spellings = ["1e-3", "+1", ".5", "5.", "-2", "1E+2", "-.5e-1", "007", "1e-400", "-0"]
    lines = [f"q1 Q0 p{n} {n} {text} t" for n, text in enumerate(spellings)]
    scores = read(write_file(tmp_path / "a.run", lines))["score"].to_list()
    assert scores == [0.001, 1.0, 0.5, 5.0, -2.0, 100.0, -0.05, 7.0, 0.0, -0.0]


def test_scores_equal_what_python_reads_to_the_last_bit(tmp_path):
    numbers = random.Random(7)
    texts = []
    while len(texts) < 900:
        (number,) = struct.unpack("<d", numbers.randbytes(8))
        if abs(number) < 1e38:  # NaN is not
            usual = numbers.gauss(0, 10)
            texts += [repr(number), f"{number:.17e}", f"{number:.40e}", f"{number:g}"]
            texts += [repr(usual), f"{usual:.6f}", f"{usual:.30f}", f"{usual:+.3E}"]
    lines = [f"q1 Q0 p{n} {n} {text} t" for n, text in enumerate(texts)]
    scores = read(write_file(tmp_path / "a.run", lines))["score"].to_list()
    assert scores == [float(text) for text in texts]


@pytest.mark.parametrize("score", ["1e39", "-3.5e38", "1.7976931348623157e308"])
def test_a_score_that_trec_eval_could_not_compare_in_32_bits_is_rejected(tmp_path, score):
    largest = "q1 Q0 p1 1 3.4028234663852886e38 t"
    file = write_file(tmp_path / "a.run", [largest, f"q1 Q0 p2 2 {score} t"])
    said = report(read_run, file)
    assert said.startswith(f"a.run:2: score {score!r} is not a finite 32-bit number\n")


@pytest.mark.parametrize(
    "score",
    ["high", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "1,5", "1_000", "0x10", "\uff11"],
)
def test_a_score_that_is_no_finite_number_is_rejected(tmp_path, score):
    file = write_file(tmp_path / "a.run", ["q1 Q0 p1 1 2.5 t", f"q1 Q0 p2 2 {score} t"])
    assert f"a.run:2: score {score!r} is not a finite number" in report(read_run, file)


def test_ids_that_look_like_numbers_stay_text(tmp_path):
    lines = ["01 Q0 007 1 3 t", "1 Q0 7 1 2 t", "1 Q0 7.0 1 1 t", "1e1 Q0 NA 1 0 t"]
    found = read(write_file(tmp_path / "a.run", lines)).select("query_id", "passage_id")
    assert found.rows() == [("01", "007"), ("1", "7"), ("1", "7.0"), ("1e1", "NA")]


def test_words_that_mean_nothing_elsewhere_stay_text(tmp_path):
    lines = ["null Q0 NULL 1 3 t", '"a" Q0 b"c 1 2 t', "#x Q0 N/A 1 1 t"]
    found = read(write_file(tmp_path / "a.run", lines)).select("query_id", "passage_id")
    assert found.rows() == [("null", "NULL"), ('"a"', 'b"c'), ("#x", "N/A")]


def test_ids_may_hold_any_characters_but_blanks(tmp_path):
    ids = ["straße", "日本語", "emoji🐝", "a\u00a0b", "ü", "u\u0308"]
    lines = [f"{name} Q0 {name} 1 1 t" for name in ids]
    for content in (lines, [line.replace(" ", "  ") for line in lines]):
        frame = read(write_file(tmp_path / "a.run", content))
        assert frame["query_id"].to_list() == ids
        assert frame["passage_id"].to_list() == ids


def test_a_rank_that_is_no_whole_number_is_left_empty(tmp_path):
    lines = ["q1 Q0 p1 first 3 t", "q1 Q0 p2 2 2 t", "q1 Q0 p3 3.0 1 t"]
    assert read(write_file(tmp_path / "a.run", lines))["rank"].to_list() == [None, 2, None]


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("q1 Q0 p2 2 1.5", 5),
        ("q1 Q0 p2 2 1.5 ", 5),  # a blank at an end is no column
        (" q1 Q0 p2 2 1.5", 5),
        ("q1 Q0 p2 2 1.5 a b", 7),
        ("q1\tQ0\tp2\t2\t1.5", 5),
        ("q1\tQ0\tp2\t2\t1.5\t", 5),
        ("q1,Q0,p2,2,1.5,t", 1),
    ],
)
@pytest.mark.parametrize("first", ["q1 Q0 p1 1 2.5 t", "q1\tQ0\tp1\t1\t2.5\tt"])
def test_a_line_without_six_columns_is_rejected_by_line(tmp_path, first, line, columns):
    for newline in ("\n", "\r\n"):
        file = write_file(tmp_path / "a.run", first + newline + line + newline)
        said = report(read_run, file)
        assert f"a.run:2: {columns} column{'s' if columns > 1 else ''} instead of 6" in said
        assert "query_id Q0 passage_id rank score tag" in said


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
        file = write_file(tmp_path / "a.run", content)
        lines = [(n, line.split()) for n, line in enumerate(content.split("\n"), start=1)]
        wrong = [n for n, cells in lines if len(cells) not in (0, 6)]
        if wrong:
            with pytest.raises(Rejected) as caught:
                read(file)
            assert [problem.line for problem in caught.value.problems] == wrong, repr(content)
        else:
            expected = [(cells[2], n) for n, cells in lines if cells]
            assert read(file).select("passage_id", "line").rows() == expected, repr(content)


@pytest.mark.parametrize(
    "tag", ["it's", 'say"so"', "../../etc/passwd", "a/b", "a\\b", "..", "<b>x</b>", "`id`"]
)
def test_a_run_tag_that_could_do_harm_is_rejected_by_line(tmp_path, tag):
    file = write_file(tmp_path / "a.run", ["q1 Q0 p1 1 2.5 fine", f"q1 Q0 p2 2 1.5 {tag}"])
    assert report(read_run, file).startswith(f"a.run:2: run tag {tag!r} holds a quote, slash")


def test_harmful_run_tags_are_reported_in_the_order_of_the_file(tmp_path):
    lines = [f"q1 Q0 p{n} 1 1 tag/{n}" for n in range(1, 41)]
    with pytest.raises(Rejected) as caught:
        read(write_file(tmp_path / "a.run", lines))
    assert [problem.line for problem in caught.value.problems] == list(range(1, 11))
    assert caught.value.total == 40


@pytest.mark.parametrize("tag", ["bm25", "BM25+RM3", "run_1-b", "a.b", "日本", "v1.2(final)"])
def test_other_run_tags_are_fine(tmp_path, tag):
    assert rows(write_file(tmp_path / "a.run", [f"q1 Q0 p1 1 2.5 {tag}"]))


@pytest.mark.parametrize(
    ("file", "system"),
    [
        ("bm25.run", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("bm25.txt", "bm25"),
        ("bm25.trec.gz", "bm25"),
        ("bm25.gz", "bm25"),
        ("bm25", "bm25"),
        ("input.bm25", "input.bm25"),
        ("v1.2.run", "v1.2"),
        ("bm25.run.run", "bm25.run"),
        ("run", "run"),
        (".run", ""),
    ],
)
def test_a_system_is_named_by_its_file_without_endings(tmp_path, file, system):
    assert system_name(tmp_path / file) == system
