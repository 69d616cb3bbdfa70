"""Texts from outside, made harmless: they cannot break the frame of the prompt around them."""

import re
from collections.abc import Iterable
from functools import lru_cache

# version of these rules; part of every grader's id, because they change what a model reads
RENDERING = 1

# Control tokens of chat templates and tokenizers: `<|im_end|>` and all of its kind (also with
# DeepSeek's full-width bar), Llama's `[INST]` and `<<SYS>>`, Gemma's turns, T5's sentinels, BERT's
# marks, and the tags between which models reason or call tools. Only the first character is
# consumed, so tokens that overlap are all broken, and a broken one is not broken again.
_NAMES = (
    "s|bos|eos|pad|unk|mask|cls|sep|think|thinking|reasoning|start_of_turn|end_of_turn|"
    "start_of_image|end_of_image|sys|system|user|assistant|human|bot|tool_call|tool_response|"
    r"extra_id_\d+|unused_?\d+|reserved_special_token_\d+|start_of_role|end_of_role|end_of_text|"
    "endoftext"
)
_TOKEN = re.compile(
    rf"<(?=[|\uff5c]|/?(?:{_NAMES})>|</?sys>>)"
    r"|\[(?=/?(?:inst|system_prompt|available_tools|tool_calls|tool_results|tool_content|img|"
    r"gmask|mask|cls|sep|pad|unk|bos|eos|unused\d+)\])",
    re.IGNORECASE,
)

# Joiners are letters' spelling in the scripts from Hebrew to Tibetan, Myanmar and Khmer: kept
# between two of theirs, and removed elsewhere as zero-width characters are.
_JOINED = "[\u0590-\u0fff\u1000-\u109f\u1780-\u17ff]"
_INVISIBLE = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # directions of writing
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # no width
    f"|(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})"
)
_LINE_BREAK = re.compile("\r\n?|[\v\f\x85]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def neutralise(text: str) -> str:
    """The text without what could speak to the model or its tokenizer in the prompt's place.

    Control tokens of the usual families get a space after their first character. Control
    characters other than newline and tab, direction marks, and zero-width characters are removed;
    other line breaks become newlines; lone surrogates become U+FFFD. Doing it twice changes
    nothing more. Ordinary text is returned as it is.
    """
    # `isprintable` refuses every character that is replaced here, and a few harmless ones
    if not text.isprintable() and not text.replace("\n", "").isprintable():
        text = _LINE_BREAK.sub("\n", text)
        text = _INVISIBLE.sub("", text)
        text = _SURROGATE.sub("\ufffd", text)
    if "<" in text or "[" in text:
        text = _TOKEN.sub(_broken, text)
    return text


def neutralise_tokens(text: str, tokens: Iterable[str]) -> str:
    """The text with an engine's own special tokens broken in the same way."""
    pattern = _pattern_of(tuple(tokens))
    return pattern.sub(_broken, text) if pattern else text


@lru_cache(maxsize=32)
def _pattern_of(tokens: tuple[str, ...]) -> re.Pattern[str] | None:
    # white space and single characters are ordinary text to some tokenizers' lists
    known = sorted({token for token in tokens if len(token) > 1 and not token.isspace()})
    parts = (f"{re.escape(token[0])}(?={re.escape(token[1:])})" for token in known)
    return re.compile("|".join(parts)) if known else None


def _broken(match: re.Match[str]) -> str:
    return f"{match[0]} "
