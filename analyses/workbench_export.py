"""`gradelake export workbench`: the files of the RUBRIC workbench's walk-through, by its names.

A Workbench for Autograding Retrieve/Generate Systems (SIGIR 2024), Table 3.
"""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.answers.scores import Scores as BoardScores
from gradelake.analyses.answers.scores import read_scores
from gradelake.analyses.inter_annotator import inter_annotator_tables
from gradelake.analyses.qrels_export import require_columns, require_label_set, write_lines
from gradelake.analyses.stats.boards import read_official_ranks
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import correlations, signs
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.common.whole_file import whole_folder
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.latex import table_latex

ANSWERED = 4  # the rating from which the papers count an item as answered
MEASURES = {"RR": "mrr", "AP": "map", "nDCG": "ndcg"}  # as the workbench's files are called
HEAD = ("method", "exam", "+/-", "exam-std", "n-exam", "+/-", "n-exam-std")
RUBRICS = """
    select label_set, grader, rubric_version, scale_max
    from lake.marts.label_sets
    inner join lake.marts.graders using (grader)
    where
        collection = $1
        and label_sets.kind = 'rubric'
        and (len($2) = 0 or list_contains($2, label_set))
    qualify len($2) > 0 or rubric_version = max(rubric_version) over ()
    order by label_set
"""
QRELS = """
    select query_id, '0', passage_id, cast(label >= ? as integer)
    from lake.marts.relevance_labels
    where collection = ? and label_set = ?
    order by query_id, passage_id
"""
OF_GRADER = "collection = $1 and grader = $2 and rubric_version = $3"
# file -> (how many columns tell which rows belong together, their head, all rows)
LISTS = {
    "verify-grading": (
        3,
        "\n{1}\n{2}\n",
        f"""
            select query_id, item_id, item_text, item_text, passage_id, grade, answer
            from lake.marts.verify_grades
            where {OF_GRADER} and $4 is not null
            group by all
            order by query_id, min(place), item_id, grade desc, passage_id
        """,
    ),
    "bad-question": (
        1,
        "query_id: {0}\n20 items most frequently associated with paragraphs that are judged "
        "negative, but have high self-ratings:\n",
        f"""
            select query_id, item_id, max(n_hits) as n, item_text
            from lake.marts.spurious_items
            where {OF_GRADER} and tau = $4 and below = 1
            group by query_id, item_id, item_text
            qualify
                row_number() over (partition by query_id order by max(n_hits) desc, item_id) <= 20
            order by query_id, n desc, item_id
        """,
    ),
    "uncovered-passages": (
        1,
        "query_id: {0}\nparagraphId worst_judgment best_rating text\n",
        f"""
            select query_id, passage_id, min(judgment), best_grade, text
            from lake.marts.uncovered_passages
            where {OF_GRADER} and tau = $4
            group by all
            order by query_id, passage_id
        """,
    ),
}
GRID = f"""
    select query_id, queries.text, list(item_id order by place),
        list(item_text order by place), passage_id, any_value(passages.text),
        list(grade order by place), list(answer order by place)
    from lake.marts.grade_grid
    inner join lake.raw.queries as queries using (collection, query_id)
    left join lake.raw.passages as passages using (collection, passage_id)
    where {OF_GRADER}
    group by query_id, queries.text, passage_id
    order by query_id, any_value(mean_grade) desc, passage_id
"""
# as the workbench counts: of the items that were graded, over the queries that a system answered
COVER = f"""
    select
        system,
        avg(cover_workbench),
        stddev_samp(cover_workbench) / sqrt(count(*)),
        avg(cover_normalised),
        stddev_samp(cover_normalised) / sqrt(count(*))
    from lake.marts.rubric_coverage
    where {OF_GRADER} and tau = $4 and k = 20 and is_answered
    group by system
    order by system
"""
HAS_SYSTEMS = "select count(*) > 0 from lake.raw.systems where collection = ?"
LEVELS = """
    select distinct level from lake.marts.leaderboard
    where collection = ? and label_set = ?
"""
Scores = list[tuple]  # (system, score, standard error, both normalised)


@dataclass(frozen=True)
class Export:
    """What is asked for, and what of it cannot be written. Without ratings it is the papers', 4, or
    the top of a grader's scale that ends before."""

    lake: Lake
    collection: str
    measures: tuple[str, ...] = ("RR",)
    ratings: tuple[int, ...] = ()
    reference: str | None = None
    leaderboard: str | None = None
    left_out: list[str] = field(default_factory=list)

    def leave_out(self, what: str) -> None:
        if what not in self.left_out:
            self.left_out.append(what)


class Rubric(NamedTuple):
    """A label set by a rubric, the rating of its lists, and the ratings that it has labels for."""

    label_set: str
    grader: str
    version: int
    first: int
    ratings: tuple[int, ...]

    @property
    def prompt_class(self) -> str:
        """The class of a prompt by which the workbench names files."""
        return self.label_set.replace("/", ".")


def export_workbench(
    asked: Export, folder: Path, label_sets: tuple[str, ...] = ()
) -> dict[str, int]:
    """Write the files into a new folder, there whole or not at all; returns file -> its lines.

    Lists to verify grades by, spurious items, uncovered passages and grids, of the first rating;
    for each label set (all of the newest rubric) and rating qrels, boards by measures and by
    coverage, and the same over their correlation with official ranks; and the agreement with
    people's judgments. What the collection has nothing for is left out, and named in
    `asked.left_out`. Raises `BadInput` for what is asked for and not there.
    """
    if folder.exists():
        raise BadInput(f"{folder}: is there already", "Name a new folder.")
    with asked.lake.one_state():
        rubrics = _rubrics(asked, label_sets)
        with whole_folder(folder.absolute()) as unfinished:
            for name, text in _texts(asked, rubrics):
                (unfinished / name).write_text(text, encoding="utf-8", newline="")
            for rubric in rubrics:
                _write_qrels(asked, rubric, unfinished)
            files = sorted(unfinished.iterdir())
            return {file.name: file.read_bytes().count(b"\n") for file in files}


def _rubrics(asked: Export, label_sets: tuple[str, ...]) -> list[Rubric]:
    lake, collection, ratings = asked.lake, asked.collection, asked.ratings
    for name in label_sets:
        require_label_set(lake, collection, name)
    found = lake.rows(RUBRICS, collection, list(label_sets))
    if not found or len({*label_sets} - {name for name, *_ in found}):
        what = " or ".join(map(repr, label_sets)) or repr(collection)
        raise BadInput(f"{what} has no labels by a rubric", "Grade its items, then build.")
    highest = choosing.highest_labels(lake, collection)
    if ratings and not 1 <= min(ratings) <= max(ratings) <= max(highest[row[0]] for row in found):
        ends = ", ".join(f"{name!r} are 0-{highest[name]}" for name, *_ in found)
        said = f"--min-rating {', '.join(map(str, ratings))}: labels of {ends}"
        raise BadInput(said, "Say which grades count as answered.")
    rubrics = []
    for name, grader, version, scale_max in found:
        wanted = ratings or (min(ANSWERED, scale_max),)
        able = tuple(at for at in wanted if at <= highest[name])
        if beyond := [str(at) for at in wanted if at not in able]:
            what = f"{name} at rating {', '.join(beyond)}: its labels are 0-{highest[name]}"
            asked.leave_out(what)
        rubrics.append(Rubric(name, grader, version, wanted[0], able))
    return rubrics


def _write_qrels(asked: Export, rubric: Rubric, folder: Path) -> None:
    try:
        require_columns(asked.lake, asked.collection, [rubric.label_set])
    except BadInput as error:
        asked.leave_out(f"qrels of {rubric.label_set}: {error}")
        return
    for at in rubric.ratings:
        name = f"rubric-qrels-{rubric.prompt_class}-minrating-{at}.solo.qrels"
        file = folder / f"{asked.collection}-{name}"
        write_lines(asked.lake, file, QRELS, at, asked.collection, rubric.label_set)


def _texts(asked: Export, rubrics: list[Rubric]) -> Iterator[tuple[str, str]]:
    """(name, text) of each file but the qrels."""
    lake, collection = asked.lake, asked.collection
    of_graders = ((collection, each.grader, each.version, each.first) for each in rubrics)
    graders = list(dict.fromkeys(of_graders))
    for name, (n_keys, head, query) in LISTS.items():
        rows = [row for grader in graders for row in lake.rows(query, *grader)]
        yield f"{collection}-{name}.txt", _list(rows, n_keys, head)
    grids = [row for grader in graders for row in lake.rows(GRID, *grader[:3])]
    yield f"{collection}-grid-display.txt", _grids(grids)
    ranks: dict[str, float] = {}
    if choosing.official_ranks(lake, collection):
        ranks = read_official_ranks(lake, collection, asked.leaderboard).ranks
        yield f"official_{collection}_leaderboard.json", json.dumps(ranks, indent=1) + "\n"
    has_systems = lake.value(HAS_SYSTEMS, collection)
    if not has_systems:
        asked.leave_out("leaderboards: the collection has no rankings")
    elif not ranks:
        asked.leave_out("correlations: the collection has no official ranks")
    for rubric in rubrics:
        if has_systems:
            yield from _leaderboards(asked, rubric, ranks)
        yield from _agreement(asked, rubric)


def _leaderboards(
    asked: Export, rubric: Rubric, ranks: dict[str, float]
) -> Iterator[tuple[str, str]]:
    """Boards of a label set, and the same over their correlations with the ranks. Only one measure
    is named in the files of correlations: where it is not the walk-through's own."""
    lake, collection = asked.lake, asked.collection
    boards: dict[tuple[str, int, str, str], Scores] = {}
    for at in rubric.ratings:
        for each in _scores(asked, rubric, at):
            family, _, k = each.measure.partition("@")
            measure = f".{MEASURES.get(family, family)}{f'_cut.{k}' if k else ''}"
            of_systems = sorted(each.systems.items())
            scores = [(name, *found[:2], None, None) for name, found in of_systems]
            own = "" if each.measure == "RR" else measure
            boards["qrels", at, f".solo{measure}", own] = scores
        if cover := lake.rows(COVER, collection, rubric.grader, rubric.version, at):
            boards["cover", at, ".solo", ""] = cover
        else:
            asked.leave_out(f"boards of coverage at rating {at}: Cover@20 is not computed there")
    for (kind, at, end, own), scores in boards.items():
        name = f"{collection}-rubric-{kind}-leaderboard-{rubric.prompt_class}"
        board = _board(scores, ranks)
        yield f"{name}-minrating-{at}{end}.tsv", board
        if ranks:
            whole = board + _correlated(scores, ranks)
            yield f"{name}-minlevel-{at}{own}.correlation.tsv", whole


def _scores(asked: Export, rubric: Rubric, at: int) -> list[BoardScores]:
    """The boards at a level; none where `seeds/evaluation_levels.csv` leaves it out."""
    levels = asked.lake.column(LEVELS, asked.collection, rubric.label_set)
    if at not in levels:
        asked.leave_out(
            f"leaderboards of {rubric.label_set} at rating {at}: seeds/evaluation_levels.csv has "
            "no such level"
        )
        return []
    named = (asked.collection, (rubric.label_set,), asked.measures)
    return read_scores(asked.lake, *named, levels=(at,))


def _agreement(asked: Export, rubric: Rubric) -> Iterator[tuple[str, str]]:
    known = choosing.highest_labels(asked.lake, asked.collection)
    if not (asked.reference or any(name.startswith("assessor:") for name in known)):
        asked.leave_out("tables of agreement: nobody judged passages")
        return
    reference = choosing.reference_of(asked.lake, asked.collection, asked.reference)
    tables = inter_annotator_tables(
        asked.lake, asked.collection, rubric.grader, rubric.version, reference, rubric.first
    )
    text = "\n".join(map(table_latex, tables))
    yield f"{asked.collection}-rubric-inter-annotator-{rubric.prompt_class}.tex", text


def _line(*cells: Any) -> str:
    """Cells with tabs between them; white space inside them is a space."""
    texts = (" ".join(str(cell).split()) if cell is not None else "" for cell in cells)
    return "\t".join(texts) + "\n"


def _list(rows: list[tuple], n_keys: int, head: str) -> str:
    parts = []
    for keys, of_keys in groupby(rows, lambda row: row[:n_keys]):
        parts += [head.format(*keys), *(_line(*row[n_keys:]) for row in of_keys)]
    return "".join(parts)


def _grids(rows: list[tuple]) -> str:
    """Comma-separated: of each query its items, then a row for each passage."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    for (query, text, *heads), of_query in groupby(rows, lambda row: row[:4]):
        writer.writerow([])
        writer.writerow(shown_row(["queryid", query, "query_text", text]))
        for head in heads:
            writer.writerow(shown_row(["", "", *(cell for one in head for cell in (one, ""))]))
        for *_, passage, words, grades, answers in of_query:
            pairs = zip(grades, answers, strict=True)
            writer.writerow(shown_row([passage, words, *(cell for pair in pairs for cell in pair)]))
    return stream.getvalue()


def _board(scores: Scores, ranks: dict[str, float]) -> str:
    lines = [_line(*HEAD, "orig_TREC_leaderboard_rank")]
    for system, *values in scores:
        score, error, normal, normal_error = ("" if v is None else f"{v:.4f}" for v in values)
        rank = f"{ranks[system]:g}" if system in ranks else ""
        lines.append(_line(system, score, "+/-", error, normal, "+/-", normal_error, rank))
    return "".join(lines)


def _correlated(scores: Scores, ranks: dict[str, float]) -> str:
    """Two lines under a board: the correlations of its scores, and of the normalised ones."""
    known = [row for row in scores if row[0] in ranks]
    official = signs(-np.array([ranks[row[0]] for row in known]))
    found = [
        correlations(signs(np.round(np.array([row[at] for row in known], float), 4)), official)
        for at in (1, 3)
    ]
    return "".join(
        _line(name, *(cell for value in values for cell in (value, "", "")), "")
        for name in ("spearman", "kendall")
        for values in [["" if np.isnan(one[name]) else f"{one[name]:.3f}" for one in found]]
    )
