"""One question to the lake: a statement's rows, in a format, or an error in plain words."""

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb

from sql import console
from sql.errors import NOT_BUILT_YET, BadInput
from sql.plain_words import in_plain_words
from sql.storage import bucket_error

if TYPE_CHECKING:
    from sql.lake import Lake

T = TypeVar("T")
Values = Mapping[str, str | None] | None

# comments and spaces: nothing that could be run
_NOTHING = re.compile(r"(?>\s+|--[^\n]*+(?:\n|\Z)|/\*(?>[^*]|\*(?!/))*+\*/)*+")
_PLAN = ["explain_key", "explain_value"]  # the columns of EXPLAIN: drawings


def split(text: str) -> tuple[list[str], str]:
    """The finished statements of a text, without their semicolons, and what follows the last one.

    DuckDB's own tokens decide, so a semicolon in a text, a quoted name or a comment ends nothing.
    Raises `BadInput` for bytes that are not UTF-8.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError:  # half characters stand for other bytes
        raise BadInput("a statement is not UTF-8", "Save or type it as UTF-8.") from None
    finished, start = [], 0
    for offset, _ in duckdb.tokenize(text):  # offsets count bytes
        if content[offset : offset + 1] == b";":
            finished.append(content[start:offset].decode())
            start = offset + 1
    return [each for each in finished if not is_nothing(each)], content[start:].decode()


def is_nothing(text: str) -> bool:
    """Whether a text is only spaces and comments."""
    return bool(_NOTHING.fullmatch(text))


def one_statement(text: str) -> str:
    """The only statement of a text. Raises `BadInput` when there are several, or none."""
    finished, rest = split(text)
    found = [*finished, *([] if is_nothing(rest) else [rest])]
    if len(found) != 1:
        raise BadInput("give one statement at a time", "Or pipe several in, each ending in ;")
    return found[0]


def relation(lake: "Lake", statement: str, values: Values = None) -> duckdb.DuckDBPyRelation | None:
    """A statement's result, not read yet; None for a statement without rows, which has been run.

    Raises `BadInput` with DuckDB's own words.
    """
    return in_words(lambda: lake.connection.sql(statement, params=values))


def answer(found: duckdb.DuckDBPyRelation, format_: str) -> None:
    """Print a result in one of `console.FORMATS`. Raises `BadInput` with DuckDB's own words."""
    rows = in_words(found.fetchall)
    if found.columns == _PLAN and format_ == "table":
        for _, drawing in rows:
            console.say(drawing)
        return
    console.FORMATS[format_](found.columns, rows)


def write(found: duckdb.DuckDBPyRelation, format_: str, output: Path) -> None:
    """Write a result to a file. Raises `BadInput` when it cannot be written."""
    try:
        with output.open("w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
            if format_ == "parquet":
                in_words(lambda: found.write_parquet(str(output)))
            else:
                answer(found, format_)
    except OSError as error:
        raise cannot_be_written(output, error) from None


def cannot_be_written(output: Path, error: OSError) -> BadInput:
    return BadInput(f"{output}: cannot be written: {error.strerror or error}")


def in_words(work: Callable[[], T]) -> T:
    """Do something with DuckDB; its errors become ones for people, without a stack trace.

    Raises `BadInput` for a wrong statement, `WorkFailed` where the lake's files are at fault, and
    `KeyboardInterrupt` for a query that was interrupted.
    """
    try:
        return work()
    except duckdb.Error as error:
        if refused := bucket_error(error) or in_plain_words(error):
            raise refused from None
        missing = isinstance(error, duckdb.CatalogException) and "Table with" in str(error)
        raise BadInput(_told(error), NOT_BUILT_YET if missing else None) from None
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # DuckDB's word for Ctrl-C
            raise KeyboardInterrupt from None
        raise


def _told(error: Exception) -> str:
    text = str(error).strip()
    return text.split("\n\nLINE")[0] if len(text) > 2000 else text
