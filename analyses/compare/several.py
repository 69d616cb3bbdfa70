"""Several systems beside each other: who is better than whom."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradelake.analyses.compare.comparison import compare, named, usual_board
from gradelake.analyses.stats.better import decide
from gradelake.analyses.stats.boards import UNIT
from gradelake.analyses.stats.ranks import letter
from gradelake.analyses.stats.significance import REPLICATES, compare_pairs
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import Answer, Column, Table


def compare_named(lake: Lake, names: Sequence[str], **asked: Any) -> Answer:
    """Two systems, or several, perhaps after their collection; `asked` as of `compare`."""
    _, systems = named(lake, names)
    return (compare if len(systems) == 2 else compare_several)(lake, names, **asked)


def compare_several(
    lake: Lake,
    names: Sequence[str],
    measure: str | None = None,
    label_set: str | None = None,
    level: int | None = None,
    segment: str | None = None,
    alpha: float = 0.05,
    replicates: int = REPLICATES,
    seed: int = 1,
) -> Answer:
    """Compare three systems or more, each with each; what is not chosen is as `compare` has it.

    Raises `BadInput` for what is not there, and the same system twice.
    """
    collection, systems = named(lake, names)
    if twice := [one for one in systems if systems.count(one) > 1]:
        raise BadInput(f"{twice[0]!r} is named twice", "Name each system once.")
    board = usual_board(lake, collection, systems, measure, label_set, level, segment).of(systems)
    pairs = compare_pairs(board, replicates, seed)
    letters = [letter(place) for place in range(len(systems))]
    better_than: list[list[str]] = [[] for _ in systems]
    for first, second, sign in zip(
        pairs.first, pairs.second, pairs.significant("p_tukey", alpha), strict=True
    ):
        if sign:
            ahead, behind = (first, second) if sign > 0 else (second, first)
            better_than[ahead].append(letters[behind])
    about = {
        "collection": collection,
        "release": lake.release,
        "label_set": board.label_set,
        "measure": board.measure,
        "level": board.level,
        "segment": segment,
        "n_queries": len(board.queries),
        "alpha": alpha,
        "test": pairs.test,
        "correction": pairs.correction,
    }
    means = np.round(board.units.means / UNIT, 10)
    rows = [
        {"letter": one, "system": system, "score": float(mean), "better_than": sorted(better)}
        for one, system, mean, better in zip(letters, systems, means, better_than, strict=True)
    ]
    each = decide(pairs, alpha)
    columns = [
        Column("letter", " ", is_key=True),
        Column("system", is_key=True),
        Column("score", board.measure, "score"),
        Column("better_than", "better than"),
    ]
    return Answer(
        about,
        f"{board.measure} by {board.label_set}, {counted(len(board.queries), 'queries')}; "
        f"{pairs.correction}, alpha {alpha:g}",
        [(f"{one.b} and {one.a}", f"{one.sentence}.") for one in each],
        [Table.of("systems", columns, rows)],
        details={"pairs": [{"sentence": f"{one.sentence}."} | one.as_object() for one in each]},
    )
