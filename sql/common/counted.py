"""Counts for people: `1 system`, `2 systems`, `1,000 queries are`."""

import re

_OF_ONE = {
    "people": "person",
    "batches": "batch",
    "are": "is",
    "were": "was",
    "have": "has",
    "wait": "waits",
    "name": "names",
    "carry": "carries",
    "repeat": "repeats",
    "break": "breaks",
}


def counted(n: int, what: str, verb: str = "") -> str:
    """How many of what; `what` and `verb` are given as for several.

    `counted(1, "run entries of bm25", "are")` is `1 run entry of bm25 is`.
    """
    if n == 1:
        what, *rest = re.split(r"(?= (?:of|to) )", what, maxsplit=1)
        one = f"{what[:-3]}y" if what.endswith("ies") else what.removesuffix("s")
        what = _OF_ONE.get(what, one)
        what, verb = what + "".join(rest), _OF_ONE[verb] if verb else ""
    return f"{n:,} {what}{' ' if verb else ''}{verb}"
