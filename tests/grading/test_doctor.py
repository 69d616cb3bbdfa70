"""`gradelake doctor` on graders: what would stop them, and what to do about it."""

import json
from importlib.metadata import version

import pytest

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.graders import doctor
from gradelake.grading.run.committer import Committer
from gradelake.sql.operations.doctor import Finding
from tests.grading.misbehaving import Reply, refuse, sent

GPT = {"engine": "openai", "model": "m", "prompt": "umbrela", "api_key_env": "PLANTED_KEY"}


def found(judged, **settings) -> Finding:
    """What the doctor says of a grader with these settings."""
    judged.graders = {"gpt": settings}
    (finding,) = doctor.graders(judged.project)
    return finding


def test_a_grader_that_could_begin_is_good(judged, server, monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    server.on("", sent({"object": "list", "data": []}))
    judged.graders = {"gpt": {**GPT, "base_url": server.url}}
    judged.project  # noqa: B018  writes gradelake.toml
    done = judged.gradelake("doctor", "--json")
    (finding,) = [one for one in json.loads(done.stdout)["findings"] if "gpt" in one["what"]]
    assert finding["state"] == "good"
    assert finding["what"] == "grader gpt: openai m, prompt umbrela: its endpoint answers"
    (asked,) = server.asked
    assert (asked.text, asked.headers["authorization"]) == ("/v1/models", "Bearer sk-planted")


def test_who_has_no_endpoint_is_good_and_who_cannot_answer_is_not(judged, server):
    assert found(judged, engine="lexical", prompt="sun").state == "good"
    wrong = found(judged, engine="lexical", prompt="generate_questions_dl")
    assert (wrong.state, "cannot answer the prompt" in wrong.what) == ("bad", True)
    writer = found(judged, **GPT | {"prompt": "generate_questions_dl"}, base_url=server.url)
    assert writer.state == "good"


def test_a_server_without_a_list_of_models_was_reached(judged, server):
    server.on("", refuse(404))
    assert found(judged, **GPT, base_url=server.url).state == "good"


def test_another_version_than_that_of_its_last_run_is_told(judged):
    judged.engine("own", 'made_of = ("polars", "not-installed")\ndef score(self, prompts): pass')
    own, grader = (
        {"engine": "own", "prompt": "sun"},
        judged.grader("gpt", engine="own", prompt="sun"),
    )
    here = f"grader gpt: own, prompt sun, on polars {version('polars')}"
    assert found(judged, **own) == Finding("good", here)
    for stack, state, more in (
        ({"polars": [version("polars")], "gpu": ["H100", "A100"]}, "good", "gpu H100 or A100"),
        ({"polars": ["0.1"], "gpu": ["H100"]}, "note", "polars 0.1"),
    ):
        log = ReplyLog(judged.lake, grader, Asked("tiny", "grade"))
        committer = Committer(log, stack=stack)
        with judged.lake.transaction("grade") as transaction:
            committer.account(transaction, "done")
        told = found(judged, **own)
        assert (told.state, told.what) == (state, f"{here}; its last run was on {more}")


STOPPED = [
    ({"engine": "vlm"}, "there is no engine 'vlm'", "Did you mean 'vllm'?"),
    ({"prompt": "umbrella"}, "umbrella", "Did you mean 'umbrela'?"),
    ({"constrain": "chioce"}, "constrain: unknown value 'chioce'", "choice"),
    ({"prompt": "verify_answer"}, "verifies answers, whose?", "answers_from"),
    ({"prompt": "true_direct"}, "needs the rubrics of the labels", "gradelake distil"),
    (
        {"prompt": "true_direct", "label_rubrics": "trec"},
        "[graders.gpt] label_rubrics",
        "gradelake distil",
    ),
    ({"base_url": "http://127.0.0.1:9/v1"}, "no connection", "Is it running?"),
]


@pytest.mark.slow
def test_what_would_stop_a_grader_is_said_with_what_to_do(judged):
    for settings, what, hint in STOPPED:
        finding = found(judged, **GPT | settings)
        assert finding.state == "bad", settings
        assert what in finding.what
        assert hint in f"{finding.hint} {finding.what}"


USELESS = [
    (refuse(401, "no key"), "no key", "PLANTED_KEY holds no key"),
    (refuse(503), "InternalServerError", "Is it running?"),
    (Reply(status=302, headers={"Location": "/login"}), "redirects to '/login'", "base_url"),
    (Reply(delay=1.0), "no reply within 0.3 seconds", "busy"),
    (Reply(b"x" * 65536, endless=True), "longer than 4 MiB", "base_url"),
]


def test_an_endpoint_that_cannot_work_is_said(judged, server):
    for reply, what, hint in USELESS:
        server.on("", reply)
        finding = found(judged, **GPT, base_url=server.url, timeout=0.3 if reply.delay else 20.0)
        assert finding.state == "bad", what
        assert what in finding.what
        assert "[graders.gpt]" in finding.what
        assert hint in finding.hint


def test_an_extra_that_is_not_installed_is_named(judged):
    needs = "needs = ('no_such_module',)\ninstall = 'pip install no-such-module'"
    judged.engine("needy", needs)
    finding = found(judged, engine="needy", prompt="umbrela")
    assert "needs no_such_module, not installed here" in finding.what
    assert finding.hint == "pip install no-such-module"


def test_graders_of_a_cluster_are_not_tried_from_here(judged):
    judged.grading["ray_address"] = "10.0.0.5:6379"
    finding = found(judged, **GPT, base_url="http://127.0.0.1:9/v1")
    assert (finding.state, "10.0.0.5:6379" in finding.what) == ("note", True)
