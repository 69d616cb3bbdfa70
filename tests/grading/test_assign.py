"""Nuggets of whole answers: each (answer, nugget) is a pair, ten of them one request."""

import random
from collections import defaultdict
from statistics import mean

import pytest

from gradelake.grading.engines import Response
from gradelake.grading.plan.planner import NothingToGrade
from gradelake.grading.run.attempts import ask
from gradelake.sql.common.rubric_items import item_id_of
from tests.edits import edit, write_edits
from tests.ingest.test_responses import words

NUGGETS = {"q1": [f"Fact {n:02}" for n in range(23)], "q2": ["Bees see the sun", "Bees dance"]}
LONG = f"Air scatters Fact 07.\n\n{words(300)}\n\n{words(300)}"

# An engine that finds a nugget where the answer has its text; it counts what it is asked
FINDS = """
def score(self, prompts):
    note(*(prompt.values["n_items"] for prompt in prompts))
    return [self.answer(prompt.values) for prompt in prompts]

def answer(self, values):
    items = ast.literal_eval(values["items"])
    labels = ["support" if item in values["passage"] else "not_support" for item in items]
    if "mute" in values["passage"]:
        return Response("I cannot say.", prompt_tokens=7, cached_tokens=0, completion_tokens=3)
    if len(items) > 4 and "short" in values["passage"]:
        labels = labels[1:]
    return Response(repr(labels), prompt_tokens=105, cached_tokens=10, completion_tokens=31)
"""


@pytest.fixture
def answering(judged):
    """Four systems: q1 is answered at length by a, in brief by b and c alike; q2 by d."""
    rows = [("a", "q1", LONG), ("b", "q1", "Fact 03. Fact 04."), ("c", "q1", "Fact 03. Fact 04.")]
    rows.append(("d", "q2", "Bees see the sun."))
    names = ("system", "query_id", "text")
    judged.write("responses.jsonl", [dict(zip(names, row, strict=True)) for row in rows])
    judged.configure(responses=["responses.jsonl"])
    judged.ingest()
    judged.write(
        "nuggets.csv",
        ["query_id,kind,text"]
        + [f"{query_id},nugget,{text}" for query_id, texts in NUGGETS.items() for text in texts],
    )
    judged.bank("nuggets.csv", "nuggets")
    judged.engine("finds", FINDS)
    judged.grader("assigns", engine="finds", prompt="nuggetizer_assign", actors=1)
    return judged


def asked(judged) -> list[int]:
    return [int(n) for n in judged.asked()]


@pytest.mark.slow
def test_every_answer_meets_every_nugget_in_windows_of_ten(answering):
    totals = answering.plan("assigns").totals
    # a's answer and that of b and c to q1, d's to q2
    assert (totals.wanted, totals.missing, totals.asked, totals.prompts) == (48, 48, 48, 7)
    run = answering.grade("assigns")
    assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (48, 0, 0)
    assert sorted(asked(answering)) == [2, 3, 3, 10, 10, 10, 10]
    found = answering.grades("assigns", columns="grade")
    supported = {item for (_, _, item), (grade,) in found.items() if grade == 2}
    assert supported == {"Fact 07", "Fact 03", "Fact 04", "Bees see the sun"}
    assert {grade for (grade,) in found.values()} == {0, 2}
    # what the requests took is divided among their pairs
    assert (run.counts["prompt_tokens"], run.counts["completion_tokens"]) == (7 * 105, 7 * 31)
    assert answering.rows(
        "select sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens) from lake.raw.grades"
    ) == [(7 * 105, 7 * 10, 7 * 31)]
    assert answering.plan("assigns").totals.missing == 0


@pytest.mark.slow
def test_what_was_stopped_goes_on_and_asks_only_what_is_missing(answering):
    answering.grader("assigns", chunk_pairs=10)
    run = answering.grade("assigns", limit=13)
    assert (run.counts["pairs"], answering.plan("assigns").totals.missing) == (13, 35)
    run = answering.grade("assigns")
    assert (run.counts["pairs"], run.left) == (35, 0)
    assert sum(asked(answering)) == 48
    answering.grades("assigns")  # none was graded twice


@pytest.mark.slow
def test_a_short_list_is_asked_for_again_in_halves_and_nothing_is_guessed(answering):
    respond(answering, f"short {' '.join(NUGGETS['q1'][:12])}")
    run = answering.grade("assigns", query_ids=("q1",))
    assert (run.counts["ok"], run.counts["failed"]) == (23, 0)
    # 10 and 10 gave 9 labels; 5 gave 4; 2 and 3 are read, as is the window of 3
    assert sorted(asked(answering)) == sorted([10, 10, 3, *[5, 5] * 2, *[2, 3] * 4])
    assert {item for (_, _, item), (grade, _) in answering.grades("assigns").items() if grade} == {
        *NUGGETS["q1"][:12]
    }
    assert run.counts["prompt_tokens"] == 105 * len(asked(answering))


@pytest.mark.slow
def test_what_nobody_tells_fails_with_the_reason_and_is_retried_on_demand(answering):
    respond(answering, "mute Bees dance", query_id="q2")
    run = answering.grade("assigns", query_ids=("q2",))
    assert (run.counts["failed"], run.exit_code) == (2, 3)
    assert set(answering.grades("assigns", "grade, status, error, prompt_tokens").values()) == {
        (None, "failed", "no list of labels in it", 7 + 3),
        (None, "failed", "no list of labels in it", 7 + 4),
    }
    assert answering.plan("assigns", query_ids=("q2",)).totals.missing == 0
    run = answering.grade("assigns", query_ids=("q2",), retry_failed=True)
    assert (run.retried, run.counts["failed"]) == (2, 2)


def respond(judged, text: str, query_id: str = "q1") -> None:
    """The only answer, whose nuggets are looked for."""
    judged.write("responses.jsonl", [{"system": "a", "query_id": query_id, "text": text}])
    judged.ingest()


@pytest.mark.slow
def test_the_lexical_floor_is_asked_about_each_nugget_by_itself(answering):
    grader = answering.grader("words", engine="lexical", prompt="nuggetizer_assign")
    assert grader.prompt.window == 1
    respond(answering, "Bees see the moon.", query_id="q2")
    totals = answering.plan("words").totals
    assert (totals.missing, totals.prompts) == (2, 2)
    answering.grade("words")
    found = answering.grades("words", columns="grade, round(expected_grade, 1)")
    assert {item: grade for (_, _, item), grade in found.items()} == {
        "Bees see the sun": (1, 1.3),
        "Bees dance": (1, 1.1),
    }


@pytest.mark.slow
def test_an_engine_that_fails_fails_its_window_only(answering):
    """Asked three times, as all are; the tokens of no reply are unknown."""
    grader = answering.grader("assigns")
    (chunk,) = list(answering.plan("assigns", query_ids=("q2",)).chunks())
    calls = []

    def score(prompts):
        calls.append(len(prompts))
        return [Response(error="the endpoint is busy") for _ in prompts]

    answered = ask(grader, score, chunk)
    assert calls == [1, 1, 1]
    assert [(r.status, r.error, a.prompt_tokens) for r, a in answered] == [
        ("failed", "the endpoint is busy", None)
    ] * 2


def test_without_answers_or_nuggets_there_is_nothing_to_assign(judged):
    judged.grader("words", engine="lexical", prompt="nuggetizer_assign")
    with pytest.raises(NothingToGrade, match="tiny has no generated answers"):
        judged.plan("words")
    judged.configure(responses=["responses.jsonl"])
    respond(judged, "Air.")
    with pytest.raises(NothingToGrade, match="the rubric of tiny has no nuggets"):
        judged.plan("words")


VALUES = {"satisfied": 1, "partially_satisfied": 0.5, "not_satisfied": 0, "unsure": None}
READS = """
def score(self, prompts):
    known = %r
    asked = [(known[p.values["passage"]], ast.literal_eval(p.values["items"])) for p in prompts]
    return [Response(str([labels[item] for item in items])) for labels, items in asked]
"""


@pytest.mark.slow
def test_criteria_scores_and_failures_are_those_of_a_plain_computation_by_version(judged):
    """Of q0 all counts against an answer; some of s3's is not judged, and nothing on q1."""
    rng, criteria, labels = random.Random(36), {}, {}
    for query in ("q0", "q1", "q2", "q3", "q4"):
        weights = [-5, -2] if query == "q0" else [-5, 0.5, 2, 5]
        criteria[query] = [
            {"text": f"{query} {n}", "weight": rng.choice(weights) if n else weights[-1]}
            | {"tier": rng.choice(["mandatory", "optional"]), "type": rng.choice(["own", "form"])}
            for n in range(rng.randint(4, 12))
        ]
        for system in ("s0", "s1", "s2", "s3"):
            able = list(VALUES)[3 * ((system, query) == ("s3", "q1")) : 3 + (system == "s3")]
            labels[f"{system} {query}"] = {c["text"]: rng.choice(able) for c in criteria[query]}
    judged.write("topics.tsv", {query: f"about {query}" for query in criteria})
    judged.write("criteria.jsonl", [{"qid": q, "criteria": each} for q, each in criteria.items()])
    answers = [{"system": a[:2], "query_id": a[3:], "text": a} for a in labels]
    judged.write("responses.jsonl", answers)
    judged.configure(responses=["responses.jsonl"])
    judged.ingest()
    judged.bank("criteria.jsonl", "mine")
    judged.engine("reads", READS % labels)
    judged.grader("judge", engine="reads", prompt="answer_criteria", actors=1)
    assert judged.grade("judge").counts["failed"] > 9
    edited = {"weight": -4, "kind": "criterion:mandatory:own", "collection": "tiny"}
    write_edits(judged.folder, edit(1, "reweight", item_id_of("q2", "", "q2 0"), "mine", **edited))
    judged.gradelake("build")
    changed = {"text": "q2 0", "tier": "mandatory", "type": "own", "weight": -4}
    edited = criteria | {"q2": [changed, *criteria["q2"][1:]]}
    scores, failures, boards = {}, defaultdict(list), defaultdict(list)
    for version, rubric in enumerate((criteria, edited)):
        for answer, known in labels.items():
            system, query = answer.split()
            values = [(c, VALUES[known[c["text"]]]) for c in rubric[query]]
            seen = [(c, value) for c, value in values if value is not None]
            failed = [c for c, value in seen if value != int(c["weight"] > 0)]
            for c, _ in seen:
                failures[version, system, c["type"]].append(c in failed)
            most = sum(c["weight"] for c in rubric[query] if c["weight"] > 0)
            counts = len(values), len(seen), sum(c["tier"] == "mandatory" for c in failed)
            for measure, of in (("Criteria", float), ("CriteriaStrict", int)):  # a half is nothing
                score = sum(c["weight"] * of(v) for c, v in seen) / most if seen and most else None
                counts += (pytest.approx(score),)
                boards[version, system, measure] += [score or 0] * bool(most)
            scores[version, system, query] = counts

    def found(what: str, mart: str) -> dict:
        return {row[:3]: row[3:] for row in judged.rows(f"select {what} from lake.marts.{mart}")}

    columns = "n_criteria, n_judged, n_mandatory_failed, criteria_score, strict_criteria_score"
    assert found(f"rubric_version, system, query_id, {columns}", "criteria_scores") == scores
    columns = "rubric_version, system, criterion_type, n_judged, n_failed, failed_share"
    shares = {key: (len(of), sum(of), pytest.approx(mean(of))) for key, of in failures.items()}
    assert found(columns, "criteria_failures") == shares
    columns = "split_part(label_set, '/', 2)[2:]::int, system, measure, score, n_queries"
    means = {key: (pytest.approx(mean(values)), 4) for key, values in boards.items()}
    assert found(columns, "leaderboard where level = 1 and label_set like '%criteria'") == means
