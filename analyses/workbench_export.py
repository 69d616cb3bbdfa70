"""`gradelake export workbench`: the files of the RUBRIC workbench's walk-through, by its names.

A Workbench for Autograding Retrieve/Generate Systems (SIGIR 2024), Table 3.
"""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.qrels_export import require_columns, require_label_set, write_lines
from gradelake.analyses.stats.boards import read_official_ranks
from gradelake.analyses.tables.agreement import agreement_table
from gradelake.analyses.tables.latex import render
from gradelake.analyses.tables.leaderboard import read_scores
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.rank_correlation import correlations, signs
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.common.whole_file import whole_folder
from gradelake.sql.lake.opening import Lake

MEASURES = {"RR": "mrr", "AP": "map", "nDCG": "ndcg"}  # as the workbench's files are called
HEAD = ("method", "exam", "+/-", "exam-std", "n-exam", "+/-", "n-exam-std")
RUBRICS = """
    select label_set, grader, rubric_version
    from lake.intermediate.int_label_sets
    where collection = $1 and kind = 'rubric' and (len($2) = 0 or list_contains($2, label_set))
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
            select distinct query_id, item_id, item_text, item_text, passage_id, grade, answer
            from lake.marts.verify_grades
            where {OF_GRADER} and $4 is not null
            order by query_id, item_id, grade desc, passage_id
        """,
    ),
    "bad-question": (
        1,
        "query_id: {0}\n20 items most frequently associated with paragraphs that are judged "
        "negative, but have high self-ratings:\n",
        f"""
            select query_id, item_id, max(n_hits) as n, item_text
            from lake.marts.spurious_items
            where {OF_GRADER} and tau = $4
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
    select query_id, query_text, list(item_id order by item_id),
        list(item_text order by item_id), passage_id, any_value(passage_text),
        list(grade order by item_id), list(answer order by item_id)
    from lake.marts.grade_grid
    inner join lake.staging.stg_queries using (collection, query_id)
    left join lake.staging.stg_passages using (collection, passage_id)
    where {OF_GRADER}
    group by query_id, query_text, passage_id
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
Scores = list[tuple]  # (system, score, standard error, both normalised)


def export_workbench(
    lake: Lake,
    collection: str,
    folder: Path,
    label_sets: tuple[str, ...] = (),
    measures: tuple[str, ...] = ("RR",),
    ratings: tuple[int, ...] = (4,),
    reference: str | None = None,
    leaderboard: str | None = None,
) -> dict[str, int]:
    """Write the files into a new folder, there whole or not at all; returns file -> its lines.

    Lists to verify grades by, spurious items, uncovered passages and grids, of the first rating;
    for each label set (all of the newest rubric) and rating qrels, boards by measures and by
    coverage, and the same over their correlation with official ranks, where there are any; and the
    agreement with people's judgments, where they judged. Raises `BadInput` for what is not there.
    """
    if folder.exists():
        raise BadInput(f"{folder}: is there already", "Name a new folder.")
    with lake.one_state():
        for name in label_sets:
            require_label_set(lake, collection, name)
        rubrics = lake.rows(RUBRICS, collection, list(label_sets))
        if not rubrics or len({*label_sets} - {name for name, *_ in rubrics}):
            what = " or ".join(map(repr, label_sets)) or repr(collection)
            raise BadInput(f"{what} has no labels by a rubric", "Grade its items, then build.")
        highest = choosing.highest_labels(lake, collection)
        for name, *_ in rubrics:
            if not 1 <= min(ratings) <= max(ratings) <= highest[name]:
                said = f"--min-rating {', '.join(map(str, ratings))}: labels of {name!r} are 0-"
                raise BadInput(f"{said}{highest[name]}", "Say which grades count as answered.")
        require_columns(lake, collection, [name for name, *_ in rubrics])
        with whole_folder(folder.absolute()) as unfinished:
            wanted = rubrics, measures, ratings, reference, leaderboard
            for name, text in _texts(lake, collection, *wanted):
                (unfinished / name).write_text(text, encoding="utf-8", newline="")
            for (label_set, *_), at in ((rubric, at) for rubric in rubrics for at in ratings):
                name = f"rubric-qrels-{_class(label_set)}-minrating-{at}.solo.qrels"
                file = unfinished / f"{collection}-{name}"
                write_lines(lake, file, QRELS, at, collection, label_set)
            files = sorted(unfinished.iterdir())
            return {file.name: file.read_bytes().count(b"\n") for file in files}


def _texts(
    lake: Lake,
    collection: str,
    rubrics: list[tuple],
    measures: tuple[str, ...],
    ratings: tuple[int, ...],
    reference: str | None,
    leaderboard: str | None,
) -> Iterator[tuple[str, str]]:
    """(name, text) of each file but the qrels."""
    graders = dict.fromkeys((collection, *grader) for _, *grader in rubrics)
    for name, (n_keys, head, query) in LISTS.items():
        rows = [row for grader in graders for row in lake.rows(query, *grader, ratings[0])]
        yield f"{collection}-{name}.txt", _list(rows, n_keys, head)
    grids = [row for grader in graders for row in lake.rows(GRID, *grader)]
    yield f"{collection}-grid-display.txt", _grids(grids)
    ranks: dict[str, float] = {}
    if choosing.official_ranks(lake, collection):
        ranks = read_official_ranks(lake, collection, leaderboard).ranks
        yield f"official_{collection}_leaderboard.json", json.dumps(ranks, indent=1) + "\n"
    judged = any(name.startswith("assessor:") for name in choosing.highest_labels(lake, collection))
    for label_set, grader, version in rubrics:
        boards: dict[tuple[str, int, str], Scores] = {}
        for at in ratings:
            for each in read_scores(lake, collection, (label_set,), measures, (at,)):
                family, _, k = each.measure.partition("@")
                end = f".{MEASURES.get(family, family)}{f'_cut.{k}' if k else ''}"
                of_systems = sorted(each.systems.items())
                scores = [(name, *found[:2], None, None) for name, found in of_systems]
                boards["rubric-qrels-leaderboard", at, end] = scores
            cover = lake.rows(COVER, collection, grader, version, at)
            if not cover:
                raise BadInput("there is no Cover@20", measure_hint("Cover@20", (), lake.rows))
            boards["rubric-cover-leaderboard", at, ".solo"] = cover
        for (kind, at, end), scores in boards.items():
            name, board = f"{collection}-{kind}-{_class(label_set)}", _board(scores, ranks)
            yield f"{name}-minrating-{at}{end}.tsv", board
            if ranks:
                whole = board + _correlated(scores, ranks)
                yield f"{name}-minlevel-{at}{end}.correlation.tsv", whole
        if judged or reference:
            asked = (lake, collection, (label_set,), reference)
            merged = replace(agreement_table(*asked, cut=ratings[0]), name="agreement-merged")
            text = "\n".join(map(render, (agreement_table(*asked), merged)))
            yield f"{collection}-rubric-inter-annotator-{_class(label_set)}.tex", text


def _class(label_set: str) -> str:
    return label_set.replace("/", ".")


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
