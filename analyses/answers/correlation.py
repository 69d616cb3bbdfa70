"""How surely leaderboards agree with official ranks, or with another label set's."""

from dataclasses import replace

import click

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import refuse_without
from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown.answer import Answer, Column, Table

OTHER_LABELS = "Bring other labels in, `gradelake import labels` or `gradelake grade`; then build."
RESAMPLED = {"queries": "queries", "systems": "systems", "both": "queries and systems"}
IN_BEST_GROUP = "Whether people's board shows none of them to be worse than its best."
TO_BOARDS = ["leaderboard_agreement", "top_agreement"]
STATISTIC = Column("statistic", is_key=True, means="The correlation of two boards.")
COLUMNS = [
    parts.LABEL_SET,
    parts.LEVEL,
    STATISTIC,
    Column("value", kind="tau", means="How well the boards agree; 1: both have the same order."),
    *(
        replace(column, head=f"over {over}", is_beside=True)
        for over, what in RESAMPLED.items()
        for column in parts.figure(over, "", "tau", over=what)[1:]
    ),
    replace(parts.P, means="How often systems in random order would agree at least as well."),
    parts.N_SYSTEMS,
    parts.N_QUERIES,
    parts.LABELLED_SHARE,
    parts.IS_INCOMPLETE,
]
BETTER = [
    parts.LABEL_SET,
    STATISTIC,
    Column("resampled", is_key=True, means="What is resampled: queries, systems or both."),
    *parts.figure(
        "difference",
        "difference",
        "tau",
        "Its correlation less that of the other label set.",
        over="what is resampled",
    ),
    Column("probability", kind="p", means="The share of resamples in which it agrees better."),
]
TOPS = [
    parts.LABEL_SET,
    Column("k", "first", "label", is_key=True),
    parts.N_SYSTEMS,
    *(
        column
        for statistic in ("kendall", "tau_ap", "rbo")
        for column in parts.figure(statistic, statistic, "tau")
    ),
]
CHOICES = [
    parts.LABEL_SET,
    Column("systems", "its best", means="The systems that it ranks first."),
    *parts.figure("loss", "loss", "score"),
    Column("in_best_group", "in the best group", "flag", means=IN_BEST_GROUP),
]


@question(
    "correlation",
    "Compute how well leaderboards agree, with intervals.",
    draws=True,
    marts=TO_BOARDS,
)
@options.measured
@options.of_label_sets("The label set to compare; may be repeated. Default: all.")
@options.with_official_ranks
@click.option(
    "--against",
    metavar="LABEL_SET",
    help="Give the probability that each label set agrees better with the reference than this one.",
)
@options.numbered(
    "--top",
    "Also look at the first N systems by the reference, and at the best; may be repeated.",
    click.IntRange(min=2),
    multiple=True,
)
@options.at_level
@options.at_reference_level
@options.replicated("Bootstrap samples, and random orders of the test.")
@options.with_confidence
def correlation(lake, collection, measure, label_sets, against, top, level, **asked):
    """Say how surely leaderboards agree with official ranks, or with another label set's.

    Spearman's rho, Kendall's tau-b and tau-AP as in leaderboard_correlation, with intervals from
    resampling queries, systems, and both, and the p-value of a permutation test (how often systems
    in random order agree as well). Replicates in which a figure is undefined are counted.

    An interval is for the correlation that boards of as many queries have on average, not for the
    one that endlessly many would give. It lies around the value: Student's, with the bootstrap's
    standard error, on the scale of the correlation's angle (arccos).

    --top adds tau-b, tau-AP and RBO over the first systems by the reference alone, and what is
    lost, in the reference's score, by choosing a label set's best system. The picture has tau-b and
    rho with the intervals over both.

    \b
    Examples:
      gradelake stats correlation dl19 --measure nDCG@10
      gradelake stats correlation dl19 --measure nDCG@10 \\
          --reference assessor:nist --top 5 --top 10
      gradelake stats correlation dl19 --measure AP \\
          --label-set judge:Sun --level 1 \\
          --reference assessor:nist --against judge:Thomas
    """
    from gradelake.analyses.answers.correlation_picture import correlation_picture
    from gradelake.analyses.stats import boards
    from gradelake.analyses.stats.correlation import agreement
    from gradelake.analyses.stats.top import top_agreement

    leaderboard, reference, reference_level = (
        asked.pop(name) for name in ("leaderboard", "reference", "reference_level")
    )
    refuse_without("--reference", reference, "--reference-level")
    about = {"collection": collection, "measure": measure} | asked | {"against": against}
    asked["n_replicates"] = asked.pop("replicates")
    read = read_compared(lake, collection, label_sets, measure, level, reference)
    official = None if reference else boards.read_official_ranks(lake, collection, leaderboard)
    rival = boards.read_board(lake, collection, against, measure, level) if against else None
    found, tops = [], []
    groups: dict[int, list[str]] = {}
    for board in console.progress("resampling", read, len(read)):
        theirs = official or boards.read_reference(
            lake, collection, reference, reference_level, board
        )
        other = None if board.label_set == against else rival
        found.append(agreement(board, theirs, other, **asked))
        if top:
            group = _best_group(theirs, groups, asked)
            tops.append(top_agreement(board, theirs, top, group, **asked))
    tables = [Table.of("correlations", COLUMNS, _correlations(found))]
    if any(one.better for one in found):
        caption = f"Agrees better than {against}?"
        tables.append(Table.of("better", BETTER, _better(found), caption=caption))
    tables += _tables_of_tops(tops)
    notes = [*parts.incomplete(one.board for one in found), *_undefined(found)]
    against_whom = f"official ranks {official.leaderboard}" if official else reference
    picture = correlation_picture(lake, collection, found, against_whom, asked["confidence"])
    return Answer(about, tables=tables, picture=picture, notes=notes)


def read_compared(lake, collection, label_sets, measure, level, reference):
    """The boards of the label sets that were named, or of all that are measured so, without the
    reference's. Raises `BadInput` where there is none."""
    from gradelake.analyses import qrels_export
    from gradelake.analyses.stats import boards

    if not label_sets:  # those that are measured so; all, when none is: reading them says why
        known = qrels_export.label_sets(lake, collection)
        label_sets = boards.measured_label_sets(lake, collection, measure) or known
    names = [name for name in dict.fromkeys(label_sets) if name != reference]
    if not names:
        raise BadInput(f"there is nothing to compare {reference!r} with by {measure}", OTHER_LABELS)
    return boards.read_boards(lake, collection, names, measure, level)


def _best_group(theirs, groups: dict, settings: dict):
    """Who may be the best by the reference, at each of its levels; None of official ranks."""
    from gradelake.analyses.stats.boards import Board
    from gradelake.analyses.stats.ranks import rank_uncertainty

    if not isinstance(theirs, Board):
        return None
    if theirs.level not in groups:
        groups[theirs.level] = rank_uncertainty(theirs, **settings).top
    return groups[theirs.level]


def _tables_of_tops(tops):
    """How well boards agree at the top, and what their choices cost; none where nobody asked."""
    if not tops:
        return []
    at_top = "Among the first by the reference (intervals over queries)"
    chosen = "Taking the label set's best system for the reference's"
    return [
        Table.of("tops", TOPS, _tops(tops), caption=at_top),
        Table.of("choices", CHOICES, map(_choice, tops), caption=chosen),
    ]


def _correlations(found):
    for one in found:
        board = one.board
        about = {"label_set": parts.named(board), "level": board.level}
        about |= {"n_systems": len(one.systems), "n_queries": one.n_queries}
        for each in one.correlations:
            row = about | board.completeness.as_object()
            row |= {"statistic": each.statistic, "value": each.value, "p": each.p_value}
            for over, resampled in each.spread.items():
                row |= parts.spread(over, None, resampled)
            yield row


def _better(found):
    for one in found:
        for each in one.better:
            spread = parts.spread("difference", each.difference, each.spread)
            yield {"label_set": one.board.label_set} | vars(each) | spread


def _tops(tops):
    for one in tops:
        rows: dict[int, dict] = {}
        for each in one.tops:
            about = {"label_set": parts.named(one.board), "n_systems": each.n_systems}
            row = rows.setdefault(each.k, about | {"k": each.k})
            row |= parts.spread(each.statistic, each.value, each.spread)
        yield from rows.values()


def _choice(top):
    choice = top.choice
    about = {"label_set": parts.named(top.board), "in_best_group": choice.in_best_group}
    about["systems"] = ", ".join(choice.systems)
    return about | parts.spread("loss", choice.loss, choice.spread)


def _undefined(found):
    for one in found:
        for each in one.correlations:
            for over, resampled in each.spread.items():
                if resampled.undefined:
                    yield (
                        f"{one.board.label_set}, {each.statistic}, over {over}: undefined in "
                        f"{resampled.undefined:,} replicates; the interval is computed from the "
                        "others"
                    )
