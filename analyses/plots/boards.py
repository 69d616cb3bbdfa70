"""The picture of several boards: each system's score under each, scaled to what the board spans.

As EXAM++ (Farzi and Dietz, 2024, Figure 2) draws leaderboards whose scores have different scales.
"""

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.answers.leaderboard import Scores, read_scores
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.pictures.picture import Picture

MOST = 8  # boards that can be told apart


def boards_picture(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...],
    measures: tuple[str, ...],
    levels: tuple[int, ...],
    single: tuple[tuple[str, str, int], ...] = (),
) -> tuple[Picture, list[str]]:
    """Each board's scores, its lowest at 0 and its highest at 1, with standard errors.

    Systems stand in the order of the first official leaderboard, those without a rank behind, or
    in that of the first board; returns them, too. A board on which all systems are equal lies at 0.
    `single`: (label set, measure, level) of boards that differ in all of these, instead. Raises
    `BadInput` for what the leaderboard does not have, and for more boards than can be told apart.
    """
    shown = [
        each
        for name, measure, level in single
        for each in read_scores(lake, collection, (name,), (measure,), (level,))
    ] or read_scores(lake, collection, label_sets, measures, levels)
    if len(shown) > MOST:
        raise BadInput(
            f"{len(shown)} boards are more than a picture can tell apart ({MOST})",
            "Choose some with --label-set, --measure and --level.",
        )
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
    return Picture("boards", rows, slots), systems


def scaled(board: Scores) -> tuple[dict[str, float], dict[str, float]]:
    """(system -> score, system -> standard error), the board's lowest score 0, its highest 1."""
    scores = [score for score, *_ in board.systems.values()]
    low, span = min(scores), (max(scores) - min(scores)) or 1.0
    return (
        {name: (score - low) / span for name, (score, _, _) in board.systems.items()},
        {name: (error or 0.0) / span for name, (_, error, _) in board.systems.items()},
    )
