"""The picture of correlations: how well each label set's leaderboard agrees, with intervals."""

from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.plots.rows import require_room
from gradelake.analyses.stats import boards
from gradelake.analyses.stats.correlation import Agreement, Reference, agreement
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown as as_shown
from gradelake.sql.shown.pictures.picture import Picture

DRAWN = {"kendall": "Kendall's \u03c4-b", "spearman": "Spearman's \u03c1"}


def correlation_picture(
    lake: Lake,
    collection: str,
    measure: str,
    label_sets: tuple[str, ...],
    level: int | None,
    leaderboard: str | None,
    reference: str | None,
    **settings: Any,
) -> tuple[Picture, list[Agreement]]:
    """Kendall's tau-b and Spearman's rho of `label_sets`, or of each that has the measure, the
    highest tau on top, with intervals from resampling queries and systems; `settings` are those of
    `agreement`.

    The reference is official ranks, the only ones there are where none are named, or a label set's
    board. Raises `BadInput` where there is nothing to compare.
    """
    compared: Reference
    if reference:
        at = boards.default_level(lake, collection, reference)
        compared = boards.read_board(lake, collection, reference, measure, at)
        against = f"{shortened(reference)}{choosing.at_level(lake, measure, at)}"
    else:
        compared = boards.read_official_ranks(lake, collection, leaderboard)
        against = shortened(f"official ranks {compared.leaderboard}")
    shown = label_sets or boards.measured_label_sets(lake, collection, measure)
    shown = [name for name in dict.fromkeys(shown) if name != reference]
    if not shown:
        raise BadInput(
            f"no label set of {collection!r} is compared by {measure!r} with {against}",
            "`gradelake sql @leaderboard` lists boards; choose another --measure.",
        )
    require_room(shown, "label sets", "`gradelake sql @correlation` lists them.")
    ours = boards.read_boards(lake, collection, shown, measure, level)
    found = [agreement(board, compared, **settings) for board in ours]
    found.sort(key=lambda one: by_tau(_by_name(one)["kendall"].value))
    names = apart([one.board.label_set for one in found], 30)
    rows = []
    for one in found:
        board = one.board
        name = names[board.label_set] + choosing.at_level(lake, measure, board.level)
        for statistic, words in DRAWN.items():
            of = _by_name(one)[statistic]
            rows.append(
                {
                    "label_set": board.label_set,
                    "shown": name + board.completeness.mark,
                    "measure": measure,
                    "statistic": words,
                    "value": of.value,
                    "low": of.spread["both"].low,
                    "high": of.spread["both"].high,
                }
            )
    slots = {
        "title": f"{shortened(collection)}: {len(found)} label sets",
        "x": [
            f"agreement by {measure} with {against}",
            f"{as_shown('percent', settings['confidence'])} intervals: "
            "queries and systems resampled",
        ],
        "name": "shown",
        "step": 31,
        "legend": {"columns": 2},
        "statistics": list(DRAWN.values()),
    }
    return Picture("correlation", rows, slots), found


def by_tau(tau: float | None) -> float:
    """Sorts the highest first, an undefined one last."""
    return 2.0 if tau is None else -tau


def _by_name(one: Agreement) -> dict:
    return {each.statistic: each for each in one.correlations}
