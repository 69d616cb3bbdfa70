"""The staging folder of a run: files of graded chunks, on their way from workers to the lake."""

import io
import os
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl


@dataclass
class Graded:
    """A chunk's account. `file` is where its rows are; `content` has them instead, where the
    worker's machine does not share the run's staging folder: they come back through Ray."""

    chunk_id: str
    file: str | None = None
    content: bytes | None = None
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0  # in the engine
    notes: list[str] = field(default_factory=list)  # of the engine, for people


def shared_mark(staging: Path, run_id: str) -> Path:
    """The file by which a worker knows the run's own staging folder. On another machine a folder
    of the same name may be there, and the driver would never find the answers there."""
    return staging / f".{run_id}.run"


def is_shared(staging: Path, run_id: str) -> bool:
    """Whether this is the run's own staging folder, and can be written."""
    return os.path.exists(shared_mark(staging, run_id)) and os.access(staging, os.W_OK)


def to_parquet(rows: pl.DataFrame) -> bytes:
    """Rows as the bytes of a Parquet file."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    return buffer.getvalue()


def write_staged(staging: Path, chunk_id: str, content: bytes) -> str:
    """Write a chunk's file under its id; it appears whole or not at all. Returns its path."""
    path = staging / f"{chunk_id}.parquet"
    unfinished = staging / f".{chunk_id}.{os.getpid()}"
    with unfinished.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    unfinished.replace(path)
    return str(path)
