"""What each parser reads out of a reply: tables to be checked by eye."""

import gzip
import json
from collections import Counter

import pytest

from gradelake.grading.prompts.parsers import PARSERS, is_unanswerable
from gradelake.grading.prompts.scale import Scale
from tests.places import SHARED

N5, N3, N2 = Scale.parse("0-5"), Scale.parse("0-3"), Scale.parse("0-2")
YN = Scale.parse({"No": 0, "Yes": 1})
ANSWERED = Scale.parse("0-1")
OK, UN, DEF, BAD = "ok", "unanswerable", "defaulted", "failed"

# reply, on the scale 0-5: (grade, status) by paper, lenient, strict
RUBRIC = [
    ("4", (4, OK), (4, OK), (4, OK)),
    (" 4.\n", (4, OK), (4, OK), (4, OK)),
    ("(4)", (4, OK), (4, OK), (4, OK)),
    ("**5**", (5, OK), (5, OK), (5, OK)),
    ("- 4", (4, OK), (4, OK), (4, OK)),
    ("Rating: 4", (1, DEF), (4, OK), (None, BAD)),
    ("grade: 4", (1, DEF), (4, OK), (None, BAD)),
    ("4/5", (1, DEF), (4, OK), (None, BAD)),
    ("4 out of 5", (1, DEF), (4, OK), (None, BAD)),
    ("4/10", (1, DEF), (None, BAD), (None, BAD)),
    ("4: mostly relevant", (1, DEF), (4, OK), (None, BAD)),
    ("4: ok", (1, DEF), (4, OK), (None, BAD)),
    ("4 because", (1, DEF), (4, OK), (None, BAD)),
    ("3: The answer has limited relevance and completeness.", (1, DEF), (3, OK), (None, BAD)),
    ("4: Sufficient coverage, minor omissions.", (1, DEF), (4, OK), (None, BAD)),
    ("Elvis Presley", (1, DEF), (None, BAD), (None, BAD)),
    ("7", (1, DEF), (None, BAD), (None, BAD)),
    ("10", (1, DEF), (None, BAD), (None, BAD)),
    ("12", (1, DEF), (None, BAD), (None, BAD)),
    ("3.5", (1, DEF), (None, BAD), (None, BAD)),
    (".5", (1, DEF), (None, BAD), (None, BAD)),
    ("-1", (1, DEF), (None, BAD), (None, BAD)),
    ("4%", (1, DEF), (None, BAD), (None, BAD)),
    ("4-5", (1, DEF), (None, BAD), (None, BAD)),
    ("4 or 5", (1, DEF), (None, BAD), (None, BAD)),
    ("3 reasons speak against it", (1, DEF), (None, BAD), (None, BAD)),
    ("scale of 0 to 3", (1, DEF), (None, BAD), (None, BAD)),
    ("5: all\n4: most\n3: some", (1, DEF), (None, BAD), (None, BAD)),
    ("unanswerable", (0, UN), (0, UN), (None, BAD)),
    ("Unanswerable.", (0, UN), (0, UN), (None, BAD)),
    ("no", (0, UN), (0, UN), (None, BAD)),
    ("unknown", (0, UN), (0, UN), (None, BAD)),
    ("It is not possible to tell.", (0, UN), (0, UN), (None, BAD)),
    ("no relevant informations", (0, UN), (0, UN), (None, BAD)),
    # a ratio of 80 to "no relevant information", and more than 80 is asked
    ("there is no relevant information", (1, DEF), (None, BAD), (None, BAD)),
    ("answerable", (1, DEF), (None, BAD), (None, BAD)),
    ("enough information", (1, DEF), (None, BAD), (None, BAD)),
    ("", (0, UN), (None, BAD), (None, BAD)),
    (None, (None, BAD), (None, BAD), (None, BAD)),
]


@pytest.mark.parametrize(("reply", "paper", "lenient", "strict"), RUBRIC)
def test_replies_on_a_scale_of_numbers(reply, paper, lenient, strict):
    for name, expected in (("paper", paper), ("lenient", lenient), ("strict", strict)):
        reading = PARSERS[name].read(reply, N5)
        assert (name, reading.grade, reading.status) == (name, *expected)
        assert (reading.error is not None) == (reading.status == BAD)


@pytest.mark.parametrize(
    ("reply", "paper", "lenient", "strict"),
    [
        ("Yes", (1, OK), (1, OK), (1, OK)),
        ("no", (0, OK), (0, OK), (0, OK)),
        ("Yes.", (1, OK), (1, OK), (1, OK)),
        ("'No'", (0, OK), (0, OK), (0, OK)),
        ("Yes, because it says so", (0, DEF), (1, OK), (None, BAD)),
        ("No, it does not", (0, DEF), (0, OK), (None, BAD)),
        ("**Yes**\n\nIt does.", (0, DEF), (1, OK), (None, BAD)),
        ("Answer: yes", (0, DEF), (1, OK), (None, BAD)),
        ('{"relevant": true}', (0, DEF), (1, OK), (None, BAD)),
        ("Yes or No", (0, DEF), (None, BAD), (None, BAD)),
        ("Answer: Yes/No", (0, DEF), (None, BAD), (None, BAD)),
        ("No doubt it is", (0, DEF), (None, BAD), (None, BAD)),
        ("Nothing", (0, DEF), (None, BAD), (None, BAD)),
        ("unknown", (0, DEF), (0, UN), (None, BAD)),
        ("", (0, DEF), (None, BAD), (None, BAD)),
    ],
)
def test_replies_on_a_scale_of_words(reply, paper, lenient, strict):
    for name, expected in (("paper", paper), ("lenient", lenient), ("strict", strict)):
        reading = PARSERS[name].read(reply, YN)
        assert (name, reading.grade, reading.status) == (name, *expected)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("##final score: 2", 2),
        ("scale of 0 to 3 ... ##final score: 1", 1),
        ("M: 2 T: 1 O: 3 ##final score: 1", 1),
        ("M: 2\nT: 1\nO: 3", 3),
        ("final score is 3", 3),
        ("##final score: 1\n##final score: 2", 2),
        ("**Final Score:** 2", 2),
        ("Score (0-3): 2", 2),
        ("I would give it a score of 2.", 2),
        ("Relevance score: 3\nTrustworthiness score: 1\nFinal score: 2", 2),
        ("Final score: 2. The relevance score: 3 speaks for it.", 2),
        ("Confidence score: 95. Grade: 3", 3),
        ("\\boxed{2}", 2),
        ('{"grade": 2}', 2),
        ('Here it is:\n```json\n{"final score": "3"}\n```', 3),
        ('{"reason": "two", "score": 2.0}', 2),
        ('{"grade": 2, "details": {"label": 0}}', 2),
        ('{"grade": 0} I correct myself: {"grade": 3}', 3),
        ("<think>##final score: 3</think>##final score: 1", 1),
        ("grade 3?</think>2", 2),
        ("score is 10", None),
        ("final score: 12", None),
        ("final score: 4", None),
        ("final score: 1.5", None),
        ("final score: -1", None),
        ("final score: 2/10", None),
        ("a score of 0 to 3", None),
        ("an integer score on a scale of 0 to 3", None),
        ("upgrade: 2", None),
        ('{"score": 2.5}', None),
        ('{"score": 12}', None),
        ('{"score": null}', None),
        ('{"score": [2]}', None),
        ('{"passages": 2}', None),
        ("<think>##final score: 3", None),
        ("\u0663", None),  # an Arabic three is not the scale's
    ],
)
def test_lenient_finds_a_stated_grade_and_never_a_piece_of_another_number(reply, grade):
    reading = PARSERS["lenient"].read(reply, N3)
    assert (reading.grade, reading.status) == (grade, OK if grade is not None else BAD)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("##final score: 2", 2),
        ("2", 2),
        ("## 3", 3),
        ("**##Final Score:** 3", 3),
        ("##final score: **2**.", 2),
        ("##final score:\n\n1", 1),
        ("##final score: {2}", 2),
        ("##final score: 2/3", 2),
        ("Final score (O): 2", 2),
        ('{"final_score": 2}', 2),
        # the prompt's scale, other aspects and explanations are not the answer
        ("scale of 0 to 3 ... ##final score: 1", 1),
        ("0 = nothing to do with the query, 3 = the exact answer. ##final score: 1", 1),
        ("M: 2 T: 1 O: 3 ##final score: 1", 1),
        ("M: 2\nT: 1\nO: 3", 3),
        ("##final score: M: 2, T: 1, O: 3", 3),
        ("##final score: 2\n##final score: 1\n##final score: 3", 3),  # M, T and O, each so
        ("##final score: 1\nThe answer is not there; final score: 3 would be too much.", 1),
        ("##final score: 1\n3 reasons speak for it", 1),
        ("relevance score: 3", None),
        ("score: 2", None),
        ("2: the passage has some answer", None),
        ("I would give it a 3.", None),
        ("an integer scale of 0 to 3", None),
        ("##final score: score", None),
        # no part of another number
        ("##final score: 12", None),
        ("##final score: 10", None),
        ("##final score: 4", None),
        ("##final score: 1.5", None),
        ("##final score: -1", None),
        ("##final score: 2/10", None),
        ("##final score: 2 or 3", None),
        ("final score: 1\n##final score: 0-3", None),
        # reasoning is not the answer
        ("<think>0 to 3</think> ##final score: 2", 2),
        ("<think>##final score: 3</think>\n##final score: 1", 1),
        ("##final score: 3?</think>##final score: 0", 0),
        ("<think>##final score: 3", None),
        ("<think>##final score: 3</think>", None),
        ("", None),
        ("unanswerable", None),
    ],
)
def test_final_score_reads_the_answer_and_nothing_else(reply, grade):
    reading = PARSERS["final_score"].read(reply, N3)
    assert (reading.grade, reading.status) == (grade, OK if grade is not None else BAD)
    assert (reading.error is None) == (grade is not None)


def test_final_score_reads_words_too():
    for reply, grade in (
        ("##final score: Yes", 1),
        ("final score: Yes or No", None),
        ("final score: Nothing", None),
        ("No", 0),
    ):
        assert PARSERS["final_score"].read(reply, YN).grade == grade


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
        ("No.", ["false"], 1, OK),
        ("no", ["true"], 0, UN),
        ("anything", None, None, BAD),
        ("anything", [], None, BAD),
        (None, ["the epidermis"], None, BAD),
    ],
)
def test_an_answer_is_checked_against_the_key(reply, gold, grade, status):
    reading = PARSERS["answer_key"].read(reply, ANSWERED, gold)
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


def test_a_long_reply_of_anything_gets_a_reading():
    pieces = ("{", '{"a":', "<think></think>", "score: ", "4 ", "(", "`", "\n", "\\boxed{", "\0")
    for piece in (*pieces, "\ud800"):
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
