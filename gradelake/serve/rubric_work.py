"""What the pages of a rubric have done in the writer's thread: read, previewed, saved, built."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gradelake.ingest.rubric import edits_file, preview
from gradelake.ingest.rubric.differences import Difference, differences
from gradelake.ingest.rubric.preview import Version
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.ingest.rubric.save import Proposal, Saved, numbered, save
from gradelake.ingest.rubric.up_to_date import open_up_to_date, open_without_build
from gradelake.serve import rubric_form
from gradelake.serve.rubric_form import Form
from gradelake.serve.writer import Job, Writer
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, Busy
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

T = TypeVar("T")
_PATIENCE = 60.0  # seconds that a page waits for its turn
_SHOWN = 30  # systems whose score moved


@dataclass
class Tried:
    """What came of a form: saved, or what it would do; `others` where the query changed meanwhile,
    and `form` is then on the newest version; `messages` where it is refused."""

    form: Form
    rubric: Rubric
    saved: Saved | None = None
    versions: list[Version] = field(default_factory=list)
    is_behind: bool = False
    others: list[Difference] = field(default_factory=list)
    refused: bool = False
    messages: list[str] = field(default_factory=list)


def in_turn(writer: Writer, what: str, work: Callable[[], T]) -> T:
    """What the work gives, done before all that waits. Raises `Busy` when its turn does not come
    within a minute, and what the work raises."""
    job = writer.submit(what, lambda _: work(), ahead=True)
    if not job.wait(_PATIENCE) and writer.forgo(job):
        raise Busy(
            "another build is still running; nothing was saved", "Try again when it is done."
        )
    job.wait()
    return job.outcome()


def read(project: Project, writer: Writer, collection: str, query_id: str) -> Rubric:
    """A query's rubric with every edit of the file. Raises `BadInput` where there is none."""
    lake = open_without_build(project)
    if lake is None:
        what = f"the rubric of {collection} up to date"
        return in_turn(writer, what, lambda: _current(project, collection, query_id)[0])
    with lake:
        lake.require_collection(collection)
        return Rubric(lake, collection, (query_id,))


def _current(project: Project, collection: str, query_id: str) -> tuple[Rubric, list]:
    lake, rows = open_up_to_date(project, console.tell)
    with lake:
        lake.require_collection(collection)
        return Rubric(lake, collection, (query_id,)), rows


def tried(project: Project, collection: str, form: Form, editor: str, saves: bool) -> Tried:
    """Save a form, or see what it will do. In the writer's thread."""
    rubric, rows = _current(project, collection, form.query_id)
    rubric.check_version(form.version)
    if rubric_form.is_behind(form, rubric):
        found = differences(rubric, form.version, rubric.newest)
        others = [each for each in found if each.item.query_id == form.query_id]
        forward = rubric_form.brought_forward(form, rubric)
        return Tried(forward, rubric, is_behind=True, others=others)
    done = Tried(form, rubric)
    form.version = rubric.newest  # the query is the same in it
    try:
        proposal = Proposal(
            project,
            rubric,
            rows,
            rubric_form.edits_of(form, rubric),
            form.version,
            rubric_form.SHOWN,
            reason=form.reason,
            editor=editor,
        )
        done.saved = save(proposal) if saves else numbered(proposal)
        if not saves:
            done.versions = preview.of_proposed(project, collection, done.saved)
    except BadInput as error:
        done.refused = True
        done.messages = rubric_form.note_problems(form, error)
    return done


def build_job(
    project: Project, writer: Writer, collection: str, query_id: str, saved: Saved | None = None
) -> Job:
    """A build in its turn; its result says what it moved. `saved`: what was saved before it."""

    def work(job: Job) -> dict[str, Any]:
        from gradelake.sql.build.building import build

        def on_total(n: int) -> None:
            job.total = n

        def on_node(name: str, status: str, seconds: float) -> None:
            job.done += 1
            job.progress = f"{job.done:,} of {job.total:,} tables and checks"

        job.progress = "seeing what changed"
        built = build(project, [], ["build"], on_node=on_node, on_total=on_total)
        job.progress = "seeing what moved"
        with Lake.published(project) as lake:
            lake.connection.execute("use lake.marts")
            return {"built": built, **what_moved(lake, collection)}

    return writer.submit(
        "build",
        work,
        kind="build",
        collection=collection,
        query_id=query_id,
        version=saved and saved.version,
        edits=[edit.as_object() for edit in saved.edits] if saved else [],
    )


def what_moved(lake: Lake, collection: str) -> dict[str, Any]:
    """What the newest version of a rubric changed against the one before it."""
    version = lake.value(
        "select max(rubric_version) from rubric_versions where collection = ?", collection
    )
    label_sets = preview.moved(lake, collection, version or 0)
    measure = next((row["measure"] for row in label_sets if row["measure"]), None)
    systems = lake.objects(
        """
        select
            concat(shift.grader, '/v', shift.rubric_version, '/', shift.policy) as label_set,
            shift.system,
            shift.score_before,
            shift.score_after,
            shift.rank_before,
            shift.rank_after
        from leaderboard_shift as shift
        inner join usual_levels as levels
            on
                shift.collection = levels.collection
                and levels.label_set
                = concat(shift.grader, '/v', shift.rubric_version, '/', shift.policy)
                and shift.level = levels.level
        where
            shift.collection = $collection
            and shift.rubric_version = $version
            and shift.measure = $measure
            and shift.score_after is distinct from shift.score_before
        order by
            abs(shift.rank_after - shift.rank_before) desc,
            abs(shift.score_after - shift.score_before) desc,
            label_set asc,
            shift.system asc
        limit $shown
        """,
        collection=collection,
        version=version,
        measure=measure,
        shown=_SHOWN,
    )
    return {"version": version, "label_sets": label_sets, "measure": measure, "systems": systems}


def waiting_versions(project: Project, collection: str, built: int) -> str:
    """Which versions are saved and not built, in words; '' where none."""
    n = edits_file.newest_version(edits_file.read(project), collection) - built
    return f"{counted(n, 'versions')} saved and not built yet" if n > 0 else ""
