"""What each parser reads out of a reply: tables to be checked by eye."""

import gzip
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from gradelake.grading.engines import Response
from gradelake.grading.prompts.parsers import PARSERS, is_unanswerable
from gradelake.grading.prompts.scale import Scale
from gradelake.grading.run.attempts import read
from tests.places import SHARED

N5, N3, N2 = Scale.parse("0-5"), Scale.parse("0-3"), Scale.parse("0-2")
YN = Scale.parse({"No": 0, "Yes": 1})
ANSWERED = Scale.parse("0-1")
OK, UN, DEF, BAD = "ok", "unanswerable", "defaulted", "failed"

LISTS = yaml.safe_load((Path(__file__).parent / "replies.yaml").read_text())


def said(kind: dict) -> list[list]:
    """Its replies, each with what every parser makes of it."""
    three, none = ([each] * len(kind["parsers"]) for each in (3, BAD))
    found = [*kind.get("replies", ()), *([text, *none] for text in kind.get("failed", ()))]
    for before, after in kind.get("marks", ()):
        begun = f"{before}##final score: 0"
        found += [[f"{begun}{after}3", *three], [begun, *none], [begun + after, *none]]
    return found


@pytest.mark.parametrize("kind", LISTS, ids=lambda kind: kind["about"])
def test_a_reply_says_what_the_list_says(kind):
    scale = Scale.parse(kind["scale"])
    output = "scale" if kind.get("is_held") else "text"
    prompt = SimpleNamespace(grade_scale=scale, output=output)
    wrong = []
    for text, *wanted in said(kind):
        for parser, expected in zip(kind["parsers"], wanted, strict=True):
            response = Response(text, finish=kind.get("finish"))
            reading = (
                read(SimpleNamespace(prompt=prompt, parser=parser), response, None)
                if text is not None
                else PARSERS[parser].read(None, scale)
            )
            grade = "" if reading.grade is None else reading.grade
            found = f"{grade} {reading.status}".replace(f"{grade} {OK}", str(grade)).strip()
            if found != str(expected) or (reading.error is None) == (found == BAD):
                wrong.append((text, parser, found, expected))
    assert wrong == []


def test_the_list_has_many_replies():
    assert sum(len(said(kind)) for kind in LISTS) > 250


def test_a_three_of_a_scale_up_to_two_is_not_a_grade():
    assert PARSERS["paper"].read("3", N2).status == DEF
    assert PARSERS["lenient"].read("3", N2).status == BAD
    assert PARSERS["paper"].read("no", N2).status == UN


def test_the_paper_default_is_the_lowest_grade_where_one_is_off_the_scale():
    reading = PARSERS["paper"].read("perhaps", Scale.parse("2-4"))
    assert (reading.grade, reading.status) == (2, DEF)


@pytest.mark.parametrize(
    ("reply", "grade", "status"),
    [
        ("The epidermis is the outer layer.", 1, OK),
        ("5", 1, OK),
        ("unanswerable", 0, UN),
        ("No answer.", 0, UN),
        ("not enough informations", 0, UN),
        ("a.", 0, UN),
        ("(iii)", 0, UN),
        ("", 0, UN),
        ("<think>hm</think> the skin", 1, OK),
    ],
)
def test_an_extracted_answer_counts_unless_it_says_that_there_is_none(reply, grade, status):
    reading = PARSERS["answer"].read(reply, ANSWERED)
    assert (reading.grade, reading.status) == (grade, status)
    assert reading.answer == reply.split("</think>")[-1].strip()


@pytest.mark.parametrize(
    ("reply", "gold", "grade", "status"),
    [
        ("Epidermis.", ["the epidermis"], 1, OK),
        ("epiderm", ["the epidermis"], 1, OK),
        ("epidermis layer", ["the epidermis"], 0, OK),
        ("unanswerable", ["the epidermis"], 0, UN),
        ("a.", ["the epidermis"], 0, UN),
        ("False.", ["false"], 1, OK),
        ("no", ["true"], 0, UN),
        ("No.", ["false"], 0, UN),
        ("no", ["no"], 0, UN),
        ("a.", ["a"], 0, UN),
        ("(iii)", ["iii", "three"], 0, UN),
        ("unknown", ["unknown"], 0, UN),
        ("no", None, None, BAD),
        ("anything", None, None, BAD),
        ("anything", [], None, BAD),
        (None, ["the epidermis"], None, BAD),
    ],
)
def test_an_answer_is_checked_against_the_key(reply, gold, grade, status):
    reading = PARSERS["answer_key"].read(reply, ANSWERED, gold)
    assert (reading.grade, reading.status) == (grade, status)


@pytest.mark.parametrize(
    ("reply", "gold", "grade", "status"),
    [
        ("No.", ["false"], 1, OK),
        ("no", ["no"], 1, OK),
        ("a.", ["a"], 1, OK),
        ("(iii)", ["iii", "three"], 1, OK),
        ("no", ["true"], 0, UN),
        ("a.", ["the epidermis"], 0, UN),
        ("no", [], None, BAD),
    ],
)
def test_a_lenient_key_takes_for_right_what_the_gold_answer_is(reply, gold, grade, status):
    reading = PARSERS["lenient_answer_key"].read(reply, ANSWERED, gold)
    assert (reading.grade, reading.status) == (grade, status)


def test_a_reply_that_fails_says_why():
    assert "10" in PARSERS["lenient"].read("score: 10", N3).error
    assert "reasoning" in PARSERS["lenient"].read("<think>3", N3).error
    assert "no gold answers" in PARSERS["answer_key"].read("x", ANSWERED).error
    assert "empty" in PARSERS["strict"].read("", N3).error


UNANSWERABLE = (
    *("unanswerable", "no", "no answer", "not enough information", "unknown"),
    *("it is not possible to tell", "it does not say", "no relevant information"),
    *("IT DOES NOT SAY", "*unknown*", "it doesn't say"),
)
OTHERS = (
    *("", "answerable", "known", "relevant information", "it is possible to tell", "north"),
    "no" + " " * 1000 + "but yes",
)


def test_the_published_expressions_of_unanswerability_are_known_and_their_opposites_are_not():
    assert [text for text in (*UNANSWERABLE, *OTHERS) if is_unanswerable(text)] == [*UNANSWERABLE]


@pytest.mark.slow
def test_a_long_reply_of_anything_gets_a_reading():
    pieces = ("{", '{"a":', "<think></think>", "score: ", "4 ", "(", "`", "\n", "\\boxed{", "\0")
    more = (
        "<",
        "score: 4 ",
        "<score>4</score>",
        "\nUser: ",
        "no, ",
        "1 to ",
        "<|a|>",
        "I am sorry ",
    )
    for piece in (*pieces, *more, "\ud800"):
        text = piece * (200_000 // len(piece))
        for name, parser in PARSERS.items():
            assert parser.read(text, N5, ["gold"]).status in (OK, UN, DEF, BAD), (name, piece)


@pytest.mark.slow
def test_the_published_replies_of_flan_t5_are_read():
    """Self-ratings of the LLMJudge development set, as their authors published the replies."""
    file = SHARED / "llmjudge" / "dev.jsonl.gz"
    if not file.is_file():
        pytest.skip(f"no LLMJudge data at {file} (it may not be redistributed)")
    replies = Counter()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            for passage in json.loads(line)[1]:
                for graded in passage.get("exam_grades") or ():
                    if graded.get("self_ratings"):
                        replies.update(reply for _, reply in graded["answers"])
    statuses = {name: Counter() for name in ("paper", "lenient")}
    for reply, n in replies.items():
        paper, lenient = (PARSERS[name].read(reply, N5) for name in statuses)
        statuses["paper"][paper.status] += n
        statuses["lenient"][lenient.status] += n
        if paper.status == OK:
            assert lenient == paper
        elif lenient.status == OK:  # such as "3: The answer has limited relevance"
            assert reply.startswith(f"{lenient.grade}:")
    assert statuses["paper"] == {OK: 143_785, DEF: 630}
    assert statuses["lenient"] == {OK: 143_840, BAD: 575}
