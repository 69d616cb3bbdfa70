"""How well leaderboards made from labels agree with the official ones, by label set and level."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import mean, median, stdev
from typing import Any

import click
import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.answers.scores import IMPORTED
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats import options
from gradelake.analyses.stats.boards import (
    OfficialRanks,
    boards_by_measure,
    read_official_ranks,
    read_reference,
)
from gradelake.analyses.stats.correlation import agreement
from gradelake.sql.common.command_line import refuse_without
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.rank_correlation import correlations, signs
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import (
    BOLD,
    EMPTY,
    GREY,
    RULED,
    Answer,
    Cell,
    Column,
    Table,
    with_best_bold,
)
from gradelake.sql.shown.kinds import shown as as_shown

STATISTICS = ("spearman", "kendall")
HEADS = {"spearman": "rho", "kendall": "tau"}
WORDS = {"spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}
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
USUAL = "select label_set, level from lake.marts.usual_levels where collection = ?"
PERFECT_CELL = Cell(None, shown="\u2020")
KEYS = [Column("label_set", "Labels", is_key=True), Column("level", "Level", "label", is_key=True)]
REMARKS = [parts.LABELLED_SHARE, parts.IS_INCOMPLETE]
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

    @property
    def has_wins(self) -> bool:
        return self.within is not None or self.overlapping

    def cell(self, value: float | None, error: float | None, is_perfect: bool) -> Cell:
        if value is None and is_perfect:
            return PERFECT_CELL
        below = self.grey_below
        is_grey = value is not None and below is not None and value < below
        used = error if self.overlapping else None
        return Cell(value, frozenset({GREY} if is_grey else ()), error=used or 0.0)


@question("correlation-table", "Show how leaderboards agree, by measure and level.")
@options.of_label_sets("The label set; may be repeated (default: all).")
@options.of_levels("The relevance level; may be repeated (default: all that the labels reach).")
@options.of_measures("The measure; may be repeated (default: all).")
@options.with_official_ranks
@click.option(
    "--by-topic", is_flag=True, help="Also show the mean of the topics' own correlations."
)
@click.option(
    "--within",
    type=click.FloatRange(0),
    metavar="X",
    help=(
        "Take what is within X of a column's best as just as good, and count how often each row is."
    ),
)
@click.option(
    "--overlapping",
    is_flag=True,
    help="The same for what overlaps the best within standard errors over queries.",
)
@options.replicated("Bootstrap samples of --overlapping.", 1000)
@click.option("--grey-below", type=float, metavar="X", help="Print what is below X in grey.")
@click.option(
    "--repeated",
    is_flag=True,
    help="Repeat measures that have no level in each row, as in RUBRIC's Table 3.",
)
def correlation_table(
    lake, collection, label_sets, levels, measures, leaderboard, reference, by_topic, **style
):
    """Show how COLLECTION's leaderboards agree with the official one: Spearman, Kendall.

    A --reference is taken at min_relevant if it is an assessor, otherwise at the same level.
    --measure "AP spearman" asks for one of its two columns. A dagger stands where all systems have
    a perfect score. For intervals: stats correlation.

    \b
    Examples:
      gradelake stats correlation-table dl19 --measure nDCG@10 \\
          --measure AP -o correlation.tex
      gradelake stats correlation-table dl19 --measure AP --within 0.05
      gradelake stats correlation-table dl19 --measure AP \\
          --overlapping --grey-below 0.5
      gradelake stats correlation-table dl19 --measure AP \\
          --reference assessor:nist --by-topic
    """
    if by_topic and not (reference or "").startswith("assessor:"):
        raise BadInput("--by-topic compares with people's boards", "Say --reference assessor:NAME.")
    refuse_without("--overlapping", style["overlapping"], "--replicates", "--seed")
    for name in label_sets:
        choosing.require_scored(lake, collection, name)
    asked = [_column(one) for one in measures]
    board = _read(lake, collection, leaderboard, reference, {measure for measure, _ in asked})
    board.choose_rows(label_sets, levels)
    board.choose_columns(asked, by_topic)
    return board.answer(Style(**style))


def _read(
    lake: Lake, collection: str, leaderboard: str | None, reference: str | None, asked: set[str]
) -> "Boards":
    """The correlations that the marts have, with official ranks or another label set's board."""
    if reference is None:
        official = read_official_ranks(lake, collection, leaderboard)
        rows = lake.rows(OFFICIAL, collection, official.leaderboard)
        about: dict[str, Any] = {"leaderboard": official.leaderboard}
    else:
        require_label_set(lake, collection, reference)
        rows = lake.rows(OTHER_LABELS, collection, reference)
        official, about = None, {"reference": reference}
    cells = {tuple(row[:3]): dict(zip(STATISTICS, row[3:], strict=True)) for row in rows}
    as_cover = _with_cover_of_judges(cells, asked)
    if as_cover:
        about["cover_of_judges"] = True
    return Boards(lake, collection, reference, official, cells, as_cover, about)


@dataclass
class Boards:
    """Correlations of a collection's boards, and which of them a table shows.

    `as_cover`: which cells are which others, under another name. `rows`: (label set, level);
    `columns`: (measure, statistic), both shown; `errors`: how much resampling moves a cell.
    """

    lake: Lake
    collection: str
    reference: str | None
    official: OfficialRanks | None
    cells: dict[Key, Figures]
    as_cover: dict[Key, Key]
    about: dict[str, Any]
    errors: dict[Key, Figures] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[str, int]] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)

    def choose_rows(self, label_sets: tuple[str, ...], levels: tuple[int, ...]) -> None:
        """Choose the rows that were asked for, or all. Raises `BadInput` where there is none."""
        self.rows = _shown(self.lake, self.collection, self.cells, label_sets, levels)
        if not self.rows:
            whose = self.reference or self.about["leaderboard"]
            raise BadInput(
                f"there is nothing to correlate with {whose!r} on {self.collection!r}",
                "Are there systems with official ranks, and these label sets and levels?",
            )

    def choose_columns(self, asked: list[tuple[str, tuple[str, ...]]], by_topic: bool) -> None:
        """Choose the columns that were asked for, or all that are defined anywhere. Raises
        `BadInput`."""
        known = choosing.measures(self.lake)
        correlated = {measure for *_, measure in self.cells}
        self.kinds = {measure: kind for measure, kind in known.items() if measure in correlated}
        # of boards that were computed elsewhere
        self.kinds |= dict.fromkeys(sorted(correlated - known.keys()), IMPORTED)
        for measure, _ in asked:
            if measure not in self.kinds:
                hint = measure_hint(measure, self.kinds, self.lake.rows)
                raise BadInput(f"no leaderboard has a measure {measure!r}", hint)
        asked = asked or [
            (measure, STATISTICS)
            for measure, kind in self.kinds.items()
            if kind != "labelled" and any(self._is_known(*row, measure) for row in self.rows)
        ]
        if by_topic:
            self._add_topics({measure for measure, _ in asked})
            asked = [
                (measure + end, statistics) for measure, statistics in asked for end in ("", TOPICS)
            ]
        self.columns = list(
            dict.fromkeys((measure, each) for measure, statistics in asked for each in statistics)
        )

    def _is_known(self, name: str, level: int, measure: str) -> bool:
        return None not in self.cells.get((name, level, measure), {None: None}).values()

    def _add_topics(self, measures: set[str]) -> None:
        self.about["by_topic"] = True
        names = sorted({name for name, _ in self.rows})
        for measure in measures:
            of_topics = _by_topic(self.lake, self.collection, self.reference, measure, names)
            for key, means, errors in of_topics:
                self.cells[key], self.errors[key] = means, errors
            self.kinds[measure + TOPICS] = self.kinds[measure]

    def answer(self, style: Style) -> Answer:
        """The table: a row per label set and level, a column per measure and statistic. What knows
        no level stands once per label set."""
        levelled = {measure for measure, _ in self.columns if self._has_level(measure)}
        first = dict(reversed(self.rows))  # the first level of each label set
        if not levelled and not style.repeated:
            self.rows = [row for row in self.rows if first[row[0]] == row[1]]
        if style.overlapping:
            self._add_errors(levelled, first, style)
        table = [self._row(*row, first, levelled, style) for row in self.rows]
        shown = [cell for row in table for cell in row]
        if of_cells := [cell.error for cell in shown if cell.error]:
            self.about["standard_error"] = median(of_cells)
        keys = [f"{measure} {statistic}" for measure, statistic in self.columns]
        figures = [
            Column(
                key,
                HEADS[statistic],
                "tau",
                group=measure,
                means=f"{WORDS[statistic]} of the boards by {measure}.",
            )
            for key, (measure, statistic) in zip(keys, self.columns, strict=True)
        ]
        table = self._with_best(Table("", figures, table), style)
        wins = [
            Column("wins", "Wins", "count", means="Columns in which it is among the best.")
        ] * style.has_wins
        caption = f"{self.collection}: {_caption(shown, self.about, style)}"
        rows = _named(self.rows, table, choosing.completeness(self.lake, self.collection))
        columns = [*KEYS, *figures, *wins, *REMARKS]
        return Answer(
            {"collection": self.collection, **self.about},
            tables=[Table("correlation", columns, rows, caption)],
        )

    def _has_level(self, measure: str) -> bool:
        return self.kinds[measure] in choosing.LEVELLED

    def _row(
        self, name: str, level: int, first: dict[str, int], levelled: set[str], style: Style
    ) -> list[Cell]:
        row = []
        perfect = self._perfect
        for measure, statistic in self.columns:
            at = (name, level if measure in levelled else first[name], measure)
            error = self.errors.get(at, {}).get(statistic)
            key = (name, level, measure)
            cell = style.cell(self.cells.get(key, {}).get(statistic), error, key in perfect)
            is_said = first[name] == level or measure in levelled or style.repeated
            row.append(cell if is_said else replace(cell, shown=""))
        return row

    @cached_property
    def _perfect(self) -> set[Key]:
        """Where all systems have the same perfect score."""
        perfect = set(self.lake.rows(PERFECT, self.collection))
        return perfect | {key for key, source in self.as_cover.items() if source in perfect}

    def _add_errors(self, levelled: set[str], first: dict[str, int], style: Style) -> None:
        known = {key[2] for key in self.errors}
        keys = [
            (name, level, measure)
            for name, level in self.rows
            for measure in {measure for measure, _ in self.columns} - known
            if (measure in levelled or first[name] == level)
            and not choosing.is_imported(name)
            and self._is_known(name, level, measure)
        ]
        sources = list(dict.fromkeys(self.as_cover.get(key, key) for key in keys))
        found = _errors(self.lake, self.collection, sources, self.official, self.reference, style)
        self.errors |= {key: found[self.as_cover.get(key, key)] for key in keys}

    def _with_best(self, table: Table, style: Style) -> list[list[Any]]:
        """The rows with each column's best bold. Assessors, whose labels made the official ranks,
        do not compete for these."""
        competing = [
            at
            for at, (name, _) in enumerate(self.rows)
            if self.reference is not None or not name.startswith("assessor:")
        ]
        keys = [column.key for column in table.columns]
        some = replace(table, rows=[table.rows[at] for at in competing])
        marked = with_best_bold(some, keys, style.within or 0, style.has_wins)
        rows = [list(row) for row in table.rows]
        for at, row in zip(competing, marked.rows, strict=True):
            rows[at] = list(row)
        if style.has_wins:
            for at, row in enumerate(rows):
                n_best = sum(BOLD in cell.marks for cell in row)
                row.append(n_best if at in competing else None)
        return rows


def _shown(
    lake: Lake,
    collection: str,
    cells: Mapping[Key, Figures],
    label_sets: tuple[str, ...],
    levels: tuple[int, ...],
) -> list[tuple[str, int]]:
    """The label set and level of each row; a board that was computed elsewhere has one row."""
    highest = choosing.highest_labels(lake, collection)
    usual = dict(lake.rows(USUAL, collection))
    return [
        (name, level)
        for name, level in sorted({key[:2] for key in cells})
        if (name in label_sets if label_sets else name in highest or choosing.is_imported(name))
        and (
            level == usual.get(name, 0)
            if choosing.is_imported(name)
            else level in levels
            if levels
            else level <= highest[name]
        )
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
    ranks = f"those of {reference}" if reference else f"the ranks of {about['leaderboard']}"
    best = "the best of a column" + ("" if reference else " apart from people's own")
    has_wins = style.within is not None or style.overlapping
    bold = f"Bold{' italic' * has_wins}: {best}"
    if style.within:
        bold += f"; bold: what is within {style.within:g} of it"
    if "standard_error" in about:
        bold += "; bold: what overlaps it within standard errors of resampled queries (median "
        bold += f"{as_shown('tau', about['standard_error'])})"
    if "by_topic" in about:
        bold += "; by topic: the mean of the topics' own correlations"
    if style.grey_below is not None:
        bold += f"; grey: below {style.grey_below:g}"
    if "cover_of_judges" in about:
        bold += "; Cover@k of judges without items: Success@k, of the query as the only item"
    if any(cell.shown == PERFECT_CELL.shown for cell in cells):
        bold += f"; {PERFECT_CELL.shown}: undefined, as all systems have a perfect score"
    return (
        f"rank correlation of leaderboards from labels with {ranks}: Spearman's rho and Kendall's "
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
    """Each board's mean of its topics' correlations, and the standard error of that mean."""
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


def _named(
    shown: list[tuple[str, int]],
    table: list[list[Any]],
    completeness: dict[str, choosing.Completeness],
) -> list[list[Any]]:
    """The rows behind their label set, whose name stands in its first row only, and level."""
    rows, said = [], None
    for (name, level), cells in zip(shown, table, strict=True):
        complete = completeness[name]
        whose = Cell(name, shown="" if name == said else name + complete.mark)
        if said not in (None, name):
            whose = whose.marked(RULED)
        at = EMPTY if choosing.is_imported(name) else level
        rows.append([whose, at, *cells, complete.labelled_share, complete.is_incomplete])
        said = name
    return rows
