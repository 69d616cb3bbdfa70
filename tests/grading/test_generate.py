"""`gradelake generate`: a model writes a bank, whatever its replies look like."""

import hashlib
import json
from contextlib import closing

import pytest

from gradelake.grading.generate import generation
from gradelake.grading.generate.generation_bank import GenerationRequest
from gradelake.grading.graders.configured import judges, writing
from gradelake.sql.common.errors import BadInput
from tests.grading.misbehaving import Server, answer, refuse
from tests.grading.project import copy_of

pytestmark = pytest.mark.slow

# dies of bees
DYING = """\
targets = frozenset({"generate"})

def score(self, prompts):
    if any("bees" in prompt.text for prompt in prompts):
        os._exit(1)
    return [Response('{"questions": ["Why?"]}') for _ in prompts]
"""
QUICK = {"pause": 0.01, "timeout": 20.0}
SKY = ["Why is it blue?", "What scatters light?"]
BEES = ["Do bees see the sun?"]
TOPICS = {"q1": "why is the sky blue", "q2": "how do bees find home", "q3": "moon", "q4": "rain"}


def listed(*texts, key: str = "questions") -> str:
    return json.dumps({key: texts})


def scripted() -> Server:
    """Writes two questions about the sky, one about bees; of the moon only at the third try, of
    rain never."""
    server = Server()
    server.on("moon", answer('{"questions": ["Why'), answer("none"), answer(listed("Why full?")))
    server.on("rain", answer("I would rather not."), answer(listed()))
    server.on("sky", answer(listed(*SKY)))
    server.on("bees", answer(listed(*BEES)))
    return server


@pytest.fixture
def server():
    with scripted() as server:
        yield server


def with_writer(judged, server: Server):
    judged.grader(
        "gpt",
        engine="openai",
        model="m",
        prompt="generate_questions_dl",
        base_url=server.url,
        **QUICK,
    )
    return judged


@pytest.fixture
def gpt(judged, server):
    """The collection with a rubric, and a grader that asks the server for questions."""
    return with_writer(judged, server)


@pytest.fixture(scope="module")
def generated(judged_lake, tmp_path_factory):
    """The same with the bank that it wrote, how that went, and the server; tests only read it."""
    server = scripted()
    folder = tmp_path_factory.mktemp("generated")
    with closing(with_writer(copy_of(judged_lake, folder), server)) as gpt:
        gpt.write("topics.tsv", TOPICS)
        assert gpt.ingest().exit_code == 0
        outcome = generate(gpt)
        server.stop()
        yield gpt, outcome, server


def generate(
    judged, name: str = "gpt", bank: str | None = None, **options
) -> generation.WrittenItems:
    """Generate in this process's Ray."""
    request = GenerationRequest(judged.name, judged.grader(name), bank or name, **options)
    return generation.generate(judged.project, request, ["generate"])


def bank(judged, name: str = "gpt") -> dict[str, list[str]]:
    """query -> texts of its items, in order of the alphabet."""
    rows = judged.lake.rows(
        "select query_id, list_sort(list(text)) from lake.raw.rubric_items where bank = ? "
        "group by query_id order by query_id",
        name,
    )
    return dict(rows)


def extra(judged) -> dict:
    """What the newest commit says of itself for programs."""
    return json.loads(
        judged.lake.value(
            "select commit_extra_info from lake.snapshots() order by snapshot_id desc limit 1"
        )
    )


# --- the plain case -------------------------------------------------------------------------------


def test_every_query_gets_the_items_that_the_model_wrote(generated):
    gpt, outcome, _ = generated
    assert (outcome.written, outcome.n_items, outcome.left, outcome.exit_code) == (3, 4, 0, 3)
    rows = gpt.rows(
        "select query_id, facet_id, item_id, kind, text, gold_answers, weight, origin "
        "from lake.raw.rubric_items where bank = 'gpt' and query_id < 'q3' "
        "order by query_id, text desc"
    )
    assert rows == [
        (
            query_id,
            "",
            f"{query_id}/{hashlib.md5(text.encode()).hexdigest()}",
            "question",
            text,
            None,
            1.0,
            "generated",
        )
        for query_id, text in (("q1", SKY[0]), ("q1", SKY[1]), ("q2", BEES[0]))
    ]


def test_the_model_reads_the_published_prompt_and_is_held_to_its_json(generated):
    _, _, server = generated
    (asked,) = server.about("sky")
    assert asked.text.startswith("Break the query 'why is the sky blue' into concise questions")
    form = asked.body["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert form["json_schema"]["schema"]["required"] == ["questions"]
    assert asked.body["max_tokens"] == 1024
    assert "structured_outputs" not in asked.body


def test_who_made_the_bank_can_be_found(generated):
    gpt, _, _ = generated
    grader = gpt.grader("gpt")
    (row,) = gpt.rows(
        "select graders.name, graders.target, engine, model, prompt, parser, prompt_text, "
        "settings->>'$.decoding.max_tokens' "
        "from lake.raw.ledger inner join lake.raw.graders "
        "on split_part(ledger.target, '/', 4) = graders.grader_id "
        "where ledger.target = 'tiny/bank/gpt/' || graders.grader_id || '/q1'"
    )
    assert row == (
        "gpt",
        "generate",
        "openai",
        "m",
        "generate_questions_dl",
        "json",
        grader.prompt.text,
        "1024",
    )
    (run,) = gpt.rows(
        "select command, arguments, state, counts, error from lake.raw.pipeline_runs "
        "where command like 'generate%'"
    )
    counts = {"rubric_items": 4, "queries": 3, "failed_queries": 1}
    error = "query q4: questions is an empty list"
    assert run == ("generate tiny gpt", '["generate"]', "done", json.dumps(counts), error)
    assert (extra(gpt)["bank"], extra(gpt)["grader_id"]) == ("gpt", grader.grader_id)


def test_criteria_are_made_of_a_querys_nuggets_and_the_model_adds_up_to_three(gpt, server):
    gpt.write("nuggets.csv", ["query_id,kind,text,weight", "q1,nugget,Air,1", "q1,nugget,Dust,0.5"])
    gpt.bank("nuggets.csv", "nuggets")
    gpt.grader("gpt", prompt="generate_criteria")
    own = "mandatory synthesis: Joins", "optional form: Short", "optional own: Air", "optional a: b"
    unclear = answer(listed("Joins", key="criteria"))
    server.on("sky", unclear, answer(listed(*own, key="criteria")))
    assert list(generate(gpt).failed) == ["q2"]
    assert "['Air', 'Dust']" in server.about("sky")[1].text
    made = "select kind[11:], text, weight from lake.raw.rubric_items where bank = 'gpt'"
    assert {text: (kind, weight) for kind, text, weight in gpt.rows(made)} == {
        "Air": ("mandatory:explicit", 5),
        "Joins": ("mandatory:synthesis", 5),
        "Dust": ("optional:explicit", 2),
        "Short": ("optional:form", 2),
    }


def test_a_prompt_with_a_subtopic_asks_about_each_facet_and_goes_on_facet_by_facet(gpt, server):
    topics = [
        {"query_id": "q1", "text": "why is it blue", "subtopics": ["air", "dusk", "sea"]},
        {"query_id": "q2", "text": "how do bees find home", "description": "their dance"},
        {"query_id": "q3", "text": "what are cars made of"},
    ]
    gpt.write("topics.jsonl", [json.dumps(query) for query in topics])
    gpt.configure(queries="topics.jsonl")
    assert gpt.ingest().exit_code == 0
    gpt.grader("gpt", prompt="generate_questions_car")
    server.on("'dusk'", answer("none"))
    server.on("", answer(listed(*SKY)))
    outcome = generate(gpt)
    assert (outcome.noun, outcome.planned, outcome.written, outcome.n_items) == ("facets", 5, 3, 5)
    assert set(outcome.failed) == {"q1, facet dusk", "q3"}
    assert "no description" in outcome.failed["q3"]
    assert gpt.rows(
        "select query_id, facet_id, count(*), bool_and(item_id = concat_ws('/', query_id, "
        "nullif(facet_id, ''), md5(text))) from lake.raw.rubric_items where bank = 'gpt' "
        "group by all order by all"
    ) == [("q1", "air", 2, True), ("q1", "sea", 2, True), ("q2", "", 1, True)]
    server.on("'dusk'", answer(listed("Why red?")))
    asked = len(server.asked)
    told = json.loads(
        gpt.gradelake("generate", "tiny", "--grader", "gpt", "--dry-run", "--json").stdout
    )
    assert (told["queries"], told["asks_about"], told["left"]) == (5, "facets", 2)
    assert generate(gpt).written == 1
    (last,) = server.asked[asked:]
    assert "'why is it blue' with a specific focus on the subtopic 'dusk'" in last.text
    assert gpt.rows(
        "select split_part(target, '/', 5) || ' ' || split_part(target, '/', 6) "
        "from lake.raw.ledger where target like 'tiny/bank/gpt/%' order by all"
    ) == [("q1 air",), ("q1 dusk",), ("q1 sea",), ("q2 ",)]
    about = {"name": "meant", "version": 1, "source": "ours", "description": "d"}
    about |= {"target": "generate", "items": "question", "output": "text"}
    prompt = about | {"template": "{query}|{description}|"}
    gpt.write("prompts/meant.yaml", json.dumps(prompt))
    gpt.grading["prompts"] = "prompts"
    gpt.grader("whole", engine="openai", model="m", prompt="meant", base_url=server.url)
    asked = len(server.asked)
    assert generate(gpt, "whole").planned == 3
    assert {one.text for one in server.asked[asked:]} == {
        "why is it blue||",
        "how do bees find home|their dance|",
        "what are cars made of||",
    }
    assert gpt.rows("select distinct facet_id from lake.raw.rubric_items where bank = 'whole'") == [
        ("",)
    ]


# --- replies that are not what was asked for ------------------------------------------------------


def test_a_reply_that_cannot_be_read_is_asked_for_again_in_another_way(generated):
    gpt, outcome, server = generated
    assert bank(gpt)["q3"] == ["Why full?"]
    ways = [(asked.body["temperature"], asked.body.get("seed")) for asked in server.about("moon")]
    assert ways == [(0.0, None), (0.7, 1), (0.7, 2)]
    assert len(server.about("bees")) == 1
    (retried,) = outcome.remarkable
    assert (retried.query_id, retried.tries) == ("q3", 3)
    recorded = extra(gpt)["retried"]["q3"]
    assert (recorded["tries"], recorded["decoding"]["temperature"]) == (3, 0.7)
    assert recorded["decoding"]["seed"] == 2


def test_a_query_without_a_readable_reply_is_asked_about_again_and_nothing_else(
    generated, server, tmp_path
):
    gpt, outcome, asked_before = generated
    assert outcome.failed == {"q4": "questions is an empty list"}
    assert ("q4" in bank(gpt), len(asked_before.about("rain"))) == (False, 3)
    server.on("rain", answer(listed("Why wet?")))
    with closing(with_writer(copy_of(gpt.folder / "lake", tmp_path / "again"), server)) as again:
        again.write("topics.tsv", TOPICS)
        assert generate(again).exit_code == 0
        assert bank(again)["q4"] == ["Why wet?"]
    assert len(server.asked) == 1


def test_a_server_that_refuses_a_schema_is_asked_without_one_and_that_is_told(
    gpt, server, monkeypatch, capsys
):
    def only_free(reply):
        def script(asked):
            if "response_format" in asked.body:
                key = asked.headers["authorization"]
                return refuse(400, f"response_format json_schema is unknown here, {key}")
            return reply

        return script

    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-55e1")
    gpt.grader("gpt", concurrency=1)
    server.on(
        "sky",
        only_free(answer("no JSON")),
        only_free(answer("no JSON")),
        only_free(answer(listed(*SKY))),
    )
    server.on("bees", only_free(answer(listed(*BEES))))
    outcome = generate(gpt)
    assert bank(gpt) == {"q1": sorted(SKY), "q2": BEES}
    (note,) = outcome.notes
    assert "refuses a JSON schema" in note
    assert "response_format json_schema is unknown here" in note
    assert "sk-planted" not in note
    assert "".join(note.split()) in "".join(capsys.readouterr().err.split())
    assert extra(gpt)["notes"] == [note]
    # refused once, and not offered again: not to the next query, and not in a second try
    assert sum("response_format" in asked.body for asked in server.asked) == 1


def test_a_query_that_kills_its_worker_is_found_and_reported(judged):
    judged.engine("dying", DYING)
    judged.grader("own", engine="dying", prompt="generate_questions_dl", actors=1)
    outcome = generate(judged, "own")
    assert (bank(judged, "own"), outcome.exit_code) == ({"q1": ["Why?"]}, 3)
    assert outcome.failed["q2"].startswith("3 workers gave up over this")


# --- stopping and going on ------------------------------------------------------------------------


def test_a_bank_goes_on_with_its_own_grader_by_queries_or_a_limit(gpt):
    assert generate(gpt, bank="mine", query_ids=("q2",)).planned == 1
    assert list(bank(gpt, "mine")) == ["q2"]
    with pytest.raises(BadInput, match="tiny has no query 'q3'"):
        generate(gpt, bank="mine", query_ids=("q3",))
    assert generate(gpt, bank="mine", limit=1).planned == 1  # the first without items
    assert list(bank(gpt, "mine")) == ["q1", "q2"]
    gpt.grader("gpt", decoding={"temperature": 0.5})
    with pytest.raises(BadInput, match="'mine' of tiny was made by another grader: gpt") as caught:
        generate(gpt, bank="mine")
    assert "Choose another --bank" in caught.value.hint


# --- what is refused ------------------------------------------------------------------------------


def test_a_bank_that_was_imported_is_left_alone(gpt, server):
    with pytest.raises(BadInput, match=r"bank 'questions' from another source \(imported\)"):
        generate(gpt, bank="questions")
    assert server.asked == []


# --- the commands ---------------------------------------------------------------------------------


def test_the_command_says_what_is_left_writes_it_and_reports(gpt, server):
    server.on("bees", answer("no"))
    request = GenerationRequest("tiny", gpt.grader("gpt"), "gpt")
    plan = generation.plan(gpt.lake, request)
    assert (plan.asked_for, plan.had, plan.planned, server.asked) == (2, 0, 2, [])
    done = gpt.gradelake("generate", "tiny", "--grader", "gpt", "--json", code=3)
    told = json.loads(done.stdout)
    assert (told["written"], told["items"], told["left"]) == (1, 2, 0)
    (failed,) = told["failed"]
    assert failed == {"query_id": "q2", "reason": "the reply holds no JSON object: 'no'"}
    dry = gpt.gradelake("generate", "tiny", "--grader", "gpt", "--dry-run")
    assert "1 of 2 queries have no items in the bank gpt" in dry.stdout
    assert len(server.asked) == 1 + 3


def test_a_grader_that_judges_cannot_generate(judged):
    with pytest.raises(BadInput, match="'question_self_rating' writes no rubric items") as caught:
        writing(judged.project, "lexical", "generate")
    assert "generate_nuggets_dl" in caught.value.hint


def test_a_grader_that_generates_cannot_judge(gpt):
    with pytest.raises(BadInput, match="'gpt' writes rubric items"):
        gpt.plan("gpt")
    command = gpt.gradelake("grade", "tiny", "--grader", "gpt", code=2)
    assert "'gpt' writes rubric items" in command.stderr
    assert "gradelake generate COLLECTION --grader gpt" in command.stderr


def test_a_generated_bank_is_planned_for_and_its_writer_is_not(generated):
    gpt, _, _ = generated
    assert judges(gpt.project) == ("lexical",)
    planned = json.loads(gpt.gradelake("plan", "tiny", "--json").stdout)["plans"]
    # 12 pairs before. "Why is it blue?" is new, and q1 has three passages; the other texts of q1
    # and q2 are in the imported bank, word by word: the same items. The moon has no passages
    assert [(plan["grader"], plan["missing_pairs"]) for plan in planned] == [("lexical", 15)]
