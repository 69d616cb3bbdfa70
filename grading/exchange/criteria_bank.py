"""The rubric that a file of grades per criterion brings: a bank named after its grader."""

import polars as pl

from gradelake.grading.exchange.file_import import FileImport
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput


def write_bank(into: FileImport, items: pl.DataFrame) -> None:
    """Put the criteria, as rubric items, in the place of those that the file brought before.

    Raises `BadInput` when the collection has a rubric of that kind from elsewhere: a rubric is one
    for all graders of its kind, so the criteria would be items that every other grader misses.
    """
    transaction, collection = into.transaction, into.collection
    bank = into.choices.grader or into.choices.name
    mark = f"{collection}/criteria/{bank}"  # says in the ledger that a bank holds criteria
    if items.height:
        _refuse_beside_another_rubric(into, items["kind"][0])
    if bank and transaction.recorded(mark):
        transaction.delete("rubric_items", collection=collection, bank=bank)
        transaction.forget(mark)
    if items.is_empty():
        return
    if into.lake.value(
        "select count(*) from lake.raw.rubric_items where collection = ? and bank = ?",
        collection,
        bank,
    ):
        raise BadInput(
            f"{collection} has a bank {bank!r} from another source",
            "The criteria become a bank named after the grader. Choose another --grader.",
        )
    n_rows = into.insert(
        "rubric_items",
        items,
        bank=bank,
        facet_id="",
        weight=1.0,
        origin="imported",
        created_at=utc_now(),
    )
    transaction.record(mark, into.file_sha256, n_rows)


def _refuse_beside_another_rubric(into: FileImport, kind: str) -> None:
    banks = into.lake.rows(
        "select distinct bank from lake.raw.rubric_items where collection = ? and kind = ? "
        "order by bank",
        into.collection,
        kind,
    )
    foreign = [
        f"the bank {bank!r}"
        for (bank,) in banks
        if not into.transaction.recorded(f"{into.collection}/criteria/{bank}")
    ]
    if not banks:  # then what was graded stands in as the rubric
        graders = into.lake.rows(
            "select distinct name from lake.raw.graders as graders "
            "inner join lake.raw.grades as grades using (grader_id) "
            "where grades.collection = ? and graders.target = ? "
            "and not (graders.engine = 'imported' and graders.prompt = 'criteria') "
            "order by name",
            into.collection,
            kind,
        )
        foreign = [f"what {grader!r} graded" for (grader,) in graders]
    if foreign:
        other = "nugget" if kind == "question" else "question"
        raise BadInput(
            f"{into.collection} has a rubric of {kind}s already: {', '.join(foreign[:3])}",
            "Its graders and these criteria would share one rubric, and each miss the other's "
            f"items. Import the criteria as --kind {other}, into a collection of their own, or "
            "with --name instead of --grader: a judge per criterion.",
        )
