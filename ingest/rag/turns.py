"""Conversations: what a user asked last, what was said before, and what was answered.

A message is an object with who speaks (`role`, or `type`) and what is said (`content`, which may be
a list of parts). Chat programs, ragas, LangChain, OpenInference and OpenTelemetry write it so.
"""

from typing import Any, NamedTuple, TypeGuard

_USER, _ASSISTANT = "user", "assistant"
_WHO = {
    **dict.fromkeys(("user", "human"), _USER),
    **dict.fromkeys(("assistant", "ai", "gpt"), _ASSISTANT),
}
_SAID = ("content", "parts", "text", "value")
_TEXT_PARTS = ("text", "input_text", "output_text")
_HEADING = "Said before:"


class Turns(NamedTuple):
    """A conversation: `before` are (who, text) up to the question; `answer` is None where nothing
    follows it."""

    question: str
    before: tuple[tuple[str, str], ...] = ()
    answer: str | None = None


def is_conversation(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is a list of messages."""
    return isinstance(value, list) and bool(value) and all(_speaker(each) for each in value)


def turns_of(messages: list[Any]) -> Turns:
    """What a list of messages says; what systems and tools say is no turn."""
    said = spoken(messages)
    asked = [number for number, (who, _) in enumerate(said) if who == _USER]
    if not asked:
        return Turns("", tuple(said))
    last = asked[-1]
    answers = [text for who, text in said[last + 1 :] if who == _ASSISTANT]
    return Turns(said[last][1], tuple(said[:last]), answers[-1] if answers else None)


def spoken(messages: list[Any]) -> list[tuple[str, str]]:
    """(who, text) of what users and assistants say, without what is empty."""
    found = [(_WHO.get(_speaker(each)), _text_of(each).strip()) for each in messages]
    return [(who, text) for who, text in found if who and text]


def last_said(messages: list[Any]) -> str:
    """The last text of an assistant; none where there is none."""
    said = [text for who, text in spoken(messages) if who == _ASSISTANT]
    return said[-1] if said else ""


def as_narrative(before: tuple[tuple[str, str], ...]) -> str | None:
    """What was said before a question, as its topic's narrative: prompts and people may see it."""
    lines = [f"{who}: {text}" for who, text in before]
    return "\n".join([_HEADING, *lines]) if lines else None


def _speaker(message: Any) -> str:
    """Who speaks, in lower case; nothing where a value is no message."""
    held = _inner(message)
    if not any(name in held for name in _SAID):
        return ""
    who = held.get("role") or held.get("from") or held.get("type") or message.get("type")
    return who.lower() if isinstance(who, str) else ""


def _text_of(message: Any) -> str:
    held = _inner(message)
    return _joined(next((held[name] for name in _SAID if held.get(name)), ""))


def _joined(content: Any) -> str:
    """A text, or that of a list of parts; pictures and calls have none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "".join(map(_of_part, parts))


def _of_part(part: Any) -> str:
    if isinstance(part, dict) and part.get("type", "text") in _TEXT_PARTS:
        part = part.get("text") or part.get("content")
    return part if isinstance(part, str) else ""


def _inner(message: Any) -> dict[str, Any]:
    """The object that says who speaks: LangChain has it within another one, OpenInference with a
    prefix to its names."""
    if not isinstance(message, dict):
        return {}
    for name in ("message", "kwargs", "data"):
        if isinstance(message.get(name), dict):
            return message[name]
    return {key.removeprefix("message."): value for key, value in message.items()}
