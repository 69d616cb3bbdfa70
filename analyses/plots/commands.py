"""Commands that draw pictures: plot confusion, plot scatter, plot boards."""

import click

from gradelake.analyses.stats.options import (
    LABEL_SET,
    at_level,
    measured,
    named,
    of_label_sets,
    of_levels,
    of_measures,
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


@plot.command(short_help="Draw several leaderboards over each other.")
@reading
@with_json
@of_label_sets(
    "Whose labels score the systems; may be repeated (default: the only one, where there is one)."
)
@of_measures("May be repeated.", required=True)
@of_levels("May be repeated (default: min_relevant, or the highest label below it).")
@to_file("The file; its ending says svg, png or pdf.", required=True)
def boards(read, collection, label_sets, measures, levels, output, as_json):
    """Draw systems' scores on several leaderboards, each from its lowest to its highest score.

    Bars are standard errors over queries. Systems are in the order of their official ranks, or of
    the first leaderboard. As in Figure 2 of EXAM++.

    \b
    Examples:
      gradelake plot boards dl19 --measure Cover@20 --level 4 --level 5 \\
          --label-set flan/v0/best -o boards.svg
    """
    from gradelake.analyses.plots.boards import draw_boards

    with console.working("drawing"), read() as lake:
        systems = draw_boards(lake, collection, label_sets, measures, levels, output)
    if as_json:
        console.print_json({"collection": collection, "file": str(output), "systems": systems})
        return
    console.say(f"{output}: drew {counted(len(systems), 'systems')}")
