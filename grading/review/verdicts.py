"""How a verdict gets into the lake: each in a commit of its own, as soon as it is given.

A commit of a row takes some 30 ms and makes no file: DuckLake keeps few rows in its catalog, and
`gradelake lake tidy` writes them out when there are thousands. So nothing has to be gathered
outside the lake, and a killed session loses the card in work at most.
"""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradelake.grading.review.cards import Card, Reviewed, Wish
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.judged import forget_files, put_judgments
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.rows import contract, types_of

if TYPE_CHECKING:
    import polars as pl

    from gradelake.sql.lake.lake import Lake
    from gradelake.sql.lake.transaction import Transaction

_IN_CATALOG = 1_000  # rows of a commit that make no file; what a server commits at once is fewer


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
        row = {
            "collection": self.wish.collection,
            "grader_id": self.wish.grader.grader_id,
            "query_id": card.query_id,
            "passage_id": card.passage_id,
            "item_id": card.item_id,
            "passage_sha256": card.passage_sha256,
            "query_sha256": card.query_sha256,
            "assessor": self.wish.assessor,
            "grade": card.grade,
            "reviewed_at": utc_now(),
        }
        said = vars(reviewed) if reviewed else {"verdict": None}
        with self.lake.transaction("review", self._what) as transaction:
            transaction.extra |= {"invocation_id": self.session}
            put_rows(transaction, [row | said])
            transaction.say(**{"reviews" if reviewed else "reviews_taken_back": 1})
        self.n_written += 1

    def close(self, arguments: list[str], n_reviewed: int) -> None:
        """Add the session to `raw.pipeline_runs` and to the log; one that wrote nothing is not."""
        if self.n_written:
            with self.lake.transaction("review", self._what) as transaction:
                transaction.extra |= {"invocation_id": self.session}
                transaction.say(reviews=n_reviewed)
                transaction.finish_run(arguments)


def put_rows(transaction: "Transaction", rows: Sequence[dict[str, Any]]) -> int:
    """Write reviews, each in the place of what its assessor said of the grade; one without a
    verdict takes that back. Of several on a grade the last one counts, and what was said blind
    first: later the grader's grade had been seen. What the lake has that is newer stays. One
    without an item is a judgment of the pair, too. Returns how many were written.

    `rows`: those of raw.grade_reviews, oldest first; columns that may be null may be left out.
    """
    import polars as pl

    if not rows:
        return 0
    types = types_of("grade_reviews", *contract("grade_reviews").columns)
    key = KEYS["grade_reviews"]

    def keys(row: dict[str, Any]) -> tuple:
        return tuple(row[column] for column in key)

    given = pl.DataFrame(list(map(keys, rows)), {each: types[each] for each in key}, orient="row")
    same = " and ".join(f"reviews.{each} is not distinct from given.{each}" for each in key)
    connection = transaction.lake.connection
    connection.execute(f"set ducklake_default_data_inlining_row_limit = {_IN_CATALOG}")
    connection.register("given", given.unique())
    try:
        there = transaction.lake.objects(
            f"select reviews.* from lake.raw.grade_reviews as reviews inner join given on {same}"
        )
    finally:
        connection.unregister("given")
    standing, said = {keys(row): row for row in there}, {}
    for row in rows:
        before = standing.get(keys(row))
        if before and before["reviewed_at"] > row["reviewed_at"]:
            continue
        if before and before["verdict"] and before["grade"] == row["grade"]:
            row = row | {"blind_grade": before.get("blind_grade")}
        standing[keys(row)] = said[keys(row)] = row
    frame = pl.DataFrame(
        [{column: row.get(column) for column in types} for row in said.values()], schema=types
    )
    connection.register("given", frame)
    try:
        transaction.run(
            f"delete from {{lake}}.raw.grade_reviews as reviews using given where {same}"
        )
    finally:
        connection.unregister("given")
    _put_judgments(transaction, frame.filter(pl.col("item_id") == ""))
    return transaction.insert("grade_reviews", frame.filter(pl.col("verdict").is_not_null()))


def _put_judgments(transaction: "Transaction", reviews: "pl.DataFrame") -> None:
    import polars as pl

    if reviews.is_empty():
        return
    said = pl.when(pl.col("verdict") == "agree").then("grade").otherwise("own_grade")
    put_judgments(transaction, reviews.with_columns(relevance=said))
    for of_one in reviews.select("collection", "assessor").unique().iter_rows():
        forget_files(transaction, *of_one)
