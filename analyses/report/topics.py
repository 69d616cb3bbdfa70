"""Scores topic by topic, for the report's views of one system, one query, and two of a kind."""

from gradelake.analyses.report.report_queries import ask_by
from gradelake.sql.lake.opening import Lake

Scores = dict[int, dict[str, dict[str, list[int | None]]]]


def read_topic_scores(lake: Lake, collection: str, label_sets: list[str]) -> dict[str, Scores]:
    """label set -> level -> measure -> system -> its score on each query, in the order of the
    queries' ids.

    In units of 0.0001; None where the query does not count, -1 where the system left it unanswered.
    A measure that knows no level stands at the lowest alone.
    """
    keys = ("label_set", "level", "measure", "system")
    return ask_by(lake, "topic_scores", *keys, collection=collection, label_sets=label_sets)


def at_level(scores: Scores, level: int) -> dict[str, dict[str, list[int | None]]]:
    """measure -> system -> scores at this level; those of a measure that knows none at any."""
    found: dict[str, dict[str, list[int | None]]] = {}
    for each in sorted(scores, reverse=True):
        found |= scores[each]
    return found | scores.get(level, {})
