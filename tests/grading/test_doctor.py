"""`gradelake doctor` on graders: what would stop them, and what to do about it."""

import json

import pytest

from tests.grading.misbehaving import Reply, Server, refuse, sent
from tests.tiers import first_of

GPT = {"engine": "openai", "model": "m", "prompt": "umbrela", "api_key_env": "PLANTED_KEY"}


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


def found(judged, **settings) -> dict:
    """What the doctor says of a grader with these settings, and whether it is content."""
    judged.graders = {"gpt": settings}
    done = judged.gradelake("doctor", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == (0 if told["ok"] else 1)
    (finding,) = [one for one in told["findings"] if "gpt" in one["what"]]
    assert told["ok"] == (finding["state"] != "bad")
    return finding


def test_a_grader_that_could_begin_is_good(judged, server, monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    server.on("", sent({"object": "list", "data": []}))
    finding = found(judged, **GPT, base_url=server.url)
    assert finding["what"] == "grader gpt: openai m, prompt umbrela: its endpoint answers"
    (asked,) = server.asked
    assert (asked.text, asked.headers["authorization"]) == ("/v1/models", "Bearer sk-planted")
    finding = found(judged, engine="lexical", prompt="generate_questions_dl")
    assert "cannot answer the prompt" in finding["what"]
    assert found(judged, engine="lexical", prompt="sun")["state"] == "good"
    writer = found(judged, **GPT | {"prompt": "generate_questions_dl"}, base_url=server.url)
    assert writer["state"] == "good"


def test_a_server_without_a_list_of_models_was_reached(judged, server):
    server.on("", refuse(404))
    assert found(judged, **GPT, base_url=server.url)["state"] == "good"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "what", "hint"),
    [
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
    ],
)
def test_what_would_stop_a_grader_is_said_with_what_to_do(judged, settings, what, hint):
    finding = found(judged, **GPT | settings)
    assert finding["state"] == "bad"
    assert what in finding["what"]
    assert hint in finding["hint"] or hint in finding["what"]


@pytest.mark.parametrize(
    ("reply", "what", "hint"),
    first_of(
        2,
        (refuse(401, "no key"), "no key", "PLANTED_KEY holds no key"),
        (refuse(503), "InternalServerError", "Is it running?"),
        (Reply(status=302, headers={"Location": "/login"}), "redirects to '/login'", "base_url"),
        (Reply(delay=1.0), "no reply within 0.3 seconds", "busy"),
        (Reply(b"x" * 65536, endless=True), "longer than 4 MiB", "base_url"),
    ),
)
def test_an_endpoint_that_cannot_work_is_said(judged, server, reply, what, hint):
    server.on("", reply)
    finding = found(judged, **GPT, base_url=server.url, timeout=0.3 if reply.delay else 20.0)
    assert finding["state"] == "bad"
    assert what in finding["what"]
    assert "[graders.gpt]" in finding["what"]
    assert hint in finding["hint"]


def test_an_extra_that_is_not_installed_is_named(judged):
    judged.engine(
        "needy",
        "from gradelake.grading.engines import Engine as Base\n"
        "class Engine(Base):\n"
        "    needs = ('no_such_module',)\n"
        "    install = 'pip install no-such-module'\n"
        "    needs_model = False\n",
    )
    finding = found(judged, engine="needy", prompt="umbrela")
    assert "needs no_such_module, not installed here" in finding["what"]
    assert finding["hint"] == "pip install no-such-module"


def test_graders_of_a_cluster_are_not_tried_from_here(judged):
    judged.grading["ray_address"] = "10.0.0.5:6379"
    finding = found(judged, **GPT, base_url="http://127.0.0.1:9/v1")
    assert (finding["state"], "10.0.0.5:6379" in finding["what"]) == ("note", True)
