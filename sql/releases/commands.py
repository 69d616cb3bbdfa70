"""Commands for releases: list, keep, drop, diff."""

from typing import Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown


@click.group(short_help="See, keep, drop and compare releases.")
def release():
    """See, keep, drop and compare releases: what finished builds published.

    \b
    Examples:
      gradelake release list
      gradelake release diff r1 r2
    """


def _show_list(found: dict[str, list[dict[str, Any]]]) -> None:
    shown = [
        (
            row["release"],
            row["snapshot"],
            f"{row['published_at']:%Y-%m-%d %H:%M:%S}",
            "kept" if row["is_kept"] else None,
            "readers get it" if row["is_read"] else None,
            console.size(row["bytes_alone"]),
        )
        for row in found["releases"]
    ]
    console.print_table(["release", "version", "published_at", "kept", "read", "alone"], shown)
    if not shown:
        console.hint("next: `gradelake build` publishes one")


@release.command("list")
@click.pass_obj
@answering(_show_list)
def list_(project):
    """List the releases that can be read, newest first.

    "Alone" is what dropping a release would free: the files that neither another release nor the
    working catalog reads.

    \b
    Examples:
      gradelake release list
    """
    from gradelake.sql.releases import keeping

    return {"releases": keeping.overview(project())}


@release.command("keep", short_help="Keep release NAME until it is dropped.")
@click.option("--undo", is_flag=True, help="Let it go when it is old, like any other.")
@click.argument("name")
@click.pass_obj
def keep(project, undo, name):
    """Keep release NAME until it is dropped, however many newer ones there are.

    \b
    Examples:
      gradelake release keep camera-ready
      gradelake release keep camera-ready --undo
    """
    from gradelake.sql.releases import keeping

    with Lake.writer(project()) as lake:
        if undo:
            done = keeping.let_go(lake, name)
            console.say(f"{name} is no longer kept" if done else f"{name} was not kept")
        else:
            done = keeping.keep(lake, name)
            console.say(
                f"{name} is kept until it is dropped" if done else f"{name} is already kept"
            )


@release.command("drop")
@click.option("--force", is_flag=True, help="Also if it is kept.")
@click.argument("name")
@click.pass_obj
def drop(project, force, name):
    """Take release NAME from its readers. The newest release cannot be dropped.

    `gradelake lake tidy` deletes the files that only it reads, once nobody can still be reading
    them.

    \b
    Examples:
      gradelake release drop r3
    """
    from gradelake.sql.releases import keeping

    with Lake.writer(project()) as lake:
        done = keeping.drop(lake, name, force)
    how = "is dropped" if done else "was dropped before"
    console.say(f"{name} {how}; `gradelake lake tidy` deletes what only it reads")


_SYSTEMS = 10


def _show_difference(found) -> None:
    n = len(found.label_sets)
    console.say(f"labels: {n} of {counted(found.n_label_sets, 'label sets')} moved")
    if n:
        columns = ["collection", "label_set", "changed", "appeared", "went", "same"]
        console.print_table(columns, [[getattr(m, c) for c in columns] for m in found.label_sets])
        console.say("\nthe first of them (query, passage, label before and after)")
        columns = ["label_set", "query_id", "passage_id", "before", "after"]
        rows = [
            (moves.label_set, *(_cell(example[c]) for c in columns[1:]))
            for moves in found.label_sets
            for example in moves.examples
        ]
        console.print_table(columns, rows)
    console.say(f"\nleaderboards: {len(found.leaderboards)} of {found.n_boards} moved")
    for board in found.leaderboards:
        tau = shown("tau", board.kendall)
        console.say(
            f"\n{board.collection} {board.label_set} {board.measure} (level {board.level}): "
            f"{counted(len(board.systems), 'systems')} moved; "
            f"tau-b {tau} over the {board.n_systems} on both"
        )
        columns = ["system", "score_before", "score_after", "rank_before", "rank_after"]
        cells = [[_cell(system[c]) for c in columns] for system in board.systems[:_SYSTEMS]]
        console.print_table(columns, cells)
        if len(board.systems) > _SYSTEMS:
            console.say(f"and {len(board.systems) - _SYSTEMS:,} more (--json lists all)")


def _cell(value) -> str:
    """A score as people read it; - is what one release does not have."""
    if value is None:
        return "-"
    return shown("score", value) if isinstance(value, float) else str(value)


@release.command("diff", short_help="Show which labels, scores and ranks moved.")
@click.option("--collection", metavar="NAME", help="Only this collection.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="The measure; may be repeated (default: nDCG@10, AP and Cover@20).",
)
@click.option(
    "--level",
    type=int,
    metavar="N",
    help="Label from which a passage is relevant (default: each label set's usual level).",
)
@click.argument("before")
@click.argument("after")
@click.pass_obj
@answering(_show_difference, "Print one JSON object, with all systems.")
def diff(project, collection, measures, level, before, after):
    """Show which labels, scores and ranks moved from release BEFORE to release AFTER.

    \b
    Examples:
      gradelake release diff r1 r2
      gradelake release diff r1 r2 --collection dl19 --measure RR --level 3
    """
    from gradelake.sql.releases.diff import compare

    with console.working("comparing releases"):
        return compare(project(), before, after, collection, measures, level)
