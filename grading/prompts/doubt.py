"""What around a grade makes it another, or none: a choice, second thoughts, another scale."""

import re
from collections.abc import Iterable
from functools import lru_cache

from gradelake.grading.prompts.scale import NUMBERS, Scale

COUNT = rf"(?:\d+(?:\.\d+)?|{'|'.join(NUMBERS)}|ten|hundred)\b"
# a scale that a reply tells of; the last of its groups is the highest grade
_SPAN = rf"{COUNT}\s*(?:-|\u2013|\u2014|to|through|and|\.\.)\s*"
_SCALE_TOLD = re.compile(
    rf"\bscale\W*(?:(?:of|from|is|ranging|between|goes)\W+)*(?:{_SPAN})?(?P<of>{COUNT})"
    rf"|\b{_SPAN}(?P<to>{COUNT})\s+scale"
    rf"|\b(?P<points>{COUNT})[\s-]*point\s+(?:\w+\s+)?scale"
    rf"|\(\s*(?:(?:from|scale|range|between|out of|max(?:imum)?|of|/)\W*)*(?:{_SPAN})?"
    rf"(?P<within>{COUNT})\s*(?:points?)?\s*\)"
    rf"|\bfrom\s+{_SPAN}(?P<from>{COUNT})"
    rf"|\b(?:max(?:imum)?|highest|best|top)\s+(?:possible\s+)?(?:score|grade|rating)\s*"
    rf"(?:is|of|:|=)\s*(?P<highest>{COUNT})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?](?=\s|\Z)|\n")


def doubt(text: str, start: int, end: int, grade: int, scale: Scale) -> str | None:
    """Why what stands from `start` to `end`, as it looks a grade, is not what a reply says."""
    other = _another(tuple(scale.words), scale.is_numeric)
    after = text[end:]
    sentence = _SENTENCE.split(after[:120], maxsplit=1)[0]
    choice = _choice_pattern(other).match(sentence)
    if choice and scale.meant(choice["other"]) != grade:
        return f"{text[start : end + choice.end()]!r:.80} states no single grade"
    torn = _torn_pattern(other).search(_SENTENCE.split(text[max(0, start - 80) : start])[-1])
    if torn and scale.meant(torn["one"] or torn["other"]) != grade:
        return f"{torn[0] + text[start:end]!r:.80} states no single grade"
    if revised := _revision_pattern(other).search(after):
        return f"after its grade it reconsiders: {revised[0].strip()!r:.60}"
    if scale.is_numeric:
        for part in (text[max(0, start - 80) : end], sentence):
            for told in _SCALE_TOLD.finditer(part):
                fitting = {scale.max} | ({len(scale.words)} if told["points"] else set())
                if number(told[told.lastgroup or 0]) not in fitting:
                    return f"{told[0].strip()!r:.80} is another scale than {scale}"
    return None


def number(count: str) -> float:
    """The value of a number in digits or in words (`COUNT`)."""
    word = count.casefold()
    known = (*NUMBERS, "ten")
    return float(known.index(word) if word in known else 100 if word == "hundred" else word)


_OF_SCORE = r"(?:(?:an?|the)[ \t]+)?(?:(?:score|grade|rating|label)[ \t]+(?:of[ \t]+)?)?"
_HEDGE = rf"(?:maybe|perhaps|possibly|even|else|rather|more likely|,|{_OF_SCORE})?"


@lru_cache(maxsize=64)
def _another(words: tuple[str, ...], numeric: bool) -> str:
    """A pattern of a word of the scale, or of any number."""
    return rf"(?:\d+|{'|'.join(NUMBERS)})\b" if numeric else words_of(words)


@lru_cache(maxsize=64)
def _choice_pattern(other: str) -> re.Pattern[str]:
    """How a grade goes on as a choice between it and another."""
    signs = r",|;|&|\||~|\u2026|\.{2,}|/|-|\u2013|\u2014"
    joined = r"or|and|to|through|vs\.?|versus|but|maybe|perhaps|possibly|oder|bis|ou"
    return re.compile(
        rf"[ \t\"'`*_>)\]]*(?:{signs})?[ \t(\[]*(?:(?:{joined})\b|{signs}|\()[ \t,(]*"
        rf"{_HEDGE}[ \t\"'`*_(]*(?P<other>{other})(?![\w.]?\w)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _torn_pattern(other: str) -> re.Pattern[str]:
    """What stands before the second of two grades between which a reply does not choose."""
    first = rf"\b(?P<{{}}>{other})\b[\"'`*_)]*,?\s+"
    return re.compile(
        rf"(?:\b(?:between|either)\b.*{first.format('one')}and|{first.format('other')}or)\s+"
        rf"(?:(?:maybe|perhaps|possibly)\s+)?{_OF_SCORE}[\"'`*_(]*\Z",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _revision_pattern(other: str) -> re.Pattern[str]:
    """How a reply takes its grade back, or gives another."""
    said = (
        r"wait(?=\s*(?:[,.!?\u2026\u2014-]|\Z|no\b|actually\b|that\b|i\b|the\b))|hold on|hang on"
        r"|oops|scratch that|strike that|correction\b|on second thoughts?|on reflection"
        r"|let me (?:re|correct|revise|double|check|think)|my mistake"
        r"|i (?:take (?:that|it) back|stand corrected|misread|misspoke|made an? (?:mistake|error))"
        r"|i(?:['\u2019](?:ll|d)| will| would| should| must| need to| have to)? "
        r"(?:correct|revise|reconsider|re-?evaluate|reassess|change|amend|lower|raise) "
        r"(?:that|it|my|the|this)\b"
    )
    instead = (
        r"actually|no(?=\W*[,.;:\u2014-])|sorry|rather|instead|make (?:that|it)|i mean"
        r"|should(?: really)? be|more like|closer to"
    )
    given = (
        r"(?:(?:i[t'\u2019]\S*|that\S*|the \w+|is|be|say|give|should|would|probably|an?|score|of) )"
    )
    return re.compile(
        r"(?:\A|[\n.!?;,:(\u2026\u2014\u2013-])[\s*_\"'(]*(?:(?:oh|but|no|hmm+|ah|well),?\s+)*"
        rf"(?:{said})"
        rf"|\b(?:{instead})[\s,.;:\u2014\u2013-]+{given}{{0,5}}[*_\"'(]*(?:{other})",
        re.IGNORECASE,
    )


def words_of(words: Iterable[str]) -> str:
    """A pattern of any of these words."""
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return rf"(?:{known})\b"
