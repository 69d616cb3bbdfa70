"""The command that documents the models."""

import os
from pathlib import Path

import click

from sql import console

_SHOWN = 5


@click.command(short_help="Write what every table and column means as one HTML file.")
@click.option("--output", "-o", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="The file. Default: docs.html beside gradelake.toml.")  # fmt: skip
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
    from sql.docs import make_docs
    from sql.whole_file import whole_file

    project = project()
    # not in reports/, where a collection could have the same name
    target = output or project.folder / "docs.html"
    with console.working("documenting the models"), whole_file(target) as file:
        made = make_docs(project)
        content = made.html.encode()
        file.write(content)
    if as_json:
        console.print_json(
            {"file": str(target), "bytes": len(content), "release": made.release,
             "models": made.models, "columns": made.columns, "not_built": made.not_built}
        )  # fmt: skip
        return
    console.say(
        f"{os.path.relpath(target)}: {made.models} models, {made.columns:,} columns of release "
        f"{made.release}, {console.size(len(content))}"
    )
    if made.not_built:
        more = len(made.not_built) - _SHOWN
        names = ", ".join(made.not_built[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        console.warn(f"  not in this release yet: {names}; `gradelake build` brings them")
