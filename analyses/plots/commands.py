"""Commands that draw pictures: plot confusion, plot scatter."""

import click

from gradelake.analyses.stats.options import (
    LABEL_SET,
    at_level,
    measured,
    named,
    reading,
    to_file,
    with_json,
    with_reference,
)
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted


@click.group()
def plot():
    """Draw pictures of agreement as SVG, PNG or PDF.

    \b
    Examples:
      gradelake plot confusion dl19 --label-set judge:Sun -o confusion.svg
      gradelake plot scatter dl19 --label-set judge:Sun --measure AP -o ap.pdf
    """


def drawing(command):
    """Options of every picture, and its collection."""
    for option in (
        to_file("The file; its ending says svg, png or pdf.", required=True),
        with_reference,
        named("--label-set", LABEL_SET, required=True),
    ):
        command = option(command)
    return reading(with_json(command))


@plot.command(short_help="Draw how often each label meets each judgment.")
@drawing
def confusion(read, collection, label_set, reference, output, as_json):
    """Draw how often each label meets each judgment: counts, and shares of each row.

    \b
    Examples:
      gradelake plot confusion dl19 --label-set flan/v0/best -o confusion.svg
    """
    from gradelake.analyses.plots.confusion import draw_confusion

    with console.working("drawing"), read() as lake:
        n_pairs = draw_confusion(lake, collection, label_set, reference, output)
    if as_json:
        console.print_json({"collection": collection, "file": str(output), "pairs": n_pairs})
        return
    console.say(f"{output}: drew {counted(n_pairs, 'pairs')} of {label_set}")


@plot.command(short_help="Draw the systems' scores by labels and by a reference.")
@drawing
@measured
@at_level
def scatter(read, collection, label_set, reference, measure, level, output, as_json):
    """Draw each system's score by the labels and by the reference's, with Kendall's tau-b.

    Systems that rank far from their place by the reference are named.

    \b
    Examples:
      gradelake plot scatter dl19 --label-set flan/v0/best \\
          --measure nDCG@10 -o scatter.svg
    """
    from gradelake.analyses.plots.scatter import draw_scatter

    with console.working("drawing"), read() as lake:
        outliers = draw_scatter(lake, collection, label_set, reference, measure, level, output)
    if as_json:
        console.print_json({"collection": collection, "file": str(output), "outliers": outliers})
        return
    far = f"; far from their place: {', '.join(outliers)}" if outliers else ""
    console.say(f"{output}: drew the systems by {measure}{far}")
