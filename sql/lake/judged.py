"""People's judgments: how they are written, and how the ledger knows that people gave them."""

from typing import TYPE_CHECKING

from gradelake.sql.common.errors import BadInput

if TYPE_CHECKING:
    import polars as pl

    from gradelake.sql.lake.transaction import Transaction


def assessor_mark(collection: str, assessor: str) -> str:
    """Ledger entry of all that writes an assessor's judgments."""
    return f"{collection}/judgments/{assessor}"


def imported_mark(collection: str, assessor: str, file: str = "") -> str:
    """Ledger entry saying that an assessor's judgments, or those of a file, are a person's own."""
    return f"{collection}/judged/{assessor}/{file}"


def other_marks(
    transaction: "Transaction", collection: str, assessor: str, target: str = ""
) -> list[str]:
    """Ledger entries of the assessor's samples and files, but `target`."""
    all_files = imported_mark(collection, assessor)
    return [
        entry
        for entry in transaction.ledger
        if entry.startswith(all_files) and entry not in (all_files, target)
    ]


def refuse_if_from_elsewhere(transaction: "Transaction", collection: str, assessor: str) -> None:
    """An assessor of gradelake.toml, or of imported grades, is not mixed with people's own.
    Raises `BadInput`."""
    there = transaction.recorded(assessor_mark(collection, assessor))
    if there and there != transaction.recorded(imported_mark(collection, assessor)):
        raise BadInput(
            f"the lake has judgments of assessor {assessor!r} from another source",
            "Choose another name with --assessor.",
        )


def mark_as_own(transaction: "Transaction", collection: str, assessor: str) -> None:
    """Note that an assessor's judgments are a person's own, before they have any. Raises
    `BadInput` where they are from elsewhere."""
    refuse_if_from_elsewhere(transaction, collection, assessor)
    if not transaction.recorded(assessor_mark(collection, assessor)):
        for mark in (assessor_mark(collection, assessor), imported_mark(collection, assessor)):
            transaction.record(mark, "queue", 0)


def forget_files(
    transaction: "Transaction", collection: str, assessor: str, target: str = ""
) -> None:
    """Let the assessor's files, but `target`, come in again: they may have been overruled."""
    for mark in other_marks(transaction, collection, assessor, target):
        if transaction.recorded(mark):
            transaction.record(mark, "", 0)


def put_judgments(transaction: "Transaction", rows: "pl.DataFrame") -> int:
    """Write judgments, each in the place of the assessor's former one of the pair. Returns how
    many were written.

    `rows`: collection, assessor, query_id, passage_id, relevance; null takes a judgment back.
    """
    import polars as pl

    with transaction.lake.registered("given", rows):
        transaction.delete_keys_of("given", "judgments")
    columns = ("collection", "assessor", "query_id", "passage_id", "relevance")
    judged = rows.filter(pl.col("relevance").is_not_null())
    return transaction.insert("judgments", judged.select(columns))
