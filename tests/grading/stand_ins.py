"""What a model's server answers, each kind in its own way: a script for `misbehaving.Server`.

    server.on("", Ollama("llama3.2:1b"))

A stand-in has a model, of a kind: it takes a word for a token, prefers some words of a scale by the
hash of the prompt, and writes freely in the prompt's own words. What a kind of server makes of the
fields of a request is taken from its documentation and source.
"""

import hashlib
import json
import math
import random
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from tests.grading.misbehaving import Asked, Reply, answer, refuse, sent

BLOCK = 16  # tokens that a cache keeps together

# fields that a service documents for a chat; of those that many know, these first
_COMMON = """
messages model frequency_penalty logit_bias logprobs max_tokens n presence_penalty response_format
seed stop stream stream_options temperature tool_choice tools top_logprobs top_p
"""


class StandIn:
    """vLLM's server: it heeds everything."""

    documented = f"""{_COMMON}
    allowed_token_ids bad_words chat_template chat_template_kwargs ignore_eos max_completion_tokens
    min_p min_tokens parallel_tool_calls prompt_logprobs reasoning_effort repetition_penalty
    stop_token_ids structured_outputs top_k truncate_prompt_tokens user
    """
    takes_choice = True  # the field `structured_outputs`
    gives_logprobs = True
    most_logprobs = 20
    counts_cached = True

    def __init__(self, *models: str, room: int = 2048):
        self.models = models or ("m",)
        self.room = room  # tokens of prompt and reply
        self.seen: list[str] = []  # prompts, as a prefix cache has them

    def __call__(self, asked: Asked) -> Reply:
        body = asked.body
        if "messages" not in body:
            return sent({"object": "list", "data": [{"id": name} for name in self.models]})
        prompt = " ".join(message["content"] for message in body["messages"])
        return self.refusal(body, prompt) or self.reply(body, prompt)

    def refusal(self, body: dict[str, Any], prompt: str) -> Reply | None:
        """Why there is no reply."""
        if body["model"] not in self.models:
            return refuse(404, f"The model `{body['model']}` does not exist.")
        if body.get("top_logprobs", 0) > self.most_logprobs:
            return refuse(400, f"top_logprobs must be at most {self.most_logprobs}")
        most = body["max_tokens"] if "max_tokens" in body else body["max_completion_tokens"]
        n_asked = len(prompt.split()) + most
        return refuse(400, self.too_long(n_asked)) if n_asked > self.room else None

    def too_long(self, n_asked: int) -> str:
        return (
            f"This model's maximum context length is {self.room} tokens. However, your request has "
            f"{n_asked} input tokens."
        )

    def schema(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """The JSON schema that replies are held to."""
        return body.get("response_format", {}).get("json_schema", {}).get("schema")

    def reply(self, body: dict[str, Any], prompt: str) -> Reply:
        logprobs, finish = None, "stop"
        if self.takes_choice and "structured_outputs" in body:
            words = body["structured_outputs"]["choice"]
            shares = _shares(prompt, words)
            text = _drawn(body, prompt).choices(words, shares)[0] if is_drawn(body) else None
            text = text or words[shares.index(max(shares))]
            if body.get("logprobs") and self.gives_logprobs:
                logprobs = [(w, math.log(s)) for w, s in zip(words, shares, strict=True)]
                logprobs.append(("<pad>", -9999.0))  # as it writes what the constraint forbids
        elif schema := self.schema(body):
            text = json.dumps({key: _value(prompt, of) for key, of in schema["properties"].items()})
        else:
            written = _drawn(body, prompt).choices(prompt.split() or ["yes"], k=40)
            text = " ".join(written[: body["max_tokens"]])
            finish = "length" if body["max_tokens"] < len(written) else "stop"
        return answer(
            text,
            logprobs=logprobs,
            finish_reason=finish,
            usage=self.usage(prompt, text),
            model=self.answering(body["model"]),
        )

    def answering(self, asked: str) -> str:
        """The name under which the model answers."""
        return asked

    def usage(self, prompt: str, text: str) -> dict[str, Any]:
        """The account of tokens."""
        n_prompt, n_reply = len(prompt.split()), len(text.split())
        shared = max((_n_shared(prompt, seen) for seen in self.seen), default=0)
        self.seen.append(prompt)
        counts = {
            "prompt_tokens": n_prompt,
            "completion_tokens": n_reply,
            "total_tokens": n_prompt + n_reply,
        }
        if self.counts_cached:
            counts["prompt_tokens_details"] = {"cached_tokens": shared // BLOCK * BLOCK}
        return counts


def is_drawn(body: dict[str, Any]) -> bool:
    return body.get("temperature", 0) > 0


def _drawn(body: dict[str, Any], prompt: str) -> random.Random:
    """Chance that depends on the prompt alone; with a temperature, on the seed too."""
    return random.Random(f"{body.get('seed') if is_drawn(body) else None} {prompt}")


def _shares(prompt: str, words: list[str]) -> list[float]:
    """How probable each word is: noise, the same each time."""
    digests = [hashlib.sha256(f"{word} {prompt}".encode()).digest()[0] + 1 for word in words]
    return [digest / sum(digests) for digest in digests]


def _value(prompt: str, of: dict[str, Any]) -> Any:
    """A value that a schema allows."""
    if "enum" in of:
        shares = _shares(prompt, of["enum"])
        return of["enum"][shares.index(max(shares))]
    return [_value(prompt, of["items"])] if of["type"] == "array" else "Air scatters light."


def _n_shared(one: str, other: str) -> int:
    """Tokens that both begin with."""
    pairs = zip(one.split(), other.split(), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def only_documented(stand_in: StandIn) -> Callable[[Asked], Reply]:
    """What it answers, or why not: a field that its service does not document."""

    def reply(asked: Asked) -> Reply:
        if unknown := asked.body.keys() - stand_in.documented.split():
            return refuse(400, f"Unrecognized request arguments: {sorted(unknown)}")
        return stand_in(asked)

    return reply


class OpenAI(StandIn):
    """api.openai.com: models that reason refuse what steers others."""

    takes_choice = False
    documented = f"""{_COMMON}
    audio max_completion_tokens metadata modalities parallel_tool_calls prediction prompt_cache_key
    reasoning_effort safety_identifier service_tier store user verbosity web_search_options
    """

    def refusal(self, body: dict[str, Any], prompt: str) -> Reply | None:
        steers = {"max_tokens", "temperature", "top_p", "logprobs", "top_logprobs"}
        steers |= {"frequency_penalty", "presence_penalty"}
        if body["model"].startswith("o") and (found := steers & body.keys()):
            return refuse(400, f"Unsupported parameters with this model: {sorted(found)}")
        return super().refusal(body, prompt)


class Ollama(StandIn):
    """It passes over fields that it does not know, and cuts prompts without a word."""

    documented = """
    messages model frequency_penalty logprobs max_tokens presence_penalty reasoning reasoning_effort
    response_format seed stop stream stream_options temperature tools top_logprobs top_p
    """
    takes_choice = gives_logprobs = counts_cached = False

    def refusal(self, body: dict[str, Any], prompt: str) -> Reply | None:
        if body["model"] not in self.models:
            return refuse(404, f'model "{body["model"]}" not found, try pulling it first')
        return None

    def usage(self, prompt: str, text: str) -> dict[str, Any]:
        return super().usage(" ".join(prompt.split()[-self.room :]), text)


class LlamaCpp(StandIn):
    """It answers with the model that it has, by its alias, whichever is asked for."""

    documented = f"{_COMMON} chat_template_kwargs grammar json_schema min_p repeat_penalty top_k"
    takes_choice = False

    def refusal(self, body: dict[str, Any], prompt: str) -> Reply | None:
        n_asked = len(prompt.split())
        return refuse(400, self.too_long(n_asked)) if n_asked > self.room else None

    def too_long(self, n_asked: int) -> str:
        return (
            f"request ({n_asked} tokens) exceeds the available context size ({self.room} tokens), "
            "try increasing it"
        )

    def answering(self, asked: str) -> str:
        return self.models[0]


class Tgi(StandIn):
    """A schema is to be its `value`, and some numbers that others take are refused, with 422."""

    documented = f"{_COMMON} guideline tool_prompt"
    takes_choice = counts_cached = False
    most_logprobs = 5

    def refusal(self, body: dict[str, Any], prompt: str) -> Reply | None:
        n_asked = len(prompt.split())
        if "response_format" in body and "value" not in body["response_format"]:
            why = "Failed to deserialize the JSON body: response_format: missing field `value`"
        elif not 0 < body.get("top_p", 0.5) < 1:
            why = "Input validation error: `top_p` must be > 0.0 and < 1.0"
        elif (n_top := body.get("top_logprobs", 0)) > self.most_logprobs:
            most = f"`top_n_tokens` must be >= 0 and <= {self.most_logprobs}. Given: {n_top}"
            why = f"Input validation error: {most}"
        elif n_asked > self.room:
            less = f"`inputs` must have less than {self.room} tokens. Given: {n_asked}"
            why = f"Input validation error: {less}"
        else:
            return None
        return sent({"error": why, "error_type": "validation"}, status=422)

    def answering(self, asked: str) -> str:
        return self.models[0]
