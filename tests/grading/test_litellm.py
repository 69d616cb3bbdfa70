"""The engine `litellm`: what it does beyond what every engine does (test_engine_conformance.py)."""

import json
import os
import subprocess
import sys

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.graders.engine_finder import started
from tests.grading.misbehaving import Server, refuse
from tests.grading.provider_stand_ins import Anthropic
from tests.grading.subjects import SUBJECTS, end, prompts_of
from tests.places import REPOSITORY

MISSING = SUBJECTS["anthropic"].missing()
# LiteLLM takes seconds to import, and asks the network until the engine tells it not to
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=str(MISSING))]

KEY = "sk-ant-planted-7f3a9c"
MODEL = "claude-sonnet-4-5"
PAIR = {"item": "Why?", "query": "why", "passage": "Steel."}

AUDITED = """
import sys
sys.addaudithook(
    lambda event, found: print(*found[:2], flush=True) if event == "socket.getaddrinfo" else
    print(found[1][0], flush=True) if event == "socket.connect" else None
)
from tests.grading.asking import main
main(*sys.argv[1:])
"""


@pytest.fixture
def server():
    with Server() as server:
        server.on("", Anthropic(MODEL))
        yield server


@pytest.fixture
def engine(judged, server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    def make(**settings):
        wanted = {
            "model": f"anthropic/{MODEL}",
            "prompt": "question_self_rating",
            "base_url": f"http://127.0.0.1:{server.port}",
            "pause": 0.01,
        }
        made.append(started(judged.grader("g", engine="litellm", **(wanted | settings))))
        return made[-1]

    made = []
    yield make
    for one in made:
        end(one)


def test_the_key_of_the_provider_goes_to_it_and_is_not_told(engine, server):
    claude = engine()
    server.on("Steel", lambda asked: refuse(500, f"you sent {asked.headers['x-api-key']}"))
    (response,) = claude.score(prompts_of(claude, PAIR))
    assert server.asked[0].headers["x-api-key"] == KEY
    assert "you sent" in response.error
    assert KEY not in response.error


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Your credit balance is too low to access the API"),
        (402, "Payment needed"),
        (403, "Your billing account is closed"),
    ],
)
def test_an_account_that_cannot_pay_stops_the_run_at_once(engine, server, status, words):
    claude = engine()
    server.on("", refuse(status, words))
    with pytest.raises(EngineUnusable, match=words) as caught:
        claude.score(prompts_of(claude, PAIR))
    assert "quota is used up" in caught.value.hint
    assert len(server.asked) == 1


def test_without_a_key_nothing_is_asked(engine, server, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(EngineUnusable, match="needs a key") as caught:
        engine()
    assert caught.value.hint == "ANTHROPIC_API_KEY holds no key."
    assert server.asked == []


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "openrouter/claude-sonnet-4-5"])
def test_a_model_without_a_provider_that_is_known_is_refused(engine, model):
    with pytest.raises(EngineUnusable, match="does not begin with a provider") as caught:
        engine(model=model)
    assert "use the engine openai" in caught.value.hint


def test_what_the_provider_does_not_know_stops_the_run_and_can_be_left_out(engine, server):
    claude = engine(prompt="umbrela")  # has a penalty
    with pytest.raises(EngineUnusable, match="frequency_penalty"):
        claude.score(prompts_of(claude, PAIR))
    assert server.asked == []
    claude = engine(prompt="umbrela", decoding={"frequency_penalty": 0})
    assert [response.error for response in claude.score(prompts_of(claude, PAIR))] == [None]


# --- who know you as their own tools do -----------------------------------------------------------


@pytest.fixture
def known(tmp_path):
    """Makes a subject whose variables are in the environment, until the end."""

    def make(name):
        (tmp_path / name).mkdir()
        made.append(SUBJECTS[name](tmp_path / name))
        return made[-1]

    made = []
    yield make
    for one in made:
        one.close()


def test_bedrock_is_asked_with_a_signature_or_with_a_token_that_is_not_told(known, monkeypatch):
    bedrock = known("bedrock")
    assert bedrock.ask(PAIR)[0].error is None
    signed = bedrock.server.asked[0].headers["authorization"]
    assert signed.startswith("AWS4-HMAC-SHA256 Credential=AKIANOBODY/")

    bedrock.server.on("", lambda asked: refuse(401, f"you sent {asked.headers['authorization']}"))
    with pytest.raises(EngineUnusable, match="you sent") as caught:
        bedrock.ask(PAIR)
    assert "AWS_SECRET_ACCESS_KEY" in caught.value.hint
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    with pytest.raises(EngineUnusable, match=r"you sent Bearer \*\*\*") as caught:
        bedrock.ask(PAIR, concurrency=1)  # another engine
    assert bedrock.server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    assert caught.value.hint == "Is the key in AWS_BEARER_TOKEN_BEDROCK right?"


def test_a_call_of_a_tool_has_room(known):
    nova = known("bedrock_by_tool")
    assert nova.ask(PAIR)[0].error is None
    (asked,) = nova.server.asked
    assert asked.body["toolConfig"]["toolChoice"] == {"tool": {"name": "json_tool_call"}}
    assert asked.body["inferenceConfig"]["maxTokens"] > 100
    engine = nova.start()
    assert engine.longest_reply(engine.grader) == asked.body["inferenceConfig"]["maxTokens"]


def test_vertex_is_asked_with_the_token_that_google_gives_for_an_account(known):
    vertex = known("vertex_ai")
    assert vertex.ask(PAIR)[0].error is None
    (asked,) = vertex.server.about("Steel")
    assert asked.headers["authorization"] == "Bearer ya29.of-nobody"


@pytest.mark.parametrize(
    ("name", "variable", "told", "hint"),
    [
        ("bedrock", "AWS_ACCESS_KEY_ID", "locate credentials", "Are AWS_ACCESS_KEY_ID"),
        (
            "vertex_ai",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "credentials were not found",
            "Does GOOGLE",
        ),
    ],
)
def test_nobody_is_asked_where_nobody_is_known(known, monkeypatch, name, variable, told, hint):
    subject = known(name)
    monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(EngineUnusable, match=told) as caught:
        subject.ask(PAIR)
    assert caught.value.hint.startswith(hint)
    assert "Traceback" not in str(caught.value)
    assert subject.server.asked == []


def test_nobody_but_the_endpoint_hears_of_it(tmp_path, server):
    settings = {
        "engine": "litellm",
        "model": f"anthropic/{MODEL}",
        "base_url": f"http://127.0.0.1:{server.port}",
    }
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, str(tmp_path / "project"), "3", json.dumps(settings)],
        cwd=REPOSITORY,
        env=os.environ | {"ANTHROPIC_API_KEY": KEY},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert len(server.asked) == 3
    heard = set(done.stdout.split()) - {str(server.port)}
    assert heard == {"127.0.0.1"}, done.stdout
