"""Frames of Python as inputs of a collection: they are ingested as Parquet tables are."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest
from gradelake.ingest.collections.targets import Ingested
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import CONFIG_NAME, Project, check_name
from gradelake.sql.lake.opening import Lake

ONE, NAMED = ("queries", "passages"), ("runs", "judgments", "responses")
_OF_NO_FILE = {
    "groups",
    "leave_out_near_duplicates",
    "unknown_queries",
    "min_relevant",
    "max_relevance",
    "default_pool_depth",
}


def ingest_frames(project: Project, name: str, frames: Mapping[str, Any]) -> Ingested:
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
    of_no_file = {
        setting: settings
        for setting, settings in project.collections.get(name, {}).items()
        if setting in _OF_NO_FILE
    }
    with TemporaryDirectory() as folder:
        files = {
            kind: _files(kind, given, folder) for kind, given in frames.items() if given is not None
        }
        here = replace(
            project, file=Path(folder, CONFIG_NAME), collections={name: of_no_file | files}
        )
        settings = Collection.named(here, name).model_copy(update={"is_whole": False})
        with Lake.create(project) as lake:
            return ingest(lake, settings, ["ingest", name])


def _files(kind: str, given: Any, folder: str) -> Any:
    """What a setting says of the files in which these frames are."""
    if kind in ONE:
        return _written(given, folder, f"{kind}.parquet", kind)
    for each in given:
        check_name(each, kind)
    files = {
        each: _written(frame, folder, f"{kind}/{each}.parquet", kind)
        for each, frame in given.items()
    }
    return files if kind == "judgments" else [*files.values()]


def _written(frame: Any, folder: str, file: str, kind: str) -> str:
    """Write a frame's file. Returns how a collection names it."""
    path = Path(folder, file)
    path.parent.mkdir(exist_ok=True)
    frame_of(frame, kind).write_parquet(path)
    return file


def frame_of(frame: Any, kind: str) -> pl.DataFrame:
    """A frame of whoever made it, or a relation of DuckDB, as one of polars. Raises `BadInput`."""
    try:
        return frame.pl() if hasattr(frame, "pl") else pl.DataFrame(frame)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        what = f"{kind}: a {type(frame).__name__} is no frame: {error}"
        raise BadInput(
            what, "Give a frame of polars or pandas, or a list of dictionaries."
        ) from error
