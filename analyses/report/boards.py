"""Leaderboards for the report: scores, also by query, ranks, how ranks moved, how boards agree."""

from itertools import groupby
from math import inf
from typing import Any

import numpy as np

from gradelake.analyses.choosing import measures
from gradelake.analyses.report.report_queries import ask, columns_of
from gradelake.analyses.report.two_boards import TwoBoards
from gradelake.analyses.stats.boards import effective_queries
from gradelake.analyses.stats.resample import or_none, student_reach
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown

Scores = dict[int, dict[str, dict[str, Any]]]  # of `read_query_scores`
NOTHING = {"score": None, "low": None, "high": None, "rank": None}


def read_boards(
    lake: Lake, before: Lake | None, collection: str, label_sets: list[str]
) -> dict[str, dict[str, Any]]:
    """The boards of each label set, as the page reads them.

    label set -> {systems: [name], queries: {measure: n}, measures: [name], boards: {level:
    {measure: {score, low, high, rank, before: [one per system]}}}}. `low` and `high` are the ends
    of Student's 95% interval, None where there is none. A system's place in `before` is None where
    it was not on that board in the earlier release; without one, all are.
    """
    earlier = ask(before, "boards", collection=collection) if before else []
    known = {_key(row): row["systems"] for row in earlier}
    rows = ask(lake, "boards", collection=collection)
    in_order, effective = measures(lake), effective_queries(lake, collection)
    found: dict[str, dict[str, Any]] = {}
    for name in label_sets:
        own = [row for row in rows if row["label_set"] == name]
        if not own:
            continue
        systems = sorted({system for row in own for system in row["systems"]})
        sizes = {row["measure"]: row["n_queries"] for row in own}
        tell = {m: effective.get((name, m), n) for m, n in sizes.items()}
        reach = {m: float(student_reach(n)) for m, n in tell.items() if n > 1}
        boards: dict[int, dict[str, dict[str, list]]] = {}
        for row in own:
            cells = [row["systems"].get(system) for system in systems]
            is_share = in_order[row["measure"]] != "scores"
            now = [
                _with_ends(cell, row["measure"], reach, is_share) if cell else NOTHING
                for cell in cells
            ]
            then = known.get(_key(row), {})
            boards.setdefault(row["level"], {})[row["measure"]] = {
                **{name: [cell[name] for cell in now] for name in NOTHING},
                "before": [then.get(system, NOTHING)["rank"] for system in systems],
            }
        found[name] = {
            "systems": systems,
            "queries": sizes,
            "measures": [measure for measure in in_order if measure in sizes],
            "boards": boards,
        }
    return found


def _with_ends(
    cell: dict[str, Any], measure: str, reach: dict[str, float], is_share: bool
) -> dict[str, float | None]:
    """A cell of a board with the ends of its interval, within what the measure can be."""
    score, error = cell["score"], cell["stderr"]
    found = {"score": score, "low": None, "high": None, "rank": cell["rank"]}
    if score is None or not error or measure not in reach:
        return found
    # every measure of ours is from 0 to 1, but what counts against an answer
    lowest = -inf if not is_share or measure.startswith("Criteria") else 0.0
    highest = 1.0 if is_share else inf
    far = reach[measure] * error
    ends = {"low": max(lowest, score - far), "high": min(highest, score + far)}
    return found | {name: round(end, 4) for name, end in ends.items()}


def first_board(label_set: str, board: dict[str, Any], level: int) -> dict[str, Any]:
    """What the page shows before any script has run: {label_set, measure, level, rows}.

    The rows are {system, score, low, high, rank, groups} by rank; the measure is nDCG@10, or else
    the board's first. `groups` is None where systems were not compared.
    A level that the board does not have gives way to its lowest, as in the page's script.
    """
    levels = board["boards"]
    level = level if level in levels else min(levels)
    at_level = levels[level]
    measure = next(one for one in ("nDCG@10", *board["measures"]) if one in at_level)
    columns = at_level[measure]
    rows = [
        {"system": system, "groups": columns["groups"][at] if "groups" in columns else None}
        | {name: columns[name][at] for name in NOTHING}
        for at, system in enumerate(board["systems"])
        if columns["rank"][at] is not None
    ]
    rows.sort(key=lambda row: (row["rank"], row["system"]))
    return {"label_set": label_set, "measure": measure, "level": level, "rows": rows}


def _key(row: dict[str, Any]) -> tuple[str, int, str]:
    return row["label_set"], row["level"], row["measure"]


def read_agreement(
    lake: Lake, collection: str, reference: str | None, boards: dict[str, dict[str, Any]]
) -> dict[str, dict]:
    """label set -> level -> measure -> how its board agrees with the reference's, in a sentence,
    too; `far`: the systems that are far from their place; `low` and `high`: how far scores reach.
    """
    if reference is None:
        return {}
    found: dict[str, dict] = {}
    for row in ask(lake, "board_agreement", collection=collection, reference=reference):
        label_set, level, measure = (row.pop(key) for key in ("label_set", "level", "measure"))
        people = boards.get(reference), row["reference_level"]
        two = TwoBoards.of(measure, people, (boards.get(label_set), level))
        if two.systems:
            kendall, spearman = (shown("tau", row[one]) for one in ("kendall", "spearman"))
            says = (
                f"{counted(len(two.systems), 'systems')} by {measure}: Kendall's tau-b {kendall}, "
            )
            says += f"Spearman's rho {spearman} between {label_set} and {reference}."
            says += two.differently()
            row |= {"says": says, "far": two.far} | two.reach()
            found.setdefault(label_set, {}).setdefault(level, {})[measure] = row
    return found


def read_query_scores(lake: Lake, collection: str, label_sets: list[str]) -> dict[str, Scores]:
    """label set -> level -> measure -> {systems: {system: its score on each query, in the order of
    the queries' ids}, mean, median: what all systems come to on each}.

    Scores are in units of 0.0001; None where a query does not count, -1e9 where the system left it
    unanswered. A measure that knows no level stands at the lowest alone.
    """
    asked = {"collection": collection, "label_sets": label_sets}
    columns = columns_of(lake, "query_scores", **asked)
    boards = [one for one in columns["board"].tolist() if one]
    n_queries = len(columns["score"]) // max(1, len(boards))
    found: dict[str, Scores] = {}
    for _, places in groupby(range(len(boards)), lambda at: {**boards[at], "system": None}):
        first, *others = places
        board, n_systems = boards[first], 1 + len(others)
        own = columns["score"][first * n_queries : (first + n_systems) * n_queries]
        own = np.ma.asarray(own).reshape(n_systems, n_queries)
        systems = (one["system"] for one in boards[first : first + n_systems])
        measures = found.setdefault(board["label_set"], {}).setdefault(board["level"], {})
        measures[board["measure"]] = {
            "systems": dict(zip(systems, own.tolist(), strict=True)),
            **_come_to(own),
        }
    return found


def _come_to(scores: np.ndarray) -> dict[str, list[float | None]]:
    """What the systems, a row each, come to on each query; None where a query does not count."""
    known = np.ma.filled(np.ma.maximum(scores, 0).astype(float), np.nan) / 10_000
    figures = {"mean": known.mean(axis=0), "median": np.median(known, axis=0)}
    return {name: [or_none(one) for one in figure.round(5)] for name, figure in figures.items()}


def at_level(scores: Scores, level: int) -> dict[str, dict[str, Any]]:
    """measure -> its scores at this level; those of a measure that knows none at any."""
    found: dict[str, dict[str, Any]] = {}
    for each in sorted(scores, reverse=True):
        found |= scores[each]
    return found | scores.get(level, {})
