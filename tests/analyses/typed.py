"""Command lines as people type them."""

import shlex
import subprocess
from pathlib import Path

from tests.command_line import gradelake


def typed(folder: Path, line: str, code: int = 0) -> subprocess.CompletedProcess:
    """Run `gradelake LINE`; fail with what it printed unless it leaves `code`."""
    return gradelake(folder, *shlex.split(line), code=code)
