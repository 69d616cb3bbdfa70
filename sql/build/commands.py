"""Commands that build: the marts, and their documentation."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gradelake.sql.build.node_progress import NodeProgress
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, to_file
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, GradelakeError

if TYPE_CHECKING:
    from gradelake.sql.build.building import Built

_SHOWN = 5


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--name", help="Name of the release (default: the next of r1, r2, ...).")
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    default=0,
    metavar="SHARE",
    help="Publish nothing that has less than this share of the last release's rows.",
)
@click.option("--watch", is_flag=True, help="Build whenever a seed or the lake changes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (a line per build).")
@click.argument("dbt_arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def build(project, name, at_least, watch, as_json, dbt_arguments):
    """Derive the marts and publish them to readers.

    What changed since the last build is built, and nothing else; where nothing changed, no release
    is made, and --name gives the newest one a further name. --full-refresh builds everything.

    Extra arguments choose models as dbt's do (--select, --exclude): these are built in the working
    catalog only, and nothing is published. --verbose shows each table and check as it finishes.

    --at-least 0.9 is for builds that nobody watches: where less than 90% is left of the grades,
    judgments, run entries or topic scores of the last release, or a measure of it is gone, nothing
    is committed.

    \b
    Examples:
      gradelake build
      gradelake build --watch
      gradelake build --name before-the-deadline
      gradelake build --select leaderboard_correlation
    """
    project = project()
    if watch and (name or dbt_arguments):
        raise BadInput("--watch builds what changed: it takes no --name and no dbt arguments")
    if not watch:
        _build(project, dbt_arguments, name, as_json, at_least=at_least)
        return
    from gradelake.sql.build.watch import changes_of

    console.tell("watching the seeds and the lake; Ctrl-C ends")
    for _ in changes_of(project):
        try:
            _build(project, [], None, as_json, only_if_changed=True, at_least=at_least)
        except GradelakeError as error:
            console.warn(f"error: {error}")


def _build(project, dbt_arguments, name, as_json, only_if_changed=False, at_least=0.0) -> None:
    """Build once, and tell what came of it; `only_if_changed`: nothing, where nothing was done."""
    with NodeProgress(quiet=as_json) as progress:
        from gradelake.sql.build.building import build as run_build

        built = run_build(
            project, dbt_arguments, sys.argv[1:], name, progress.node, progress.total, at_least
        )
    if only_if_changed and not built.changed:
        return
    if as_json:
        console.print_json(built.as_object())
    else:
        tell(built, name)


def tell(built: "Built", name: str | None = None) -> None:
    """Print what a build did, in two lines."""
    if built.by_dbt:
        console.say(f"published what dbt built as release {built.release}")
        return
    if not built.changed and not name:
        console.say(f"nothing changed since {built.release}")
        return
    if not built.changed:
        console.say(f"nothing changed: {built.release} is a name of the newest release")
        return
    console.say(f"{_what(built.counts)} in {console.duration(built.seconds)}")
    if built.measures_gone:
        gone = ", ".join(built.measures_gone)
        console.warn(f"  on no board any more: {gone}, as seeds/evaluation_grid.csv says")
    if built.release:
        console.say(f"published release {built.release}")
    else:
        console.say("a partial build: not published (readers keep the last release)")


def _what(counts: dict[str, int]) -> str:
    """What was built: a model of dbt is a table to whoever asks, and a data test a check."""
    names = {"models": "tables", "seeds": "seeds"}
    built = " and ".join(counted(counts[kind], names[kind]) for kind in names if kind in counts)
    checked = counts.get("data_tests")
    return f"built {built or 'nothing: no table reads what changed'}" + (
        f", ran {counted(checked, 'checks')}" if checked else ""
    )


def _show_docs(done: dict[str, Any]) -> None:
    console.say(
        f"{os.path.relpath(done['file'])}: {done['models']} models, {done['columns']:,} columns of "
        f"release {done['release']}, {console.size(done['bytes'])}"
    )
    if not_built := done["not_built"]:
        more = len(not_built) - _SHOWN
        names = ", ".join(not_built[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        console.warn(f"  not in this release yet: {names}; `gradelake build` brings them")


@click.command(short_help="Write what every table and column means as one HTML file.")
@to_file("The file. Default: docs.html next to gradelake.toml.")
@click.pass_obj
@answering(_show_docs)
def docs(project, output):
    """Write what every table and column means as one HTML file: dbt's documentation.

    Marts and the models below them, seeds and raw tables, with columns, data tests and SQL; which
    commands read them; and the lineage as a graph. Columns and types are those of the newest
    release. The file needs no server and no network.

    \b
    Examples:
      gradelake docs
      gradelake docs -o models.html
    """
    from gradelake.sql.build.docs import write_docs

    project = project()
    # not in reports/, where a collection could have the same name
    target = output or project.folder / "docs.html"
    with console.working("documenting the models"):
        return write_docs(project, target)
