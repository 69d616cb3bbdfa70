"""What a model may answer when it explains a label or distils a rubric, and how that is read.

The five features are those of TRUE, arXiv:2509.25602.
"""

from typing import Any

from gradelake.grading.prompts.generation_reply import (
    Unreadable,
    can_be_stored,
    json_object,
    object_schema,
    value_of,
)

FEATURES = ("intent_alignment", "coverage", "specificity", "accuracy", "usefulness")
RUBRIC = ("rubric",)
# characters: more than was asked for, so that a constrained reply comes to an end
LONGEST_REASON = 500
LONGEST_RUBRIC = 1500


def texts_schema(keys: tuple[str, ...], longest: int | None) -> dict[str, Any]:
    """The JSON schema of an object with a text under each key; bounded where `longest` is given."""
    text: dict[str, Any] = {"type": "string"}
    if longest is not None:
        text |= {"minLength": 1, "maxLength": longest}
    return object_schema(dict.fromkeys(keys, text))


def read_explanation(reply: str) -> dict[str, str]:
    """Feature -> what speaks for the label in it. Raises `Unreadable`."""
    return _texts(reply, FEATURES)


def read_rubric(reply: str) -> str:
    """The text of a rubric. Raises `Unreadable`."""
    return _texts(reply, RUBRIC)["rubric"]


def _texts(reply: str, keys: tuple[str, ...]) -> dict[str, str]:
    """The text under each key, with single spaces. What else the object holds is left out."""
    found, texts = json_object(reply), {}
    for key in keys:
        value = value_of(found, key)
        if not isinstance(value, str):
            raise Unreadable(f"{key} is no text: {value!r:.80}")
        if not (text := " ".join(value.split())):
            raise Unreadable(f"{key} is empty")
        if not can_be_stored(text):
            raise Unreadable(f"{key} has characters that no file of text may hold")
        texts[key] = text
    return texts
