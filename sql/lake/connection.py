"""The lake's one door: every DuckDB is opened here, and the lake attached to it."""

import glob
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import duckdb

from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.plain_words import bucket_error, cannot_be_used, damage
from gradelake.sql.common.project import Project
from gradelake.sql.lake import extensions
from gradelake.sql.lake.identity import ID, LostCatalog, first_id
from gradelake.sql.lake.lock import file_lock

NAME = "lake"  # the catalog's name in every connection
REPLIES = ".replies.jsonl"  # how names of files with replies that wait end
METADATA = f"__ducklake_metadata_{NAME}."  # DuckLake's own tables, in any catalog
SCHEMAS = ("intermediate", "marts")
# An optimizer by which DuckDB 1.5.1 to 1.5.5 answers some queries with UNION ALL wrongly, without a
# word (its issues 24624, 25170 and 25819). This may go when the pin moves to DuckDB 1.5.6 or newer,
# which waits for wheels of the extensions; tests/sql/test_optimizers.py fails then, and says so.
_ANSWERS_WRONGLY = "common_subplan"
# An extension comes from its wheel or not at all: nothing is fetched behind the user's back. Wheels
# are checked where they are installed; DuckDB's check of two signatures costs each process 0.4 s.
CONNECTION_SETTINGS = {
    "allow_unsigned_extensions": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # the system keeps files in memory; for those of a bucket it is put on where memory is bounded
    "enable_external_file_cache": "false",
    "disabled_optimizers": _ANSWERS_WRONGLY,
    # see `_use_all_cores`
    "threads": "1",
}
_MANY_BYTES = 100_000_000  # of Parquet files: TREC DL 2019 with 37 runs has a quarter of that
# words of SQLite and DuckLake for why a catalog cannot be opened -> what may be behind them
_WHY_NOT = {
    "disk I/O error": "Is the disk full? ",
    # a statement failed before, of which DuckLake says nothing
    "Current transaction is aborted": "Is it locked by another program (an SQLite shell, a backup "
    "tool)? Then close that, and run it again. ",
}
_LITTLE = 0.1  # of what DuckDB may hold: for what goes through row by row
_SPILL = ".spill-"  # begins the name of a process's folder for what memory cannot hold
# DuckLake retries a commit that lost a race on PostgreSQL; 10, its default, is too few for many
# writers (measured: 357 of 360 with the default, 360 of 360 with 100).
POSTGRES_RETRIES = 100


def quote(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def literal(path: str | Path) -> str:
    """A path for DuckDB's readers, which take `*`, `?` and `[` for patterns. They also make columns
    of folders such as `rating=3`, unless told `hive_partitioning = false`."""
    return glob.escape(str(path))


# --- places -------------------------------------------------------------------------------------


def catalog_file(project: Project) -> Path:
    """The working SQLite catalog."""
    return project.lake_path / "catalog.sqlite"


def published_file(project: Project) -> Path:
    """The catalog that readers attach: always the newest release."""
    return project.lake_path / "published.sqlite"


def release_file(project: Project, name: str) -> Path:
    """The copy of the catalog that a release is."""
    return project.lake_path / "releases" / f"{name}.sqlite"


def release_files(project: Project) -> list[Path]:
    """The copies that releases are on a SQLite catalog, as they were published."""
    files = release_file(project, "x").parent.glob("*.sqlite")
    return sorted(files, key=lambda file: (file.stat().st_mtime, file.name))


def lock_file(project: Project) -> Path:
    """What the writer of a lake locks."""
    return project.lake_path / ".lock"


def data_path(project: Project) -> str:
    """Where the Parquet files are: absolute, because DuckLake resolves a relative path against
    the working directory; always passed at attach, so that a lake may be moved."""
    if project.data and re.match(r"[a-z0-9]+://", project.data):
        return project.data.rstrip("/") + "/"
    folder = project.file.parent / project.data if project.data else project.lake_path / "data"
    return f"{folder.resolve()}/"


def require_lake(project: Project) -> None:
    """Raise `BadInput` unless the lake was made before."""
    if project.on_postgres:
        return
    if not catalog_file(project).is_file() and not published_file(project).is_file():
        with connect() as connection:
            _require_nothing_lost(connection, project)
        raise no_lake(str(project.lake_path))


def no_lake(place: str) -> BadInput:
    """Say that a place has no lake."""
    return BadInput(f"{place}: no lake here yet", "`gradelake ingest COLLECTION` makes one.")


# --- connecting ---------------------------------------------------------------------------------


def connect() -> duckdb.DuckDBPyConnection:
    """A DuckDB for a lake."""
    return open_duckdb("ducklake")


def open_duckdb(*needed: str) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with the extensions that are needed, and no way to others.

    Gradelake opens none elsewhere; dbt, which opens its own, is given the same settings.
    """
    connection = duckdb.connect(":memory:", config=dict(CONNECTION_SETTINGS))
    draw_no_bars(connection)
    for name in needed:
        extensions.load(connection, name)
    return connection


def join_as_written(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB join as models are written: it takes a table that the open transaction wrote for
    an empty one."""
    off = f"{_ANSWERS_WRONGLY},join_order,build_side_probe_side"
    connection.execute(f"set disabled_optimizers = '{off}'")


def ask_on_one_connection(connection: duckdb.DuckDBPyConnection, project: Project) -> None:
    """Begin a transaction that makes many tables with an option, of the value that it has anyway.

    DuckLake asks its catalog several questions for every table that a query names. While its
    transaction has written nothing, SQLite answers each on a new connection, which reads the schema
    of all tables first: a seventh of a build's time where DuckDB has several threads.
    """
    if not project.on_postgres:
        connection.execute(f"call {NAME}.set_option('parquet_compression', 'snappy')")


def cursor_of(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection to the same DuckDB, with what is set for each."""
    cursor = connection.cursor()
    _hold_results(cursor)
    return cursor


def _hold_results(connection: duckdb.DuckDBPyConnection) -> None:
    """Let one thread find a whole result before it is read. At 1 MB, the default, it waits for its
    reader; where another part of the query is to go on first (a union with a recursion in it),
    DuckDB 1.5.5 then waits for ever."""
    alone = connection.execute("select current_setting('threads')").fetchall() == [(1,)]
    connection.execute(
        "set streaming_buffer_size = '1GB'" if alone else "reset streaming_buffer_size"
    )


def draw_no_bars(connection: duckdb.DuckDBPyConnection) -> None:
    """DuckDB draws progress bars in interactive sessions; a notebook may lack what they need, and
    then refuses the setting."""
    query = "select current_setting('enable_progress_bar')"
    if connection.execute(query).fetchall() == [(True,)]:
        connection.execute("set enable_progress_bar = false")


def attach(
    connection: duckdb.DuckDBPyConnection,
    project: Project,
    *,
    read_only: bool,
    catalog: Path | None = None,
    snapshot: int | None = None,
    name: str = NAME,
    create: bool = False,
) -> None:
    """ATTACH the project's lake as `lake`, or another `name` where two lakes are open.

    `catalog` names another SQLite catalog over the same data (a release); `snapshot` pins a
    reader. Only with `create` is a lake made where there is none. Raises `LostCatalog` where there
    was one, and `WorkFailed` where it cannot be opened. A password of PostgreSQL is a secret of the
    connection: no error and no table of DuckDB's shows it.
    """
    if not read_only:
        _require_writable(project)
    _bound_memory(connection, project)
    if data_path(project).startswith("s3://"):
        use_bucket(connection)
    options = [f"DATA_PATH {quote(data_path(project))}", "OVERRIDE_DATA_PATH true"]
    if read_only:
        options.append("READ_ONLY")
    if snapshot is not None:
        options.append(f"SNAPSHOT_VERSION {snapshot:d}")
    if project.on_postgres and catalog is None:
        place, own = _in_postgres(connection, project, read_only, name)
    elif project.catalog and catalog is None:
        raise BadInput(
            f"{project.file}: [lake] catalog must start with postgres:",
            "Leave it out for a SQLite catalog in the lake's folder.",
        )
    else:
        extensions.load(connection, "sqlite_scanner")
        place = f"sqlite:{catalog or catalog_file(project)}"
        own = [] if read_only else ["META_JOURNAL_MODE 'WAL'", "META_BUSY_TIMEOUT 30000"]
    begun = f"ATTACH {quote('ducklake:' + place)} AS {name} ({', '.join(options + own)}"
    try:
        if catalog is not None:
            connection.execute(f"{begun})")
        elif _attached(connection, project, begun):
            _require_own_catalog(connection, project, name)
        else:
            _require_nothing_lost(connection, project)
            if not create:
                raise no_lake(_shown(project))
            connection.execute(f"{begun})")
    except duckdb.Error as error:
        raise _not_opened(error, project, catalog) from None
    locked = connection.execute("select current_setting('lock_configuration')").fetchall()
    if locked == [(False,)]:  # else all is set as for what was attached before
        _use_all_cores(connection, name)
        _hold_results(connection)


def _require_writable(project: Project) -> None:
    """Raise `WorkFailed` for a lake in a folder that this user may not write to."""
    local = [] if project.on_postgres else [str(project.lake_path)]
    for folder in (*local, data_path(project).rstrip("/")):
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            raise cannot_be_used(folder, "it is read-only for this user")


def _in_postgres(
    connection: duckdb.DuckDBPyConnection, project: Project, read_only: bool, name: str
) -> tuple[str, list[str]]:
    """Where DuckLake finds a catalog in PostgreSQL, and the options that this takes."""
    from gradelake.sql.lake.postgres import without_password

    extensions.load(connection, "postgres_scanner")
    if not read_only:
        connection.execute(f"SET ducklake_max_retry_count = {POSTGRES_RETRIES}")
    dsn, password = without_password(project)
    if not password:
        return f"postgres:{dsn}", []
    secret = f"gradelake_{name} (TYPE postgres, PASSWORD {quote(password)})"
    connection.execute(f"CREATE OR REPLACE SECRET {secret}")
    return f"postgres:{dsn}", [f"META_SECRET 'gradelake_{name}'"]


def _not_opened(error: duckdb.Error, project: Project, catalog: Path | None) -> WorkFailed:
    """Why a catalog could not be attached, and what to do."""
    reason = re.sub(r'.*connect to Postgres at ".*?": ', "", damage(error))
    file = catalog or catalog_file(project)
    if "unable to open database file" in reason and not os.access(file.parent, os.W_OK):
        return cannot_be_used(
            str(file), "SQLite writes beside it, and the folder is read-only; copy it elsewhere"
        )
    why = next((why for words, why in _WHY_NOT.items() if words in reason), "")
    return WorkFailed(
        f"{catalog or _shown(project)} cannot be opened: {reason}",
        f"{why}Run `gradelake doctor` for details.",
    )


def _use_all_cores(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let DuckDB use all cores where a lake is large. Elsewhere a second thread costs more than it
    brings: each opens the catalog anew for each table of a query, and commands on the demo or on
    TREC DL 2019 take half as much processor time again (`python -m tests.benchmarks.waits`)."""
    query = f"select sum(file_size_bytes) from __ducklake_metadata_{name}.ducklake_table_stats"
    ((n_bytes,),) = connection.execute(query).fetchall()
    if (n_bytes or 0) >= _MANY_BYTES:
        connection.execute("reset threads")


def _attached(connection: duckdb.DuckDBPyConnection, project: Project, begun: str) -> bool:
    """Attach the working catalog, if there is one."""
    file = catalog_file(project)
    if not project.on_postgres and not (file.is_file() and file.stat().st_size):
        return False
    try:
        connection.execute(f"{begun}, CREATE_IF_NOT_EXISTS false)")
    except duckdb.Error as error:
        if "does not exist - and creating" in str(error):
            return False
        raise
    return True


def _require_nothing_lost(connection: duckdb.DuckDBPyConnection, project: Project) -> None:
    """Where there is no working catalog: raise `LostCatalog` if there was one."""
    if project.on_postgres:
        place, what, found = _shown(project), "is empty", []
    else:
        file, found = catalog_file(project), release_files(project)
        place, what = str(file), "is empty" if file.is_file() else "is missing"
    published = not project.on_postgres and published_file(project).is_file()
    if found or published or _has_data(connection, project):
        left = "releases" if found or published else f"data files (in {data_path(project)})"
        names = [release.stem for release in found] or ["published"] * published
        raise LostCatalog(place, f"{what}, and the lake's {left} are there", names)


def _has_data(connection: duckdb.DuckDBPyConnection, project: Project) -> bool:
    place = data_path(project)
    if "://" not in place:
        return next(Path(place).rglob("*.parquet"), None) is not None
    use_bucket(connection)
    query = f"select 1 from glob({quote(literal(place) + '**/*.parquet')}) limit 1"
    try:
        return bool(connection.execute(query).fetchall())
    except duckdb.Error as error:
        raise bucket_error(error) or error from None


def _require_own_catalog(
    connection: duckdb.DuckDBPyConnection, project: Project, name: str
) -> None:
    """Raise `LostCatalog` when the catalog attached as `name` is of another lake than its
    releases."""
    if project.on_postgres:  # they are in it
        return
    found = release_files(project)
    theirs = first_id([published_file(project), *reversed(found)])
    query = ID.format(f"__ducklake_metadata_{name}.")
    if theirs and connection.execute(query).fetchall() != [(theirs,)]:
        connection.execute(f"DETACH {name}")
        names = [release.stem for release in found] or ["published"]
        what = "is the catalog of another lake than the releases beside it"
        raise LostCatalog(str(catalog_file(project)), what, names)


def _bound_memory(connection: duckdb.DuckDBPyConnection, project: Project) -> None:
    """What DuckDB may hold is what the project says, or half of the machine's memory. The rest of
    a query goes to disk, into the lake's folder, which has room where a folder of temporary files
    may be memory itself."""
    settings = "select current_setting('memory_limit'), current_setting('temp_directory')"
    ((limit, place),) = connection.execute(settings).fetchall()
    if _SPILL in place:  # a second lake of a connection
        return
    number, unit = limit.split()  # DuckDB's own limit: 80% of what this process may have
    allowed = f"{project.memory_gb}GB" if project.memory_gb else f"{float(number) * 5 / 8}{unit}"
    connection.execute(f"set memory_limit = {quote(allowed)}")
    if "://" in data_path(project):
        connection.execute("set enable_external_file_cache = true")
    folder = project.lake_path
    if not os.access(folder, os.W_OK):  # of another user, or on another machine
        folder = Path(tempfile.gettempdir())
    for left in folder.glob(f"{_SPILL}*"):
        if not _is_alive(int(left.name.removeprefix(_SPILL))):
            shutil.rmtree(left, ignore_errors=True)
    connection.execute(f"set temp_directory = {quote(f'{folder}/{_SPILL}{os.getpid()}')}")


class _Hidden(threading.local):
    """A finder of modules. While a thread sets `pandas`, it finds none; other threads do."""

    pandas = False

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas" and self.pandas:
            raise ModuleNotFoundError(name)


_hidden = _Hidden()
sys.meta_path.insert(0, _hidden)


@contextmanager
def without_pandas() -> Iterator[None]:
    """DuckDB imports pandas to see whether a parameter is one of its values: half a second. Inside,
    it seems not to be installed, unless it was imported before."""
    before, _hidden.pandas = _hidden.pandas, True
    try:
        yield
    finally:
        _hidden.pandas = before


def execute(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Any
) -> duckdb.DuckDBPyConnection:
    """`connection.execute` of a query with parameters, in half of the time."""
    with without_pandas():
        return connection.execute(query, parameters or None)


@contextmanager
def little_memory(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """What goes through row by row needs little: inside, DuckDB holds a tenth of what it may, but
    at least a GB, or more where it has many threads, and puts the rest on disk."""
    settings = "select current_setting('memory_limit'), current_setting('threads')"
    ((limit, threads),) = connection.execute(settings).fetchall()
    number, unit = limit.split()
    allowed = float(number) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}.get(unit, 2**40) / 1e6
    little = max(1000, 125 * threads, int(allowed * _LITTLE))
    if allowed <= little:
        yield
        return
    connection.execute(f"set memory_limit = '{little}MB'")
    try:
        yield
    finally:
        connection.execute(f"set memory_limit = {quote(limit)}")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def use_bucket(connection: duckdb.DuckDBPyConnection) -> None:
    """S3 access from the standard AWS variables; nothing of it is stored."""
    extensions.load(connection, "httpfs")
    env = os.environ
    parts = ["TYPE s3"]
    for option, variable in (
        ("KEY_ID", "AWS_ACCESS_KEY_ID"),
        ("SECRET", "AWS_SECRET_ACCESS_KEY"),
        ("SESSION_TOKEN", "AWS_SESSION_TOKEN"),
        ("REGION", "AWS_REGION"),
    ):
        if env.get(variable):
            parts.append(f"{option} {quote(env[variable])}")
    if endpoint := env.get("AWS_ENDPOINT_URL"):
        scheme, _, host = endpoint.rpartition("://")
        parts += [f"ENDPOINT {quote(host)}", "URL_STYLE 'path'"]
        parts.append(f"USE_SSL {str(scheme != 'http').lower()}")
    connection.execute(f"CREATE OR REPLACE SECRET gradelake ({', '.join(parts)})")


def _shown(project: Project) -> str:
    return "the PostgreSQL catalog" if project.on_postgres else f"the lake at {project.lake_path}"


# --- writing --------------------------------------------------------------------------------------


def write_lock(project: Project, purpose: str, wait: bool = True) -> AbstractContextManager[None]:
    """One writer at a time. With `wait=False`, raises `Busy` at once when there is one."""
    busy = "the lake is being written by"
    return _lock(project, "writer", lock_file(project), purpose, wait, busy)


def grading_folder(project: Project) -> Path:
    """Where replies wait to be committed, a folder for each grader."""
    return project.lake_path / "grading"


def waiting_replies(project: Project) -> list[Path]:
    """The files of replies that wait to be committed; a run may be writing and removing them."""
    return sorted(grading_folder(project).glob(f"*/*{REPLIES}"))


def grader_lock(project: Project, grader_id: str, purpose: str) -> AbstractContextManager[None]:
    """One process at a time grades with a grader, or pairs would be paid for twice.

    Raises `Busy` at once when another one does.
    """
    file = grading_folder(project) / f".{grader_id}.lock"
    busy = "this grader is already at work:"
    return _lock(project, f"grader {grader_id}", file, purpose, False, busy)


def night_lock(project: Project) -> AbstractContextManager[None]:
    """One `gradelake nightly` at a time. Others may write beside it: its steps take the writer's
    lock, each for itself. Raises `Busy` at once when another night is at work.
    """
    file = project.lake_path / ".night.lock"
    return _lock(project, "night", file, "gradelake nightly", False, "another night is at work:")


def _lock(
    project: Project, name: str, file: Path, purpose: str, wait: bool, busy: str
) -> AbstractContextManager[None]:
    """A file lock, or PostgreSQL's advisory lock of that name."""
    if project.on_postgres:
        from gradelake.sql.lake.postgres import advisory_lock

        return advisory_lock(project, wait, name, busy)
    file.parent.mkdir(parents=True, exist_ok=True)
    return file_lock(file, purpose, wait, busy=busy)
