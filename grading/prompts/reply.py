"""Where in a model's reply its grade stands."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from gradelake.grading.prompts.scale import Scale

STATUSES = ("ok", "unanswerable", "defaulted", "failed")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says: a grade (None if failed), how it was found, and what went wrong.

    `status` is ok, unanswerable, defaulted or failed; `answer` is an extracted answer.
    """

    grade: int | None
    status: str
    answer: str | None = None
    error: str | None = None


_OK = tuple(Reading(grade, "ok") for grade in range(10))


def graded(grade: int) -> Reading:
    """A reply that states a grade."""
    return _OK[grade]


def failed(why: str) -> Reading:
    """A reply without a grade."""
    return Reading(None, "failed", error=why)


# what may stand around a lone word: quotes, brackets, Markdown, a full stop; not a sign, a fraction
# or a percent sign, which make another number of it
_BEFORE = " \t\r\n\"'`*_#()[]{}\u2018\u2019\u201c\u201d"
_AFTER = _BEFORE + ".,;:!"
_BULLET = re.compile(r"\A[-\u2022]\s+")
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_JSON_KEYS = (
    "final_score",
    "score",
    "grade",
    "rating",
    "label",
    "relevance",
    "relevant",
    "category",
    "answer",
    "o",
)
_MAX_OBJECTS = 50  # `{` tried in a reply
_LIST_LINE = re.compile(r"^[^\w\n]{0,8}\d+ ?[.:)=]", re.MULTILINE)
# a label's value is not a grade when it goes on like this: 3.5, 3-4, 3 to 5, 2/3 of another scale
_RANGE = r"(?!\w|[.,:]\d|\s*(?:-|\u2013|\u2014|to|or|through|and)\s*\d|\s*%)"
_ENDS = re.compile(_RANGE)
_OUT_OF = r"\s*(?:/|out of)\s*(?P<top>\d+(?:\.\d+)?)"
# how a reply goes on after the grade it begins with: "4: mostly", "4 because", "Yes, it does"
_REASON = (
    r"(?=[\"'`*_)\]]*(?:\s*$|\s*\n|\s*[:;,.)\u2013\u2014=]|\s+-+\s|"
    r"\s+(?:because|since|as|due|given|it|the|this)\b))"
)


def lone_word(text: str, scale: Scale) -> int | None:
    """The grade of a reply that is one word of the scale, with or without markup around it."""
    grade = scale.lookup.get(text)
    if grade is not None or len(text) > 200:
        return grade
    return scale.grade_of(_BULLET.sub("", text).lstrip(_BEFORE).rstrip(_AFTER))


def find_grade(text: str, scale: Scale) -> Reading | None:
    """The grade a longer reply states; None when it states none.

    In this order: a lone word; JSON; what follows the last label ("##final score: 2", a final one
    before others); the word it begins with. A number that is not on the scale is never cut to one
    that is: a label that states one makes the reply `failed`.
    """
    grade = lone_word(text, scale)
    if grade is not None:
        return graded(grade)
    if boxed := _BOXED.findall(text):
        grade = lone_word(boxed[-1], scale)
        return graded(grade) if grade is not None else failed(f"{boxed[-1]!r} is not on the scale")
    for find in (_in_json, _labelled, _leading):
        found = find(text, scale)
        if found is not None:
            return found
    return None


def find_final_score(text: str, scale: Scale) -> Reading:
    """The grade a reply states as its final one; `failed` when it states none.

    In this order: a lone word; what follows the last "##final score:"; the last "final score:"
    without the mark; the last "O:", as the published prompt abbreviates it. Other numbers, of an
    explanation or of the aspects before, are never read, and no part of a number is.
    """
    grade = lone_word(text, scale)
    if grade is not None:
        return graded(grade)
    pattern = _final_pattern(tuple(scale.words), scale.is_numeric)
    found = list(pattern.finditer(text))
    if not found:
        return failed(f"no final score of the scale {scale} in it")
    marked = [match for match in found if match["mark"] and match["final"]]
    match = (marked or [match for match in found if match["final"]] or found)[-1]
    if not _ENDS.match(text, match.end("word")):
        return failed(f"{text[match.start() : match.end() + 10]!r:.80} is not one score")
    return _grade_of(match, scale)


def _in_json(text: str, scale: Scale) -> Reading | None:
    if "{" not in text:
        return None
    fences = _FENCE.findall(text)
    for part in [*reversed(fences), text]:
        for value in _objects(part):
            folded = {key.lower().replace(" ", "_"): value[key] for key in value}
            for key in _JSON_KEYS:
                if key in folded:
                    return _json_grade(folded[key], scale)
    return None


def _objects(text: str) -> list[dict]:
    """The JSON objects in a text, last first; those inside others are left to them."""
    found: list[dict] = []
    decoder, start = json.JSONDecoder(), -1
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        found.insert(0, value)
        start = end - 1
    return found


def _json_grade(value: object, scale: Scale) -> Reading:
    if isinstance(value, bool):
        grade = scale.grade_of("yes" if value else "no")
    elif isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        grade = scale.lookup.get(str(int(value))) if is_whole and abs(value) < 10 else None
    else:
        grade = lone_word(value, scale) if isinstance(value, str) else None
    return graded(grade) if grade is not None else failed(f"{value!r:.80} is not on the scale")


def _labelled(text: str, scale: Scale) -> Reading | None:
    found = list(_patterns(tuple(scale.words), scale.is_numeric)[0].finditer(text))
    if not found:
        return None
    final = [match for match in found if match["final"]]
    own = [match for match in found if match["label"] != "O"]
    return _grade_of((final or own or found)[-1], scale)


def _leading(text: str, scale: Scale) -> Reading | None:
    # two or more numbered lines are a list, or the scale itself
    if len(_LIST_LINE.findall(text)) > 1:
        return None
    match = _patterns(tuple(scale.words), scale.is_numeric)[1].match(text)
    return _grade_of(match, scale) if match else None


def _grade_of(match: re.Match[str], scale: Scale) -> Reading:
    grade = scale.grade_of(match["word"])
    if grade is None:
        return failed(f"{match['word']!r} is not on the scale {scale}")
    if match["top"] and float(match["top"]) != scale.max:
        return failed(f"{match[0]!r:.80} is on another scale than {scale}")
    return graded(grade)


@lru_cache(maxsize=64)
def _patterns(words: tuple[str, ...], numeric: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a scale's words stand after a label, and at the beginning of a reply."""
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    if numeric:
        label = r"score|grade|rating|label|category|relevance|(?-i:O)|(?<=final )answer"
        value = r"[-+]?\d+(?:[.,]\d+)?"  # a number off the scale is read too, to be refused
    else:
        label = r"score|grade|rating|label|category|relevance|relevant|answer|verdict|decision"
        label += r"|judge?ment|(?-i:O)"
        value = _one_of(known)
    labelled = (
        rf"(?<!confidence )(?<![^\W_])(?P<final>final[ _]|overall[ _])?(?:relevance[ _])?"
        rf"(?P<label>{label})(?![^\W_])\)?[*_`\"']*(?:\s?\([^()]{{0,40}}\))?[*_`\"']*"
        rf"\s{{0,3}}(?::|=+>?|->|\u2192|\u2013|\bis\b|\bof\b|-(?=\s))\s{{0,3}}[*_`\"'#(\[]{{0,6}}\s?"
        rf"(?P<word>{value}){_RANGE}(?:{_OUT_OF})?"
    )
    leading = rf"[\"'`*_(\[#]{{0,6}}(?P<word>{known if numeric else value}){_RANGE}"
    leading += rf"(?:{_OUT_OF}|{_REASON})"
    return re.compile(labelled, re.IGNORECASE), re.compile(leading, re.IGNORECASE)


def _one_of(words: str) -> str:
    """A word of the scale, but not of "Yes or No" and "Yes/No", which repeat the question."""
    return rf"(?:{words})\b(?![\"'*_`]*\s*(?:/|or\b|and\b))"


@lru_cache(maxsize=64)
def _final_pattern(words: tuple[str, ...], numeric: bool) -> re.Pattern[str]:
    """How a scale's words stand after "final score:"."""
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    value = r"[-+]?\d+(?:[.,]\d+)?" if numeric else _one_of(known)
    return re.compile(
        rf"(?P<mark>##\s{{0,3}}[*_]{{0,3}})?(?<![^\W_])"
        rf"(?:(?P<final>final[ _](?:relevance[ _])?(?:score|grade|label))|(?-i:O))(?![^\W_])"
        rf"\)?[*_`\"']*(?:\s?\([^()]{{0,40}}\))?[*_`\"']*"
        rf"\s{{0,3}}(?::|=+>?|->|\u2192|\u2013|\bis\b|-(?=\s))\s{{0,3}}[*_`\"'#(\[{{<]{{0,6}}\s?"
        rf"(?P<word>{value})(?:{_OUT_OF})?",
        re.IGNORECASE,
    )
