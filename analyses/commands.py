"""Commands that bring results out: export qrels, export public, export workbench."""

import sys
from pathlib import Path
from typing import Any

import click

from gradelake.analyses.scores_export import LAYOUTS
from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, is_given
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput


@click.command("qrels", short_help="Write labels of COLLECTION as TREC qrels.")
@options.named("--label-set", options.LABEL_SET)
@click.option(
    "--fill-holes",
    "fill",
    metavar="NAME",
    help="Take this label set's labels where --label-set has none; its name is then the line's "
    "second column.",
)
@click.option(
    "--map",
    "mapping",
    metavar="5:3,4:1",
    help="With --fill-holes: what its labels are on the scale of --label-set; others become 0.",
)
@options.to_output("The file, zipped when its name ends in .gz; - is standard output.")
@click.option(
    "--all",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every label set of the collection to DIR, one file each.",
)
@options.on_collection
@options.answers
def export_qrels(read, collection, label_set, fill, mapping, output, folder):
    """Write labels of COLLECTION as TREC qrels, sorted by query and passage.

    \b
    Examples:
      gradelake export qrels dl19 --label-set flan/v0/best --output flan.qrels
      gradelake export qrels dl19 --label-set judge:Sun \\
          | trec_eval /dev/stdin a.run
      gradelake export qrels dl19 --all qrels
      gradelake export qrels dl19 --label-set assessor:nist \\
          --fill-holes judge:Sun --map 1:2
    """
    from gradelake.analyses.filled_qrels import export_filled, read_mapping
    from gradelake.analyses.qrels_export import export_all, export_label_set

    to_stdout = str(output) == "-"
    if (label_set is None) == (folder is None):
        raise BadInput("give either --label-set NAME or --all DIR")
    if folder is not None and is_given("--output"):
        raise BadInput("--all DIR and --output FILE cannot be used together")
    if folder is None:
        options.refuse_json_beside(output, "labels")
    if folder is not None and fill:
        raise BadInput("--all DIR and --fill-holes NAME cannot be used together")
    if mapping is not None and not fill:
        raise BadInput("--map is for the labels of --fill-holes NAME")
    target = sys.stdout.buffer if to_stdout else output
    with read() as lake:
        if folder is not None:
            with lake.one_state():
                return options.Written(collection, "labels", export_all(lake, collection, folder))
        if fill:
            pairs = None if mapping is None else read_mapping(mapping)
            return export_filled(lake, collection, label_set, fill, target, pairs)
        n_labels = export_label_set(lake, collection, label_set, target)
    files = {} if to_stdout else {label_set: (output, n_labels)}
    return options.Written(collection, "labels", files)


@click.command("public", short_help="Write boards, labels and a report without the rubric.")
@click.option(
    "--layout",
    type=click.Choice(list(LAYOUTS)),
    default="ir_measures",
    help="Whose names measures have.",
)
@click.option(
    "--anonymous",
    "names",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Give systems other names; the CSV FILE keeps which is which.",
)
@options.on_collection
@click.argument("folder", type=click.Path(path_type=Path))
@answering(
    lambda done: console.say(
        f"{done['folder']}: wrote {counted(len(done['written']), 'files')}, none of the rubric"
    )
)
@click.pass_obj
def export_public(project, read, collection, folder, layout, names):
    """Write what of COLLECTION can be shared while its rubric stays secret, into a new FOLDER.

    Boards and their correlations as CSV, every label set as qrels, and the report: without items,
    answers and grids. --anonymous gives systems other names, the same every time, which FILE keeps
    and you keep to yourself; there is no report then.

    \b
    Examples:
      gradelake export public dl19 dl19-public
      gradelake export public dl19 dl19-public --anonymous names.csv
    """
    from gradelake.analyses.public_export import export_public as run_export

    with console.working("reading the lake"), read() as lake:
        written = run_export(project(), lake, collection, folder, layout, names)
    return {"collection": collection, "folder": str(folder), "written": written}


def _show_workbench(done: dict[str, Any]) -> None:
    for what in done["left_out"]:
        console.warn(f"left out: {what}")
    console.say(f"{done['folder']}: wrote {counted(len(done['written']), 'files')}")


@click.command("workbench", short_help="Write the files of the RUBRIC workbench's walk-through.")
@options.on_collection
@click.argument("folder", type=click.Path(path_type=Path))
@options.of_label_sets("By a rubric; may be repeated (default: all of its newest version).")
@options.of_measures("Of the boards; may be repeated.", default=("RR",))
@options.numbered(
    "--min-rating",
    "Grade from which an item is answered, and a passage relevant; may be repeated; lists are of "
    "the first. Default: 4, or the top of a shorter scale.",
    multiple=True,
)
@options.with_reference
@options.named("--leaderboard", "The official ranks. Default: the only ones there are.")
@answering(_show_workbench)
def export_workbench(read, collection, folder, label_sets, min_rating, **asked):
    """Write COLLECTION as the RUBRIC workbench does, by its names of files, into a new FOLDER.

    Its four lists (verify grading, bad questions, uncovered passages, grids), and for each label
    set qrels, leaderboards by measures and by coverage, their correlation with official ranks, and
    tables of agreement with people's judgments. What there is nothing for is left out, and named.

    \b
    Examples:
      gradelake export workbench dl19 dl19-workbench
      gradelake export workbench dl19 out --label-set flan/v0/best \\
          --min-rating 4 --min-rating 3 --min-rating 5 --measure RR --measure AP
    """
    from gradelake.analyses.workbench_export import Export
    from gradelake.analyses.workbench_export import export_workbench as run_export

    with console.working("reading the lake"), read() as lake:
        export = Export(lake, collection, ratings=min_rating, **asked)
        written = run_export(export, folder, label_sets)
    return {
        "collection": collection,
        "folder": str(folder),
        "written": written,
        "left_out": export.left_out,
    }
