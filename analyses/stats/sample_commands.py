"""The command that draws a sample for people to judge: export sample."""

import click

from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import refuse_beside, to_file


@click.command("sample", short_help="Draw a sample for people to judge, as CSV.")
@options.on_collection
@options.answers
@options.named("--label-set", "Whose pairs to draw from.", required=True)
@options.numbered("--size", "How many pairs, or queries.", click.IntRange(min=1), required=True)
@click.option(
    "--unit",
    type=click.Choice(["query", "pair"]),
    default="pair",
    help="Draw whole queries (for any measure), or single pairs (for P@k and agreement).",
)
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal"]),
    default="proportional",
    help="How the sample's pairs are spread over the judge's labels.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="K",
    help="Only passages that some system ranked in its first K.",
)
@options.named(
    "--judged-by", "Take in what this assessor judged before; the sample is of the other pairs."
)
@options.seeded
@to_file("The CSV to write.", required=True)
def export_sample(read, collection, label_set, output, **settings):
    """Draw a sample for people to judge, as CSV with an empty judgment column.

    The judge's labels are not shown: people must not be led. The columns after the judgment say
    how each pair was drawn; `gradelake import judgments` needs them as they are.

    \b
    Examples:
      gradelake export sample dl19 --label-set judge:Sun --size 200 -o sample.csv
      gradelake export sample dl19 --label-set judge:Sun \\
          --unit query --size 10 --depth 10 -o queries.csv
    """
    from gradelake.analyses.stats.review_sample import WrittenSample, as_csv, draw_sample
    from gradelake.sql.common.whole_file import whole_file

    if settings["unit"] == "query":
        refuse_beside("--unit query", {"--allocation": "draws queries, which have no label"})
    with console.working("reading the lake"), read() as lake:
        sample = draw_sample(lake, collection, label_set, **settings)
    with whole_file(output) as stream:
        stream.write(as_csv(sample))
    return WrittenSample(sample, collection, output)
