"""The picture of correlations: how well each label set's leaderboard agrees, with intervals."""

from pathlib import Path
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.plots import style
from gradelake.analyses.stats import boards
from gradelake.analyses.stats.correlation import Agreement, Reference, agreement
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

DRAWN = {
    "kendall": ("Kendall's \u03c4-b", "o", style.BLUE),
    "spearman": ("Spearman's \u03c1", "D", style.VERMILION),
}


def draw_correlation(
    lake: Lake,
    collection: str,
    measure: str,
    label_sets: tuple[str, ...],
    level: int | None,
    leaderboard: str | None,
    reference: str | None,
    output: Path,
    **settings: Any,
) -> list[Agreement]:
    """Draw Kendall's tau-b and Spearman's rho of `label_sets`, or of each that has the measure, the
    highest tau on top, with intervals from resampling queries and systems; `settings` are those of
    `agreement`.

    The reference is official ranks, the only ones there are where none are named, or a label set's
    board. Raises `BadInput` where there is nothing to compare.
    """
    compared: Reference
    if reference:
        at = boards.default_level(lake, collection, reference)
        compared = boards.read_board(lake, collection, reference, measure, at)
        against = f"{style.shortened(reference)}{choosing.at_level(lake, measure, at)}"
    else:
        compared = boards.read_official_ranks(lake, collection, leaderboard)
        against = style.shortened(f"official ranks {compared.leaderboard}")
    shown = label_sets or boards.measured_label_sets(lake, collection, measure)
    shown = [name for name in dict.fromkeys(shown) if name != reference]
    if not shown:
        raise BadInput(
            f"no label set of {collection!r} is compared by {measure!r} with {against}",
            "`gradelake sql @leaderboard` lists boards; choose another --measure.",
        )
    ours = boards.read_boards(lake, collection, shown, measure, level)
    found = [agreement(board, compared, **settings) for board in ours]
    found.sort(key=lambda one: by_tau(_by_name(one)["kendall"].value))
    names = style.apart([one.board.label_set for one in found], 30)
    rows = [
        f"{names[board.label_set]}{choosing.at_level(lake, measure, board.level)}"
        f"{board.completeness.mark}"
        for board in (one.board for one in found)
    ]
    instead = "`gradelake sql @correlation` lists them."
    with style.rows_figure(output, rows, "label sets", instead, 0.32) as (drawn, axes):
        dots = []
        for aside, (statistic, (_, marker, colour)) in zip(
            (-0.14, 0.14), DRAWN.items(), strict=True
        ):
            for place, one in enumerate(found):
                of = _by_name(one)[statistic]
                spread, y = of.spread["both"], place + aside
                if spread.low is not None and spread.high is not None:
                    axes.plot([spread.low, spread.high], [y, y], color=colour, linewidth=1.2)
                if of.value is not None:
                    axes.plot(of.value, y, marker, color=colour, markersize=4.5)
            dots += axes.plot([], [], marker, color=colour, markersize=4.5)
        axes.set_xlim(right=1.03)
        axes.set_xlabel(
            f"agreement by {measure} with {against}\n"
            f"{settings['confidence']:.0%} intervals: queries and systems resampled"
        )
        style.title(drawn, f"{style.shortened(collection)}: {len(found)} label sets")
        style.legend(drawn, dots, [words for words, _, _ in DRAWN.values()], columns=2)
    return found


def by_tau(tau: float | None) -> float:
    """Sorts the highest first, an undefined one last."""
    return 2.0 if tau is None else -tau


def _by_name(one: Agreement) -> dict:
    return {each.statistic: each for each in one.correlations}
