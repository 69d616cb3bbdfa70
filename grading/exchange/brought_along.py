"""What a graded file holds beside grades: judgments and rankings, taken in when asked for."""

import hashlib

import polars as pl

from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench import once
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import is_name
from gradelake.sql.lake.transaction import utc_now


def write_judgments(into: FileImport, found: pl.DataFrame) -> None:
    """Put a file's judgments, as one assessor's, in the place of those that it brought before.

    Raises `BadInput` when that assessor's judgments came from elsewhere.
    """
    assessor, seen, transaction = into.choices.assessor, into.done.seen, into.transaction
    if not assessor:
        seen["judgments_left_out"] = found.height
    if not assessor or found.is_empty():
        return
    target = f"{into.collection}/judgments/{assessor}"
    mark = f"{into.target}/judgments/{assessor}"  # says that the assessor's are this file's
    recorded = transaction.recorded(target)
    if recorded and recorded != transaction.recorded(mark):
        raise BadInput(
            f"the lake has judgments of assessor {assessor!r} from another source",
            "Choose another name with --assessor, or leave it out.",
        )
    # files of our own name the assessor of each
    theirs = found.filter(pl.col("assessor").is_null() | (pl.col("assessor") == assessor))
    seen["judgments_of_others"] = found.height - theirs.height
    highest_first = theirs.sort("relevance", descending=True, maintain_order=True)
    kept = once(highest_first, ["query_id", "passage_id"])
    seen["judgments_contradicting"] = theirs.height - kept.height
    if kept.is_empty():
        return
    if recorded:
        transaction.delete("judgments", collection=into.collection, assessor=assessor)
    n_rows = into.insert("judgments", kept, assessor=assessor)
    sha256 = hashlib.sha256(f"{into.target} {into.file_sha256}".encode()).hexdigest()
    transaction.record(target, sha256, n_rows)
    transaction.record(mark, sha256, n_rows)


def write_rankings(into: FileImport, found: pl.DataFrame) -> None:
    """Add a file's rankings as systems, unless the lake has them from elsewhere; those that the
    file brought before are replaced."""
    seen, transaction = into.done.seen, into.transaction
    if not into.choices.systems:
        seen["rankings_left_out"] = found.height
        return
    # the exporter knows by it that the ranks of these systems have gaps
    source = into.target.removeprefix(f"{into.collection}/grades/")
    rows = into.lake.rows(
        "select system, source_file from lake.raw.systems where collection = ?", into.collection
    )
    ours = {system for system, source_file in rows if source_file == source}
    known = {system for system, _ in rows} - ours
    systems = set(found["system"])
    unusable = {system for system in systems if not is_name(system)}
    seen["systems_in_lake_already"] = len(known & systems)
    seen["systems_with_unusable_names"] = len(unusable)
    for table in ("systems", "run_entries"):
        transaction.delete(table, collection=into.collection, system=sorted(ours))
    for system in ours:
        transaction.forget(f"{into.collection}/systems/{system}")
    entries = found.filter(pl.col("system").is_in(sorted(systems - known - unusable)))
    if entries.is_empty():
        return
    sizes = entries.group_by("system").agg(pl.len().cast(pl.Int64).alias("n_rows"))
    into.insert(
        "systems",
        sizes,
        kind="ranking",
        source_file=source,
        file_sha256=into.file_sha256,
        ingested_at=utc_now(),
    )
    into.insert("run_entries", entries)
    for system, n_rows in sizes.iter_rows():
        transaction.record(f"{into.collection}/systems/{system}", into.file_sha256, n_rows)
