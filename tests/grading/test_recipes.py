"""The recipes of grading/engines/README.md, each against a stand-in of the server it is for.

vLLM's own server is asked in test_vllm_server.py.
"""

import re
import tomllib

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines.openai import Engine
from tests.grading.project import PASSAGES, QUESTIONS, Judged
from tests.grading.stand_ins import LlamaCpp, Ollama, StandIn, Tgi
from tests.grading.subjects import end
from tests.places import REPOSITORY

PAGE = (REPOSITORY / "grading/engines/README.md").read_text(encoding="utf-8")
RECIPES = {
    name: settings
    for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    for name, settings in tomllib.loads(block).get("graders", {}).items()
    if settings["engine"] == "openai" and "base_url" in settings
}
SERVERS = {"ollama": Ollama, "llama_cpp": LlamaCpp, "vllm_server": StandIn, "tgi": Tgi}
WORDS = ["0", "1", "2", "3", "4", "5"]
PAIRS = [
    {"item": item, "passage": passage}
    for items in QUESTIONS.values()
    for item in items
    for passage in PASSAGES.values()
]
LONG = " ".join([*PASSAGES.values()] * 60)


@pytest.fixture
def ask(tmp_path, server):
    """Asks a recipe's server, after the changes given, about pairs."""

    def ask(name: str, *pairs, **changes):
        recipe = RECIPES[name]
        server.on("", SERVERS[name](recipe["model"]))
        settings = {**recipe, "base_url": server.url, "pause": 0.01, **changes}
        engine = Engine(Judged(tmp_path / "project").grader(name, **settings))
        prompts = [engine.grader.prompt.render({"query": "", **pair}) for pair in pairs]
        responses = engine.score(prompts)
        end(engine)
        return responses

    return ask


def test_every_server_has_its_recipe():
    assert RECIPES.keys() == SERVERS.keys()


@pytest.mark.parametrize("name", SERVERS)
def test_the_recipe_gets_replies(ask, name):
    responses = ask(name, *PAIRS)
    assert [response.error for response in responses] == [None] * len(PAIRS)
    assert all(response.prompt_tokens > 0 for response in responses)
    if name == "tgi":  # writes freely
        assert {response.text for response in responses} - set(WORDS)
    else:
        assert {response.text for response in responses} <= set(WORDS)
    knows = [response.probabilities is not None for response in responses]
    assert knows == [name == "vllm_server"] * len(PAIRS)


@pytest.mark.parametrize("name", SERVERS)
def test_a_long_passage_is_cut_here_and_not_by_the_server(ask, name):
    (response,) = ask(name, {"item": "Why?", "passage": LONG})
    assert response.error is None
    assert 0 < response.cut_characters < len(LONG)
    assert response.prompt_tokens < 2048  # the stand-ins' room


def test_ollama_and_llama_cpp_do_not_heed_a_choice(ask):
    for name in ("ollama", "llama_cpp"):
        with pytest.raises(EngineUnusable, match="does not hold replies to the scale"):
            ask(name, *PAIRS, constrain="choice")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"constrained": True, "constrain": "json_schema"}, "missing field `value`"),
        ({"constrained": True, "constrain": "choice"}, "`top_n_tokens` must be"),
        ({"decoding": {"max_tokens": 32}}, "`top_p` must be > 0.0 and < 1.0"),
    ],
)
def test_what_tgi_refuses_stops_the_run_with_its_reason(ask, changes, why):
    with pytest.raises(EngineUnusable, match=re.escape(why)) as caught:
        ask("tgi", *PAIRS[:2], **changes)
    assert "constrain" in caught.value.hint


def test_llama_cpp_with_another_model_than_asked_for_stops_the_run(ask):
    with pytest.raises(EngineUnusable, match="answers, not 'another'"):
        ask("llama_cpp", PAIRS[0], model="another")
