"""Grading: what lands in the lake, whatever happens on the way."""

import json
import platform
from collections import deque
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from gradelake.grading.ask.recorder import Replies
from gradelake.grading.run import crew
from gradelake.grading.run.committer import Committer
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.lake.connection import REPLIES
from tests.grading.project import QUESTIONS

pytestmark = pytest.mark.slow

# An engine that answers 3, unless the passage holds a word that it stumbles over. Each stumbling
# block can be taken away by writing the word to the file `fixed`: the engine's own code is part of
# the grader's id and may not change.
STUMBLING = """
chunk_pairs = 4

def score(self, prompts):
    note(*(prompt.values["passage"][:20] for prompt in prompts))
    return [self.answer(prompt.values["passage"]) for prompt in prompts]

def answer(self, passage):
    fixed = (HERE / "fixed").read_text() if (HERE / "fixed").exists() else ""
    for word in ("steel", "landmarks", "home", "scatters"):
        if word in passage and word not in fixed:
            return getattr(self, os.environ.get("STUMBLE_" + word, "fine"))(word)
    return self.fine("")

def fine(self, word):
    return Response("3", prompt_tokens=10, cached_tokens=4, completion_tokens=1)

def error(self, word):
    return Response(error=f"cannot read {word}")

def exception(self, word):
    raise RuntimeError(f"stumbled over {word}")

def death(self, word):
    os._exit(1)

def unusable(self, word):
    raise EngineUnusable("the endpoint is gone", "Start it again.")

def nonsense(self, word):
    return Response("as an AI language model")

def too_sure(self, word):
    return Response("3", probabilities=[1.0] * 6)

def slow(self, word):
    time.sleep(0.5)
    return self.fine(word)
"""


@pytest.fixture
def stumbling(judged, monkeypatch):
    """The collection with the engine above."""
    for word in ("steel", "landmarks", "home", "scatters"):  # what a test before it stumbled over
        monkeypatch.delenv(f"STUMBLE_{word}", raising=False)
    judged.engine("stumbling", STUMBLING)
    judged.grader(
        "judge", engine="stumbling", prompt="question_self_rating", parser="strict", actors=1
    )
    return judged


def stumble(judged, at_once: int = 1, **how: str) -> None:
    """Workers read this at their start: the words and what happens at them."""
    lines = "".join(f"os.environ['STUMBLE_{word}'] = '{what}'\n" for word, what in how.items())
    more = f"chunks_at_once = lambda grader: {at_once}\n{lines}"
    judged.engine("stumbling", f"{STUMBLING}\n{more}")


# --- the plain case -------------------------------------------------------------------------------


@pytest.mark.fast
def test_every_pair_gets_its_grade(judged):
    run = judged.grade()
    assert (run.counts["pairs"], run.counts["ok"], run.left, run.exit_code) == (12, 12, 0, 0)
    grades = judged.grades(columns="grade")
    assert set(grades) == {
        (query_id, passage_id, text)
        for query_id, passages in (("q1", ("p1", "p2", "p5")), ("q2", ("p3", "p4")))
        for passage_id in passages
        for text in QUESTIONS[query_id]
    }
    # the passage holds "why"less "sky", "is", "blue"; nothing of steel is about bees
    assert grades["q1", "p1", "Why is the sky blue?"] > grades["q1", "p2", "Why is the sky blue?"]
    assert grades["q2", "p4", "Do bees see the sun?"] == (0,)
    ((n_rows,),) = judged.rows(
        "select sum(n_rows) from lake.raw.ledger where starts_with(target, 'chunk/')"
    )
    assert n_rows == 12  # so that no chunk is committed twice


def test_when_the_time_is_over_the_next_run_goes_on_and_the_one_after_has_nothing_to_do(judged):
    run = judged.grade(max_seconds=0.01)
    assert (run.counts["pairs"], run.left, run.out_of_time, run.exit_code) == (0, 12, True, 0)
    run = judged.grade(max_seconds=3600)
    assert (run.counts["pairs"], run.left, run.out_of_time, run.exit_code) == (12, 0, False, 0)
    snapshot = judged.snapshot()
    run = judged.grade()
    assert (run.planned, run.counts["pairs"]) == (0, 0)
    assert judged.snapshot() == snapshot


def test_what_a_run_did_is_recorded_and_a_shared_prompt_is_paid_for_once(stumbling):
    run = stumbling.grade("judge")
    columns = ("planned", "ok", "failed", "reused", "tokens", "cached_tokens", "state")
    (row,) = stumbling.rows(f"select {', '.join(columns)} from lake.raw.grading_runs")
    # 12 pairs, 10 prompts of 10 + 1 tokens
    assert row == (12, 12, 0, 2, 110, 40, "done")
    assert run.run_id == stumbling.rows("select run_id from lake.raw.grading_runs")[0][0]
    tokens = stumbling.grades("judge", "prompt_tokens")
    assert tokens["q1", "p1", "What scatters light?"] == (10,)
    assert tokens["q1", "p5", "What scatters light?"] == (0,)
    assert len(stumbling.asked()) == 10


def test_a_run_says_what_each_of_its_machines_ran_it_on(judged):
    judged.engine(
        "own",
        """
made_of = ("polars",)
chunk_pairs = 4

def score(self, prompts):
    return [Response("3", probabilities=[0, 0.1, 0.1, 0.2, 0, 0]) for _ in prompts]

def stack(self):
    self.told = getattr(self, "told", 0) + 1
    return super().stack() | {"gpu": f"H{100 * self.told}"}
""",
    )
    judged.grader("own", engine="own", prompt="question_self_rating", actors=1)
    judged.grade("own")
    ((stack,),) = judged.rows("select stack from lake.raw.grading_runs")
    n_chunks = len(json.loads(stack)["gpu"])
    assert n_chunks > 1
    assert json.loads(stack) == {
        "gpu": [f"H{n}00" for n in range(1, n_chunks + 1)],
        "gradelake": [version("gradelake")],
        "polars": [version("polars")],
        "python": [platform.python_version()],
    }
    # 12 pairs, of which 2 share the prompt of others
    found = judged.grades("own", "expected_grade, scale_mass, probabilities")
    assert set(map(repr, found.values())) == {"(2.25, 0.4, [0.0, 0.25, 0.25, 0.5, 0.0, 0.0])"}


# --- things that go wrong -------------------------------------------------------------------------


def test_each_pair_at_fault_fails_alone_with_its_reason_after_three_tries(stumbling, new_workers):
    stumble(stumbling, steel="error", landmarks="nonsense", home="exception", scatters="too_sure")
    run = stumbling.grade("judge", query_ids=("q2",))
    assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (0, 6, 3)
    assert stumbling.asked().count("Cars are made of ste") == 3 * 3
    run = stumbling.grade("judge")
    # of steel no reply came, so that it is asked about once more
    assert (run.counts["ok"], run.counts["failed"], run.retried) == (0, 9, 3)
    found = {
        passage: row
        for (_, passage, _), row in stumbling.grades("judge", "status, response, error").items()
    }
    sum_to_6 = "ValueError: probabilities must be 0 or more, and sum to 1 at most: 6"
    assert found == {
        "p1": ("failed", None, sum_to_6),
        "p2": ("failed", "as an AI language model", "not one word of the scale 0-5"),
        "p3": ("failed", None, "RuntimeError: stumbled over home"),
        "p4": ("failed", None, "cannot read steel"),
        "p5": ("failed", None, sum_to_6),
    }


def test_a_pair_that_kills_its_worker_is_found_beside_another_and_recorded(stumbling, new_workers):
    stumble(stumbling, 2, steel="death", landmarks="slow", home="slow", scatters="slow")
    stumbling.grader("judge", chunk_pairs=1)
    run = stumbling.grade("judge", query_ids=("q2",), limit=2)
    assert (run.counts["ok"], run.counts["failed"]) == (1, 1)
    errors = {error for (error,) in stumbling.grades("judge", "error").values() if error}
    (error,) = errors
    assert error.startswith("3 workers gave up over this pair: The actor died")


@pytest.mark.fast
def test_what_workers_die_of_is_halved_after_two_deaths_and_given_up_after_three():
    worker = SimpleNamespace(grader=None, died=lambda chunk, why: why)
    workers = crew.Crew(worker, None)
    pair = SimpleNamespace(id="pair", n_prompts=1)
    for told in ([], [], ["3 workers gave up over this pair: killed"]):
        assert list(workers._suspect([pair], "killed")) == told
    halves = [SimpleNamespace(id=n) for n in range(2)]
    chunk = SimpleNamespace(id="chunk", n_prompts=2, halves=lambda: halves)
    for left in ([chunk], halves):
        assert list(workers._suspect(found := [chunk], "killed")) == []
        assert found == left
    workers.at_once = 2
    other = SimpleNamespace(id="other")
    for _ in range(2):  # nobody knows which of them it was
        assert list(workers._suspect(found := [chunk, other, pair], "killed")) == []
        assert found == [chunk, other, pair]
    assert (workers.deaths["chunk"], workers.deaths["other"]) == (2, 1)


@pytest.mark.fast
def test_what_came_back_before_its_worker_died_is_not_asked_again(monkeypatch):
    ray = pytest.importorskip("ray")

    def get(reference, timeout):
        if reference == "lost":
            raise ray.exceptions.ActorDiedError
        return reference

    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "kill", lambda handle: None)
    log = SimpleNamespace(of_chunks=lambda ids: [f"reply of {id_}" for id_ in ids])
    workers = crew.Crew(None, log, at_once=2, stopping=True)
    lost, done = SimpleNamespace(id="lost", n_prompts=1), SimpleNamespace(id="done", n_prompts=1)
    graded = crew._Done(SimpleNamespace(replies=Replies()), None, 1)
    workers.actors = [crew._Actor(None, None, deque([("lost", lost), (graded, done)]))]
    assert list(workers._bury(workers.actors[0], "killed")) == [graded.account]
    assert (list(workers.suspects), workers.deaths) == ([lost], {"lost": 1})
    assert workers.known == ["reply of lost"]


def test_failed_pairs_are_left_alone_until_asked_for(stumbling, new_workers):
    stumble(stumbling, steel="nonsense", landmarks="nonsense")
    stumbling.grade("judge")
    (stumbling.folder / "engines" / "fixed").write_text("steel landmarks")
    assert stumbling.grade("judge").planned == 0
    assert stumbling.grade("judge", retry=("refused",)).planned == 0
    run = stumbling.grade("judge", retry=("unreadable",), query_ids=("q2",))
    assert (run.retried, run.counts["ok"], run.exit_code) == (3, 3, 0)
    statuses = [status for _, status in stumbling.grades("judge").values()]
    assert (len(statuses), statuses.count("failed")) == (12, 2)


def test_what_got_no_reply_is_asked_about_again_but_not_for_ever(stumbling, new_workers):
    stumble(stumbling, steel="error", landmarks="fine", home="fine", scatters="fine")
    for n_asked in (3, 6, 9):
        run = stumbling.grade("judge")
        assert run.counts["failed"] == 3
        most = "select max(n) from (select count(*) as n from lake.raw.replies group by query_id, "
        assert stumbling.rows(f"{most}passage_id, item_id)") == [(n_asked,)]
        assert stumbling.grades("judge", "failure")["q2", "p4", "Do bees see the sun?"] == (
            "no_reply",
        )
    assert stumbling.grade("judge").planned == 0
    (stumbling.folder / "engines" / "fixed").write_text("steel")
    run = stumbling.grade("judge", retry=("no_reply",))
    assert (run.retried, run.counts["ok"]) == (3, 3)


def test_a_parser_that_changed_reads_old_replies_and_sends_no_prompt(stumbling, new_workers):
    stumble(stumbling, steel="nonsense", landmarks="fine", home="fine", scatters="fine")
    stumbling.grade("judge")
    asked = stumbling.asked()
    stumbling.grader(
        "again", engine="stumbling", prompt="question_self_rating", parser="lenient", actors=1
    )
    run = stumbling.grade("again", reread=True)
    assert (run.planned, run.counts["ok"], run.counts["failed"]) == (12, 9, 3)
    assert stumbling.asked() == asked
    log = stumbling.rows("select count(*) from lake.raw.replies")
    assert log == [(len(asked),)]
    assert stumbling.grades("again", "grade") == stumbling.grades("judge", "grade")
    stumbling.grader("other", engine="stumbling", prompt="question_self_rating_context_first")
    with pytest.raises(BadInput, match="nobody asked"):
        stumbling.plan("other", reread=True)


def test_an_engine_that_cannot_work_stops_the_run_and_blames_no_pair(stumbling, new_workers):
    stumble(stumbling, home="unusable")
    with pytest.raises(WorkFailed, match="the endpoint is gone") as caught:
        stumbling.grade("judge")
    assert caught.value.hint == "Start it again."
    assert stumbling.rows("select state from lake.raw.grading_runs") == [("failed",)]
    assert stumbling.rows("select count(*) from lake.raw.grades where status = 'failed'") == [(0,)]
    (stumbling.folder / "engines" / "fixed").write_text("home")
    stumbling.grade("judge")
    assert len(stumbling.grades("judge")) == 12


def test_an_engine_that_cannot_be_loaded_says_so(judged, new_workers):
    load = "def __init__(self, grader):\n    raise EngineUnusable('no room', 'Buy a machine.')"
    judged.engine("broken", load)
    judged.grader("judge", engine="broken", prompt="question_self_rating")
    with pytest.raises(WorkFailed, match="no room"):
        judged.grade("judge")


def test_an_engine_that_dies_while_loading_is_given_up(judged, new_workers, monkeypatch):
    monkeypatch.setattr(crew, "TRIES", 2)
    judged.engine("dying", "def __init__(self, grader):\n    os._exit(1)")
    judged.grader("judge", engine="dying", prompt="question_self_rating", actors=1)
    with pytest.raises(WorkFailed, match="2 workers died while loading the engine"):
        judged.grade("judge")


# --- stopping and going on ------------------------------------------------------------------------


def test_what_was_answered_and_not_committed_is_not_asked_again(stumbling, monkeypatch):
    def cut_off(self, *arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Committer, "_commit", cut_off)  # as if the driver were killed there
        with pytest.raises(KeyboardInterrupt):
            stumbling.grade("judge")
    assert stumbling.grades("judge") == {}
    (kept, *_) = (stumbling.folder / "lake" / "grading").glob(f"*/*{REPLIES}")
    with kept.open("a") as stream:
        stream.write('{"asked": "half a li')  # what a worker was writing
    run = stumbling.grade("judge")
    assert run.recovered > 0
    assert run.planned == run.counts["pairs"] == 12  # of two that share a prompt, twice
    assert stumbling.told[0] == f"kept {run.recovered} replies of an interrupted run"
    assert len(stumbling.grades("judge")) == 12
    assert len(stumbling.asked()) == 10, "a prompt was asked again"
    log = stumbling.rows("select count(*), bool_and(is_read) from lake.raw.replies")
    assert log == [(10, True)]
    assert not list((stumbling.folder / "lake" / "grading").glob("*/*"))


@pytest.mark.fast
def test_a_worker_that_fits_no_machine_is_refused(judged, new_workers):
    workers = "def workers(cls, cluster, settings):\n    return Workers(count=1, cpus=64)"
    judged.engine("wide", f"@classmethod\n{workers}")
    judged.grader("wide", engine="wide", prompt="question_self_rating")
    with pytest.raises(WorkFailed, match="no machine has the 64 cores"):
        judged.grade("wide")


def test_an_engine_that_breaks_for_good_is_given_up_and_blames_no_pair(
    stumbling, new_workers, monkeypatch
):
    monkeypatch.setattr(crew, "PATIENCE_AT_FIRST", 2)
    stumble(
        stumbling, scatters="exception", landmarks="exception", home="exception", steel="exception"
    )
    with pytest.raises(WorkFailed, match="2 workers gave up one after the other"):
        stumbling.grade("judge")
    assert stumbling.grades("judge") == {}


def test_a_run_that_was_killed_does_not_stay_running(stumbling, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Committer, "finish", lambda self, state: None)  # as if killed before it
        stumbling.grade("judge", limit=2)
    assert stumbling.rows("select state from lake.raw.grading_runs") == [("running",)]
    stumbling.grade("judge")
    states = stumbling.rows("select state from lake.raw.grading_runs order by started_at")
    assert states == [("failed",), ("done",)]


def test_a_limit_counts_what_is_asked_not_what_is_copied(judged):
    judged.grade()
    judged.write(
        "passages.tsv",
        ["p6\tBees find their way home by the sun.", "p7\tBees dance for each other."],
    )
    judged.write("nist.qrels", ["q2 0 p6 1", "q2 0 p7 1"])
    judged.ingest()
    run = judged.grade(limit=1)  # p6 has p3's text: three copies
    assert (run.counts["reused"], run.counts["pairs"], run.left) == (3, 4, 0)
