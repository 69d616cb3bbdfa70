"""The dbt command as a person gives it."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

from gradelake.sql.build.changes import DBT_PROJECT

# each command is a process of its own, forked from one that has imported dbt already
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["dbt.cli.main", "gradelake.sql.build.dbt_plugin"])


def dbt(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """The dbt command on the lake of a folder, without Gradelake around it; all that it printed."""
    target = folder / "dbt"
    target.mkdir(exist_ok=True)
    places = ("--project-dir", DBT_PROJECT, "--profiles-dir", DBT_PROJECT, "--target-path", target)
    of_dbt = {"GRADELAKE_CONFIG": str(folder / "gradelake.toml"), "DBT_LOG_PATH": str(target)}
    command = [*arguments, *map(str, places)]
    process = _PROCESSES.Process(target=_run, args=(command, of_dbt, target / "printed"))
    process.start()
    process.join(300)
    process.kill()
    printed = (target / "printed").read_text()
    return subprocess.CompletedProcess(command, process.exitcode, printed)


def _run(command: list[str], of_dbt: dict[str, str], printed: Path) -> None:
    from dbt.cli.main import cli

    with printed.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.environ |= of_dbt
    sys.argv = ["dbt", *command]
    cli()
