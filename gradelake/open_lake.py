"""What `gradelake.open` gives: a reader of the lake that can also do what the commands do."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from gradelake.sql.ask.reader import Reader
from gradelake.sql.common import console


class OpenLake(Reader):
    """Reads a release of a lake; `ingest`, `grade`, `build` and `report` do what the commands do.

    They return the object that the command prints with `--json`, raise `GradelakeError`, and show
    nothing unless `progress` is true.
    """

    def ingest(self, collection: str, *, progress: bool = False) -> dict[str, Any]:
        """Bring what is new or changed of a collection in; what was refused is in `rejected`."""
        from gradelake.ingest.collections.pipeline import ingest_collection

        with console.quietly(not progress):
            done = ingest_collection(
                self.project, collection, ["ingest", collection], console.progress
            )
        return console.plain(done.as_object())

    def grade(
        self,
        collection: str,
        grader: str,
        *,
        queries: Sequence[str] | None = None,
        rubric_version: int | None = None,
        limit: int | None = None,
        retry_failed: bool = False,
        max_minutes: float | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Grade what a collection's pool lacks of a grader, and commit it chunk by chunk."""
        from gradelake.grading.run import run as runs
        from gradelake.grading.run.progress import Progress
        from gradelake.grading.run.run_text import run_as_object

        chosen = None if queries is None else tuple(dict.fromkeys(queries))
        seconds = max_minutes and 60 * max_minutes
        with console.quietly(not progress), Progress() as shown:
            request = runs.requested(
                self.project, collection, grader, rubric_version, chosen, limit
            )
            run = runs.grade(self.project, request, shown.tell, shown, retry_failed, seconds)
        return console.plain(run_as_object(request, run))

    def build(
        self, *dbt_arguments: str, name: str | None = None, progress: bool = False
    ) -> dict[str, Any]:
        """Derive the marts and publish them; what is asked next is answered from the new release.

        An `OpenLake` of a named release stays with that one.
        """
        from gradelake.sql.build.build import build
        from gradelake.sql.build.node_progress import NodeProgress

        arguments = ["build", *(["--name", name] if name else []), *dbt_arguments]
        with console.quietly(not progress), NodeProgress(quiet=not progress) as shown:
            built = build(
                self.project, list(dbt_arguments), arguments, name, shown.node, shown.total
            )
        if built.release:
            self._read_newest()
        return console.plain(built.as_object())

    def report(
        self,
        *collections: str,
        output: str | PathLike[str] | None = None,
        reference: str | None = None,
        compare_with: str | None = None,
        grid_passages: int | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Write what the release says of each collection (none: all) as one HTML file each."""
        from gradelake.analyses.report.files import write_reports

        with console.quietly(not progress):
            done = write_reports(
                self.project,
                collections,
                lambda what, items: console.progress(what, items, len(items)),
                Path(output) if output else None,
                reference,
                compare_with,
                grid_passages,
                self.release,
            )
        return console.plain(done.as_object())
