"""What is wrong with an input, where, and what to do: the reports of all that read files."""

import re
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradelake.sql.common.errors import BadInput

if TYPE_CHECKING:  # it takes a while to import, and most problems do without
    import polars as pl

SHOWN = 10  # problems printed for one file; the rest are counted
REPAIR = "Fix or remove these lines and ingest again."
MAX_MESSAGE = 300  # characters; what is quoted from a file may have no end
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def named(file: str) -> str:
    """A file's name on one line: control characters as escapes."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], file)


@dataclass(frozen=True)
class Problem:
    """One thing wrong in one place. `line` is 1-based; None when the whole file is meant."""

    file: str
    line: int | None
    message: str

    def __post_init__(self) -> None:
        if len(self.message) > MAX_MESSAGE:
            half = MAX_MESSAGE // 2
            shorter = f"{self.message[:half]} ... {self.message[-half:]}"
            object.__setattr__(self, "message", shorter)

    def __str__(self) -> str:
        where = named(self.file) + (f":{self.line}" if self.line else "")
        return f"{where}: {self.message}"


class Rejected(BadInput):
    """An input that cannot be used. Nothing of it lands; other inputs go on.

    `problems` holds the first ones, `total` counts them all, `hint` says what to do.
    """

    def __init__(self, problems: list[Problem], hint: str, total: int | None = None):
        super().__init__(str(problems[0]), hint)
        self.problems = sorted(problems, key=lambda p: p.line or 0)[:SHOWN]
        self.total = total or len(problems)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def file(self) -> str:
        return self.problems[0].file

    def lines(self) -> list[str]:
        """The report, a line per problem."""
        more = self.total - len(self.problems)
        return [
            *(str(problem) for problem in self.problems),
            *([f"{named(self.file)}: and {more:,} more like these"] if more else []),
            f"  what to do: {self.hint}",
        ]


def reject(file: str, line: int | None, message: str, hint: str) -> Rejected:
    """A rejection for one problem."""
    return Rejected([Problem(file, line, message)], hint)


@dataclass
class Problems:
    """Collects the problems of one file and raises them together."""

    file: str
    hint: str
    found: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, line: int | None, message: str) -> None:
        """Keep it when it is among the first, by line; count it in any case."""
        self.total += 1
        if len(self.found) < SHOWN or (line or 0) < (self.found[-1].line or 0):
            insort(self.found, Problem(self.file, line, message), key=lambda each: each.line or 0)
            del self.found[SHOWN:]

    def raise_if_any(self) -> None:
        if self.found:
            raise Rejected(self.found, self.hint, self.total)


class BadRows(Exception):
    """Rows break their table's contract; `failure_cases` is pandera's frame of what and where."""

    def __init__(self, error: Any):
        super().__init__(str(error))
        self.failure_cases: pl.DataFrame = error.failure_cases


def from_contract(
    error: BadRows, rows: "pl.DataFrame", file: str, key: list[str], name_row: Iterable[str]
) -> Rejected:
    """Turn pandera's failure cases into problems of a file.

    `rows` is the validated frame with its `line` column; `key` are the columns that must be unique,
    `name_row` those that identify a row to a person.
    """
    import polars as pl

    problems = Problems(file, REPAIR)
    cases = error.failure_cases.filter(pl.col("index").is_not_null())
    values = cases.filter(~pl.col("check").cast(pl.String).str.contains("unique"))
    for index, column, check in values.select("index", "column", "check").iter_rows():
        row = rows.row(index, named=True)
        text = "must not be empty" if check == "not_nullable" else str(check)
        problems.add(row["line"], f"{column} {row.get(column)!r}: {text}")
    first = pl.col("line").min().over(key).alias("first")
    for row in rows.with_columns(first).filter(pl.col("line") > pl.col("first")).to_dicts():
        named = ", ".join(f"{column} {row[column]!r}" for column in name_row)
        problems.add(row["line"], f"{named} is listed twice (first on line {row['first']})")
    if not problems.found:
        raise error  # a broken contract that no row explains is a fault of ours
    return Rejected(problems.found, problems.hint, problems.total)
