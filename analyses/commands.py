"""Commands that bring results out: export qrels, export workbench."""

import sys
from pathlib import Path
from typing import Any

import click

from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, is_given, refuse_beside, refuse_without
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
@options.numbered(
    "--sample",
    "No labels: draw N pairs, or queries, of the label set for people to judge, as CSV.",
    click.IntRange(min=1),
)
@click.option(
    "--unit",
    type=click.Choice(["query", "pair"]),
    default="pair",
    help=(
        "With --sample: draw whole queries (for any measure), or single pairs (for P@k and "
        "agreement)."
    ),
)
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal"]),
    default="proportional",
    help="With --sample: how its pairs are spread over the judge's labels.",
)
@options.numbered(
    "--depth",
    "With --sample: only passages that some system ranked in its first N.",
    click.IntRange(min=1),
)
@options.named(
    "--judged-by",
    "With --sample: include all that this assessor judged before, and draw from the other pairs.",
)
@options.seeded
@options.on_collection
@options.answers
def export_qrels(read, collection, label_set, fill, mapping, output, folder, sample, **drawn):
    """Write labels of COLLECTION as TREC qrels, sorted by query and passage; or a sample of its
    pairs for people to judge.

    A sample is a CSV with an empty judgment column, in which the judge's labels are not shown:
    people must not be led. The columns after the judgment say how each pair was drawn; `gradelake
    import judgments` needs them as they are.

    \b
    Examples:
      gradelake export qrels dl19 --label-set flan/v0/best --output flan.qrels
      gradelake export qrels dl19 --label-set judge:Sun \\
          | trec_eval /dev/stdin a.run
      gradelake export qrels dl19 --all qrels
      gradelake export qrels dl19 --label-set assessor:nist \\
          --fill-holes judge:Sun --map 1:2
      gradelake export qrels dl19 --label-set judge:Sun --sample 200 -o sample.csv
      gradelake export qrels dl19 --label-set judge:Sun \\
          --sample 10 --unit query --depth 10 -o queries.csv
    """
    from gradelake.analyses.filled_qrels import export_filled, read_mapping
    from gradelake.analyses.qrels_export import export_all, export_label_set

    refuse_without("--sample", sample, "--unit", "--allocation", "--depth", "--judged-by", "--seed")
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
    if sample:
        return _sampled(read, collection, label_set, output, size=sample, **drawn)
    target = sys.stdout.buffer if to_stdout else output
    with read() as lake:
        if folder is not None:
            with lake.one_state():
                return options.WrittenExport(
                    collection, "labels", export_all(lake, collection, folder)
                )
        if fill:
            pairs = None if mapping is None else read_mapping(mapping)
            return export_filled(lake, collection, label_set, fill, target, pairs)
        n_labels = export_label_set(lake, collection, label_set, target)
    files = {} if to_stdout else {label_set: (output, n_labels)}
    return options.WrittenExport(collection, "labels", files)


def _sampled(read, collection, label_set, output, **drawn):
    """Draw a sample for people to judge, and write it as CSV."""
    from gradelake.analyses.stats.review_sample import WrittenSample, as_csv, draw_sample
    from gradelake.sql.common.whole_file import whole_file

    one = "draws pairs of one label set"
    refuse_beside("--sample", dict.fromkeys(("--all", "--fill-holes"), one))
    if drawn["unit"] == "query":
        refuse_beside("--unit query", {"--allocation": "draws queries, which have no label"})
    if str(output) == "-":
        raise BadInput("--sample writes a file that people fill in", "Add --output FILE.")
    with console.working("reading the lake"), read() as lake:
        sample = draw_sample(lake, collection, label_set, **drawn)
    with whole_file(output) as stream:
        stream.write(as_csv(sample))
    return WrittenSample(sample, collection, output)


def _show_workbench(done: dict[str, Any]) -> None:
    for what in done["left_out"]:
        console.warn(f"left out: {what}")
    console.say(f"{done['folder']}: wrote {counted(len(done['written']), 'files')}")


@click.command("workbench", short_help="Write the files of the RUBRIC workbench's walk-through.")
@options.on_collection
@click.argument("folder", type=click.Path(path_type=Path))
@options.of_label_sets(
    "A rubric's label set; may be repeated (default: all of its newest version)."
)
@options.of_measures("A measure of the boards; may be repeated.", default=("RR",))
@options.numbered(
    "--min-rating",
    "The grade from which an item is answered, and a passage relevant; may be repeated, and lists "
    "take the first. Default: 4, or the top of a shorter scale.",
    multiple=True,
)
@options.with_reference
@options.named("--leaderboard", "The official ranks. Default: the only ones there are.")
@answering(_show_workbench)
def export_workbench(read, collection, folder, label_sets, min_rating, **asked):
    """Write COLLECTION as the RUBRIC workbench does, under its file names, into a new FOLDER.

    Its four lists (verify grading, bad questions, uncovered passages, grids), and for each label
    set qrels, leaderboards by measures and by coverage, their correlation with official ranks, and
    tables of agreement with people's judgments. Files for which there is nothing are left out, and
    named.

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
