"""Battles: two answers to a query, side by side, in both orders."""

from collections import Counter

import pytest

from gradelake.grading.plan.planner import NothingToGrade, ensure_views
from gradelake.grading.prompts.prompt_file import read_prompt
from gradelake.sql.common.errors import BadInput

ANSWERS = {f"s{n}": f"The sky is blue, says number {n}." for n in range(7)}
# An engine for which the greater number wins; it says too much of number 6, and notes what it reads
COMPARES = """
def score(self, prompts):
    return [self.answer(**prompt.values) for prompt in prompts]

def answer(self, query, passage, item, rubric=None, **_):
    first, second = passage[-2], item[-2]
    note(f"{first}{second} {rubric!r}")
    if "6" in (first, second):
        return Response("A, I think")
    return Response("A" if first > second else "B")
"""


@pytest.fixture
def battling(judged):
    """Seven systems answer q1, and the first two of them q2."""
    respond(judged, ANSWERS)
    judged.engine("compares", COMPARES)
    judged.grader("battles", engine="compares", prompt="battle", actors=1, chunk_pairs=5)
    return judged


def respond(judged, answers: dict[str, str]) -> None:
    rows = [(system, "q1", text) for system, text in answers.items()]
    rows += [("s0", "q2", "Bees, says a."), ("s1", "q2", "Bees, says b.")]
    names = ("system", "query_id", "text")
    judged.write("responses.jsonl", [dict(zip(names, row, strict=True)) for row in rows])
    judged.configure(responses=["responses.jsonl"])
    judged.ingest()


def pairs_asked(judged) -> Counter:
    """(first, second) -> how often it was asked, by the numbers of the answers to q1."""
    pairs = (line.split(" ")[0] for line in judged.asked())
    return Counter(pair for pair in pairs if pair.isdigit())


@pytest.mark.slow
def test_each_answer_battles_four_others_in_both_orders_and_nothing_is_asked_twice(battling):
    # q1: seven answers with four opponents each; q2: one pair
    assert battling.plan("battles").totals.missing == 2 * (7 * 4 // 2 + 1)
    run = battling.grade("battles", limit=9)
    assert (run.counts["pairs"], battling.plan("battles").totals.missing) == (9, 21)
    assert battling.grade("battles").left == 0
    asked = pairs_asked(battling)
    assert set(asked.values()) == {1}
    assert all(second + first in asked for first, second in asked)
    assert Counter(first for first, _ in asked) == dict.fromkeys("0123456", 4)
    # what was not said is no verdict
    found = battling.rows("select status, count(*), count(grade) from lake.raw.grades group by all")
    assert sorted(found) == [("failed", 8, 0), ("ok", 22, 22)]


@pytest.mark.slow
def test_a_new_system_has_battles_of_its_own_and_takes_none_of_others_in(battling):
    battling.grade("battles")
    before = pairs_asked(battling)
    respond(battling, ANSWERS | {"s7": "The sky is blue, says number 7."})
    assert battling.plan("battles").totals.missing == 2 * 4
    battling.grade("battles")
    new = pairs_asked(battling) - before
    assert len(new) == 8
    assert all("7" in pair for pair in new)


@pytest.mark.slow
def test_one_order_is_drawn_where_the_seed_says_so(battling):
    battling.write("seeds/evaluation_battles.csv", ["opponents,orders,seed", "2,1,x"])
    ensure_views(battling.lake)
    assert battling.plan("battles").totals.missing == 7 + 1
    battling.grade("battles")
    asked = pairs_asked(battling)
    assert len(asked) == 7
    assert not any(second + first in asked for first, second in asked)


@pytest.mark.slow
def test_a_judge_is_shown_the_rubric_of_now(battling):
    battling.grader("guided", engine="compares", prompt="battle_rubric", actors=1)
    battling.grade("guided", query_ids=("q2",))
    (told,) = {line.split(" ", 1)[1] for line in battling.asked()}
    assert sorted(told.strip("'").split(r"\n")) == [
        "- Do bees see the sun?",
        "- How do bees find home?",
        "- What do bees remember?",
    ]
    assert battling.plan("guided", query_ids=("q2",)).totals.missing == 0
    battling.write("more.csv", ["query_id,kind,text", "q2,nugget,Bees dance"])
    battling.bank("more.csv", "more")
    # the rubric of q2 is another one; battles without it stand as they are
    assert battling.plan("guided", query_ids=("q2",)).totals.missing == 2
    battling.grade("guided", query_ids=("q2",))
    assert "- Bees dance" in battling.asked()[-1]


def test_without_answers_there_are_no_battles(judged):
    judged.grader("words", engine="lexical", prompt="battle")
    with pytest.raises(NothingToGrade, match="tiny has no generated answers"):
        judged.plan("words")


@pytest.mark.slow
def test_without_a_model_the_answer_that_holds_more_words_wins_in_either_order(judged):
    texts = {"s0": "Air scatters blue light, so the sky is blue.", "s1": "I do not know."}
    respond(judged, texts)
    judged.grader("words", engine="lexical", prompt="battle")
    judged.grade("words", query_ids=("q1",))
    assert sorted(judged.rows("select response from lake.raw.grades")) == [("A",), ("B",)]


def test_a_scale_that_is_no_verdict_is_refused(judged):
    judged.prompt("ours", "{query} {passage} {item}", target="battle", scale={"A": 1, "B": 2})
    with pytest.raises(
        BadInput, match="0 the second wins, 1 both are bad, 2 a tie, 3 the first wins"
    ):
        read_prompt(judged.folder / "prompts/ours.yaml", "ours.yaml")
