"""Rows of a table as people keep them: CSV, JSON, Parquet, a workbook, a database.

Every form gives the same: (line, {column: value}), the column's name in lower case. A line is a
file's where it has lines, else the number of the row.
"""

import codecs
import html
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from gradelake.ingest.csv_tables import Table, first_cells
from gradelake.ingest.tables.form import said_of
from gradelake.sql.common import files
from gradelake.sql.common.console import unseen
from gradelake.sql.common.problems import Problems, Rejected, reject
from gradelake.sql.lake import extensions
from gradelake.sql.lake.connection import execute

Row = tuple[int, dict[str, Any]]

JSON = (".json", ".jsonl", ".ndjson")
_DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")
_FORMS = (".csv", ".parquet", ".xlsx", *_DATABASES)  # that are nothing but tables
_MARKS = ",;\t|"
_SQLITE = b"SQLite format 3\0"
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")  # how a workbook keeps 7


def is_table(path: Path, shown: str, kind: str) -> bool:
    """Whether a file is a table: settings say so, or its name, as none of the field's own forms is
    called so. A list in JSON is one, and so are runs and judgments in JSON; its other kinds are
    read line by line."""
    if said_of(shown):
        return True
    name = path.name.removesuffix(".gz").lower()
    if name.endswith(_FORMS) or (name.endswith(JSON) and kind in ("runs", "judgments")):
        return True
    with suppress(Rejected):  # who reads it says so
        return name.endswith(".json") and _is_list(path, shown)
    return False


def _is_list(path: Path, shown: str) -> bool:
    return next(files.chunks(path, shown), b"").lstrip().startswith(b"[")


def rows_of(
    path: Path, shown: str, problems: Problems, progress: Callable[..., Any] = unseen
) -> Iterator[Row]:
    """Every row of a table. Rows that cannot be read are added to the problems, which the caller
    raises once it has looked at the others.

    Raises `Rejected` for a file that is not what its name says, and one of several tables, none of
    which is named.
    """
    name = path.name.removesuffix(".gz").lower()
    if name.endswith((".parquet", ".xlsx", *_DATABASES)):
        found: Iterable[Row] = _relation(path, shown, name)
    elif name.endswith(JSON):
        found = _objects(path, shown, problems, progress)
    else:
        found = _lines(path, shown, problems)
    last: tuple[str, ...] | None = None  # columns as they are written
    names: list[str] = []
    for line, row in found:
        if (written := tuple(row)) != last:
            last, names = written, [name.strip().lower() for name in written]
        yield line, dict(zip(names, row.values(), strict=True))
    if last is None and not problems.found:
        raise reject(shown, None, "holds no rows, only a header", "Is this the right file?")


def _lines(path: Path, shown: str, problems: Problems) -> Iterator[Row]:
    encoding = said_of(shown).get("encoding")
    if not encoding and _start(path).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"  # as spreadsheets write it
    try:
        data = files.recoded(path, shown, encoding) if encoding else files.read(path, shown)
    except Rejected as rejected:
        if "is not UTF-8" in rejected.message:
            rejected.hint = files.NAME_ENCODING
        raise
    mark = said_of(shown).get("delimiter")
    mark = mark or max(_MARKS, key=lambda each: len(first_cells(data, each)))
    table = Table(data, shown, (), mark)
    table.require([*filter(None, table.names)], "Rename one of them.")
    return table.rows(problems.add)


def _start(path: Path) -> bytes:
    """The first bytes of a file; none of one that cannot be read, of which the reader says so."""
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(len(_SQLITE))
    return b""


def _objects(
    path: Path, shown: str, problems: Problems, progress: Callable[..., Any]
) -> Iterator[Row]:
    """Objects of a list; or one a line, of a file that need not fit into memory."""
    if not _is_list(path, shown):
        yield from files.json_objects(files.lines_of(path, shown, progress), problems)
        return
    listed = files.json_of(
        files.read(path, shown), shown, "Give a list of objects, or an object a line."
    )
    for number, value in enumerate(listed, start=1):
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add(number, f"a JSON {type(value).__name__}, not an object")


def _relation(path: Path, shown: str, name: str) -> Iterator[Row]:
    files.check_file_name(shown)
    with duckdb.connect(config={"threads": 1}) as connection:
        try:
            if name.endswith(".parquet"):
                found = execute(connection, "from read_parquet(?)", [str(path)])
            elif name.endswith(".xlsx"):
                found = _sheet(connection, path, shown)
            else:
                found = _table(connection, path, shown)
            names = [column for column, *_ in found.description or ()]
            is_workbook = name.endswith(".xlsx")
            number = int(is_workbook)  # of the header
            while rows := found.fetchmany(10_000):
                for values in rows:
                    number += 1
                    cells = map(_cell, values) if is_workbook else values
                    yield number, dict(zip(names, cells, strict=True))
        except duckdb.Error as error:
            first = str(error).partition("\n")[0]
            raise reject(shown, None, f"cannot be read: {first}", "Is it whole?") from error


def _sheet(connection: Any, path: Path, shown: str) -> Any:
    try:
        with zipfile.ZipFile(path) as book:
            files.limits.check(
                path.stat().st_size, sum(part.file_size for part in book.infolist()), shown
            )
            content = book.read("xl/workbook.xml").decode()
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise reject(shown, None, "is not a workbook", "Save it again as .xlsx.") from error
    named = re.findall(r'<(?:\w+:)?sheet\b[^>]*?\sname="([^"]*)"', content)
    sheet = _chosen([html.unescape(each) for each in named], "sheets", shown)
    extensions.load(connection, "excel")
    relation = "read_xlsx(?, sheet = ?, all_varchar = true, header = true, stop_at_empty = false)"
    return execute(connection, f"from {relation}", [str(path), sheet])


def _cell(value: str | None) -> str | None:
    """A workbook's cell: its whole numbers are kept as 7.0."""
    found = _WHOLE.fullmatch(value or "")
    return found[1] if found else value


def _table(connection: Any, path: Path, shown: str) -> Any:
    is_sqlite = _start(path) == _SQLITE
    quoted = str(path).replace("'", "''")
    if is_sqlite:
        extensions.load(connection, "sqlite_scanner")
        connection.execute("set sqlite_all_varchar = true")
    kind = "read_only, type sqlite" if is_sqlite else "read_only"
    connection.execute(f"attach '{quoted}' as source ({kind})")
    connection.execute("use source")
    tables = [name for (name,) in connection.execute("show tables").fetchall()]
    table = _chosen(tables, "tables", shown).replace('"', '""')
    return connection.execute(f'from "{table}"')


def _chosen(there: list[str], what: str, shown: str) -> str:
    """The table that the settings name, or the only one."""
    listed = ", ".join(there[:10])
    named = said_of(shown).get("table", there[0] if len(there) == 1 else "")
    if named in there:
        return named
    told = f"has no {what[:-1]} {named!r}" if named else f"has {len(there)} {what}"
    hint = f'Name one of them in gradelake.toml: table = "...": {listed}.'
    raise reject(shown, None, told, hint)
