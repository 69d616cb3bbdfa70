"""An answer as LaTeX, with booktabs; https://ctan.org/pkg/booktabs says what its rules are."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from math import ceil
from typing import Any

import jinja2

from gradelake.sql.shown.answer import (
    BEST,
    BOLD,
    BOXED,
    GREY,
    RULED,
    Answer,
    Cell,
    Column,
    Page,
    Table,
)
from gradelake.sql.shown.kinds import UNDEFINED

LINES_ON_A_PAGE = 45  # a longer table goes over pages
ROOM = 345  # points: \linewidth of an article; a wider table is set smaller, then in several parts
LETTER, SEPARATION = 5.8, 12  # points at 10 pt: a bold digit or a wide letter, and between columns
SMALL = 0.8, 6  # \footnotesize, and with \tabcolsep 3pt
KEY = ROOM // 2  # points of a column of a wider table's keys, when longer ones go over lines

_SYMBOLS = {"rho": r"$\rho$", "tau": r"$\tau$", "stderr": r"$\pm$", "half_interval": r"$\pm$"}
_MARKS = {
    BEST: r"\textit{%s}",
    BOLD: r"\textbf{%s}",
    GREY: r"\textcolor{gray}{%s}",
    BOXED: r"\fbox{%s}",
}
_BREAKS = re.compile(r"(\\_|[-./:])(?=.)")  # where an escaped name may be broken
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
    "\u2020": r"\textdagger{}",
}
_NEGATIVE = re.compile(r"-(?=[0-9])")


def render(answer: Answer, standalone: bool = False) -> str:
    """Each table as a `table` (or `longtable`) to \\input, or with `standalone` a document of them
    to compile. What is said stands in comments."""
    said = [answer.sentence, *(answer.fact(*fact) for fact in answer.facts)]
    said += [f"note: {note}" for note in answer.notes]
    comments = "".join(f"% {' '.join(line.split())}\n" for line in said if line)
    last = len(answer.tables) - 1
    return comments + "".join(
        table_latex(table, begins=standalone and n == 0, ends=standalone and n == last)
        for n, table in enumerate(answer.tables)
    )


def table_latex(table: Table, begins: bool = False, ends: bool = False) -> str:
    """One table, which may begin or end a document. A longer one goes over pages; a wider one is
    set smaller, then in parts."""
    columns = [table.columns[at] for at in table.printed()]
    blocks = [(title, rows, table.texts(rows)) for title, rows in table.blocks()]
    every = [texts for _, _, rows in blocks for texts in rows]
    widths = _widths(columns, every)
    is_wide = sum(widths) * LETTER + len(widths) * SEPARATION > ROOM
    lined = _lined(columns, widths) if is_wide else set()
    for i in lined:
        widths[i] = KEY / LETTER / SMALL[0]
    parts = _parts(columns, widths) if is_wide else [list(range(len(columns)))]
    n_lines = sum(max((ceil(len(row[i]) / widths[i]) for i in lined), default=1) for row in every)
    return template("table.tex.jinja").render(
        name=table.name,
        caption=escape(table.caption),
        begins=begins,
        ends=ends,
        is_long=n_lines * len(parts) > LINES_ON_A_PAGE,
        is_wide=is_wide,
        is_coloured=any(GREY in _marks(value) for row in table.rows for value in row),
        parts=[_part(table, columns, blocks, part, lined) for part in parts],
    )


def page(page: Page) -> str:
    """A page as a part of a document: sections of answers, their tables as `tabular`s."""
    lines = [r"% needs \usepackage[T1]{fontenc} and \usepackage{booktabs,adjustbox}"]
    lines += [f"\\section*{{{escape(page.title)}}}", prose(page.subtitle)]
    for part in page.parts:
        lines += ["", f"\\subsection*{{{escape(part.title)}}}"]
        answer = part.answer
        lines += [prose(line) for line in (answer.sentence, *answer.notes) if line]
        for table in answer.tables:
            lines += ["", r"\noindent\begin{adjustbox}{max width=\linewidth}"]
            lines += [*tabular(table), r"\end{adjustbox}"]
        for about, words in answer.facts:
            lines += ["", r"\begin{quote}\small\ttfamily\raggedright"] if not about else []
            lines += [f"{escape(line)}\\par" for line in answer.fact(about, words).splitlines()]
            lines += [r"\end{quote}"] if not about else []
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """Sentences, in which what stands in backticks is typed."""
    return re.sub("`(.*?)`", r"\\texttt{\1}", escape(text))


def tabular(table: Table) -> Iterator[str]:
    """The lines of a `tabular` alone, to stand in whatever a paper has around it."""
    columns = [table.columns[at] for at in table.printed()]
    yield f"\\begin{{tabular}}{{{''.join('r' if c.is_number else 'l' for c in columns)}}}"
    yield r"\toprule"
    yield " & ".join(escape(column.shown_head) for column in columns) + r" \\"
    yield r"\midrule"
    for row, texts in zip(table.rows, table.texts(), strict=True):
        cells = zip(columns, table.printed(), texts, strict=True)
        yield " & ".join(_known(column, row[at], text) for column, at, text in cells) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _known(column: Column, value: Any, text: str) -> str:
    """A cell; a figure that is not there is undefined."""
    return _cell(column, value, text) or UNDEFINED * column.is_number


def _part(
    table: Table,
    columns: list[Column],
    blocks: list[tuple[str, list[Sequence[Any]], list[list[str]]]],
    part: list[int],
    lined: set[int],
) -> dict[str, Any]:
    """What the template needs of some of the columns."""
    places = table.printed()
    says = [i for i in part if not columns[i].is_key]

    def cell(row: Sequence[Any], texts: list[str], i: int) -> str:
        shown = _cell(columns[i], row[places[i]], texts[i])
        return r"\raggedright " + _BREAKS.sub(r"\1\\allowbreak{}", shown) if i in lined else shown

    def line(row: Sequence[Any], texts: list[str]) -> str:
        rule = "\\midrule\n" if RULED in _marks(row[0]) else ""
        return rule + " & ".join(cell(row, texts, i) for i in part)

    return {
        "alignment": "".join(
            f"p{{{KEY}pt}}" if i in lined else "r" if columns[i].is_number else "l" for i in part
        ),
        "head": _head([columns[i] for i in part]),
        "n_columns": len(part),
        "blocks": [
            {
                "title": escape(title),
                "rows": [
                    line(row, of)
                    for row, of in zip(rows, texts, strict=True)
                    if not says or any(of[i] for i in says)
                ],
            }
            for title, rows, texts in blocks
        ],
    }


def _widths(columns: list[Column], rows: list[list[str]]) -> list[float]:
    """The letters that each column is wide; a group's name is as wide as its columns together."""
    widths = [
        float(max(len(head) if head not in _SYMBOLS else 1, *(len(row[i]) for row in rows), 0))
        for i, head in enumerate(column.shown_head for column in columns)
    ]
    for group, of in groupby(range(len(widths)), key=lambda i: columns[i].group):
        places = list(of)
        lacking = len(group) - sum(widths[i] for i in places)
        for i in places:
            widths[i] += max(0, lacking) / len(places)
    return widths


def _lined(columns: list[Column], widths: list[float]) -> set[int]:
    """Columns of keys that are wider than half of the room even when set small."""
    return {
        i
        for i, column in enumerate(columns)
        if column.is_key and not column.is_number and widths[i] * LETTER * SMALL[0] > KEY
    }


def _parts(columns: list[Column], widths: list[float]) -> list[list[int]]:
    """Columns that fit beside each other when set small, each part with those of the key."""
    scale, separation = SMALL
    keys = [i for i, column in enumerate(columns) if column.is_key]

    def fits(places: list[int]) -> bool:
        return sum(widths[i] * LETTER * scale + separation for i in keys + places) <= ROOM

    parts: list[list[int]] = [[]]
    for whole in _whole_groups(columns):
        for places in [whole] if fits(whole) else _pairs(columns, whole):
            if parts[-1] and not fits(parts[-1] + places):
                parts.append([])
            parts[-1] += places
    return [keys + part for part in parts]


def _whole_groups(columns: list[Column]) -> Iterator[list[int]]:
    """The columns that are no keys, those of a group together."""
    rest = [i for i, column in enumerate(columns) if not column.is_key]
    for group, together in groupby(rest, key=lambda i: columns[i].group):
        found = list(together)
        yield from [found] if group else _pairs(columns, found)


def _pairs(columns: list[Column], places: list[int]) -> list[list[int]]:
    """Each column with those that stand beside it."""
    found: list[list[int]] = []
    for i in places:
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
    heads = (_SYMBOLS.get(head, escape(head)) for head in (each.shown_head for each in columns))
    return [*lines, " & ".join(heads) + r" \\"]


def _cell(column: Column, value: Any, text: str) -> str:
    if text == UNDEFINED:
        return UNDEFINED
    plain = value.value if isinstance(value, Cell) else value
    shown = (escape if isinstance(plain, str) else figure)(text)
    marks = _marks(value)
    for mark in (BEST, BOLD, GREY, BOXED):
        if mark in marks:
            shown = _MARKS[mark] % shown
    return shown


def _marks(value: Any) -> frozenset[str]:
    return value.marks if isinstance(value, Cell) else frozenset()


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
        loader=jinja2.PackageLoader("gradelake.sql.shown", "."),
    )
    return environment.get_template(name)


def escape(text: str) -> str:
    """Text as LaTeX shows it; control characters and line ends become spaces."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return "".join(_SPECIAL.get(character, character) for character in printable)


def figure(text: str) -> str:
    """A printed number, or two of them, with minus signs."""
    return _NEGATIVE.sub("$-$", escape(text))
