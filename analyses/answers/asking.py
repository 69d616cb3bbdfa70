"""How a question becomes a command, and a function of Python: `gradelake stats NAME`.

A file beside this one declares one question: a function of a lake and a collection with its
options, which returns an `Answer`. Nothing else is written for it. All files are imported when
`stats` is first asked for, so each imports what it computes with where it computes.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

from gradelake.analyses import answers
from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import Growing, answering
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.shown import text
from gradelake.sql.shown.answer import Answer
from gradelake.sql.shown.forms import ENDINGS, FORMS, written


class Questions(Growing):
    """A group whose commands are the questions of the files beside this one."""

    def _load(self) -> None:
        for module in iter_modules(answers.__path__):
            import_module(f"{answers.__name__}.{module.name}")

    def list_commands(self, context: click.Context) -> list[str]:
        self._load()
        return super().list_commands(context)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        self._load()
        return super().get_command(context, name)


@click.group("stats", cls=Questions, short_help="Ask of boards, labels and agreement.")
def stats():
    """Ask what SQL alone does not answer: intervals, significance, agreement, estimates; and have
    every answer as a table, CSV, JSON, LaTeX, Markdown or HTML.

    \b
    Examples:
      gradelake stats correlation dl19 --measure nDCG@10
      gradelake stats kappa dl19 --label-set judge:Sun
      gradelake stats leaderboard dl19 --label-set judge:Sun -o board.tex
    """


@dataclass(frozen=True)
class Written:
    """An answer that stands in a file, or is on standard output already."""

    answer: Answer
    output: Path
    form: str

    @property
    def exit_code(self) -> int:
        return self.answer.exit_code

    def as_object(self) -> dict[str, Any]:
        return self.answer.as_object()

    def show(self) -> None:
        if str(self.output) == "-":
            return
        tables = self.answer.tables[: 1 if self.form == "csv" else None]
        n_rows = sum(len(table.rows) for table in tables)
        console.say(f"{self.output}: wrote {counted(n_rows, 'rows')}")
        for note in self.answer.notes:
            console.warn(f"note: {note}")


def question(name: str, short: str) -> Callable[[Callable[..., Answer]], Callable]:
    """Make a command of `stats` of a function of a lake, a collection and its options.

    The command's help is the function's docstring; `short` stands in the list of commands.
    """

    def decorate(function: Callable[..., Answer]) -> Callable:
        @stats.command(name, short_help=short)
        @options.on_collection
        @formed
        @wraps(function)
        def command(read, collection, **asked):
            with console.working(f"asking for {name}"), read() as lake:
                return function(lake, collection, **asked)

        return function

    return decorate


def formed(command: Callable | None = None, *, also: tuple[str, ...] = ()) -> Any:
    """Options of how an answer is had, and `--json`, for a command that returns one; `also` are
    forms that its answers alone can have."""
    if command is None:
        return partial(formed, also=also)

    @click.option(
        "--format",
        "form",
        type=click.Choice([*FORMS, *also]),
        help="Default: as --output ends (.csv, .json, .tex, .md, .html), else a table.",
    )
    @options.to_output()
    @options.named("--table", "This of its tables alone; CSV has the first by default.")
    @click.option("--standalone", is_flag=True, help="LaTeX: a document to compile.")
    @wraps(command)
    def answer(*arguments, form, output, table, standalone, **asked):
        form = form or ENDINGS.get(Path(str(output).removesuffix(".gz")).suffix, "table")
        _refuse(form, standalone)
        found = command(*arguments, **asked)
        if table:
            found = found.of(table)
        if form == "table" and str(output) == "-":
            return found
        content = written(found, form, standalone)
        if str(output) == "-":
            shown = console.printable(content) if sys.stdout.isatty() else content
            sys.stdout.buffer.write(shown.encode(errors="backslashreplace"))
        else:
            with whole_file(output) as stream:
                stream.write(content.encode(errors="backslashreplace"))
        return Written(found, output, form)

    return answering(_show)(answer)


def _refuse(form: str, standalone: bool) -> None:
    if standalone and form != "latex":
        raise BadInput(f"--standalone is for LaTeX, not for --format {form}")
    parameters = click.get_current_context().params
    if parameters["form"] and parameters["as_json"]:
        raise BadInput(f"--json and --format {form} cannot be used together")


def _show(found: Answer | Written) -> None:
    if isinstance(found, Written):
        found.show()
    else:
        text.show(found)
