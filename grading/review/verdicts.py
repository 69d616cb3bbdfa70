"""How answers get into the lake: from a terminal one by one, from a server together.

A commit of a row takes some 30 ms and makes no file: DuckLake keeps few rows in its catalog, and
`gradelake lake tidy` writes them out when there are thousands. So nothing has to be gathered
outside the lake, and a killed session loses the card in work at most.
"""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import polars as pl

from gradelake.grading.review.cards import Assignment, Card
from gradelake.grading.review.revise import Review, ReviewAnswer, ReviewKey, Undo, revise
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.judged import forget_files, put_judgments
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of, types_of
from gradelake.sql.lake.transaction import Transaction

_IN_CATALOG = 1_000  # rows of a commit that make no file; what a server commits at once is fewer


class Change(NamedTuple):
    """The reviews that stood before and after an answer; the same object where nothing changed."""

    before: Review | None
    after: Review | None

    @property
    def is_one(self) -> bool:
        """Whether the answer changed anything."""
        return self.after is not self.before


class Verdicts:
    """An assessor's answers on one grader's grades, written to an open `Lake`."""

    def __init__(self, lake: Lake, assignment: Assignment):
        self.lake = lake
        self.assignment = assignment
        self._what = f"{assignment.collection} {assignment.grader.name} {assignment.assessor}"
        # `gradelake log` shows the last commit of a session
        self.session = uuid.uuid4().hex
        self.n_written = 0

    def put(self, card: Card, answer: ReviewAnswer | Undo) -> Review | None:
        """Commit what an answer changes, and return the review that stands then.

        Waits while another process writes, and says for whom.
        """
        about = self.assignment
        key = card.key(about.collection, about.grader.grader_id, about.assessor)
        with self.lake.transaction("review", self._what) as transaction:
            transaction.extra |= {"invocation_id": self.session}
            (change,) = put_answers(transaction, [(key, answer)])
            if change.is_one:
                transaction.say(**{"reviews" if change.after else "reviews_taken_back": 1})
                self.n_written += 1
        return change.after

    def close(self, arguments: list[str], n_reviewed: int) -> None:
        """Add the session to `raw.pipeline_runs` and to the log; one that wrote nothing is not."""
        if self.n_written:
            with self.lake.transaction("review", self._what) as transaction:
                transaction.extra |= {"invocation_id": self.session}
                transaction.say(reviews=n_reviewed)
                transaction.finish_run(arguments)


def put_answers(
    transaction: Transaction, answers: Iterable[tuple[ReviewKey, ReviewAnswer | Undo]]
) -> list[Change]:
    """Write what answers, in the order in which they arrived, change; returns that of each.

    Those to cards without an item are judgments of the pair, too.
    """
    answers, now = list(answers), utc_now()
    if not answers:
        return []
    found = _standing(transaction, {key for key, _ in answers})
    stands, changes = dict(found), []
    for key, answer in answers:
        change = Change(stands.get(key), revise(stands.get(key), answer, now))
        changes.append(change)
        stands[key] = change.after
    changed = {key: now for key, now in stands.items() if now is not found.get(key)}
    if changed:
        _replace(transaction, changed)
    return changes


@contextmanager
def _keyed(transaction: Transaction, keys: Iterable[ReviewKey]) -> Iterator[str]:
    """Make a table `keys`; yields what `reviews` of one of them fulfil."""
    columns = ReviewKey._fields
    with transaction.lake.registered("keys", frame_of("grade_reviews", columns, keys)):
        yield " and ".join(f"reviews.{each} is not distinct from keys.{each}" for each in columns)


def _standing(transaction: Transaction, keys: set[ReviewKey]) -> dict[ReviewKey, Review | None]:
    transaction.lake.connection.execute(
        f"set ducklake_default_data_inlining_row_limit = {_IN_CATALOG}"
    )
    with _keyed(transaction, keys) as same:
        rows = transaction.lake.objects(
            f"select reviews.* from lake.raw.grade_reviews as reviews inner join keys on {same}"
        )
    return {
        ReviewKey(*(row.pop(each) for each in ReviewKey._fields)): Review(
            **{name: row[name] for name in Review.__dataclass_fields__}
        )
        for row in rows
    }


def _replace(transaction: Transaction, changed: dict[ReviewKey, Review | None]) -> None:
    with _keyed(transaction, changed) as same:
        transaction.run(
            f"delete from {{lake}}.raw.grade_reviews as reviews using keys where {same}"
        )
    types = types_of("grade_reviews")
    rows = [key._asdict() | vars(review) for key, review in changed.items() if review]
    transaction.insert("grade_reviews", pl.DataFrame(rows, schema=types))
    judged = [
        key._asdict() | {"relevance": review and review.opinion}
        for key, review in changed.items()
        if not key.item_id
    ]
    if judged:
        put_judgments(transaction, pl.DataFrame(judged, schema_overrides={"relevance": pl.Int64}))
        for collection, assessor in {(key["collection"], key["assessor"]) for key in judged}:
            forget_files(transaction, collection, assessor)
