"""Commands that build: the marts, and their documentation."""

import os
import sys
from pathlib import Path

import click

from gradelake.sql.build.node_progress import NodeProgress
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted

_SHOWN = 5


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--name", help="Name of the release (default: the next of r1, r2, ...).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("dbt_arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def build(project, name, as_json, dbt_arguments):
    """Derive the marts with dbt and publish them to readers.

    What changed since the last build is built, and nothing else; where nothing changed, no release
    is made, and --name gives the newest one a further name. --full-refresh builds everything.

    Extra arguments go to `dbt build`; one that selects a part of the models builds that part in
    the working catalog only, and publishes nothing. --verbose shows dbt's own log.

    \b
    Examples:
      gradelake build
      gradelake build --name before-the-deadline
      gradelake build --select leaderboard_correlation
    """
    project = project()
    verbose = console.wishes.verbose and not as_json  # dbt writes where the object goes
    with NodeProgress(quiet=as_json or verbose) as on_node:
        from gradelake.sql.build.build import build as run_build

        built = run_build(
            project, list(dbt_arguments), sys.argv[1:], name=name, on_node=on_node, verbose=verbose
        )
    if as_json:
        console.print_json(built.as_object())
        return
    if not built.changed and not name:
        console.say(f"nothing changed since {built.release}")
        return
    if not built.changed:
        console.say(f"nothing changed: {built.release} is a further name of the newest release")
        return
    console.say(f"{_what(built.counts)} in {console.duration(built.seconds)}")
    if built.release:
        console.say(f"published release {built.release}")
    else:
        console.say("a partial build: not published (readers keep the last release)")


def _what(counts: dict[str, int]) -> str:
    """What was built: a model of dbt is a table to who asks, and a data test a check."""
    names = {"models": "tables", "seeds": "seeds"}
    built = " and ".join(counted(counts[kind], names[kind]) for kind in names if kind in counts)
    checked = counts.get("data_tests")
    return f"built {built or 'nothing: no table reads what changed'}" + (
        f", ran {counted(checked, 'checks')}" if checked else ""
    )


@click.command(short_help="Write what every table and column means as one HTML file.")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file. Default: docs.html next to gradelake.toml.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def docs(project, output, as_json):
    """Write what every table and column means as one HTML file: dbt's documentation.

    Marts and the models below them, seeds and raw tables, with columns, data tests and SQL; which
    commands read them; and the lineage as a graph. Columns and types are those of the newest
    release. The file needs no server and no network.

    \b
    Examples:
      gradelake docs
      gradelake docs -o models.html
    """
    from gradelake.sql.build.docs import make_docs
    from gradelake.sql.common.whole_file import whole_file

    project = project()
    # not in reports/, where a collection could have the same name
    target = output or project.folder / "docs.html"
    with console.working("documenting the models"), whole_file(target) as file:
        made = make_docs(project)
        content = made.html.encode()
        file.write(content)
    if as_json:
        console.print_json(
            {
                "file": str(target),
                "bytes": len(content),
                "release": made.release,
                "models": made.models,
                "columns": made.columns,
                "not_built": made.not_built,
            }
        )
        return
    console.say(
        f"{os.path.relpath(target)}: {made.models} models, {made.columns:,} columns of release "
        f"{made.release}, {console.size(len(content))}"
    )
    if made.not_built:
        more = len(made.not_built) - _SHOWN
        names = ", ".join(made.not_built[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        console.warn(f"  not in this release yet: {names}; `gradelake build` brings them")
