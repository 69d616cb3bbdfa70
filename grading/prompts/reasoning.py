"""What of a reply is its final output: what follows the model's reasoning, in its own turn."""

import re

# names of tags that passages are made harmless of, too (neutral.py): one more would change what
# every grader reads
NAMES = "think|thinking|thought|thoughts|reasoning|reflection"
# of tags around the answer itself
ANSWERS = (
    "answer|response|output|result|solution|conclusion|score|grade|rating|label|verdict|box|"
    "summary|im|turn|message|assistant|header|text|content"
)
_TAGS = rf"(?:\w+[:|])?(?:{NAMES}|analysis|scratchpad|\w+_think|think_\w+|inner_\w+)(?::[\w-]+)?"
_ENDS = (  # in one list, whatever engine and parser
    rf"</(?:{_TAGS})\s*>",
    rf"<(?:{_TAGS})\s*/>",  # nothing was thought
    r"\[/THINK\]",
    r"\u25c1/think\u25b7",
    r"<\|(?:end_(?:of_)?|/)(?:think|thinking|thought|reasoning)\|>",
    r"<\|(?:think|thinking|thought|reasoning)_end\|>",
    r"<\|inner_suffix\|>",  # Apertus
    r"<channel\|>",  # Gemma 4
    r"<unused95>",  # MedGemma
    r"<\|close\|>\s*think\s*<\|sep\|>(?:\s*<\|open\|>\s*response\s*<\|sep\|>)?",  # Kimi K3
    r"<\|plamo:end_think:plamo\|>",
    r"<\|content_text\|>",  # Inkling
    r"to=user<\|message\|>",  # Muse
    r"\[BEGIN FINAL RESPONSE\]",  # Apriel
    r"^Here(?:'s| is) my response:",  # Granite
    # gpt-oss's channels, also where its special tokens were left out
    r"<\|channel\|>\s*final\b[^<]*(?:<\|message\|>)?",
    r"(?<=[.!?)\w])assistantfinal",
)
_BEGINNINGS = (
    rf"<(?:{_TAGS})(?:\s[^<>]*)?>",
    r"\[THINK\]",
    r"\u25c1think\u25b7",
    r"<\|(?:(?:start|begin)_(?:of_)?)?(?:think|thinking|thought|reasoning)(?:_start|_begin)?\|>",
    r"<\|inner_prefix\|>",
    r"<\|channel\|?>",
    r"<unused94>",
    r"<\|open\|>\s*think\s*<\|sep\|>",
    r"<\|plamo:begin_think:plamo\|>",
    r"<\|content_thinking\|>",
    r"to=self<\|message\|>",
    r"\AHere are my reasoning steps:",
    r"\AHere(?:'s| is) my thought process:",
    r"(?-i:\Aanalysis(?=[A-Z]))",  # "analysisWe need"
    r"(?-i:\Athought\n)",
)
_MARKS = re.compile(
    rf"(?P<end>{'|'.join(_ENDS)})|{'|'.join(_BEGINNINGS)}", re.IGNORECASE | re.MULTILINE
)
# a tag that nobody told us of: what stands in it is no answer, unless its name or HTML says so
_HTML = (
    "p|b|i|u|em|br|hr|h[1-6]|ul|ol|li|div|span|strong|code|pre|table|font|center|blockquote|html"
)
_UNKNOWN = re.compile(
    rf"\A(?:<(?!/?(?:\w+_)?(?:{ANSWERS}|{_HTML})\b)(?P<tag>[a-z][\w:.|-]+)(?:\s[^<>]*)?>"
    rf"|\[(?!(?:{ANSWERS})\b)(?P<mark>(?-i:[A-Z][A-Z_ ]{{2,}}))\]"
    rf"|<\|(?:start|begin)_(?!(?:of_)?(?:{ANSWERS})(?:_|\b))(?:of_)?(?P<token>\w+)\|>)",
    re.IGNORECASE,
)
# what a special token says is over is the model's turn
_CONTROL = re.compile(r"\A(?:\s|<\|[\w:/]+\|>|<s>|<bos>)+")
_TURN_ENDS = re.compile(
    r"<\|[\w:/]+\|?>|<\uff5c[^<>]+\uff5c>|</s>|<eos>|<turn\|>|<(?:start|end)_of_turn>|\[/?INST\]"
    r"|\[END FINAL RESPONSE\]"
)
_WRAPPED = re.compile(
    rf"\A<(?P<name>(?:\w+_)?(?:{ANSWERS}))>(?P<inside>(?:(?!</?(?P=name)>).)*)</(?P=name)>\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
UNFINISHED = "the reply ends inside its reasoning; allow more tokens"
_FIRST = ("<", "[", "\u25c1")
_FIRST_WORDS = ("analysis", "thought\n", "here", "Here")


def final_output(text: str) -> str | None:
    """What follows a reply's reasoning, stripped; None where its reasoning does not end.

    A tag around all of it is left out, and what a model wrote after the end of its turn."""
    text = text.strip()
    if not text.startswith(_FIRST_WORDS) and not any(each in text for each in _FIRST):
        return text
    marks = list(_MARKS.finditer(text))
    if marks and marks[-1]["end"] is None:
        return None
    if marks:
        text = text[marks[-1].end() :].strip()
    elif unknown := _UNKNOWN.match(text):
        after = _after(unknown, text[unknown.end() :])
        if after is None:
            return None
        text = after
    text = _CONTROL.sub("", text)
    if turn := _TURN_ENDS.search(text):
        text = text[: turn.start()].strip()
    wrapped = _WRAPPED.match(text)
    return wrapped["inside"].strip() if wrapped else text


def _after(opened: re.Match[str], text: str) -> str | None:
    """What follows the end of an unknown tag; None: it has none."""
    name = re.escape(opened["tag"] or opened["mark"] or opened["token"])
    end = rf"</{name}\s*>|\[/{name}\]|<\|end_(?:of_)?{name}\|>"
    _, *after = re.split(end, text, flags=re.IGNORECASE)
    if after:
        return after[-1].strip()
    return None if opened["tag"] and text.strip() else opened.string
