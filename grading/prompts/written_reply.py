"""Replies that are texts, not grades: the shape each must have, and how it is read.

Rubric items (`generate`), the explanation of a label (`explain`), whose five features are those of
TRUE, arXiv:2509.25602, and the rubric of a label (`distil`).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gradelake.grading.prompts.label_list import read_list
from gradelake.grading.prompts.prompt import Prompt
from gradelake.grading.prompts.reasoning import UNFINISHED, final_output
from gradelake.sql.common.rubric_items import plural

FEATURES = ("intent_alignment", "coverage", "specificity", "accuracy", "usefulness")
MOST_ITEMS = 20  # the published prompts ask for ten
# characters: more than was asked for, so that a constrained reply comes to an end
LONGEST_ITEM = 250
LONGEST_REASON = 500
LONGEST_RUBRIC = 1500
NUGGET_WORDS = 4  # the most that the published prompts allow,
ATOMIC_WORDS = 12  # and nuggetizer's
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)


class Unreadable(ValueError):
    """A reply that is not what was asked for; the message says why."""


@dataclass(frozen=True)
class Items:
    """The texts of a reply, stripped, each once, in its order; and what was dropped from it.

    `duplicates` are the texts that came again, whatever their case and white space; `empty` counts
    those without a text; `unusable` those with characters that cannot be stored; `long_nuggets`
    are kept; `beyond` counts those after as many as the prompt allows.
    """

    texts: tuple[str, ...]
    duplicates: tuple[str, ...] = ()
    empty: int = 0
    unusable: int = 0
    long_nuggets: tuple[str, ...] = ()
    beyond: int = 0


def name_of(prompt: Prompt) -> str:
    """What a reply to the prompt is called; items are under it as a key: `questions`, `nuggets`."""
    names = {"explain": "explanation", "distil": "rubric", "answer": "answer"}
    return names.get(prompt.target) or plural(prompt.items or "")


def schema_of(prompt: Prompt, bounded: bool) -> dict[str, Any]:
    """The JSON schema of a reply; `bounded` for engines that may go on for ever without it."""

    def text(longest: int) -> dict[str, Any]:
        return {"type": "string"} | ({"minLength": 1, "maxLength": longest} if bounded else {})

    if prompt.target == "explain":
        return object_schema(dict.fromkeys(FEATURES, text(LONGEST_REASON)))
    if prompt.target == "distil":
        return object_schema({"rubric": text(LONGEST_RUBRIC)})
    items = {"type": "array", "items": text(LONGEST_ITEM)}
    bounds = {"minItems": 1, "maxItems": MOST_ITEMS} if bounded else {}
    return object_schema({name_of(prompt): items | bounds})


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def reader_of(prompt: Prompt) -> Callable[[str], Any]:
    """What reads a reply to the prompt; it raises `Unreadable`."""
    readers: dict[str, Callable[[str], Any]] = {
        "explain": lambda reply: read_texts(reply, FEATURES),
        "distil": lambda reply: read_texts(reply, ["rubric"])["rubric"],
        "answer": lambda reply: _storable(_final(reply), "the reply"),
    }
    read = read_items if prompt.asks_json else read_listed
    return readers.get(prompt.target) or (lambda reply: read(reply, prompt))


def _storable(text: str, what: str) -> str:
    if not can_be_stored(text):
        raise Unreadable(f"{what} has characters that no file of text may hold")
    return text


def read_texts(reply: str, keys: Iterable[str]) -> dict[str, str]:
    """The text under each key of the JSON object of a reply, with single spaces. What else the
    object holds is left out. Raises `Unreadable`."""
    found, texts = json_object(reply), {}
    for key in keys:
        value = value_of(found, key)
        if not isinstance(value, str):
            raise Unreadable(f"{key} is not text: {value!r:.80}")
        if not (text := " ".join(value.split())):
            raise Unreadable(f"{key} is empty")
        texts[key] = _storable(text, key)
    return texts


def read_items(reply: str, prompt: Prompt) -> Items:
    """The items in the JSON object of a reply. Raises `Unreadable`."""
    key = name_of(prompt)
    values = value_of(json_object(reply), key)
    if not isinstance(values, list):
        raise Unreadable(f"{key} is not a list: {values!r:.80}")
    items = _items(_texts_of(values, key), key)
    if prompt.items == "criterion":
        [*map(tier_type_text, items.texts)]
        return replace(items, texts=items.texts[:3], beyond=len(items.texts[3:]))
    return items


def tier_type_text(criterion: str) -> tuple[str, ...]:
    """The parts of a criterion as a model writes it. Raises `Unreadable`."""
    if found := re.fullmatch(r"(mandatory|optional) ([a-z]+): *(\S.*)", criterion, re.DOTALL):
        return found.groups()
    raise Unreadable(f"no tier and type before a criterion: {criterion!r:.80}")


def _texts_of(values: list[Any], key: str) -> list[str]:
    for number, value in enumerate(values, 1):
        if not isinstance(value, str):
            raise Unreadable(f"{key} {number} is not text: {value!r:.80}")
    return values


def read_listed(reply: str, prompt: Prompt) -> Items:
    """The items in the list of a reply, the first `max_nuggets` of them. Raises `Unreadable`."""
    values, key = read_list(_final(reply)), name_of(prompt)
    if values is None:
        raise Unreadable(f"the reply holds no list: {_final(reply)[:80]!r}")
    items = _items(_texts_of(values, key), key, ATOMIC_WORDS)
    kept = items.texts[: prompt.max_nuggets]
    return replace(items, texts=kept, beyond=len(items.texts) - len(kept))


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
    text = _final(reply)
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
        raise Unreadable(f"the reply is not JSON: {error.msg} near {near!r}") from None
    except RecursionError:
        raise Unreadable("the reply is not JSON that anyone would write: too deep") from None
    except ValueError:  # a number of more digits than Python reads
        raise Unreadable("the reply is not JSON that anyone would write: a huge number") from None
    return found


def _final(reply: str) -> str:
    text = final_output(reply)
    if text is None:
        raise Unreadable(UNFINISHED)
    if not text:
        raise Unreadable("the reply is empty")
    return text


def _items(values: list[str], key: str, words: int = NUGGET_WORDS) -> Items:
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
    long = tuple(text for text in kept if key == "nuggets" and len(text.split()) > words)
    return Items(kept, tuple(duplicates), empty, unusable, long)


def can_be_stored(text: str) -> bool:
    """JSON can spell halves of a character, and the null character; no file of text may."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
