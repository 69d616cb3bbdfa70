"""The picture of several boards: each system's score under each, scaled to what the board spans.

As EXAM++ (Farzi and Dietz, 2024, Figure 2) draws leaderboards whose scores have different scales.
"""

from collections.abc import Sequence

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.answers.scores import Scores
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.pictures.picture import Picture, unfit

MOST = 8  # boards that can be told apart


def boards_picture(lake: Lake, collection: str, shown: Sequence[Scores]) -> Picture:
    """Each board's scores, its lowest at 0 and its highest at 1, with standard errors.

    Systems stand in the order of the first official leaderboard, those without a rank behind, or
    in that of the first board. A board on which all systems are equal lies at 0.
    """
    official = next(iter(choosing.official_ranks(lake, collection).values()), {})
    first = shown[0].systems
    systems = sorted(
        {system for each in shown for system in each.systems},
        key=lambda name: (official.get(name, np.inf), -first.get(name, (0,))[0], name),
    )
    complete = choosing.completeness(lake, collection)
    names, label_sets_shown = apart(systems), apart([each.label_set for each in shown], 30)
    rows, boards = [], []
    for each in shown:
        words = (
            f"{label_sets_shown[each.label_set]}, {each.measure}"
            f"{f' ({each.level})' * each.has_level}{complete[each.label_set].mark}"
        )
        boards.append(words)
        y, errors = scaled(each)
        rows += [
            {
                "system": name,
                "shown": names[name],
                "board": words,
                "score": each.systems[name][0],
                "stderr": each.systems[name][1],
                "scaled": y[name],
                "low": y[name] - errors[name],
                "high": y[name] + errors[name],
            }
            for name in systems
            if name in each.systems
        ]
    slots = {
        "title": f"{shortened(collection)}: {len(systems)} systems, standard errors",
        "systems": list(names.values()),
        "boards": boards,
    }
    choose = "Choose some with --label-set, --measure and --level."
    return Picture("boards", rows, slots, unfit(len(shown), "boards", choose, MOST))


def scaled(board: Scores) -> tuple[dict[str, float], dict[str, float]]:
    """(system -> score, system -> standard error), the board's lowest score 0, its highest 1."""
    scores = [score for score, *_ in board.systems.values()]
    low, span = min(scores), (max(scores) - min(scores)) or 1.0
    return (
        {name: (score - low) / span for name, (score, _, _) in board.systems.items()},
        {name: (error or 0.0) / span for name, (_, error, _) in board.systems.items()},
    )
