"""The dbt command as a person gives it."""

import os
import subprocess
import sys
from pathlib import Path

from gradelake.sql.build.changes import DBT_PROJECT

DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]


def dbt(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """The dbt command on the lake of a folder, without Gradelake around it."""
    target = folder / "dbt"
    return subprocess.run(
        [
            *DBT,
            *arguments,
            "--project-dir",
            str(DBT_PROJECT),
            "--profiles-dir",
            str(DBT_PROJECT),
            "--target-path",
            str(target),
        ],
        env=os.environ
        | {"GRADELAKE_CONFIG": str(folder / "gradelake.toml"), "DBT_LOG_PATH": str(target)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
