"""Any endpoint that speaks OpenAI's chat API: `vllm serve`, and hosted models."""

import asyncio
import email.utils
import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from grading.engines import Cluster, EngineUnusable, Response, Setting, Workers
from grading.engines import Engine as Base
from sql.errors import BadInput

if TYPE_CHECKING:
    from grading.prompt import Rendered

_CONSTRAINTS = ("choice", "json_schema", "none")
_TOP_LOGPROBS = 20  # as many as servers give
_JSON_TOKENS = 24  # enough for {"grade": "..."}
_BARREN = 3  # calls in a row without one answer, before the endpoint is given up
_SHORTEST = 200  # characters: a passage is not halved further than this
_TOO_LONG = ("context length", "context_length", "maximum model length", "too many tokens")


class Engine(Base):
    """Prompts go out side by side; `429` waits as long as the server asks; each reply is checked.

    The key comes from an environment variable and appears nowhere else.
    """

    needs = ("openai",)
    install = "pip install 'gradelake[openai]'"
    chunk_pairs = 160
    settings: ClassVar[Mapping[str, Setting]] = {
        "base_url": Setting(str, "https://api.openai.com/v1", "where the endpoint is", False),
        "api_key_env": Setting(str, "OPENAI_API_KEY", "the variable with the key", False),
        "concurrency": Setting(int, 16, "prompts on their way at once", False),
        "timeout": Setting(float, 60.0, "seconds for one reply", False),
        "patience": Setting(float, 600.0, "seconds of `429` before giving up", False),
        "pause": Setting(float, 1.0, "seconds after an error of the server", False),
        "constrain": Setting(
            str, "choice", "how replies are held to the scale: choice (vLLM), json_schema, none"
        ),
        "reasoning": Setting(bool, False, "a model that reasons and takes no temperature"),
        "max_passage_characters": Setting(int, 20_000, "longer passages are cut at the end"),
    }

    def __init__(self, grader):
        super().__init__(grader)
        import openai

        self.openai = openai
        settings = grader.settings
        self.key = os.environ.get(settings["api_key_env"], "")
        self.client = openai.AsyncOpenAI(
            base_url=settings["base_url"],
            api_key=self.key or "none",  # servers of one's own often want no key
            timeout=settings["timeout"],
            max_retries=0,
        )
        self.options = self._options()
        self.loop = asyncio.new_event_loop()
        self.barren = 0

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        if settings["constrain"] not in _CONSTRAINTS:
            raise BadInput(
                f"{where}: constrain must be one of {', '.join(_CONSTRAINTS)}",
                "vLLM understands choice, hosted models json_schema.",
            )
        parts = urlsplit(settings["base_url"])
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{where}: base_url is no address", 'E.g. "http://127.0.0.1:8000/v1"')
        if parts.username or parts.password or parts.query:
            raise BadInput(
                f"{where}: base_url holds more than an address",
                "Secrets come from the environment: see api_key_env.",
            )
        for name in ("concurrency", "max_passage_characters"):
            if settings[name] < 1:
                raise BadInput(f"{where}: {name} must be at least 1")

    @classmethod
    def revision(cls, model: str, settings: Mapping[str, Any]) -> str:
        return ""

    @classmethod
    def workers(cls, cluster: Cluster, settings: Mapping[str, Any]) -> Workers:
        return Workers(count=1, cpus=0)

    def _options(self) -> dict[str, Any]:
        """What goes with every prompt."""
        grader, on_scale = self.grader, self.grader.prompt.output == "scale"
        options = {"model": grader.model, **grader.decoding}
        constrain = grader.settings["constrain"] if on_scale else "none"
        extra: dict[str, Any] = {}
        words = list(self.scale.words)
        if constrain == "choice":
            extra["structured_outputs"] = {"choice": words}
            options |= {"logprobs": True, "top_logprobs": min(_TOP_LOGPROBS, len(words))}
            options["max_tokens"] = max(options["max_tokens"], max(map(len, words)))
        elif constrain == "json_schema":
            schema = {
                "type": "object",
                "properties": {"grade": {"type": "string", "enum": words}},
                "required": ["grade"],
                "additionalProperties": False,
            }
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "grade", "strict": True, "schema": schema},
            }
            options["max_tokens"] = max(options["max_tokens"], _JSON_TOKENS)
        if grader.settings["reasoning"]:
            for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty"):
                options.pop(name, None)
            options["max_completion_tokens"] = options.pop("max_tokens")
        self.constrain = constrain
        return options | ({"extra_body": extra} if extra else {})

    # --- asking -----------------------------------------------------------------------------------

    def score(self, prompts: "Sequence[Rendered]") -> list[Response]:
        return self.loop.run_until_complete(self._score(prompts))

    async def _score(self, prompts: "Sequence[Rendered]") -> list[Response]:
        gate = asyncio.Semaphore(self.grader.settings["concurrency"])
        self.refused = self.unanswered = 0

        async def ask(prompt: "Rendered") -> Response:
            async with gate:
                return await self._ask(prompt)

        tasks = [asyncio.ensure_future(ask(prompt)) for prompt in prompts]
        try:
            responses = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        self.barren = self.barren + 1 if self.unanswered == len(prompts) else 0
        if self.barren >= _BARREN and (self.refused == len(prompts) or len(prompts) > 1):
            raise EngineUnusable(
                f"{self.grader.settings['base_url']} does not answer: {responses[0].error}",
                "Is it running? What was graded is kept; the same command goes on.",
            )
        return responses

    async def _ask(self, prompt: "Rendered") -> Response:
        """One prompt. Waits on 429; shortens a passage that the model has no room for."""
        openai, settings = self.openai, self.grader.settings
        passage = prompt.passage[: settings["max_passage_characters"]]
        deadline = time.monotonic() + settings["patience"]
        wait = settings["pause"]
        while True:
            try:
                completion = await self.client.chat.completions.create(
                    messages=_messages(prompt, passage), **self.options
                )
                return self._response(completion, len(prompt.passage) - len(passage))
            except openai.RateLimitError as error:
                if "insufficient_quota" in str(error):
                    raise self._unusable(error, "The account's quota is used up.") from None
                wait = _retry_after(error.response) or min(wait * 2, 60)
                if time.monotonic() + wait > deadline:
                    return self._no_answer(error)
                await asyncio.sleep(wait)
            except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
                raise self._unusable(
                    error, f"Is the key in {settings['api_key_env']} right?"
                ) from None
            except openai.NotFoundError as error:
                raise self._unusable(error, "Check base_url and model.") from None
            except openai.BadRequestError as error:
                text = str(error).lower()
                if any(sign in text for sign in _TOO_LONG) and len(passage) > _SHORTEST:
                    passage = passage[: max(_SHORTEST, len(passage) // 2)]
                    continue
                return Response(error=self._told(error))
            except openai.APITimeoutError as error:
                return await self._pause(error)
            except openai.APIConnectionError as error:
                self.refused += 1
                return await self._pause(error)
            except (openai.APIError, ValueError, TypeError, LookupError, AttributeError) as error:
                return await self._pause(error)  # 5xx, or a reply that is cut off or misshapen

    async def _pause(self, error: Exception) -> Response:
        response = self._no_answer(error)
        await asyncio.sleep(self.grader.settings["pause"])
        return response

    def _no_answer(self, error: Exception) -> Response:
        self.unanswered += 1
        return Response(error=self._told(error))

    def _unusable(self, error: Exception, hint: str) -> EngineUnusable:
        return EngineUnusable(f"{self.grader.settings['base_url']}: {self._told(error)}", hint)

    def _told(self, error: Exception) -> str:
        """The error without the key, should the server have repeated it."""
        text = f"{type(error).__name__}: {error}"
        return text.replace(self.key, "***") if self.key else text

    # --- reading ----------------------------------------------------------------------------------

    def _response(self, completion, cut_characters: int) -> Response:
        choice = completion.choices[0]
        if choice.finish_reason == "content_filter":
            return Response(error="the endpoint's content filter refused this prompt")
        text = choice.message.content
        if text is None:
            return Response(error="the reply is empty")
        prompt_tokens, cached_tokens, completion_tokens = _usage(completion)
        return Response(
            text=_grade_in(text) if self.constrain == "json_schema" else text,
            probabilities=self._probabilities(choice) if self.constrain == "choice" else None,
            constrained_probabilities=True,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_tokens,
            completion_tokens=completion_tokens,
            cut_characters=cut_characters,
        )

    def _probabilities(self, choice) -> list[float] | None:
        """Of each word, from its first token; None unless every word can be told."""
        content = choice.logprobs and choice.logprobs.content
        if not content:
            return None
        words = list(self.scale.words)
        found: dict[str, float] = {}
        for token in content[0].top_logprobs:
            meant = [word for word in words if token.token.strip() and
                     word.startswith(token.token.strip())]  # fmt: skip
            if len(meant) == 1:
                found[meant[0]] = found.get(meant[0], 0.0) + math.exp(token.logprob)
        return [found[word] for word in words] if len(found) == len(words) else None


def _messages(prompt: "Rendered", passage: str) -> list[dict[str, str]]:
    user = {"role": "user", "content": f"{prompt.before}{passage}{prompt.after}"}
    return [{"role": "system", "content": prompt.system}, user] if prompt.system else [user]


def _grade_in(text: str) -> str:
    """The grade of a JSON reply; the reply itself when it is something else."""
    try:
        return str(json.loads(text)["grade"])
    except (ValueError, TypeError, LookupError):
        return text


def _usage(completion) -> tuple[int | None, int | None, int | None]:
    """(prompt, cached, completion) tokens; None for what is missing or cannot be."""
    usage = completion.usage
    details = getattr(usage, "prompt_tokens_details", None)
    counts = (
        getattr(usage, "prompt_tokens", None),
        getattr(details, "cached_tokens", None),
        getattr(usage, "completion_tokens", None),
    )
    return tuple(
        n if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31 else None
        for n in counts
    )


def _retry_after(response) -> float | None:
    """Seconds that a server asks to wait: a number, or a date."""
    stated = response.headers.get("retry-after")
    if not stated:
        return None
    try:
        return max(0.0, float(stated))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(stated).timestamp() - time.time())
    except ValueError:
        return None
