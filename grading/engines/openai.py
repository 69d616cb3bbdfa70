"""Any endpoint that speaks OpenAI's chat API: `vllm serve`, and hosted models."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from gradelake.grading.engines import Setting
from gradelake.grading.engines._batches import Batches
from gradelake.grading.engines._chat_engine import ChatEngine, Seconds
from gradelake.grading.engines._client import Poster, open_client, read_json
from gradelake.grading.engines._connection import Connection
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.checked import Count, one_of
from gradelake.sql.common.errors import BadInput, how_to_install

_REACHED_WITHIN = 10.0  # seconds
# who refuses vLLM's `structured_outputs`, or heeds it not, and documents JSON schemas
_HOSTED = (
    ".openai.com",
    ".azure.com",
    ".googleapis.com",
    ".mistral.ai",
    ".openrouter.ai",
    ".x.ai",
    ".together.xyz",
    ".together.ai",
    ".groq.com",
    ".fireworks.ai",
    ".cerebras.ai",
    ".cohere.ai",
)


class OpenAIConnection(Connection):
    """A connection by OpenAI's own client."""

    def __init__(self, grader: Grader):
        super().__init__(grader)
        self.chats = Poster(self.where, self.key, "chat/completions")
        self.client = self.chats.client

    async def chat(self, messages: list[Any], options: dict[str, Any]) -> Any:
        # `chat.completions.create` looks through every message for files to upload: 0.5 ms
        body = {"messages": messages, **options}
        body |= body.pop("extra_body", {})
        return read_json(await self.chats.post(body))

    async def reach(self) -> str | None:
        openai = self.openai
        seconds = min(self.settings["timeout"], _REACHED_WITHIN)
        try:
            async with asyncio.timeout(seconds), open_client(self.where, self.key) as client:
                await client.models.with_raw_response.list()
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise self.unusable(error, self.key_hint) from None
        except TimeoutError:
            raise self.unusable(f"no reply within {seconds:g} seconds", "Is it busy?") from None
        except openai.APIStatusError as error:
            self.refuse_redirect(error)
            if error.status_code >= 500:
                raise self.unusable(error, "Is it running?") from None
        except (openai.OpenAIError, ValueError) as error:
            raise self.unusable(error, "Is it running? Check base_url.") from None
        return None


class Engine(ChatEngine):
    """The key comes from an environment variable and appears nowhere else."""

    connection_kind = OpenAIConnection
    needs = ("aiohttp", "httpx2", "openai")
    made_of = ("openai",)
    install = how_to_install("openai")
    takes_batches = True
    settings: ClassVar[Mapping[str, Setting]] = {
        "base_url": Setting(str, "https://api.openai.com/v1", "where the endpoint is", False),
        "api_key_env": Setting(str, "OPENAI_API_KEY", "the variable with the key", False),
        **ChatEngine.settings,
        "constrain": Setting(
            Annotated[str, one_of(("by address", "choice", "json_schema", "none"))],
            "by address",
            "how replies are held to the scale: choice (vLLM's own), json_schema, none; by default "
            "json_schema for the addresses of hosted models that are known, choice for others",
        ),
        "batch": Setting(bool, False, "in batches: within a day, for less", False),
        "batch_prompts": Setting(Count, 50_000, "prompts of one batch at most", False),
        "batch_poll": Setting(Seconds, 60.0, "seconds between looks at a batch", False),
    }

    @classmethod
    def completed(cls, settings: dict[str, Any]) -> dict[str, Any]:
        if settings["constrain"] != "by address":
            return settings
        host = f".{urlsplit(settings['base_url']).hostname}"
        return settings | {"constrain": "json_schema" if host.endswith(_HOSTED) else "choice"}

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        check_address(settings["base_url"], where)

    def batches(self) -> Batches:
        return Batches(self)


def check_address(base_url: str, where: str) -> None:
    """Raise `BadInput` for what is no address, or holds a secret."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{where}: base_url is not an address", 'E.g. "http://127.0.0.1:8000/v1"')
    if parts.username or parts.password or parts.query:
        raise BadInput(
            f"{where}: base_url holds more than an address",
            "Secrets come from the environment: see api_key_env.",
        )
