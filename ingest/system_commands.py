"""Commands for systems that the lake has: list, remove, rename."""

from typing import Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, typed
from gradelake.sql.common.counted import counted
from gradelake.sql.common.project import TO_RANK
from gradelake.sql.lake.opening import Lake

_NEXT = "next: `gradelake build`; older releases keep what they have"


@click.group(short_help="List, remove and rename systems.")
def system():
    """List, remove and rename the systems of a collection.

    \b
    Examples:
      gradelake system list dl19
      gradelake system rename dl19 p_exp_bert system-a
    """


def _show_list(found: dict[str, list[dict[str, Any]]]) -> None:
    if not found["systems"]:
        console.say(TO_RANK)
        return
    columns = ["system", "kind", "source_file", "n_rows"]
    console.print_table(columns, [[row[each] for each in columns] for row in found["systems"]])


@system.command("list", short_help="List the systems of a COLLECTION.")
@click.argument("collection")
@click.pass_obj
@answering(_show_list)
def list_(project, collection):
    """List the systems of a COLLECTION in the lake, where they came from and how many rows each
    has.

    \b
    Examples:
      gradelake system list dl19
    """
    from gradelake.ingest.collections.system_names import list_systems

    with Lake.live(project()) as lake:
        return {"systems": list_systems(lake, collection)}


def _show_removed(done: dict[str, Any]) -> None:
    if not done["removed"]:
        console.say(f"removed from {done['collection']} before")
        return
    console.say(f"removed {counted(len(done['removed']), 'systems')} from {done['collection']}")
    console.warn(
        f"note: as long as they name it, these bring it back: {', '.join(sorted({*done['files']}))}"
    )
    console.hint(_NEXT)


@system.command("remove", short_help="Take SYSTEMs out of a COLLECTION.")
@click.argument("collection")
@click.argument("systems", metavar="SYSTEM...", nargs=-1, required=True)
@click.pass_obj
@answering(_show_removed)
def remove(project, collection, systems):
    """Take systems out of a COLLECTION: their rankings or responses, and from the next build on
    their places on boards. Grades stay, being of passages, and so do older releases.

    A run that still lies where gradelake.toml looks for it comes back with the next ingest, a
    system of a file of responses once that file changes.

    \b
    Examples:
      gradelake system remove dl19 my-first-try
    """
    from gradelake.ingest.collections.system_names import remove_systems

    return remove_systems(project(), collection, list(dict.fromkeys(systems)), typed())


def _show_renamed(done: dict[str, Any]) -> None:
    console.say(f"{done['system']} of {done['collection']} is {done['renamed']} now")
    console.warn(
        f"note: rename it in {done['file']}, too (a run has its file's name): else the old name "
        "comes back with an ingest"
    )
    console.hint(_NEXT)


@system.command("rename", short_help="Give a SYSTEM another name.")
@click.argument("collection")
@click.argument("system")
@click.argument("name")
@click.pass_obj
@answering(_show_renamed)
def rename(project, collection, system, name):
    """Give a SYSTEM of a COLLECTION another NAME, for example one that tells nobody whose it is.

    \b
    Examples:
      gradelake system rename dl19 p_exp_bert system-a
    """
    from gradelake.ingest.collections.system_names import rename_system

    return rename_system(project(), collection, system, name, typed())
