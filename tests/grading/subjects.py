"""The engines that `test_engine_conformance.py` holds to one list of promises: a class for each.

Another engine is another class here. It says what the engine has that not all have; what it does
not have it must not pretend to have.
"""

import asyncio
import gc
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from gradelake.grading.engines import Engine, Response, vllm
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Rendered
from tests.grading import provider_stand_ins, smollm, tiny_models
from tests.grading.misbehaving import Script, Server, answer
from tests.grading.project import Judged
from tests.grading.stand_ins import StandIn, only_documented


class Subject:
    """One engine, and what it needs around it. The defaults are a model's in this process."""

    engine: ClassVar[str]
    has_model = True  # counts tokens, has room for so many, writes freely
    has_probabilities = True
    has_seed = True
    cache: str | None = "none"  # of prompts that begin alike: "none", "some"; None: it is not told
    server: Server | None = None  # what it asks, a stand-in

    def __init__(self, folder: Path):
        self.project = Judged(folder / "project")
        self._engines: dict[str, Engine] = {}

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot be tried here, or None."""
        return None

    def settings(self) -> Mapping[str, Any]:
        """Of its `[graders.NAME]`, beside engine and prompt."""
        return {}

    def start(self, **settings: Any) -> Engine:
        """The engine for a grader with these settings; started once."""
        wanted = {"prompt": "question_self_rating", **self.settings(), **settings}
        known = repr(sorted(wanted.items()))
        if known not in self._engines:
            grader = self.project.grader(f"g{len(self._engines)}", engine=self.engine, **wanted)
            self._engines[known] = engine_finder.started(grader)
        return self._engines[known]

    def ask(self, *pairs: Mapping[str, str], **settings: Any) -> Sequence[Response]:
        """Responses to the pairs, of `start(**settings)`."""
        engine = self.start(**settings)
        return engine.score(prompts_of(engine, *pairs))

    def close(self) -> None:
        self._engines.clear()


def prompts_of(engine: Engine, *pairs: Mapping[str, str]) -> list[Rendered]:
    return [engine.grader.prompt.render({"query": "", **pair}) for pair in pairs]


class Lexical(Subject):
    engine = "lexical"
    has_model = False
    cache = None

    def settings(self) -> Mapping[str, Any]:
        return {"parser": "strict"}


class Transformers(Subject):
    engine = "transformers"

    @classmethod
    def missing(cls) -> str | None:
        absent = [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]
        return f"{absent} not installed" if absent else None

    def __init__(self, folder: Path):
        import torch

        super().__init__(folder)
        torch.set_num_threads(1)  # others work beside
        self.model = tiny_models.t5(folder / "t5")

    def settings(self) -> Mapping[str, Any]:
        return {"model": str(self.model), "max_model_len": 500, "batch_size": 4}


_STUMBLES = {"llvmlite", "numba"}


class Vllm(Subject):
    engine = "vllm"
    cache = "some"

    @classmethod
    def missing(cls) -> str | None:
        return smollm.missing()

    def __init__(self, folder: Path):
        import torch

        super().__init__(folder)
        torch.set_num_threads(1)  # others work beside
        self.environment = dict(os.environ)  # the engine changes that of its process
        self._models: dict[str, tuple] = {}

    def start(self, **settings: Any) -> Engine:
        # vLLM looks into all modules while it loads, and stumbles over those of numba's llvmlite,
        # which other tests of this process may have imported
        modules = list(sys.modules.items())
        hidden = {name: module for name, module in modules if name.split(".")[0] in _STUMBLES}
        for name in hidden:
            del sys.modules[name]
        try:
            with (
                mock.patch.object(vllm, "_load", partial(self._loaded, vllm._load)),
                mock.patch.object(gc, "collect"),  # ten times a model, of all that Python has
            ):
                return super().start(**settings)
        finally:
            sys.modules.update(hidden)

    def _loaded(self, load: Callable[[Any], tuple], grader: Grader) -> tuple:
        """One model for all graders that only ask it in another way."""
        known = repr(sorted(grader.settings.items()))
        if known not in self._models:
            self._models[known] = load(grader)
        return self._models[known]

    def settings(self) -> Mapping[str, Any]:
        # in bfloat16 the sums differ from batch to batch
        sizes = {"max_model_len": 500, "kv_cache_mib": 128, "max_num_seqs": 16}
        return {"model": str(smollm.model_folder()), "dtype": "float32", **sizes}

    def close(self) -> None:
        for llm, _ in self._models.values():
            llm.llm_engine.engine_core.shutdown()
        self._models.clear()
        super().close()
        gc.collect()  # a gigabyte each
        os.environ.clear()
        os.environ.update(self.environment)


class OpenAI(Subject):
    """Against a server that holds replies to the scale as vLLM's does."""

    engine = "openai"
    cache = "some"
    constrain = "choice"

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.server = Server()
        self.reset()

    def reset(self) -> None:
        """Forget what was scripted, and what was asked."""
        self.server.forget()
        self.server.on("", only_documented(StandIn(room=600)))

    def graded(self, grade: str, finish: str = "stop") -> Script:
        """What its server says for a grade, and with which word it ends."""
        return answer(grade, finish_reason=finish)

    def filtered(self) -> Script:
        """What its server says where a content filter took the reply away."""
        return answer(None, finish_reason="content_filter")

    def settings(self) -> Mapping[str, Any]:
        sizes = {"max_passage_characters": 3000, "timeout": 20.0, "pause": 0.01}
        return {"model": "m", "base_url": self.server.url, "constrain": self.constrain, **sizes}

    def close(self) -> None:
        for engine in self._engines.values():
            end(engine)
        super().close()
        self.server.stop()


def end(engine: Engine) -> None:
    """Close an engine's client and loop, and end what a library left at work there."""

    async def ended() -> None:
        await engine.connection.client.close()  # type: ignore[attr-defined]
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    engine.run(ended())  # type: ignore[attr-defined]
    engine.loop.call_soon_threadsafe(engine.loop.stop)  # type: ignore[attr-defined]


class OpenAIWithSchema(OpenAI):
    """Replies are held to a JSON schema, as of hosted models."""

    constrain = "json_schema"
    has_probabilities = False  # the first token is a brace

    def graded(self, grade: str, finish: str = "stop") -> Script:
        return answer(json.dumps({"grade": grade}), finish_reason=finish)


class Anthropic(OpenAIWithSchema):
    """Hosted models by LiteLLM, against a server that speaks their language."""

    engine = "litellm"
    model = "anthropic/claude-sonnet-4-5"
    stand_in = provider_stand_ins.Anthropic
    has_seed = False

    @classmethod
    def missing(cls) -> str | None:
        return None if importlib.util.find_spec("litellm") else "litellm is not installed"

    def __init__(self, folder: Path):
        super().__init__(folder)
        os.environ["KEY_OF_NOBODY"] = "sk-of-nobody"

    def settings(self) -> Mapping[str, Any]:
        address = {"base_url": f"http://127.0.0.1:{self.server.port}", "model": self.model}
        return {**super().settings(), **address, "api_key_env": "KEY_OF_NOBODY"}

    def close(self) -> None:
        super().close()
        del os.environ["KEY_OF_NOBODY"]

    def reset(self) -> None:
        self.server.forget()
        stand_in = self.stand_in(self.model.partition("/")[2], room=600)
        self.server.on("", only_documented(stand_in))

    def graded(self, grade: str, finish: str = "stop") -> Script:
        return self.stand_in().worded(super().graded(grade, finish))

    def filtered(self) -> Script:
        return self.stand_in().worded(super().filtered())


class Gemini(Anthropic):
    model = "gemini/gemini-2.5-flash"
    stand_in = provider_stand_ins.Gemini
    has_seed = True


class Mistral(Anthropic):
    model = "mistral/mistral-small-2506"
    stand_in = provider_stand_ins.Mistral
    has_seed = True


class Azure(Anthropic):
    model = "azure/our-deployment"
    stand_in = provider_stand_ins.Azure
    has_seed = True


class _InEnvironment(Anthropic):
    """Who asks is known by variables of the environment."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.before = dict(os.environ)
        os.environ.update(self.variables(folder))

    def variables(self, folder: Path) -> dict[str, str]:
        raise NotImplementedError

    def settings(self) -> Mapping[str, Any]:
        return {key: value for key, value in super().settings().items() if key != "api_key_env"}

    def close(self) -> None:
        os.environ.clear()
        os.environ.update(self.before)
        super().close()


class Bedrock(_InEnvironment):
    model = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    stand_in = provider_stand_ins.Bedrock

    def variables(self, folder: Path) -> dict[str, str]:
        keys = {"AWS_ACCESS_KEY_ID": "AKIANOBODY", "AWS_SECRET_ACCESS_KEY": "of-nobody"}
        return {**keys, "AWS_REGION_NAME": "us-east-1"}


class BedrockByTool(Bedrock):
    model = "bedrock/amazon.nova-pro-v1:0"
    stand_in = provider_stand_ins.BedrockByTool


class Vertex(_InEnvironment):
    model = "vertex_ai/gemini-2.5-flash"
    stand_in = provider_stand_ins.Gemini
    has_seed = True

    def variables(self, folder: Path) -> dict[str, str]:
        account = provider_stand_ins.google_account(folder, f"{self.server.url}/token")
        project = f"nobody-{self.server.port}"  # LiteLLM keeps tokens by project
        place = {"VERTEXAI_PROJECT": project, "VERTEXAI_LOCATION": "europe-west1"}
        return {**place, "GOOGLE_APPLICATION_CREDENTIALS": str(account)}

    def reset(self) -> None:
        super().reset()
        self.server.on("/token", provider_stand_ins.GOOGLE_TOKEN)


SUBJECTS: dict[str, type[Subject]] = {
    "lexical": Lexical,
    "transformers": Transformers,
    "vllm": Vllm,
    "openai": OpenAI,
    "openai_schema": OpenAIWithSchema,
    "anthropic": Anthropic,
    "gemini": Gemini,
    "mistral": Mistral,
    "azure": Azure,
    "bedrock": Bedrock,
    "bedrock_by_tool": BedrockByTool,
    "vertex_ai": Vertex,
}
# one loads a gigabyte, the others LiteLLM for several seconds; a small real model is for each day
SLOW = {"vllm", "transformers"} | {
    name for name, each in SUBJECTS.items() if each.engine == "litellm"
}
