"""What moved between two releases: labels, scores and ranks, compared in SQL side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any

import duckdb

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.connection import connect, execute, little_memory, require_lake
from gradelake.sql.releases.publishing import attach_release

MAIN_MEASURES = ("nDCG@10", "AP", "Cover@20")  # shown unless others are asked for


@dataclass
class LabelMoves:
    """A label set whose labels differ; `examples`, the first five: query, passage, label before and
    after (None: there was none)."""

    collection: str
    label_set: str
    changed: int
    appeared: int
    went: int
    same: int
    examples: list[dict]


@dataclass
class BoardMoves:
    """A leaderboard on which something moved.

    `systems` are those whose score or rank differs, best first; before or after is None for one
    that is new or gone. `kendall` is tau-b (Kendall 1945) between the scores of the `n_systems`
    that are on both boards; None where all of one board's are equal.
    """

    collection: str
    label_set: str
    level: int
    measure: str
    n_systems: int
    kendall: float | None
    systems: list[dict]


@dataclass
class ReleaseDifference:
    """Between two releases; `n_label_sets` and `n_boards` were compared, moved or not."""

    before: str
    after: str
    n_label_sets: int
    n_boards: int
    label_sets: list[LabelMoves]
    leaderboards: list[BoardMoves]


def compare(
    project: Project,
    before: str,
    after: str,
    collection: str | None = None,
    measures: tuple[str, ...] = (),
    level: int | None = None,
) -> ReleaseDifference:
    """Compare two releases, of one collection or of all.

    Boards are compared at each label set's level of `usual_levels` (in the later release, where it
    has one) unless `level` is given, by `MAIN_MEASURES` unless `measures` are. Raises `BadInput`
    when there is no such release, collection, measure or level.
    """
    require_lake(project)
    with connect() as connection, little_memory(connection):
        attach_release(connection, project, before, "earlier")
        attach_release(connection, project, after, "later")
        connection.execute(_KEYS)
        _check(connection, "collection", [collection] if collection else [])
        _check(connection, "measure", measures)
        _check(connection, "level", [] if level is None else [level])
        rows = execute(connection, _LABELS, {"collection": collection}).fetchall()
        label_sets = [LabelMoves(*row) for row in rows]
        known = {name for (name,) in connection.execute("select measure from keys").fetchall()}
        chosen = measures or tuple(known.intersection(MAIN_MEASURES)) or tuple(known)
        values = {"collection": collection, "measures": list(chosen), "level": level}
        rows = execute(connection, _BOARDS, values).fetchall()
    boards = [
        BoardMoves(collection, label_set, level, measure, n, _kendall(ours, theirs), systems)
        for collection, label_set, level, measure, n, ours, theirs, systems in rows
    ]
    return ReleaseDifference(
        before,
        after,
        len(label_sets),
        len(boards),
        [label_set for label_set in label_sets if label_set.examples],
        [board for board in boards if board.systems],
    )


# every (collection, level, measure) of either release
_KEYS = """
    create temp table keys as
    select collection, level, measure from earlier.marts.leaderboard
    union
    select collection, level, measure from later.marts.leaderboard
"""

# a row for each label set; those without examples are the same
_LABELS = """
    with labels as (
        select
            collection, label_set, query_id, passage_id,
            was.label as before,
            now.label as after,
            case
                when was.passage_id is null then 'appeared'
                when now.passage_id is null then 'went'
                when was.label is distinct from now.label then 'changed'
                else 'same'
            end as move
        from earlier.marts.relevance_labels as was
        full join later.marts.relevance_labels as now
            using (collection, label_set, query_id, passage_id)
        where $collection is null or collection = $collection
    )
    select
        collection, label_set,
        count(*) filter (where move = 'changed') as changed,
        count(*) filter (where move = 'appeared') as appeared,
        count(*) filter (where move = 'went') as went,
        count(*) filter (where move = 'same') as same,
        arg_min(
            {
                'query_id': query_id, 'passage_id': passage_id,
                'before': before, 'after': after
            },
            (move != 'changed', query_id, passage_id),
            5
        ) filter (where move != 'same') as examples
    from labels
    group by all
    order by all
"""

# a row for each leaderboard; those without systems are the same
_BOARDS = """
    with
    usual as (
        from later.marts.usual_levels
        union all
        from earlier.marts.usual_levels
        anti join later.marts.usual_levels using (collection, label_set)
    ),
    chosen as (
        select collection, label_set, coalesce($level, level) as level
        from usual
        where $collection is null or collection = $collection
    ),
    entries as (
        select
            collection, label_set, level, measure, system,
            was.score as score_before,
            now.score as score_after,
            was.rank as rank_before,
            now.rank as rank_after,
            rank_before is not null and rank_after is not null as is_on_both
        from earlier.marts.leaderboard as was
        full join later.marts.leaderboard as now
            using (collection, label_set, level, measure, system)
        where list_contains($measures, measure) and (collection, label_set, level) in (from chosen)
    )
    select
        collection, label_set, level, measure,
        count(*) filter (where is_on_both) as n_systems,
        list(score_before order by system) filter (where is_on_both) as scores_before,
        list(score_after order by system) filter (where is_on_both) as scores_after,
        list(
            {
                'system': system, 'score_before': score_before, 'score_after': score_after,
                'rank_before': rank_before, 'rank_after': rank_after
            }
            order by coalesce(rank_after, rank_before), rank_before, system
        ) filter (
            where score_before is distinct from score_after
            or rank_before is distinct from rank_after
        ) as systems
    from entries
    group by all
    order by all
"""


def _kendall(before: list[float] | None, after: list[float] | None) -> float | None:
    if before is None or after is None or len(before) < 2:
        return None
    import numpy as np

    from gradelake.sql.common.rank_correlation import correlations, signs, tied

    ours, theirs = (signs(tied(np.array(scores))) for scores in (before, after))
    tau = float(correlations(ours, theirs)["kendall"])
    return None if isnan(tau) else round(tau, 10)


def _check(connection: duckdb.DuckDBPyConnection, column: str, names: Iterable[Any]) -> None:
    known = {n for (n,) in connection.execute(f"select distinct {column} from keys").fetchall()}
    for name in names:
        if name not in known:
            if column == "measure":
                hint = measure_hint(
                    name, known, lambda q: connection.execute(q).fetchall(), "later"
                )
            else:
                hint = did_you_mean(str(name), map(str, known))
            raise BadInput(f"neither release has a leaderboard of {column} {name!r}", hint)
