"""What a model may answer when it is asked for rubric items, and how its answer is read."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradelake.grading.prompts.parsers import final_output
from gradelake.grading.prompts.prompt import Prompt

MOST_ITEMS = 20  # the published prompts ask for ten
# characters: more than questions and key facts have, so that a constrained reply comes to an end
LONGEST_ITEM = 250
NUGGET_WORDS = 4  # the most that the published prompts allow
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)


class Unreadable(ValueError):
    """A reply that is no list of items; the message says why."""


@dataclass(frozen=True)
class Items:
    """The texts of a reply, stripped, each once, in its order; and what was dropped from it.

    `duplicates` are the texts that came again, whatever their case and white space; `empty` counts
    those without a text; `unusable` those with characters that cannot be stored; `long_nuggets`
    are kept.
    """

    texts: tuple[str, ...]
    duplicates: tuple[str, ...] = ()
    empty: int = 0
    unusable: int = 0
    long_nuggets: tuple[str, ...] = ()


def key_of(prompt: Prompt) -> str:
    """The key that holds the items: `questions` or `nuggets`."""
    return f"{prompt.items}s"


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def reply_schema(prompt: Prompt, bounded: bool) -> dict[str, Any]:
    """The JSON schema of a reply; `bounded` for engines that may go on for ever without it."""
    item: dict[str, Any] = {"type": "string"}
    items: dict[str, Any] = {"type": "array", "items": item}
    if bounded:
        item |= {"minLength": 1, "maxLength": LONGEST_ITEM}
        items |= {"minItems": 1, "maxItems": MOST_ITEMS}
    return object_schema({key_of(prompt): items})


def read_items(reply: str, prompt: Prompt) -> Items:
    """The items in the JSON object of a reply. Raises `Unreadable`."""
    key = key_of(prompt)
    values = value_of(json_object(reply), key)
    if not isinstance(values, list):
        raise Unreadable(f"{key} is no list: {values!r:.80}")
    for number, value in enumerate(values, 1):
        if not isinstance(value, str):
            raise Unreadable(f"{key} {number} is no text: {value!r:.80}")
    return _items(values, key)


def value_of(found: Mapping[str, Any], key: str) -> Any:
    """What an object has under a key. Raises `Unreadable` when that is not there."""
    if key not in found:
        keys = ", ".join(map(repr, list(found)[:5])) or "none"
        raise Unreadable(f"the reply has no key {key!r} (its keys: {keys:.100})")
    return found[key]


def json_object(reply: str) -> dict[str, Any]:
    """The JSON object of a reply: alone, in a ```fence, or with words around it.

    Only what follows the model's reasoning counts. Raises `Unreadable`.
    """
    text = final_output(reply)
    if text is None:
        raise Unreadable("the reply ends inside its reasoning; allow more tokens")
    if not text:
        raise Unreadable("the reply is empty")
    fenced = _FENCE.search(text)
    content = fenced[1].strip() if fenced else text
    start = content.find("{")
    if start < 0:
        raise Unreadable(f"the reply holds no JSON object: {text[:80]!r}")
    try:
        found, _ = json.JSONDecoder().raw_decode(content, start)
    except json.JSONDecodeError as error:
        if error.pos >= len(content.rstrip()) or error.msg.startswith("Unterminated string"):
            raise Unreadable("the reply breaks off in its JSON; allow more max_tokens") from None
        near = content[max(0, error.pos - 20) : error.pos + 20]
        raise Unreadable(f"the reply is no JSON: {error.msg} near {near!r}") from None
    except RecursionError:
        raise Unreadable("the reply is no JSON that anyone would write: too deep") from None
    except ValueError:  # a number of more digits than Python reads
        raise Unreadable("the reply is no JSON that anyone would write: a huge number") from None
    return found


def _items(values: list[str], key: str) -> Items:
    texts: dict[str, str] = {}  # what is compared -> the text as it came first
    duplicates, empty, unusable = [], 0, 0
    for value in values:
        text = value.strip()
        same = " ".join(text.casefold().split())
        if not same:
            empty += 1
        elif not can_be_stored(text):
            unusable += 1
        elif same in texts:
            duplicates.append(text)
        else:
            texts[same] = text
    if not texts:
        raise Unreadable(f"{key} holds no text" if values else f"{key} is an empty list")
    kept = tuple(texts.values())
    long = (
        tuple(text for text in kept if len(text.split()) > NUGGET_WORDS) if key == "nuggets" else ()
    )
    return Items(kept, tuple(duplicates), empty, unusable, long)


def can_be_stored(text: str) -> bool:
    """JSON can spell halves of a character, and the null character; no file of text may."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
