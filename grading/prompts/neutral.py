"""Texts from outside, made harmless: they cannot break the frame of the prompt around them."""

import re
from collections.abc import Iterable
from functools import lru_cache

from gradelake.grading.prompts.reasoning import NAMES
from gradelake.sql.common.halves import without_halves

# version of these rules; part of every grader's id, because they change what a model reads
RENDERING = 3

# Control tokens of chat templates and tokenizers. Only the first character is consumed, so tokens
# that overlap are all broken, and a broken one is not broken again.
_TAGS = (
    r"[^\W_]+(?:_[^\W_]+)+|"  # <end_of_turn>, <fim_prefix>, <extra_id_0>: no HTML has a _
    r"s|bos|eos|pad|unk|mask|cls|sep|sop|eop|eod|eoh|eoa|endoftext|unused\d+|"
    "system|sys|user|assistant|human|ai|bot|role|\u7528\u6237|"
    rf"{NAMES}|answer|tools|toolcall|functions|"
    "image|global-img|filename|reponame"
)
_CALLS = "function|invoke|parameter"  # these have attributes
_MARKS = (  # in brackets
    r"inst|system_prompt|available_tools|tool_calls|tool_results|tool_content|img|"
    r"gmask|smask|mask|cls|sep|pad|unk|bos|eos|unused\d+|round \d+"
)
_CAPITALS = "THINK|ARGS|AUDIO|PREFIX|MIDDLE|SUFFIX|USER|BOT|NLG|NLU|S2S|[A-Z]+(?:_[A-Z0-9]+)+"
_TOKEN = re.compile(
    rf"<(?=[|\uff5c]|\w+\||/?(?:\w+:)?(?:(?:{_TAGS})>|(?:{_CALLS})[ =>])|</?sys>>)"
    rf"|\[(?=\||/?(?:{_MARKS}|(?-i:{_CAPITALS}))\])"
    r"|>(?=>(?-i:[A-Z]+(?:_\d+)?)<<)"  # Falcon
    r"|\](?=~!?b[\]\[])|\[(?=e~\[)",  # MiniMax
    re.IGNORECASE,
)
# Turns in plain words, at the beginning of a line (Vicuna's anywhere): the colon is moved off.
_TURN = re.compile(
    r"(?:^[ \t]*(?:### ?|GPT4 Correct )?(?:human|user|assistant|system)|^[\u95ee\u7b54]"
    r"|^### ?(?:instruction|input|response)|(?-i:\b(?:USER|ASSISTANT)))(?=[:\uff1a])",
    re.IGNORECASE | re.MULTILINE,
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


def neutralise(text: str) -> str:
    """The text without what could speak to the model or its tokenizer in the prompt's place.

    Control tokens of the usual families get a space after their first character, turns in plain
    words one before their colon. Control
    characters other than newline and tab, direction marks, and zero-width characters are removed;
    other line breaks become newlines; lone surrogates become U+FFFD. Doing it twice changes
    nothing more. Ordinary text is returned as it is.
    """
    # `isprintable` refuses every character that is replaced here, and a few harmless ones
    if not text.isprintable() and not text.replace("\n", "").isprintable():
        text = _LINE_BREAK.sub("\n", text)
        text = _INVISIBLE.sub("", text)
        text = without_halves(text)
    if "<" in text or "[" in text or "]~" in text:
        text = _TOKEN.sub(_broken, text)
    if ":" in text or "\uff1a" in text:
        text = _TURN.sub(_broken, text)
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
