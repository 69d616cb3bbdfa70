"""dbt, run in this process: to compile the models, to choose some of them, to document them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradelake.sql.build import changes
from gradelake.sql.common.interrupts import held, is_interruption, n_interrupted
from gradelake.sql.common.project import Project


class Failed(Exception):
    """A command of dbt failed; its text says why."""


def run(project: Project, command: list[str], target: Path | None = None, **variables: str) -> Any:
    """Run a dbt command on a project's lake; `target`: where dbt's own files go, else the lake's
    folder. `variables` are of the environment. Returns what dbt's runner has as its result.

    Raises `Failed`, and `KeyboardInterrupt` where dbt was interrupted, whatever it made of that.
    """
    with held() as let_go:  # while dbt is imported and reads the project, Ctrl-C would be lost
        from dbt.cli.main import dbtRunner

        def heard(event) -> None:
            if event.info.name == "ConcurrencyLine":  # it begins to work
                let_go()
            elif event.info.level == "error":
                errors.append(event.info.msg.strip())

        errors: list[str] = []
        before = n_interrupted()
        with _environment(project, target, **variables):
            try:
                done = dbtRunner(callbacks=[heard]).invoke(["--log-level", "none", *command])
            finally:
                from dbt.adapters.duckdb.connections import DuckDBConnectionManager
                from dbt.adapters.factory import reset_adapters

                # or its next run here would find what it opened in this process
                DuckDBConnectionManager.close_all_connections()
                reset_adapters()
    if n_interrupted() > before or (done.exception and is_interruption(done.exception)):
        raise KeyboardInterrupt
    if not done.success:
        raise Failed(str(done.exception or "\n  ".join(filter(None, errors)) or "no reason given"))
    return done.result


@contextmanager
def _environment(project: Project, target: Path | None, **variables: str) -> Iterator[None]:
    """What dbt and its plug-in read from the environment; afterwards it is as before."""
    before = dict(os.environ)
    os.environ |= variables | {
        "GRADELAKE_CONFIG": str(project.file),
        "DBT_PROJECT_DIR": str(changes.DBT_PROJECT),
        "DBT_PROFILES_DIR": str(changes.DBT_PROJECT),
        "DBT_LOG_LEVEL_FILE": "none",
    }
    for name in ("DBT_TARGET_PATH", "DBT_LOG_PATH"):
        os.environ[name] = str(target or project.lake_path.resolve() / "dbt")
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():  # never empty: other threads read it, too
            del os.environ[name]
        os.environ.update(before)
