"""What an answer makes of the review that stands: one rule for terminal and server.

REVISING.md beside this file says why it is as it is.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # and what no terminal should be sent


class ReviewKey(NamedTuple):
    """Which grade somebody reviews: the key of raw.grade_reviews."""

    grader_id: str
    collection: str
    query_id: str
    passage_id: str
    item_id: str
    passage_sha256: str | None
    query_sha256: str | None
    assessor: str


@dataclass(frozen=True)
class Review:
    """What somebody thinks of a grader's `grade`; `own_grade` is theirs where they disagree."""

    grade: int
    verdict: str  # agree, disagree
    own_grade: int | None = None
    note: str | None = None
    blind_grade: int | None = None  # theirs before the grader's was shown
    seconds: float | None = None  # spent on the card until they answered
    settles: bool | None = None  # what others differ on
    reviewed_at: datetime | None = None  # None: nobody knows

    @property
    def opinion(self) -> int | None:
        """What the grade should be; None where they only disagree."""
        return self.grade if self.verdict == "agree" else self.own_grade

    def answers(self, answer: "ReviewAnswer") -> bool:
        """Whether an answer says what this says: only times may differ, and what was blind."""
        mine = self.grade, self.opinion, self.note, bool(self.settles)
        note = _one_line(answer.note)
        return mine == (answer.grade, answer.opinion, note, bool(answer.settles))


@dataclass(frozen=True)
class ReviewAnswer:
    """What somebody answers to a card with a grader's `grade`.

    `opinion`: what the grade should be; None: it is wrong, and that is all. `at` None: now.
    """

    grade: int
    opinion: int | None
    note: str | None = None
    seconds: float | None = None
    is_blind: bool = False  # the grader's grade was not shown before
    settles: bool = False
    at: datetime | None = None


@dataclass(frozen=True)
class Undo:
    """Taking an answer back: `before` stands again. `grade` None: nothing had graded the card."""

    grade: int | None
    is_blind: bool = False  # in a review that shows the grader's grade after each answer
    before: Review | None = None
    at: datetime | None = None


def revise(standing: Review | None, answer: ReviewAnswer | Undo, now: datetime) -> Review | None:
    """The review that stands after an answer; `standing` itself where that changes nothing."""
    same_grade = standing is not None and standing.grade == answer.grade
    if isinstance(answer, Undo):
        if _is_older(answer.at, standing):
            return standing
        has_seen = answer.is_blind or (same_grade and standing and standing.blind_grade is not None)
        return standing if has_seen and not answer.before else answer.before
    if standing and (standing.answers(answer) or _is_older(answer.at, standing)):
        return standing
    stood = standing if same_grade else None
    agrees = answer.opinion == answer.grade
    first = answer.opinion if answer.is_blind else None
    looks_again = stood is not None and stood.blind_grade is not None and not answer.is_blind
    return Review(
        grade=answer.grade,
        verdict="agree" if agrees else "disagree",
        own_grade=None if agrees else answer.opinion,
        note=_one_line(answer.note),
        blind_grade=stood.blind_grade if stood else first,
        seconds=stood.seconds if stood and looks_again else answer.seconds,
        settles=answer.settles or None,
        reviewed_at=answer.at or now,
    )


def _one_line(note: str | None) -> str | None:
    return _BLANKS.sub(" ", note or "").strip() or None


def _is_older(at: datetime | None, standing: Review | None) -> bool:
    """Whether an answer was given before what stands. One without a time arrives now."""
    known = standing.reviewed_at if standing else None
    return at is not None and known is not None and known > at
