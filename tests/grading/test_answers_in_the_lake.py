"""EXAM++ from end to end: answers are extracted, stored beside the ratings, and verified."""

import json
from contextlib import closing

import pytest

from gradelake.grading.graders.configured import configured
from gradelake.grading.plan.planner import GradingPlan
from gradelake.grading.plan.request import GradingRequest
from gradelake.sql.common.errors import BadInput
from tests.grading.project import PASSAGES, copy_of
from tests.grading.workbench_files import EXTRACTED, extracted, lines, paragraph

pytestmark = pytest.mark.slow

BLUE = "Why is the sky blue?"
LIGHT = "What scatters light?"
HOME = "How do bees find home?"
REMEMBER = "What do bees remember?"
SUN = "Do bees see the sun?"
# gold answers of three of the five questions
BANK = [
    "query_id,kind,text,gold_answer",
    f"q1,question,{BLUE},",
    f"q1,question,{LIGHT},the air|dust",
    f"q2,question,{HOME},by the sun",
    f"q2,question,{REMEMBER},",
    f"q2,question,{SUN},yes|they see it|true",
]

# An engine that extracts: the passage's last two words, or nothing where it speaks of steel.
EXTRACTING = """
settings = {"words": Setting(int, 2, "how many")}

def score(self, prompts):
    return [self.answer(prompt.values["passage"]) for prompt in prompts]

def answer(self, passage):
    words = passage.rstrip(".").split()[-self.grader.settings["words"]:]
    return Response("" if "steel" in passage else " ".join(words), prompt_tokens=5,
                    cached_tokens=0, completion_tokens=2)
"""

# An engine that verifies: yes when the words of the gold answer are in the answer. It writes down
# what it is asked, and fails where the gold answer is in the file `failing`.
VERIFYING = """
def score(self, prompts):
    note(*(json.dumps(prompt.text) for prompt in prompts))
    return [self.verify(**prompt.values) for prompt in prompts]

def verify(self, gold_answer, answer, **others):
    failing = HERE / "failing"
    if failing.exists() and gold_answer == failing.read_text():
        return Response(error="not now", prompt_tokens=3)
    is_in = set(gold_answer.split()) <= set(answer.split())
    return Response("yes" if is_in else "no", probabilities=[0.1, 0.7] if is_in else [0.6, 0.2],
                    prompt_tokens=10, cached_tokens=4, completion_tokens=1)
"""


def with_graders(judged):
    """The files of the collection with gold answers, and graders that extract and verify."""
    judged.write("bank.csv", BANK)
    judged.engine("extracting", EXTRACTING)
    judged.engine("verifying", VERIFYING)
    judged.grader("exam", engine="extracting", prompt="question_answer", actors=1)
    judged.graders["verified"] = {
        "engine": "verifying",
        "prompt": "verify_answer",
        "answers_from": "exam",
        "actors": 1,
    }
    return judged


@pytest.fixture(scope="module")
def extracted_lake(tmp_path_factory, judged_lake):
    """A lake with gold answers and the answers of `exam`, made once and copied."""
    project = with_graders(copy_of(judged_lake, tmp_path_factory.mktemp("extracted") / "project"))
    with closing(project):
        project.bank()
        project.grade("exam")
    return project.folder / "lake"


@pytest.fixture
def exam(tmp_path, extracted_lake):
    """The collection with gold answers and extracted answers."""
    with closing(with_graders(copy_of(extracted_lake, tmp_path / "project"))) as project:
        yield project


def plan_of(exam):
    """The plan of who verifies, as the commands make it."""
    return GradingPlan(
        exam.lake, GradingRequest(exam.name, configured(exam.project, exam.lake, "verified"))
    )


def asked(exam) -> list[str]:
    return [json.loads(line) for line in exam.asked()]


# --- extraction -----------------------------------------------------------------------------------


def test_an_answer_is_1_and_none_is_unanswerable(exam):
    grades = exam.grades("exam", "grade, status, answer, response")
    assert {(passage, answer) for (_, passage, _), (*_, answer, _) in grades.items()} == {
        *(("p1", "than red"), ("p2", "the sun"), ("p3", "the sun"), ("p4", ""), ("p5", "than red"))
    }
    assert grades["q2", "p3", HOME] == (1, "ok", "the sun", "the sun")
    assert grades["q2", "p4", HOME] == (0, "unanswerable", "", "")


# --- verification ---------------------------------------------------------------------------------


def test_there_is_nothing_to_verify_before_answers_were_extracted(judged):
    with_graders(judged).bank()
    assert plan_of(judged).totals.wanted == 0
    assert judged.grade_as_told("verified").counts["pairs"] == 0


def test_each_gold_answer_is_asked_about_and_the_best_counts(exam):
    exam.grader("exam", words=3)  # "more than red", "see the sun", "by the sun"
    exam.grade("exam")
    totals = plan_of(exam).totals
    # q1: light in p1, p2, p5; q2: home and sun in p3 and p4; p5 has p1's answer. Two, one and
    # three gold answers; nothing is asked of p4, which has none
    assert (totals.wanted, totals.missing, totals.prompts) == (7, 7, 8)
    run = exam.grade_as_told("verified")
    totals = plan_of(exam).totals
    assert (totals.wanted, totals.graded, totals.missing) == (7, 7, 0)
    assert (run.counts["pairs"], run.counts["ok"], run.counts["unanswerable"]) == (7, 5, 2)

    def question(item, gold, answer):
        return (
            f'For the question "{item}" the correct answer is "{gold}". Is "{answer}" an '
            "equally correct response to this question? Answer yes or no."
        )

    assert sorted(asked(exam)) == sorted(
        [
            *(
                question(LIGHT, gold, answer)
                for gold in ("the air", "dust")
                for answer in ("more than red", "see the sun")
            ),
            question(HOME, "by the sun", "by the sun"),
            *(question(SUN, gold, "by the sun") for gold in ("yes", "they see it", "true")),
        ]
    )
    assert exam.grades("verified", "grade, status, answer, response, prompt_tokens") == {
        ("q1", "p1", LIGHT): (0, "ok", "more than red", "no", 20),
        ("q1", "p2", LIGHT): (0, "ok", "see the sun", "no", 20),
        ("q1", "p5", LIGHT): (0, "ok", "more than red", "no", 0),  # asked with p1's
        ("q2", "p3", HOME): (1, "ok", "by the sun", "yes", 10),
        ("q2", "p3", SUN): (0, "ok", "by the sun", "no", 30),
        ("q2", "p4", HOME): (0, "unanswerable", None, "", 0),
        ("q2", "p4", SUN): (0, "unanswerable", None, "", 0),
    }
    assert run.counts["prompt_tokens"] == 10 * len(asked(exam)) == 80


@pytest.mark.parametrize("order", ["the sun|a map", "a map|the sun"])
def test_the_best_grade_keeps_its_own_reply_and_probabilities(exam, order):
    exam.write("bank.csv", [BANK[0], f"q2,question,{HOME},{order}"])
    exam.bank()
    exam.grade_as_told("verified")
    columns = "grade, response, expected_grade, scale_mass"
    row = exam.grades("verified", columns)["q2", "p3", HOME]
    assert row[:2] == (1, "yes")
    assert row[2:] == pytest.approx((0.7 / 0.8, 0.8))


def test_a_wrong_answer_is_only_known_when_every_gold_answer_was_asked_about(exam):
    exam.write("engines/failing", "true")
    run = exam.grade_as_told("verified")
    assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (4, 1, 3)
    grades = exam.grades("verified", "grade, status, error")
    assert grades["q2", "p3", SUN] == (None, "failed", "not now")
    exam.write("engines/failing", "a map")
    exam.write("bank.csv", [BANK[0], f"q2,question,{HOME},a map|the sun"])
    exam.bank()
    exam.graders["verified"]["decoding"] = {"max_tokens": 2}  # another grader
    exam.grade_as_told("verified")
    # right by the other one
    assert exam.grades("verified", "grade, status")["q2", "p3", HOME] == (1, "ok")


def test_another_extracting_grader_makes_another_verifying_one(exam):
    exam.grade_as_told("verified")
    first = configured(exam.project, exam.lake, "verified").grader_id
    exam.grader("exam", words=3)
    assert configured(exam.project, exam.lake, "verified").grader_id != first
    assert plan_of(exam).totals.wanted == 0  # its answers are not extracted yet
    exam.grade("exam")
    exam.grade_as_told("verified")
    assert exam.rows(
        "select grade, answer from lake.raw.grades inner join lake.raw.graders using (grader_id) "
        "where name = 'verified' and passage_id = 'p3' and grade = 1 order by graded_at"
    ) == [(1, "by the sun")]
    assert exam.rows(
        "select count(*), count(distinct grader_id) from lake.raw.grades "
        "inner join lake.raw.graders using (grader_id) where name = 'verified'"
    ) == [(14, 2)]


def test_answers_of_a_text_that_is_gone_are_not_verified(exam):
    exam.write("passages.tsv", PASSAGES | {"p1": "The sky is green."})
    exam.ingest()
    assert plan_of(exam).totals.wanted == 6
    exam.grade("exam")
    assert plan_of(exam).totals.wanted == 7
    exam.grade_as_told("verified")
    assert exam.grades("verified", "answer")["q1", "p1", LIGHT] == ("is green",)


# --- whose answers --------------------------------------------------------------------------------


def test_answers_of_what_is_no_grader_of_answers_are_refused(exam):
    for source, words in (
        (None, "verifies answers, whose(.|\n)*answers_from"),
        ("verified", "no grader 'verified' extracts answers"),
        (["exam"], "answers_from must be a string"),
        ("lexical", "no grader 'lexical' extracts answers(.|\n)*exam"),
    ):
        exam.graders["verified"] |= {"answers_from": source}
        if source is None:
            del exam.graders["verified"]["answers_from"]
        with pytest.raises(BadInput, match=words):
            plan_of(exam)
    exam.graders["verified"]["answers_from"] = "exma"
    done = exam.gradelake("grade", "tiny", "--grader", "verified", code=2)
    assert "[graders.verified] answers_from: no grader 'exma' extracts answers" in done.stderr
    assert "Did you mean 'exam'?" in done.stderr


def test_answers_that_others_extracted_are_verified(exam):
    ids = dict(exam.rows("select item_text, item_id from lake.intermediate.int_rubric_items"))
    answers = {ids[HOME]: "they fly home by the sun", ids[REMEMBER]: "landmarks", ids[SUN]: ""}
    given = paragraph("p3", [extracted(answers, [ids[HOME], ids[REMEMBER]])])
    given["text"] = "Bees find their way home by the sun."
    exam.write("theirs.jsonl", lines(q2=[given]))
    exam.gradelake("import", "grades", "tiny", "theirs.jsonl")
    (name,) = exam.rows("select name from lake.raw.graders where engine = 'imported'")[0]
    assert EXTRACTED["prompt_class"] in name
    exam.graders["verified"]["answers_from"] = name
    done = exam.gradelake("grade", "tiny", "--grader", "verified", "--json")
    assert json.loads(done.stdout)["ok"] == 1
    # what bees remember has no gold answers
    assert exam.grades("verified", "grade, status, answer") == {
        ("q2", "p3", HOME): (1, "ok", "they fly home by the sun"),
        ("q2", "p3", SUN): (0, "unanswerable", None),
    }
