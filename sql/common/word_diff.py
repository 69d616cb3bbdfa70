"""What changed in a text, word by word."""

import difflib
import re


def word_diff(old: str, new: str) -> list[tuple[str, str]]:
    """(what, words) in the order of the texts: "" stands in both, "del" in the old, "ins" in the
    new alone. White space is kept."""
    before, after = (re.findall(r"\S+|\s+", text) for text in (old, new))
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    found = []
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            found.append(("", "".join(before[a:b])))
            continue
        found += [("del", "".join(before[a:b]))] if b > a else []
        found += [("ins", "".join(after[c:d]))] if d > c else []
    return found
