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
_BEFORE = " \t\r\n\"'`*_#()[]{}<>$\u2018\u2019\u201c\u201d"
_AFTER = _BEFORE + ".,;:!"
_BULLET = re.compile(r"\A[-\u2022]\s+")
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
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
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NONE = re.compile(
    r"[\W_]*(?:n/?a\b|none\b|null\b|not |unknown\b|[-\u2013\u2014?]*\s*(?:\n|\Z))", re.IGNORECASE
)
# a value is not a grade when it goes on like this: 3.5, 3-4, 3 to 5, 5 would need more
_RANGE = (
    r"(?!\w|[.,:]\d|\s*(?:-|\u2013|\u2014|to|or|through|and)\s*\d|\s*%"
    r"|[\s\"'`*_>)\]]*(?:would|could|might)\b)"
)
_OUT_OF = r"\s*(?:/|out of)\s*(?P<top>\d+(?:\.\d+)?)"
# how a reply goes on after the grade it begins with: "4: mostly", "4 because", "Yes, it does"
_REASON = (
    r"(?=[\"'`*_)\]]*(?:\s*$|\s*\n|\s*[:;,.)\u2013\u2014=]|\s+-+\s|"
    r"\s+(?:because|since|as|due|given|it|the|this)\b))"
)
# before a label: something else has this score; in prose also a supposed one
_ELSE = (
    "max(?:imum)?|highest|best|top|perfect|min(?:imum)?|lowest|possible|higher|lower|"
    "confidence|certainty"
)
_IF = "(?:would|could|might) (?:be|get|have|need)(?: an?| the)?"
_OTHER, _SUPPOSED = (
    re.compile(rf"\b(?:{words})[\s\"'`*_]*\Z", re.IGNORECASE) for words in (_ELSE, f"{_ELSE}|{_IF}")
)


def lone_word(text: str, scale: Scale) -> int | None:
    """The grade of a reply that is one word of the scale, with or without markup around it."""
    grade = scale.lookup.get(text)
    if grade is not None or len(text) > 200:
        return grade
    return scale.grade_of(_BULLET.sub("", text).lstrip(_BEFORE).rstrip(_AFTER))


def find_grade(text: str, scale: Scale) -> Reading | None:
    """The grade a longer reply states; None when it states none.

    In this order: a lone word; the last JSON object; what follows a label such as "score:", a final
    one before those at the beginning of a line, those before others, and prose ("a score of 2")
    last; the word it begins with. The last statement of a label counts, and makes the reply
    `failed` where it is no grade of the scale; so do two labels that differ, and a number that is
    not on the scale, which is never cut to one that is.
    """
    for find in (_alone, _in_json, _labelled, _leading):
        found = find(text, scale)
        if found is not None:
            return found
    return None


def find_final_score(text: str, scale: Scale) -> Reading:
    """The grade a reply states as its final one; `failed` when it states none.

    In this order: a lone word; what follows the last "##final score:"; the last "final score:"
    without the mark; the last "O:", as the published prompt abbreviates it. Where the last one
    states no grade, an earlier one does not count. Other numbers, of an explanation or of the
    aspects before, are never read, and no part of a number is.
    """
    if (alone := _alone(text, scale)) is not None:
        return alone
    found = [each for each in _statements(text, scale) if each.is_final or each.label == "O"]
    for of_kind in (
        [each for each in found if each.is_marked and each.is_final],
        [each for each in found if each.is_final],
        found,
    ):
        stated = [each for each in of_kind if not each.is_prose]
        stated = stated or [each for each in of_kind if each.reading]
        if stated:
            last = stated[-1]
            if last.reading is None:  # "##final score: M: 2, T: 1, O: 3"
                later = [each for each in found if each.at > last.at and each.reading]
                last = later[-1] if later else last
            return last.reading or failed(f"{last.text!r:.80} is no score of the scale {scale}")
    return failed(f"no final score of the scale {scale} in it")


def json_objects(text: str) -> list[dict]:
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


def _alone(text: str, scale: Scale) -> Reading | None:
    """A lone word of the scale, also as `four` or `4.0`, or in a box."""
    if (grade := lone_word(text, scale)) is not None:
        return graded(grade)
    if boxed := _BOXED.findall(text):
        return _value_of(boxed[-1], scale) or failed(f"{boxed[-1]!r:.80} is not on the scale")
    if len(text) < 40:
        word = _BULLET.sub("", text).lstrip(_BEFORE).rstrip(_AFTER)
        if (grade := _grade(word, scale)) is not None:
            return graded(grade)
    return None


def _in_json(text: str, scale: Scale) -> Reading | None:
    for value in json_objects(text):
        folded = {key.lower().replace(" ", "_"): value[key] for key in value}
        for key in _JSON_KEYS:
            if key in folded:
                return _json_grade(folded[key], scale)
    return None


def _json_grade(value: object, scale: Scale) -> Reading:
    reading = None
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, int | float):
        value = str(value)
    if isinstance(value, str):
        grade = lone_word(value, scale)
        reading = graded(grade) if grade is not None else _value_of(value, scale, whole=True)
    return reading or failed(f"{value!r:.80} is not on the scale")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A label in a reply, and the grade that follows it; None where what follows is none."""

    at: int
    label: str
    text: str
    reading: Reading | None
    says_none: bool
    is_marked: bool
    is_final: bool
    begins_line: bool
    is_prose: bool


def _statements(text: str, scale: Scale) -> list[_Statement]:
    found = []
    for match in _label_pattern(scale.is_numeric).finditer(text):
        label, end = match["label"], match.end()
        others = _OTHER if match["prose"] is None else _SUPPOSED
        if others.search(text, max(0, match.start("name") - 40), match.start("name")):
            continue
        found.append(
            _Statement(
                at=match.start(),
                label="O" if label == "O" else label.lower(),
                text=text[match.start("name") : end + 20],
                reading=_value_of(text[end : end + 80], scale),
                says_none=bool(_NONE.match(text, end)),
                is_marked=match["mark"] is not None,
                is_final=bool(match["final"]),
                begins_line=match["start"] is not None,
                is_prose=match["prose"] is not None,
            )
        )
    return found


def _labelled(text: str, scale: Scale) -> Reading | None:
    found = _statements(text, scale)
    stated = [each for each in found if not each.is_prose]
    own = [each for each in stated if each.label != "O"]
    for of_kind in (
        [each for each in own if each.is_final],
        [each for each in own if each.begins_line],
        own,
        stated,
        [each for each in found if each.is_prose and each.is_final and each.reading],
        [each for each in found if each.is_prose and each.reading],
    ):
        last = {each.label: each for each in of_kind}  # of each label its last statement
        if any(each.says_none for each in last.values()):
            return failed(f"{of_kind[-1].text!r:.80} states no grade")
        readings = {each.reading for each in last.values() if each.reading}
        if len(readings) > 1:
            labels = ", ".join(repr(each.text[:30]) for each in last.values() if each.reading)
            return failed(f"its labels differ: {labels:.120}")
        if readings:
            return readings.pop()
        if of_kind:
            return failed(f"{of_kind[-1].text!r:.80} states no grade of the scale {scale}")
    return None


def _leading(text: str, scale: Scale) -> Reading | None:
    # two or more numbered lines are a list, or the scale itself
    if len(_LIST_LINE.findall(text)) > 1:
        return None
    match = _leading_pattern(tuple(scale.words), scale.is_numeric).match(text)
    return _grade_of(match, scale) if match else None


def _value_of(text: str, scale: Scale, whole: bool = False) -> Reading | None:
    """The grade that a text begins with, or that all of it is; None: it begins with no value."""
    pattern = _value_pattern(tuple(scale.words), scale.is_numeric)
    match = pattern.match(text)
    if match is None or (whole and text[match.end() :].strip(_AFTER)):
        return None
    return _grade_of(match, scale)


def _grade(word: str, scale: Scale) -> int | None:
    """The grade of a word of the scale; of numbers also as `four` and `4.0`."""
    grade = scale.grade_of(word)
    if grade is None and scale.is_numeric:
        folded = word.casefold()
        if folded in _NUMBERS:
            return scale.lookup.get(str(_NUMBERS.index(folded)))
        whole, point, rest = word.replace(",", ".").partition(".")
        if point and rest in ("0", "00"):
            return scale.lookup.get(whole)
    return grade


def _grade_of(match: re.Match[str], scale: Scale) -> Reading:
    grade = _grade(match["word"], scale)
    if grade is None:
        return failed(f"{match['word']!r} is not on the scale {scale}")
    if match["top"] and float(match["top"]) != scale.max:
        return failed(f"{match[0]!r:.80} is on another scale than {scale}")
    return graded(grade)


@lru_cache(maxsize=2)
def _label_pattern(numeric: bool) -> re.Pattern[str]:
    """A label, up to where its value begins."""
    label = r"score|grade|rating|label|category|relevance|(?-i:O)|(?<=final )answer"
    if not numeric:
        label += r"|relevant|answer|verdict|decision|judge?ment"
    marks = r"[*_`\"']*"
    start = r"(?:(?P<start>^[^\w\n]{0,8})|(?<![^\W_]))"
    name = r"(?P<mark>(?<=##)|(?<=## )|(?<=##\*\*))?(?P<final>(?:final|overall)[ _])?"
    name += rf"(?:relevance[ _])?(?P<label>{label})"
    says = r":|=+>?|->|\u2192|(?P<prose>\u2013|\bis\b|\bof\b|-(?=\s))|(?<=\n)(?=\S)"
    return re.compile(
        rf"{start}(?P<name>{name})(?![^\W_])\)?{marks}(?:\s?\([^()]{{0,40}}\))?{marks}\s{{0,3}}"
        rf"(?:{says})\s{{0,3}}",
        re.IGNORECASE | re.MULTILINE,
    )


@lru_cache(maxsize=64)
def _value_pattern(words: tuple[str, ...], numeric: bool) -> re.Pattern[str]:
    """What may stand after a label: a word of the scale, or any number, which may be off it."""
    value = rf"[-+]?\d+(?:[.,]\d+)?|(?:{'|'.join(_NUMBERS)})\b" if numeric else _one_of(words)
    return re.compile(
        rf"[*_`\"'#(\[{{<$]{{0,6}}\s?(?P<word>{value}){_RANGE}(?:{_OUT_OF})?", re.IGNORECASE
    )


@lru_cache(maxsize=64)
def _leading_pattern(words: tuple[str, ...], numeric: bool) -> re.Pattern[str]:
    """How a scale's words stand at the beginning of a reply."""
    known = "|".join(map(re.escape, words)) if numeric else _one_of(words)
    return re.compile(
        rf"[\"'`*_(\[#]{{0,6}}(?P<word>{known}){_RANGE}(?:{_OUT_OF}|{_REASON})", re.IGNORECASE
    )


def _one_of(words: tuple[str, ...]) -> str:
    """A word of the scale, but not of "Yes or No" and "Yes/No", which repeat the question."""
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return rf"(?:{known})\b(?![\"'*_`]*\s*(?:/|or\b|and\b))"
