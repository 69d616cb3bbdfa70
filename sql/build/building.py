"""`gradelake build`: what changed goes through dbt, in one transaction, and becomes a release."""

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from gradelake.sql.build import changes, parsed, seeds
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.interrupts import held, is_interruption, n_interrupted
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.common.project import Project, is_name
from gradelake.sql.lake import hashes
from gradelake.sql.lake.empty_statistics import give_empty_statistics
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import data_files, publishing

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult

SEED = "seed_file"  # how models are materialized that hold what people keep
# dbt's arguments after which a build still covers every model and data test; after any other it
# may not, and is not published
_WHOLE = {"--full-refresh", "--fail-fast", "-x", "--no-partial-parse"}
# of what a lake holds, and what it says: a release with far less of one is likely a mistake
_COUNTED = ("raw.grades", "raw.judgments", "raw.run_entries", "marts.topic_scores")
_VIEWS = "config.materialized:view"  # as they were, while the definitions are
# keys of views follow from the keys of the tables below them: `make test` runs these, not a build
_TESTS_OF_VIEWS = f"{_VIEWS}+1,test_type:generic"


@dataclass
class Built:
    """What a build did: finished nodes by kind, and the release it published (None: partial).

    Where nothing had changed, `release` is the one that was there.
    """

    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    seconds_by_node: dict[str, float] = field(default_factory=dict)  # by model, seed and test
    release: str | None = None
    snapshot: int | None = None
    changed: bool = True

    def as_object(self) -> dict[str, Any]:
        """What `--json` prints."""
        if not self.changed:
            return {"changed": False, "release": self.release}
        return {
            "changed": True,
            "release": self.release,
            "snapshot": self.snapshot,
            "seconds": round(self.seconds, 3),
            **self.counts,
            "seconds_by_node": self.seconds_by_node,
        }


class WrongSeeds(BadInput):
    """Rows of seeds that cannot land; `found` has (file, row, problem) of each."""

    def __init__(self, found: list[tuple[str, str, str]], folder: Path):
        from gradelake.sql.common.problems import SHOWN

        self.found = found
        lines = [f"{seed}: {row}: {problem}" for seed, row, problem in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"and {len(found) - SHOWN:,} more like these")
        super().__init__(
            "\n  ".join(lines),
            f"Fix these rows in {folder} (row 1 is the one below the names) and build again; until "
            "then nothing of the file counts.",
        )


def build(
    project: Project,
    dbt_arguments: list[str],
    arguments: list[str],
    name: str | None = None,
    on_node: Callable[[str, str, float], None] = lambda name, status, seconds: None,
    on_total: Callable[[int], None] = lambda n: None,
    verbose: bool = False,
    at_least: float = 0,
    of_nothing: bool = False,
) -> Built:
    """Run what changed through dbt, under the writer's lock; publish the result as a release.

    `on_total(n)` is called with the number of models, seeds and tests to run, and
    `on_node(name, status, seconds)` as each of them finishes. Unit tests check the models, not the
    data: `make test` runs them, a build does not. All that dbt writes is committed together, with
    the release, or not at all. Raises `WorkFailed` with dbt's own words when a model or a data test
    fails, and `BadInput` naming the rows when a seed is wrong.

    With `at_least`, raises `WorkFailed` as well where the release would have less than this share
    of the grades, judgments, run entries or topic scores of the one that readers have.

    A lake without a collection is refused with `BadInput`, unless `of_nothing`. Where nothing
    changed there is nothing to do, and dbt is not imported; `name` then is a further
    name for the newest release.
    """
    if name is not None and not is_name(name):
        raise BadInput(
            f"{name!r} cannot be a release's name", "Use letters, digits and . _ + = @ -"
        )
    built, started = Built(), time.monotonic()
    with Lake.writer(project) as lake, lake.lock("gradelake build"):
        listed = {release.name: release for release in publishing.listed(lake.connection)}
        partial = not _WHOLE.issuperset(dbt_arguments)
        found = changes.pending(lake)
        last, changed = found.last, found.changed
        same = last if changed == [] and not dbt_arguments else None
        # the build that died before it could publish
        died = same and not publishing.is_published(project, listed[same.release]) and same.release
        if name in publishing.names(project, lake.connection) and name != died:
            raise BadInput(f"there is already a release {name!r}", "Choose another --name.")
        nothing = lake.nothing_ingested()
        if nothing and not of_nothing:
            raise nothing
        if same:
            built.changed, built.release = False, same.release
            if name in (None, same.release):
                if died:
                    publishing.publish(project, same.release)
                return built
        with lake.transaction("build") as transaction:
            if built.changed:
                dbt_arguments = [
                    *dbt_arguments,
                    *(["--full-refresh"] if partial else _selection(changed, dbt_arguments)),
                ]
                shared = parsed.Shared(found.made_from["definitions"], dbt_arguments)
                with environment(project), lent_to_dbt(lake, seeds.gather(project)):
                    run_dbt(lake, dbt_arguments, built, on_node, on_total, verbose, shared)
            transaction.say(**built.counts)
            if not partial:
                if at_least:
                    _require_share(project, lake, at_least)
                built.release = name or publishing.next_name(project, lake.connection)
                transaction.extra |= {"release": built.release, "made_from": found.made_from}
            transaction.finish_run(arguments)
        give_empty_statistics(lake)
        hashes.record_missing(lake, data_files.known(lake.connection))
        built.snapshot = lake.newest_snapshot()
        if built.release:
            publishing.publish(project, built.release)
    built.seconds = time.monotonic() - started
    return built


def _require_share(project: Project, lake: Lake, at_least: float) -> None:
    """Raise `WorkFailed` where too little is left of what the published release has."""
    try:
        published = Lake.published(project)
    except BadInput:  # nothing is published yet
        return
    gone = []
    with published:
        for table in _COUNTED:
            count = f"select count(*) from lake.{table}"
            with suppress(duckdb.CatalogException):  # an older release may lack the table
                before, now = published.value(count), lake.value(count)
                if now < at_least * before:
                    gone.append(f"{counted(now, 'rows')} of {table} instead of {before:,}")
    if gone:
        raise WorkFailed(
            f"nothing is published: there would be {', '.join(gone)} in release "
            f"{published.release} (less than {at_least:.0%})",
            "`gradelake log` and `gradelake lake verify` may say what went. If it is meant to go, "
            "`gradelake build` publishes the rest; `least_share` of [lake] sets the share.",
        )


def only(*models: str) -> list[str]:
    """dbt's arguments for some models and what they are made of, with the checks of the seeds."""
    return [
        "--select",
        *(f"+{model}" for model in models),
        "--exclude",
        "test_type:generic",
        "--indirect-selection",
        "cautious",
    ]


def _selection(changed: list[str] | None, dbt_arguments: list[str]) -> list[str]:
    """dbt's arguments for what is downstream of what changed, and the data tests of that."""
    # `empty`: a test of what is left out runs all the same, because its rows may have changed
    left_out = ["--indirect-selection", "empty", "--exclude", _TESTS_OF_VIEWS]
    if "--full-refresh" in dbt_arguments:
        return left_out
    if changed is None:
        return [*left_out, "--full-refresh"]
    return ["--select", *(f"{each}+" for each in changed), *left_out, _VIEWS]


@contextmanager
def lent_to_dbt(lake: Lake, gathered: Path) -> Iterator[None]:
    """dbt writes through the lake's own connection, and so into its open transaction."""
    from gradelake.sql.build import dbt_plugin

    dbt_plugin.prepare(lake.connection, gathered)
    dbt_plugin.lent = lake.connection
    try:
        yield
    finally:
        dbt_plugin.lent = None
        close_adapters()


def run_dbt(lake, dbt_arguments, built, on_node, on_total, verbose, shared) -> None:
    """dbt in this process: its start-up is most of a small build, so it is not paid twice."""
    failures: list[str] = []

    def on_event(event) -> None:
        if event.info.name == "ConcurrencyLine":  # it begins to run models
            on_total(event.data.node_count)
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

    command = ["--log-level", "info" if verbose else "none", "build", "--no-write-json"]
    command += ["--exclude-resource-type", "unit_test", "--exclude-resource-type", "exposure"]
    result = invoke_dbt([*command, *dbt_arguments], on_event, shared)
    if not result.success:
        _refuse_wrong_seeds(lake, result.result)
        # what comes after the first fault of a transaction says no more than that there was one
        told = [each for each in failures if "Current transaction is aborted" not in each]
        words = "\n  ".join(told or failures) or str(result.exception or "no reason given")
        if known := in_plain_words(Exception((told or failures or [words])[0])):
            message = f"{known.message}; readers keep the last release"
            raise WorkFailed(message, known.hint)
        raise WorkFailed(
            f"dbt could not build the lake; readers keep the last release\n  {words}",
            "Run again with --verbose to see dbt at work.",
        )


def invoke_dbt(command: list[str], on_event: Callable, shared: parsed.Shared) -> "dbtRunnerResult":
    """Run a dbt command in this process; `on_event` gets what it logs.

    Raises `KeyboardInterrupt` where dbt was interrupted, whatever it made of that.
    """
    from dbt.cli.main import dbtRunner

    with held() as let_go:  # while dbt reads the project, what it uses ignores Ctrl-C or prints it
        manifest = shared.manifest()

        def heard(event) -> None:
            if event.info.name == "ConcurrencyLine":  # it begins to run models
                let_go()
            on_event(event)

        before = n_interrupted()
        gc.disable()  # looking for garbage among dbt's objects is a tenth of a small build
        try:
            result = dbtRunner(manifest, callbacks=[heard]).invoke(command)
        finally:
            gc.enable()
        if manifest is None:
            shared.keep(Path(os.environ["DBT_TARGET_PATH"]))
    if n_interrupted() > before or (result.exception and is_interruption(result.exception)):
        raise KeyboardInterrupt
    return result


def _refuse_wrong_seeds(lake: Lake, results) -> None:
    """Raise `WrongSeeds` where seeds did not land for some of their rows."""
    found = []
    for result in results or ():
        if result.status == "error" and result.node.config.materialized == SEED:
            with suppress(duckdb.Error):  # a model that the check reads was not built either
                wrong = lake.rows(f"select bad_row, problem from ({result.node.compiled_code})")
                found += [(f"{result.node.name}.csv", *row) for row in wrong]
    if found:
        raise WrongSeeds(found, seeds.seeds_folder(lake.project))


@contextmanager
def environment(project: Project, target: Path | None = None, **variables: str) -> Iterator[None]:
    """What dbt and its plug-in read from the environment; afterwards it is as before.

    `target`: where dbt's own files go; None: where the caller's environment says, else the lake's.
    """
    before = dict(os.environ)
    os.environ |= variables | {
        "GRADELAKE_CONFIG": str(project.file),
        "DBT_PROJECT_DIR": str(changes.DBT_PROJECT),
        "DBT_PROFILES_DIR": str(changes.DBT_PROJECT),
        "DBT_LOG_LEVEL_FILE": "none",
    }
    for name in ("DBT_TARGET_PATH", "DBT_LOG_PATH"):
        if target:
            os.environ[name] = str(target)
        else:
            os.environ.setdefault(name, str(project.lake_path.resolve() / "dbt"))
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():  # never empty: other threads read it, too
            del os.environ[name]
        os.environ.update(before)


def close_adapters() -> None:
    """Close what dbt opened in this process, or its next run here would find it."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.adapters.factory import reset_adapters

    DuckDBConnectionManager.close_all_connections()
    reset_adapters()
