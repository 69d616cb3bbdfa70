"""DuckDB extensions from their PyPI wheels, so that a package index is all a machine needs."""

import importlib.util
from pathlib import Path

import duckdb

from gradelake.sql.common.errors import WorkFailed

# extension -> the extra of this project that brings its wheel (None: always installed)
EXTRAS = {
    "ducklake": None,
    "excel": None,
    "sqlite_scanner": None,
    "postgres_scanner": "postgres",
    "httpfs": "s3",
}


def extension_file(name: str) -> Path:
    """Path of the extension's binary for the running DuckDB.

    Raises `WorkFailed` when its wheel is missing or made for another DuckDB.
    """
    extra = EXTRAS[name]
    package = f"gradelake[{extra}]" if extra else "gradelake"
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    if spec is None or not spec.submodule_search_locations:
        raise WorkFailed(
            f"the DuckDB extension {name!r} is not installed",
            f"Install it: pip install '{package}'",
        )
    root = Path(next(iter(spec.submodule_search_locations)))
    file = root / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
    if not file.is_file():
        raise WorkFailed(
            f"the installed DuckDB extension {name!r} does not fit DuckDB {duckdb.__version__}",
            f"Install the pair together: pip install '{package}'",
        )
    return file


def load(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension into a connection, straight from its wheel."""
    file = str(extension_file(name)).replace("'", "''")
    connection.execute(f"LOAD '{file}'")
