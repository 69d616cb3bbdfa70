"""Whether B is better than A: the difference, how surely, what decides it, and what labels miss."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.compare.bounds import BOUNDED, FirstPassages, least_and_most
from gradelake.analyses.compare.topics_picture import topics_picture
from gradelake.analyses.report.shown import (
    chosen_reference,
    judged_shares,
    opens_on,
    shown_label_sets,
)
from gradelake.analyses.stats.better import BETTER, UNTESTED, Decided, decide, queries_of_half
from gradelake.analyses.stats.boards import (
    UNIT,
    Board,
    default_level,
    measures_of,
    read_board,
    segments_of,
)
from gradelake.analyses.stats.resample import or_none
from gradelake.analyses.stats.significance import REPLICATES, Pairs, compare_pairs
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.project import TO_LABEL, TO_RANK, did_you_mean
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, said_p, shown

FIRST = 10  # passages that are looked at for a measure that knows no cutoff
LISTED = 10  # queries that are shown of each kind

WITH_BOARDS = """
    select label_set from lake.marts.leaderboard
    where
        collection = $collection
        and list_contains($systems, system)
        and measure = coalesce($measure, measure)
    group by label_set having count(distinct system) = len(list_distinct($systems))
"""
HEADS = """
    with

    labels as (
        select query_id, passage_id, label from lake.marts.relevance_labels
        where collection = $collection and label_set = $label_set
    ),

    heads as (
        select
            query_id,
            passage_id,
            min(rank) filter (where system = $b) as first,
            min(rank) filter (where system = $a) as second
        from lake.marts.rankings
        where collection = $collection and system in ($a, $b) and rank <= $k
        group by all
    )

    select
        query_id,
        coalesce(list((first, second, label)) filter (coalesce(first, second) is not null), []),
        list(label) filter (label is not null)
    from labels
    full join heads using (query_id, passage_id)
    group by query_id
    having count(label) > 0
"""


SAME_RUN = """
    select count(*) from lake.marts.same_runs
    where collection = $collection and system = $a and list_contains(split(same_as, ', '), $b)
"""


QUERIES = [
    Column("query_id", "query", "id", is_detail=True),
    Column("text", "query", is_key=True),
    Column("a", kind="score"),
    Column("b", kind="score"),
    Column("difference", kind="difference"),
]


def compare(
    lake: Lake,
    names: Sequence[str],
    measure: str | None = None,
    label_set: str | None = None,
    level: int | None = None,
    segment: str | None = None,
    alpha: float = 0.05,
    replicates: int = REPLICATES,
    seed: int = 1,
    board: Board | None = None,
) -> Answer:
    """Compare B with A, paired over the queries of a label set, or of a segment of these, weighted
    and in clusters where the collection says so.

    `names`: A and B, perhaps after their collection. By default the labels are those that a report
    opens on, of those with boards of both; the measure is nDCG@10, or else the first of the board;
    the level is the usual one. `board`: that of the three, where it was read before. Raises
    `BadInput` for what is not there, and the same system twice.
    """
    collection, (a, b) = named(lake, names)
    if board is None:
        board = usual_board(lake, collection, (a, b), measure, label_set, level, segment)
    label_set, measure, level = board.label_set, board.measure, board.level
    board = board.pair(b, a)
    pairs = compare_pairs(board, replicates, seed)
    (decided,) = decide(pairs, alpha)
    rows = _queries(lake, collection, board)
    found = {
        "collection": collection,
        "release": lake.release,
        "a": a,
        "b": b,
        "label_set": label_set,
        **board.completeness.as_object(),
        "measure": measure,
        "level": level,
        "segment": segment,
        **_figures(board, pairs, decided),
        "alpha": alpha,
        "replicates": replicates,
        **_missing(lake, collection, board),
        "segments": _by_segment(lake, collection, board, alpha, replicates, seed),
    }
    best = [row for row in rows if row["difference"] > 0][:LISTED]
    worst = [row for row in rows[::-1] if row["difference"] < 0][:LISTED]
    said = {"labels": _labels(lake, board)} | says(found, decided)
    if lake.value(SAME_RUN, collection=collection, a=a, b=b):
        said["runs"] = f"the files of {a} and {b} are byte for byte the same"
    tables = [_deciders("best", b, best, found), _deciders("worst", a, worst, found)]
    return Answer(
        {},
        sentence(decided, found),
        list(said.items()),
        [table for table in tables if table.rows],
        picture=topics_picture(lake, board, decided),
        details=found | {"best": best, "worst": worst},
    )


def _labels(lake: Lake, board: Board) -> str:
    """The labels that a board is made from, and how complete they are."""
    labels = f"{board.label_set}{choosing.at_level(lake, board.measure, board.level)}"
    complete = board.completeness.says
    return f"{labels}; {complete}" if complete else labels


def _figures(board: Board, pairs: Pairs, decided: Decided) -> dict[str, Any]:
    """Figures of two systems: their means, the difference and how sure it is, on how many
    queries."""
    mean_b, mean_a = board.units.means / UNIT
    unweighted = board.differences.mean() / UNIT if board.counting else np.nan
    return {
        "n_queries": len(board.queries),
        **_rounded(mean_a=mean_a, mean_b=mean_b),
        **_told(decided),
        **_rounded(difference_unweighted=unweighted),
        "test": pairs.test,
        "is_exact": pairs.is_exact,
        **board.outcomes,
        "n_half": queries_of_half(pairs.units.totals[:, 0]),
    }


def _deciders(name: str, better: str, rows: list[dict[str, Any]], found: dict[str, Any]) -> Table:
    """The queries where one is better, by their words."""
    columns = [
        replace(one, head=found[one.key]) if one.key in ("a", "b") else one for one in QUERIES
    ]
    shown = [row | {"text": row["text"] or row["query_id"]} for row in rows]
    caption = f"queries where {better} is better, largest difference first"
    return Table.of(name, columns, shown, caption=caption)


def _told(decided: Decided) -> dict[str, Any]:
    names = ("difference", "low", "high", "confidence", "p", "verdict")
    return {name: getattr(decided, name) for name in names}


def _by_segment(
    lake: Lake, collection: str, board: Board, alpha: float, *of_test: int
) -> list[dict[str, Any]]:
    """What is decided on each segment that the board's label set has queries of."""
    found = []
    for segment in [] if board.segment else segments_of(lake, collection):
        with suppress(BadInput):
            asked = (board.label_set, board.measure, board.level, segment)
            own = read_board(lake, collection, *asked).pair(*board.systems)
            (decided,) = decide(compare_pairs(own, *of_test), alpha)
            about = {"segment": segment, "n_queries": len(own.queries)}
            found.append(about | _told(decided))
    return found


def named(lake: Lake, names: Sequence[str]) -> tuple[str, list[str]]:
    """(collection, systems), of systems that may stand after their collection; else it is the only
    one that has them all. Raises `BadInput` for fewer than two systems and what is not there."""
    collections = lake.column("select collection from lake.raw.collections order by all")
    if len(names) > 2 and names[0] in collections:
        return names[0], [*names[1:]]
    if len(names) < 2:
        raise BadInput("compare takes two systems or more, perhaps after their collection")
    of_all = "select system, list(collection) from lake.raw.systems group by all order by system"
    known = dict(lake.rows(of_all))
    for place, system in enumerate(names):
        if system not in known:
            may_be = len(names) > 2 and not place
            what = "collection or system" if may_be else "system"
            hint = did_you_mean(system, [*collections, *known] if may_be else known, TO_RANK)
            raise NotThere(f"there is no {what} {system!r}", hint)
    collections = sorted(set.intersection(*(set(known[system]) for system in names)))
    if len(collections) != 1:
        both = " and ".join(map(repr, names)) if len(names) == 2 else "all of them"
        have = counted(len(collections), "collections", "have")
        raise BadInput(
            f"{have} {'both ' if len(names) == 2 else ''}{both}",
            f"Name one before them: {', '.join(collections)}." if collections else None,
        )
    return collections[0], [*names]


def usual_board(
    lake: Lake,
    collection: str,
    systems: Sequence[str],
    measure: str | None,
    label_set: str | None,
    level: int | None,
    segment: str | None,
) -> Board:
    """The board that systems are compared by: what is not chosen is as `compare` has it."""
    if label_set is None:
        label_set = _usual_label_set(lake, collection, systems, measure)
    level = default_level(lake, collection, label_set) if level is None else level
    if measure is None:
        known = {name for name, at in measures_of(lake, collection, label_set) if at == level}
        usual = ("nDCG@10", *choosing.measures(lake))
        measure = next((name for name in usual if name in known), usual[0])
    return read_board(lake, collection, label_set, measure, level, segment)


def _usual_label_set(
    lake: Lake, collection: str, systems: Sequence[str], measure: str | None
) -> str:
    asked = {"collection": collection, "systems": [*systems], "measure": measure}
    usable = lake.column(WITH_BOARDS, **asked)
    shown, shares = shown_label_sets(lake, collection), judged_shares(lake, collection)
    judged = {row["label_set"]: shares.get(row["label_set"], 0.0) for row in shown}
    own = {name: share for name, share in judged.items() if name in usable}
    # where no board has them, reading one says why
    found = opens_on(chosen_reference(None, shown), own or judged)
    if found is None:
        raise BadInput(f"{collection} has no labels yet", TO_LABEL)
    return found


def _queries(lake: Lake, collection: str, board: Board) -> list[dict[str, Any]]:
    """Each query with its words and both values, where B is most ahead first."""
    texts = dict(
        lake.rows("select query_id, text from lake.raw.queries where collection = ?", collection)
    )
    return [
        {"query_id": query, "text": texts.get(query)}
        | _rounded(a=of_a / UNIT, b=of_b / UNIT, difference=(of_b - of_a) / UNIT)
        for row in np.argsort(-board.differences, kind="stable")
        for query, (of_b, of_a) in [(board.queries[row], board.values[row])]
    ]


def _missing(lake: Lake, collection: str, board: Board) -> dict[str, Any]:
    """`judged`: how much of the first `k` of A, of B and of either has a label; `least`, `most`:
    the differences that labels for the rest could make. None where there is no such figure."""
    b, a = board.systems
    ((family, cutoff),) = lake.rows(
        "select family, cutoff from lake.marts.measures where measure = ?", board.measure
    )
    k = cutoff or FIRST
    asked = {"collection": collection, "label_set": board.label_set, "a": a, "b": b, "k": k}
    heads = {query: parts for query, *parts in lake.rows(HEADS, **asked)}
    passages = [one for in_heads, _ in heads.values() for one in in_heads]
    theirs = {
        "b": [one for one in passages if one[0]],
        "a": [one for one in passages if one[1]],
        "either": passages,
    }
    shares = {
        who: float(np.mean([one[2] is not None for one in ranked])) if ranked else np.nan
        for who, ranked in theirs.items()
    }
    bounds = [(np.nan, np.nan)] * len(board.queries)
    if heads and cutoff and family in BOUNDED:
        top = choosing.highest_labels(lake, collection)[board.label_set]
        bounds = [
            least_and_most(family, FirstPassages(in_heads, labels, k, board.level, top))
            for in_heads, labels in map(heads.__getitem__, board.queries)
        ]
    weights = board.counting and board.counting.weights
    least, most = np.average(bounds, axis=0, weights=weights)
    return {"k": k, "judged": _rounded(**shares)} | _rounded(least=least, most=most)


def sentence(decided: Decided, found: dict[str, Any]) -> str:
    """What somebody wants to know who reads one sentence: who is better, how surely, and whether
    labels that are missing matter. `found` is of `_missing`."""
    said = decided.sentence
    if (judged := found["judged"]["either"]) is None:
        return f"{said}."
    if judged == 1:
        return f"{said}; everything in their first {found['k']} is judged."
    share = shown("percent", 1 - judged) if judged <= 0.995 else "less than 1%"
    said += f"; {share} of what they rank in the first {found['k']} is unjudged, and"
    if found["least"] is None:
        return f"{said} how much that could change is unknown for {decided.measure}."
    least, most = found["least"], found["most"]
    if decided.difference == 0:
        could = "could" if least < most else "could not"
        return f"{said} that {could} make one of them better."
    if decided.difference < 0:
        least = -most
    if decided.verdict != BETTER:
        return f"{said} that {'could' if least < 0 else 'could not'} put {decided.worse} ahead."
    could = f"put {decided.worse} ahead" if least < 0 else "make them equal"
    return f"{said} that could {could if least <= 0 else f'not put {decided.worse} ahead'}."


def says(found: dict[str, Any], decided: Decided) -> dict[str, str]:
    """Figures in words, by what they are."""
    a, b, measure = found["a"], found["b"], found["measure"]
    interval = ""
    if found["low"] is not None:
        confidence = shown("percent", found["confidence"])
        interval = f", {confidence} interval {_from_to(found, 'low', 'high')}"
    p = "none" if found["p"] is None else shown("p", found["p"])
    difference = shown("difference", found["difference"])
    mean_a, mean_b = (shown("score", found[name]) for name in ("mean_a", "mean_b"))
    said = {
        measure: f"{b} {mean_b}, {a} {mean_a}",
        f"{b} less {a}": f"{difference}{interval}",
        "p": f"{p} ({found['test']})",
        f"{b} is": f"better on {found['wins']}, worse on {found['losses']}, equal on "
        f"{found['ties']} of {counted(found['n_queries'], 'queries')}",
    }
    if found["n_half"]:
        known = found["judged"]["either"]
        fact = "a fact, all of it judged" if known == 1 else "a fact, as far as labels go"
        half = counted(found["n_half"], "queries", "carry")
        said["on these queries alone"] = f"{difference} is {fact}; {half} half of it"
    if (plain := found["difference_unweighted"]) is not None:
        said["with every query counted once"] = f"{b} less {a} {shown('difference', plain)}"
    for part in found["segments"]:
        n = counted(part["n_queries"], "queries")
        interval = "" if part["low"] is None else f" ({_from_to(part, 'low', 'high')})"
        p = UNTESTED.get(part["verdict"]) or said_p(part["p"])
        found_there = shown("difference", part["difference"])
        said[part["segment"]] = f"{found_there} on {n}{interval}, {p}"
    shares = zip((b, a, "both together"), found["judged"].values(), strict=True)
    if judged := [f"{who} {shown('percent', share)}" for who, share in shares if share is not None]:
        known = f"unknown for {measure}; known for {', '.join(f'{name}@k' for name in BOUNDED)}"
        said[f"judged of the first {found['k']}"] = ", ".join(judged)
        said[f"{b} less {a}, if all of it were judged"] = (
            known if found["least"] is None else _bounds(found)
        )
    return said


def _from_to(found: dict[str, Any], low: str, high: str) -> str:
    return shown("difference", Interval(found[low], found[high]))


def _bounds(found: dict[str, Any]) -> str:
    """How far labels could move the difference: no doubt, where both ends are the same."""
    return f"{shown('difference', found['least'])} to {shown('difference', found['most'])}"


def _rounded(**figures: float) -> dict[str, float | None]:
    """Figures with 10 decimals, and no -0; None for one that is undefined."""
    return {name: or_none(round(float(value), 10) + 0.0) for name, value in figures.items()}
