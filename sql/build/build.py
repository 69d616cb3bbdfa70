"""`gradelake build`: dbt on the lake, then the end marker, then a release for readers."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from gradelake.sql.build import nodes_to_skip, parsed, seeds
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.interrupts import held, is_interruption, n_interrupted
from gradelake.sql.common.project import Project, is_name
from gradelake.sql.lake.lake import Lake
from gradelake.sql.lake.transaction import author
from gradelake.sql.releases import releases

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult

DBT_PROJECT = Path(__file__).resolve().parents[2] / "dbt_project"
SEED = "seed_file"  # how models are materialized that hold what people keep
# dbt's arguments after which a build still covers every model and data test; after any other it
# may not, and is not published
_WHOLE = {"--full-refresh", "--fail-fast", "-x", "--no-partial-parse"}


@dataclass
class Built:
    """What a build did: finished nodes by kind, and the release it published (None: partial)."""

    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    seconds_by_node: dict[str, float] = field(default_factory=dict)  # by model, seed and test
    release: str | None = None
    snapshot: int | None = None

    def as_object(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "release": self.release,
            "snapshot": self.snapshot,
            "seconds": round(self.seconds, 3),
            **self.counts,
            "seconds_by_node": self.seconds_by_node,
        }


def build(
    project: Project,
    dbt_arguments: list[str],
    arguments: list[str],
    name: str | None = None,
    on_node: Callable[[str, str, float], None] = lambda name, status, seconds: None,
    verbose: bool = False,
) -> Built:
    """Run `dbt build` under the writer's lock; publish the result as a release.

    `on_node(name, status, seconds)` is called as each model, seed and test finishes. Unit tests
    check the models, not the data: `make test` runs them, a build does not. Raises `WorkFailed`
    with dbt's own words when a model or a data test fails, and `BadInput` naming the rows when a
    seed is wrong: readers then keep the last release.
    """
    if name is not None and not is_name(name):
        raise BadInput(
            f"{name!r} cannot be a release's name", "Use letters, digits and . _ + = @ -"
        )
    built, started = Built(), time.monotonic()
    with Lake.writer(project) as lake, lake.lock("gradelake build"):
        name = name or releases.next_name(lake.connection)
        if name in [release.name for release in releases.listed(lake.connection)]:
            raise BadInput(f"there is already a release {name!r}", "Choose another --name.")
        partial = not _WHOLE.issuperset(dbt_arguments)
        gathered = seeds.gather(project)
        made_from = nodes_to_skip.fingerprint(DBT_PROJECT, gathered)
        if not partial:
            anew = "--full-refresh" in dbt_arguments
            left_out = [] if anew else nodes_to_skip.nodes(lake, made_from)
            if not left_out:
                nodes_to_skip.forget_parts(lake)
            # `empty`: tests of what is left out run all the same, because rows may have changed
            dbt_arguments = [
                *dbt_arguments,
                "--exclude",
                nodes_to_skip.TESTS_OF_VIEWS,
                *left_out,
                "--indirect-selection",
                "empty",
            ]
        shared = parsed.Shared(DBT_PROJECT, made_from["definitions"], dbt_arguments)
        with environment(project):
            target = Path(os.environ["DBT_TARGET_PATH"])
            shared.lend(target)
            _run_dbt(lake, dbt_arguments, built, on_node, verbose)
            shared.keep(target)
        with lake.transaction("build") as transaction:
            transaction.say(**built.counts)
            if not partial:
                transaction.extra |= {"release": name, "made_from": made_from}
                built.release = name
            transaction.finish_run(arguments)
        built.snapshot = lake.newest_snapshot()
        if not partial:
            releases.publish(project, name)
    built.seconds = time.monotonic() - started
    return built


def _run_dbt(lake, dbt_arguments, built, on_node, verbose) -> None:
    """dbt in this process: its start-up is most of a small build, so it is not paid twice."""
    from gradelake.sql.build import dbt_plugin

    failures: list[str] = []

    def on_event(event) -> None:
        if event.info.name != "NodeFinished":
            return
        node = event.data.node_info
        seconds = event.data.run_result.execution_time
        status = str(node.node_status)
        taken = built.seconds_by_node
        taken[node.node_name] = taken.get(node.node_name, 0) + seconds
        if node.materialized == SEED:
            kind = "seeds"
        else:
            kind = "data_tests" if node.resource_type == "test" else "models"
        if status in ("success", "pass"):
            built.counts[kind] = built.counts.get(kind, 0) + 1
        elif status != "skipped":
            failures.append(f"{node.node_name}: {event.data.run_result.message}")
        on_node(node.node_name, status, seconds)

    here = str(DBT_PROJECT)
    command = [
        "--log-level",
        "info" if verbose else "none",
        "--log-level-file",
        "none",
        "build",
        "--project-dir",
        here,
        "--profiles-dir",
        here,
        "--exclude-resource-type",
        "unit_test",
        "--exclude-resource-type",
        "exposure",
        "--no-write-json",
        *dbt_arguments,
    ]
    try:
        result = invoke_dbt(command, on_event)
    finally:
        dbt_plugin.release()
        close_adapters()
    if not result.success:
        _refuse_wrong_seeds(lake, result.result)
        words = "\n  ".join(failures) or str(result.exception or "no reason given")
        raise WorkFailed(
            f"dbt could not build the lake; readers keep the last release\n  {words}",
            "Run again with --verbose to see dbt at work.",
        )


def invoke_dbt(command: list[str], on_event: Callable) -> "dbtRunnerResult":
    """Run a dbt command in this process; `on_event` gets what it logs.

    Raises `KeyboardInterrupt` where dbt was interrupted, whatever it made of that.
    """
    from dbt.cli.main import dbtRunner

    with held() as let_go:  # while dbt reads the project, what it uses ignores Ctrl-C or prints it

        def heard(event) -> None:
            if event.info.name == "ConcurrencyLine":  # it begins to run models
                let_go()
            on_event(event)

        before = n_interrupted()
        result = dbtRunner(callbacks=[heard]).invoke(command)
    if n_interrupted() > before or (result.exception and is_interruption(result.exception)):
        raise KeyboardInterrupt
    return result


def _refuse_wrong_seeds(lake: Lake, results) -> None:
    """Raise `BadInput` with the rows for which seeds did not land, if there are any."""
    found = []
    folder = str(seeds.gather(lake.project))
    lake.connection.execute("set variable seeds_folder = ?", [folder])  # as the plug-in does
    for result in results or ():
        if result.status == "error" and result.node.config.materialized == SEED:
            with suppress(duckdb.Error):  # a model that the check reads was not built either
                wrong = lake.rows(f"select bad_row, problem from ({result.node.compiled_code})")
                found += [(f"{result.node.name}.csv", *row) for row in wrong]
    if found:
        from gradelake.sql.common.problems import SHOWN

        lines = [f"{seed}: {row}: {problem}" for seed, row, problem in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"and {len(found) - SHOWN:,} more like these")
        raise BadInput(
            "\n  ".join(lines),
            f"Fix these rows in {seeds.seeds_folder(lake.project)} (row 1 is the one below the "
            "names) and build again; until then nothing of the file counts.",
        )


@contextmanager
def environment(project: Project, **variables: str) -> Iterator[None]:
    """What dbt and its plug-in read from the environment; afterwards it is as before."""
    before = dict(os.environ)
    folder = str(project.lake_path.resolve() / "dbt")
    os.environ["GRADELAKE_CONFIG"] = str(project.file)
    os.environ["GRADELAKE_AUTHOR"] = author()
    os.environ |= variables
    os.environ.setdefault("DBT_TARGET_PATH", folder)
    os.environ.setdefault("DBT_LOG_PATH", folder)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def close_adapters() -> None:
    """Close what dbt opened in this process, or its next run here would find it."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.adapters.factory import reset_adapters

    DuckDBConnectionManager.close_all_connections()
    reset_adapters()
