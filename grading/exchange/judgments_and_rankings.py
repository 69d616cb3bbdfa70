"""What a graded file holds beside grades: judgments and rankings, taken in when asked for."""

from gradelake.grading.exchange.file_import import FileImport
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.project import is_name


def write_judgments(into: FileImport) -> None:
    """Put a file's judgments, as one assessor's, in the place of those that it brought before.

    Raises `BadInput` when that assessor's judgments came from elsewhere.
    """
    found = into.staged["judgments"]
    found.keep_first("query_id", "passage_id", "assessor", "relevance")
    assessor, seen, transaction = into.choices.assessor, into.seen, into.transaction
    n_found = found.count()
    if not assessor:
        seen["judgments_left_out"] = n_found
    if not assessor or not n_found:
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
    theirs = "select * from staged_judgments where coalesce(assessor, $1) = $1"
    n_theirs = into.lake.value(f"select count(*) from ({theirs})", assessor)
    seen["judgments_of_others"] = n_found - n_theirs
    if not n_theirs:
        return
    if recorded:
        transaction.delete("judgments", collection=into.collection, assessor=assessor)
    n_rows = into.insert_from(
        "judgments",
        f"select $2 as collection, $1 as assessor, query_id, passage_id, "
        f"max(relevance) as relevance from ({theirs}) group by all order by query_id, passage_id",
        assessor,
        into.collection,
    )
    seen["judgments_contradicting"] = n_theirs - n_rows
    content = text_sha256(f"{into.target} {into.file_sha256}")
    for each in (target, mark):
        transaction.record(each, content, n_rows)


def write_rankings(into: FileImport) -> None:
    """Add a file's rankings as systems, unless the lake has them from elsewhere; those that the
    file brought before are replaced."""
    found, seen, transaction = into.staged["run_entries"], into.seen, into.transaction
    found.keep_first("system", "query_id", "passage_id")
    if not into.choices.systems:
        seen["rankings_left_out"] = found.count()
        return
    # the exporter knows by it that the ranks of these systems have gaps
    source = into.target.removeprefix(f"{into.collection}/grades/")
    rows = into.lake.rows(
        "select system, source_file from lake.raw.systems where collection = ?", into.collection
    )
    ours = {system for system, source_file in rows if source_file == source}
    known = {system for system, _ in rows} - ours
    sizes = into.lake.frame(
        """
        with queries as (
            select system, query_id, count(*) as n from staged_run_entries group by all
        )
        select system, sum(n)::bigint as n_rows, max(n) as cut_at from queries group by system
        """
    )
    systems = set(sizes["system"])
    unusable = {system for system in systems if not is_name(system)}
    seen["systems_in_lake_already"] = len(known & systems)
    seen["systems_with_unusable_names"] = len(unusable)
    for table in ("systems", "run_entries"):
        transaction.delete(table, collection=into.collection, system=sorted(ours))
    for system in ours:
        transaction.forget(f"{into.collection}/systems/{system}")
    new = sorted(systems - known - unusable)
    if not new:
        return
    sizes = sizes.filter(sizes["system"].is_in(new))
    into.insert(
        "systems",
        sizes,
        kind="ranking",
        source_file=source,
        file_sha256=into.file_sha256,
        ingested_at=utc_now(),
    )
    into.insert_from(
        "run_entries",
        "select * exclude (arrival) from staged_run_entries where system in (select unnest(?))",
        new,
    )
    seen["systems_of_graded_passages"] = len(new)
    for system, n_rows, _ in sizes.iter_rows():
        transaction.record(f"{into.collection}/systems/{system}", into.file_sha256, n_rows)
