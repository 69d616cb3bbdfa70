"""What commands that ask models tell: the first of many lines."""

from gradelake.sql.common import console

SHOWN = 10  # lines of one kind; --json has all


def warn_first(lines: list[str]) -> None:
    """The first lines, and how many there are besides."""
    for line in lines[:SHOWN]:
        console.warn(line)
    if len(lines) > SHOWN:
        console.warn(f"and {len(lines) - SHOWN:,} more like these (--json has all)")
