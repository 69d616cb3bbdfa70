"""LoRA adapters as PEFT writes them, for vLLM: whether a folder holds one, and for this model."""

import json
import os
import re
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.errors import BadInput

_HINT = "A LoRA adapter's folder has an adapter_config.json and an adapter_model.safetensors."
_LAYER = re.compile(r"\.layers\.(\d+)\.")
_READS_HIDDEN = re.compile(r"\.(q|k|v|gate|up)_proj\.lora_A\.")  # shape (rank, hidden size)


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter: its folder, its greatest rank, and the name of the model it was made for."""

    folder: Path
    rank: int
    base: str

    @property
    def weights(self) -> Path:
        return self.folder / "adapter_model.safetensors"


def read_adapter(folder: str, where: str) -> Adapter:
    """Raises `BadInput`, naming `where`, for a folder that holds no LoRA adapter."""
    path = Path(folder)
    try:
        config = json.loads((path / "adapter_config.json").read_text(encoding="utf-8"))
        kind = config.get("peft_type")
        rank = max(config["r"], *(config.get("rank_pattern") or {}).values(), 0)
        adapter = Adapter(path, rank, config.get("base_model_name_or_path") or "")
    except FileNotFoundError:
        raise BadInput(f"{where}: lora: {folder} has no adapter_config.json", _HINT) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{where}: lora: {folder}/adapter_config.json cannot be read: {error!r}", _HINT
        ) from None
    if kind != "LORA":
        raise BadInput(f"{where}: lora: {folder} holds an adapter of the kind {kind}", _HINT)
    if not adapter.weights.is_file():
        raise BadInput(f"{where}: lora: {folder} has no {adapter.weights.name}", _HINT)
    return adapter


def require_fits(adapter: Adapter, grader: Grader, config: Any) -> None:
    """Raise `EngineUnusable` for an adapter of another model than the grader's, whose `config` is.

    Hub models are compared by name; all by the number of their layers and their hidden size, as
    vLLM takes an adapter that is too small without a word.
    """

    def refuse(why: str, hint: str) -> EngineUnusable:
        return EngineUnusable(
            f"the adapter {adapter.folder} is not for {grader.model}: {why}", hint
        )

    is_hub_name = re.fullmatch(r"[\w.-]+/[\w.-]+", adapter.base) and adapter.base[0] not in ".~"
    if (
        is_hub_name
        and not os.path.isdir(grader.model_path)
        and adapter.base.lower() != grader.model.lower()
    ):
        raise refuse(
            f"it was made for {adapter.base}",
            "If that is the same model by another name, write the other into the "
            "base_model_name_or_path of its adapter_config.json.",
        )
    from safetensors import safe_open

    hint = "Name the model that it was made for" + (f": {adapter.base}" if adapter.base else ".")
    with safe_open(adapter.weights, "np") as tensors:
        for name in tensors.keys():  # noqa: SIM118
            layer = _LAYER.search(name)
            if layer and int(layer[1]) >= config.num_hidden_layers:
                raise refuse(f"it changes layer {layer[1]} of {config.num_hidden_layers}", hint)
            size = tensors.get_slice(name).get_shape()[-1]
            if _READS_HIDDEN.search(name) and size != config.hidden_size:
                raise refuse(f"its hidden size is {size}, not {config.hidden_size}", hint)


def rank_for(adapter: Adapter) -> int:
    """The rank that vLLM makes room for: it knows but some."""
    from vllm.config.lora import MaxLoRARanks

    known = typing.get_args(MaxLoRARanks)
    if adapter.rank > max(known):
        raise EngineUnusable(
            f"the adapter {adapter.folder} has the rank {adapter.rank}; vLLM takes {max(known)}"
        )
    return min(rank for rank in known if rank >= adapter.rank)


def load_adapter(llm: Any, adapter: Adapter) -> Any:
    """What vLLM is to be asked with. Raises what it raises for an adapter that it cannot use."""
    from vllm.lora.request import LoRARequest

    request = LoRARequest(adapter.folder.name, 1, str(adapter.folder))
    llm.llm_engine.add_lora(request)
    return request
