"""Replies that are to be used, not graded: of which shape each must be, and who reads it."""

from collections.abc import Callable
from typing import Any

from gradelake.grading.prompts import distil_reply
from gradelake.grading.prompts.distil_reply import (
    FEATURES,
    LONGEST_REASON,
    LONGEST_RUBRIC,
    RUBRIC,
    texts_schema,
)
from gradelake.grading.prompts.generation_reply import key_of, read_items, reply_schema
from gradelake.grading.prompts.prompt import Prompt


def name_of(prompt: Prompt) -> str:
    """What a schema is called."""
    return {"explain": "explanation", "distil": "rubric"}.get(prompt.target) or key_of(prompt)


def schema_of(prompt: Prompt, bounded: bool) -> dict[str, Any]:
    """The JSON schema of a reply; `bounded` for engines that may go on for ever without it."""
    if prompt.target == "explain":
        return texts_schema(FEATURES, LONGEST_REASON if bounded else None)
    if prompt.target == "distil":
        return texts_schema(RUBRIC, LONGEST_RUBRIC if bounded else None)
    return reply_schema(prompt, bounded)


def reader_of(prompt: Prompt) -> Callable[[str], Any]:
    """What reads a reply to the prompt; it raises `Unreadable`."""
    if prompt.target == "explain":
        return distil_reply.read_explanation
    if prompt.target == "distil":
        return distil_reply.read_rubric
    return lambda reply: read_items(reply, prompt)
