"""An answer on a terminal: the sentence, its tables, what limits it, what could be done next."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import indent

from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.table_text import ColumnTexts
from gradelake.sql.shown.answer import Answer, Page, Table


def show(answer: Answer) -> None:
    """Print the answer: what limits it on standard error, all else on standard output."""
    if answer.sentence:
        console.say(answer.sentence, wrap=True)
    if answer.facts:
        console.say()
    for fact in answer.facts:
        console.say(answer.fact(*fact), wrap=True)
    for n, table in enumerate(answer.shown_tables()):
        if n or answer.facts:
            console.say()
        if table.caption:
            console.say(table.caption, wrap=True)
        show_table(table)
    for table in answer.explanation():
        console.say()
        console.print_wrapped(table.keys(), table.rows)
    for note in answer.notes:
        console.warn(f"note: {note}")
    for step in answer.next:
        console.hint(step)


def show_page(page: Page) -> None:
    """Print a page: its title and what is said below it, and its answers under their titles."""
    console.say(page.title)
    if page.subtitle:
        console.say(page.subtitle)
    for part in page.parts:
        console.say(f"\n{part.title}")
        answer = part.answer
        said = [answer.sentence] if answer.sentence else []
        said += [answer.fact(about, words.replace("\n", "\n  ")) for about, words in answer.facts]
        _say_indented(said)
        for table in answer.shown_tables():
            show_table(table)
        _say_indented(answer.notes)


def _say_indented(lines: Sequence[str]) -> None:
    for line in lines:
        console.say(indent(line, "  "))


def show_table(table: Table) -> None:
    """Print a table, its rows' titles above them."""
    shown = replace(table, rows=table.rows[: table.most])
    for title, rows in shown.blocks():
        if title:
            console.say(title)
        console.print_columns(_columns(table, table.texts(rows)))
    if n_more := len(table.rows) - len(shown.rows):
        console.say(f"({counted(n_more, 'rows')} more: --table {table.name} --format csv)")


def lines(answer: Answer) -> str:
    """The answer as it is printed where nothing is cut: for files, and for programs that read."""
    parts = [answer.sentence] if answer.sentence else []
    parts += [answer.fact(*fact) for fact in answer.facts]
    for table in [*answer.shown_tables(), *answer.explanation()]:
        parts += [table.caption] if table.caption else []
        for title, rows in table.blocks():
            columns = _columns(table, table.texts(rows))
            parts += [title] if title else []
            parts += console.printed_columns(columns)
        parts.append("")
    parts += [f"note: {note}" for note in answer.notes]
    return console.printable("\n".join([*parts, *answer.next]).rstrip()) + "\n"


def printed(table: Table) -> list[str]:
    """The lines of a table where nothing is cut."""
    return console.printed_columns(_columns(table, table.texts()))


def _columns(table: Table, texts: list[list[str]]) -> list[ColumnTexts]:
    return [
        ColumnTexts(
            table.columns[at].shown_head,
            [row[n] for row in texts],
            table.columns[at].is_number,
            table.columns[at].kind == "id",
        )
        for n, at in enumerate(table.printed())
    ]
