"""Where in a model's reply its grade stands."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from gradelake.grading.prompts.doubt import COUNT, doubt, number, words_of
from gradelake.grading.prompts.scale import NUMBERS, Scale

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
_QUOTE = re.compile(r"\A\s*(?:>\s+)+")  # of Markdown
_BULLET = re.compile(r"\A[-\u2022]\s+")
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?(?P<said>[^{}]*)\}")
GRADE_KEYS = (
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
_LONGEST = 20_000  # characters of a reply that are looked at
_MAX_OBJECTS = 50  # `{` tried in a reply
_LIST_LINE = re.compile(r"^[^\w\n]{0,8}\d+ ?[.:)=]", re.MULTILINE)
_NONE = re.compile(
    r"[\W_]*(?:n/?a\b|none\b|null\b|not |unknown\b|[-\u2013\u2014?]*\s*(?:\n|\Z))", re.IGNORECASE
)
_PARTS = "half|halves|thirds?|fourths?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?"
# a value is not a grade when it goes on like this: 3.5, 3-4, 3 to 5, two thirds, 5 would need more
_RANGE = (
    r"(?!\w|[.,:]\d|[ \t]+\d|[ \t]*(?:-|\u2013|\u2014|to|or|through|and)[ \t]*\d"
    r"|[ \t]*(?:%|\u00b1|\+|-ish\b)"
    rf"|[ \t-]*(?:and[\s-]+(?:an?|one|two|three)[\s-]+)?(?:{_PARTS}|hundreds?|thousand|million"
    r"|per\s?cent|percent|dozen)\b"
    rf"|\s+point\s+(?:\d|{'|'.join(NUMBERS)})"
    r"|[ \t\"'`*_>)\]]*(?:would|could|might|if|unless|assuming|provided|means|indicates|represents"
    r"|denotes|implies|requires|stands for)\b)"
)
_OUT_OF = (
    r"(?:\s*(?:points?|pts?\.?|stars?|marks?))?[\s*_`\"')\]]*[(\[]?"
    r"(?:/|\b(?:out of(?: the)?|of|over|from)\b)\s*"
    rf"(?:a )?(?:(?:total|possible|maximum|max) (?:of )?)?(?P<top>{COUNT})"
)
_NEXT_TURN = re.compile(
    r"\n[ \t]*(?:#{1,4} ?)?[*_]{0,2}(?:user|human|assistant|system|instruction|input|response|query"
    r"|question|passage|document|context|example|q|a)(?: \d+)?[*_]{0,2}\s*:",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"<(?P<name>(?:final_)?(?:answer|score|grade|rating|label|output))>(?P<said>[^<>]*)</(?P=name)>",
    re.IGNORECASE,
)
_TOP_KEYS = ("max", "max_score", "maximum", "maximum_score", "out_of", "scale")
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
_IF = (
    "(?:would|could|might) (?:be|get|have|need)(?: an?| the)?"
    "|(?:not|never|neither|nor|without|cannot|rather than|instead of|more than|less than"
    "|n['\u2019]t)"
    "(?: \\w+){0,3}"
)
_OTHER, _SUPPOSED = (
    re.compile(rf"\b(?:{words})[\s\"'`*_]*\Z", re.IGNORECASE) for words in (_ELSE, f"{_ELSE}|{_IF}")
)


def lone_word(text: str, scale: Scale) -> int | None:
    """The grade of a reply that is one word of the scale, with or without markup around it."""
    grade = scale.lookup.get(text)
    if grade is not None or len(text) > 200:
        return grade
    return scale.grade_of(_bare(text))


def _bare(text: str) -> str:
    """A text without the markup around it; as it is where that says less than, or more."""
    bare = _BULLET.sub("", _QUOTE.sub("", text)).lstrip(_BEFORE).rstrip(_AFTER)
    before, _, after = _QUOTE.sub("", text).partition(bare or " ")
    is_tag = before.count("<") + before.count(">") == after.count(">")
    return bare if is_tag else text


def find_grade(text: str, scale: Scale) -> Reading | None:
    """The grade a longer reply states; None when it states none.

    In this order: a lone word; the last JSON object; what follows a label such as "score:", a final
    one before those at the beginning of a line, those before others, and prose ("a score of 2")
    last; the word it begins with. The last statement of a label counts, and makes the reply
    `failed` where it is no grade of the scale; so do two labels that differ, and a number that is
    not on the scale, which is never cut to one that is.
    """
    return _in_own_turn(_grade_in, text, scale)


def _grade_in(text: str, scale: Scale) -> Reading | None:
    for find in (_alone, _in_json, _labelled, _leading):
        found = find(text, scale)
        if found is not None:
            return found
    return None


def _in_own_turn(
    find: Callable[[str, Scale], Reading | None], text: str, scale: Scale
) -> Reading | None:
    """What `find` reads; `failed` where a model that went on with the next turn of a chat says
    something else there."""
    if len(text) > _LONGEST:
        text = f"\u2026{text[-_LONGEST:]}"  # it does not begin there
    found, turn = find(text, scale), _NEXT_TURN.search(text)
    before = find(text[: turn.start()].strip(), scale) if turn else None
    if turn and before and before.grade is not None and before != found:
        return failed(f"after a grade it goes on as another turn: {turn[0].strip()!r:.40}")
    return found


def find_final_score(text: str, scale: Scale) -> Reading:
    """The grade a reply states as its final one; `failed` when it states none.

    In this order: a lone word; what follows the last "##final score:"; the last "final score:"
    without the mark; the last "O:", as the published prompt abbreviates it. Where the last one
    states no grade, an earlier one does not count. Other numbers, of an explanation or of the
    aspects before, are never read, and no part of a number is.
    """
    found = _in_own_turn(_final_score_in, text, scale)
    return found or failed(f"no final score of the scale {scale} in it")


def _final_score_in(text: str, scale: Scale) -> Reading | None:
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
            return last.settled(text, scale) or failed(
                f"{last.text!r:.80} is no score of the scale {scale}"
            )
    return None


def json_objects(text: str) -> list[dict]:
    """The JSON objects in a text, last first; those inside others are left to them."""
    return [value for value, *_ in _placed_objects(text)]


def _placed_objects(text: str) -> list[tuple[dict, int, int]]:
    """The JSON objects in a text, last first, each with where it begins and ends."""
    found: list[tuple[dict, int, int]] = []
    decoder, start = json.JSONDecoder(), -1
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        found.insert(0, (value, start, end))
        start = end - 1
    return found


def _alone(text: str, scale: Scale) -> Reading | None:
    """A lone word of the scale, also as `four` or `4.0`, or in a box or a tag."""
    if (grade := lone_word(text, scale)) is not None:
        return graded(grade)
    if boxed := [*_BOXED.finditer(text), *_TAGGED.finditer(text)]:
        last = boxed[-1]
        said = [_value_of(each["said"].strip(), scale) for each in boxed]
        if last.re is _TAGGED and len({*said}) > 1:
            return failed(f"its tags differ: {text!r:.120}")
        reading = said[-1] or failed(f"{last['said']!r:.80} is not on the scale")
        return _settled(text, last.start(), last.end(), reading, scale)
    grade = scale.meant(_bare(text)) if len(text) < 40 else None
    return None if grade is None else graded(grade)


def _in_json(text: str, scale: Scale) -> Reading | None:
    for value, start, end in _placed_objects(text):
        folded = {key.lower().replace(" ", "_"): value[key] for key in value}
        readings = [_json_grade(folded[key], scale) for key in GRADE_KEYS if key in folded]
        if not readings:
            continue
        said = {each.grade for each in readings} - {None}
        if "final_score" not in folded and len(said) > 1:
            return failed(f"its keys differ: {text[start:end]!r:.120}")
        tops = [_last_number(folded[key]) for key in _TOP_KEYS if key in folded]
        if scale.is_numeric and any(top not in (None, scale.max) for top in tops):
            return failed(f"{text[start:end]!r:.80} is on another scale than {scale}")
        later = [each.reading for each in _statements(text[end:], scale) if not each.is_prose]
        if any(each and each != readings[0] for each in later):
            return failed(f"after its object it says something else: {text[end:].strip()!r:.80}")
        return _settled(text, start, end, readings[0], scale)
    return None


def _last_number(value: object) -> float | None:
    """The last number of a highest grade, or of a scale as it may be written: 10, "0-10", [0,
    10]."""
    numbers = re.findall(r"\d+(?:\.\d+)?", str(value))
    return float(numbers[-1]) if numbers else None


def _json_grade(value: object, scale: Scale) -> Reading:
    reading = None
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, int | float):
        value = str(value)
    if isinstance(value, str):
        grade = lone_word(value, scale)
        reading = graded(grade) if grade is not None else _value_of(value, scale)
    return reading or failed(f"{value!r:.80} is not on the scale")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A label in a reply, and the grade that follows it; None where what follows is none."""

    at: int
    end: int
    label: str
    text: str
    reading: Reading | None
    says_none: bool
    is_marked: bool
    is_final: bool
    begins_line: bool
    is_prose: bool

    def settled(self, text: str, scale: Scale) -> Reading | None:
        """Its grade, once what stands around it is looked at."""
        return self.reading and _settled(text, self.at, self.end, self.reading, scale)


def _statements(text: str, scale: Scale) -> list[_Statement]:
    found = []
    values = _value_pattern(tuple(scale.words), scale.is_numeric)
    for match in _label_pattern(scale.is_numeric).finditer(text):
        label, end = match["label"], match.end()
        others = _OTHER if match["prose"] is None else _SUPPOSED
        if others.search(text, max(0, match.start("name") - 40), match.start("name")):
            continue
        value = values.match(text[end : end + 80])
        found.append(
            _Statement(
                at=match.start(),
                end=end + (value.end() if value else 0),
                label="O" if label == "O" else label.lower(),
                text=text[match.start("name") : end + 20],
                reading=_grade_of(value, scale) if value else None,
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
            return [each for each in last.values() if each.reading][-1].settled(text, scale)
        if of_kind:
            return failed(f"{of_kind[-1].text!r:.80} states no grade of the scale {scale}")
    return None


def _leading(text: str, scale: Scale) -> Reading | None:
    # two or more numbered lines are a list, or the scale itself
    if len(_LIST_LINE.findall(text)) > 1:
        return None
    match = _leading_pattern(tuple(scale.words), scale.is_numeric).match(text)
    return _settled(text, 0, match.end(), _grade_of(match, scale), scale) if match else None


def _settled(text: str, start: int, end: int, reading: Reading, scale: Scale) -> Reading:
    """A reading of what stands there, `failed` where what is around it makes it another."""
    if reading.grade is None:
        return reading
    why = doubt(text, start, end, reading.grade, scale)
    return failed(why) if why else reading


def _value_of(text: str, scale: Scale) -> Reading | None:
    """The grade that all of a text is; None: it is no value."""
    pattern = _value_pattern(tuple(scale.words), scale.is_numeric)
    match = pattern.match(text)
    if match is None or text[match.end() :].strip(_AFTER):
        return None
    return _grade_of(match, scale)


def _grade_of(match: re.Match[str], scale: Scale) -> Reading:
    grade = scale.meant(match["word"])
    if grade is None:
        return failed(f"{match['word']!r} is not on the scale {scale}")
    if match["top"] and number(match["top"]) != scale.max:
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
    value = rf"[-+]?\d+(?:[.,]\d+)?|(?:{'|'.join(NUMBERS)})\b" if numeric else _one_of(words)
    return re.compile(
        rf"(?:[*_`\"'#(\[{{$]|<(?=[\w.]+>)){{0,6}}\s?(?P<word>{value}){_RANGE}(?:{_OUT_OF})?",
        re.IGNORECASE,
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
    return rf"{words_of(words)}(?![\"'*_`]*\s*(?:/|or\b|and\b))"
