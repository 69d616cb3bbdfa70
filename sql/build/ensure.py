"""Models that a command needs, as new as the raw tables and the seeds: built where they are not."""

from collections.abc import Sequence

import duckdb

from gradelake.sql.build.seeds import edits_are_in
from gradelake.sql.common import console
from gradelake.sql.lake.opening import Lake


def ensure(lake: Lake, models: Sequence[str], seeds: Sequence[str]) -> None:
    """Build views (SCHEMA.NAME) that a lake lacks, or whose seeds are not as people have them.

    Nothing is published. Raises `BadInput` naming the rows where a seed has wrong ones.
    """
    if are_current(lake, models, seeds):
        return
    from gradelake.sql.build.building import build

    is_old = _has(lake, models)
    what = "bringing the lake up to date with its seeds" if is_old else "making the lake's views"
    console.tell(what)
    names = [model.partition(".")[2] for model in models]
    build(lake.project, [], [f"({', '.join(names)})"], only=names)


def are_current(lake: Lake, models: Sequence[str], seeds: Sequence[str]) -> bool:
    """Whether it has them all, with the rows of the seeds that people keep; nothing is written."""
    return _has(lake, models) and edits_are_in(lake, seeds)


def _has(lake: Lake, models: Sequence[str]) -> bool:
    try:
        for model in models:
            lake.connection.execute(f"select * from lake.{model} limit 0")
    except duckdb.Error:
        return False
    return True
