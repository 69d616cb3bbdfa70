"""OpenAI's chat API: what goes with every prompt, and what comes back, whatever it is."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradelake.grading.engines import MOST_MASS, Response
from gradelake.grading.engines._client import Misshapen
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.reasoning import final_output
from gradelake.grading.prompts.reply import json_objects
from gradelake.grading.prompts.written_reply import name_of, object_schema, schema_of
from gradelake.sql.common.servers import short

_TOP_LOGPROBS = 20  # as many as servers give
_JSON_TOKENS = 16  # enough for {"grade": "..."}, without the word
_REASONING_TOKENS = 4096  # where no more than a bare answer has been allowed for
_SHORTEST = 200  # characters: a passage is not halved further than this
# what servers say of an account that cannot pay, or was closed
_CANNOT_PAY = (
    "insufficient[ _](quota|balance|credit|funds)",
    "credit[ _]balance",
    "(out of|not enough|requires more) credits",
    "billing[ _](hard|is |not|has |account)",
)
_OF_ACCOUNT = (
    *_CANNOT_PAY,
    "current quota",
    "(plans?|check|enable|your|set up|with) (and |& )?billing",
    "payment[ _]required",
    "arrearage|overdue|in good standing",
    "account[ _]([a-z]+[ _])?([a-z]+[ _])?(deactivated|suspended|disabled|blocked|closed|inactive)",
)
_TOO_LONG = (
    "context length",
    "context_length",
    "maximum model length",
    "too many tokens",
    "context size",
    "context window",
    "prompt is too long",
    "maximum number of tokens",
    "`inputs` must have less than",
    "`inputs` tokens + `max_new_tokens`",
)


@dataclass(frozen=True)
class ReplyForm:
    """How to read the replies to what was asked.

    `words` are the scale's, where their probabilities were asked for; `as_json` says that the
    grade is in a JSON object.
    """

    words: tuple[str, ...] = ()
    as_json: bool = False


def chat_options(grader: Grader) -> tuple[dict[str, Any], ReplyForm]:
    """What goes with every prompt of a grader, and how to read the replies."""
    settings = grader.settings
    on_scale = grader.prompt.output == "scale"
    constrain = settings["constrain"] if on_scale else "none"
    writes = grader.prompt.asks_json and settings["constrain"] != "none"
    options: dict[str, Any] = {"model": grader.model, **grader.decoding}
    words = tuple(grader.prompt.grade_scale.words) if on_scale else ()
    longest = max(map(len, words), default=0)
    if constrain == "choice":
        options["extra_body"] = {"structured_outputs": {"choice": words}}
        options["max_tokens"] = max(options["max_tokens"], longest)
    elif constrain == "json_schema":
        schema = object_schema({"grade": {"type": "string", "enum": words}})
        options["response_format"] = _format("grade", schema)
        options["max_tokens"] = max(options["max_tokens"], _JSON_TOKENS + longest)
    elif writes:  # hosted models know no bounds in a schema
        schema = schema_of(grader.prompt, bounded=False)
        options["response_format"] = _format(name_of(grader.prompt), schema)
    with_probabilities = constrain == "choice" and not settings["reasoning"]
    if with_probabilities:  # a word may begin with several tokens: "Y", "Yes"
        options |= {"logprobs": True, "top_logprobs": min(_TOP_LOGPROBS, 2 * len(words))}
    if settings["reasoning"]:
        for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty"):
            options.pop(name, None)
        options["max_completion_tokens"] = options.pop("max_tokens")
        if grader.decoding["max_tokens"] == 1:
            options["max_completion_tokens"] = _REASONING_TOKENS
    return options, ReplyForm(words if with_probabilities else (), constrain == "json_schema")


def _format(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def response_of(completion, form: ReplyForm) -> Response:
    """The answer in a completion.

    Raises `Misshapen` for what is not a completion; an empty reply, or one that the endpoint's
    filter took away, is a Response with an `error`.
    """
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise Misshapen("the reply has no choices: is this address a chat API?")
    choice = choices[0]
    response = Response(constrained_probabilities=True, **_usage(completion))
    message, told = getattr(choice, "message", None), getattr(choice, "finish_reason", None)
    response.finish = None if told is None else str(told)
    broken = getattr(choice, "error", None) or getattr(completion, "error", None)
    text = _text_of(getattr(message, "content", None))
    response.reasoning = _reasoning_of(message)
    refusal = getattr(message, "refusal", None)
    if broken or response.finish == "error":
        words = [_field(broken, part) for part in ("code", "message")]
        why = ": ".join(str(word) for word in words if word) or str(broken or "it does not say why")
        response.error = f"the server broke off: {why}"
    elif response.finish == "content_filter":
        response.error = "the endpoint's content filter refused this prompt"
        response.is_final = True
    elif refusal and isinstance(refusal, str):
        response.error = f"the model refused: {refusal}"
        response.is_final = True
    elif text is None:
        response.error = "the reply is empty"
        if response.is_cut_off or response.reasoning:
            response.error += ": max_tokens were used up before it began; allow more"
            response.is_final = True
        elif response.why_not_whole:
            response.error = response.why_not_whole
    else:
        response.text = _grade_in(text) if form.as_json else text
        if form.as_json and final_output(text) != text.strip():  # it stands before the JSON
            response.reasoning = response.reasoning or text
        response.probabilities = _probabilities(choice, form.words) if form.words else None
    return response


def _text_of(content: Any) -> str | None:
    """A message's text, also where it comes in parts, as Mistral's does; None where there is none.
    Raises `Misshapen`."""
    if isinstance(content, list):
        texts = [_field(part, "text") for part in content if _field(part, "type") == "text"]
        texts = [text for text in texts if isinstance(text, str)]
        return "".join(texts) if texts else None
    if content is not None and not isinstance(content, str):
        raise Misshapen(f"the reply's content is not text: {content!r:.80}")
    return content


def _reasoning_of(message: Any) -> str | None:
    """What a server tells of the model's reasoning apart from its reply; Mistral in parts."""
    content = getattr(message, "content", None)
    parts = content if isinstance(content, list) else []
    thoughts = [_field(part, "thinking") for part in parts if _field(part, "type") == "thinking"]
    told = [getattr(message, name, None) for name in ("reasoning_content", "reasoning")]
    texts = [_text_of(each) for each in (*told, *thoughts) if isinstance(each, str | list)]
    return "\n".join(dict.fromkeys(filter(None, texts))) or None


def _field(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _grade_in(text: str) -> str:
    """The grade of a JSON reply, also with a fence or words around it; the reply itself when it is
    something else, or states two."""
    final = final_output(text)
    found = [str(each["grade"]) for each in json_objects(final or "") if "grade" in each]
    return found[0] if len(set(found)) == 1 else text


def _probabilities(choice, words: Sequence[str]) -> list[float] | None:
    """The probability of each word, from the reply's first token; None unless every word can be
    told by it, and where there can be none.

    The sum over the tokens that begin one word and no other: "Y" and "Yes" are both "Yes".
    """
    found: dict[str, float] = {}
    try:
        for token in choice.logprobs.content[0].top_logprobs:
            start = token.token.strip()
            meant = [word for word in words if start and word.startswith(start)]
            if len(meant) == 1:
                found[meant[0]] = found.get(meant[0], 0.0) + math.exp(token.logprob)
    except (AttributeError, LookupError, OverflowError, TypeError):
        return None
    if len(found) < len(words) or not sum(found.values()) <= MOST_MASS:  # NaN is not
        return None
    return [found[word] for word in words]


def _usage(completion) -> dict[str, Any]:
    """How many tokens are paid for; None for what is missing, 0 or cannot be. Of a prompt no more
    are cached than it has.

    Some servers leave reasoning out of `completion_tokens`: it is in the total, or told by itself.
    """
    usage = getattr(completion, "usage", None)
    asked = _count(usage, "prompt_tokens")
    cached = _count(_field(usage, "prompt_tokens_details"), "cached_tokens")
    said = _count(usage, "completion_tokens") or 0
    of_reasoning = (usage, _field(usage, "completion_tokens_details"))
    reasoning = max(_count(told, "reasoning_tokens") or 0 for told in of_reasoning)
    in_all = (_count(usage, "total_tokens") or 0) - asked if asked else 0
    return {
        "prompt_tokens": asked or None,
        "cached_tokens": min(cached, asked) if cached is not None and asked else None,
        "completion_tokens": max(said, in_all, said + reasoning if reasoning > said else 0) or None,
    }


def _count(usage: Any, name: str) -> int | None:
    n = _field(usage, name)
    return n if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31 else None


def full_text(error: Exception) -> str:
    """All that a server said of an error: its message, its code, whatever else it sent."""
    return f"{error} {getattr(error, 'body', None) or ''}"


def is_of_account(status: Any, words: str, prompt: str = "") -> bool:
    """Whether an error is about who pays: no other prompt would be answered either.

    Words that a server repeats from the prompt do not count; of "too many at once" (429) only what
    waiting does not mend.
    """
    signs = {400: _OF_ACCOUNT, 403: _OF_ACCOUNT, 429: _CANNOT_PAY}.get(status, ())
    found = re.search("|".join(signs), words.lower()) if signs else None
    return status == 402 or bool(found and found[0] not in prompt.lower())


def is_too_long(error: str) -> bool:
    """Whether a server's words of an error say that the model has no room for the prompt."""
    return any(sign in error.lower() for sign in _TOO_LONG)


def shorter(characters: int) -> int | None:
    """How much of a passage is tried once so much was too long; None: less is not tried."""
    return max(_SHORTEST, characters // 2) if characters > _SHORTEST else None


def reason_of(error: Exception, key: str) -> str:
    """What went wrong, on one line, without the key should the server have repeated it."""
    if isinstance(error.__cause__, Misshapen):  # as older clients wrap it
        error = error.__cause__
    if isinstance(error, Misshapen):
        text = str(error)
    elif isinstance(error, json.JSONDecodeError):
        text = f"the reply is not JSON ({error}): is this address a chat API?"
    # neither says more than its name. A connection that aiohttp loses comes as a timeout, which no
    # client here can have: it sets none
    elif type(error).__name__ in ("APIConnectionError", "APITimeoutError"):
        text = f"no connection: {error.__cause__ or error}"
    else:  # without a message in the usual place, what else the server sent
        text = str(error) if " - " in str(error) else full_text(error)
        text = f"{type(error).__name__}: {text}"
    return short(text, key)
