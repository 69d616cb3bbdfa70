"""Leaderboards for the report: scores, also by query, ranks, how ranks moved, how boards agree."""

from math import inf
from typing import Any

from gradelake.analyses.choosing import measures
from gradelake.analyses.report.report_queries import ask, ask_by, columns_of
from gradelake.analyses.stats.boards import effective_queries
from gradelake.analyses.stats.resample import student_reach
from gradelake.sql.lake.opening import Lake

Scores = dict[int, dict[str, dict[str, list[int | None]]]]
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


def read_agreement(lake: Lake, collection: str, reference: str | None) -> dict[str, dict]:
    """label set -> level -> measure -> how its board agrees with the reference's."""
    if reference is None:
        return {}
    of = {"collection": collection, "reference": reference}
    return ask_by(lake, "board_agreement", "label_set", "level", "measure", **of)


def read_query_scores(lake: Lake, collection: str, label_sets: list[str]) -> dict[str, Scores]:
    """label set -> level -> measure -> system -> its score on each query, in the order of the
    queries' ids.

    In units of 0.0001; None where a query does not count, -1e9 where the system left it unanswered.
    A measure that knows no level stands at the lowest alone.
    """
    of = {"collection": collection, "label_sets": label_sets}
    columns = columns_of(lake, "query_scores", **of)
    boards = [one for one in columns["board"].tolist() if one]
    values = columns["score"].tolist()
    n_queries = len(values) // max(1, len(boards))
    found: dict[str, Scores] = {}
    for at, board in enumerate(boards):
        measures = found.setdefault(board["label_set"], {}).setdefault(board["level"], {})
        own = values[at * n_queries : (at + 1) * n_queries]
        measures.setdefault(board["measure"], {})[board["system"]] = own
    return found


def at_level(scores: Scores, level: int) -> dict[str, dict[str, list[int | None]]]:
    """measure -> system -> scores at this level; those of a measure that knows none at any."""
    found: dict[str, dict[str, list[int | None]]] = {}
    for each in sorted(scores, reverse=True):
        found |= scores[each]
    return found | scores.get(level, {})
