"""Several systems beside each other: who is better than whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradelake.analyses.compare.comparison import Comparison, compare, named, usual_board
from gradelake.analyses.stats.better import Decided, decide
from gradelake.analyses.stats.boards import UNIT
from gradelake.analyses.stats.ranks import letter
from gradelake.analyses.stats.significance import REPLICATES, compare_pairs
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake


@dataclass(frozen=True)
class Several:
    """Systems in the order they were named in, and what was decided of each pair.

    `rows` are {letter, system, score, better_than}: the letters of those that it is better than,
    also among all that are compared.
    """

    about: dict[str, Any]
    rows: list[dict[str, Any]]
    pairs: list[Decided]

    def as_object(self) -> dict[str, Any]:
        pairs = [{"sentence": f"{one.sentence}."} | one.as_object() for one in self.pairs]
        return self.about | {"systems": self.rows, "pairs": pairs}

    def show(self) -> None:
        about = self.about
        console.say(
            f"{about['measure']} by {about['label_set']}, "
            f"{counted(about['n_queries'], 'queries')}; {about['correction']}, "
            f"alpha {about['alpha']:g}"
        )
        console.print_table(
            ("", "system", about["measure"], "better than"),
            [
                (row["letter"], row["system"], round(row["score"], 4), " ".join(row["better_than"]))
                for row in self.rows
            ],
        )
        console.say("\nEach pair by itself:")
        for one in self.pairs:
            console.say(f"{one.sentence}.", wrap=True)


def compare_named(lake: Lake, names: Sequence[str], **asked: Any) -> Comparison | Several:
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
) -> Several:
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
    return Several(about, rows, decide(pairs, alpha))
