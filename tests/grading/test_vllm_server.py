"""vLLM's own server, with a real model, asked by the engine `openai`.

SmolLM2-135M is too small for any of it and proves the machinery: its grades mean nothing.
"""

import pytest

from tests.command_line import gradelake, json_of
from tests.grading import smollm
from tests.grading.project import wait_for
from tests.grading.test_probe import check_mart
from tests.grading.vllm_server import PATIENCE, ROOM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(smollm.missing()), reason=str(smollm.missing())),
]


@pytest.fixture
def smol(judged, served):
    """Grades the collection; gives the named columns of the grades."""

    def grade(columns: str, name: str = "smol", **settings) -> dict[tuple, tuple]:
        judged.grader(
            name,
            engine="openai",
            model="smol",
            base_url=served,
            prompt="question_self_rating",
            parser="strict",
            timeout=PATIENCE,
            **settings,
        )
        run = judged.grade(name)
        assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (12, 0, 0)
        return judged.grades(name, columns)

    return grade


def test_every_grade_is_on_the_scale_and_comes_with_its_expectation(smol, judged):
    columns = "grade, expected_grade, prompt_tokens, completion_tokens, scale_mass"
    grades = smol(columns)
    assert len(grades) == 12
    for grade, expected, prompt_tokens, completion_tokens, mass in grades.values():
        assert grade in range(6)
        assert 0 < expected < 5
        assert prompt_tokens == 0 or 150 < prompt_tokens < 300  # 0: p5 shares p1's prompt
        assert completion_tokens in (0, 1)
        assert mass is None  # the server tells shares among the choices only
    # of 12 prompts two are shared, and the instructions before the question are 130 tokens long
    assert sum(row[2] == 0 for row in grades.values()) == 2
    ((cached,),) = judged.rows("select cached_tokens from lake.raw.grading_runs")
    assert cached > 0


def test_a_run_that_was_killed_while_the_model_works_is_finished_by_the_next(judged, served):
    settings = {"engine": "openai", "model": "smol", "base_url": served, "concurrency": 1}
    settings |= {"prompt": "question_self_rating", "parser": "strict", "chunk_pairs": 1}
    judged.grader("smol", requests_per_minute=30, **settings)  # it is killed before the last
    run = judged.spawn("grade", "tiny", "--grader", "smol")
    wait_for(lambda: judged.grades("smol"), run)
    run.kill()
    run.communicate()
    before = judged.grades("smol", "grade, response, graded_at")
    judged.grader("smol", **settings)
    rest = judged.grade("smol")
    after = judged.grades("smol", "grade, response, graded_at")
    assert (run.returncode, len(after)) == (-9, 12)
    assert 0 < len(before) < 12
    assert rest.counts["ok"] == 12 - len(before)
    ((n_prompts,),) = judged.rows("select count(*) from lake.raw.replies where state = 'answered'")
    assert n_prompts == 10  # two are asked about two passages of one text; one may be lost
    assert before.items() <= after.items()


@pytest.mark.campaign
def test_a_json_schema_gives_grades_on_the_scale_too(smol):
    grades = smol("grade, response, expected_grade", constrain="json_schema")
    assert {grade for grade, _, _ in grades.values()} <= set(range(6))
    assert all(response == str(grade) for grade, response, _ in grades.values())
    assert {expected for _, _, expected in grades.values()} == {None}


def test_a_passage_beyond_the_model_s_room_is_cut_and_that_is_recorded(judged, served):
    from gradelake.grading.engines.openai import Engine

    engine = Engine(
        judged.grader(
            "smol",
            engine="openai",
            model="smol",
            base_url=served,
            prompt="question_self_rating",
            timeout=PATIENCE,
        )
    )
    short, long = (
        engine.grader.prompt.render({"item": "Do bees fly?", "passage": "Bees fly. " * n})
        for n in (3, 1800)
    )  # "Bees fly. " is some 3 tokens: 18,000 characters are 5,400
    responses = engine.score([short, long])
    assert [response.error for response in responses] == [None, None]
    assert [response.cut_characters for response in responses] == [0, 18_000 - 4_500]
    assert all(response.text in "012345" for response in responses)
    assert 1000 < responses[1].prompt_tokens < ROOM


@pytest.mark.campaign
def test_what_attacks_do_to_its_grades_is_what_plain_python_makes_of_them(judged, served):
    about = {"engine": "openai", "model": "smol", "base_url": served, "prompt": "product_search"}
    judged.grader("smol", **about)
    asked = ("probe", "tiny", "--grader", "smol", "--size", "5", "--json")
    done = json_of(judged.folder, *asked)
    assert done["left"] == done["failed"] == 0
    gradelake(judged.folder, "build")
    assert len(check_mart(judged.folder, "smol", cut=1)) > 5
