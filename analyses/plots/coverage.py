"""The coverage picture: how much of the rubric each system's first k passages cover."""

from pathlib import Path
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.answers.leaderboard import read_scores
from gradelake.analyses.plots import style
from gradelake.analyses.stats.boards import measures_of
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

INSTEAD = "`gradelake sql @leaderboard --measure Cover@20` lists them."


def draw_coverage(
    lake: Lake, collection: str, label_set: str, level: int | None, output: Path
) -> tuple[list[str], tuple[str, ...]]:
    """Draw a dot for each system's Cover@k, the greatest k that can be told apart, sorted by the
    greatest; returns the systems, the one that covers most first, and the measures left out.

    Raises `BadInput` for a label set without a rubric, or a level that it does not have.
    """
    covers = lake.column(
        "select measure from lake.intermediate.int_measures where family = 'Cover' order by cutoff"
    )
    known = {measure for measure, _ in measures_of(lake, collection, label_set)}
    shown = tuple(measure for measure in covers if measure in known)
    if known and not shown:
        raise BadInput(
            f"{label_set!r} has no rubric to cover",
            "Choose label sets of graders: GRADER/vN/POLICY.",
        )
    left_out, shown = shown[: -len(style.MARKERS)], shown[-len(style.MARKERS) :]
    boards = read_scores(lake, collection, (label_set,), shown, () if level is None else (level,))
    last = boards[-1].systems
    systems = sorted(last, key=lambda name: (-last[name][0], name))
    names = style.apart(systems)
    with style.rows_figure(output, list(names.values()), "systems", INSTEAD) as (drawn, axes):
        for place, system in enumerate(systems):
            reach = [board.systems[system][0] for board in boards if system in board.systems]
            axes.plot([min(reach), max(reach)], [place, place], color=style.GREY, linewidth=0.8)
        dots = []
        looks = zip(boards, style.MARKERS, style.COLOURS, strict=False)
        for n, (board, marker, colour) in enumerate(looks):
            scores = [board.systems[system][0] for system in systems]
            # hollow and greater than the one before, which it would hide where both are equal
            hollow: dict[str, Any] = (
                {"markerfacecolor": "none", "markersize": 4.5 + 2.5 * n} if n else {}
            )
            dots += axes.plot(
                scores, range(len(systems)), marker, color=colour, **{"markersize": 4.0} | hollow
            )
        complete = choosing.completeness(lake, collection)[label_set].mark
        axes.set_xlim(0, 1)
        axes.set_xlabel(
            f"share of a query's rubric items with a grade \u2265 {boards[0].level}\n"
            f"by {style.shortened(label_set)}{complete}"
        )
        without = [f"without {', '.join(left_out)}"] if left_out else []
        style.title(drawn, f"{style.shortened(collection)}: {len(systems)} systems", *without)
        style.legend(drawn, dots, [board.measure for board in boards], columns=4)
    return systems, left_out
