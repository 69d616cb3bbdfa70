"""Files and folders for people that appear whole or not at all.

Until then they have a name of their process's own, and are locked: what a killed process left is
told from what another one is writing, and goes when the same is written again.
"""

import fcntl
import glob
import gzip
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from gradelake.sql.common.errors import BadInput


@contextmanager
def whole_file(output: Path) -> Iterator[BinaryIO]:
    """Write beside the file, then rename: a reader never sees half of it.

    Zipped when its name ends in .gz, without a time: equal content, equal bytes. Raises `BadInput`
    when it cannot be written; a file that was there before then stays as it was.
    """
    if not output.parent.is_dir():
        raise BadInput(f"{output}: there is no folder {output.parent}", "Make it first.")
    unfinished = _unfinished(output)
    try:
        with _as_bad_input(output), unfinished.open("wb") as raw, _held(unfinished):
            if output.name.endswith(".gz"):
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
                    yield cast(BinaryIO, stream)  # has all of it, and is not declared so
            else:
                yield raw
            raw.flush()
            os.replace(unfinished, output)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def whole_folder(output: Path) -> Iterator[Path]:
    """A folder to fill, which then gets its name. Raises `BadInput` when it cannot be written, or
    a folder with anything in it is there."""
    unfinished = _unfinished(output)
    try:
        with _as_bad_input(output):
            unfinished.mkdir()
            with _held(unfinished):
                yield unfinished
                os.replace(unfinished, output)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unfinished(output: Path) -> Path:
    """What it is called until it is whole; what killed processes left of it goes."""
    for left in output.parent.glob(f".{glob.escape(output.name)}.*.writing"):
        with suppress(OSError), _held(left) as is_left:
            if is_left and left.is_dir():
                shutil.rmtree(left)
            elif is_left:
                left.unlink()
    return output.with_name(f".{output.name}.{os.getpid()}.writing")


@contextmanager
def _held(place: Path) -> Iterator[bool]:
    """Lock a file or folder, and say whether that could be done: else another process holds it."""
    descriptor, is_held = os.open(place, os.O_RDONLY), False
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = True
        yield is_held
    finally:
        os.close(descriptor)


@contextmanager
def _as_bad_input(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{output}: cannot be written: {error.strerror or error}",
            "Is there room, and may you write there?",
        ) from error
