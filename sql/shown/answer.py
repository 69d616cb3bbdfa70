"""An answer: what was asked, a sentence with its doubt, tables, pictures, notes, what to do next.

Whoever answers a question makes one of these and knows nothing of how it is shown; the renderers
beside this module show any answer and know nothing of statistics.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.shown.kinds import KINDS, Interval, Kind, shown

if TYPE_CHECKING:
    from gradelake.sql.shown.pictures.picture import Picture

BOLD, BEST, BOXED, GREY = "bold", "best", "boxed", "grey"  # marks of a cell
RULED = "ruled"  # of a row's first cell: a rule stands above the row


@dataclass(frozen=True)
class Column:
    """A column. `key` is its name in CSV and JSON, `head` stands above it where people read.

    `kind` is one of `KINDS`; an interval's ends look as the kind `ends`. Columns
    of one `group` stand under its name. `is_key`: it says what a row is. `is_beside`: it belongs to
    the column before. `is_title`: said once above its rows, in print. `is_detail`: in CSV and JSON
    alone. `means`: what it is, where no mart says it.
    """

    key: str
    head: str = ""
    kind: str = "text"
    ends: str = "score"
    group: str = ""
    is_key: bool = False
    is_beside: bool = False
    is_title: bool = False
    is_detail: bool = False
    means: str = ""

    @property
    def looks(self) -> Kind:
        return KINDS[self.kind]

    @property
    def shown_head(self) -> str:
        return self.head or self.key.replace("_", " ")

    @property
    def is_number(self) -> bool:
        return self.looks.is_number and self.kind != "interval"

    def text(self, value: Any) -> str:
        """A value of this column as people read it."""
        if isinstance(value, Cell):
            return self.text(value.value) if value.shown is None else value.shown
        if isinstance(value, Interval):
            return shown(self.ends, value)
        return self.looks.text(value)

    def values(self, value: Any) -> dict[str, Any]:
        """The value by its key, in full; an interval is its two ends, and why it has none."""
        if isinstance(value, Cell):
            value = value.value
        if self.kind != "interval":
            return {self.key: value}
        found = value if isinstance(value, Interval) else Interval(None, None)
        start = self.key.removesuffix("interval")
        ends = {f"{start}low": found.low, f"{start}high": found.high}
        return ends | {f"{start}no_interval": found.reason or None}


@dataclass(frozen=True)
class Cell:
    """A value with `marks` (bold, best, boxed, grey, ruled), or with another text than its kind's.

    `error`: how far the value may be off and still be as good as another.
    """

    value: Any
    marks: frozenset[str] = frozenset()
    shown: str | None = None
    error: float = 0.0

    def marked(self, *marks: str) -> "Cell":
        return replace(self, marks=self.marks | set(marks))


EMPTY = Cell(None, shown="")  # of a row that has nothing there


@dataclass(frozen=True)
class Table:
    """Rows under columns; a row's values stand in the order of the columns.

    `name` is the key in JSON, and what `--table` takes; `caption` says what it shows. A terminal
    shows the first `most` rows, all where it is None. What `is_extra` is folded where a page can.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    most: int | None = None
    is_extra: bool = False

    @classmethod
    def of(
        cls, name: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], **more: Any
    ) -> "Table":
        """A table of objects that have a value for each column's key."""
        return cls(name, columns, [[row.get(one.key) for one in columns] for row in rows], **more)

    def records(self) -> list[dict[str, Any]]:
        """A row as an object, with the values in full."""
        return [
            {
                key: value
                for column, cell in zip(self.columns, row, strict=True)
                for key, value in column.values(cell).items()
            }
            for row in self.rows
        ]

    def keys(self) -> list[str]:
        """The names above the columns of its CSV, also where it has no rows."""
        return [key for column in self.columns for key in column.values(None)]

    def printed(self) -> list[int]:
        """The places of the columns that people read in every row."""
        return [
            at
            for at, column in enumerate(self.columns)
            if not column.is_detail and not column.is_title
        ]

    def blocks(self) -> Iterator[tuple[str, list[Sequence[Any]]]]:
        """(title, rows) of the rows that belong together; "" where none has a title, or is."""
        if not self.rows:
            yield "", []
        titles = [at for at, column in enumerate(self.columns) if column.is_title]

        def title(row: Sequence[Any]) -> str:
            return ", ".join(text for at in titles if (text := self.columns[at].text(row[at])))

        for said, rows in groupby(self.rows, title):
            yield said, list(rows)

    def texts(self, rows: Sequence[Sequence[Any]] | None = None) -> list[list[str]]:
        """What people read of some rows, or of all."""
        places = self.printed()
        return [
            [self.columns[at].text(row[at]) for at in places]
            for row in (self.rows if rows is None else rows)
        ]


@dataclass(frozen=True)
class Answer:
    """What a question is answered with.

    `asked`: what was asked, by name. `sentence`: the answer in words, with its doubt. `facts`: more
    of it in words, each behind what it is about, or by itself. `notes`: what limits it. `next`:
    what could be done next. `picture`: its rows drawn, for those who ask for a picture. `details`:
    what JSON has beside the tables. `forms`: those that this answer alone can have, by name.
    `means`: what its columns mean, for those who ask.
    """

    asked: Mapping[str, Any]
    sentence: str = ""
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    picture: "Picture | None" = None
    notes: Sequence[str] = ()
    next: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    exit_code: int = 0
    forms: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    means: Mapping[Column, str] = field(default_factory=dict)

    def explained(self, words: Mapping[str, str]) -> "Answer":
        """The answer with what its columns mean: in their own words, or in these, by their keys."""
        means: dict[Column, str] = {}
        for column in (column for table in self.tables for column in table.columns):
            name = column.key.rpartition(" ")[2]  # a label set may stand before it
            means[column] = column.means or words.get(name, "")
        return replace(self, means=means)

    def shown_tables(self) -> list[Table]:
        """The tables that people read: of extra ones those that have rows."""
        return [table for table in self.tables if table.rows or not table.is_extra]

    def of(self, table: str) -> "Answer":
        """The answer with one of its tables alone. Raises `BadInput` for one that it has not."""
        known = {each.name: each for each in self.tables}
        if table not in known:
            raise BadInput(f"there is no table {table!r}", did_you_mean(table, known))
        columns = known[table].columns
        means = {column: words for column, words in self.means.items() if column in columns}
        return replace(self, tables=[known[table]], means=means)

    def _says(self) -> dict[str, str] | list[str]:
        """The facts by what they are about; lines where some stand by themselves."""
        if all(about for about, _ in self.facts):
            return dict(self.facts)
        return [self.fact(*one) for one in self.facts]

    def explanation(self) -> list[Table]:
        """What its columns mean, as a table, if somebody asked."""
        rows = [
            (column.shown_head, ", ".join(column.values(None)), words)
            for column, words in self.means.items()
        ]
        heads = map(Column, ("column", "in CSV and JSON", "meaning"))
        return [Table("columns", [*heads], rows)] if rows else []

    def _meanings(self) -> dict[str, str]:
        """What its columns mean, by their names in CSV and JSON; two tables may share one."""
        return {key: words for column, words in self.means.items() for key in column.values(None)}

    @staticmethod
    def fact(about: str, words: str) -> str:
        """One of its facts as a line."""
        return f"{about}: {words}" if about else words

    def as_object(self) -> dict[str, Any]:
        """All of it, as `--json` prints it: tables by their names, values in full."""
        return {
            **self.asked,
            "sentence": self.sentence or None,
            **({"says": self._says()} if self.facts else {}),
            **self.details,
            **{table.name: table.records() for table in self.tables},
            **({"columns": self._meanings()} if self.means else {}),
            "notes": list(self.notes),
            "next": list(self.next),
        }


@dataclass(frozen=True)
class Page:
    """Answers under titles. `subtitle`: a line below the page's own title; `details`: what JSON has
    beside the answers, which stand there by their names."""

    title: str
    subtitle: str
    parts: Sequence["PagePart"]
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_object(self) -> dict[str, Any]:
        """All of it, as `--json` prints it."""
        return {
            "title": self.title,
            **self.details,
            "sections": [
                {"section": part.name, "title": part.title} | part.answer.as_object()
                for part in self.parts
            ],
        }


@dataclass(frozen=True)
class PagePart:
    """One answer of a page, under its title."""

    name: str
    title: str
    answer: Answer


def with_best_bold(
    table: Table, keys: Iterable[str], within: float = 0, marks_best: bool = False
) -> Table:
    """The table with the greatest of each of these columns bold, as printed, and what is `within`
    so much of it, or whose error overlaps its error: ties all are. With `marks_best` the greatest
    is `best`, too: bold italic, as in RUBRIC's Table 3."""
    rows = [list(row) for row in table.rows]
    wanted = set(keys)
    for at in (n for n, column in enumerate(table.columns) if column.key in wanted):
        column = table.columns[at]
        known: dict[int, tuple[float, Cell]] = {}
        for n, row in enumerate(rows):
            cell = row[at] if isinstance(row[at], Cell) else Cell(row[at])
            if cell.value is not None and (text := column.text(cell)):
                known[n] = (float(text.replace(",", "")), cell)
        best, error = max(((value, cell.error) for value, cell in known.values()), default=(0, 0))
        least = best - error - within - 1e-9
        for n, (value, cell) in known.items():
            if value + cell.error >= least:
                is_best = marks_best and value == best
                rows[n][at] = cell.marked(BOLD, BEST) if is_best else cell.marked(BOLD)
    return replace(table, rows=rows)
