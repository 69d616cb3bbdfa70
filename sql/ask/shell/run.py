"""`gradelake sql` without a query: at a terminal, or reading a pipe."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradelake.sql.ask.shell.session import Shell, read

if TYPE_CHECKING:
    from gradelake.sql.lake.lake import Lake


def run(lake: "Lake", format_: str, output: Path | None = None, is_named: bool = False) -> None:
    """Ask until the input ends. Raises the first `GradelakeError` when nobody is there to read it
    and go on."""
    with contextlib.closing(Shell(lake, format_, output, is_named)) as shell:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from gradelake.sql.ask.shell.terminal import converse

            converse(shell)
        else:
            read(shell)
