"""Any endpoint that speaks OpenAI's chat API: `vllm serve`, and hosted models."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from gradelake.grading.engines import Cluster, EngineUnusable, Response, Setting, Workers
from gradelake.grading.engines import Engine as Base
from gradelake.grading.engines._batches import Batches
from gradelake.grading.engines._chat import (
    chat_options,
    is_too_long,
    response_of,
    retry_after,
    short,
    shorter,
    told,
    whole_text,
)
from gradelake.grading.engines._client import is_same_model, open_client
from gradelake.grading.engines._rates import RATES, Rates
from gradelake.grading.prompts.prompt import Rendered
from gradelake.sql.common.checked import Count, one_of
from gradelake.sql.common.errors import BadInput, how_to_install

if TYPE_CHECKING:
    from gradelake.grading.graders.grader import Grader
    from gradelake.grading.prompts.prompt import Prompt

_PROBES = 3  # prompts that anyone can answer, before the endpoint is given up
_REACHED_WITHIN = 10.0  # seconds
_NAMES = 10  # of models that answer, told of
_TELLING = 8  # characters of a key; a shorter one may be a word of the scale
_CONTINUES = "What was graded is kept; the same command continues."

_Seconds = Annotated[float, Field(gt=0)]


class _Unanswered(Exception):
    """No reply: whether the prompt or the endpoint is at fault is not known yet."""

    def __init__(self, told: str, hint: str):
        super().__init__(told)
        self.hint = hint


class Engine(Base):
    """Prompts go out side by side; `429` waits as long as the server asks; each reply is checked.

    The key comes from an environment variable and appears nowhere else.
    """

    needs: ClassVar[tuple[str, ...]] = ("openai",)
    targets = Base.targets | {"generate"}
    has_endpoint = True
    takes_batches = True
    install = how_to_install("openai")
    chunk_pairs = 160
    settings: ClassVar[Mapping[str, Setting]] = {
        "base_url": Setting(str, "https://api.openai.com/v1", "where the endpoint is", False),
        "api_key_env": Setting(str, "OPENAI_API_KEY", "the variable with the key", False),
        "concurrency": Setting(Count, 16, "prompts on their way at once", False),
        **RATES,
        "timeout": Setting(_Seconds, 60.0, "seconds for one reply", False),
        "patience": Setting(_Seconds, 600.0, "seconds of `429` alone before giving up", False),
        "pause": Setting(
            Annotated[float, Field(ge=0)], 1.0, "seconds after an error of the server", False
        ),
        "constrain": Setting(
            Annotated[str, one_of(("choice", "json_schema", "none"))],
            "choice",
            "how replies are held to the scale: choice (vLLM), json_schema (hosted models), none",
        ),
        "served_as": Setting(
            list[str], [], "other names of the model that may answer; a date after its own may"
        ),
        "reasoning": Setting(bool, False, "a model that reasons and takes no temperature"),
        "batch": Setting(bool, False, "in batches: within a day, for less", False),
        "batch_prompts": Setting(Count, 50_000, "prompts of one batch at most", False),
        "batch_poll": Setting(_Seconds, 60.0, "seconds between looks at a batch", False),
        "max_passage_characters": Setting(Count, 20_000, "longer passages are cut at the end"),
    }

    @classmethod
    def longest_reply(cls, grader: "Grader") -> int:
        options, _ = chat_options(grader)
        name = "max_completion_tokens" if "max_completion_tokens" in options else "max_tokens"
        return options[name]

    def __init__(self, grader: "Grader"):
        super().__init__(grader)
        import openai

        self.openai = openai
        settings = grader.settings
        self.where = settings["base_url"] or grader.model
        self.key_name = self._key_name()
        self.key = os.environ.get(self.key_name, "").strip()
        if not (self.key.isascii() and self.key.isprintable()):
            raise EngineUnusable(
                f"the key in {self.key_name} has characters that cannot be sent",
                "Copy it again: letters, digits and punctuation only, on one line.",
            )
        self.client = self._open()
        self.rates = Rates(settings, self.where, self.key_name, grader.model)
        self.answering = {grader.model}  # names of models that answered
        self.takes_schema = True  # until it is found out that it does not
        self.set_decoding(grader.decoding)
        self.loop = asyncio.new_event_loop()
        self.answered_at = 0.0

    def _key_name(self) -> str:
        """The variable that the key is in."""
        return self.grader.settings["api_key_env"]

    def _open(self) -> Any:
        """What `_create` sends requests with."""
        return open_client(self.where, self.key)

    @classmethod
    def check(cls, settings: Mapping[str, Any], where: str) -> None:
        parts = urlsplit(settings["base_url"])
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(
                f"{where}: base_url is not an address", 'E.g. "http://127.0.0.1:8000/v1"'
            )
        if parts.username or parts.password or parts.query:
            raise BadInput(
                f"{where}: base_url holds more than an address",
                "Secrets come from the environment: see api_key_env.",
            )

    @classmethod
    def revision(cls, model: str, settings: Mapping[str, Any]) -> str:
        return ""

    @classmethod
    def workers(cls, cluster: Cluster, settings: Mapping[str, Any]) -> Workers:
        return Workers(count=1, cpus=0)

    def set_decoding(self, decoding: Mapping[str, float | int]) -> None:
        super().set_decoding(decoding)
        self._set_options()

    def set_prompt(self, prompt: "Prompt") -> None:
        super().set_prompt(prompt)
        self._set_options()

    def _set_options(self) -> None:
        self.options, self.reading = chat_options(self.grader)
        if not self.takes_schema:
            self.options.pop("response_format", None)

    def reach(self) -> str | None:
        return self.loop.run_until_complete(self._reach())

    async def _reach(self) -> str | None:
        openai = self.openai
        seconds = min(self.grader.settings["timeout"], _REACHED_WITHIN)
        try:
            async with asyncio.timeout(seconds), self._open() as client:
                await client.models.with_raw_response.list()
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise self._unusable(self._told(error), self.key_hint) from None
        except TimeoutError:
            raise self._unusable(f"no reply within {seconds:g} seconds", "Is it busy?") from None
        except openai.APIStatusError as error:
            self.refuse_redirect(error)
            if error.status_code >= 500:
                raise self._unusable(self._told(error), "Is it running?") from None
        except (openai.OpenAIError, ValueError) as error:
            raise self._unusable(self._told(error), "Is it running? Check base_url.") from None
        return None

    # --- asking -----------------------------------------------------------------------------------

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        return self.loop.run_until_complete(self._score(prompts))

    async def _score(self, prompts: Sequence[Rendered]) -> list[Response]:
        gate = asyncio.Semaphore(self.grader.settings["concurrency"])
        unanswered = []

        async def ask(prompt: Rendered) -> Response:
            async with gate:
                try:
                    return await self._ask(prompt)
                except _Unanswered as error:
                    unanswered.append(prompt)
                    await asyncio.sleep(self.grader.settings["pause"])
                    return Response(error=str(error))

        tasks = [asyncio.ensure_future(ask(prompt)) for prompt in prompts]
        try:
            responses = await asyncio.gather(*tasks)
            if unanswered:
                await self._probe()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return responses

    async def _probe(self) -> None:
        """Before a prompt is blamed: can the endpoint answer at all?"""
        word = next(iter(self.scale.words)) if self.scale else "yes"
        plain = Rendered(None, f"Write {word} and nothing else.", "", "", {})
        for _ in range(_PROBES):
            try:
                await self._ask(plain)
                return
            except _Unanswered as error:
                last = error
                await asyncio.sleep(self.grader.settings["pause"])
        raise self._unusable(f"does not answer: {last}", last.hint)

    async def _ask(self, prompt: Rendered) -> Response:
        """One prompt. Waits on 429; shortens a passage that the model has no room for.

        Raises `_Unanswered`, and `EngineUnusable` where no other prompt could do better.
        """
        openai, settings = self.openai, self.grader.settings
        passage = self._passage(prompt)
        refused_at, wait = None, settings["pause"] or 1.0
        while True:
            try:
                response = await self._complete(_messages(prompt, passage))
                self.answered_at = time.monotonic()
                return replace(response, cut_characters=len(prompt.passage) - len(passage))
            except openai.RateLimitError as error:
                if "insufficient_quota" in whole_text(error):
                    raise self._unusable(
                        self._told(error), f"The account's quota is used up. {_CONTINUES}"
                    ) from None
                stated = self._stated_wait(error)
                if stated is None:
                    wait = min(wait * 2, 60)
                seconds, now = wait if stated is None else stated, time.monotonic()
                refused_at = refused_at or now
                if now + seconds > max(refused_at, self.answered_at) + settings["patience"]:
                    raise self._unusable(
                        f"asks for more patience ({settings['patience']:g} s): {self._told(error)}",
                        f"Wait, or lower concurrency, or raise patience. {_CONTINUES}",
                    ) from None
                await asyncio.sleep(seconds)
            except openai.AuthenticationError as error:
                raise self._unusable(self._told(error), self.key_hint) from None
            except openai.NotFoundError as error:
                raise self._unusable(self._told(error), "Check base_url and model.") from None
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                most = shorter(len(passage)) if is_too_long(whole_text(error)) else None
                if most:
                    passage = passage[:most]
                    continue
                hint = "Check model, constrain, reasoning and decoding: what does it accept?"
                raise _Unanswered(self._told(error), hint) from None
            except openai.PermissionDeniedError as error:  # of some hosts: a prompt they censor
                raise _Unanswered(self._told(error), self.key_hint) from None
            except TimeoutError:
                told = f"no reply within {settings['timeout']:g} seconds"
                raise _Unanswered(told, f"Is it busy? Raise timeout. {_CONTINUES}") from None
            except openai.APIStatusError as error:
                self.refuse_redirect(error)
                raise self._unanswered(error) from None
            except (openai.OpenAIError, ValueError) as error:  # no, half or another reply
                raise self._unanswered(error) from None

    async def _complete(self, messages: list[dict[str, str]]) -> Response:
        """One reply; without a schema where the server refuses the one for a text."""
        try:
            return await self._sent(messages, self.options)
        except (self.openai.BadRequestError, self.openai.UnprocessableEntityError) as error:
            free = {key: self.options[key] for key in self.options if key != "response_format"}
            if len(free) == len(self.options) or not self.grader.prompt.asks_json:
                raise
            response = await self._sent(messages, free)  # or its own error: it was the prompt
            self.takes_schema, self.options = False, free
            self.notes.append(
                f"{self.where} refuses a JSON schema; replies are not held "
                f'to it (constrain = "none" asks without): {self._told(error)}'
            )
            return response

    async def _sent(self, messages: list[Any], options: dict[str, Any]) -> Response:
        text = "".join(message["content"] for message in messages)
        expected = await self.rates.wait(text, self.longest_reply(self.grader))
        async with asyncio.timeout(self.grader.settings["timeout"]):
            completion = await self._create(messages, options)
        response = self.read(completion)
        if response.prompt_tokens is not None:
            counted = response.prompt_tokens + (response.completion_tokens or 0)
            self.rates.correct(expected, counted)
        return response

    def read(self, completion: Any) -> Response:
        """The answer in a completion. Raises `Misshapen`, and `EngineUnusable` where another model
        answers."""
        response = response_of(completion, self.reading)
        self._heed_model(getattr(completion, "model", None))
        if len(self.key) >= _TELLING:
            response.text = response.text.replace(self.key, "***")
        return response

    async def _create(self, messages: list[Any], options: dict[str, Any]) -> Any:
        """One request, sent once. Raises the errors of the library `openai`."""
        return await self.client.chat.completions.create(messages=messages, **options)

    def _stated_wait(self, error: Any) -> float | None:
        """Seconds that a 429 asks to wait."""
        return retry_after(error.response.headers)

    def _heed_model(self, answering: Any) -> None:
        """Note which model answered. Raises `EngineUnusable` where it is another one."""
        asked = self.grader.model
        if not answering:  # some servers do not say
            return
        answering = str(answering)
        if answering in self.answering:
            return
        named = short(answering, self.key)
        if answering not in self.grader.settings["served_as"] and not is_same_model(
            asked, answering
        ):
            raise self._unusable(
                f"{named!r} answers, not {asked!r}",
                "Check model. If it is the same by another name, allow it: "
                f'served_as = ["{named}"]. {_CONTINUES}',
            )
        if len(self.answering) < _NAMES:
            self.answering.add(answering)
            self.notes.append(f"{named!r} answers for {asked!r}")

    def _passage(self, prompt: Rendered) -> str:
        """As much of the passage as is sent."""
        if "passage" not in prompt.values:
            return prompt.passage
        return prompt.passage[: self.grader.settings["max_passage_characters"]]

    # --- in batches -------------------------------------------------------------------------------

    def batches(self) -> Batches:
        return Batches(self)

    def body(self, prompt: Rendered, most_characters: int | None) -> tuple[dict[str, Any], int]:
        """What is sent to have a prompt answered, and how many characters of the passage that has;
        `most_characters`: as many at most."""
        passage = self._passage(prompt)[:most_characters]
        options = dict(self.options)
        extra = options.pop("extra_body", {})
        return {"messages": _messages(prompt, passage), **options, **extra}, len(passage)

    # --- telling ----------------------------------------------------------------------------------

    def _unusable(self, told: str, hint: str) -> EngineUnusable:
        return EngineUnusable(f"{self.where}: {told}", hint)

    @property
    def key_hint(self) -> str:
        name = self.key_name
        return f"Is the key in {name} right?" if self.key else f"{name} holds no key."

    def refuse_redirect(self, error: Any) -> None:
        if error.response.has_redirect_location:
            target = short(error.response.headers["location"], self.key)
            raise self._unusable(
                f"redirects to {target!r}",
                "Prompts go to the address in gradelake.toml only. If that is right, name it in "
                "base_url.",
            ) from None

    def _unanswered(self, error: Exception) -> Exception:
        return _Unanswered(self._told(error), f"Is it running? {_CONTINUES}")

    def _told(self, error: Exception) -> str:
        return told(error, self.key)


def _messages(prompt: Rendered, passage: str) -> list[dict[str, str]]:
    user = {"role": "user", "content": f"{prompt.before}{passage}{prompt.after}"}
    return [{"role": "system", "content": prompt.system}, user] if prompt.system else [user]
