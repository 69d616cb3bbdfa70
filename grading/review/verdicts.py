"""How a verdict gets into the lake: each in a commit of its own, as soon as it is given.

A commit of a row takes some 30 ms and makes no file: DuckLake keeps so few rows in its catalog,
and `gradelake lake tidy` writes them out when there are thousands. So nothing has to be gathered
outside the lake, and a killed session loses the card in work at most.
"""

import uuid
from typing import TYPE_CHECKING

from gradelake.grading.review.cards import Card, Reviewed, Wish
from gradelake.sql.common.clock import utc_now

if TYPE_CHECKING:
    from gradelake.sql.lake.lake import Lake


class Verdicts:
    """An assessor's verdicts on one grader's grades, written to an open `Lake`."""

    def __init__(self, lake: "Lake", wish: Wish):
        self.lake = lake
        self.wish = wish
        self._what = f"{wish.collection} {wish.grader.name} {wish.assessor}"
        # `gradelake log` shows the last commit of a session
        self.session = uuid.uuid4().hex
        self.n_written = 0

    def put(self, card: Card, reviewed: Reviewed | None) -> None:
        """Commit what the assessor says of a grade, in place of what they said; None takes it back.

        Waits while another process writes, and says for whom.
        """
        import polars as pl

        key = {
            "collection": self.wish.collection,
            "grader_id": self.wish.grader.grader_id,
            "query_id": card.query_id,
            "passage_id": card.passage_id,
            "item_id": card.item_id,
            "passage_sha256": card.passage_sha256,
            "query_sha256": card.query_sha256,
            "assessor": self.wish.assessor,
        }
        same = " and ".join(f"{column} is not distinct from ?" for column in key)
        with self.lake.transaction("review", self._what) as transaction:
            transaction.extra |= {"invocation_id": self.session}
            transaction.run(f"delete from {{lake}}.raw.grade_reviews where {same}", *key.values())
            if reviewed:
                row = key | {"grade": card.grade, **vars(reviewed), "reviewed_at": utc_now()}
                transaction.insert("grade_reviews", pl.DataFrame([row]))
                transaction.say(reviews=1)
            else:
                transaction.say(reviews_taken_back=1)
        self.n_written += 1

    def close(self, arguments: list[str], n_reviewed: int) -> None:
        """Add the session to `raw.pipeline_runs` and to the log; one that wrote nothing is not."""
        if self.n_written:
            with self.lake.transaction("review", self._what) as transaction:
                transaction.extra |= {"invocation_id": self.session}
                transaction.say(reviews=n_reviewed)
                transaction.finish_run(arguments)
