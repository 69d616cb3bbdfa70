"""How well leaderboards made from labels agree with the official ones, by label set and level."""

from dataclasses import replace

from gradelake.analyses import choosing
from gradelake.analyses.choosing import Completeness
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import read_official_ranks
from gradelake.analyses.tables.table import Block, Cell, Column, Table, number, text, with_best_bold
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.lake.opening import Lake

STATISTICS = ("spearman", "kendall")
OFFICIAL = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_correlation
    where collection = ? and leaderboard = ?
"""
OTHER_LABELS = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_agreement
    where collection = ? and reference = ?
"""


def correlation_table(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...] = (),
    levels: tuple[int, ...] = (),
    measures: tuple[str, ...] = (),
    leaderboard: str | None = None,
    reference: str | None = None,
    within: float | None = None,
) -> Table:
    """Spearman and Kendall tau-b, a row per label set and level, two columns per measure.

    With official ranks (`leaderboard` says which, if there are several), or with the leaderboard
    of `reference`, another label set (at min_relevant for an assessor, else at the same level).
    Without `levels`, those that a label set's labels reach; without `measures`, all that are
    defined anywhere. A measure that knows no level stands once per label set. The best of a column
    is bold, and what is `within` so much of it, which a last column counts; assessors, whose
    labels made the official ranks, do not compete for these. Raises `BadInput` for what is not
    there.
    """
    for name in label_sets:
        require_label_set(lake, collection, name)
    if reference is None:
        whose = read_official_ranks(lake, collection, leaderboard).leaderboard
        rows = lake.rows(OFFICIAL, collection, whose)
        about = {"leaderboard": whose}
    else:
        require_label_set(lake, collection, reference)
        rows = lake.rows(OTHER_LABELS, collection, reference)
        whose, about = reference, {"reference": reference}
    cells = {tuple(row[:3]): dict(zip(STATISTICS, row[3:], strict=True)) for row in rows}
    highest = choosing.highest_labels(lake, collection)
    shown = [
        (name, level)
        for name, level in sorted({key[:2] for key in cells})
        if name in (label_sets or highest)
        and (level in levels if levels else level <= highest[name])
    ]
    if not shown:
        raise BadInput(
            f"there is nothing to correlate with {whose!r} on {collection!r}",
            "Are there systems with official ranks, and these label sets and levels?",
        )
    correlated = {measure for *_, measure in cells}
    kinds = {m: kind for m, kind in choosing.measures(lake).items() if m in correlated}
    for measure in measures:
        if measure not in kinds:
            hint = measure_hint(measure, kinds, lake.rows)
            raise BadInput(f"no leaderboard has a measure {measure!r}", hint)
    columns = list(dict.fromkeys(measures)) or [
        measure
        for measure, kind in kinds.items()
        if kind != "labelled"
        and any(None not in cells.get((*row, measure), {None: None}).values() for row in shown)
    ]
    of_levels = {measure for measure in columns if kinds[measure] in choosing.LEVELLED}
    first = dict(reversed(shown))  # the first level of each label set
    if not of_levels:
        shown = [row for row in shown if first[row[0]] == row[1]]
    table = [
        [
            cell if measure in of_levels or first[name] == level else replace(cell, text="")
            for measure in columns
            for statistic in STATISTICS
            for cell in [number(cells.get((name, level, measure), {}).get(statistic), 3)]
        ]
        for name, level in shown
    ]
    competing = [
        row
        for row, (name, _) in enumerate(shown)
        if reference is not None or not name.startswith("assessor:")
    ]
    marked = with_best_bold([table[row] for row in competing], range(len(table[0])), within or 0)
    for row, best in zip(competing, marked, strict=True):
        table[row] = best
    if within is not None:
        for row, line in enumerate(table):
            wins = sum(cell.is_bold for cell in line) if row in competing else None
            line.append(number(wins, 0))
    of = f"the ranks of {whose}" if reference is None else f"those of {reference}"
    bold = "Bold: the best of a column" + ("" if reference else " apart from people's own")
    if within:
        bold += f", and what is within {within:g} of it"
    return Table(
        "correlation",
        f"{collection}: rank correlation of leaderboards from labels with {of}: Spearman's rho and "
        "Kendall's tau-b, by the level from which a passage is relevant; what knows no level "
        f"stands once. {bold}; --: undefined; incomplete: labels miss many of the pairs that "
        "people judged.",
        [
            Column("label_set", "Labels", is_number=False, is_key=True),
            Column("level", "Level", is_key=True),
            *(
                Column(f"{measure} {statistic}", head, measure)
                for measure in columns
                for statistic, head in zip(STATISTICS, ("rho", "tau"), strict=True)
            ),
            *([] if within is None else [Column("wins", "Wins")]),
        ],
        _blocks(shown, table, choosing.completeness(lake, collection)),
        {"collection": collection, **about},
    )


def _blocks(
    shown: list[tuple[str, int]], table: list[list[Cell]], completeness: dict[str, Completeness]
) -> list[Block]:
    """A block per label set, whose name stands in its first row only."""
    blocks: list[Block] = []
    for (name, level), cells in zip(shown, table, strict=True):
        is_new = not blocks or blocks[-1].rows[0][0].value != name
        complete = completeness[name]
        row = [text(name, name + complete.mark if is_new else ""), Cell(level, str(level)), *cells]
        if is_new:
            blocks.append(Block({}, [row], remarks=complete.as_object()))
        else:
            blocks[-1].rows.append(row)
    return blocks
