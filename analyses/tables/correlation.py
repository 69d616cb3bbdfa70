"""How well leaderboards made from labels agree with the official ones, by label set and level."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import mean, median, stdev
from typing import Any

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.choosing import Completeness
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import (
    OfficialRanks,
    boards_by_measure,
    read_official_ranks,
    read_reference,
)
from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.tables.leaderboard import IMPORTED
from gradelake.analyses.tables.table import Block, Cell, Column, Table, number, text, with_best_bold
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.rank_correlation import correlations, signs
from gradelake.sql.lake.opening import Lake

STATISTICS = ("spearman", "kendall")
HEADS = {"spearman": "rho", "kendall": "tau"}
OFFICIAL = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_correlation
    where collection = ? and leaderboard = ?
"""
OTHER_LABELS = """
    select label_set, level, measure, spearman, kendall from lake.marts.leaderboard_agreement
    where collection = ? and reference = ?
"""
COVER, SUCCESS = "Cover@", "Success@"
TOPICS = " by topic"  # behind a measure: the mean of the topics' own correlations
# the mart topic_agreement has these correlations, of all measures and levels or of none
SCORES_BY_TOPIC = """
    select ours.label_set, ours.level, ours.measure,
        list(round(ours.value, 4)), list(round(theirs.value, 4))
    from lake.marts.topic_scores as ours
    inner join lake.marts.topic_scores as theirs using (collection, measure, query_id, system)
    inner join lake.marts.usual_levels as usual
        on theirs.collection = usual.collection and theirs.label_set = usual.label_set
        and theirs.level = usual.level
    where ours.collection = $1 and theirs.label_set = $2 and ours.measure = $3
        and list_contains($4, ours.label_set)
    group by ours.label_set, ours.level, ours.measure, ours.query_id
"""
PERFECT = """
    select label_set, level, measure from lake.marts.leaderboard
    where collection = ?
    group by all
    having min(score_4dp) = 1
"""
PERFECT_CELL = Cell(None, "\u2020")
Key = tuple[str, int, str]  # label set, level, measure
Figures = dict[str, float | None]  # by statistic


@dataclass(frozen=True)
class Style:
    """How a table of correlations looks.

    `within` so much of the best of a column is as good as it; with `overlapping`, as in EXAM++, so
    is what it overlaps within standard errors, estimated from `replicates` resamples of the
    queries. Either counts how often each row is as good. Less than `grey_below` is grey.
    `repeated`: what knows no level stands in each of its rows, as in RUBRIC's Table 3.
    """

    within: float | None = None
    overlapping: bool = False
    replicates: int = 1000
    seed: int = 1
    grey_below: float | None = None
    repeated: bool = False

    def cell(self, value: float | None, error: float | None, is_perfect: bool) -> Cell:
        if value is None and is_perfect:
            return PERFECT_CELL
        below = self.grey_below
        is_grey = value is not None and below is not None and value < below
        used = error if self.overlapping else None
        return replace(number(value, 3), is_grey=is_grey, error=used or 0.0)


def correlation_table(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...] = (),
    levels: tuple[int, ...] = (),
    measures: tuple[str, ...] = (),
    leaderboard: str | None = None,
    reference: str | None = None,
    by_topic: bool = False,
    style: Style = Style(),
) -> Table:
    """Spearman and Kendall tau-b, a row per label set and level, two columns per measure.

    With official ranks (`leaderboard` says which, if there are several), or with the leaderboard
    of `reference`, another label set (at min_relevant for an assessor, else at the same level).
    Without `levels`, those that a label set's labels reach; without `measures`, all that are
    defined anywhere; `AP spearman` is one of two columns. A measure that knows no level stands
    once per label set. `by_topic`: beside each measure the mean of the correlations that topics
    have by themselves, with an assessor. The best of a column is bold, and what is as good by
    `style`; assessors, whose labels made the official ranks, do not compete for these. Raises
    `BadInput` for what is not there.
    """
    for name in label_sets:
        choosing.require_scored(lake, collection, name)
    asked = [_column(one) for one in measures]
    if reference is None:
        official = read_official_ranks(lake, collection, leaderboard)
        whose = official.leaderboard
        rows = lake.rows(OFFICIAL, collection, whose)
        about: dict[str, Any] = {"leaderboard": whose}
    else:
        require_label_set(lake, collection, reference)
        rows = lake.rows(OTHER_LABELS, collection, reference)
        official, whose, about = None, reference, {"reference": reference}
    kinds = choosing.measures(lake)
    errors: dict[Key, Figures] = {}
    if by_topic and not (reference or "").startswith("assessor:"):
        raise BadInput("topics are compared with people's", "Say --reference assessor:NAME.")
    cells = {tuple(row[:3]): dict(zip(STATISTICS, row[3:], strict=True)) for row in rows}
    as_cover = _with_cover_of_judges(cells, {measure for measure, _ in asked})
    if as_cover:
        about["cover_of_judges"] = True
    shown = _shown(lake, collection, cells, label_sets, levels)
    if not shown:
        raise BadInput(
            f"there is nothing to correlate with {whose!r} on {collection!r}",
            "Are there systems with official ranks, and these label sets and levels?",
        )
    correlated = {measure for *_, measure in cells}
    unknown = sorted(correlated - kinds.keys())  # of boards that were computed elsewhere
    kinds = {m: kind for m, kind in kinds.items() if m in correlated}
    kinds |= dict.fromkeys(unknown, IMPORTED)
    for measure, _ in asked:
        if measure not in kinds:
            hint = measure_hint(measure, kinds, lake.rows)
            raise BadInput(f"no leaderboard has a measure {measure!r}", hint)
    asked = asked or [
        (measure, STATISTICS)
        for measure, kind in kinds.items()
        if kind != "labelled"
        and any(None not in cells.get((*row, measure), {None: None}).values() for row in shown)
    ]
    if by_topic:
        about["by_topic"] = True
        names = sorted({name for name, _ in shown})
        for measure in {measure for measure, _ in asked}:
            for key, means, their_errors in _by_topic(lake, collection, reference, measure, names):
                cells[key], errors[key] = means, their_errors
            kinds[measure + TOPICS] = kinds[measure]
        asked = [(measure + end, of) for measure, of in asked for end in ("", TOPICS)]
    columns = list(dict.fromkeys((measure, each) for measure, of in asked for each in of))
    of_levels = {measure for measure, _ in columns if kinds[measure] in choosing.LEVELLED}
    first = dict(reversed(shown))  # the first level of each label set
    if not of_levels and not style.repeated:
        shown = [row for row in shown if first[row[0]] == row[1]]
    perfect = set(lake.rows(PERFECT, collection))
    perfect |= {key for key, source in as_cover.items() if source in perfect}
    if style.overlapping:
        keys = [
            (name, level, measure)
            for name, level in shown
            for measure in {measure for measure, _ in columns} - {key[2] for key in errors}
            if (measure in of_levels or first[name] == level)
            and not choosing.is_imported(name)
            and None not in cells.get((name, level, measure), {None: None}).values()
        ]
        sources = list(dict.fromkeys(as_cover.get(key, key) for key in keys))
        found = _errors(lake, collection, sources, official, reference, style)
        errors |= {key: found[as_cover.get(key, key)] for key in keys}
    table = [
        [
            cell if is_first or measure in of_levels or style.repeated else replace(cell, text="")
            for measure, statistic in columns
            for at in [(name, level if measure in of_levels else first[name], measure)]
            for error in [errors.get(at, {}).get(statistic)]
            for value in [cells.get((name, level, measure), {}).get(statistic)]
            for cell in [style.cell(value, error, (name, level, measure) in perfect)]
        ]
        for name, level in shown
        for is_first in [first[name] == level]
    ]
    competing = [
        row
        for row, (name, _) in enumerate(shown)
        if reference is not None or not name.startswith("assessor:")
    ]
    as_good = range(len(columns))
    has_wins = style.within is not None or style.overlapping
    marked = with_best_bold([table[row] for row in competing], as_good, style.within or 0, has_wins)
    for row, best in zip(competing, marked, strict=True):
        table[row] = best
    shown_cells = [cell for row in table for cell in row]
    if of_cells := [cell.error for cell in shown_cells if cell.error]:
        about["standard_error"] = median(of_cells)
    if has_wins:
        for row, line in enumerate(table):
            wins = sum(cell.is_bold for cell in line) if row in competing else None
            line.append(number(wins, 0))
    return Table(
        "correlation",
        f"{collection}: {_caption(shown_cells, about, style)}",
        [
            Column("label_set", "Labels", is_number=False, is_key=True),
            Column("level", "Level", is_key=True),
            *(
                Column(f"{measure} {statistic}", HEADS[statistic], measure)
                for measure, statistic in columns
            ),
            *([Column("wins", "Wins")] if has_wins else []),
        ],
        _blocks(shown, table, choosing.completeness(lake, collection)),
        {"collection": collection, **about},
    )


def _shown(
    lake: Lake,
    collection: str,
    cells: Mapping[Key, Figures],
    label_sets: tuple[str, ...],
    levels: tuple[int, ...],
) -> list[tuple[str, int]]:
    """The label set and level of each row; a board that was computed elsewhere has one row."""
    highest = choosing.highest_labels(lake, collection)
    return [
        (name, level)
        for name, level in sorted({key[:2] for key in cells})
        if (name in label_sets if label_sets else name in highest or choosing.is_imported(name))
        and (choosing.is_imported(name) or (level in levels if levels else level <= highest[name]))
    ]


def _with_cover_of_judges(cells: dict[Key, Figures], asked: set[str]) -> dict[Key, Key]:
    """Give direct judges the coverage that is asked for, as in EXAM++'s Table 3: of the query as
    the only item Cover@k is Success@k. Returns which cells are which others."""
    found = {
        (name, level, COVER + measure.removeprefix(SUCCESS)): (name, level, measure)
        for name, level, measure in cells
        if measure.startswith(SUCCESS)
        and COVER + measure.removeprefix(SUCCESS) in asked
        and name.startswith("judge:")
    }
    cells |= {key: cells[source] for key, source in found.items()}
    return found


def _caption(cells: list[Cell], about: dict[str, Any], style: Style) -> str:
    reference = about.get("reference")
    of = f"those of {reference}" if reference else f"the ranks of {about['leaderboard']}"
    best = "the best of a column" + ("" if reference else " apart from people's own")
    has_wins = style.within is not None or style.overlapping
    bold = f"Bold{' italic' * has_wins}: {best}"
    if style.within:
        bold += f"; bold: what is within {style.within:g} of it"
    if "standard_error" in about:
        bold += "; bold: what overlaps it within standard errors of resampled queries (median "
        bold += f"{about['standard_error']:.3f})"
    if "by_topic" in about:
        bold += "; by topic: the mean of the topics' own correlations"
    if style.grey_below is not None:
        bold += f"; grey: below {style.grey_below:g}"
    if "cover_of_judges" in about:
        bold += "; Cover@k of judges without items: Success@k, of the query as the only item"
    if any(cell.text == PERFECT_CELL.text for cell in cells):
        bold += f"; {PERFECT_CELL.text}: undefined, as all systems have a perfect score"
    return (
        f"rank correlation of leaderboards from labels with {of}: Spearman's rho and Kendall's "
        "tau-b, by the level from which a passage is relevant; what knows no level stands "
        f"{'in each row' if style.repeated else 'once'}. {bold}; --: undefined; incomplete: labels "
        "miss many of the pairs that people judged."
    )


def _column(asked: str) -> tuple[str, tuple[str, ...]]:
    """A measure, and its statistics: both, or the one that is named behind it."""
    measure, _, statistic = asked.rpartition(" ")
    return (measure, (statistic,)) if statistic in STATISTICS else (asked, STATISTICS)


def _errors(
    lake: Lake,
    collection: str,
    keys: list[Key],
    official: OfficialRanks | None,
    reference: str | None,
    style: Style,
) -> dict[Key, Figures]:
    """How much resampling the queries moves each board's correlations."""
    found = {}
    for level in {level for _, level, _ in keys}:
        of_level = [key for key in keys if key[1] == level]
        names, measures = {name: level for name, *_ in of_level}, {key[2] for key in of_level}
        boards = boards_by_measure(lake, collection, names, list(measures))
        for name, _, measure in of_level:
            board = boards[name, measure]
            other = official or read_reference(lake, collection, str(reference), None, board)
            known = agreement(board, other, n_replicates=style.replicates, seed=style.seed)
            found[name, level, measure] = {
                one.statistic: one.spread["queries"].standard_error for one in known.correlations
            }
    return found


def _by_topic(
    lake: Lake, collection: str, reference: str | None, measure: str, label_sets: list[str]
) -> Iterator[tuple[Key, Figures, Figures]]:
    """Of each board the mean of its topics' correlations, and that mean's standard error."""
    found: dict[tuple, dict[str, list[float]]] = {}
    for *key, ours, theirs in lake.rows(
        SCORES_BY_TOPIC, collection, reference, measure, label_sets
    ):
        of_topic = correlations(signs(np.array(ours)), signs(np.array(theirs)))
        of_board = found.setdefault(tuple(key), {name: [] for name in STATISTICS})
        for name, values in of_board.items():
            values += [float(of_topic[name])] * (not np.isnan(of_topic[name]))
    for (name, level, _), of_board in found.items():
        means = {s: mean(each) if each else None for s, each in of_board.items()}
        errors = {
            s: stdev(each) / len(each) ** 0.5 if len(each) > 1 else None
            for s, each in of_board.items()
        }
        yield (name, level, measure + TOPICS), means, errors


def _blocks(
    shown: list[tuple[str, int]], table: list[list[Cell]], completeness: dict[str, Completeness]
) -> list[Block]:
    """A block per label set, whose name stands in its first row only."""
    blocks: list[Block] = []
    for (name, level), cells in zip(shown, table, strict=True):
        is_new = not blocks or blocks[-1].rows[0][0].value != name
        complete = completeness[name]
        at = Cell(None, "") if choosing.is_imported(name) else Cell(level, str(level))
        row = [text(name, name + complete.mark if is_new else ""), at, *cells]
        if is_new:
            blocks.append(Block({}, [row], remarks=complete.as_object()))
        else:
            blocks[-1].rows.append(row)
    return blocks
