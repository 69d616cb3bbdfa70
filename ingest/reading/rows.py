"""Rows of a table as people keep them: CSV, JSON, Parquet, a workbook, a database.

Every form gives the same: (line, {column: value}), the column's name in lower case. A line is a
file's where it has lines, else the number of the row.
"""

import codecs
import gzip
import re
import threading
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from gradelake.ingest.mapping.form import ROLES, names_of, settings_of
from gradelake.ingest.mapping.paths import plain
from gradelake.ingest.reading.csv_tables import Table, first_cells
from gradelake.ingest.reading.heads import LOOKED_AT, CsvHead, head_of, header_at
from gradelake.ingest.reading.tagged import is_tagged, topics_of
from gradelake.ingest.reading.workbooks import extent, sheets_of
from gradelake.sql.common import files
from gradelake.sql.common.console import unseen
from gradelake.sql.common.counted import counted
from gradelake.sql.common.noting import note
from gradelake.sql.common.plain_words import damage
from gradelake.sql.common.problems import Problems, Rejected, reject
from gradelake.sql.lake.connection import execute, literal, open_duckdb, quote

Row = tuple[int, dict[str, Any]]

JSON = (".json", ".jsonl", ".ndjson")
_DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")
_FORMS = (".csv", ".parquet", ".xlsx", *_DATABASES)  # that are nothing but tables
_TAGGED = ".xml"
MARKS = ",;\t|"
_SQLITE = b"SQLite format 3\0"
# The tables whose rows are stored: a view, a virtual table and a computed column are queries of
# whoever made the file. DuckDB leaves out what SQLite's tables compute.
_DUCKDB_TABLES = """
    select table_name
    from duckdb_tables()
    where
        database_name = 'source'
        and schema_name = 'main'
        and not contains(sql, ' GENERATED ALWAYS AS(')
"""
_SQLITE_TABLES = """
    select name
    from sqlite_scan({}, 'sqlite_master')
    where type = 'table' and starts_with(sql, 'CREATE TABLE ') and not starts_with(name, 'sqlite_')
"""
_NOT_READ = "Views and computed columns are not read: store their rows in a table."
NO_ROWS = "holds no rows, only a header"
_PATIENCE = 300  # seconds: so long DuckDB may take to open a file, and to find its next rows
_AT_ONCE = 10_000  # rows
_SPLIT = {"columns", "index", "data"}  # keys of a frame that pandas writes with orient="split"
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")  # how a workbook keeps 7


def is_table(path: Path, shown: str, kind: str) -> bool:
    """Whether a file is a table: settings say so, or its name, as none of the field's own forms is
    called so. A list in JSON is one, and so are runs and judgments in JSON; its other kinds are
    read line by line."""
    if settings_of(shown).keys() - {"name"}:
        return True
    name = _form_of(path)
    if name.endswith((*_FORMS, _TAGGED)) or (name.endswith(JSON) and kind in ("runs", "judgments")):
        return True
    with suppress(Rejected):  # who reads it says so
        return name.endswith(".json") and _is_list(path, shown)
    return False


# what a form knows of its cells: texts alone; types of columns; texts, numbers and lists
NOTHING, COLUMNS, ALL = "nothing", "columns", "all"


def known_types(path: Path) -> str:
    """What a table's form knows of its cells."""
    name = _form_of(path)
    if name.endswith(JSON):
        return ALL
    typed = name.endswith(".parquet") or (name.endswith(_DATABASES) and _start(path) != _SQLITE)
    return COLUMNS if typed else NOTHING


def _form_of(path: Path) -> str:
    """A file's name without .gz; where that says nothing, the ending that its first bytes have."""
    name = path.name.removesuffix(".gz").lower()
    if name.endswith((*_FORMS, *JSON, ".tsv")):
        return name
    start = _start(path)
    if start.lstrip()[:1] in (b"{", b"["):
        return f"{name}.jsonl"
    if is_tagged(start):
        return f"{name}{_TAGGED}"
    return f"{name}.parquet" if start.startswith(b"PAR1") else name


def is_json(path: Path) -> bool:
    """Whether a file is JSON, or an object a line, whatever its name."""
    return _form_of(path).endswith(JSON)


def is_binary(path: Path) -> bool:
    """Whether a table's form is no text: Parquet, a workbook, a database."""
    return _form_of(path).endswith((".parquet", ".xlsx", *_DATABASES))


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
    name = _form_of(path)
    if is_binary(path):
        found: Iterable[Row] = _relation(path, shown, name)
    elif name.endswith(JSON):
        found = _objects(path, shown, problems, progress)
    elif "lines" in settings_of(shown):
        found = _matched(path, shown, problems, progress)
    elif name.endswith(_TAGGED):
        found = topics_of(files.read(path, shown).decode())
    else:
        found = _lines(path, shown, problems)
    last: tuple[str, ...] | None = None  # columns as they are written
    names: list[str] = []
    for line, row in found:
        if (written := tuple(row)) != last:
            last, names = written, [name.strip().lower() for name in written]
        yield line, dict(zip(names, row.values(), strict=True))
    if last is None and not problems.found:
        empty = "holds no topics between tags" if name.endswith(_TAGGED) else NO_ROWS
        raise reject(shown, None, empty, "Is this the right file?")


def _lines(path: Path, shown: str, problems: Problems) -> Iterator[Row]:
    encoding = settings_of(shown).get("encoding")
    if not encoding and _start(path).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"  # as spreadsheets write it
    try:
        data = files.recoded(path, shown, encoding) if encoding else files.read(path, shown)
    except Rejected as rejected:
        if "is not UTF-8" in rejected.message:
            rejected.hint = files.NAME_ENCODING
        raise
    names, mark = settings_of(shown).get("columns", ()), settings_of(shown).get("delimiter")
    if names:
        mark = mark or max(f"{MARKS} ", key=lambda each: _fit(first_cells(data, each), names))
        head = CsvHead(mark, 0)
    else:
        head = head_of(data, mark or MARKS)
    table = Table(data, shown, (), head.mark, names, head.above)
    _note_what_is_above(shown, head.above)
    table.require([*filter(None, table.names)], "Rename one of them.")
    return table.rows(problems.add, settings_of(shown).get("short_rows", False))


def _note_what_is_above(shown: str, n_rows: int) -> None:
    if n_rows:
        note(f"{shown}: {counted(n_rows, 'rows', 'are')} above the header, and not read")


def _matched(
    path: Path, shown: str, problems: Problems, progress: Callable[..., Any]
) -> Iterator[Row]:
    """What the pattern that settings say of lines finds in each, by the names of its groups; in a
    time that grows with the lines alone, whatever the pattern."""
    pattern = settings_of(shown)["lines"]
    lines = files.lines_of(path, shown, progress)
    while block := [*islice(lines, _AT_ONCE)]:
        texts = pl.Series([text.strip() for _, text in block], dtype=pl.String)
        found = texts.str.extract_groups(f"^(?:{pattern})$").struct.unnest()
        for (line, _), row in zip(block, found.iter_rows(named=True), strict=True):
            if any(value is not None for value in row.values()):
                yield line, row
            else:
                problems.add(line, f"does not look like {pattern}")


def _fit(cells: list[str], names: Collection[str]) -> int:
    """How well what a mark separates looks like the columns."""
    return -abs(len(cells) - len(names))


def _start(path: Path) -> bytes:
    """The first bytes of a file; none of one that cannot be read, of which the reader says so."""
    with suppress(OSError, EOFError, zlib.error):
        if path.is_file():  # a pipe would wait for who writes into it
            opened = gzip.open if path.name.endswith(".gz") else open
            with opened(path, "rb") as stream:
                return stream.read(len(_SQLITE))
    return b""


def _objects(
    path: Path, shown: str, problems: Problems, progress: Callable[..., Any]
) -> Iterator[Row]:
    """Objects of a list; the one of a file that is an object on several lines; or one a line, of a
    file that need not fit into memory."""
    form = "Give a list of objects, or an object a line."
    if _is_one_object(path, shown):
        for line, data in _printed(files.read(path, shown)):
            yield from _table_of(line, files.json_of(data, shown, form))
        return
    if not _is_list(path, shown):
        for line, found in files.json_objects(files.lines_of(path, shown, progress), problems):
            yield from _table_of(line, found)
        return
    listed = files.json_of(files.read(path, shown), shown, form)
    for number, value in enumerate(listed, start=1):
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add(number, f"a JSON {type(value).__name__}, not an object")


def _printed(data: bytes) -> list[tuple[int, bytes]]:
    """(line, an object) of objects on several lines each, one below the other, as programs print
    them; all that is there, where it is one."""
    starts = [found.start() for found in re.finditer(rb"^\{", data, re.MULTILINE)]
    parts = [data[a:b].rstrip() for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    if not all(part.endswith(b"\n}") for part in parts):
        return [(1, data)]
    return [(data.count(b"\n", 0, at) + 1, part) for at, part in zip(starts, parts, strict=True)]


def _table_of(line: int, found: dict[str, Any]) -> Iterator[Row]:
    """An object as a row; as many, where it is a table, as pandas writes a frame: names of columns,
    and rows without them; or each column by itself."""
    names, data = found.get("columns"), found.get("data")
    if isinstance(names, list) and isinstance(data, list) and found.keys() <= _SPLIT:
        for number, values in enumerate(data, start=1):
            if isinstance(values, list) and len(values) == len(names):
                yield number, dict(zip(map(str, names), values, strict=True))
    elif columns := _columns_of(found):
        for number, values in enumerate(zip(*columns, strict=True), start=1):
            yield number, dict(zip(found, values, strict=True))
    else:
        yield line, found


def _columns_of(found: dict[str, Any]) -> list[list[Any]]:
    """The columns of a table that is kept by columns: lists that are as long, or objects whose keys
    count from 0. None of another object, of one in which no column holds texts alone, and of lists
    whose keys are no usual names: such may be ids."""
    columns = []
    for held in found.values():
        if isinstance(held, dict) and [*held] == [*map(str, range(len(held)))]:
            columns.append([*held.values()])
        elif isinstance(held, list):
            columns.append(held)
        else:
            return []
    are_lists = any(isinstance(held, list) for held in found.values())
    if are_lists and not _usual_names() & {*map(plain, found)}:
        return []
    is_table = len(columns) > 1 and len({len(column) for column in columns}) == 1
    of_texts = (all(isinstance(each, str) for each in column) for column in columns if column)
    return columns if is_table and any(of_texts) else []


@cache
def _usual_names() -> set[str]:
    return {plain(name) for kind in ROLES for name in names_of(kind)}


def _is_one_object(path: Path, shown: str) -> bool:
    """Whether a file begins with an object that does not end on its line."""
    if not next(files.chunks(path, shown), b"").lstrip().startswith(b"{"):
        return False
    try:
        _, first = next(files.lines_of(path, shown))
        files.parse_json(first)
    except (Rejected, StopIteration):
        return False
    except ValueError:
        return first.rstrip()[-1:] in ("{", "[", ",")
    return False


def entries_of(path: Path, shown: str, names: Collection[str]) -> list[Row] | None:
    """Rows of a JSON object whose keys are ids and whose values are their texts, or objects. None
    where the file is another, such as a row that has one of these `names` for a key."""
    if not path.name.removesuffix(".gz").lower().endswith(".json"):
        return None
    if not next(files.chunks(path, shown), b"").lstrip().startswith(b"{"):
        return None
    pairs: list[tuple[str, Any]] = []  # of the whole, which ends last; an id may be there twice

    def ended(found: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs[:] = found
        return dict(found)

    try:
        files.parse_json(files.read(path, shown).decode(), object_pairs_hook=ended)
    except ValueError:  # who reads it line by line says so
        return None
    usual = {plain(name) for name in names}
    if any(plain(key) in usual for key, _ in pairs):
        return None
    return [
        (number, {**(value if isinstance(value, dict) else {"text": value}), "id": key})
        for number, (key, value) in enumerate(pairs, start=1)
    ]


def _relation(path: Path, shown: str, name: str) -> Iterator[Row]:
    files.check_file_name(shown)
    path = path.absolute()
    is_workbook = name.endswith(".xlsx")
    is_sqlite = not is_workbook and _start(path) == _SQLITE
    needed = ["excel"] * is_workbook + ["sqlite_scanner"] * is_sqlite
    with open_duckdb(*needed) as connection:
        _close_all_but(connection, path)
        try:
            with _in_time(connection, shown):
                if name.endswith(".parquet"):
                    query = "from read_parquet(?, hive_partitioning = false)"
                    found = execute(connection, query, [literal(path)])
                elif is_workbook:
                    found = _sheet(connection, path, shown)
                else:
                    found = _table(connection, path, shown, is_sqlite)
            rows = _fetched(connection, found, shown)
            if is_workbook:
                yield from _below_header(rows, shown)
                return
            names = [column for column, *_ in found.description or ()]
            for number, values in enumerate(rows, start=1):
                yield number, dict(zip(names, values, strict=True))
        except duckdb.Error as error:
            what = f"cannot be read: {damage(error)}"
            raise reject(shown, None, what, "Is it whole?") from error


def _fetched(connection: duckdb.DuckDBPyConnection, found: Any, shown: str) -> Iterator[tuple]:
    while True:
        with _in_time(connection, shown):
            rows = found.fetchmany(_AT_ONCE)
        if not rows:
            return
        yield from rows


def _below_header(rows: Iterable[tuple], shown: str) -> Iterator[Row]:
    """The rows of a sheet below its header that are not blank, by its names, with their numbers."""
    cells = ([_cell(value) for value in row] for row in rows)
    numbered = ((number, row) for number, row in enumerate(cells, start=1) if any(row))
    first = [*islice(numbered, LOOKED_AT)]
    if not first:
        raise reject(shown, None, "every cell is empty", "Is this the right file?")
    above = header_at([[value or "" for value in row] for _, row in first])
    _note_what_is_above(shown, above)
    line, header = first[above]
    names = [(value or "").strip().lower() for value in header]
    for name in filter(None, names):
        if names.count(name) > 1:
            raise reject(shown, line, f"column {name} appears twice", "Rename one of them.")
    for number, row in chain(first[above + 1 :], numbered):
        yield number, dict(zip(names, row, strict=True))


def _close_all_but(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Let DuckDB read one file and nothing else, whatever the file says."""
    before, mark, after = str(path).partition("?")  # DuckDB takes what follows for a query's
    readable = (str(path), literal(path), f"{before}.wal{mark}{after}")
    connection.execute(f"set allowed_paths = [{', '.join(map(quote, readable))}]")
    connection.execute("set enable_external_access = false")


@contextmanager
def _in_time(connection: duckdb.DuckDBPyConnection, shown: str) -> Iterator[None]:
    """Stop what DuckDB does inside, and refuse the file, once it takes too long."""
    timer = threading.Timer(_PATIENCE, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except duckdb.InterruptException:
        hint = "Is it whole, and meant to be a table? Export its rows as CSV or Parquet."
        raise reject(shown, None, f"gave no rows for {_PATIENCE:,} s", hint) from None
    finally:
        timer.cancel()


def _sheet(connection: Any, path: Path, shown: str) -> Any:
    try:
        with zipfile.ZipFile(path) as book:
            files.limits.check(
                path.stat().st_size, sum(part.file_size for part in book.infolist()), shown
            )
            parts = sheets_of(book)
            sheet = _chosen([*parts], "sheets", shown)
            cells = extent(book, parts[sheet])
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise reject(shown, None, "is not a workbook", "Save it again as .xlsx.") from error
    relation = "read_xlsx(?, sheet = ?, all_varchar = true, header = false, stop_at_empty = false"
    if not cells:
        return execute(connection, f"from {relation})", [literal(path), sheet])
    return execute(connection, f"from {relation}, range = ?)", [literal(path), sheet, cells])


def tables_of(path: Path) -> list[str]:
    """The sheets of a workbook that has several of them; none of another file."""
    if not _form_of(path).endswith(".xlsx"):
        return []
    try:
        with zipfile.ZipFile(path) as book:
            sheets = [*sheets_of(book)]
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError, OSError):
        return []  # who reads it says so
    return sheets if len(sheets) > 1 else []


def _cell(value: str | None) -> str | None:
    """A workbook's cell: its whole numbers are kept as 7.0."""
    found = _WHOLE.fullmatch(value or "")
    return found[1] if found else value


def _table(connection: Any, path: Path, shown: str, is_sqlite: bool) -> Any:
    place = quote(str(path))
    if is_sqlite:
        connection.execute("set sqlite_all_varchar = true")
        kind, listed = "sqlite", _SQLITE_TABLES.format(place)
    else:
        kind, listed = "duckdb", _DUCKDB_TABLES
    connection.execute(f"attach {place} as source (read_only, type {kind})")
    tables = [name for (name,) in connection.execute(listed).fetchall()]
    table = _chosen(tables, "tables", shown).replace('"', '""')
    return connection.execute(f'from source.main."{table}"')


def _chosen(there: list[str], what: str, shown: str) -> str:
    """The table that the settings name, or the only one."""
    listed = ", ".join(there[:10])
    named = settings_of(shown).get("table", there[0] if len(there) == 1 else "")
    if named in there:
        return named
    told = f"has no {what[:-1]} {named!r}" if named else f"has {len(there)} {what}"
    hint = [f'Name one of them in gradelake.toml: table = "...": {listed}.'] * bool(there)
    raise reject(shown, None, told, " ".join([*hint, _NOT_READ] if what == "tables" else hint))
