"""The graded demo in a folder of a test's own, and people who type their reviews of it."""

from pathlib import Path

from click.testing import CliRunner, Result

from gradelake.app import app


def review(folder: Path, who: str, lines: tuple, *options: str, fails: bool = False) -> Result:
    """What `gradelake review` makes of lines that somebody types."""
    return CliRunner().invoke(
        app,
        ["--config", f"{folder}/gradelake.toml", "review", "demo", "--assessor", who, *options],
        input="".join(f"{line}\n" for line in lines),
        catch_exceptions=fails,
    )
