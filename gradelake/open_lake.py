"""What `gradelake.open` gives: a reader of the lake that can also do what the commands do."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import duckdb

from gradelake.sql.ask import book, confined, question
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.common.results import as_object
from gradelake.sql.lake.opening import Lake

if TYPE_CHECKING:
    from gradelake.calling import Commands


class OpenLake:
    """Reads a release of a lake. Close it after use, or use it with `with`.

    The release is opened at the first question, and kept: what others build meanwhile changes no
    answer. Relations can be read until the lake is closed.

    `ingest`, `search`, `systems`, `remove_systems`, `rename_system`, `plan`, `grade`, `sentinel`,
    `probe`, `build`, `report`, `compare` and `gate` do what the commands do, by the same functions.
    They return what a command prints with `--json`, raise `GradelakeError`, and show nothing unless
    `progress` is true. So do all commands of `stats`, `export` and `import`, as
    `lake.stats.ranks(...)` or `lake.import_.labels(...)`: `dir(lake.stats)` names them, `help` says
    what each takes, and `.rows()` of what they return are a relation.
    """

    def __init__(self, project: Project, release: str | None = None, allow_files: bool = False):
        """`release`: its name; None: the newest. `allow_files`: statements may do more than read
        the lake."""
        self.project = project
        self._named = release
        self._allow_files = allow_files
        self._open = ExitStack()
        self._lake: Lake | None = None
        self._live: Lake | None = None  # for the questions about the working catalog

    @property
    def release(self) -> str:
        """The name of the release that is read. Raises `BadInput` where there is none."""
        return self._reading().release or ""

    def sql(self, query: str, **parameters: Any) -> duckdb.DuckDBPyRelation:
        """The rows of a query; `$name` in it stands for the parameter `name`.

        `marts` is the default schema. `.pl()`, `.df()`, `.arrow()` and `.fetchall()` read them.
        Raises `BadInput` with DuckDB's own words, for a statement that has no rows, and, unless the
        lake was opened with `allow_files`, for one that may do more than read the lake.
        """
        return question.rows(self._reading(), question.one_statement(query), parameters or None)

    def ask(self, name: str, **parameters: Any) -> duckdb.DuckDBPyRelation:
        """The rows of a question of the query book, such as `leaderboard`.

        None stands for any. Raises `BadInput` for a question, a parameter or a name in the lake
        that there is not.
        """
        lake, entry = self._reading(), book.entry(name)
        if entry.live:
            if self._live is None:
                chosen = question.lake_of(lake, entry, self._named is not None)
                self._live = self._open.enter_context(chosen)
            lake = self._live
        values = {key: "any" if value is None else str(value) for key, value in parameters.items()}
        return question.rows(lake, *book.asked(lake, name, values))

    def tables(self) -> duckdb.DuckDBPyRelation:
        """The tables that people ask, marts first: name (as a query may say it), description."""
        return self.sql(
            """
            select
                if(schema_name = 'marts', '', schema_name || '.') || table_name as name,
                description
            from tables
            order by list_position(['marts', 'raw'], schema_name) nulls last, name
            """
        )

    def ingest(
        self, collection: str, *, dry_run: bool = False, progress: bool = False, **frames: Any
    ) -> dict[str, Any]:
        """Bring what is new or changed of a collection in; what was refused is in `rejected`.

        Without `frames` it is what gradelake.toml names. `queries` and `passages` are frames of
        polars, pandas or Arrow; `runs`, `judgments` and `responses` frames by their names, such as
        `runs={"bm25": frame}`. They come in beside what is there.
        """
        with console.quietly(not progress):
            if frames and dry_run:
                raise BadInput("a dry run is of what gradelake.toml names, not of frames")
            if frames:
                from gradelake.ingest.collections.frames import ingest_frames

                done = ingest_frames(self.project, collection, frames)
            elif dry_run:
                from gradelake.ingest.collections.dry_run import dry_run as run_dry

                return console.plain(run_dry(self.project, collection).as_object())
            else:
                from gradelake.ingest.collections.pipeline import ingest_collection

                done = ingest_collection(self.project, collection, ["ingest", collection])
        return console.plain(done.as_object())

    def search(
        self, collection: str, *engines: str, again: bool = False, progress: bool = False
    ) -> dict[str, Any]:
        """Ask a collection's search engines (none: all) the topics that they did not answer yet."""
        from gradelake.ingest.engines.search import search

        with console.quietly(not progress):
            return console.plain(as_object(search(self.project, collection, engines, again)))

    def systems(self, collection: str) -> dict[str, Any]:
        """The systems that a collection has now, built or not, and where each came from."""
        from gradelake.ingest.collections.system_names import list_systems

        with Lake.live(self.project) as lake:
            return console.plain({"systems": list_systems(lake, collection)})

    def remove_systems(self, collection: str, *systems: str) -> dict[str, Any]:
        """Take systems out of a collection; the next build takes them off its boards."""
        from gradelake.ingest.collections import system_names

        arguments = ["system", "remove", collection, *systems]
        chosen = list(dict.fromkeys(systems))
        return system_names.remove_systems(self.project, collection, chosen, arguments)

    def rename_system(self, collection: str, system: str, name: str) -> dict[str, Any]:
        """Give a system another name, from the next build on."""
        from gradelake.ingest.collections import system_names

        arguments = ["system", "rename", collection, system, name]
        return system_names.rename_system(self.project, collection, system, name, arguments)

    def grade(
        self,
        collection: str,
        *graders: str,
        queries: Sequence[str] | None = None,
        rubric_version: int | None = None,
        limit: int | None = None,
        retry_failed: bool = False,
        max_minutes: float | None = None,
        max_cost: float | None = None,
        wait: bool = False,
        progress: bool = False,
        retry: Sequence[str] = (),
        reread: bool = False,
    ) -> dict[str, Any]:
        """Grade what a collection's pool lacks of graders, and commit it chunk by chunk.

        `NAME.all`: all trials of one. `wait`: of a grader in batches, until all is collected.
        `retry`: of what failed, also what was `refused` or `unreadable`. `reread`: read the replies
        that another parser was given, and ask nothing.
        """
        from gradelake.grading.run.grading import grade

        chosen = None if queries is None else tuple(dict.fromkeys(queries))
        with console.quietly(not progress):
            done = grade(
                self.project,
                collection,
                graders,
                chosen,
                rubric_version,
                limit,
                retry_failed=retry_failed,
                max_minutes=max_minutes,
                max_cost=max_cost,
                wait=wait,
                retry=retry,
                reread=reread,
            )
        return console.plain(done.as_object())

    def plan(
        self,
        collection: str,
        *graders: str,
        queries: Sequence[str] | None = None,
        rubric_version: int | None = None,
        limit: int | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Say what graders (none: all of the collection) have still to do, and at what cost."""
        from gradelake.grading.plan.plans import plan

        chosen = None if queries is None else tuple(dict.fromkeys(queries))
        with console.quietly(not progress):
            found = plan(self.project, collection, graders, chosen, rubric_version, limit)
        return console.plain(found.as_object())

    def sentinel(
        self,
        *sentinels: str,
        now: bool = False,
        limit: int | None = None,
        max_minutes: float | None = None,
        max_cost: float | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Grade the rounds of sentinels (none: all) that are due, or `now` is true."""
        from gradelake.grading.sentinel.rounds import watch

        with console.quietly(not progress):
            done = watch(self.project, sentinels, now, limit, max_minutes, max_cost)
        return console.plain(done.as_object())

    def probe(
        self,
        collection: str,
        *graders: str,
        size: int = 25,
        seed: int = 1,
        now: bool = False,
        limit: int | None = None,
        max_minutes: float | None = None,
        max_cost: float | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Attack graders with made-up variants of judged passages; `judge_probes` has what came of
        it once the lake is built."""
        from gradelake.grading.probe.probe import Probe, watch

        asked = Probe(collection=collection, graders=list(graders), size=size, seed=seed)
        with console.quietly(not progress):
            done = watch(self.project, asked, now, limit, max_minutes, max_cost)
        return console.plain(done.as_object())

    def build(
        self, *dbt_arguments: str, name: str | None = None, progress: bool = False
    ) -> dict[str, Any]:
        """Derive the marts and publish them; what is asked next is answered from the new release.

        An `OpenLake` of a named release stays with that one.
        """
        from gradelake.sql.build.building import build
        from gradelake.sql.build.node_progress import NodeProgress

        arguments = ["build", *(["--name", name] if name else []), *dbt_arguments]
        with console.quietly(not progress), NodeProgress(quiet=not progress) as shown:
            built = build(
                self.project, list(dbt_arguments), arguments, name, shown.node, shown.total
            )
        if built.release:  # relations of the last one stay
            self._lake = self._live = None
            self._reading()
        return console.plain(built.as_object())

    def report(
        self,
        *collections: str,
        output: str | PathLike[str] | None = None,
        reference: str | None = None,
        compare: tuple[str, str] | None = None,
        compare_with: str | None = None,
        grid_passages: int | None = None,
        without_rubric: bool = False,
        preview: str | PathLike[str] | None = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Write what the release says of each collection (none: all) as one HTML file each."""
        from gradelake.analyses.report.files import write_reports
        from gradelake.analyses.report.page import ReportRequest

        file, previewed = (Path(each) if each else None for each in (output, preview))
        request = ReportRequest(
            collections,
            file,
            reference,
            compare_with,
            grid_passages,
            without_rubric,
            previewed,
            compare,
        )
        with console.quietly(not progress), Lake.published(self.project, self.release) as lake:
            done = question.in_words(lambda: write_reports(self.project, lake, request), ours=True)
        return console.plain(done.as_object())

    def compare(self, *names: str, **asked: Any) -> dict[str, Any]:
        """Whether B is better than A, of `names`: A and B, perhaps after their collection; or who
        is better than whom, of more.

        `sentence` has the answer, or that of each of `pairs`; `asked` may have measure, label_set,
        level, segment, alpha, replicates and seed.
        """
        from gradelake.analyses.compare.several import compare_named

        return console.plain(compare_named(self._reading(), names, **asked).as_object())

    def gate(
        self,
        collection: str | None = None,
        *,
        rule: str | None = None,
        n_queries: int = 5,
        measures: str | Sequence[str] | None = None,
        **asked: Any,
    ) -> dict[str, Any]:
        """Whether a system fell behind a baseline: `verdict` is "passed", "fell" or "cannot tell".

        By a `rule` of gradelake.toml, or by `asked`: system, label_set and segment (one or more),
        baseline, baseline_release, level, tolerance, alpha, sure ("any": however differences are
        distributed), queries ("fixed": these and no others).
        """
        from gradelake.analyses.gate.forms import answer
        from gradelake.analyses.gate.gate import run_gate

        asked |= {"collection": collection, "measures": measures}
        asked = {name: value for name, value in asked.items() if value is not None}
        opened = partial(Lake.published, self.project, self.release)
        found = question.in_words(lambda: run_gate(self.project, opened, rule, asked), ours=True)
        return console.plain(answer(found, n_queries).as_object())

    @property
    def stats(self) -> "Commands":
        """Statistics: `lake.stats.ranks("dl19", measure="AP", label_set="judge:Sun").rows()`; those
        that can be drawn take `picture="ranks.pdf"`."""
        return self._commands("stats")

    @property
    def export(self) -> "Commands":
        """Files for others; without `output`, where a command may do without, it is in `text`."""
        return self._commands("export")

    @property
    def import_(self) -> "Commands":
        """What others made, a file or a frame: `lake.import_.labels("dl19", frame, judge="me")`."""
        return self._commands("import")

    def close(self) -> None:
        """Close the release, and with it all relations; a later question opens the newest again."""
        self._lake = self._live = None
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<lake of {self.project.file}, {self._state()}>"

    def _repr_html_(self) -> str:
        """What notebooks show: what is read, and what the marts hold."""
        words = f"<p>Lake of <code>{escape(str(self.project.file))}</code>, {escape(self._state())}"
        try:
            found = self.tables().fetchall()
        except GradelakeError:
            return f"{words}</p>"
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(description)}</td></tr>"
            for name, description in found
            if "." not in name
        )
        return f"{words}</p><table>{rows}</table>"

    def _commands(self, name: str) -> Any:
        from gradelake.app import app
        from gradelake.calling import called

        return called(app.commands[name], [name], self.project, lambda: self.release)

    def _state(self) -> str:
        try:
            return f"release {self.release}" + ", files open" * self._allow_files
        except GradelakeError as error:
            return error.message

    def _reading(self) -> Lake:
        if self._lake is None:
            self._lake = self._open.enter_context(Lake.published(self.project, self._named))
            confined.prepare(self._lake, self._allow_files)
        return self._lake
