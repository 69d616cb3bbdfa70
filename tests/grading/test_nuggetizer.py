"""`gradelake generate` with nuggetizer's prompts: nuggets out of passages, window by window."""

import json
import os
import signal
from contextlib import closing

import pytest

from gradelake.grading.generate import generation
from gradelake.grading.generate.generation_bank import GenerationRequest
from gradelake.grading.generate.writers import BATCH
from gradelake.ingest.collections.responses import passage_id
from gradelake.sql.common.errors import BadInput
from tests.grading.project import copy_of, wait_for

pytestmark = pytest.mark.slow

# An engine that lists each `fact N` of the passages behind what it was given; even ones are vital.
# What is odd about its replies stands in the query
ENGINE = """
targets = frozenset({"generate"})

def score(self, prompts):
    note(*(json.dumps(dict(prompt.values)) for prompt in prompts))
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


TOPICS = {"q1": "why is the sky blue", "q2": "how do bees find home"} | {
    name: name for name in ("drops", "moody", "mute", "unsure", "many", "twice", "none")
}
OWN = "Bees say fact 9."  # an answer of a system, judged as passages are


def in_order(query: str, n: int = 12) -> list[tuple]:
    return [(f"{query}{i:02}", f"fact {i}", query, 1) for i in range(n)]


# (passage, text, query, judgment): q1 has 23 relevant passages with a fact each, best from p22 on
JUDGED = [
    *((f"p{n:02}", f"They say: fact {n}, surely.", "q1", 1 + n // 10) for n in range(23)),
    *(("x1", "Known is fact 70.", "q2", 1), ("x2", "Or fact 71?", "q2", 0)),
    *(row for query in ("drops", "moody", "mute", "unsure") for row in in_order(query)),
    *((f"m{n}", f"fact {n} and fact {n + 50}", "many", 1) for n in range(18)),
    *(("t1", "fact 1", "twice", 1), ("t2", "fact 1", "twice", 2), ("t3", "fact 3", "twice", 1)),
    ("n1", "fact 1", "none", 0),
]


def ready(judged, judged_pairs: list[tuple] = JUDGED, topics: dict[str, str] = TOPICS):
    """The collection with these topics and pairs, and the grader `nuggets`."""
    judged.engine("lists", ENGINE)
    judged.grader("nuggets", engine="lists", prompt="nuggetizer_create", actors=1)
    judged.write("topics.tsv", topics)
    judged.write("passages.tsv", {passage: text for passage, text, *_ in judged_pairs})
    lines = [f"{query} 0 {passage} {grade}" for passage, _, query, grade in judged_pairs]
    judged.write("nist.qrels", [*lines, "q1 0 gone 3", f"q2 0 {passage_id(OWN)} 2"])
    judged.write("responses.jsonl", [{"system": "a", "query_id": "q2", "text": OWN}])
    judged.configure(responses=["responses.jsonl"])
    judged.write("runs/good.run", [f"{q} Q0 {p} 1 1 good" for p, _, q, _ in judged_pairs])
    assert judged.ingest().exit_code == 0
    return judged


@pytest.fixture(scope="module")
def made(judged_lake, tmp_path_factory):
    """The collection with the bank `nuggets`, and how its making went."""
    with closing(copy_of(judged_lake, tmp_path_factory.mktemp("nuggets"))) as judged:
        yield ready(judged), generate(judged)


@pytest.fixture
def nuggets(made):
    """The collection with that bank; tests that write choose another bank."""
    return made[0]


def generate(judged, **options) -> generation.WrittenItems:
    request = GenerationRequest(
        judged.name, judged.grader("nuggets"), options.pop("bank", "nuggets"), **options
    )
    return generation.generate(judged.project, request, ["generate"])


def asked(judged, query: str) -> tuple[list[dict], list[dict]]:
    """What was asked about a query: for nuggets of a window, and which of them are vital."""
    about = [values for values in map(json.loads, judged.asked()) if values["query"] == query]
    return [v for v in about if "passages" in v], [v for v in about if "passages" not in v]


def bank(judged, query_id: str = "q1", name: str = "nuggets") -> dict[str, float]:
    return dict(
        judged.rows(
            f"select text, weight from lake.raw.rubric_items where bank = '{name}' "
            f"and query_id = '{query_id}'"
        )
    )


def brought_by(judged, query_id: str = "q1", name: str = "nuggets") -> dict[str, list[str]]:
    """nugget -> the passages of its window."""
    return {
        text: json.loads(ids)
        for text, ids in judged.rows(
            f"""
            select items.text, found.value->'$[1].info.passage_ids' as passage_ids
            from lake.raw.brought_along as beside, json_each(beside.content->'$.given') as found
            inner join lake.raw.rubric_items as items
                on items.item_id = (found.value->>'$[0]')
                    and beside.target = items.collection || '/bank/' || items.bank
            where beside.target = 'tiny/bank/{name}' and items.query_id = '{query_id}'
            """
        )
    }


def test_the_list_goes_from_window_to_window_best_passages_first(nuggets):
    windows, _ = asked(nuggets, TOPICS["q1"])
    assert [values["n_items"] for values in windows] == ["0", "10", "20"]
    best = [20, 21, 22, *range(10, 20), *range(10)]  # judged 3, 2, 1; then by id
    shown = "\n".join(f"[{n}] They say: fact {i}, surely." for n, i in enumerate(best[:10], 1))
    assert windows[0]["passages"] == shown
    assert windows[1]["items"] == repr([f"fact {i}" for i in best[:10]])
    assert windows[2]["passages"].startswith(f"[1] They say: fact {best[20]}, surely.\n")
    # a window's passages are said to have brought what its reply named first
    assert brought_by(nuggets) == {
        f"fact {i}": [f"p{j:02}" for j in best[n // 10 * 10 : n // 10 * 10 + 10]]
        for n, i in enumerate(best)
    }


def test_vital_nuggets_weigh_1_and_okay_ones_a_half(nuggets):
    _, scored = asked(nuggets, TOPICS["q1"])
    assert sorted(int(values["n_items"]) for values in scored) == [3, 10, 10]
    assert bank(nuggets) == {f"fact {n}": 0.5 if n % 2 else 1.0 for n in range(23)}
    assert nuggets.rows(
        "select distinct kind, origin, facet_id from lake.raw.rubric_items where bank = 'nuggets'"
    ) == [("nugget", "generated", "")]


def test_at_most_30_are_kept_and_what_was_dropped_is_told(made):
    nuggets, outcome = made
    assert len(bank(nuggets, "many")) == 30
    (one,) = (one for one in outcome.remarkable if one.query_id == "many")
    assert one.items.beyond == 6


def test_a_nugget_that_a_later_window_drops_is_gone(nuggets):
    assert set(bank(nuggets, "drops")) == {f"fact {n}" for n in range(1, 12)}
    assert brought_by(nuggets, "drops")["fact 11"] == ["drops10", "drops11"]


def test_a_list_that_cannot_be_read_is_asked_for_again_in_another_way(made):
    nuggets, outcome = made
    (one,) = (one for one in outcome.remarkable if one.query_id == "moody")
    assert (one.tries, one.decoding["temperature"], len(one.items.texts)) == (2, 0.7, 12)
    # each window begins as the grader says
    assert [values["n_items"] for values in asked(nuggets, "moody")[0]] == ["0", "0", "10", "10"]


def test_passages_are_read_once_each_and_neither_answers_nor_what_has_no_text(nuggets):
    """Nor does what nobody judged relevant become a nugget."""
    ((values,), _) = asked(nuggets, "twice")
    assert values["passages"] == "[1] fact 1\n[2] fact 3"
    assert brought_by(nuggets, "twice")["fact 1"] == ["t2", "t3"]
    known = "select origin from lake.raw.passages where passage_id = "
    assert nuggets.rows(f"{known}'{passage_id(OWN)}'") == [("response",)]
    assert brought_by(nuggets, "q2") == {"fact 70": ["x1"]}


def test_a_query_that_fails_writes_nothing_and_is_asked_about_again(made, tmp_path):
    nuggets, outcome = made
    whys = {
        "mute": "the reply holds no list: 'I cannot say.'",
        "unsure": "how important 'fact 3' is was not told: 'perhaps' is not on the scale",
        "none": "no passage judged 1 or more",
    }
    assert outcome.failed.keys() == whys.keys()
    for query, why in whys.items():
        assert outcome.failed[query].startswith(why)
        assert (bank(nuggets, query), brought_by(nuggets, query)) == ({}, {})
    assert (outcome.written, outcome.exit_code) == (6, 3)
    assert outcome.tokens > 12 * 10
    with closing(copy_of(nuggets.folder / "lake", tmp_path / "again")) as again:
        ready(again, topics=TOPICS | {"mute": "plain", "unsure": "plain too"})
        outcome = generate(again)
    assert (outcome.written, outcome.n_items, list(outcome.failed)) == (2, 24, ["none"])


def test_a_level_says_which_passages_and_a_bank_is_made_of_one_kind_of_them(nuggets):
    asked_for = {"query_ids": ("q1", "q2"), "bank": "level"}
    outcome = generate(nuggets, level=2, **asked_for)
    assert (outcome.written, outcome.failed) == (1, {"q2": "no passage judged 2 or more"})
    assert set(bank(nuggets, name="level")) == {f"fact {n}" for n in range(10, 23)}
    with pytest.raises(BadInput, match="no passage judged 4 or more: q1, q2") as caught:
        generate(nuggets, level=4, **asked_for | {"bank": "other"})
    assert "lower --level" in caught.value.hint
    with pytest.raises(BadInput, match="out of passages judged 2 or more, not judged 1 or more"):
        generate(nuggets, **asked_for)


def test_a_limit_is_not_used_up_by_queries_without_passages(nuggets):
    outcome = generate(nuggets, limit=1, query_ids=("none", "q2"), bank="limited")
    assert (outcome.planned, outcome.failed) == (1, {})
    assert bank(nuggets, "q2", "limited") == {"fact 70": 1.0}


def test_a_label_set_says_which_passages_in_its_own_order(nuggets):
    nuggets.write("labels.qrels", ["q1 0 p03 2", "q1 0 p07 3", "q1 0 p09 1", "q2 0 x2 3"])
    nuggets.gradelake("import", "labels", "tiny", "labels.qrels", "--judge", "Sun")
    nuggets.gradelake("build")
    options = ("--bank", "sun", "--label-set", "judge:Sun", "--level", "2", "--queries", "q1,q2")
    command = ("generate", "tiny", "--grader", "nuggets", "--method", "nuggetizer", *options)
    done = nuggets.gradelake(*command)
    assert "bank sun: wrote 3 items for 2 queries of tiny" in done.stdout
    assert brought_by(nuggets, name="sun") == {"fact 3": ["p07", "p03"], "fact 7": ["p07", "p03"]}
    assert bank(nuggets, "q2", "sun") == {"fact 71": 0.5}
    with pytest.raises(BadInput, match="tiny has no label set 'judge:Son'"):
        generate(nuggets, label_set="judge:Son", bank="other")


def test_an_export_and_import_of_the_bank_keep_weights_and_where_nuggets_come_from(nuggets):
    files = nuggets.folder / "one.jsonl", nuggets.folder / "two.jsonl"
    for file, name in zip(files, ("nuggets", "again"), strict=True):
        nuggets.gradelake("export", "bank", "tiny", "--name", name, "--live", "-o", file)
        if name == "nuggets":
            nuggets.gradelake("import", "bank", "tiny", file, "--name", "again")
    assert files[0].read_text() == files[1].read_text()
    lines = map(json.loads, files[0].read_text().splitlines())
    (line,) = (line for line in lines if line["query_id"] == "q2")
    assert line["info"] == {"made_out_of": "judged 1 or more"}
    assert line["items"][0]["info"] == {"passage_ids": ["x1"]}
    # as a bank from anywhere: the items are the rubric's
    assert nuggets.rows(
        "select bank, sum(weight) from lake.raw.rubric_items where query_id = 'q1' "
        "and bank in ('again', 'nuggets') group by all order by all"
    ) == [("again", 17.5), ("nuggets", 17.5)]


def test_what_was_killed_or_stopped_goes_on_query_by_query(judged):
    queries = ["q1", "q2", *(f"t{n}" for n in range(110))]
    made = [(f"p{n}", f"fact {n}", query, 1) for n, query in enumerate(queries)]
    nuggets = ready(judged, made, {query: f"slow query {query}" for query in queries})
    done = "select count(distinct query_id) from lake.raw.rubric_items where bank = 'nuggets'"
    for how, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        before = nuggets.lake.value(done)
        process = nuggets.spawn("generate", "tiny", "--grader", "nuggets")
        wait_for(lambda before=before: nuggets.lake.value(done) != before, process)
        if how == signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        _, err = process.communicate(timeout=300)
        assert process.returncode == code, err
        assert nuggets.lake.value(done) % BATCH == 0
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


def test_options_about_passages_are_refused_for_other_prompts(judged):
    judged.engine("lists", ENGINE)
    judged.grader("writer", engine="lists", prompt="generate_nuggets_dl")
    for options in (("--method", "nuggetizer"), ("--level", "1"), ("--label-set", "judge:Sun")):
        done = judged.gradelake("generate", "tiny", "--grader", "writer", *options, code=2)
        said = f"{options[0]}: the prompt 'generate_nuggets_dl' of 'writer' reads no passages"
        assert said in done.stderr
    with pytest.raises(BadInput, match="says which nuggets are vital, and makes none") as caught:
        judged.grader("scores", engine="lists", prompt="nuggetizer_score")
    assert "nuggetizer_create" in caught.value.hint
