"""The dot commands of `gradelake sql`."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len

from gradelake.sql.ask import book, question
from gradelake.sql.ask.shell.answers import Answers
from gradelake.sql.ask.shell.tables import HOME, SCHEMAS, schema_of, tables
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.pager import WHEN
from gradelake.sql.common.project import did_you_mean


class Command(NamedTuple):
    """A dot command: what follows it, what it does, and the doing (False: the session ends)."""

    argument: str
    what: str
    do: Callable[[Answers, str], bool | None]
    choices: tuple[str, ...] = ()


def do(shell: Answers, line: str) -> bool:
    """Do what a line says; False when it was to leave. Raises `BadInput` for an unknown command,
    and when what it needs is missing."""
    name, _, argument = line.partition(" ")
    argument = argument.strip()
    if name in ("\\d+", "\\dt+"):
        name = name[:-1]
    if name == "\\d":
        name = ".schema" if argument else ".tables"
    name = _ALSO.get(name, name)
    if name not in COMMANDS:
        hint = _INSTEAD.get(name) or did_you_mean(name, [*COMMANDS, *_ALSO, "\\d"])
        raise BadInput(f"no command {name}", hint)
    command = COMMANDS[name]
    if argument and not command.argument:
        raise BadInput(f"{name} takes nothing after it", f"{name}: {command.what}")
    if not argument and command.argument and not command.argument.startswith("["):
        raise BadInput(f"{name} needs {command.argument}", f"{name}: {command.what}")
    return command.do(shell, argument) is not False


def list_book(shell: Answers, _: str = "") -> None:
    """The questions of the book, a line each."""
    with shell.printing():
        print_book()


def print_book(command: str = "") -> None:
    """A line per question, as one of a shell or of a `command`."""
    _print_pairs([(f"@{each.name}", each.question) for each in book.entries().values()])
    console.say(f"{command}@NAME asks one; {command}@NAME --help shows its parameters.")


def _help(shell: Answers, _: str) -> None:
    with shell.printing():
        console.say("select ...;                 a statement ends with ; and may have many lines")
        console.say("@NAME --parameter VALUE     a question of the query book")
        _print_pairs(
            [(f"{name} {each.argument}".rstrip(), each.what) for name, each in COMMANDS.items()], 26
        )
        console.say("On a terminal: Tab completes, the up arrow and Ctrl-R find what was asked,")
        console.say("Ctrl-C drops what is typed or stops a query; quit or Ctrl-D leaves.")
        console.say(
            "As in psql: \\d and \\dt list tables, \\d TABLE its columns, \\? helps, \\q leaves."
        )


def _tables(shell: Answers, word: str) -> None:
    found = [name for name in tables(shell.lake) if word.lower() in name.lower()]
    if not found:
        raise BadInput(f"no table with {word!r} in its name", "`.tables` lists all.")
    with shell.printing():
        for schema in (HOME, *SCHEMAS[1:]):
            names = [name for name in found if (name.rpartition(".")[0] or HOME) == schema]
            if names:
                console.say(f"{schema}" + (" (no prefix needed)" if schema == HOME else ""))
                _print_columns(names)


def _schema(shell: Answers, name: str) -> None:
    columns, rows = schema_of(shell.lake, name)
    with shell.printing():
        if shell.format == "table":
            console.print_wrapped(columns, rows)
        else:
            question.print_rows(shell.format, columns, rows)


def _build(shell: Answers, _: str) -> None:
    from gradelake.sql.build.building import build
    from gradelake.sql.build.commands import tell
    from gradelake.sql.build.node_progress import NodeProgress

    with NodeProgress(quiet=False) as progress:
        built = build(shell.lake.project, [], ["build"], None, progress.node, progress.total)
    tell(built)
    shell.read_newest()


def _output(shell: Answers, name: str) -> None:
    shell.set_output(None if name in ("", "stdout") else Path(name).expanduser())


COMMANDS = {
    ".help": Command("", "this", _help),
    ".book": Command("", "the questions of the query book; so does @", list_book),
    ".tables": Command("[WORD]", "the tables, or those with a word in their names", _tables),
    ".schema": Command("TABLE", "its columns, their types and what they mean", _schema),
    ".build": Command("", "`gradelake build`; then its release answers", _build),
    ".format": Command(
        "NAME",
        "table; line: a column per line, nothing cut; csv; json",
        Answers.set_format,
        question.FORMATS,
    ),
    ".output": Command(
        "[FILE]", "answers go to a file; stdout: to the screen again", _output, ("stdout",)
    ),
    ".pager": Command(
        "|".join(WHEN),
        "$PAGER (less) shows answers longer than the screen; on: every answer, uncut",
        Answers.set_pager,
        WHEN,
    ),
    ".quit": Command("", "leave; so does Ctrl-D", lambda *_: False),
}
# and what psql calls them; its \\d is .tables, and \\d TABLE .schema
_ALSO = {".exit": ".quit", "\\dt": ".tables", "\\?": ".help", "\\q": ".quit"}

_INSTEAD = {  # of others of psql's
    "\\x": "`.format line` writes a column per line.",
    "\\l": "The lake is the only database; `from raw.collections;` lists its collections.",
}


def _print_pairs(rows: list[tuple[str, str]], width: int = 0) -> None:
    wide = max(width, *(len(name) for name, _ in rows))
    for name, what in rows:
        console.say(f"{name:<{wide}}  {what}")


def _print_columns(names: list[str]) -> None:
    """Names side by side, down and then across, as `ls` prints them."""
    wide = max(map(cell_len, names)) + 2
    across = max(1, (min(console.out.width, 100) - 2) // wide)
    down = -(-len(names) // across)
    for n in range(down):
        console.say("  " + "".join(f"{name:<{wide}}" for name in names[n::down]).rstrip())
