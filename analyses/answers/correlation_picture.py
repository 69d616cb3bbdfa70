"""The picture of correlations: how well each label set's leaderboard agrees, with intervals."""

from collections.abc import Sequence

from gradelake.analyses import choosing
from gradelake.analyses.stats.correlation import Agreement
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown as as_shown
from gradelake.sql.shown.pictures.picture import Picture, unfit

DRAWN = {"kendall": "Kendall's \u03c4-b", "spearman": "Spearman's \u03c1"}


def correlation_picture(
    lake: Lake, collection: str, found: Sequence[Agreement], against: str, confidence: float
) -> Picture:
    """Kendall's tau-b and Spearman's rho of each label set, the highest tau on top, with intervals
    from resampling queries and systems; `against`: what they are compared with."""
    found = sorted(found, key=lambda one: by_tau(_by_name(one)["kendall"].value))
    measure = found[0].board.measure
    names = apart([one.board.label_set for one in found], 30)
    rows = []
    for one in found:
        board = one.board
        name = names[board.label_set] + choosing.at_level(lake, measure, board.level)
        for statistic, words in DRAWN.items():
            correlation = _by_name(one)[statistic]
            rows.append(
                {
                    "label_set": board.label_set,
                    "shown": name + board.completeness.mark,
                    "measure": measure,
                    "statistic": words,
                    "value": correlation.value,
                    "low": correlation.spread["both"].low,
                    "high": correlation.spread["both"].high,
                }
            )
    slots = {
        "title": f"{shortened(collection)}: {len(found)} label sets",
        "x": [
            f"agreement by {measure} with {shortened(against)}",
            f"{as_shown('percent', confidence)} intervals: queries and systems resampled",
        ],
        "name": "shown",
        "step": 31,
        "legend": {"columns": 2},
        "statistics": list(DRAWN.values()),
    }
    too_many = unfit(len(found), "label sets", "Choose some with --label-set.")
    return Picture("correlation", rows, slots, too_many)


def by_tau(tau: float | None) -> float:
    """Sorts the highest first, an undefined one last."""
    return 2.0 if tau is None else -tau


def _by_name(found: Agreement) -> dict:
    return {each.statistic: each for each in found.correlations}
