"""Where a user's programs keep what they can recreate."""

import os
from contextlib import suppress
from pathlib import Path

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/gradelake, or ~/.cache/gradelake. It need not exist, nor be writable."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "gradelake"


def keep(file: Path, content: bytes) -> None:
    """Write a file of that folder, whole or not at all. What cannot be kept only costs time."""
    with suppress(OSError, BadInput):
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as stream:
            stream.write(content)
