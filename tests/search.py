"""Everything that files hold, for a search after what must not be there."""

import sqlite3
from pathlib import Path

import duckdb


def texts(folder: Path) -> dict[str, str]:
    """Every file below a folder: its bytes, and what Parquet and SQLite files hold, decoded."""
    found = {}
    for path in folder.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        content = path.read_bytes()
        found[str(path)] = content.decode("utf-8", "replace")
        if content.startswith(b"PAR1"):
            rows = duckdb.execute("select * from read_parquet(?)", [str(path)]).fetchall()
            found[f"{path}, decoded"] = repr(rows)
        elif content.startswith(b"SQLite format 3\0"):
            found[f"{path}, decoded"] = _sqlite(path)
    return found


def _sqlite(path: Path) -> str:
    connection = sqlite3.connect(path)
    tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    rows = [connection.execute(f'select * from "{name}"').fetchall() for (name,) in tables]
    connection.close()
    return repr(rows)
