"""What is missing, in which order, and in which chunks."""

import json

import pytest

from gradelake.sql.common.errors import BadInput
from tests.grading.project import PASSAGES, QUESTIONS

pytestmark = pytest.mark.slow

# no two of its replies are the same
COUNTING = """
def score(self, prompts):
    note(*("asked" for _ in prompts))
    n = len((HERE / "asked").read_text().split()) - len(prompts)
    replies = [f"score: {each % 6}\\ncall no {each}" for each in range(n, n + len(prompts))]
    return [Response(reply, prompt_tokens=10, completion_tokens=1) for reply in replies]
"""


def work(plan) -> list[list[tuple[str, str, str]]]:
    """Chunks of (query, passage, item's text); only pairs whose own prompt is answered."""
    return [
        [
            (query_id, passage_id, chunk.prompts[n]["item"])
            for query_id, passage_id, n in chunk.pairs.filter("is_leader")
            .select("query_id", "passage_id", "prompt_no")
            .iter_rows()
        ]
        for chunk in plan.chunks()
    ]


def pairs(plan) -> set[tuple[str, str, str]]:
    return {
        (row[0], row[1], row[2])
        for chunk in plan.chunks()
        for row in chunk.pairs.select("query_id", "passage_id", "item_id").iter_rows()
    }


def test_every_passage_of_the_pool_meets_every_item_and_each_text_once(judged):
    plan = judged.plan()
    totals = plan.totals
    # q1: p1, p2, p5 x 2 questions; q2: p3, p4 x 3 questions; p5 has p1's text
    assert (totals.wanted, totals.graded, totals.missing, totals.prompts) == (12, 0, 12, 10)
    assert len(pairs(plan)) == 12
    (chunk,) = [chunk for chunk in plan.chunks() if chunk.pairs["query_id"][0] == "q1"]
    assert (len(chunk), len(chunk.prompts)) == (6, 4)
    # tokens are estimated from the texts; the instruction alone has about 150
    assert not totals.tokens_measured
    assert 10 * 130 < totals.prompt_tokens < 10 * 250
    assert totals.pairs_per_second is None


def test_a_direct_judge_has_one_pair_a_passage(judged):
    judged.grader("direct", engine="lexical", prompt="thomas", parser="strict")
    plan = judged.plan("direct")
    assert (plan.totals.wanted, plan.totals.prompts) == (5, 4)
    assert {item for _, _, item in pairs(plan)} == {""}


def of_q2(judged, **settings) -> list[list[str]]:
    """The passages of q2's chunks."""
    judged.grader(**settings)
    chunks = [chunk for chunk in work(judged.plan()) if chunk[0][0] == "q2"]
    return [[passage for _, passage, _ in chunk] for chunk in chunks]


def test_chunks_hold_whole_items_or_whole_passages_where_they_are_large_enough(judged):
    # two items of two passages fit into four, the third comes alone
    assert of_q2(judged, chunk_pairs=4) == [["p3", "p4"] * 2, ["p3", "p4"]]
    context_first = {"prompt": "question_self_rating_context_first"}
    assert of_q2(judged, **context_first) == [["p3"] * 3, ["p4"] * 3]
    assert of_q2(judged, chunk_pairs=2) == [["p3"] * 2, ["p3"], ["p4"] * 2, ["p4"]]


def test_what_is_left_after_a_crash_falls_into_the_same_chunks(judged):
    judged.grader(chunk_pairs=2)
    before = {chunk.id for chunk in judged.plan().chunks()}
    judged.grade(limit=3)  # two passages, and the third whose text is the first's
    after = {chunk.id for chunk in judged.plan().chunks()}
    assert after < before
    assert len(after) < len(before)


def test_a_limit_takes_the_first_pairs_and_queries_can_be_chosen(judged):
    plan = judged.plan(limit=3)
    assert (len(pairs(plan)), plan.totals.missing) == (3, 12)
    plan = judged.plan(query_ids=("q2",))
    assert plan.totals.missing == 6
    assert {query_id for query_id, _, _ in pairs(plan)} == {"q2"}


def test_a_passage_whose_text_changed_is_missing_again(judged):
    judged.grade()
    judged.write("passages.tsv", PASSAGES | {"p1": "The sky is green."})
    judged.ingest()
    plan = judged.plan()
    assert plan.totals.missing == len(QUESTIONS["q1"])
    assert {passage for _, passage, _ in pairs(plan)} == {"p1"}
    judged.grade()
    old_and_new = judged.rows(
        "select count(*) from lake.raw.grades where passage_id = 'p1' and query_id = 'q1'"
    )
    assert old_and_new == [(4,)]  # nothing is overwritten
    assert judged.plan().totals.missing == 0


def test_a_new_passage_with_a_known_text_costs_nothing(judged):
    judged.grade()
    judged.write("passages.tsv", ["p6\tBees find their way home by the sun."])
    judged.write("nist.qrels", ["q2 0 p6 1"])
    judged.ingest()
    plan = judged.plan()
    assert (plan.totals.missing, plan.totals.reusable, plan.totals.prompts) == (3, 3, 0)
    run = judged.grade()
    assert (run.counts["pairs"], run.counts["reused"], run.workers) == (3, 3, 0)
    grades = judged.grades()
    for text in QUESTIONS["q2"]:
        assert grades["q2", "p6", text] == grades["q2", "p3", text]


@pytest.mark.parametrize("template", ["{item} {passage}", "{query} {item} {passage}"])
def test_the_same_texts_in_another_collection_are_not_paid_for_again(judged, template):
    """Another item is graded anew, and another query where the prompt names it."""
    judged.engine("counting", COUNTING)
    judged.prompt("counted", template, target="question", parser="lenient", output="text")
    judged.grader("counting", engine="counting", prompt="counted", actors=1)
    judged.grade("counting")
    judged.name = "shop"
    judged.write("topics.tsv", ["a\twhy is the sky blue", "b\thow do bees find home, then"])
    judged.write("passages.tsv", {f"x{n}": text for n, text in enumerate(PASSAGES.values())})
    judged.write("nist.qrels", {"a": {"x0": 2, "x1": 0, "x4": 2}, "b": {"x2": 1, "x3": 0}})
    judged.write("runs/good.run", ["a Q0 x0 1 2.5 good"])
    texts = {"a": [QUESTIONS["q1"][0], "What is red?"], "b": QUESTIONS["q2"]}
    bank = [{"query_id": q, "kind": "question", "text": t} for q in texts for t in texts[q]]
    judged.write("bank.csv", bank)
    assert judged.ingest().exit_code == 0
    judged.bank()
    asked, plan = len(judged.asked()), judged.plan("counting")
    of_b = 0 if "query" in template else 6
    assert (plan.totals.missing, plan.totals.shared) == (12, 3 + of_b)
    assert plan.totals.prompts == 2 + (6 - of_b)  # x0 and x4 have one text
    run = judged.grade("counting")
    assert len(judged.asked()) - asked == plan.totals.prompts
    assert run.counts["prompt_tokens"] == 10 * plan.totals.prompts
    assert run.notes == [f"{3 + of_b} grades taken over from tiny, of the same texts"]
    assert judged.plan("counting").totals.missing == 0
    told: dict[str, dict] = {"tiny": {}, "shop": {}}
    for collection, query_id, passage, item, *grade in judged.rows(
        "select collection, query_id, passages.text, items.text, grade, response "
        "from lake.raw.grades inner join lake.raw.passages using (collection, passage_id) "
        "inner join lake.raw.rubric_items as items using (collection, query_id, item_id)"
    ):
        query_id = {"a": "q1", "b": "q2"}.get(query_id, query_id)
        told[collection][query_id, passage, item] = grade
    same = [pair for pair, grade in told["shop"].items() if grade == told["tiny"].get(pair)]
    assert len(same) == 2 + of_b


def test_passages_without_a_text_are_counted_and_not_planned(judged):
    judged.write("runs/good.run", ["q1 Q0 p1 1 2.5 good", "q1 Q0 unknown 2 1.5 good"])
    judged.ingest()
    totals = judged.plan().totals
    assert (totals.missing, totals.without_text) == (12, 1)


@pytest.mark.parametrize("left_out", [True, False])
def test_near_duplicates_are_asked_about_only_where_they_count(judged, left_out):
    """p4 stands in for p3's near-duplicate: a judged passage, at the head of a run."""
    judged.write("duplicates.tsv", ["p3\tp4"])
    judged.configure(near_duplicates="duplicates.tsv", leave_out_near_duplicates=left_out)
    judged.write("runs/good.run", ["q1 Q0 p1 1 2.5 good", "q2 Q0 p4 1 1.5 good"])
    assert judged.ingest().exit_code == 0
    (copy,) = judged.rows("select passage_id, canonical_passage_id from lake.raw.near_duplicates")
    asked_about = {passage for query, passage, _ in pairs(judged.plan()) if query == "q2"}
    assert asked_about == {"p3", "p4"} - ({copy[0]} if left_out else set())


def test_the_time_is_estimated_from_earlier_runs(judged):
    judged.grade(limit=6)
    (rate,) = judged.rows("select ok / wall_seconds from lake.raw.grading_runs")[0]
    assert judged.plan().totals.pairs_per_second == pytest.approx(rate)


def test_what_the_lake_does_not_have_is_named(judged):
    for options, words in (
        ({"query_ids": ("q3",)}, "tiny has no query 'q3'"),
        ({"rubric_version": 4}, "tiny has no rubric version 4"),
    ):
        with pytest.raises(BadInput, match=words):
            judged.plan(**options)
    judged.grader("nuggets", engine="lexical", prompt="nugget_self_rating")
    with pytest.raises(BadInput, match="has no nuggets"):
        judged.plan("nuggets")


def test_a_query_whose_text_changed_is_asked_again_where_the_prompt_names_it(judged):
    judged.grader("direct", engine="lexical", prompt="thomas", parser="strict")
    judged.grade("direct")
    judged.grade()
    judged.write("topics.tsv", ["q1\twhat are cars made of", "q2\thow do bees find home"])
    judged.ingest()
    assert judged.plan("direct").totals.missing == 3
    assert judged.plan().totals.missing == 0  # its prompt names the item alone
    judged.grade("direct")
    assert judged.plan("direct").totals.missing == 0
    in_force = judged.rows(
        "select count(*) from lake.intermediate.int_grades_in_force "
        "where item_id = '' and query_id = 'q1'"
    )
    assert in_force == [(3,)]


NOTING = """
def score(self, prompts):
    note(*(prompt.text for prompt in prompts))
    return [Response("3") for _ in prompts]
"""


def test_a_changed_narrative_is_asked_again_of_prompts_that_show_it_and_of_no_others(judged):
    """q2 has neither text. Grades of prompts that show the query alone stay as they were."""
    topics = {
        "q1": {"text": "what are cars made of", "description": "Parts.", "narrative": "Not toys."},
        "q2": {"text": "how do bees find home"},
    }

    def topic(query_id, **changes):
        topics[query_id] |= changes
        lines = [json.dumps({"query_id": key} | texts) for key, texts in topics.items()]
        judged.write("topics.jsonl", lines)
        judged.configure(queries="topics.jsonl")
        assert judged.ingest().exit_code == 0

    def missing():
        return {name: judged.plan(name).totals.missing for name in shown}

    judged.engine("noting", NOTING)
    topic("q1")
    shown = {"plain": "", "told": "|{narrative}|", "meant": "|{description}|"}
    shown["both"] = shown["meant"] + shown["told"]
    for name, slots in shown.items():
        judged.prompt(name, f"{{query}}{slots}: {{passage}}")
        judged.grader(name, engine="noting", model="m", revision="1", prompt=name)
        totals = judged.plan(name).totals
        empty = {slot: 1 for slot in ("description", "narrative") if slot in slots}
        assert (totals.missing, totals.queries_without) == (5, empty)
        judged.grade(name)
    car, bee = topics["q1"]["text"], topics["q2"]["text"]
    of_q1 = {asked.partition(": ")[0] for asked in judged.asked() if asked.startswith(car)}
    assert of_q1 == {car, f"{car}|Not toys.|", f"{car}|Parts.|", f"{car}|Parts.||Not toys.|"}
    assert {asked.partition(": ")[0] for asked in judged.asked()} - of_q1 == {
        *(bee, f"{bee}||", f"{bee}||||")
    }
    is_of_text = (
        "select distinct graders.name = 'plain', query_sha256 = sha256(text) from lake.raw.grades "
        "inner join lake.raw.queries using (collection, query_id) "
        "inner join lake.raw.graders as graders using (grader_id)"
    )
    assert set(judged.rows(is_of_text)) == {(True, True), (False, False)}
    assert missing() == dict.fromkeys(shown, 0)

    topic("q1", narrative="Toys, too.")
    assert missing() == {"plain": 0, "told": 3, "meant": 0, "both": 3}
    topic("q2", description="Bees.")
    assert missing() == {"plain": 0, "told": 3, "meant": 2, "both": 5}
    in_force = (
        "select graders.name, count(*) from lake.intermediate.int_grades_in_force inner join "
        "lake.raw.graders as graders using (grader_id) group by all"
    )
    assert dict(judged.rows(in_force)) == {"plain": 5, "told": 2, "meant": 3}
    topic("q1", narrative="Not toys.")
    assert missing() == {"plain": 0, "told": 0, "meant": 2, "both": 2}, "what was asked before"
    topic("q1", text="cars?")
    assert missing() == {"plain": 3, "told": 3, "meant": 5, "both": 5}


def test_a_prompt_that_shows_a_narrative_is_refused_where_no_topic_has_one(judged):
    judged.prompt("told", "{query} {narrative} {passage}")
    judged.grader("told", engine="lexical", prompt="told")
    with pytest.raises(BadInput, match="no query of tiny has a narrative, which the prompt 'told'"):
        judged.plan("told")
