"""The recipes of the pages, each against a stand-in of the server it is for.

vLLM's own server is asked in test_vllm_server.py.
"""

import re
import tomllib
from dataclasses import replace

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines.openai import Engine
from gradelake.grading.graders import engine_finder
from tests.documentation.pages import blocks, pages
from tests.grading.project import PASSAGES, QUESTIONS, Judged
from tests.grading.provider_stand_ins import Anthropic
from tests.grading.stand_ins import LlamaCpp, Ollama, OpenAI, StandIn, Tgi, only_documented
from tests.grading.subjects import end

ASKED = {  # page and name: of every grader that asks somebody
    (page, name): settings
    for page in pages()
    for block in blocks(page)
    if block.language == "toml"
    for name, settings in tomllib.loads(block.text).get("graders", {}).items()
    if settings["engine"] in ("openai", "litellm")
}
RECIPES = {
    name: settings
    for (page, name), settings in ASKED.items()
    if page == "grading/engines/README.md" and "base_url" in settings
}
SERVERS = {"ollama": Ollama, "llama_cpp": LlamaCpp, "vllm_server": StandIn, "tgi": Tgi}
SERVICES = {RECIPES[name]["base_url"]: SERVERS[name] for name in RECIPES}
SERVICES |= {"https://api.openai.com/v1": OpenAI, "anthropic": Anthropic}
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


@pytest.mark.parametrize(
    ("page", "name"),
    [
        pytest.param(*key, marks=[pytest.mark.slow] * (settings["engine"] == "litellm"))
        for key, settings in ASKED.items()
    ],
)
def test_a_service_knows_every_field_that_a_grader_of_the_pages_sends(
    tmp_path, server, monkeypatch, page, name
):
    settings = ASKED[page, name]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-nobody")
    project = Judged(tmp_path)
    project.write("few.jsonl", ['{"query": "q", "passage": "p", "label": 1}'])
    if "examples" in settings:
        settings = settings | {"examples": str(tmp_path / settings["examples"])}
    grader = project.grader(name, **settings)
    service = grader.settings["base_url"] or grader.model.partition("/")[0]
    stand_in = SERVICES[service](grader.model.removeprefix("anthropic/"), room=10_000)
    server.on("", only_documented(stand_in))
    # what follows from the address has followed
    redirected = {**grader.settings, "base_url": server.url, "pause": 0.01}
    engine = engine_finder.started(replace(grader, settings=redirected))
    try:
        values = dict.fromkeys(grader.prompt.slots, "Steel.")
        responses = engine.score([grader.prompt.render(values)])
    finally:
        end(engine)
    assert [response.error for response in responses] == [None]


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
