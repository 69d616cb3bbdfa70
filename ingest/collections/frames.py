"""Frames of Python as inputs of a collection: they are ingested as Parquet tables are."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest
from gradelake.ingest.collections.targets import Outcome
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, check_name
from gradelake.sql.lake.opening import Lake

ONE, NAMED = ("queries", "passages"), ("runs", "judgments", "responses")


def ingest_frames(project: Project, name: str, frames: Mapping[str, Any]) -> Outcome:
    """Bring frames into a collection, beside what it has: `queries` and `passages` are frames,
    `runs`, `judgments` and `responses` frames by their names.

    A frame is one of polars or pandas, an Arrow table, a relation of DuckDB, or a list of
    dictionaries; its columns go by their usual names. One that came before under its name is
    replaced. Raises `BadInput` for what is none, and for a name that cannot be used.
    """
    check_name(name, "collection")
    if unknown := sorted(frames.keys() - {*ONE, *NAMED}):
        raise BadInput(
            f"there are no frames of {unknown[0]!r}", f"Known: {', '.join(ONE + NAMED)}."
        )
    with TemporaryDirectory() as folder:
        named: dict[str, Any] = {}
        for kind in (*ONE, *NAMED):
            given = frames.get(kind)
            if given is not None and kind in ONE:
                named[kind] = _written(given, folder, f"{kind}.parquet", kind)
            elif given is not None:
                for each in given:
                    check_name(each, kind)
                files = {
                    each: _written(frame, folder, f"{kind}/{each}.parquet", kind)
                    for each, frame in given.items()
                }
                named[kind] = files if kind == "judgments" else tuple(files.values())
        settings = Collection.of_frames(project, name, Path(folder), named)
        with Lake.create(project) as lake:
            return ingest(lake, settings, ["ingest", name])


def _written(frame: Any, folder: str, file: str, kind: str) -> str:
    """Write a frame's file. Returns how a collection names it."""
    try:
        table = frame.pl() if hasattr(frame, "pl") else pl.DataFrame(frame)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        what = f"{kind}: a {type(frame).__name__} is no frame: {error}"
        raise BadInput(
            what, "Give a frame of polars or pandas, or a list of dictionaries."
        ) from error
    path = Path(folder, file)
    path.parent.mkdir(exist_ok=True)
    table.write_parquet(path)
    return file
