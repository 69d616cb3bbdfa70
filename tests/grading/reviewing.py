"""The graded demo in a folder of a test's own, and people who type their reviews of it."""

import shutil
from pathlib import Path

from click.testing import CliRunner, Result

from gradelake.app import app
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


def copy_of(graded_demo: Path, place: Path) -> Path:
    return Path(shutil.copytree(graded_demo, place / "demo"))


def ask(folder: Path, query: str, *values, **named) -> list[tuple]:
    with Lake.live(Project.find(folder)) as lake:
        return lake.rows(query, *values, **named)


def review(folder: Path, who: str, lines: tuple, *options: str, fails: bool = False) -> Result:
    """What `gradelake review` makes of lines that somebody types."""
    return CliRunner().invoke(
        app,
        ["--config", f"{folder}/gradelake.toml", "review", "demo", "--assessor", who, *options],
        input="".join(f"{line}\n" for line in lines),
        catch_exceptions=fails,
    )
