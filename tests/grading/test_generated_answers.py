"""`gradelake generate answers`: a model writes a system, an answer to each query."""

import json
import signal
import time
from contextlib import closing

import pytest

from gradelake import generated_answers
from gradelake.ingest.collections.responses import passage_id
from gradelake.sql.common.errors import BadInput
from tests.grading.misbehaving import Server, answer, refuse
from tests.grading.project import PRICES, copy_of

pytestmark = pytest.mark.slow

QUICK = {"pause": 0.01, "timeout": 20.0}
SKY = "The sky is blue.\n\nAir scatters blue light more than red."
BEES = "Bees find home by the sun."
A_REPLY = (6 * 100 + 4 * 10 + 1 * 1000) / 1e6  # of 10 tokens asked, 4 of them cached, and 1 said


@pytest.fixture
def server():
    with Server() as server:
        server.on("sky", answer(f"<think>hm</think>\n{SKY}\n"))
        server.on("bees", answer(BEES))
        yield server


@pytest.fixture
def wiki(priced_lake, tmp_path, server, monkeypatch):
    """A collection of two queries, and a grader `wiki` that asks the server for answers."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with closing(copy_of(priced_lake, tmp_path / "project")) as judged:
        judged.write("seeds/prices.csv", PRICES)
        ask = {"engine": "openai", "model": "m", "base_url": server.url, **QUICK}
        judged.grader("wiki", prompt="answer_encyclopedia", **ask)
        yield judged


def write(judged, grader: str = "wiki", system: str = "GPT-wiki", **options):
    request = generated_answers.AnswersRequest(
        judged.name, judged.grader(grader), system, **options
    )
    return generated_answers.generate(judged.project, request, ["generate"])


def answers(judged, system: str = "GPT-wiki") -> dict[str, str]:
    """query -> the whole answer."""
    return dict(
        judged.rows(
            "select answers.query_id, passages.text from lake.raw.answers "
            "inner join lake.raw.passages using (collection, passage_id) "
            f"where system = '{system}' order by all"
        )
    )


def test_every_query_gets_an_answer_which_stands_in_the_lake_as_one_of_a_file_does(wiki, server):
    done = write(wiki)
    assert (done.written, done.left, done.exit_code) == (2, 0, 0)
    assert answers(wiki) == {"q1": SKY, "q2": BEES}
    (asked,) = server.about("sky")
    assert asked.text.startswith("Write an entry for a general encyclopedia")
    assert "response_format" not in asked.body
    assert wiki.rows(
        "select kind, n_rows, source_file from lake.raw.systems where system != 'good'"
    ) == [("generation", 2, "gradelake generate answers --grader wiki")]
    assert wiki.rows(
        "select query_id, passage_id, rank, score from lake.raw.run_entries "
        "where system = 'GPT-wiki' order by all"
    ) == [("q1", passage_id(SKY), 1, -1.0), ("q2", passage_id(BEES), 1, -1.0)]
    assert done.cost == pytest.approx(2 * A_REPLY)
    # a later ingest leaves it alone, and no file may take its name
    wiki.write("answers.jsonl", [json.dumps({"system": "GPT-wiki", "query_id": "q1", "text": "x"})])
    wiki.configure(responses=["answers.jsonl"])
    (refused,) = wiki.ingest().rejected
    assert "is also in `gradelake generate answers`" in str(refused.problems[0])
    assert answers(wiki) == {"q1": SKY, "q2": BEES}


def test_what_has_an_answer_is_never_asked_again_and_what_failed_is(wiki, server):
    server.on("bees", refuse(400, "no"))
    first = write(wiki)
    assert (list(first.failed), first.exit_code, answers(wiki)) == (["q2"], 3, {"q1": SKY})
    server.on("bees", answer(""), answer(BEES))
    again = write(wiki)
    assert (again.had, again.written, len(server.about("sky"))) == (1, 1, 1)
    assert [one.tries for one in again.remarkable] == [2], "an empty reply is no answer"
    assert answers(wiki) == {"q1": SKY, "q2": BEES}
    n = len(server.asked)
    assert write(wiki).planned == 0
    assert len(server.asked) == n
    (n_rows,) = wiki.lake.column("select n_rows from lake.raw.systems where system = 'GPT-wiki'")
    assert n_rows == 2


def test_a_killed_run_asks_nothing_twice_of_what_was_committed(wiki, server):
    topics = {f"r{n:02d}": f"{'sky' if n < 30 else 'dusk'} {n}." for n in range(38)}
    wiki.write("topics.tsv", {"q1": "sky", "q2": "sky"} | topics)
    assert wiki.ingest().exit_code == 0
    server.on("dusk", answer("late", delay=20.0))
    command = ("generate", "answers", "tiny", "--grader", "wiki", "--system", "GPT-wiki")
    running = wiki.spawn(*command)
    until = time.monotonic() + 120
    while len(answers(wiki)) < 32 and time.monotonic() < until and running.poll() is None:
        time.sleep(0.2)
    running.send_signal(signal.SIGKILL)
    _, said = running.communicate()
    assert len(answers(wiki)) == 32, said
    server.on("dusk", answer("late"))
    server.asked.clear()
    assert write(wiki).written == 8
    assert len(server.asked) == len(server.about("dusk")) == 8
    assert len(answers(wiki)) == 40


def test_a_limit_of_costs_is_kept_and_the_same_command_goes_on(wiki, server):
    topics = {f"q{n}": f"sky {n}." for n in range(6)}
    wiki.write("topics.tsv", topics)
    assert wiki.ingest().exit_code == 0
    prompt = wiki.grader("wiki").prompt.render({"query": "sky 0."}).text
    most = 3 * (0.5 * len(prompt) * 100 + 1024 * 1000) / 1e6  # every try, and the longest replies
    done = write(wiki, max_cost=most + 2.5 * A_REPLY)
    assert (done.written, done.left, done.out_of_money) == (3, 3, True)
    assert done.cost == pytest.approx(3 * A_REPLY)
    assert write(wiki, max_cost=100).written == 3
    assert len(server.asked) == 6
    none = write(wiki, system="other", max_cost=A_REPLY)
    assert (none.written, none.out_of_money, none.exit_code) == (0, True, 3)
    assert len(server.asked) == 6


def test_another_grader_or_somebody_elses_system_is_left_alone(wiki):
    write(wiki)
    with pytest.raises(BadInput, match="tiny has a system 'good' from"):
        write(wiki, system="good")
    wiki.grader("wiki", decoding={"temperature": 0.5})
    with pytest.raises(BadInput, match="was written by another grader"):
        write(wiki)
    assert wiki.gradelake("system", "remove", "tiny", "GPT-wiki").returncode == 0
    assert write(wiki).written == 2


def test_a_grader_that_writes_something_else_and_options_of_banks_are_refused(wiki):
    line = ("generate", "answers", "tiny", "--grader")
    wrong = wiki.gradelake(*line, "lexical", code=2)
    assert "its prompt 'question_self_rating' writes no answers" in wrong.stderr
    assert "answer_encyclopedia, answer_question, answer_webpage" in wrong.stderr
    assert "--bank is not for `generate answers`" in (
        wiki.gradelake(*line, "wiki", "--bank", "b", code=2).stderr
    )
    items = ("generate", "tiny", "--grader", "wiki")
    assert "writes no rubric items" in wiki.gradelake(*items, code=2).stderr
    assert "--system is not for rubric items" in (
        wiki.gradelake(*items, "--system", "s", code=2).stderr
    )
    planned = wiki.gradelake(*line, "wiki", "--dry-run").stdout
    assert planned == "tiny: 2 of 2 queries have no answer of wiki\n"
    grade = wiki.gradelake("grade", "tiny", "--grader", "wiki", code=2).stderr
    assert "gradelake generate answers COLLECTION --grader wiki" in grade
