"""`items_per_call`: one call asks about several questions or nuggets of a passage, and each has a
grade of its own."""

import ast
import hashlib
import re

import pytest

from gradelake.grading.engines.openai import Engine
from gradelake.grading.run.attempts import ask
from gradelake.grading.run.spending import replies_so_far
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from tests.grading.misbehaving import Asked, answer
from tests.grading.project import PASSAGES
from tests.grading.subjects import end

USAGE = {"prompt_tokens": 103, "completion_tokens": 7, "total_tokens": 110}
ASKS = {"engine": "openai", "model": "m", "prompt": "question_self_rating"}


def grade_of(passage: str, item: str) -> int:
    return hashlib.sha256(f"{passage} {item}".encode()).digest()[0] % 6


def items_in(asked: Asked) -> list[str]:
    return ast.literal_eval(re.search(r"(?:Questions|Key facts): (\[.*\])", asked.text)[1])


def truth(asked: Asked) -> list[int]:
    passage = re.search(r"Context: (.*)", asked.text)[1]
    return [grade_of(passage, item) for item in items_in(asked)]


def reply(change=lambda items, labels: labels):
    """What a model replies that knows the grades; `change` is what it makes of them."""
    return lambda asked: answer(repr(change(items_in(asked), truth(asked))), usage=USAGE)


@pytest.fixture
def gpt(judged, server):
    """The tiny collection, and a grader `gpt` that asks about up to three questions at once."""
    server.on("", reply())
    judged.grader("gpt", **ASKS, base_url=server.url, items_per_call=3, pause=0.01)
    return judged


def sizes(server) -> list[int]:
    return sorted(len(items_in(asked)) for asked in server.asked)


@pytest.mark.slow
def test_each_question_has_its_own_grade_from_one_call_for_all(gpt, server):
    """12 pairs; p1 and p5 are alike: 10 are asked about, 2 and 2 of q1, 3 and 3 of q2."""
    totals = gpt.plan("gpt").totals
    assert (totals.missing, totals.asked, totals.prompts) == (12, 10, 4)
    run = gpt.grade("gpt")
    assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (12, 0, 0)
    assert sizes(server) == [2, 2, 3, 3]
    grades = gpt.grades("gpt", columns="grade")
    assert len(grades) == 12
    assert {key: grade for key, (grade,) in grades.items()} == {
        (query_id, passage_id, item): grade_of(PASSAGES[passage_id], item)
        for query_id, passage_id, item in grades
    }
    # what calls took is divided among the pairs
    assert gpt.rows("select sum(prompt_tokens), sum(completion_tokens) from lake.raw.grades") == [
        (4 * 103, 4 * 7)
    ]
    assert gpt.plan("gpt").totals.missing == 0


@pytest.mark.slow
def test_a_grade_that_cannot_be_read_is_asked_for_again_alone_and_fails_alone(gpt, server):
    """In q2 the sun is never rated on the scale; the others keep the grades of the first call."""

    def mumble(items: list[str], labels: list[int]) -> list:
        return ["?" if "sun" in item else n for item, n in zip(items, labels, strict=True)]

    server.on("", reply(mumble))
    run = gpt.grade("gpt", query_ids=("q2",))
    assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (4, 2, 3)
    assert sizes(server) == [1, 1, 3, 3]
    for (_, passage_id, item), told in gpt.grades("gpt", "grade, status, error").items():
        if "sun" in item:
            assert told == (None, "failed", "'?' is not on the scale 0-5")
        else:
            assert told == (grade_of(PASSAGES[passage_id], item), "ok", None)
    tokens = gpt.rows("select sum(prompt_tokens) from lake.raw.grades")
    assert tokens == [(4 * 103,)]


@pytest.mark.slow
def test_where_one_grade_is_missing_nothing_is_guessed_and_smaller_calls_follow(gpt, server):
    server.on("", reply(lambda items, labels: labels[: max(1, len(labels) - (len(labels) > 2))]))
    run = gpt.grade("gpt", query_ids=("q2",))
    assert (run.counts["ok"], run.counts["failed"]) == (6, 0)
    assert sizes(server) == [1, 1, 2, 2, 3, 3]
    for (_, passage_id, item), (grade,) in gpt.grades("gpt", "grade").items():
        assert grade == grade_of(PASSAGES[passage_id], item)


@pytest.mark.slow
def test_nuggets_are_asked_about_together_as_well(gpt, server):
    texts = ["Bees dance", "Bees see the sun", "Bees sleep"]
    gpt.write("nuggets.csv", ["query_id,kind,text", *(f"q2,nugget,{text}" for text in texts)])
    gpt.bank("nuggets.csv", "nuggets")
    gpt.grader("gpt", prompt="nugget_self_rating", items_per_call=2)
    assert gpt.plan("gpt").totals.prompts == 4
    assert gpt.grade("gpt").counts["ok"] == 6
    assert sizes(server) == [1, 1, 2, 2]


@pytest.mark.slow
def test_a_limit_of_costs_reserves_whole_replies(gpt):
    """7 tokens for three grades or two: at least 7 / 3 each, which times 3 is no less than 7."""
    gpt.grader("gpt", chunk_pairs=10)
    gpt.grade("gpt")
    with Lake.live(gpt.project) as lake:
        mean, longest = replies_so_far(lake, gpt.grader("gpt"))
    assert mean is None  # of so few
    assert longest >= 7


def test_it_makes_another_grader_and_one_at_a_time_is_none(judged):
    def id_of(**settings) -> str:
        return judged.grader("gpt", **(ASKS | settings)).grader_id

    alone = id_of()
    assert id_of(items_per_call=1) == alone
    assert len({alone, id_of(items_per_call=2), id_of(items_per_call=3)}) == 3
    # both orders of one wording ask in the same list
    first = id_of(prompt="question_self_rating_context_first", items_per_call=3)
    assert first == id_of(prompt="question_self_rating_together", items_per_call=3)


def test_a_prompt_of_ones_own_names_the_one_that_asks_about_several(judged, server):
    about = {"target": "question", "scale": "0-3"}
    judged.prompt("mine", "{item} {passage}", **about, together="ours")
    several = "{query}: {n_items} Questions: {items}\nContext: {passage}"
    judged.prompt("ours", several, **about, output="text", parser="labels", window=4)
    settings = ASKS | {"prompt": "mine", "base_url": server.url}
    grader = judged.grader("gpt", **settings, items_per_call=2, concurrency=1)
    assert (grader.prompt.name, grader.prompt.window) == ("ours", 2)
    server.on("", answer("[3, 0]"), answer("3"))
    engine = Engine(grader)
    (chunk, *_) = list(judged.plan("gpt", query_ids=("q2",)).chunks())
    answered = ask(grader, engine.score, chunk)
    end(engine)
    assert [reading.grade for reading, _ in answered][:3] == [3, 0, 3]
    assert judged.grader("other", **(settings | {"prompt": "ours"})).prompt.window == 4


@pytest.mark.parametrize(
    ("settings", "why", "hint"),
    [
        (
            {"prompt": "question_answer", "parser": "answer"},
            "the prompt 'question_answer' does not grade passages on questions or nuggets",
            "Leave the setting out.",
        ),
        ({"prompt": "nuggetizer_assign"}, "does not grade passages", "its file says: window"),
        ({"prompt": "umbrela"}, "does not grade passages", "Leave the setting out."),
        (
            {"prompt": "mine"},
            "asks about one item, {item}, and names none that asks about several, {items}",
            "name it in the file of 'mine': together: NAME",
        ),
        ({"engine": "lexical", "model": ""}, "asked about each item by itself", "Leave"),
        ({"batch": True}, "needs several replies in turn", "or items_per_call"),
        ({"parser": "strict"}, "'strict' cannot read replies", "Those that can: labels"),
        ({"items_per_call": 0}, "items_per_call must be at least 1", ""),
    ],
)
def test_what_cannot_ask_about_several_is_refused_with_what_to_do(judged, settings, why, hint):
    judged.prompt("mine", "{item} {passage}", target="question")
    with pytest.raises(BadInput) as caught:
        judged.grader("gpt", **(ASKS | {"items_per_call": 3} | settings))
    assert why in str(caught.value)
    assert hint in (caught.value.hint or "")
