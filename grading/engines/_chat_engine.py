"""An engine that asks an endpoint in chats: side by side, patiently, each reply checked."""

import asyncio
import math
import resource
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import Field

from gradelake.grading.engines import (
    OF_ITSELF,
    Came,
    Cluster,
    EngineUnusable,
    Response,
    Setting,
    Workers,
)
from gradelake.grading.engines import Engine as Base
from gradelake.grading.engines._chat import (
    chat_options,
    full_text,
    is_too_long,
    response_of,
    shorter,
)
from gradelake.grading.engines._client import is_same_model
from gradelake.grading.engines._connection import CONTINUES, Busy, Connection, patiently
from gradelake.grading.engines._pace import Pace, Turn
from gradelake.grading.engines._rates import RATES, Rates
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.parsers import sole_word
from gradelake.grading.prompts.prompt import Rendered
from gradelake.sql.common.checked import Count
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.servers import SHORTEST_KEY, masked, short

_PROBES = 3  # prompts that anyone can answer, before the endpoint is given up
_TICK = 0.05  # seconds between looks at requests that are ended
_NAMES = 10  # of models that answer, told of

Seconds = Annotated[float, Field(gt=0)]


class _Unanswered(GradelakeError):
    """No reply: whether the prompt or the endpoint is at fault is not known yet."""


class _TooLong(_Unanswered):
    """The model has no room for the prompt."""


class ChatEngine(Base):
    """Has one prompt answered after the other by a `Connection`; `429` waits as long as it asks."""

    connection_kind: ClassVar[type[Connection]]
    targets = Base.targets | {"generate"}
    has_endpoint = True
    chunk_pairs = 160
    #: of every way to an endpoint
    settings: ClassVar[Mapping[str, Setting]] = {
        "concurrency": Setting(
            Count, 512, "prompts on their way at once, at most: how many it finds by itself", False
        ),
        **RATES,
        "timeout": Setting(Seconds, 60.0, "seconds for one reply", False),
        "patience": Setting(Seconds, 600.0, "seconds of `429` alone before giving up", False),
        "pause": Setting(
            Annotated[float, Field(ge=0)], 1.0, "seconds after an error of the server", False
        ),
        "served_as": Setting(
            list[str], [], "other names of the model that may answer; a date after its own may"
        ),
        "reasoning": Setting(bool, False, "a model that reasons and takes no temperature"),
        "keep_reasoning": Setting(bool, False, "keep what came of it apart from replies", False),
        "max_passage_characters": Setting(Count, 20_000, "longer passages are cut at the end"),
    }

    @classmethod
    def longest_reply(cls, grader: Grader) -> int:
        options, _ = chat_options(grader)
        name = "max_completion_tokens" if "max_completion_tokens" in options else "max_tokens"
        return options[name]

    @classmethod
    def revision(cls, model: str, settings: Mapping[str, Any]) -> str:
        return ""

    @classmethod
    def workers(cls, cluster: Cluster, settings: Mapping[str, Any]) -> Workers:
        return Workers(count=1, cpus=0)

    def __init__(self, grader: Grader):
        super().__init__(grader)
        self.connection = self.connection_kind(grader)
        where = self.connection.where, self.connection.key_name, grader.model
        self.rates = Rates(grader.settings, *where)
        self.answering = set(self.connection.names)  # of models that answered
        self.said: dict[str, dict[str, str]] = {}  # by replies, of themselves: as it is, as kept
        self.takes_schema = True  # until it is found out that it does not
        # whether replies are held to the scale: known when the first ones came
        self.holds = grader.prompt.output != "scale" or grader.settings["constrain"] == "none"
        self.derive()
        # of all chunks together: while one's last replies come in, the next one's are asked for
        self.pace = Pace(most_at_once(grader))
        self.answered_at = 0.0
        self.n_scoring = 0  # chunks at work
        self.given_up: EngineUnusable | None = None  # why none of them can go on
        self.at_server = set[asyncio.Task | None]()  # requests that wait for their reply
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def derive(self) -> None:
        self.options, self.reading = chat_options(self.grader)
        self.longest = self.longest_reply(self.grader)
        if not self.takes_schema:
            self.options.pop("response_format", None)

    def reach(self) -> str | None:
        return self.run(self.connection.reach())

    def run(self, asking: Coroutine[Any, Any, Any]) -> Any:
        """What comes of it in the engine's own loop, where any thread may wait for it."""
        return asyncio.run_coroutine_threadsafe(asking, self.loop).result()

    # --- asking -----------------------------------------------------------------------------------

    @classmethod
    def chunks_at_once(cls, grader: Grader) -> int:
        return _chunks(grader, most_at_once(grader))

    def chunks_now(self) -> int:
        return _chunks(self.grader, self.pace.limit)

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        return self.score_each(prompts, lambda prompt, response, seconds: None)

    def score_each(self, prompts: Sequence[Rendered], came: Came) -> list[Response]:
        return self.run(self._score(prompts, came))

    async def _score(self, prompts: Sequence[Rendered], came: Came) -> list[Response]:
        unanswered = []
        self.n_scoring += 1
        if self.n_scoring == 1:
            self.given_up = None

        async def ask(prompt: Rendered) -> Response:
            async with self.pace.turn() as turn:
                if self.given_up:  # by another chunk: no prompt could be answered
                    raise self.given_up
                started = time.monotonic()
                try:
                    response = await self._ask(prompt, turn)
                    came(prompt, response, time.monotonic() - started)
                    return response
                except _Unanswered as error:
                    response = Response(error=error.message)
                    came(prompt, response, time.monotonic() - started)
                    unanswered.append(prompt)
                    await asyncio.sleep(self.grader.settings["pause"])
                    return response

        tasks = [asyncio.ensure_future(ask(prompt)) for prompt in prompts]
        try:
            responses = await asyncio.gather(*tasks)
            if unanswered:
                await self._probe(came)
        except EngineUnusable as error:
            self.given_up = error
            raise
        finally:
            await self._wind_up(tasks)
            self.n_scoring -= 1
        self._require_held([each.text for each in responses if each.error is None])
        return responses

    async def _wind_up(self, tasks: Sequence[asyncio.Task]) -> None:
        """End what is not at the server; what is was paid for, and is waited for."""
        while pending := [task for task in tasks if not task.done()]:
            for task in pending:
                if task not in self.at_server:
                    task.cancel()
            await asyncio.wait(pending, timeout=_TICK)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _require_held(self, replies: list[str]) -> None:
        """Raise `EngineUnusable` where most of the first replies are not on the scale that the
        server was asked to hold them to."""
        if self.holds or not replies:
            return
        scale = self.grader.prompt.grade_scale
        off = [reply for reply in replies if sole_word(reply, scale) is None]
        if 2 * len(off) > len(replies):
            raise self.connection.unusable(
                f"does not hold replies to the scale {scale}: {off[0]!r:.80}",
                'It may heed another constraint: constrain = "json_schema" or "choice". Or let the '
                'model write freely: constrained = false, parser = "lenient".',
            )
        self.holds = True

    async def _probe(self, came: Came) -> None:
        """Before a prompt is blamed: can the endpoint answer at all?"""
        word = next(iter(self.scale.words)) if self.scale else "yes"
        plain = Rendered(None, f"Write {word} and nothing else.", "", "", {})
        for _ in range(_PROBES):
            started = time.monotonic()
            try:
                async with self.pace.turn() as turn:
                    response = await self._ask(plain, turn)
                came(plain, response, time.monotonic() - started)
                return
            except _Unanswered as error:
                last = error
                came(plain, Response(error=error.message), time.monotonic() - started)
                await asyncio.sleep(self.grader.settings["pause"])
        raise self.connection.unusable(f"does not answer: {last.message}", last.hint)

    async def _ask(self, prompt: Rendered, turn: Turn) -> Response:
        """One prompt. Waits on 429; shortens a passage that the model has no room for.

        Raises `_Unanswered`, and `EngineUnusable` where no other prompt could do better.
        """
        passage = self._passage(prompt)
        patience, pause = self.grader.settings["patience"], self.grader.settings["pause"]
        while True:
            ask = partial(turn.asked, partial(self._answer, _messages(prompt, passage)))
            try:
                response = await patiently(ask, patience, pause, lambda: self.answered_at)
            except _TooLong:
                most = shorter(len(passage))
                if most is None:
                    raise
                passage = passage[:most]
            except Busy as error:
                raise self.connection.unusable(
                    f"still busy after {patience:g} s of patience: {error}",
                    f"Wait, or raise patience. {CONTINUES}",
                ) from None
            else:
                self.answered_at = time.monotonic()
                return replace(response, cut_characters=len(prompt.passage) - len(passage))

    async def _answer(self, messages: list[dict[str, str]]) -> Response:
        """One reply, or why there is none: `Busy`, `_Unanswered`, `EngineUnusable`."""
        openai, connection = self.connection.openai, self.connection
        try:
            return await self._complete(messages)
        except openai.RateLimitError as error:
            raise connection.busy(error) from None
        except openai.AuthenticationError as error:
            raise connection.unusable(error, connection.key_hint) from None
        except openai.NotFoundError as error:
            raise connection.unusable(error, "Check base_url and model.") from None
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            hint = "Check model, constrain, reasoning and decoding: what does it accept?"
            kind = _TooLong if is_too_long(full_text(error)) else _Unanswered
            raise kind(connection.reason(error), hint) from None
        except openai.PermissionDeniedError as error:  # of some hosts: a prompt they censor
            raise _Unanswered(connection.reason(error), connection.key_hint) from None
        except TimeoutError:
            seconds = self.grader.settings["timeout"]
            raise _Unanswered(
                f"no reply within {seconds:g} seconds", f"Is it busy? Raise timeout. {CONTINUES}"
            ) from None
        except (openai.OpenAIError, ValueError) as error:  # no, half or another reply
            if isinstance(error, openai.APIStatusError):
                connection.refuse_redirect(error)
            if connection.lacks_credentials(error):
                raise connection.unusable(error, connection.key_hint) from None
            raise _Unanswered(connection.reason(error), f"Is it running? {CONTINUES}") from None

    async def _complete(self, messages: list[dict[str, str]]) -> Response:
        """One reply; without a schema where the server refuses the one for a text."""
        openai = self.connection.openai
        try:
            return await self._sent(messages, self.options)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            free = {key: self.options[key] for key in self.options if key != "response_format"}
            if len(free) == len(self.options) or not self.grader.prompt.asks_json:
                raise
            response = await self._sent(messages, free)  # or its own error: it was the prompt
            self.takes_schema, self.options = False, free
            self.notes.append(
                f"{self.connection.where} refuses a JSON schema; replies are not held "
                f'to it (constrain = "none" asks without): {self.connection.reason(error)}'
            )
            return response

    async def _sent(self, messages: list[dict[str, str]], options: dict[str, Any]) -> Response:
        text = "".join(message["content"] for message in messages)
        expected = await self.rates.wait(text, self.longest)
        request = self.connection.chat(messages, options)
        task = asyncio.current_task()
        self.at_server.add(task)
        try:
            with self.pace.request(self.connection.openai.RateLimitError):
                completion = await self.connection.sent(
                    request, self.grader.settings["timeout"], text
                )
        finally:
            self.at_server.discard(task)
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
        key = self.connection.key
        if not self.grader.settings["keep_reasoning"]:
            response.reasoning = None
        if len(key) >= SHORTEST_KEY:
            response.text = masked(response.text, key)
            response.reasoning = response.reasoning and masked(response.reasoning, key)
        for name in OF_ITSELF:
            said, known = str(getattr(completion, name, None) or ""), self.said.setdefault(name, {})
            if said and said not in known and len(known) < _NAMES:
                known[said] = short(said, key)
        if response.error:  # a refusal has a server's words
            response.error = short(response.error, key)
        response.finish = response.finish and short(response.finish, key)
        return response

    def stack(self) -> dict[str, str | list[str]]:
        return super().stack() | {
            name: [*said.values()] for name, said in self.said.items() if said
        }

    def _heed_model(self, answering: Any) -> None:
        """Note which model answered. Raises `EngineUnusable` where it is another one."""
        asked, answering = self.grader.model, str(answering or "")  # some servers do not say
        if not answering or answering in self.answering:
            return
        named = short(answering, self.connection.key)
        if answering not in self.grader.settings["served_as"] and not is_same_model(
            asked, answering
        ):
            raise self.connection.unusable(
                f"{named!r} answers, not {asked!r}",
                "Check model. If it is the same by another name, allow it: "
                f'served_as = ["{named}"]. {CONTINUES}',
            )
        if len(self.answering) < _NAMES:
            self.answering.add(answering)
            self.notes.append(f"{named!r} answers for {asked!r}")

    def _passage(self, prompt: Rendered) -> str:
        """The part of the passage that is sent."""
        if "passage" not in prompt.values:
            return prompt.passage
        return prompt.passage[: self.grader.settings["max_passage_characters"]]

    def body(self, prompt: Rendered, most_characters: int | None) -> tuple[dict[str, Any], int]:
        """What is sent in a batch to have a prompt answered, and how many characters of the passage
        that has; `most_characters`: as many at most."""
        passage = self._passage(prompt)[:most_characters]
        options = dict(self.options)
        extra = options.pop("extra_body", {})
        return {"messages": _messages(prompt, passage), **options, **extra}, len(passage)


def most_at_once(grader: Grader) -> int:
    """Prompts that may be on their way at once: as many connections as this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_ = math.inf if files == resource.RLIM_INFINITY else files // 2
    return min(grader.settings["concurrency"], max(1, open_))


def _chunks(grader: Grader, at_once: int) -> int:
    """How many chunks keep so many prompts on their way while one waits for a reply four times as
    slow as others."""
    prompts = max(1, grader.chunk_pairs // (grader.prompt.window or 1))
    return math.ceil(min(4, prompts) * at_once / prompts) + 1


def _messages(prompt: Rendered, passage: str) -> list[dict[str, str]]:
    user = {"role": "user", "content": f"{prompt.before}{passage}{prompt.after}"}
    return [{"role": "system", "content": prompt.system}, user] if prompt.system else [user]
