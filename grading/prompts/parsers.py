"""Reads a grade out of what a model replied. Only its final output counts, never its reasoning.

`paper`, `answer` and `answer_key` follow Farzi & Dietz, "Pencils Down!", ICTIR 2024, section 4.2.1
(RUBRIC), and "EXAM++", LLM4Eval 2024, section 4.2; `strict`, `lenient`, `lenient_answer_key` and
`final_score` are ours.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz

from gradelake.grading.prompts import answers
from gradelake.grading.prompts.label_list import read_labels
from gradelake.grading.prompts.no_reply import refusal, server_error
from gradelake.grading.prompts.reasoning import UNFINISHED, final_output
from gradelake.grading.prompts.reply import (
    Reading,
    failed,
    find_final_score,
    find_grade,
    graded,
    lone_word,
)
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.judgment_kinds import judgment_kinds

# expressions of unanswerability, as printed in RUBRIC and EXAM++
UNANSWERABLE = (
    "unanswerable",
    "no",
    "no answer",
    "not enough information",
    "unknown",
    "it is not possible to tell",
    "it does not say",
    "no relevant information",
)
_LONGEST = 2 * max(map(len, UNANSWERABLE))  # a longer text has a ratio below 80 to all of them
_NEGATION = re.compile(r"\b(?:un\w+|no|not|none|cannot|\w+n['\u2019]t)\b")

_JUDGED = {each.target for each in judgment_kinds().values() if "items" not in each.slots}
_ON_A_SCALE = frozenset({*_JUDGED, "verify"})
# those whose verdicts are in no order of better and worse are read by the word alone
_GRADED = _ON_A_SCALE - {each.target for each in judgment_kinds().values() if each.verdicts}
_LISTED = {each.target for each in judgment_kinds().values() if each.item_kind}
_EXTRACTED = frozenset({"extract"})
# full-width letters, digits and signs as ASCII; characters without width are left out
_PLAIN = {0xFEE0 + letter: letter for letter in range(0x21, 0x7F)} | dict.fromkeys(
    (0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF)
)


def plain(text: str) -> str:
    """A reply as it looks: a full-width 4 is 4, and what cannot be seen is not there."""
    return text if text.isascii() else text.translate(_PLAIN)


def sole_word(text: str, scale: Scale) -> int | None:
    """The grade of a reply that is one word of the scale, whatever reasoning went before it."""
    return lone_word(plain(final_output(text) or ""), scale)


@dataclass(frozen=True)
class Parser:
    """A way to read replies: `read(text, scale, gold_answers)` gives a `Reading`.

    `targets` are the targets of the prompts it can read; `needs_gold` says whether it compares
    with gold answers. `version` is part of the id of every grader whose model writes freely: a new
    one says that such replies are read otherwise. Nothing raises: a reply that cannot be read has
    the status `failed`.
    """

    _read: Callable[[str, Scale, Iterable[str] | None], Reading]
    targets: frozenset[str]
    needs_gold: bool = False
    reads_words: bool = True  # of the scale, so that a lone one needs no more looking
    version: int = 2

    def read(
        self,
        text: str | None,
        scale: Scale,
        gold_answers: Iterable[str] | None = None,
        is_held: bool = False,
    ) -> Reading:
        """`is_held`: the model could write a word of the scale and nothing else, so that a reply
        without one says nothing: the papers' defaults are for models that write freely."""
        if text is None:
            return failed("there is no reply")
        grade = scale.lookup.get(text) if self.reads_words else None
        if grade is not None:
            return graded(grade)
        final = final_output(text)
        if final is None:
            return failed(UNFINISHED)
        if text.strip() and not final:
            return failed("nothing follows its reasoning")
        if why := server_error(final):
            return failed(why)
        reading = self._read(plain(final) if self.reads_words else final, scale, gold_answers)
        is_stated = reading.status == "ok" and self.reads_words
        if not is_stated and (why := refusal(final)):
            return failed(why)
        if is_held and reading.status in ("defaulted", "unanswerable"):
            return failed(f"{final!r:.80} is not on the scale {scale}, which replies are held to")
        return reading


def is_unanswerable(text: str) -> bool:
    """Whether the whole text is an expression of unanswerability.

    As printed in the papers, whatever its case and punctuation; or, as the papers' workbench has
    it, its Porter stem (of the whole text as one word) has a similarity ratio above 80 to theirs.
    Of those only texts with a negation count: "answerable" is 86 to "unanswerable".
    """
    if len(text) > 10 * _LONGEST:
        return False
    text = " ".join(text.lower().split()).strip("\"'`*_.,;:!?()[] ")
    if text in UNANSWERABLE:
        return True
    if not text or len(text) > _LONGEST or not _NEGATION.search(text):
        return False
    stemmed = answers.stem(text)
    return any(fuzz.ratio(stemmed, answers.stem(each)) > 80 for each in UNANSWERABLE)


def _strict(text: str, scale: Scale, _gold: object) -> Reading:
    """One word of the scale and nothing else; else failed."""
    grade = lone_word(text, scale)
    if grade is not None:
        return graded(grade)
    return failed(f"not one word of the scale {scale}" if text else "the reply is empty")


def _lenient(text: str, scale: Scale, _gold: object) -> Reading:
    """A grade stated in words, as JSON or first; else failed."""
    if not text:
        return failed("the reply is empty")
    found = find_grade(text, scale)
    if found is not None:
        return found
    if is_unanswerable(text):
        return Reading(scale.min, "unanswerable")
    return failed(f"no grade of the scale {scale} in it")


def _final_score(text: str, scale: Scale, _gold: object) -> Reading:
    """What "##final score:" says, or one word of the scale; else failed."""
    return find_final_score(text, scale) if text else failed("the reply is empty")


def _paper(text: str, scale: Scale, _gold: object) -> Reading:
    """One word of the scale; unanswerable: the lowest; else 1 (numbers) or the lowest (words)."""
    grade = lone_word(text, scale)
    if grade is not None:
        return graded(grade)
    if not scale.is_numeric:
        return Reading(scale.min, "defaulted")
    if not text or is_unanswerable(text):  # the workbench counts an empty reply among them
        return Reading(scale.min, "unanswerable")
    return Reading(1 if "1" in scale.words else scale.min, "defaulted")


def _answer(text: str, scale: Scale, _gold: object) -> Reading:
    """An answer is 1, none or an ill-formed one 0."""
    if answers.is_ill_formed(text) or is_unanswerable(text):
        return Reading(scale.min, "unanswerable", answer=text)
    return Reading(scale.max, "ok", answer=text)


def _answer_key(text: str, scale: Scale, gold_answers: Iterable[str] | None) -> Reading:
    """An answer that matches a gold answer is 1; any other is 0, and so is always what says that
    there is none ("no"), or is ill-formed ("a.")."""
    reading = _lenient_answer_key(text, scale, gold_answers)
    none = _answer(text, scale, None)
    return reading if reading.status == "failed" or none.status == "ok" else none


def _lenient_answer_key(text: str, scale: Scale, gold_answers: Iterable[str] | None) -> Reading:
    """Read a reply as `_answer_key` does, but "no" or "a." is right where a gold answer is just
    that."""
    gold = [answer for answer in gold_answers or () if answer.strip()]
    if not gold:
        return Reading(None, "failed", answer=text, error="the item has no gold answers")
    if answers.matches(text, gold):
        return Reading(scale.max, "ok", answer=text)
    reading = _answer(text, scale, None)
    return Reading(scale.min, reading.status, answer=text)


def _labels(text: str, scale: Scale, _gold: object) -> Reading:
    """A list of one label, or the label alone. Longer lists are read where they were asked for."""
    (reading,) = read_labels(text, scale, 1)
    return reading


LABELS = "labels"  # reads replies to prompts about several items
PARSERS: dict[str, Parser] = {
    "strict": Parser(_strict, _ON_A_SCALE),
    "lenient": Parser(_lenient, _GRADED),
    "final_score": Parser(_final_score, _GRADED),
    "paper": Parser(_paper, _GRADED),
    "answer": Parser(_answer, _EXTRACTED, reads_words=False),
    LABELS: Parser(_labels, frozenset({*_LISTED, "importance"})),
    "answer_key": Parser(_answer_key, _EXTRACTED, needs_gold=True, reads_words=False, version=3),
    "lenient_answer_key": Parser(
        _lenient_answer_key, _EXTRACTED, needs_gold=True, reads_words=False
    ),
}


def parsers_of(target: str, of_several: bool) -> list[str]:
    """Names of those that can read replies to prompts with this target; `of_several`: that ask
    about several items at once."""
    return [
        name
        for name, parser in PARSERS.items()
        if target in parser.targets and (name == LABELS) == of_several
    ]
