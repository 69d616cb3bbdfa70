"""What is longer than the screen, through the reader's pager."""

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Iterator

import click
from rich.cells import cell_len

from gradelake.sql.common import console

WHEN = ("auto", "on", "off")  # longer than the screen; whatever its length, and uncut; never


@contextlib.contextmanager
def paged(when: str = "auto") -> Iterator[bool]:
    """What is printed inside goes through `$PAGER` (or `less`) on a terminal; an empty `$PAGER` is
    none, as git has it. Without a terminal, or with a `$PAGER` that no shell could read, it is
    printed as ever. Gives whether there is a terminal: a person reads."""
    for_person = sys.stdout.isatty()
    if when == "off" or not for_person or not _has_pager():
        yield for_person
        sys.stdout.flush()
        return
    with contextlib.redirect_stdout(io.StringIO() if when == "on" else _Screen()) as held:
        yield for_person
    text = held.getvalue()
    if when == "on":  # what is meant for a program steers no terminal
        text = console.printable(text)
    if when == "on" or _is_long(text):
        # as git has it: no pager for what fits, colours, what was read stays; long lines scroll
        os.environ.setdefault("LESS", "-FRSX")
        click.echo_via_pager(text.removesuffix("\n"))
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def _has_pager() -> bool:
    command = os.environ.get("PAGER", "less")
    try:
        shlex.split(command)
    except ValueError as error:
        console.warn(f"PAGER={command}: {error}; the answer is printed without it")
        return False
    return command != ""


class _Screen(io.StringIO):
    """Held back, and formatted as for the terminal."""

    def isatty(self) -> bool:
        return True


def _is_long(text: str) -> bool:
    """Whether a text and the prompt after it do not fit the screen."""
    width, height = console.out.size
    left = height - 1
    for line in text.splitlines():
        left -= max(1, -(-cell_len(click.unstyle(line)) // width))
        if left < 0:
            return True
    return False
