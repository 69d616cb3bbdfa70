"""The command that asks the lake."""

import contextlib
import sys
from functools import partial
from pathlib import Path

import click

from gradelake.sql.ask import book, confined, question
from gradelake.sql.ask.shell.dot_commands import print_book
from gradelake.sql.ask.shell.session import Shell, read_lines
from gradelake.sql.common import console
from gradelake.sql.common.command_line import is_given, reading, refuse_beside
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.pager import paged
from gradelake.sql.common.project import did_you_mean

_OF_ROWS = ("--format", "--output", "-n", "--allow-files")  # options of what is asked
_OF_ANSWERS = (*_OF_ROWS, "--release", "--live", "--as-sql", "--explain")


class _Asking(click.Command):
    """`--help` beside a question of the book is about that question."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        asked = next((word[1:] for word in args if word.startswith("@") and word != "@"), None)
        if asked and {"--help", "-h"} & set(args):
            console.say(book.entry(asked).help("gradelake sql "))
            context.exit()
        return super().parse_args(context, args)


@click.command(
    cls=_Asking, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
@click.option(
    "--format",
    "format_",
    type=click.Choice([*question.FORMATS, "parquet"]),
    help="How rows are written. Default: table, or what the ending of --output says.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to a file: .csv, .json, .parquet or (a table) .txt.",
)
@click.option(
    "-n", "first", metavar="N", type=click.IntRange(1), help="Show or write the first N rows only."
)
@click.option("--no-pager", is_flag=True, help="No $PAGER for what is longer than the screen.")
@reading
@click.option(
    "--allow-files", is_flag=True, help="Let statements do whatever you can: read and write files."
)
@click.option("--as-sql", is_flag=True, help="Print the SQL of a question instead of asking it.")
@click.option("--explain", is_flag=True, help="Say what the columns of a question's answer mean.")
@click.argument("query", required=False)
def sql(read, format_, output, first, no_pager, allow_files, as_sql, explain, query):
    """Ask the lake: SQL, or a question of the query book. Without either, a shell.

    Reads the newest release; `marts` is the default schema, so its tables need no prefix. On a
    terminal texts are shortened to its width (`--format line` or `json` shows all of them), and
    what is longer than the screen goes through $PAGER, or less.
    Statements read the lake and nothing else; temporary tables and views can be made.

    \b
    Examples:
      gradelake sql "select * from leaderboard where rank = 1"
      gradelake sql @leaderboard --measure AP --level 2
      gradelake sql -n 5 "from leaderboard"
      gradelake sql @                    # the questions of the query book
      gradelake sql @leaderboard --help  # what it asks, and its parameters
      gradelake sql @leaderboard --explain
      gradelake sql --as-sql @leaderboard > mine.sql
      gradelake sql --output correlation.csv @correlation
      gradelake sql "select * from leaderboard at (version => 12)" --live
    """
    context = click.get_current_context()
    if query == "@":
        _list_questions(context)
        return
    is_named = context.params["release"] is not None
    is_question = query is not None and query.startswith("@")
    chosen = book.parameters(context.args) if is_question else {}
    if not is_question:
        _require_no_words(context, query)
    for option in filter(is_given, ("--as-sql", "--explain")):
        _require_question(option, is_question)
    format_ = format_ or question.format_of(output)
    pager = "off" if no_pager else "auto"
    if format_ == "parquet" and query is not None and not output:
        raise BadInput("--format parquet writes a file", "Add --output FILE.parquet.")
    with read() as lake:
        if allow_files:
            console.tell("--allow-files: statements may read and write files, the lake's, too")
        confined.prepare(lake, allow_files, output if format_ == "parquet" else None)
        if query is None:
            _serve(Shell(lake, format_, output, is_named, first, pager))
            return
        ask = partial(_ask, format_=format_, output=output, first=first, pager=pager)
        if not is_question:
            ask(lake, question.one_statement(query))
            return
        options = [option.removeprefix("--") for option in _options(context)]
        entry = book.entry(query[1:])
        with question.lake_of(lake, entry, is_named) as asked:
            statement, values = book.asked(asked, entry.name, chosen, options)
            if as_sql:
                console.say(entry.written_out(values))
                return
            if explain:
                columns = question.rows(asked, statement, values).columns
                means = entry.meanings(asked, columns)
                console.print_wrapped(["column", "meaning"], means.items())
                return
            ask(asked, statement, values, entry.measured_by(chosen), entry.looks)


def _list_questions(context: click.Context) -> None:
    refuse_beside("@", dict.fromkeys(_OF_ANSWERS, "lists the questions"))
    if context.args:
        raise BadInput(f"unexpected argument {context.args[0]!r}", "A question has a name.")
    print_book("gradelake sql ")


def _require_no_words(context: click.Context, query: str | None) -> None:
    """Raise `BadInput` for what stands behind SQL: it has no parameters."""
    if not context.args:
        return
    options = [word for word in (query or "", *context.args) if word.startswith("-")]
    if options:
        raise BadInput(f"no option {options[0]!r}", did_you_mean(options[0], _options(context)))
    raise BadInput(f"unexpected argument {context.args[0]!r}", "Quote the query as one word.")


def _require_question(option: str, is_question: bool) -> None:
    """Raise `BadInput` where an option needs a question of the book, and `UsageError` beside those
    that need an answer."""
    if not is_question:
        hint = f"As in: gradelake sql {option} @kappa"
        raise BadInput(f"{option} is about a question of the query book", hint)
    refuse_beside(option, dict.fromkeys(_OF_ROWS, "asks nothing"))


def _serve(shell: Shell) -> None:
    """A shell for a person at a terminal, or for lines from elsewhere."""
    with contextlib.closing(shell):
        if sys.stdin.isatty() and sys.stdout.isatty():
            from gradelake.sql.ask.shell.terminal import converse

            converse(shell)
        else:
            read_lines(shell)


def _ask(
    lake, statement, values=None, measure="", looks=None, *, format_, output, first, pager
) -> None:
    found = question.some(question.rows(lake, statement, values), first)
    with console.working("asking the lake"):
        if output:
            n_rows = question.write(found, format_, output, first, looks)
        else:
            question.in_words(found.execute)
    if output:
        console.tell(f"wrote {counted(n_rows, 'rows')} to {output}")
    else:
        with paged(pager if format_ in question.FOR_PEOPLE else "off") as for_person:
            n_rows = question.answer(found, format_, first, measure, for_person, looks)
    if not n_rows:
        question.tell_why_empty(lake, statement, values)


def _options(context: click.Context) -> list[str]:
    long = [name for each in context.command.params for name in each.opts if name[:2] == "--"]
    return sorted(long)
