"""The picture of several boards: each system's score under each, scaled to what the board spans.

As EXAM++ (Farzi and Dietz, 2024, Figure 2) draws leaderboards whose scores have different scales.
"""

from pathlib import Path

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.answers.leaderboard import Scores, read_scores
from gradelake.analyses.plots.style import COLOURS, MARKERS, apart, figure, legend, shortened
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

HEIGHT, WIDTH, PER_SYSTEM = 4.0, 2.2, 0.28  # inches


def draw_boards(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...],
    measures: tuple[str, ...],
    levels: tuple[int, ...],
    output: Path,
    single: tuple[tuple[str, str, int], ...] = (),
) -> list[str]:
    """Draw each board's scores, its lowest at 0 and its highest at 1, with standard errors.

    Systems stand in the order of the first official leaderboard, those without a rank behind, or
    in that of the first board; returns them. A board on which all systems are equal lies at 0.
    `single`: (label set, measure, level) of boards that differ in all of these, instead. Raises
    `BadInput` for what the leaderboard does not have, and for more boards than markers.
    """
    shown = [
        each
        for name, measure, level in single
        for each in read_scores(lake, collection, (name,), (measure,), (level,))
    ] or read_scores(lake, collection, label_sets, measures, levels)
    if len(shown) > len(MARKERS):
        raise BadInput(
            f"{len(shown)} boards are more than a picture can tell apart ({len(MARKERS)})",
            "Choose some with --label-set, --measure and --level.",
        )
    official = next(iter(choosing.official_ranks(lake, collection).values()), {})
    first = shown[0].systems
    systems = sorted(
        {system for each in shown for system in each.systems},
        key=lambda name: (official.get(name, np.inf), -first.get(name, (0,))[0], name),
    )
    complete = choosing.completeness(lake, collection)
    spread = np.linspace(-0.25, 0.25, len(shown)) if len(shown) > 1 else [0.0]
    with figure(output, WIDTH + PER_SYSTEM * len(systems), HEIGHT + 0.18 * len(shown)) as drawn:
        axes = drawn.subplots()
        names = apart([each.label_set for each in shown], 30)
        bars = []
        for each, marker, colour, aside in zip(shown, MARKERS, COLOURS, spread, strict=False):
            places = [place for place, name in enumerate(systems) if name in each.systems]
            y, errors = scaled(each)
            bar = axes.errorbar(
                np.array(places) + aside,
                [y[systems[place]] for place in places],
                [errors[systems[place]] for place in places],
                fmt=marker,
                color=colour,
                markersize=4,
                elinewidth=0.8,
            )
            bars.append(bar)
        axes.set_xticks(range(len(systems)), apart(systems).values(), rotation=90)
        axes.set_ylabel("score, from a board's\nlowest to its highest")
        axes.set_title(f"{shortened(collection)}: {len(systems)} systems, standard errors")
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        words = [
            f"{names[each.label_set]}, {each.measure}{f' ({each.level})' * each.has_level}"
            f"{complete[each.label_set].mark}"
            for each in shown
        ]
        legend(drawn, bars, words, columns=2)
    return systems


def scaled(board: Scores) -> tuple[dict[str, float], dict[str, float]]:
    """(system -> score, system -> standard error), the board's lowest score 0, its highest 1."""
    scores = [score for score, *_ in board.systems.values()]
    low, span = min(scores), (max(scores) - min(scores)) or 1.0
    return (
        {name: (score - low) / span for name, (score, _, _) in board.systems.items()},
        {name: (error or 0.0) / span for name, (_, error, _) in board.systems.items()},
    )
