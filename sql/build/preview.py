"""The lake as the next build would leave it, in memory: the same models, and nothing is written."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradelake.sql.build import building, changes, seeds
from gradelake.sql.build.plan import TEST, BuildPlan, plan
from gradelake.sql.build.runner import Runner, Standing, standing
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import NAME, SCHEMAS, attach
from gradelake.sql.lake.opening import Lake

BEFORE, BUILT = "before", "built"  # the lake as it is, and as the last build left it


@dataclass(frozen=True)
class Preview:
    """`lake` is as after the build. Beside it stand the catalogs `before` and, where there was a
    build, `built`; `release` is that build's."""

    lake: Lake
    release: str | None


@contextmanager
def previewed(
    project: Project, wanted: Sequence[str], instead: Mapping[str, bytes] | None = None
) -> Iterator[Preview]:
    """Make what changed and what the `wanted` models read, over the lake as it is.

    It is made in a database in memory that is called as the lake is: what is not made anew there
    reads the lake, at one snapshot, without a lock. `instead` has files that take the place of
    seeds, by name. Raises what a build raises.
    """
    with tempfile.TemporaryDirectory(prefix="gradelake-preview-") as folder:
        gathered = seeds.gather(project, Path(folder, "seeds"), instead)
        with Lake.live(project) as lake:
            snapshot = lake.newest_snapshot()
            found = changes.pending(lake, instead)
            last, changed = found.last, found.changed
            lake.connection.execute(f"detach {NAME}")
            attach(lake.connection, project, read_only=True, snapshot=snapshot, name=BEFORE)
            if last:
                attach(lake.connection, project, read_only=True, snapshot=last.snapshot, name=BUILT)
            models = plan(found.made_from["definitions"])
            there = _lay_over(lake, snapshot, raw_only=changed is None)
            runner = Runner(lake, models, there, whole=changed is None)
            runner.run(_to_make(models, changed, wanted), gathered)
            yield Preview(lake, last.release if last else None)


def _to_make(models: BuildPlan, changed: list[str] | None, wanted: Sequence[str]) -> set[str]:
    """What `wanted` models read of what changed, the wanted ones among them; and all views, which
    read what is in memory."""
    made, views = models.above(models.ids(wanted)), set[str]()
    if changed is not None:
        made &= models.below(building.source_or_seed(models, changed))
        views = {node.id for node in models.nodes.values() if node.kind == "view"}
    return {each for each in made if models.nodes[each].kind not in (TEST, "snapshot")} | views


def _lay_over(lake: Lake, snapshot: int, raw_only: bool) -> Standing:
    """Make a database in memory in which the lake's tables can be read, or made anew."""
    execute = lake.connection.execute
    execute(f"attach ':memory:' as {NAME}")
    execute("begin")  # DuckLake reads its catalog once in a transaction
    for schema in ("raw", *SCHEMAS):
        execute(f"create schema {NAME}.{schema}")
    made: Standing = {(schema, ""): "schema" for schema in SCHEMAS}
    for (schema, table), kind in standing(lake, snapshot, BEFORE).items():
        if kind == "table" and (schema == "raw" or not raw_only):
            execute(f'create view {NAME}.{schema}."{table}" as from {BEFORE}.{schema}."{table}"')
            made[schema, table] = "view"
    execute("commit")
    execute("begin")  # what is made, and all that is read after it
    return made
