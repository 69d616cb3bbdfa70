"""An answer in Markdown, as GitHub and notebooks show it; names can mean nothing there."""

import re
from collections.abc import Iterable, Iterator, Sequence

from gradelake.sql.common.table_text import one_line, printable
from gradelake.sql.shown.answer import BOLD, Answer, Cell, Page, Table

_CODE = re.compile(r"([^`]+)|`([^`]*)`?")
_MARKUP = re.compile(r"[^\w ().,;:%?+=/'\"-]|_|(?<=w)\.|(?<=\w):(?=//)")
_OF_LINES = re.compile(rf"{_MARKUP.pattern}|^[-+]|^\d+(?=\.(\s|$))")  # a list begins so, no cell


def render(answer: Answer, level: int = 3) -> str:
    """Paragraphs and tables; a table's caption is a heading of this level."""
    parts = [prose(answer.sentence)] if answer.sentence else []
    said = [answer.fact(*fact) for fact in answer.facts]
    parts += _list(line for line in said if "\n" not in line)
    parts += [_as_it_is(text) for text in said if "\n" in text]
    for table in answer.shown_tables():
        shown = [*table_parts(table)]
        if table.is_extra:
            parts.append(f"<details><summary>{plain(table.caption)}</summary>")
            parts += [*shown, "</details>"]
            continue
        parts += [f"{'#' * level} {plain(table.caption)}"] if table.caption else []
        parts += shown
    for table in answer.explanation():
        parts += table_parts(table)
    parts += _list(answer.notes)
    parts += _list(answer.next)
    return "\n\n".join(parts) + "\n"


def page(page: Page) -> str:
    """A page: its title, and its answers under theirs."""
    parts = [f"# {plain(page.title)}", prose(page.subtitle)]
    for part in page.parts:
        parts += [f"## {plain(part.title)}", render(part.answer).rstrip("\n")]
    return "\n\n".join(parts) + "\n"


def _list(lines: Iterable[str]) -> list[str]:
    """The lines as one list, if there are any."""
    shown = "\n".join(f"- {prose(line)}" for line in lines)
    return [shown] if shown else []


def _as_it_is(text: str) -> str:
    """Lines behind a fence that none of them is."""
    fence = "`" * max(4, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{printable(text).strip()}\n{fence}"


def prose(text: str) -> str:
    """Sentences, in which what stands in backticks is code."""
    return _CODE.sub(lambda found: code(found[2]) if found[1] is None else plain(found[1]), text)


def table_parts(table: Table) -> Iterator[str]:
    """The table, or one for each block of rows, under its title."""
    columns = [table.columns[at] for at in table.printed()]
    rule = ["---:" if column.is_number else "---" for column in columns]
    head = [plain(column.shown_head) for column in columns]
    for title, rows in table.blocks():
        if title:
            yield f"**{plain(title)}**"
        yield "\n".join(map(_line, [head, rule, *(_row(table, row) for row in rows)]))


def plain(text: str) -> str:
    """A line as Markdown shows it: what could be markup, a link or a mention is an entity, which
    never is."""
    return _with_entities(_OF_LINES, text)


def _with_entities(markup: re.Pattern[str], text: str) -> str:
    return markup.sub(lambda found: "".join(f"&#{ord(c)};" for c in found[0]), one_line(text))


def code(name: str) -> str:
    """A name as Markdown shows it: no markup, link or mention comes of it."""
    return f"<code>{plain(name)}</code>"


def _row(table: Table, row: Sequence[object]) -> list[str]:
    texts = []
    for at in table.printed():
        value = row[at]
        text = _with_entities(_MARKUP, table.columns[at].text(value))
        is_bold = isinstance(value, Cell) and BOLD in value.marks and text
        texts.append(f"**{text}**" if is_bold else text)
    return texts


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
