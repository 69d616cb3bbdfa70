"""Leaderboards: systems, their scores by several measures or labels, and their official ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from gradelake.analyses import choosing
from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.answers.boards_picture import boards_picture
from gradelake.analyses.answers.scores import Scores, read_scores
from gradelake.analyses.stats import options
from gradelake.analyses.stats.boards import read_board
from gradelake.sql.common.command_line import refuse_beside
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import EMPTY, RULED, Answer, Cell, Column, Table, with_best_bold
from gradelake.sql.shown.kinds import shown as as_shown

CORRELATIONS = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_correlation
    where collection = ? and leaderboard = ?
"""
NOTHING = (None, None, None)
MEANS = {  # what stands beside a score
    "stderr": "Its standard error over queries.",
    "half_interval": "Half of its 95% interval over queries.",
    "rank": "Its rank by that score.",
    "groups": parts.GROUPS,
}
BESIDE = {  # what may stand beside a score -> what the caption says of it
    "stderr": " Beside a score: its standard error over queries.",
    "half_interval": " Beside a score: half of its 95% interval over queries (Student's t).",
    "rank": "",
    "groups": " Scores that share a letter do not differ significantly"
    " (randomised Tukey HSD, alpha 0.05).",
}


@dataclass(frozen=True)
class Layout:
    """How a board is laid out.

    `beside` each score stand those of `BESIDE`; `approximate`: systems without an official rank
    have one like `~27`; `starred`: a star behind their names, as they were not submitted.
    `ordered_by`: the level whose first column orders the systems, the first one else.
    `correlation`: rows beneath, of each column's rank correlation with the official ranks. The
    Workbench's Table 4 has all of these.
    """

    beside: Sequence[str] = ()
    approximate: bool = False
    starred: bool = False
    ordered_by: int | None = None
    correlation: bool = False


@question("leaderboard", "Show systems with their scores and ranks.", draws=True)
@options.of_label_sets(
    "The label set that scores the systems; may be repeated (default: the only one there is)."
)
@options.of_measures(
    "The measure; may be repeated, and the first orders the systems (default: all)."
)
@options.of_levels(
    "The label from which a passage counts as relevant; may be repeated (default: 4 for a rubric, "
    "otherwise min_relevant, or the highest label below it)."
)
@click.option(
    "--board",
    "single",
    type=(str, str, int),
    multiple=True,
    metavar="LABEL_SET MEASURE LEVEL",
    help="One board, instead of all that the options above ask for; may be repeated.",
)
@click.option("--ranks", is_flag=True, help="Show the rank by each measure beside its scores.")
@click.option("--stderr", is_flag=True, help="Show standard errors beside the scores.")
@click.option("--interval", is_flag=True, help="Show half of the 95% intervals beside the scores.")
@click.option(
    "--groups",
    is_flag=True,
    help=(
        "Show letters beside the scores: systems that share one do not differ significantly (see "
        "stats ranks)."
    ),
)
@click.option(
    "--approximate",
    is_flag=True,
    help="Show ~N for systems without an official rank: the better rank of their neighbours.",
)
@click.option("--starred", is_flag=True, help="Mark systems without an official rank with *.")
@options.numbered("--ordered-by", "The level that orders the systems (default: the first).")
@click.option(
    "--correlation",
    is_flag=True,
    help="Show beneath how each column agrees with the official ranks.",
)
def leaderboard(
    lake, collection, label_sets, measures, levels, single, ranks, stderr, interval, groups, **asked
):
    """Show the systems of COLLECTION with their scores, ranks and official ranks.

    The picture has each board from its lowest to its highest score, as Figure 2 of EXAM++: bars are
    standard errors over queries, and systems are in the order of their official ranks, or of the
    first board. That of `stats ranks` has intervals and groups.

    \b
    Examples:
      gradelake stats leaderboard dl19 --label-set judge:Sun \\
          --measure nDCG@10 --measure AP
      gradelake stats leaderboard dl19 --label-set judge:Sun \\
          --measure AP --interval --groups -o board.tex
      gradelake stats leaderboard dl19 --measure Cover@20 --stderr \\
          --label-set flan/v0/best --level 3 --level 4 --level 5
      gradelake stats leaderboard dl19 --label-set judge:Sun \\
          --measure AP --approximate
      gradelake stats leaderboard dl20 --label-set flan/v0/best \\
          --label-set flan_nuggets/v0/best --measure RR \\
          --level 3 --level 4 --level 5 --ordered-by 4 \\
          --approximate --starred --correlation
      gradelake stats leaderboard dl19 --board flan/v0/best Cover@20 4 \\
          --board assessor:nist AP 2 --picture boards.svg
    """
    if single:
        others = ("--label-set", "--measure", "--level")
        refuse_beside("--board", dict.fromkeys(others, "names each"))
    if stderr and interval:
        raise BadInput("--stderr and --interval cannot be used together")
    each = {"stderr": stderr, "half_interval": interval, "rank": ranks, "groups": groups}
    layout = Layout([name for name, is_asked in each.items() if is_asked], **asked)
    shown = [
        each
        for name, measure, level in single
        for each in read_scores(lake, collection, (name,), (measure,), (level,))
    ] or read_scores(lake, collection, label_sets, measures, levels)
    if levels and all(choosing.is_imported(each.label_set) for each in shown):
        raise BadInput("scores that were computed elsewhere know no level", "Leave --level out.")
    boards = list(dict.fromkeys((each.label_set, each.level) for each in shown))
    known = choosing.completeness(lake, collection)
    complete = {name: known[name] for name, _ in boards}
    notes = [f"{name} is {one.says}" for name, one in complete.items() if one.says]
    if cut := choosing.cut_systems(lake, collection):
        notes.append(f"AP and R@100 are cut, for want of ungraded passages: {', '.join(cut)}")
    about = [{"label_set": name, "level": level} for name, level in boards]
    return Answer(
        {"collection": collection} | (about[0] if len(boards) == 1 else {"boards": about}),
        tables=[_table(lake, collection, shown, len(boards) == 1, layout, complete, notes)],
        picture=boards_picture(lake, collection, shown),
        notes=notes,
    )


def _table(
    lake: Lake,
    collection: str,
    shown: list["Scores"],
    is_one: bool,
    layout: Layout,
    complete: Mapping[str, choosing.Completeness],
    notes: list[str],
) -> Table:
    """Systems in order of the first measure, the best score of each column bold."""
    official = choosing.official_ranks(lake, collection)
    if layout.approximate and not official:
        raise BadInput(
            f"{collection!r} has no official ranks to approximate",
            "Set official_ranks in gradelake.toml, or leave out --approximate.",
        )
    first = _ordering(shown, layout.ordered_by).systems
    systems = {system for each in shown for system in each.systems}
    order = sorted(systems, key=lambda name: (first.get(name, (0, 0, 1e9))[2], name))
    remarks = _remarks(complete, is_one)
    scores = [_columns(each, is_one, layout.beside) for each in shown]
    columns = [
        Column("rank", "Rank", "rank", is_key=True),
        Column("system", "System", is_key=True),
        *(column for of_one in scores for column in of_one),
        *(
            Column(f"{name}_rank", _capital(name), "rank", means="Its official rank.")
            for name in sorted(official)
        ),
        *(Column(key, kind="text", is_detail=True) for key in remarks),
    ]
    rows = _rows(lake, collection, shown, order, first, official, layout)
    said = "".join(f" {note}." for note in notes)
    table = with_best_bold(
        Table(
            "leaderboard",
            columns,
            [[*row, *remarks.values()] for row in rows],
            f"{collection}: systems by {_caption(shown, is_one)}. Bold: the best of a column."
            f"{''.join(BESIDE[name] for name in layout.beside)}{said}{_about_ranks(layout)}",
        ),
        [of_one[0].key for of_one in scores],
    )
    if not layout.correlation:
        return table
    beneath = _correlations(lake, collection, shown, list(official), layout)
    more = [[*row, *remarks.values()] for row in beneath]
    return replace(table, rows=[*table.rows, *more])


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _ordering(shown: list[Scores], level: int | None) -> Scores:
    """The column that orders the systems. Raises `BadInput` where none has the level."""
    if level is None:
        return shown[0]
    for each in shown:
        if each.level == level:
            return each
    raise BadInput(f"--ordered-by {level}: no column has this level", "Add --level.")


def _rows(
    lake: Lake,
    collection: str,
    shown: list[Scores],
    order: list[str],
    first: Mapping[str, tuple],
    official: Mapping[str, Mapping[str, float]],
    layout: Layout,
) -> list[list[Any]]:
    """A row for each system: its rank and name, its scores and what stands beside them, ranks."""
    beside = layout.beside
    groups = [_groups(lake, collection, each) if "groups" in beside else {} for each in shown]
    submitted = {name for ranks in official.values() for name in ranks}
    ranked: list[dict[str, Any]] = []
    for ranks in official.values():
        near = approximate_ranks(order, ranks) if layout.approximate else {}
        about_where = {name: f"~{as_shown('rank', place)}" for name, place in near.items()}
        ranked.append({**ranks, **about_where})
    rows = []
    for system in order:
        star = "*" * (layout.starred and system not in submitted)
        row = [first.get(system, NOTHING)[2], Cell(system, shown=system + star)]
        for each, letters in zip(shown, groups, strict=True):
            score, error, place = each.systems.get(system, NOTHING)
            cells = {
                "stderr": error,
                "half_interval": each.half_interval(error),
                "rank": place,
                "groups": letters.get(system, ""),
            }
            row += [score, *(cells[name] for name in beside)]
        rows.append(row + [of_board.get(system) for of_board in ranked])
    return rows


def _correlations(
    lake: Lake, collection: str, shown: list[Scores], leaderboards: list[str], layout: Layout
) -> list[list[Any]]:
    """Two rows for each official leaderboard: Spearman and Kendall of each column of scores.

    Raises `BadInput` where there is none."""
    if not leaderboards:
        raise BadInput(
            f"{collection!r} has no official ranks to correlate with",
            "Set official_ranks in gradelake.toml, or leave out --correlation.",
        )
    rows: list[list[Any]] = []
    for leaderboard in leaderboards:
        found = {
            tuple(key): {"Spearman": spearman, "Kendall": kendall}
            for *key, spearman, kendall in lake.rows(CORRELATIONS, collection, leaderboard)
        }
        for statistic in ("Spearman", "Kendall"):
            by = f", {leaderboard}" * (len(leaderboards) > 1)
            above = EMPTY if rows else EMPTY.marked(RULED)
            row: list[Any] = [above, Cell(statistic, shown=statistic + by)]
            for each in shown:
                figures = found.get((each.label_set, each.level, each.measure), {})
                row += [figures.get(statistic), *[EMPTY] * len(layout.beside)]
            rows.append([*row, *[EMPTY] * len(leaderboards)])
    return rows


def _remarks(complete: Mapping[str, choosing.Completeness], is_one: bool) -> dict[str, Any]:
    return {
        key if is_one else f"{name} {key}": value
        for name, one in complete.items()
        for key, value in one.as_object().items()
    }


def _about_ranks(layout: Layout) -> str:
    """What the caption says of marks and of rows beneath."""
    says = ""
    if layout.approximate:
        says += " ~: no official rank of its own, the better one of the systems next to it."
    if layout.starred:
        says += " *: no official rank."
    if layout.ordered_by is not None:
        says += f" In the order of the first column of level {layout.ordered_by}."
    if layout.correlation:
        says += " Beneath: each column's rank correlation with the official ranks."
    return says


def approximate_ranks(order: Sequence[str], ranks: Mapping[str, float]) -> dict[str, float]:
    """System without an official rank -> about which it would have, as in the Workbench's Table 4.

    That is the better of the ranks of the nearest systems above and below it in this order that
    have one; nothing above it counts as 1. All six of that table come out so.
    """
    found = {}
    for place, system in enumerate(order):
        if system not in ranks:
            above = next((ranks[one] for one in order[place::-1] if one in ranks), 1)
            found[system] = next((min(above, ranks[o]) for o in order[place:] if o in ranks), above)
    return found


def _groups(lake: Lake, collection: str, each: Scores) -> dict[str, str]:
    """system -> letters of its groups, those of `stats ranks`; none of a board made elsewhere."""
    if each.n_queries is None:
        return {}
    from gradelake.analyses.stats.ranks import rank_uncertainty

    board = read_board(lake, collection, each.label_set, each.measure, each.level)
    return {one.system: one.groups for one in rank_uncertainty(board).systems}


def _columns(each: Scores, is_one: bool, beside: Sequence[str]) -> list[Column]:
    """The columns of a board: with one board the measures stand above them, with several the label
    sets."""
    if is_one:
        key, group = each.measure, each.measure if beside else ""
        head = "score" if group else each.measure
    else:
        level = "" if choosing.is_imported(each.label_set) else f"{each.level} "
        key, group = f"{each.label_set} {level}{each.measure}", each.label_set
        head = f"{each.measure} ({each.level})" if each.has_level else each.measure
    kinds = {"rank": "rank", "groups": "text"}
    return [
        Column(key, head, "score", group=group, means=f"Its {each.measure} by {each.label_set}."),
        *(
            Column(
                f"{key}_{name}",
                name,
                kinds.get(name, "score"),
                "score",
                group,
                is_beside=True,
                means=MEANS[name],
            )
            for name in beside
        ),
    ]


def _caption(shown: list[Scores], is_one: bool) -> str:
    one, *_ = shown
    if choosing.is_imported(one.label_set) and is_one:
        return f"{one.measure}, by {one.label_set}, computed elsewhere"
    if is_one:
        kinds = {each.kind for each in shown}
        passages = f"passages labelled {one.level} or higher are relevant"
        items = f"a grade of {one.level} or higher answers an item of the rubric"
        levels = [
            *([passages] if "binary" in kinds else []),
            *([items] if "rubric" in kinds else []),
        ]
        return "; ".join([f"{one.measure}, by the labels of {one.label_set}", *levels])
    return (
        f"{one.measure} of {one.label_set}, beside other boards; in parentheses the label from "
        "which a passage is relevant, or the grade from which an item of the rubric counts as "
        "answered"
    )
