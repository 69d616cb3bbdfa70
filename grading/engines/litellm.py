"""Hosted models with an API of their own, by LiteLLM: Anthropic, Gemini, Bedrock, Vertex, Azure,
Mistral."""

import logging
import os
import re
import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Annotated, Any, ClassVar

from gradelake.grading.engines import EngineUnusable, Setting
from gradelake.grading.engines._chat import chat_options
from gradelake.grading.engines._chat_engine import ChatEngine
from gradelake.grading.engines._client import Misshapen, careful
from gradelake.grading.engines._connection import Connection
from gradelake.grading.engines.openai import check_address
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.checked import one_of
from gradelake.sql.common.errors import how_to_install
from gradelake.sql.common.servers import retry_after

_ENVIRONMENT = {
    "LITELLM_OFFLINE_MODE": "true",  # else it fetches a table of prices, and more
    "LITELLM_MODE": "PRODUCTION",  # else its import reads an .env that lies about
}
_BY_KEY = ("anthropic", "azure", "gemini", "mistral")
# they know you as their own tools do: (the variable of a key, where you may have one; what else to
# look at)
_BY_OWN_TOOLS = {
    "bedrock": (
        "AWS_BEARER_TOKEN_BEDROCK",
        "Are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION_NAME right?",
    ),
    "vertex_ai": (
        "",
        "Does GOOGLE_APPLICATION_CREDENTIALS name a file that Google knows, and are "
        "VERTEXAI_PROJECT and VERTEXAI_LOCATION right?",
    ),
}
_PROVIDERS = (*_BY_KEY, *_BY_OWN_TOOLS)
_TOOL_TOKENS = 100  # some are held to a schema as a tool's arguments: a call has more around them
# LiteLLM calls a reply whole whose word for how it ended it does not know: what each API said
_FINISH = re.compile(rb'"(?:finish_?reason|stop_?reason)"\s*:\s*"([^"\\]{1,80})"', re.IGNORECASE)
_finished: ContextVar[list[str]] = ContextVar("finished")
_BY_OPENAI = "azure"  # what LiteLLM asks by OpenAI's library


class LiteLLMConnection(Connection):
    """A connection by LiteLLM, in the provider's own API.

    The key is in the variable that LiteLLM names for it; Bedrock and Vertex find theirs as their
    own tools do.
    """

    def __init__(self, grader: Grader):
        self.provider, _, name = grader.model.partition("/")
        if self.provider not in _PROVIDERS:
            raise EngineUnusable(
                f"{grader.model} does not begin with a provider: {', '.join(_PROVIDERS)}",
                'E.g. model = "anthropic/claude-sonnet-4-5". Most others speak OpenAI\'s API: use '
                "the engine openai.",
            )
        os.environ.update(_ENVIRONMENT)
        warnings.filterwarnings("ignore", "Items? .* `ReadOnly` qualifier")  # pydantic's, by dozens
        import httpx
        import litellm
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        self.litellm = litellm
        litellm.suppress_debug_info = True  # it prints an invitation to its issues
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # the error says it all
        super().__init__(grader)
        self.names.add(name)
        hooks = {"response": [_refuse_redirect]}
        of_openai = self.openai.DefaultAsyncHttpxClient
        litellm.aclient_session = careful(of_openai, heed=_heed, event_hooks=hooks)
        self.client: Any = AsyncHTTPHandler()
        open_ = httpx.Limits()  # as many connections as the pace finds good
        self.client.client = careful(httpx.AsyncClient, heed=_heed, event_hooks=hooks, limits=open_)
        if self.provider in _BY_KEY and not self.key:
            raise self.unusable("needs a key", self.key_hint)

    def name_of_key(self) -> str:
        own, _ = _BY_OWN_TOOLS.get(self.provider, (f"{self.provider.upper()}_API_KEY", ""))
        return self.settings["api_key_env"] or own

    @property
    def key_hint(self) -> str:
        if self.provider in _BY_OWN_TOOLS and not self.key:
            return _BY_OWN_TOOLS[self.provider][1]
        return super().key_hint

    async def chat(self, messages: list[dict[str, str]], options: dict[str, Any]) -> Any:
        client = {} if self.provider == _BY_OPENAI else {"client": self.client}
        finished: list[str] = []
        _finished.set(finished)
        completion = await self.litellm.acompletion(
            messages=messages,
            api_base=self.settings["base_url"] or None,
            api_key=self.key or None,
            max_retries=0,
            num_retries=0,
            timeout=self.settings["timeout"],
            **client,
            **options,
        )
        choice = completion.choices[0]
        if finished == ["tool_use"] and "response_format" in options:  # a tool holds it to that
            choice.finish_reason = "stop"
        elif finished and choice.finish_reason != "content_filter":
            choice.finish_reason = finished[0]
        return completion

    async def reach(self) -> str:
        """Asks nobody: most providers answer nothing that is free."""
        return "its provider was not asked"

    def stated_wait(self, error: Any) -> float | None:
        return retry_after(getattr(error, "litellm_response_headers", None) or {})

    def lacks_credentials(self, error: Exception) -> bool:
        is_local = isinstance(error, self.openai.APIConnectionError)  # not a server's words
        return is_local and "google.auth.exceptions" in str(error)

    def reason(self, error: Exception) -> str:
        return super().reason(error).partition(" Traceback (most recent")[0]


class Engine(ChatEngine):
    """`model` begins with the provider: `anthropic/claude-sonnet-4-5`."""

    connection: LiteLLMConnection
    connection_kind = LiteLLMConnection
    needs = ("httpx", "httpx2", "litellm", "openai")
    made_of = ("litellm", "openai")
    install = how_to_install("providers")
    settings: ClassVar[Mapping[str, Setting]] = {
        "base_url": Setting(str, "", "where the provider is; by default where it always is", False),
        "api_key_env": Setting(str, "", "the variable with the key; by default its own", False),
        **ChatEngine.settings,
        "constrain": Setting(
            Annotated[str, one_of(("json_schema", "none"))],
            "json_schema",
            "how replies are held to the scale",
        ),
    }

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        if settings["base_url"]:
            check_address(settings["base_url"], where)

    @classmethod
    def longest_reply(cls, grader: Grader) -> int:
        options, _ = chat_options(grader)
        return super().longest_reply(grader) + _TOOL_TOKENS * ("response_format" in options)

    def derive(self) -> None:
        super().derive()
        for name in {"max_tokens", "max_completion_tokens"}.intersection(self.options):
            self.options[name] = self.longest_reply(self.grader)
        # what says nothing: some know no penalties, Anthropic takes a temperature or a top_p
        for name, nothing in (("frequency_penalty", 0), ("presence_penalty", 0), ("top_p", 1)):
            if self.options.get(name) == nothing:
                del self.options[name]
        litellm, provider = self.connection.litellm, self.connection.provider
        known = litellm.get_supported_openai_params(self.grader.model) or ["seed"]
        if "seed" in self.options and "seed" not in known:
            del self.options["seed"]
            note = f"{provider} takes no seed: what is drawn is drawn but once"
            self.notes += [note] if note not in self.notes else []


def _heed(content: bytes) -> None:
    """Note with which word a reply ended."""
    words = [word.decode(errors="replace") for word in _FINISH.findall(content)]
    if (known := _finished.get(None)) is not None:
        known[:] = words[-1:]


async def _refuse_redirect(response: Any) -> None:
    """LiteLLM would not say where it was sent."""
    if response.has_redirect_location:
        raise Misshapen(f"redirects to {response.headers['location']!r}, which is not followed")
