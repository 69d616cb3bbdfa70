"""Where a lake's Parquet files are, a folder or a bucket: what lies there, and copies of it."""

import hashlib
import io
import os
from pathlib import Path
from typing import IO, Any

import duckdb

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.plain_words import bucket_error, damage
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import connect, data_path, execute, literal, use_bucket

_CHUNK = 1 << 20


class Storage:
    """The data folder or S3 prefix of a project. Paths are relative to it, with slashes."""

    def __init__(self, project: Project, connection: duckdb.DuckDBPyConnection | None = None):
        """`connection`: one that may read it already."""
        self.root = data_path(project)
        self.is_local = "://" not in self.root
        self.connection = connection or connect()
        if not self.is_local and not connection:
            use_bucket(self.connection)

    def sizes(self) -> dict[str, int]:
        """Every file below, with its bytes. Raises `WorkFailed` when that cannot be listed."""
        found = self._local() if self.is_local else self._remote()
        return {path[len(self.root) :]: size for path, size in found}

    def _local(self) -> list[tuple[str, int]]:
        def refuse(error: OSError) -> None:
            raise WorkFailed(
                f"{error.filename}: cannot be read: {error.strerror}", "Ask whoever owns the lake."
            ) from error

        if not Path(self.root).is_dir():
            return []
        return [
            (os.path.join(folder, name), os.path.getsize(os.path.join(folder, name)))
            for folder, _, names in os.walk(self.root, onerror=refuse)
            for name in names
        ]

    def _remote(self) -> list[tuple[str, int]]:
        try:
            query = "select filename, size from read_blob(?)"
            return execute(self.connection, query, [f"{literal(self.root)}**"]).fetchall()
        except duckdb.Error as error:
            if "No files found" in str(error):
                return []
            raise bucket_error(error) or WorkFailed(
                f"{self.root}: cannot be listed: {damage(error)}"
            ) from None

    def path(self, relative: str) -> str:
        """The whole path of a file."""
        return self.root + relative

    def fetch(self, relative: str, target: Path) -> str:
        """Copy a file to a local place, on the disk for good. Returns its sha256.

        Raises `OSError`, or `WorkFailed` where the bucket refuses.
        """
        if self.is_local:
            return copied(Path(self.path(relative)), target)
        return written(io.BytesIO(self._of_object(relative, "content")), target)

    def sha256(self, relative: str) -> str:
        """Hash of a file's bytes. Raises as `fetch` does."""
        if self.is_local:
            return sha256_of(Path(self.path(relative)))
        return self._of_object(relative, "sha256(content)")

    def _of_object(self, relative: str, wanted: str) -> Any:
        try:
            query = f"select {wanted} from read_blob(?)"
            return execute(self.connection, query, [literal(self.path(relative))]).fetchall()[0][0]
        except duckdb.Error as error:
            raise WorkFailed(f"{self.path(relative)}: cannot be read: {damage(error)}") from None


def copied(source: Path, target: Path) -> str:
    """Copy a file, on the disk for good, and return the sha256 of what was copied."""
    with source.open("rb") as stream:
        return written(stream, target)


def written(stream: IO[bytes], target: Path) -> str:
    """Write a file, on the disk for good, and return the sha256 of what was written."""
    digest = hashlib.sha256()
    with target.open("wb") as out:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    sync(target)
    return digest.hexdigest()


def sync(path: Path) -> None:
    """Make sure that a file, or what a folder lists, is on the disk for good."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
