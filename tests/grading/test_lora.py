"""LoRA adapters for vLLM are part of what a grader is; `test_engine_conformance.py` has what it
answers."""

import json
import shutil
from types import SimpleNamespace

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines._lora import read_adapter, require_fits
from gradelake.sql.common.errors import BadInput
from tests.grading.tiny_models import lora_adapter

HIDDEN, LAYERS = 576, 30  # of SmolLM2-135M
OF_VLLM = {"engine": "vllm", "model": "some/model", "revision": "r", "prompt": "sun"}


def test_one_byte_of_an_adapter_makes_another_grader_its_place_does_not(judged):
    plain = judged.grader("plain", **OF_VLLM)
    assert "lora" not in plain.identity["settings"]  # as before there were adapters
    first = judged.grader("g", **OF_VLLM, lora=str(lora_adapter(judged.folder / "here/mine")))
    assert first.grader_id != plain.grader_id
    shutil.copytree(judged.folder / "here", judged.folder / "there")
    moved = judged.grader("g", lora="there/mine")  # seen from gradelake.toml
    assert moved.grader_id == first.grader_id
    assert json.loads(moved.row()["settings"])["settings"]["lora"].startswith("mine@")
    config = judged.folder / "there/mine/adapter_config.json"
    config.write_text(config.read_text().replace('"lora_alpha": 8', '"lora_alpha": 9'))
    assert judged.grader("g").grader_id != first.grader_id


def _without(name):
    return lambda folder: (folder / name).unlink()


def _config(text):
    return lambda folder: (folder / "adapter_config.json").write_text(text)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (shutil.rmtree, "lora: no such folder"),
        (_without("adapter_config.json"), "has no adapter_config.json"),
        (_without("adapter_model.safetensors"), "has no adapter_model.safetensors"),
        (_config("{"), "adapter_config.json cannot be read"),
        (_config('{"peft_type": "LORA"}'), "cannot be read: KeyError('r')"),
        (_config('{"peft_type": "IA3", "r": 1}'), "an adapter of the kind IA3"),
        (_config("[]"), "cannot be read"),
    ],
)
def test_a_folder_that_holds_no_adapter_is_refused(judged, spoil, why):
    spoil(lora_adapter(judged.folder / "mine"))
    with pytest.raises(BadInput) as caught:
        judged.grader("g", **OF_VLLM, lora="mine")
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"base_model_name_or_path": "some/other"}, "it was made for some/other"),
        ({"hidden": HIDDEN * 2}, f"its hidden size is {HIDDEN * 2}, not {HIDDEN}"),
        ({"layers": LAYERS + 2}, f"it changes layer {LAYERS} of {LAYERS}"),
        ({}, None),
        ({"base_model_name_or_path": "Some/Model"}, None),
        ({"base_model_name_or_path": "/data/models/mine"}, None),  # says nothing here
    ],
)
def test_an_adapter_of_another_model_is_refused(judged, made, why):
    folder = lora_adapter(judged.folder / "mine", **made)
    grader = judged.grader("g", **OF_VLLM, lora="mine")
    config = SimpleNamespace(hidden_size=HIDDEN, num_hidden_layers=LAYERS)
    if why is None:
        require_fits(read_adapter(str(folder), "here"), grader, config)
    else:
        with pytest.raises(EngineUnusable) as caught:
            require_fits(read_adapter(str(folder), "here"), grader, config)
        assert why in str(caught.value)
