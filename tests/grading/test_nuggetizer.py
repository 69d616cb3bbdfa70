"""`gradelake generate` with nuggetizer's prompts: nuggets out of passages, window by window."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gradelake.grading.generate import generation
from gradelake.grading.generate.generation_bank import GenerationRequest
from gradelake.ingest.collections.responses import passage_id
from gradelake.sql.common.errors import BadInput
from tests.grading.misbehaving import Server, answer

pytestmark = pytest.mark.slow

# An engine that lists each `fact N` of the passages behind what it was given; even ones are vital.
# What is odd about its replies stands in the query
ENGINE = """
import ast, json, pathlib, re, time
from gradelake.grading.engines import Engine as Base, Response

ASKED = pathlib.Path(__file__).parent / "asked"

class Engine(Base):
    needs_model = False
    targets = frozenset({"generate"})

    def score(self, prompts):
        with ASKED.open("a") as asked:
            asked.writelines(json.dumps(dict(prompt.values)) + "\\n" for prompt in prompts)
        if any("slow" in prompt.values["query"] for prompt in prompts):
            time.sleep(0.5)
        return [
            Response(self.answer(prompt.values), prompt_tokens=10, completion_tokens=2)
            for prompt in prompts
        ]

    def answer(self, values):
        query, items = values["query"], ast.literal_eval(values["items"])
        if "passages" not in values:
            labels = ["okay" if int(item.split()[1]) % 2 else "vital" for item in items]
            if "unsure" in query:
                labels = ["perhaps" if item == "fact 3" else x for item, x in zip(items, labels)]
            return repr(labels)
        if "mute" in query and items:
            return "I cannot say."
        if "drops" in query:
            items = items[1:]
        found = items + re.findall(r"fact \\d+", values["passages"])
        if "moody" in query and not self.grader.decoding["temperature"]:
            return repr(found)[:-5]
        return "Sure:\\n```python\\n" + repr(list(dict.fromkeys(found))) + "\\n```"
"""


@pytest.fixture
def nuggets(judged, two_workers):
    """q1 has 23 relevant passages with a fact each, best first from p22; q2 has one."""
    judged.engine("lists", ENGINE)
    judged.grader("nuggets", engine="lists", prompt="nuggetizer_create", actors=1)
    made = [(f"p{n:02}", f"They say: fact {n}, surely.", "q1", 1 + n // 10) for n in range(23)]
    ingest(judged, [*made, ("x1", "Known is fact 70.", "q2", 1), ("x2", "Or fact 71?", "q2", 0)])
    return judged


def ingest(judged, made: list[tuple], topics: dict[str, str] | None = None) -> None:
    """The collection anew, of (passage, text, query, judgment), with these topics."""
    texts = {"q1": "why is the sky blue", "q2": "how do bees find home"} | (topics or {})
    judged.write("topics.tsv", [f"{key}\t{text}" for key, text in texts.items()])
    judged.write("passages.tsv", [f"{passage_id}\t{text}" for passage_id, text, *_ in made])
    judged.write(
        "nist.qrels", [f"{query} 0 {passage} {grade}" for passage, _, query, grade in made]
    )
    judged.write("runs/good.run", [f"{q} Q0 {p} 1 1 good" for p, _, q, _ in made])
    assert judged.ingest().exit_code == 0


def generate(judged, **options) -> generation.Outcome:
    judged.told = []
    request = GenerationRequest(
        judged.name, judged.grader("nuggets"), options.pop("bank", "nuggets"), **options
    )
    return generation.generate(judged.project, request, ["generate"], judged.told.append)


def asked(judged) -> list[dict[str, str]]:
    return [json.loads(line) for line in (judged.folder / "engines" / "asked").open()]


def bank(judged, query_id: str = "q1") -> dict[str, float]:
    return dict(
        judged.rows(
            "select text, weight from lake.raw.rubric_items where bank = 'nuggets' "
            f"and query_id = '{query_id}'"
        )
    )


def brought_by(judged, query_id: str = "q1") -> dict[str, list[str]]:
    """nugget -> the passages of its window."""
    return {
        text: json.loads(ids)
        for text, ids in judged.rows(
            f"""
            select items.text, found.value->'$.info.passage_ids' as passage_ids
            from lake.raw.brought_along as beside, json_each(beside.content->'$.items') as found
            inner join lake.raw.rubric_items as items
                on items.item_id = found.key
                    and beside.target = items.collection || '/bank/' || items.bank
            where beside.target = 'tiny/bank/nuggets' and items.query_id = '{query_id}'
            """
        )
    }


def test_the_list_goes_from_window_to_window_best_passages_first(nuggets):
    outcome = generate(nuggets, query_ids=("q1",))
    assert (outcome.written, outcome.n_items, outcome.failed, outcome.exit_code) == (1, 23, {}, 0)
    made = [values for values in asked(nuggets) if "passages" in values]
    assert [values["n_items"] for values in made] == ["0", "10", "20"]
    best = [22, 21, 20, *range(10, 20), *range(10)]  # judged 3, 2, 1; then by id
    best = [20, 21, 22, *best[3:]]
    shown = "\n".join(f"[{n}] They say: fact {i}, surely." for n, i in enumerate(best[:10], 1))
    assert made[0]["passages"] == shown
    assert made[1]["items"] == repr([f"fact {i}" for i in best[:10]])
    assert made[2]["passages"].startswith(f"[1] They say: fact {best[20]}, surely.\n")
    # a window's passages are said to have brought what its reply named first
    assert brought_by(nuggets) == {
        f"fact {i}": [f"p{j:02}" for j in best[n // 10 * 10 : n // 10 * 10 + 10]]
        for n, i in enumerate(best)
    }
    assert outcome.tokens == 12 * len(asked(nuggets))


def test_vital_nuggets_weigh_1_and_okay_ones_a_half(nuggets):
    generate(nuggets)
    scored = [values for values in asked(nuggets) if "passages" not in values]
    assert sorted(int(values["n_items"]) for values in scored) == [1, 3, 10, 10]
    assert bank(nuggets) == {f"fact {n}": 0.5 if n % 2 else 1.0 for n in range(23)}
    assert nuggets.rows(
        "select distinct kind, origin, facet_id from lake.raw.rubric_items where bank = 'nuggets'"
    ) == [("nugget", "generated", "")]
    assert bank(nuggets, "q2") == {"fact 70": 1.0}


def test_nuggetizers_own_numbers_stand_in_the_graders_row(nuggets):
    generate(nuggets)
    ((target, parser, text),) = nuggets.rows(
        "select target, parser, prompt_text from lake.raw.graders where name = 'nuggets'"
    )
    assert (target, parser) == ("generate", "list")
    assert "has at most 30 nuggets (can be less)" in text
    assert "You are NuggetizeScoreLLM" in text
    prompt = nuggets.grader("nuggets").prompt
    assert (prompt.window, prompt.importance.window, prompt.max_nuggets) == (10, 10, 30)


def test_at_most_30_are_kept_and_what_was_dropped_is_told(nuggets):
    ingest(nuggets, [(f"p{n}", f"fact {n} and fact {n + 50}", "q1", 1) for n in range(18)])
    outcome = generate(nuggets, query_ids=("q1",))
    assert (outcome.n_items, len(bank(nuggets))) == (30, 30)
    (one,) = outcome.remarkable
    assert one.items.beyond == 6


def test_a_nugget_that_a_later_window_drops_is_gone(nuggets):
    ingest(nuggets, [(f"p{n:02}", f"fact {n}", "q1", 1) for n in range(12)], {"q1": "drops"})
    generate(nuggets, query_ids=("q1",))
    assert set(bank(nuggets)) == {f"fact {n}" for n in range(1, 12)}
    assert brought_by(nuggets)["fact 11"] == ["p10", "p11"]


def test_a_list_that_cannot_be_read_is_asked_for_again_in_another_way(nuggets):
    ingest(nuggets, [(f"p{n:02}", f"fact {n}", "q1", 1) for n in range(12)], {"q1": "moody"})
    outcome = generate(nuggets, query_ids=("q1",))
    assert (outcome.n_items, outcome.exit_code) == (12, 0)
    (one,) = outcome.remarkable
    assert (one.tries, one.decoding["temperature"]) == (2, 0.7)
    # each window begins as the grader says
    made = [values["n_items"] for values in asked(nuggets) if "passages" in values]
    assert made == ["0", "0", "10", "10"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("mute", "the reply holds no list: 'I cannot say.'"),
        ("unsure", "how important 'fact 3' is was not told: 'perhaps' is not on the scale"),
    ],
)
def test_a_query_that_fails_writes_nothing_and_leaves_the_others_alone(nuggets, query, why):
    made = [(f"p{n:02}", f"fact {n}", "q1", 1) for n in range(12)]
    ingest(nuggets, [*made, ("x1", "fact 70", "q2", 1)], {"q1": query, "q2": "plain"})
    outcome = generate(nuggets)
    assert list(outcome.failed) == ["q1"]
    assert outcome.failed["q1"].startswith(why)
    assert (outcome.exit_code, bank(nuggets), brought_by(nuggets)) == (3, {}, {})
    assert bank(nuggets, "q2") == {"fact 70": 1.0}
    ingest(nuggets, [*made, ("x1", "fact 70", "q2", 1)], {"q1": "plain too", "q2": "plain"})
    outcome = generate(nuggets)  # it is asked about again, and nothing else
    assert (outcome.planned, outcome.n_items, outcome.exit_code) == (1, 12, 0)


def test_a_query_without_relevant_passages_is_reported(nuggets):
    outcome = generate(nuggets, level=2)
    assert (outcome.written, outcome.failed) == (1, {"q2": "no passage judged 2 or more"})
    assert set(bank(nuggets)) == {f"fact {n}" for n in range(10, 23)}
    with pytest.raises(BadInput, match="no passage judged 4 or more: q1, q2") as caught:
        generate(nuggets, level=4, bank="other")
    assert "lower --level" in caught.value.hint


def test_a_limit_is_not_used_up_by_queries_without_passages(nuggets):
    made = [("p1", "fact 1", "q1", 0), ("p2", "fact 2", "q2", 1)]
    ingest(nuggets, made)
    outcome = generate(nuggets, limit=1)
    assert (outcome.planned, outcome.failed, bank(nuggets, "q2")) == (1, {}, {"fact 2": 1.0})


def test_a_bank_is_made_out_of_one_kind_of_passages(nuggets):
    generate(nuggets, level=2)
    with pytest.raises(BadInput, match="out of passages judged 2 or more, not judged 1 or more"):
        generate(nuggets)


def test_passages_are_read_once_each_and_those_without_a_text_are_not(nuggets):
    made = [("p1", "fact 1", "q1", 1), ("p2", "fact 1", "q1", 2), ("p3", "fact 3", "q1", 1)]
    ingest(nuggets, made)
    nuggets.write("nist.qrels", ["q1 0 p1 1", "q1 0 p2 2", "q1 0 p3 1", "q1 0 gone 3"])
    nuggets.ingest()
    generate(nuggets, query_ids=("q1",))
    assert asked(nuggets)[0]["passages"] == "[1] fact 1\n[2] fact 3"
    assert brought_by(nuggets)["fact 1"] == ["p2", "p3"]


def test_generated_answers_are_not_what_they_are_judged_by(nuggets):
    response = {"system": "a", "query_id": "q2", "text": "Bees say fact 9."}
    own = passage_id(response["text"])
    nuggets.write("responses.jsonl", [json.dumps(response)])
    nuggets.write("nist.qrels", [f"q2 0 {own} 2", "q2 0 x1 1"])
    nuggets.configure(responses=["responses.jsonl"])
    assert nuggets.ingest().exit_code == 0
    assert nuggets.rows("select passage_id from lake.raw.passages where origin = 'response'") == [
        (own,)
    ]
    generate(nuggets, query_ids=("q2",))
    assert brought_by(nuggets, "q2") == {"fact 70": ["x1"]}


def test_a_label_set_says_which_passages_in_its_own_order(nuggets):
    nuggets.write("labels.qrels", ["q1 0 p03 2", "q1 0 p07 3", "q1 0 p09 1", "q2 0 x2 3"])
    nuggets.gradelake("import", "labels", "tiny", "labels.qrels", "--judge", "Sun")
    nuggets.gradelake("build")
    options = ("--method", "nuggetizer", "--label-set", "judge:Sun", "--level", "2")
    done = nuggets.gradelake("generate", "tiny", "--grader", "nuggets", *options)
    assert done.returncode == 0, done.stderr
    assert "bank nuggets: wrote 3 items for 2 queries of tiny" in done.stdout
    assert brought_by(nuggets) == {"fact 3": ["p07", "p03"], "fact 7": ["p07", "p03"]}
    assert bank(nuggets, "q2") == {"fact 71": 0.5}
    with pytest.raises(BadInput, match="tiny has no label set 'judge:Son'"):
        generate(nuggets, label_set="judge:Son", bank="other")


def test_an_export_and_import_of_the_bank_keep_weights_and_where_nuggets_come_from(nuggets):
    generate(nuggets)
    files = nuggets.folder / "one.jsonl", nuggets.folder / "two.jsonl"
    for file, name in zip(files, ("nuggets", "again"), strict=True):
        done = nuggets.gradelake(
            "export", "bank", "tiny", "--name", name, "--live", "-o", str(file)
        )
        assert done.returncode == 0, done.stderr
        if name == "nuggets":
            done = nuggets.gradelake("import", "bank", "tiny", str(file), "--name", "again")
            assert done.returncode == 0, done.stderr
    assert files[0].read_text() == files[1].read_text()
    line = json.loads(files[0].read_text().splitlines()[1])
    assert line["info"] == {"made_out_of": "judged 1 or more"}
    assert line["items"][0]["info"] == {"passage_ids": ["x1"]}
    # as a bank from anywhere: the items are the rubric's
    assert nuggets.rows(
        "select bank, sum(weight) from lake.raw.rubric_items where query_id = 'q1' "
        "and bank in ('again', 'nuggets') group by all order by all"
    ) == [("again", 17.5), ("nuggets", 17.5)]


def test_what_was_killed_or_stopped_goes_on_query_by_query(nuggets):
    queries = ["q1", "q2", *(f"t{n}" for n in range(110))]
    made = [(f"p{n}", f"fact {n}", query, 1) for n, query in enumerate(queries)]
    ingest(nuggets, made, {query: f"slow query {query}" for query in queries})
    command = [sys.executable, "-m", "gradelake", "generate", "tiny", "--grader", "nuggets"]
    done = "select count(distinct query_id) from lake.raw.rubric_items where bank = 'nuggets'"
    for how, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        before = nuggets.lake.value(done)
        process = subprocess.Popen(
            command,
            cwd=nuggets.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        deadline = time.monotonic() + 90
        while nuggets.lake.value(done) == before:
            assert time.monotonic() < deadline, "waited in vain"
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        if how == signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        _, err = process.communicate(timeout=300)
        assert process.returncode == code, err
        assert nuggets.lake.value(done) % generation.BATCH == 0
    assert "the same command continues" in err
    left = 112 - nuggets.lake.value(done)
    assert 0 < left < 112
    assert generate(nuggets).planned == left
    assert nuggets.rows(
        "select count(*), count(distinct query_id), (select count(*) from lake.raw.brought_along) "
        "from lake.raw.rubric_items where bank = 'nuggets'"
    ) == [(112, 112, 112)]
    snapshot = nuggets.snapshot()
    assert generate(nuggets).planned == 0
    assert nuggets.snapshot() == snapshot


def test_an_endpoint_reads_both_prompts_and_is_held_to_no_schema(nuggets):
    server = Server()
    server.on("Update the list", answer('["fact 1", "fact 2"]'))
    server.on("label each", answer("['okay', 'vital']"))
    nuggets.graders["nuggets"] = {"engine": "openai", "model": "m", "base_url": server.url}
    nuggets.grader("nuggets", prompt="nuggetizer_create")
    try:
        outcome = generate(nuggets, query_ids=("q2",))
    finally:
        server.stop()
    assert (outcome.failed, bank(nuggets, "q2")) == ({}, {"fact 1": 0.5, "fact 2": 1.0})
    made, scored = (asked.body for asked in server.asked)
    assert [body["max_tokens"] for body in (made, scored)] == [2048, 2048]
    assert not any("response_format" in body for body in (made, scored))
    assert made["messages"][0]["content"].startswith("You are NuggetizeLLM")
    assert "Context:\n[1] Known is fact 70.\nSearch Query: " in made["messages"][1]["content"]
    assert scored["messages"][0]["content"].startswith("You are NuggetizeScoreLLM")
    assert "Nugget List: ['fact 1', 'fact 2']" in scored["messages"][1]["content"]


def test_options_about_passages_are_refused_for_other_prompts(judged):
    judged.engine("lists", ENGINE)
    judged.grader("writer", engine="lists", prompt="generate_nuggets_dl")
    for options in (("--method", "nuggetizer"), ("--level", "1"), ("--label-set", "judge:Sun")):
        done = judged.gradelake("generate", "tiny", "--grader", "writer", *options)
        assert done.returncode == 2
        assert f"{options[0]}: the prompt 'generate_nuggets_dl' of 'writer' reads no passages" in (
            done.stderr
        )
    with pytest.raises(BadInput, match="says which nuggets are vital, and makes none") as caught:
        judged.grader("scores", engine="lists", prompt="nuggetizer_score")
    assert "nuggetizer_create" in caught.value.hint
