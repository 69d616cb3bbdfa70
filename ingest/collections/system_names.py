"""Systems that the lake has: listed, removed, given another name."""

from typing import Any

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_RANK, Project, check_name, did_you_mean
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction

# the raw tables that name a system
OF_SYSTEMS = ("systems", "run_entries", "retrievals", "answers", "sentences", "citations")
_NAMED = (*OF_SYSTEMS, "official_ranks", "system_groups", "imported_scores")
_LIST = """
    select system, kind, source_file, n_rows, ingested_at
    from lake.raw.systems
    where collection = ?
    order by system
"""


def target_of(collection: str, system: str) -> str:
    """What the ledger calls the run of a system."""
    return f"{collection}/systems/{system}"


def log_of(collection: str, system: str) -> str:
    """What the ledger calls the RAG log of a system."""
    return f"{collection}/rag/{system}"


def generated_of(collection: str, system: str) -> str:
    """What the ledger calls a system that is written here."""
    return f"{collection}/generated/{system}"


def made_by(transaction: Transaction, collection: str) -> dict[str, str]:
    """The systems of a collection that no file of gradelake.toml brings, and what did."""
    commands = {log_of: "gradelake import rag", generated_of: "gradelake generate answers"}
    return {
        target.removeprefix(name(collection, "")): command
        for name, command in commands.items()
        for target in transaction.ledger
        if target.startswith(name(collection, ""))
    }


_TARGETS = (target_of, log_of, generated_of)


def list_systems(lake: Lake, collection: str) -> list[dict[str, Any]]:
    """What the lake has of each system. Raises `BadInput` for an unknown collection."""
    lake.require_collection(collection)
    return lake.objects(_LIST, collection)


def remove_systems(
    project: Project, collection: str, systems: list[str], arguments: list[str]
) -> dict[str, Any]:
    """Take systems out of the working catalog, in one commit; releases keep what they have, and
    grades of passages stay. Raises `BadInput` for one that the lake does not have, but for those
    that just this command has removed."""
    with Lake.writer(project) as lake, lake.transaction("system", collection) as transaction:
        if lake.has_done(arguments) and not {*systems} & {*_systems(lake, collection)}:
            return {"collection": collection, "removed": [], "files": []}
        files = [_file_of(lake, collection, system) for system in systems]
        for table in OF_SYSTEMS:
            transaction.delete(table, collection=collection, system=systems)
        _remove_scores(transaction, collection, systems)
        for system in systems:
            for name in _TARGETS:
                transaction.forget(name(collection, system))
        transaction.say(systems_removed=len(systems))
        transaction.finish_run(arguments)
    return {"collection": collection, "removed": systems, "files": files}


def _remove_scores(transaction: Transaction, collection: str, systems: list[str]) -> None:
    """Take out what was scored elsewhere of these systems' answers; means stay on their boards. A
    file that brought some is another one from now on."""
    of_queries = "collection = ? and system in (select unnest(?)) and query_id is not null"
    boards = transaction.lake.column(
        f"select distinct board from lake.raw.imported_scores where {of_queries}",
        collection,
        systems,
    )
    for board in boards:
        transaction.forget(f"{collection}/scores/{board}")
    if boards:
        transaction.run(
            f"delete from {{lake}}.raw.imported_scores where {of_queries}", collection, systems
        )


def rename_system(
    project: Project, collection: str, old: str, new: str, arguments: list[str]
) -> dict[str, Any]:
    """Give a system another name in the working catalog; releases keep the one they have.

    Raises `BadInput` for a system that the lake does not have, and a name that cannot be used or
    is another's.
    """
    check_name(new, "the new name")
    with Lake.writer(project) as lake, lake.transaction("system", collection) as transaction:
        known = _systems(lake, collection)
        if new in known and old not in known and lake.has_done(arguments):
            file = _file_of(lake, collection, new)
            return {"collection": collection, "system": old, "renamed": new, "file": file}
        file = _file_of(lake, collection, old)
        if new in known:
            raise BadInput(f"{collection} has a system {new!r} already", "Choose another name.")
        for table in _NAMED:
            transaction.run(
                f"update {{lake}}.raw.{table} set system = ? where collection = ? and system = ?",
                new,
                collection,
                old,
            )
        _take_over(transaction, collection, old, new)
        transaction.say(systems_renamed=1)
        transaction.finish_run(arguments)
    return {"collection": collection, "system": old, "renamed": new, "file": file}


def _take_over(transaction: Transaction, collection: str, old: str, new: str) -> None:
    """The ledger's entry of a run or a log, so that its file under the new name is no new one."""
    for name in _TARGETS:
        target = name(collection, old)
        if sha256 := transaction.recorded(target):
            query = "select n_rows from lake.raw.ledger where target = ?"
            n_rows = transaction.lake.value(query, target)
            transaction.record(name(collection, new), sha256, n_rows)
            transaction.forget(target)


def _systems(lake: Lake, collection: str) -> list[str]:
    lake.require_collection(collection)
    return lake.column("select system from lake.raw.systems where collection = ?", collection)


def _file_of(lake: Lake, collection: str, system: str) -> str:
    """Where a system came from. Raises `BadInput` where the lake does not have it."""
    known = _systems(lake, collection)
    if system not in known:
        raise BadInput(
            f"{collection} has no system {system!r}", did_you_mean(system, known, TO_RANK)
        )
    return lake.value(
        "select source_file from lake.raw.systems where collection = ? and system = ?",
        collection,
        system,
    )
