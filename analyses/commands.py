"""Commands that bring results out: export qrels, export public."""

import sys
from pathlib import Path

import click

from gradelake.analyses.stats.options import LABEL_SET, named, reading, to_output, with_json
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake


@click.command("qrels", short_help="Write labels of COLLECTION as TREC qrels.")
@named("--label-set", LABEL_SET)
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
@to_output("The file, zipped when its name ends in .gz; - is standard output.")
@click.option(
    "--all",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every label set of the collection to DIR, one file each.",
)
@reading
@with_json
def export_qrels(read, collection, label_set, fill, mapping, output, folder, as_json):
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
    from gradelake.analyses.qrels_export import export_all, export_label_set

    to_stdout = str(output) == "-"
    if (label_set is None) == (folder is None):
        raise BadInput("give either --label-set NAME or --all DIR")
    if folder is not None and not to_stdout:
        raise BadInput("--all DIR and --output FILE cannot be used together")
    if folder is None and to_stdout and as_json:
        raise BadInput(
            "--json and the labels would both go to standard output", "Add --output FILE."
        )
    if folder is not None and fill:
        raise BadInput("--all DIR and --fill-holes NAME cannot be used together")
    if mapping is not None and not fill:
        raise BadInput("--map is for the labels of --fill-holes NAME")
    with read() as lake:
        if fill:
            _fill_holes(lake, collection, label_set, fill, mapping, output, as_json)
            return
        if folder is not None:
            written = export_all(lake, collection, folder)
        elif to_stdout:
            export_label_set(lake, collection, label_set, sys.stdout.buffer)
            return
        else:
            written = {label_set: (output, export_label_set(lake, collection, label_set, output))}
    if as_json:
        files = [
            {"label_set": name, "file": str(file), "labels": n_labels}
            for name, (file, n_labels) in written.items()
        ]
        console.print_json({"collection": collection, "written": files})
        return
    for name, (file, n_labels) in written.items():
        console.say(f"{file}: wrote {counted(n_labels, 'labels')} of {name}")


def _fill_holes(lake, collection, label_set, fill, mapping, output, as_json):
    from gradelake.analyses.filled_qrels import export_filled, read_mapping

    to_stdout = str(output) == "-"
    target = sys.stdout.buffer if to_stdout else output
    mapping = None if mapping is None else read_mapping(mapping)
    done = export_filled(lake, collection, label_set, fill, target, mapping)
    if as_json:
        written = {
            "label_set": label_set,
            "fill_holes": fill,
            "file": str(output),
            "labels": done.n_given,
            "filled": done.n_filled,
            "queries_of_fill_only": done.n_new_queries,
        }
        console.print_json({"collection": collection, "written": [written]})
        return
    where = "standard output" if to_stdout else output
    (console.warn if to_stdout else console.say)(
        f"{where}: wrote {counted(done.n_given, 'labels')} of {label_set} "
        f"and {done.n_filled:,} of {fill}"
    )
    if done.n_new_queries:
        console.warn(
            f"note: {counted(done.n_new_queries, 'queries', 'have')} labels of {fill} only"
        )


@click.command("public", short_help="Write boards, labels and a report without the rubric.")
@click.argument("collection")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--release", help="Read a named release instead of the newest.")
@click.option("--live", is_flag=True, help="Read the working catalog: the newest commit.")
@with_json
@click.pass_obj
def export_public(project, collection, folder, release, live, as_json):
    """Write what of COLLECTION can be shared while its rubric stays secret, into a new FOLDER.

    Boards and their correlations as CSV, every label set as qrels, and the report: without items,
    answers and grids.

    \b
    Examples:
      gradelake export public dl19 dl19-public
    """
    from gradelake.analyses.public_export import export_public as run_export

    project = project()
    with console.working("reading the lake"), Lake.reading(project, release, live) as lake:
        written = run_export(
            project,
            lake,
            collection,
            folder,
            lambda what, items: console.progress(what, items, len(items)),
        )
    if as_json:
        console.print_json({"collection": collection, "folder": str(folder), "written": written})
    else:
        console.say(f"{folder}: wrote {counted(len(written), 'files')}, none of the rubric")
