"""One question to the lake: a statement's rows, in a format, or an error in plain words."""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from gradelake.sql.ask import confined
from gradelake.sql.ask.book import BookEntry, entries
from gradelake.sql.ask.not_in_release import not_built_yet
from gradelake.sql.ask.shell.tables import shown_name, tables
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import NOT_BUILT_YET, BadInput, GradelakeError
from gradelake.sql.common.interrupts import is_interruption
from gradelake.sql.common.plain_words import in_plain_words, older_release
from gradelake.sql.lake.connection import without_pandas
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown import forms, text
from gradelake.sql.shown.answer import Answer
from gradelake.sql.shown.rows import table_of

T = TypeVar("T")
Values = Mapping[str, str | None] | None

# comments and spaces: nothing that could be run
_NOTHING = re.compile(r"(?>\s+|--[^\n]*+(?:\n|\Z)|/\*(?>[^*]|\*(?!/))*+\*/)*+")
_WORD = re.compile(r"\w[\w.]*")
_ENDINGS = {
    **{".csv": "csv", ".json": "json", ".parquet": "parquet"},
    **{".tex": "latex", ".txt": "table", ".md": "markdown", ".html": "html"},
}
_BUILT = "from duckdb_tables() where database_name = 'lake' and schema_name = 'marts' limit 1"
FOR_PEOPLE = ("table", "line")
FORMATS = (*FOR_PEOPLE, "csv", "json", "latex", "markdown", "html")
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


def beginning(text: str, place: int) -> int:
    """Where the first word after a place of a text begins, past spaces and comments."""
    found = _NOTHING.match(text, place)
    return found.end() if found else place


def one_statement(text: str) -> str:
    """The only statement of a text. Raises `BadInput` when there are several, or none."""
    finished, rest = split(text)
    found = [*finished, *([] if is_nothing(rest) else [rest])]
    if len(found) != 1:
        raise BadInput("give one statement at a time", "Or pipe several in, each ending in ;")
    return found[0]


def relation(lake: Lake, statement: str, values: Values = None) -> duckdb.DuckDBPyRelation | None:
    """A statement's result, not read yet; None for a statement without rows, which has been run.

    Raises `BadInput` with DuckDB's own words, and for one that may do more than read the lake where
    `confined.prepare` did not allow it.
    """
    try:
        if not lake.allows_files:
            in_words(lambda: confined.check(lake.connection, statement))
        with without_pandas():
            return in_words(lambda: _run(lake.connection, statement, values))
    except BadInput as error:
        if error.hint == NOT_BUILT_YET and "raw." not in statement and not lake.rows(_BUILT):
            error.message = error.message.partition("\n")[0]  # without what DuckDB finds similar
            error.hint = "Nothing is built yet: run `gradelake build`."
        elif statement in [entry.sql for entry in entries().values()]:
            raise older_release(error.__context__, lake.release) or error from None
        if (word := statement.strip()) and _WORD.fullmatch(word):
            error.hint = _for_one_word(lake, word) or error.hint
        raise


def _run(
    connection: duckdb.DuckDBPyConnection, statement: str, values: Values
) -> duckdb.DuckDBPyRelation | None:
    try:
        return connection.sql(statement, params=values)
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        if "\nLINE" not in str(error):
            connection.execute(statement, values)  # fails at the same, and says where
        raise


def rows(lake: Lake, statement: str, values: Values = None) -> duckdb.DuckDBPyRelation:
    """`relation` of a statement that has rows. Raises `BadInput` for another."""
    found = relation(lake, statement, values)
    if found is None:
        raise BadInput("this statement returns no rows", "The lake is open for reading only.")
    return found


def _for_one_word(lake: Lake, word: str) -> str | None:
    """What a single word was meant for: a question of the book, a table."""
    meant = [f"`@{word}` asks the question of this name"] if word in entries() else []
    if shown_name(word) in tables(lake):
        meant.append(f"`from {word}` reads the table")
    return f"{'; '.join(meant)}." if meant else None


def some(found: duckdb.DuckDBPyRelation, first: int | None) -> duckdb.DuckDBPyRelation:
    """The first rows of a result, and one more where there is one: what `answer` needs."""
    return found if first is None else found.limit(first + 1)


def answer(
    found: duckdb.DuckDBPyRelation,
    format_: str,
    first: int | None = None,
    measure: str = "",
    for_person: bool = False,
    looks: Mapping[str, str] | None = None,
) -> int:
    """Print a result in one of `FORMATS`, its `first` rows or all; returns how many.

    `for_person`, a table's last line says how many, and `measure` what. `looks`: of a question, as
    `BookEntry` has them. Raises `BadInput` with DuckDB's own words.
    """
    fetched = in_words(found.fetchall)
    all_of_them, fetched = len(fetched), fetched[:first]
    if found.columns == _PLAN and format_ == "table":
        for _, drawing in fetched:
            console.say(drawing)
    else:
        print_rows(format_, found.columns, fetched, looks)
        if format_ == "table" and fetched and for_person:
            which = "the first " if len(fetched) < all_of_them else ""
            console.say(f"({which}{counted(len(fetched), 'rows')}{measure})", wrap=True)
    return len(fetched)


def print_rows(
    format_: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    looks: Mapping[str, str] | None = None,
) -> None:
    """Print rows in one of `FORMATS`; `looks` as of `answer`."""
    if format_ in ("csv", "json"):
        (console.print_csv if format_ == "csv" else console.print_records)(columns, rows)
        return
    table = table_of(columns, rows, looks)
    if format_ == "table":
        text.show_table(table)
    elif format_ == "line":
        console.print_line(columns, table.texts())
    elif format_ == "latex":
        from gradelake.sql.shown.latex import tabular

        print(r"% needs \usepackage[T1]{fontenc} and \usepackage{booktabs}")
        print("\n".join(tabular(table)))
    else:
        print(forms.written(Answer({}, tables=[table]), format_), end="")


# what most questions are about, the tables that have it, and what brings it in
_MOST_ASK_ABOUT = (
    ("runs and answers", ("systems",), "set runs or responses in gradelake.toml and ingest"),
    ("judgments and labels", ("judgments", "grades"), "ingest, import or grade some"),
    ("rubric", ("rubric_items",), "`gradelake import bank` or `gradelake generate`"),
)


def why_empty(lake: Lake, statement: str, values: Values = None) -> list[str]:
    """What may be behind an answer without rows: data that no build knows; of a question of the
    book, each of its `values` without which it would have some."""

    def n_rows(some: Values) -> int:
        with contextlib.suppress(duckdb.Error):  # a value that cannot be left out
            return lake.value(f"select count(*) from ({statement})", **(some or {}))
        return 0

    found = [hint] if (hint := not_built_yet(lake)) else []
    given = {name: value for name, value in (values or {}).items() if value is not None}
    fewer = [
        f"without --{name.replace('_', '-')} {value} there would be {counted(n, 'rows')}"
        for name, value in given.items()
        if (n := n_rows({**(values or {}), name: None}))
    ]
    if not fewer and given and (n := n_rows(dict.fromkeys(values or {}))):
        fewer = [f"with any value of {', '.join(given)} there would be {counted(n, 'rows')}"]
    if values is not None and not fewer and not found:
        fewer = ["nothing in this lake answers it yet, whatever is asked for", *_lacking(lake)]
    return found + fewer


def _lacking(lake: Lake) -> Iterator[str]:
    """What the lake has none of that most questions are about, and what brings it in."""
    for what, places, how in _MOST_ASK_ABOUT:
        if not any(lake.value(f"select exists (from lake.raw.{table})") for table in places):
            yield f"it has no {what}: {how}, then `gradelake build`"


def tell_why_empty(lake: Lake, statement: str, values: Values = None) -> None:
    """Below an answer without rows, on standard error."""
    sys.stdout.flush()
    for line in why_empty(lake, statement, values):
        console.tell(line)


@contextlib.contextmanager
def lake_of(lake: Lake, question: BookEntry, is_named: bool) -> Iterator[Lake]:
    """The lake that a question reads: `lake`, or the working catalog for one that is about it.

    It stays `lake` where a release was asked for by name (`is_named`), and, with a warning, where
    the working catalog cannot be read.
    """
    if not question.live or is_named or lake.release is None:
        yield lake
        return
    try:
        live = Lake.live(lake.project)
    except GradelakeError as error:
        console.warn(f"as of release {lake.release}: {error.message}")
        yield lake
        return
    with live:
        confined.prepare(live, lake.allows_files)
        yield live


def format_of(output: Path | None) -> str:
    """The format that the ending of a file's name stands for; `table` without a file.

    Raises `BadInput` for another ending.
    """
    if output is None:
        return "table"
    if found := _ENDINGS.get(output.suffix.lower()):
        return found
    raise BadInput(
        f"{output}: its name does not tell the format",
        f"End it in one of {', '.join(_ENDINGS)}, or add --format.",
    )


def write(
    found: duckdb.DuckDBPyRelation,
    format_: str,
    output: Path,
    first: int | None = None,
    looks: Mapping[str, str] | None = None,
) -> int:
    """Write a result, or its `first` rows, to a file; returns how many. `looks` as of `answer`.

    Raises `BadInput` when it cannot.
    """
    try:
        with output.open("w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
            if format_ != "parquet":
                return answer(found, format_, first, looks=looks)
            asked = found if first is None else found.limit(first)
            in_words(lambda: asked.write_parquet(str(output.absolute())))
        import polars as pl

        return pl.scan_parquet(output, glob=False).select(pl.len()).collect().item()
    except OSError as error:
        raise cannot_be_written(output, error) from None


def cannot_be_written(output: Path | None, error: OSError) -> BadInput:
    """Say which file of answers cannot be written, and why."""
    return BadInput(f"{output}: cannot be written: {error.strerror or error}")


def in_words(work: Callable[[], T], ours: bool = False) -> T:
    """Do something with DuckDB; its errors become ones that people can read, without a stack trace.
    `ours`: as for `in_plain_words`.

    Raises `BadInput` for a wrong statement, `WorkFailed` where the lake's files are at fault, and
    `KeyboardInterrupt` for a query that was interrupted.
    """
    try:
        return work()
    except duckdb.Error as error:
        if refused := in_plain_words(error, ours):
            raise refused from None
        missing = isinstance(error, duckdb.CatalogException) and "Table with" in str(error)
        message = str(error).partition("\n\nStack Trace")[0].strip()
        if len(message) > 2000:
            message = message.split("\n\nLINE")[0]
        raise BadInput(message, NOT_BUILT_YET if missing else None) from None
    except RuntimeError as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        raise
