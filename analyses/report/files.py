"""The report's files: one of each collection, by default next to gradelake.toml."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradelake.analyses.report import page
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.connection import little_memory
from gradelake.sql.lake.lake import Lake

FOLDER = "reports"


@dataclass
class Reports:
    """The files that were written, and why others were not."""

    written: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def as_object(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"reports": self.written, "refused": self.refused}


def write_reports(
    project: Project,
    collections: Sequence[str],
    progress: page.Progress,
    output: Path | None = None,
    reference: str | None = None,
    compare_with: str | None = None,
    grid_passages: int | None = None,
    release: str | None = None,
    live: bool = False,
    without_rubric: bool = False,
    preview: Path | None = None,
) -> Reports:
    """Write the report of each collection (none given: of all in the lake).

    Raises `BadInput` as `make_report` does where only one is asked for; of several, those that
    have no report are `refused`, and the others have theirs all the same.
    """
    reports = Reports()
    with Lake.reading(project, release, live) as lake, little_memory(lake.connection):
        collections = collections or lake.column(
            "select collection from lake.raw.collections order by collection"
        )
        if not collections:
            raise BadInput("the lake has no collection yet", "Run `gradelake ingest`.")
        if output and len(collections) > 1:
            raise BadInput("--output is for one collection", f"Of: {', '.join(collections)}.")
        for collection in dict.fromkeys(collections):
            try:
                with lake.one_state():
                    html, told = page.make_report(
                        project,
                        lake,
                        collection,
                        progress,
                        reference,
                        compare_with,
                        grid_passages,
                        without_rubric,
                        preview,
                    )
            except GradelakeError as error:
                if len(collections) == 1:
                    raise
                reports.refused.append(f"{collection}: {error}")
                continue
            target = output or _default_file(project, collection)
            content = html.encode()
            with whole_file(target) as file:
                file.write(content)
            about = {"collection": collection, "file": str(target), "bytes": len(content)}
            reports.written.append(about | {"release": lake.release} | told)
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
