"""Which lake a catalog is of. Every catalog of a lake, and so every release and backup, has the id
that DuckLake gave its schema `main` when the lake was made."""

import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path

from gradelake.sql.common.errors import WorkFailed

ID = "select schema_uuid from {}ducklake_schema where schema_id = 0"


class LostCatalog(WorkFailed):
    """The working catalog is gone, or is another lake's, while releases or data are there."""

    def __init__(self, place: str, what: str, releases: list[str]):
        """`releases`: names of those that are there, the newest last."""
        found = ", ".join(releases)
        recover = (
            f" `gradelake lake recover --from {releases[-1]}` makes it anew from a release (there "
            f"are: {found})."
            if releases
            else ""
        )
        super().__init__(
            f"{place} {what}",
            "Nothing was written. Put it back, or use a backup (`gradelake lake restore`)."
            + recover,
        )


def open_catalog(file: Path) -> AbstractContextManager[sqlite3.Connection]:
    """A SQLite catalog opened for reading; closed after use."""
    # a URI: it escapes what would be misread in a path
    return closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=30))


def vacuum_into(file: Path, copy: Path) -> None:
    """A compact copy of a SQLite catalog as of its last commit. Raises `WorkFailed`."""
    try:
        with open_catalog(file) as source:
            source.execute("vacuum into ?", [str(copy)])
    except sqlite3.Error as error:
        raise WorkFailed(
            f"{file}: the catalog cannot be copied: {error}", "Run `gradelake lake verify`."
        ) from None


def lake_id_of(file: Path) -> str:
    """The id of the lake that a SQLite catalog is of. Raises `sqlite3.Error` where it has none."""
    with open_catalog(file) as catalog:
        row = catalog.execute(ID.format("")).fetchone()
    if row is None:
        raise sqlite3.DatabaseError("there is no schema main")
    return row[0]


def first_id(files: Iterable[Path]) -> str | None:
    """The id of the first of these catalogs that can be read."""
    for file in files:
        with suppress(sqlite3.Error):
            return lake_id_of(file)
    return None
