"""The marks by which models set off their reasoning, and what follows it."""

import re

# names of tags: <think>, <seed:think>; passages are made harmless of them, too (neutral.py)
NAMES = "think|thinking|thought|thoughts|reasoning|reflection"
_MARKS = re.compile(
    rf"(?P<end></(?:\w+:)?(?:{NAMES})>|\[/THINK\]|\u25c1/think\u25b7|<\|END_THINKING\|>"
    r"|<\|end_of_thought\|>|<\|channel\|>\s*final\b[^<]*(?:<\|message\|>)?"
    r"|(?<=[.!?)\w])assistantfinal)"
    rf"|<(?:\w+:)?(?:{NAMES})>|\[THINK\]|\u25c1think\u25b7|<\|START_THINKING\|>"
    # gpt-oss's channels, also where its special tokens were left out: "analysisWe need"
    r"|<\|begin_of_thought\|>|<\|channel\|>|(?-i:\Aanalysis(?=[A-Z]))",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"\A(?:\s|<\|\w+\|>)+|(?:\s|<\|\w+\|>|</s>)+\Z")
UNFINISHED = "the reply ends inside its reasoning; allow more tokens"
_FIRST = ("<", "[", "\u25c1")


def final_output(text: str) -> str | None:
    """What follows a reply's reasoning, stripped; None where its reasoning does not end."""
    if text.startswith("analysis") or any(each in text for each in _FIRST):
        marks = list(_MARKS.finditer(text))
        if marks and marks[-1]["end"] is None:
            return None
        text = _CONTROL.sub("", text[marks[-1].end() if marks else 0 :])
    return text.strip()
