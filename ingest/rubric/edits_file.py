"""`seeds/rubric_edits.csv`: the edits as rows. Rows are added; those there stay as they are."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gradelake.ingest.reading.csv_tables import Table, written
from gradelake.sql.build import seeds
from gradelake.sql.common import files
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lock import file_lock

NAME = "rubric_edits.csv"
COLUMNS = (
    "rubric_version",
    "collection",
    "bank",
    "item_id",
    "action",
    "query_id",
    "kind",
    "text",
    "gold_answer",
    "weight",
    "editor",
    "reason",
    "facet_id",
)


@dataclass(frozen=True)
class Row:
    """An edit as it is in the file, cells without the white space around them."""

    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    @property
    def version(self) -> int:
        """The row's version; 0 when the cell holds none (a build refuses such a row)."""
        cell = self.cells["rubric_version"]
        return int(cell) if cell.isdecimal() and len(cell) < 10 else 0


def path_of(project: Project) -> Path:
    """Where a project keeps its edits."""
    return seeds.seeds_folder(project) / NAME


def _source(project: Project) -> Path:
    """What comes with the package, where the project has no file yet."""
    path = path_of(project)
    return path if path.exists() else seeds.PACKAGED / NAME


def read(project: Project) -> list[Row]:
    """All rows. Raises `Rejected` for another header, rows of another length, broken quotes."""
    path = _source(project)
    shown = os.path.relpath(path)
    problems = Problems(
        shown, f"The first line is {','.join(COLUMNS)}, and each edit has as many cells."
    )
    table = Table(files.read(path, shown), shown, COLUMNS, delimiter=",")
    if tuple(table.names) != COLUMNS:
        raise reject(shown, 1, "the first line is not the header", problems.hint)
    rows = [Row(line, cells) for line, cells in table.rows(problems.add)]
    problems.raise_if_any()
    return rows


def newest_version(rows: Sequence[Row], collection: str) -> int:
    """The highest version of a collection; 0 without edits."""
    return max((row.version for row in rows if row["collection"] == collection), default=0)


@contextmanager
def locked(project: Project) -> Iterator[None]:
    """One process at a time adds rows."""
    project.lake_path.mkdir(parents=True, exist_ok=True)
    busy = "the rubric is being edited by"
    with file_lock(project.lake_path / ".rubric_edits.lock", "gradelake rubric edit", busy=busy):
        yield


def appended(project: Project, rows: Sequence[dict[str, str]]) -> bytes:
    """What the file holds, as it is, and these rows at its end."""
    content = _source(project).read_bytes()
    end = b"\r\n" if content.split(b"\n", 1)[0].endswith(b"\r") else b"\n"
    if not content.endswith((b"\n", b"\r")):
        content += end
    added = written([[row[column] for column in COLUMNS] for row in rows], end.decode())
    return content + added.encode()


def write(project: Project, content: bytes) -> None:
    """Make this the file; call it under `locked`. A link stays one, and so do permissions.

    Raises `WorkFailed` when the file cannot be written; it is then as it was.
    """
    path = path_of(project).resolve()
    fresh = path.with_name(f".{path.name}.writing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, fresh)
        os.replace(fresh, path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise WorkFailed(
            f"{path}: cannot be written: {error.strerror or error}",
            "Is there room, and may you write there?",
        ) from error
