"""A person's own editor on a sheet. What they wrote is not lost when it cannot be used."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, GradelakeError, WorkFailed

T = TypeVar("T")


def command() -> str:
    """$VISUAL, else $EDITOR, else vi on a terminal. Raises `BadInput` when there is none."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if named and named.strip():
        return named
    if sys.stdin.isatty() and (vi := shutil.which("vi")):
        return vi
    raise BadInput(
        "there is no editor to open",
        "Set $EDITOR; or write the sheet with --print, change it, and bring it in with --from.",
    )


def edit(text: str, folder: Path, name: str, use: Callable[[str, str], T]) -> T:
    """Let a person change a text, then call `use(changed text, file)` and return what it does.

    What `use` refuses can be edited again on a terminal; elsewhere, and when the person gives up,
    the file is kept in `folder` and the error says where.
    """
    program = command()
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, file = tempfile.mkstemp(prefix=f"{name}-", suffix=".txt", dir=folder, text=False)
    path = Path(file)
    with open(descriptor, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    try:
        result = _edit_until_usable(program, path, use)
    except BaseException as error:
        if path.exists() and path.read_bytes() != text.encode():
            kept = f"Your sheet was kept in {os.path.relpath(path)}: fix it and use it with --from."
            if isinstance(error, GradelakeError):
                error.hint = f"{error.hint}\n  {kept}" if error.hint else kept
            else:
                console.warn(kept)
        else:
            path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)
    return result


def _edit_until_usable(program: str, path: Path, use: Callable[[str, str], T]) -> T:
    while True:
        _run(program, path)
        try:
            return use(_text_of(path), path.name)
        except GradelakeError as error:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            console.warn(f"error: {error}")
            import click

            if not click.confirm("Go on editing?", default=True, err=True):
                raise


def _run(program: str, path: Path) -> None:
    """Run the editor as git does: the shell takes its words apart, so that it may have options."""
    status = subprocess.run(["sh", "-c", f'{program} "$@"', program, str(path)]).returncode
    if status:
        raise WorkFailed(
            f"the editor ({program}) ended with status {status}: nothing was changed",
            "Does it start from a shell? $VISUAL and $EDITOR name it.",
        )


def _text_of(path: Path) -> str:
    if not path.exists():
        return ""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name}: not UTF-8 ({error})", "Save it as UTF-8.") from error
