"""Commands that draw pictures: `gradelake plot`."""

import click

from gradelake.analyses.stats.options import (
    LABEL_SET,
    at_alpha,
    at_level,
    measured,
    named,
    of_label_sets,
    of_levels,
    of_measures,
    reading,
    replicated,
    seeded,
    to_file,
    with_confidence,
    with_json,
    with_reference,
)
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput


@click.group()
def plot():
    """Draw boards, agreement and grades as SVG, PNG or PDF.

    \b
    Examples:
      gradelake plot confusion dl19 --label-set judge:Sun -o confusion.svg
      gradelake plot scatter dl19 --label-set judge:Sun --measure AP -o ap.pdf
      gradelake plot leaderboard dl19 --label-set judge:Sun --measure AP -o b.svg
      gradelake plot correlation dl19 --measure nDCG@10 -o correlation.svg
    """


to_picture = to_file("The file; its ending says svg, png or pdf.", required=True)
of_label_set = named("--label-set", LABEL_SET, required=True)


def drawing(command):
    """Options of a picture that compares labels with a reference's, and its collection."""
    for option in (to_picture, with_reference, of_label_set):
        command = option(command)
    return reading(with_json(command))


def told(as_json, collection, output, figures, line):
    """Say what was drawn: an object with its figures, or a line."""
    if as_json:
        console.print_json({"collection": collection, "file": str(output)} | figures)
    else:
        console.say(f"{output}: {line}")


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
    line = f"drew {counted(n_pairs, 'pairs')} of {label_set}"
    told(as_json, collection, output, {"pairs": n_pairs}, line)


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
        far, more = draw_scatter(lake, collection, label_set, reference, measure, level, output)
    figures = {"outliers": far, "more_outliers": more}
    line = f"drew the systems by {measure}"
    if far:
        line += f"; far from their place: {', '.join(far)}"
    if more:
        line += f", and {len(more)} more"
    told(as_json, collection, output, figures, line)


@plot.command(short_help="Draw several leaderboards over each other.")
@reading
@with_json
@of_label_sets(
    "Whose labels score the systems; may be repeated (default: the only one, where there is one)."
)
@of_measures("May be repeated.", required=True)
@of_levels("May be repeated (default: min_relevant, or the highest label below it).")
@to_picture
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
    line = f"drew {counted(len(systems), 'systems')}"
    told(as_json, collection, output, {"systems": systems}, line)


@plot.command(short_help="Draw a leaderboard with intervals and groups.")
@reading
@with_json
@of_label_set
@measured
@at_level
@at_alpha("Systems of a group are not shown to differ at it.")
@replicated("Random permutations of the test.")
@seeded
@with_confidence
@to_picture
def leaderboard(read, collection, as_json, label_set, measure, level, output, **settings):
    """Draw each system's score with its interval, and which systems cannot be told apart.

    Systems within a grey bar are not shown to differ (randomised Tukey HSD). The figures are
    those of `gradelake stats ranks`.

    \b
    Examples:
      gradelake plot leaderboard dl19 --label-set judge:Sun --measure AP -o ap.svg
    """
    from gradelake.analyses.plots.leaderboard import draw_leaderboard

    settings["n_replicates"] = settings.pop("replicates")
    with console.working("drawing"), read() as lake:
        found = draw_leaderboard(lake, collection, label_set, measure, level, output, **settings)
    names = [one.system for one in found.systems]
    figures = {"systems": names, "groups": [names[a : z + 1] for a, z in found.groups]}
    groups = counted(len(found.groups), "overlapping groups")
    line = f"drew {counted(len(names), 'systems')} in {groups}"
    told(as_json, collection, output, figures, line)


@plot.command(short_help="Draw how well each label set's leaderboard agrees.")
@reading
@with_json
@measured
@at_level
@named("--leaderboard", "Compare with these official ranks. Default: the only ones there are.")
@named("--reference", "Compare with this label set's leaderboard instead.")
@replicated("Bootstrap samples.")
@seeded
@with_confidence
@to_picture
def correlation(
    read, collection, as_json, measure, level, leaderboard, reference, output, **settings
):
    """Draw each label set's Kendall's tau-b and Spearman's rho with the official ranks.

    Intervals are from resampling queries and systems: those of `gradelake stats correlation`.

    \b
    Examples:
      gradelake plot correlation dl19 --measure nDCG@10 -o correlation.svg
    """
    from gradelake.analyses.plots.correlation import draw_correlation

    if leaderboard and reference:
        raise BadInput("--leaderboard and --reference cannot be used together")
    settings["n_replicates"] = settings.pop("replicates")
    with console.working("drawing"), read() as lake:
        found = draw_correlation(
            lake, collection, measure, level, leaderboard, reference, output, **settings
        )
    names = [one.board.label_set for one in found]
    told(
        as_json,
        collection,
        output,
        {"label_sets": names},
        f"drew {counted(len(names), 'label sets')}",
    )


@plot.command(short_help="Draw two systems' differences topic by topic.")
@reading
@with_json
@of_label_set
@measured
@at_level
@click.option(
    "--systems", nargs=2, metavar="ONE OTHER", required=True, help="The two, by their names."
)
@replicated("Random patterns of the test, where there are too many to try all.")
@seeded
@to_picture
def topics(read, collection, as_json, label_set, measure, level, systems, replicates, seed, output):
    """Draw on which topics one system is better than another, and by how much.

    p is of the paired randomisation test, as in `gradelake stats significance`.

    \b
    Examples:
      gradelake plot topics dl19 --label-set judge:Sun --measure AP \\
          --systems TUA1-1 p_bert -o topics.svg
    """
    from gradelake.analyses.plots.topics import draw_topics

    with console.working("drawing"), read() as lake:
        figures = draw_topics(
            lake, collection, label_set, measure, level, systems, output, replicates, seed
        )
    line = (
        f"{systems[0]} is better on {figures['wins']} of {counted(figures['queries'], 'queries')}"
    )
    told(as_json, collection, output, figures, line)


@plot.command(short_help="Draw how much of the rubric each system covers.")
@reading
@with_json
@of_label_set
@at_level
@to_picture
def coverage(read, collection, as_json, label_set, level, output):
    """Draw each system's Cover@k as dots, a dot for each k, the system that covers most on top.

    \b
    Examples:
      gradelake plot coverage dl19 --label-set flan/v0/best -o coverage.svg
    """
    from gradelake.analyses.plots.coverage import draw_coverage

    with console.working("drawing"), read() as lake:
        systems, left_out = draw_coverage(lake, collection, label_set, level, output)
    figures = {"systems": systems, "left_out": left_out}
    without = f", without {', '.join(left_out)}" if left_out else ""
    told(as_json, collection, output, figures, f"drew {counted(len(systems), 'systems')}{without}")


@plot.command(short_help="Draw the distribution of grades of each rubric item.")
@reading
@with_json
@named("--grader", "Whose grades.", required=True)
@named("--rubric-version", "A version of the rubric.", default="newest", show_default=True)
@named("--query", "The items of this query only, by its id.")
@to_picture
def grades(read, collection, as_json, grader, rubric_version, query, output):
    """Draw what share of passages each rubric item gave each grade, the best answered on top.

    \b
    Examples:
      gradelake plot grades dl19 --grader flan --query 1037798 -o grades.svg
    """
    from gradelake.analyses.plots.grades import draw_grades

    with console.working("drawing"), read() as lake:
        items = draw_grades(lake, collection, grader, rubric_version, query, output)
    figures = {"items": [{"query_id": a, "item_id": b} for a, b in items]}
    told(as_json, collection, output, figures, f"drew {counted(len(items), 'items')}")
