"""A table as LaTeX, with booktabs; https://ctan.org/pkg/booktabs says what its rules are."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from math import ceil

import jinja2

from gradelake.analyses.tables.table import Cell, Column, Table
from gradelake.sql.common.latex import UNDEFINED, escape, figure

LINES_ON_A_PAGE = 45  # a longer table goes over pages
ROOM = 345  # points: \linewidth of an article; a wider table is set smaller, then in several parts
LETTER, SEPARATION = 5.8, 12  # points at 10 pt: a bold digit or a wide letter, and between columns
SMALL = 0.8, 6  # \footnotesize, and with \tabcolsep 3pt
KEY = ROOM // 2  # points of a column of a wider table's keys, when longer ones go over lines

_SYMBOLS = {"rho": r"$\rho$", "tau": r"$\tau$", "stderr": r"$\pm$", "half_interval": r"$\pm$"}
_BREAKS = re.compile(r"(\\_|[-./:])(?=.)")  # where an escaped name may be broken


def render(table: Table, standalone: bool = False) -> str:
    """A `table` (or `longtable`) to \\input, or with `standalone` a document to compile."""
    widths = _widths(table)
    is_wide = sum(widths) * LETTER + len(widths) * SEPARATION > ROOM
    lined = _lined(table, widths) if is_wide else set()
    for i in lined:
        widths[i] = KEY / LETTER / SMALL[0]
    parts = _parts(table, widths) if is_wide else [list(range(len(table.columns)))]
    n_lines = sum(
        max((ceil(len(row[i].text) / widths[i]) for i in lined), default=1)
        for block in table.blocks
        for row in block.rows
    )
    return template("table.tex.jinja").render(
        name=table.name,
        caption=escape(table.caption),
        standalone=standalone,
        is_long=n_lines * len(parts) > LINES_ON_A_PAGE,
        is_wide=is_wide,
        is_coloured=any(
            cell.is_grey for block in table.blocks for row in block.rows for cell in row
        ),
        parts=[
            {
                "alignment": "".join(
                    f"p{{{KEY}pt}}" if i in lined else "r" if table.columns[i].is_number else "l"
                    for i in part
                ),
                "head": _head(columns),
                "n_columns": len(columns),
                "blocks": [
                    {
                        "title": escape(block.title),
                        "rows": [
                            " & ".join(
                                _in_lines(row[i]) if i in lined else _cell(row[i]) for i in part
                            )
                            for row in block.rows
                            if any(row[i].text for i in part if not table.columns[i].is_key)
                        ],
                    }
                    for block in table.blocks
                ],
            }
            for part in parts
            for columns in [[table.columns[i] for i in part]]
        ],
    )


def _widths(table: Table) -> list[float]:
    """The letters that each column is wide; a group's name is as wide as its columns together."""
    rows = [row for block in table.blocks for row in block.rows]
    widths = [
        float(max(len(column.head) if column.head not in _SYMBOLS else 1, *map(len, texts)))
        for i, column in enumerate(table.columns)
        for texts in [["", *(row[i].text for row in rows)]]
    ]
    for group, of in groupby(range(len(widths)), key=lambda i: table.columns[i].group):
        columns = list(of)
        lacking = len(group) - sum(widths[i] for i in columns)
        for i in columns:
            widths[i] += max(0, lacking) / len(columns)
    return widths


def _lined(table: Table, widths: list[float]) -> set[int]:
    """Columns of keys that are wider than half of the room even when set small."""
    return {
        i
        for i, column in enumerate(table.columns)
        if column.is_key and not column.is_number and widths[i] * LETTER * SMALL[0] > KEY
    }


def _parts(table: Table, widths: list[float]) -> list[list[int]]:
    """Columns that fit beside each other when set small, each part with those of the key."""
    scale, separation = SMALL
    keys = [i for i, column in enumerate(table.columns) if column.is_key]

    def fits(columns: list[int]) -> bool:
        return sum(widths[i] * LETTER * scale + separation for i in keys + columns) <= ROOM

    parts: list[list[int]] = [[]]
    for whole in _whole_groups(table.columns):
        for columns in [whole] if fits(whole) else _pairs(table.columns, whole):
            if parts[-1] and not fits(parts[-1] + columns):
                parts.append([])
            parts[-1] += columns
    return [keys + part for part in parts]


def _whole_groups(columns: list[Column]) -> Iterator[list[int]]:
    """The columns that are no keys, those of a group together."""
    rest = [i for i, column in enumerate(columns) if not column.is_key]
    for group, of in groupby(rest, key=lambda i: columns[i].group):
        found = list(of)
        yield from [found] if group else _pairs(columns, found)


def _pairs(columns: list[Column], of: list[int]) -> list[list[int]]:
    """Each column with those that stand beside it."""
    found: list[list[int]] = []
    for i in of:
        if columns[i].is_beside and found:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def _head(columns: list[Column]) -> list[str]:
    """Lines above the first rule: names of groups with a rule under each, then of columns."""
    lines = []
    if any(column.group for column in columns):
        cells, rules, at = [], [], 1
        for group, of in groupby(columns, key=lambda column: column.group):
            width = len(list(of))
            cells.append(f"\\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(f"\\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines += [" & ".join(cells) + r" \\", " ".join(rules)]
    heads = (_SYMBOLS.get(column.head, escape(column.head)) for column in columns)
    return [*lines, " & ".join(heads) + r" \\"]


def _cell(cell: Cell) -> str:
    if cell.text == UNDEFINED:
        return UNDEFINED
    shown = (escape if isinstance(cell.value, str) else figure)(cell.text)
    if cell.is_best:
        shown = f"\\textit{{{shown}}}"
    if cell.is_bold:
        shown = f"\\textbf{{{shown}}}"
    if cell.is_grey:
        shown = f"\\textcolor{{gray}}{{{shown}}}"
    return f"\\fbox{{{shown}}}" if cell.is_boxed else shown


def _in_lines(cell: Cell) -> str:
    return r"\raggedright " + _BREAKS.sub(r"\1\\allowbreak{}", _cell(cell))


@cache
def template(name: str) -> jinja2.Template:
    """One of the templates beside this module."""
    environment = jinja2.Environment(
        # LaTeX is full of braces and percent signs
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        loader=jinja2.PackageLoader("gradelake.analyses.tables", "."),
    )
    return environment.get_template(name)
