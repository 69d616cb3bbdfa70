"""A table as LaTeX, with booktabs; https://ctan.org/pkg/booktabs says what its rules are."""

import re
from functools import cache
from itertools import groupby

import jinja2

from gradelake.analyses.tables.table import UNDEFINED, Cell, Table

ROWS_ON_A_PAGE = 45  # a longer table goes over pages
COLUMNS_ABREAST = 10  # a wider one is set smaller

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
_SYMBOLS = {"rho": r"$\rho$", "tau": r"$\tau$", "stderr": r"$\pm$"}
_NEGATIVE = re.compile(r"-(?=[0-9])")


def escape(text: str) -> str:
    """Text as LaTeX shows it; control characters and line ends become spaces."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return "".join(_SPECIAL.get(character, character) for character in printable)


def render(table: Table, standalone: bool = False) -> str:
    """A `table` (or `longtable`) to \\input, or with `standalone` a document to compile."""
    n_rows = sum(len(block.rows) for block in table.blocks)
    return _template().render(
        name=table.name,
        caption=escape(table.caption),
        standalone=standalone,
        is_long=n_rows > ROWS_ON_A_PAGE,
        is_wide=len(table.columns) > COLUMNS_ABREAST,
        n_columns=len(table.columns),
        alignment="".join("r" if column.is_number else "l" for column in table.columns),
        head=_head(table),
        blocks=[
            {"title": escape(block.title), "rows": [" & ".join(map(_cell, r)) for r in block.rows]}
            for block in table.blocks
        ],
    )


def _head(table: Table) -> list[str]:
    """Lines above the first rule: names of groups with a rule under each, then of columns."""
    lines = []
    if any(column.group for column in table.columns):
        cells, rules, at = [], [], 1
        for group, columns in groupby(table.columns, key=lambda column: column.group):
            width = len(list(columns))
            cells.append(f"\\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(f"\\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines += [" & ".join(cells) + r" \\", " ".join(rules)]
    heads = (_SYMBOLS.get(column.head, escape(column.head)) for column in table.columns)
    return [*lines, " & ".join(heads) + r" \\"]


def _cell(cell: Cell) -> str:
    if cell.text == UNDEFINED:
        return UNDEFINED
    shown = escape(cell.text)
    if not isinstance(cell.value, str):
        shown = _NEGATIVE.sub("$-$", shown)
    if cell.is_bold:
        shown = f"\\textbf{{{shown}}}"
    return f"\\fbox{{{shown}}}" if cell.is_boxed else shown


@cache
def _template() -> jinja2.Template:
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
    return environment.get_template("table.tex.jinja")
