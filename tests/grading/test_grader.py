"""A grader is everything that can change a grade; change any of it and it is another one."""

import json
import os

import pytest

from gradelake.grading.engines import EngineUnusable, vllm
from gradelake.grading.graders.grader import Grader
from gradelake.grading.graders.model_revision import folder_hash
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected
from tests.projects import LEXICAL


def refusal(judged, name: str = "lexical", **changes) -> str:
    with pytest.raises(BadInput) as caught:
        judged.grader(name, **changes)
    return str(caught.value)


def test_an_engine_without_a_model_is_the_same_wherever_the_command_is_given(
    judged, tmp_path, monkeypatch
):
    judged.engine("own", "")
    own = {"engine": "own", "prompt": "thomas"}
    before = judged.grader("own", **own).grader_id
    (tmp_path / "notes.txt").write_text("nothing to do with it")
    monkeypatch.chdir(tmp_path)
    assert judged.grader("own", **own).grader_id == before


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": "nugget_self_rating"},
        {"parser": "paper"},
        {"decoding": {"temperature": 0.5}},
        {"decoding": {"max_tokens": 2}},
        {"revision": "another"},
        {"prompt": "question_self_rating_context_first"},
    ],
)
def test_what_can_change_a_grade_makes_another_grader(judged, changes):
    assert judged.grader(**changes).grader_id != judged.grader("other", **LEXICAL).grader_id


def test_a_grader_that_writes_freely_is_another_one_and_says_so(judged):
    settings = {"engine": "openai", "model": "m", "prompt": "question_self_rating"}
    held = judged.grader("held", **settings)
    assert judged.grader("stated", **settings, constrained=True).grader_id == held.grader_id
    assert "constrained" not in json.loads(held.row()["settings"])["settings"]
    free = judged.grader("free", **settings, constrained=False)
    assert free.grader_id != held.grader_id
    assert json.loads(free.row()["settings"])["settings"]["constrained"] is False
    assert (free.parser, free.prompt.text) == ("paper", held.prompt.text)
    assert (held.decoding["max_tokens"], free.decoding["max_tokens"]) == (1, 512)


def test_what_a_reply_is_kept_with_makes_no_other_grader_and_how_it_is_computed_does(
    judged, monkeypatch
):
    asked = {"model": "m", "prompt": "umbrela"}
    plain = judged.grader("plain", engine="openai", **asked)
    kept = judged.grader("kept", engine="openai", keep_reasoning=True, **asked)
    assert kept.grader_id == plain.grader_id
    served = {"engine": "vllm", "revision": "r", **asked}
    usual, off = (
        judged.grader("usual", **served),
        judged.grader("off", **served, batch_invariant=False),
    )
    steady = judged.grader("steady", **served, batch_invariant=True)
    assert usual.grader_id == off.grader_id != steady.grader_id
    assert "batch_invariant" not in usual.identity["settings"]
    seen = []
    monkeypatch.setenv("VLLM_BATCH_INVARIANT", "0")
    monkeypatch.setattr(vllm, "_ENVIRONMENT", {})

    def load(grader):
        seen.append(os.environ["VLLM_BATCH_INVARIANT"])
        raise EngineUnusable("no such model")

    monkeypatch.setattr(vllm, "_load", load)
    for grader in (usual, steady):
        with pytest.raises(EngineUnusable):
            vllm.Engine(grader)
    assert seen == ["0", "1"], "before vLLM is imported"


@pytest.mark.slow
def test_without_a_gpu_batches_cannot_be_made_invariant(judged, monkeypatch):
    platforms = pytest.importorskip("vllm.platforms")
    if not platforms.current_platform.is_cpu():
        pytest.skip("there is a GPU")
    for name in (*vllm._ENVIRONMENT, "VLLM_BATCH_INVARIANT"):
        monkeypatch.setenv(name, "")  # the engine changes it
    asked = {"engine": "vllm", "model": "m", "revision": "r", "prompt": "umbrela"}
    with pytest.raises(EngineUnusable, match="batch_invariant: vLLM can do that on GPUs alone"):
        vllm.Engine(judged.grader("steady", **asked, batch_invariant=True))


def test_its_name_where_it_is_used_and_what_only_changes_its_speed_do_not(judged):
    plain = judged.grader("one", **LEXICAL).grader_id
    assert judged.grader("here", **LEXICAL, collections=["tiny"]).grader_id == plain
    assert judged.grader("two", **LEXICAL, actors=7, chunk_pairs=11).grader_id == plain


def test_one_byte_of_a_model_makes_another_grader(judged, tmp_path):
    settings = {"engine": "transformers", "prompt": "question_self_rating", "model": "../model"}
    file = judged.write("../model/config.json", '{"a": 1}')
    first = judged.grader("t5", **settings)
    assert first.model == "model"
    assert first.revision == folder_hash(file.parent)
    judged.write("../model/config.json", '{"a": 2}')
    assert judged.grader("t5").grader_id != first.grader_id


def test_a_model_may_move(judged):
    settings = {"engine": "transformers", "prompt": "question_self_rating"}
    for folder in ("here", "there"):
        judged.write(f"{folder}/model/config.json", '{"a": 1}')
    here, there = (
        judged.grader("t5", **settings, model=f"{folder}/model") for folder in ("here", "there")
    )
    assert here.grader_id == there.grader_id
    assert here.model_path != there.model_path


def test_a_hub_model_is_known_by_the_commit_that_is_cached_here(judged, monkeypatch, tmp_path):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    judged.write(str(tmp_path / "models--google--flan-t5-large/refs/main"), "0613663d0d48\n")
    grader = judged.grader(
        "t5", engine="transformers", prompt="question_self_rating", model="google/flan-t5-large"
    )
    assert (grader.model, grader.revision) == ("google/flan-t5-large", "0613663d0d48")


def test_a_hub_model_that_cannot_be_found_out_needs_its_revision(judged, monkeypatch, tmp_path):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    settings = {"engine": "transformers", "prompt": "question_self_rating", "model": "no/such"}
    assert "state `revision`" in refusal(judged, "t5", **settings)
    assert judged.grader("t5", **settings, revision="abc").revision == "abc"


def test_everything_it_is_made_of_is_recorded(judged):
    grader = judged.grader(decoding={"temperature": 0.7, "seed": 3})
    row = grader.row()
    recorded = json.loads(row["settings"])
    assert recorded["decoding"] == {"max_tokens": 1, "seed": 3, "temperature": 0.7, "top_p": 1.0}
    assert row["prompt_text"].startswith("Can the question be answered based on the available")
    assert (row["scale_min"], row["scale_max"], row["target"]) == (0, 5, "question")


def test_decoding_is_greedy_unless_the_prompts_paper_says_otherwise(judged):
    assert judged.grader().decoding == {"max_tokens": 1, "temperature": 0.0, "top_p": 1.0}
    judged.graders["umbrela"] = {
        "engine": "vllm",
        "model": "m",
        "revision": "r",
        "prompt": "umbrela",
    }
    decoding = judged.grader("umbrela").decoding
    assert (decoding["frequency_penalty"], decoding["temperature"]) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine": "lexcal"}, "Did you mean 'lexical'?"),
        ({"prompt": "question_self_ratin"}, "Did you mean 'question_self_rating'?"),
        ({"parser": "strickt"}, "Did you mean 'strict'?"),
        ({"parser": "answer"}, "cannot read replies to 'question_self_rating'"),
        ({"temprature": 1}, "unknown setting 'temprature'"),
        ({"decoding": {"temprature": 1}}, "Did you mean 'temperature'?"),
        ({"decoding": {"temperature": -1}}, "decoding.temperature must be at least 0"),
        ({"decoding": {"max_tokens": 1.5}}, "max_tokens"),
        ({"decoding": 3}, "decoding must be a table"),
        ({"actors": 0}, "actors must be at least 1"),
        ({"chunk_pairs": True}, "chunk_pairs must be a whole number"),
        ({"prompt": "question_answer"}, "cannot answer the prompt"),
        ({"answers_from": "lexical"}, "answers_from is for prompts that verify answers"),
        (
            {"engine": "transformers", "model": "m", "revision": "r", "prompt": "umbrela"},
            "this engine has no frequency_penalty",
        ),
        ({"engine": "vllm"}, "name a model"),
        ({"engine": "vllm", "model": "m", "revision": "r", "max_model_len": "x"}, "whole number"),
        ({"engine": "transformers", "model": "./nothing"}, "no such folder"),
        ({"engine": "transformers", "model": "m", "revision": "r", "dtype": "int8"}, "float32"),
        ({"engine": "openai", "model": "m", "base_url": "ftp://x"}, "base_url is not an address"),
        ({"collections": ["tyny"]}, "no collection 'tyny'\n  Did you mean 'tiny'?"),
        ({"collections": "tiny"}, "collections must be a list of strings"),
        ({"constrained": False}, "constrained: this engine writes no text"),
        ({"constrained": "no"}, "constrained must be true or false"),
        ({"prompt": "umbrela", "constrained": False}, "'umbrela' asks for text"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(judged, changes, words):
    said = refusal(judged, **changes)
    assert words in said
    assert "[graders.lexical]" in said or "no prompt" in said


def test_all_that_is_wrong_is_told_at_once_with_its_lines(judged):
    said = refusal(
        judged, parser=1, actors="2", decoding={"top_p": 2, "sed": 3}, model=["m"], sped=1
    )
    lines = {line: number for number, line in enumerate(judged.project.text.split("\n"), 1)}
    line = {key: next(n for text, n in lines.items() if text.startswith(key)) for key in _WRONG}
    file = f"{judged.project.file}:"
    assert said.split("\n") == [
        f"{file}{line['parser']}: [graders.lexical]: parser must be a string",
        f"{file}{line['actors']}: [graders.lexical]: actors must be a whole number",
        "  Write actors = 2, without quotes.",
        f"{file}{line['decoding']}: [graders.lexical]: decoding.top_p must be at most 1",
        f"{file}{line['decoding']}: [graders.lexical]: decoding: unknown setting 'sed'",
        "  Did you mean 'seed'?",
        f"{file}{line['model']}: [graders.lexical]: model must be a string",
        f"{file}{line['sped']}: [graders.lexical]: unknown setting 'sped'",
        "  Known: actors, answers_from, chunk_pairs, collections, constrained, decoding, engine, "
        "examples, items_per_call, label_rubrics, model, parser, prompt, revision, "
        "rotate_options, scores_from, trials.",
    ]


_WRONG = ("parser", "actors", "decoding", "model", "sped")


def test_a_key_in_the_file_is_refused_and_not_repeated(judged):
    said = refusal(judged, "gpt", engine="openai", model="m", prompt="sun", api_key="sk-secret")
    assert "api_key_env" in said
    assert "sk-secret" not in said


def test_an_engine_that_is_not_installed_says_how_to_install_it(judged):
    needs = "needs = ('no_such_module',)\ninstall = \"pip install 'gradelake[rare]'\"\n"
    judged.engine("rare", needs)
    said = refusal(judged, "mine", engine="rare", prompt="sun")
    assert "no_such_module" in said
    assert "pip install 'gradelake[rare]'" in said


def test_the_code_of_an_engine_of_ones_own_is_part_of_its_graders(judged):
    judged.engine("mine", "")
    before = judged.grader("own", engine="mine", prompt="sun").grader_id
    judged.engine("mine", "# better\n")
    assert judged.grader("own").grader_id != before


def test_an_engine_file_that_holds_no_engine_is_named(judged):
    judged.engine("empty", "x = 1  # no class Engine\n")
    assert "holds no engine" in refusal(judged, "mine", engine="empty", prompt="sun")
    judged.engine("broken", "1 / 0  # no class Engine\n")
    assert "ZeroDivisionError" in refusal(judged, "mine", engine="broken", prompt="sun")


# --- worked examples ------------------------------------------------------------------------------


def few(judged, **settings) -> Grader:
    wanted = {"engine": "lexical", "prompt": "umbrela_few", "examples": "few.jsonl"}
    return judged.grader("few", **wanted | settings)


def examples(judged, labels: str, **changes) -> None:
    """The file of the examples: one of each of these labels."""
    example = {"query": "a query", "collection": "elsewhere"} | changes
    lines = [{"passage": f"A passage of {label}.", "label": label} | example for label in labels]
    judged.write("few.jsonl", lines)


def test_a_grader_can_bring_examples_of_its_own_and_they_are_part_of_its_id(judged):
    examples(judged, "3210")
    grader = few(judged)
    text = grader.prompt.render({"query": "Q", "passage": "P"}).text
    assert "Query: a query\nPassage: A passage of 2.\n##final score: 2\n\n" in text
    assert "beehive" not in text
    examples(judged, "0123")
    assert few(judged).grader_id != grader.grader_id
    judged.graders["few"].pop("examples")
    shipped = judged.grader("few")
    assert "beehive" in shipped.prompt.text
    assert shipped.grader_id != grader.grader_id


def test_examples_from_the_collection_to_be_judged_are_refused(judged):
    examples(judged, "3", collection="tiny")
    few(judged)
    with pytest.raises(BadInput, match="worked examples of the prompt 'umbrela_few' come from"):
        judged.plan("few")


def test_examples_that_cannot_be_used_are_told(judged):
    with pytest.raises(BadInput, match="examples: no such file") as caught:
        few(judged)
    assert "--scale 0-3 --output few.jsonl" in caught.value.hint
    examples(judged, "34")
    with pytest.raises(Rejected) as faults:
        few(judged)
    assert "few.jsonl:2: label: '4' is not a word of the scale: 0, 1, 2, 3" in str(faults.value)
    with pytest.raises(BadInput, match="'umbrela' shows no examples"):
        few(judged, prompt="umbrela")
    with pytest.raises(BadInput, match="examples must be a string"):
        few(judged, examples=3)
