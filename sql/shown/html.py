"""An answer as HTML: a part of a page, whose style sheet knows kinds and marks by their classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape

from gradelake.sql.shown.answer import Answer, Cell, Column, Page, Table


def render(answer: Answer) -> str:
    """Paragraphs, tables and what limits the answer; every text is escaped."""
    parts = [_paragraph("answer", answer.sentence)] if answer.sentence else []
    facts = "".join(_fact(answer.fact(*fact)) for fact in answer.facts)
    parts += [f'<ul class="facts">{facts}</ul>'] if facts else []
    parts += (_folded(table, answer.means) for table in answer.shown_tables())
    parts += [_paragraph("note", note) for note in answer.notes]
    parts += [_paragraph("next", step) for step in answer.next]
    return f'<section class="shown">{"".join(parts)}</section>\n'


def _fact(text: str) -> str:
    shown = escape(text)
    return f"<li><pre>{shown}</pre></li>" if "\n" in text else f"<li>{shown}</li>"


def page(page: Page) -> str:
    """A page: its title, and its answers under theirs."""
    parts = "".join(f"<h2>{escape(p.title)}</h2>{render(p.answer)}" for p in page.parts)
    title, subtitle = escape(page.title), escape(page.subtitle)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{title}</title><h1>{title}</h1><p>{subtitle}</p>{parts}</html>\n"
    )


def _folded(table: Table, means: Mapping[Column, str]) -> str:
    if not table.is_extra:
        return table_html(table, means)
    inside = table_html(replace(table, caption=""), means)
    return f"<details><summary>{escape(table.caption)}</summary>{inside}</details>"


def table_html(table: Table, means: Mapping[Column, str] = {}) -> str:
    """One table; `data-value` of a figure is its value in full, for sorting. What a column `means`
    is its tooltip."""
    columns = [table.columns[at] for at in table.printed()]
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    heads = "".join(
        f'<th class="{column.kind}" data-key="{escape(column.key)}"{_tooltip(means.get(column))}>'
        f"{escape(column.shown_head)}</th>"
        for column in columns
    )
    bodies = "".join(_body(table, title, rows) for title, rows in table.blocks())
    name = escape(table.name)
    return (
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">'
        f'<table class="shown" data-name="{name}">{caption}'
        f"<thead><tr>{heads}</tr></thead>{bodies}</table></div>"
    )


def _tooltip(words: str | None) -> str:
    return f' title="{escape(words)}"' if words else ""


def _body(table: Table, title: str, rows: Iterable[Sequence[object]]) -> str:
    width = len(table.printed())
    above = f'<tr><th class="title" colspan="{width}">{escape(title)}</th></tr>' if title else ""
    return f"<tbody>{above}{''.join(_row(table, row) for row in rows)}</tbody>"


def _row(table: Table, row: Sequence[object]) -> str:
    cells = []
    for at in table.printed():
        column, value = table.columns[at], row[at]
        marks = sorted(value.marks) if isinstance(value, Cell) else []
        known = value.value if isinstance(value, Cell) else value
        full = f' data-value="{float(known)!r}"' if isinstance(known, int | float) else ""
        text = escape(column.text(value))
        looks = [column.kind, *(["n"] if column.is_number else []), *marks]
        cells.append(f'<td class="{" ".join(looks)}"{full}>{text}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _paragraph(kind: str, text: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>'
