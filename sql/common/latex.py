"""Text and rows as LaTeX, with booktabs; https://ctan.org/pkg/booktabs says what its rules are."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gradelake.sql.common.table_text import text_columns

UNDEFINED = "--"
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


def escape(text: str) -> str:
    """Text as LaTeX shows it; control characters and line ends become spaces."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return "".join(_SPECIAL.get(character, character) for character in printable)


def figure(text: str) -> str:
    """A printed number, or two of them, with minus signs."""
    return _NEGATIVE.sub("$-$", escape(text))


def tabular(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """The lines of a `tabular`: numbers align right, with the decimals that the column needs."""
    table = text_columns(columns, rows)
    alignment = "".join("r" if column.is_number else "l" for column in table)
    yield r"% needs \usepackage[T1]{fontenc} and \usepackage{booktabs}"
    yield f"\\begin{{tabular}}{{{alignment}}}"
    yield r"\toprule"
    yield " & ".join(escape(column.header) for column in table) + r" \\"
    yield r"\midrule"
    shown = [
        [figure(text) or UNDEFINED if column.is_number else escape(text) for text in column.texts]
        for column in table
    ]
    yield from (" & ".join(cells) + r" \\" for cells in zip(*shown, strict=True))
    yield r"\bottomrule"
    yield r"\end{tabular}"
