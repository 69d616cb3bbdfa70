"""The report's files: one of each collection, by default next to gradelake.toml."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradelake.analyses.report.page import ReportRequest, make_report
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.connection import little_memory
from gradelake.sql.lake.opening import Lake

FOLDER = "reports"
LARGE = 40_000_000  # bytes: beyond it a browser takes seconds to open the page


@dataclass
class Reports:
    """The files that were written, and why others were not."""

    written: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return 1 if self.refused else 0

    def as_object(self) -> dict[str, Any]:
        return {"reports": self.written, "refused": self.refused}

    def show(self) -> None:
        """A line for each file; on standard error why there is no other."""
        for one in self.written:
            console.say(
                f"{os.path.relpath(one['file'])}: {counted(one['systems'], 'systems')}, "
                f"{counted(one['label_sets'], 'label sets')}, "
                f"{counted(one['grids'], 'grade grids')}, {console.size(one['bytes'])}"
            )
            if one["left_out"]:
                n_left_out = len(one["left_out"])
                console.say(f"  not correlated: {n_left_out}, such as {one['left_out'][0]}")
            if one["bytes"] > LARGE:
                console.warn("  a large page opens slowly: --grid-passages 50 makes it smaller")
        for reason in self.refused:
            console.warn(f"error: {reason}")


def write_reports(project: Project, lake: Lake, request: ReportRequest) -> Reports:
    """Write the report of each collection.

    Raises `BadInput` as `make_report` does where only one is asked for; of several, those that
    have no report are `refused`, and the others have theirs all the same.
    """
    reports = Reports()
    with little_memory(lake.connection):
        collections = request.collections or lake.column(
            "select collection from lake.raw.collections order by collection"
        )
        if not collections:
            raise BadInput("the lake has no collection yet", "Run `gradelake ingest`.")
        if request.output and len(collections) > 1:
            raise BadInput("--output is for one collection", f"Of: {', '.join(collections)}.")
        for collection in dict.fromkeys(collections):
            try:
                with lake.one_state():
                    html, summary = make_report(project, lake, collection, request)
            except GradelakeError as error:
                if len(collections) == 1:
                    raise
                reports.refused.append(f"{collection}: {error}")
                continue
            target = request.output or _default_file(project, collection)
            content = html.encode()
            with whole_file(target) as file:
                file.write(content)
            about = {"collection": collection, "file": str(target), "bytes": len(content)}
            reports.written.append(about | {"release": lake.release} | summary)
    return reports


def _default_file(project: Project, collection: str) -> Path:
    """A collection's name is one word of letters, digits and signs that files may have."""
    folder = project.folder / FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{folder}: cannot be made: {error.strerror}", "Say where: --output FILE."
        ) from None
    return folder / f"{collection}.html"
