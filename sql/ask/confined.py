"""What statements may do: read the lake, and keep what they read in temporary tables and views.

Two walls, because neither is enough. DuckDB is closed to files other than the lake's data, to the
network, extensions and settings; but what reads SQLite and PostgreSQL for it asks nobody. So each
statement is judged before it runs, by the tree that DuckDB's own parser makes of it.
"""

import re
from pathlib import Path

import duckdb

from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.connection import METADATA, data_path, quote
from gradelake.sql.lake.opening import Lake

# Functions in FROM that read nothing but their arguments, the lake, or what tables there are.
_SOURCES = {
    "unnest",
    "range",
    "generate_series",
    "repeat",
    "repeat_row",
    "json_each",
    "json_tree",
    "snapshots",
    "current_snapshot",
    "last_committed_snapshot",
    "table_info",
    "table_changes",
    "table_insertions",
    "table_deletions",
    "ducklake_snapshots",
    "ducklake_current_snapshot",
    "ducklake_last_committed_snapshot",
    "ducklake_table_info",
    "ducklake_table_changes",
    "ducklake_table_insertions",
    "ducklake_table_deletions",
    "duckdb_columns",
    "duckdb_constraints",
    "duckdb_functions",
    "duckdb_keywords",
    "duckdb_schemas",
    "duckdb_tables",
    "duckdb_types",
    "duckdb_views",
    "icu_calendar_names",
    "pg_timezone_names",
}
# Functions elsewhere that look at more than their arguments: the environment, settings, the log;
# the last one plans the query in its text.
_FUNCTIONS = {"getenv", "current_setting", "write_log", "json_serialize_plan"}
# Names of tables and catalogs: DuckDB's own tables of settings, and of connection strings.
_TABLES = {
    "duckdb_databases",
    "pragma_database_list",
    "pg_settings",
    "duckdb_logs",
    METADATA.rstrip("."),  # as a catalog; so are the tables of a PostgreSQL database
}
_FILE = re.compile(r"[/\\:*?.]")  # in the name of a table: DuckDB would look for a file
# What the tree of a query says that matters here.
_PARSED = """
with parsed as (select json_serialize_sql({}) as tree)
select
    tree ->> 'error_type',
    json_array_length(tree -> 'statements'),
    tree ->> '$..function_name',
    tree ->> '$..function.function_name',
    (tree ->> '$..table_name') || (tree ->> '$..schema_name') || (tree ->> '$..catalog_name')
from parsed
"""

# The only words that a query may follow. They are read strictly: what DuckDB may read in another
# way, such as a comment in a comment, is refused.
_GAP = r"(?:[\x20\t\r\n\f]|--[^\r\n]*[\r\n]|/\*(?:(?!/\*|\*/)[\s\S])*\*/)"
_NAME = r'(?:[A-Za-z_]\w*|"[^"]+")'
_HEAD = re.compile(
    rf"(?:{_GAP}*explain(?:{_GAP}+analyze)?"
    rf"(?:{_GAP}*\((?:analyze,{_GAP}*)?(?:analyze|format{_GAP}+\w+)\))?(?!\w))?"
    rf"(?:{_GAP}*create(?:{_GAP}+or{_GAP}+replace)?{_GAP}+temp(?:orary)?"
    rf"{_GAP}+(?:table|view)(?:{_GAP}+if{_GAP}+not{_GAP}+exists)?{_GAP}+{_NAME}"
    rf"(?:{_GAP}*\({_NAME}(?:,{_GAP}*{_NAME})*\))?{_GAP}+as(?!\w))?",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"\A{_GAP}*")
# A PIVOT that takes its columns from the data has no tree. It may consist of these pieces, with
# only these words before a parenthesis.
_PIECE = re.compile(
    r"[\x20\t\r\n\f]+|(?P<call>[^\W\d]\w*(?=[\x20\t\r\n\f]*\())|[^\W\d]\w*(?![\w'\"&])"
    r"|\d+(?:\.\d*)?(?!\w)|\"[^\"]*\"(?![\x20\t\r\n\f]*\()|'[^']*'"
    r"|(?!--|/\*)[-+*/%<>=!.,():\[\]|]"
)
_CALLS = {
    "as",
    "and",
    "by",
    "from",
    "filter",
    "group",
    "in",
    "join",
    "not",
    "on",
    "or",
    "over",
    "pivot",
    "select",
    "union",
    "using",
    "values",
    "when",
    "where",
    "any_value",
    "avg",
    "coalesce",
    "concat",
    "count",
    "first",
    "last",
    "list",
    "lower",
    "max",
    "mean",
    "median",
    "min",
    "round",
    "stddev",
    "string_agg",
    "sum",
    "upper",
}
_ALLOWED = (
    "What runs: SELECT, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN, and CREATE TEMP TABLE or VIEW ... AS.\n"
    "  --allow-files (in Python: allow_files=True) runs anything, as you."
)


def prepare(lake: Lake, allow_files: bool, output: Path | None = None) -> None:
    """Make a lake ready for people's statements: `marts` needs no prefix, and, without
    `allow_files`, DuckDB touches only the lake's data and `output`. There is no way back."""
    lake.connection.execute("use lake.marts")
    lake.allows_files = allow_files
    if allow_files:
        return
    # DuckDB writes beside a file that is there, and renames
    files = [output.absolute(), output.absolute().with_name(f"tmp_{output.name}")] if output else []
    lake.connection.execute(
        f"""
        set python_enable_replacements = false;
        set allowed_directories = [{quote(data_path(lake.project))}];
        set allowed_paths = [{", ".join(quote(str(file)) for file in files)}];
        set enable_external_access = false;
        set lock_configuration = true
        """
    )


def check(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Raise `BadInput` for a statement that may do more than read the lake, and DuckDB's own error
    for one that it cannot parse."""
    head = _HEAD.match(statement)
    assert head  # every part of it is optional
    query = statement[head.end() :]
    if head[0] and not all(each.isprintable() or each in "\t\r\n\f" for each in statement):
        # DuckDB turns most of these into spaces, which ones depends on the quotes before them
        raise BadInput("an unusual space or control character", "Type the statement anew.")
    with connection.cursor() as cursor:  # what is being read from the connection goes on
        (parsed,) = cursor.execute(_PARSED.format(quote(query))).fetchall()
    fault, n_statements, functions, sources, names = parsed
    if fault == "parser":
        connection.extract_statements(statement)
    if fault:
        names = _names_in_pivot(_LEADING.sub("", query))
        if not names or not _is_query(connection, query):
            raise _refused(re.findall(r"\w+", _LEADING.sub("", statement))[0].upper())
    elif n_statements != 1:
        raise BadInput("give one statement at a time", "Or pipe several in, each ending in ;")
    for name in functions:
        if name.lower() in _FUNCTIONS:
            raise _refused(f"{name}()")
    for name in sources:
        if name.lower() not in _SOURCES:
            raise _refused(f"{name}()")
    for name in names:
        if name.lower() in _TABLES or (not fault and _FILE.search(name)):
            raise _refused(f"the table {name!r}")


def _is_query(connection: duckdb.DuckDBPyConnection, pivot: str) -> bool:
    """Whether a PIVOT is nothing but a query, to DuckDB: types of its columns, and a SELECT."""
    *types, last = [each.type.name for each in connection.extract_statements(pivot)]
    return last == "SELECT" and set(types) == {"CREATE"}


def _names_in_pivot(query: str) -> list[str]:
    """The words of a query with PIVOT; none in another. Raises `BadInput` for what it may not
    consist of."""
    place, names = 0, []
    while place < len(query):
        piece = _PIECE.match(query, place)
        if piece is None or (piece["call"] and piece["call"].lower() not in _CALLS):
            break
        names.append(piece[0].strip('"'))
        place = piece.end()
    if "pivot" not in map(str.lower, names):
        return []
    if place < len(query):
        what = (re.match(r"[^\w\s]*\w*", query[place:]) or [""])[0]
        error = _refused(f"{what!r} in a PIVOT")
        error.hint = "Put what it is about into a temporary view, and pivot that."
        raise error
    return names


def _refused(what: str) -> BadInput:
    return BadInput(f"{what} is refused: only the lake is open, and read-only", _ALLOWED)
