"""UMBRELA from query and passage to a grade of 0 to 3: what is asked, what is read, what is not."""

import json

import pytest

from gradelake.grading.graders.configured import configured
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from tests.grading.misbehaving import Server, answer

pytestmark = pytest.mark.slow


@pytest.fixture
def server():
    server = Server()
    server.on("", answer("##final score: 1"))
    yield server
    server.stop()


@pytest.fixture
def umbrela(judged, server, two_workers):
    """The collection, and a grader that asks the server."""
    judged.grader(
        "umbrela",
        engine="openai",
        model="m",
        prompt="umbrela",
        base_url=server.url,
        pause=0.01,
        timeout=20.0,
    )
    return judged


def by_passage(judged, name: str, columns: str = "grade, status") -> dict[str, tuple]:
    return {passage: row for (_, passage, _), row in judged.grades(name, columns).items()}


def test_a_judge_without_a_model_gives_every_pair_a_grade_from_0_to_3(judged, two_workers):
    judged.grader("words", engine="lexical", prompt="umbrela", parser="final_score")
    run = judged.grade("words")
    assert (run.counts["ok"], run.counts["failed"]) == (5, 0)
    found = by_passage(judged, "words")
    assert set(found) == {"p1", "p2", "p3", "p4", "p5"}
    assert all(grade in range(4) for grade, _ in found.values())
    # p1 has all of "why is the sky blue" but for its first word, p4 nothing of its query
    assert (found["p1"], found["p4"]) == ((2, "ok"), (0, "ok"))


def test_the_model_reads_the_published_prompt_with_the_paper_s_decoding(umbrela, server):
    umbrela.grade("umbrela", query_ids=("q2",))
    (asked,) = server.about("Cars are made of steel.")
    assert "Query: how do bees find home\nPassage: Cars are made of steel.\n" in asked.text
    sent = {
        key: asked.body[key]
        for key in ("temperature", "top_p", "frequency_penalty", "presence_penalty", "max_tokens")
    }
    assert sent == {
        "temperature": 0.0,
        "top_p": 1.0,
        "frequency_penalty": 0.5,
        "presence_penalty": 0.0,
        "max_tokens": 100,
    }


def test_only_the_final_answer_is_the_grade_and_what_is_none_fails_with_the_reason(umbrela, server):
    server.on("The sky is blue", answer("On a scale of 0 to 3. M: 2 T: 1 O: 3 ##final score: 1"))
    server.on("Bees remember", answer("<think>3? 0 to 3.</think> ##final score: 2"))
    server.on("Bees find", answer("##final score: 12"))
    server.on("Cars are made", answer("I cannot tell; relevance: 3"))
    umbrela.grade("umbrela")
    assert by_passage(umbrela, "umbrela", "grade, status, error") == {
        "p1": (1, "ok", None),
        "p5": (1, "ok", None),  # the same text, asked about once
        "p2": (2, "ok", None),
        "p3": (None, "failed", "'12' is not on the scale 0-3"),
        "p4": (None, "failed", "no final score of the scale 0-3 in it"),
    }
    assert len(server.about("The sky is blue because")) == 1


# --- near-duplicates ------------------------------------------------------------------------------


@pytest.mark.parametrize("left_out", [True, False])
def test_the_model_is_asked_about_near_duplicates_only_where_they_count(umbrela, server, left_out):
    """p4 stands in for p3's near-duplicate: a judged passage, at the head of a run."""
    umbrela.write("duplicates.tsv", ["p3\tp4"])
    umbrela.configure(near_duplicates="duplicates.tsv", leave_out_near_duplicates=left_out)
    umbrela.write("runs/good.run", ["q1 Q0 p1 1 2.5 good", "q2 Q0 p4 1 1.5 good"])
    assert umbrela.ingest().exit_code == 0
    (copy,) = umbrela.rows("select passage_id, canonical_passage_id from lake.raw.near_duplicates")
    assert set(copy) == {"p3", "p4"}
    umbrela.grade("umbrela")
    graded = {"p1", "p2", "p3", "p4", "p5"} - ({copy[0]} if left_out else set())
    assert set(by_passage(umbrela, "umbrela")) == graded
    text = {"p3": "Bees find their way home", "p4": "Cars are made of steel"}
    assert len(server.about(text[copy[0]])) == (0 if left_out else 1)
    assert len(server.about(text[copy[1]])) == 1


# --- worked examples ------------------------------------------------------------------------------


def example(label: str, **changes) -> str:
    return json.dumps(
        {
            "passage": f"A passage of {label}.",
            "query": "a query",
            "label": label,
            "collection": "elsewhere",
        }
        | changes
    )


def few(judged, **settings):
    judged.graders["few"] = {
        "engine": "lexical",
        "prompt": "umbrela_few",
        "examples": "few.jsonl",
        **settings,
    }
    return configured(judged.project, judged.lake, "few")


def test_a_grader_can_bring_examples_of_its_own_and_they_are_part_of_its_id(judged):
    judged.write("few.jsonl", [example(label) for label in "3210"])
    grader = few(judged)
    text = grader.prompt.render({"query": "Q", "passage": "P"}).text
    assert "Query: a query\nPassage: A passage of 2.\n##final score: 2\n\n" in text
    assert "beehive" not in text
    judged.write("few.jsonl", [example(label) for label in "0123"])
    assert few(judged).grader_id != grader.grader_id
    judged.graders["few"].pop("examples")
    shipped = configured(judged.project, judged.lake, "few")
    assert "beehive" in shipped.prompt.text
    assert shipped.grader_id != grader.grader_id


def test_examples_from_the_collection_to_be_judged_are_refused(judged):
    judged.write("few.jsonl", [example("3", collection="tiny")])
    few(judged)
    with pytest.raises(BadInput, match="worked examples of the prompt 'umbrela_few' come from"):
        judged.plan("few")


def test_examples_that_cannot_be_used_are_told(judged):
    with pytest.raises(BadInput, match="examples: no such file") as caught:
        few(judged)
    assert "--scale 0-3 --output few.jsonl" in caught.value.hint
    judged.write("few.jsonl", [example("3"), example("4")])
    with pytest.raises(Rejected) as faults:
        few(judged)
    assert "few.jsonl:2: label: '4' is not a word of the scale: 0, 1, 2, 3" in str(faults.value)
    with pytest.raises(BadInput, match="'umbrela' shows no examples"):
        few(judged, prompt="umbrela")
    with pytest.raises(BadInput, match="examples must be a string"):
        few(judged, examples=3)
