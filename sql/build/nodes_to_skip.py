"""What a build need not run again: what is as the last build left it."""

import hashlib
import json
from pathlib import Path

from gradelake.sql.lake.lake import Lake

_FOLDERS = ("macros", "models", "snapshots", "tests")
# keys of views follow from the keys of the tables below them: `make test` runs these, not a build
TESTS_OF_VIEWS = "config.materialized:view+1,test_type:generic"


def fingerprint(dbt_project: Path, seeds: Path) -> dict[str, str]:
    """Hashes of what a build is made from: every definition together, and each seed."""
    definitions = hashlib.sha256()
    files = [dbt_project / "dbt_project.yml"]
    for folder in _FOLDERS:
        files += sorted(file for file in (dbt_project / folder).rglob("*") if file.is_file())
    for file in files:
        definitions.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    hashes = {"definitions": definitions.hexdigest()}
    for seed in sorted(seeds.glob("*.csv")):
        hashes[seed.stem] = hashlib.sha256(seed.read_bytes()).hexdigest()
    return hashes


def forget_parts(lake: Lake) -> None:
    """Let dbt compute every part of every table anew (dbt_project/macros/parts.sql).

    A build of some models alone may have made a part from an older table above it.
    """
    tables = lake.value(
        "select count(*) from duckdb_tables() where database_name = 'lake' "
        "and schema_name = 'intermediate' and table_name = 'built_parts'"
    )
    if tables:
        with lake.transaction("build") as transaction:
            transaction.run("update {lake}.intermediate.built_parts set inputs = null")
            parts = lake.value("select count(*) from lake.intermediate.built_parts")
            transaction.say(parts_to_compute_anew=parts)


def nodes(lake: Lake, now: dict[str, str]) -> list[str]:
    """dbt's selectors of what is unchanged; none when that is not certain.

    Certain it is when the last build ended, was made from the same definitions, and dbt has
    written nothing since (a build that failed or was killed, or a part of the models).
    """
    last = last_build(lake)
    if last is None:
        return []
    snapshot, before = last
    if changed_since(lake, snapshot) or before.get("definitions") != now["definitions"]:
        return []
    unchanged = ["config.materialized:view"]
    if before.get("rubric_edits") == now.get("rubric_edits"):
        unchanged.append("rubric_history")  # a snapshot takes dbt long though nothing changed
    return unchanged


def last_build(lake: Lake) -> tuple[int, dict[str, str]] | None:
    """Snapshot that ended the last whole build, and the hashes of what it was made from."""
    rows = lake.rows(
        """
        select snapshot_id, json_extract(commit_extra_info, '$.made_from')
        from lake.snapshots()
        where json_extract(commit_extra_info, '$.made_from') is not null
        order by snapshot_id desc
        limit 1
        """
    )
    return (rows[0][0], json.loads(rows[0][1])) if rows else None


def changed_since(lake: Lake, snapshot: int) -> int | None:
    """The newest snapshot after this one in which dbt may have written, or a migration dropped
    views."""
    return lake.value(
        """
        select max(snapshot_id)
        from lake.snapshots()
        where
            snapshot_id > ?
            and (
                json_extract_string(commit_extra_info, '$.kind') in ('build', 'migration')
                or json_extract_string(commit_extra_info, '$.kind') is null
            )
        """,
        snapshot,
    )
