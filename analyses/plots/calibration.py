"""The reliability picture: what a grader's probabilities are worth by people's judgments."""

from pathlib import Path
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.plots import style
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

WIDTH, PER_GRADER = 5.2, 0.35  # inches; a row of counts and one of the legend for each
NEWEST = """
    qualify
        rubric_version is not distinct from max(rubric_version) over (partition by grader)
    order by all
"""
CALIBRATION = f"""
    select grader, cut, n, expected_calibration_error, brier
    from lake.marts.judge_calibration
    where collection = ? and assessor = ?
    {NEWEST}
"""
BINS = f"""
    select bin, mean_probability, relevant_share, n
    from lake.marts.calibration_bins
    where collection = ? and assessor = ? and grader = ? and cut = ?
    {NEWEST}
"""


def draw_calibration(
    lake: Lake,
    collection: str,
    graders: tuple[str, ...],
    reference: str | None,
    cut: int | None,
    output: Path,
) -> list[dict[str, Any]]:
    """Draw, bin by bin, the share that people hold relevant over the mean probability of a grade at
    the cut or above, with counts, from the mart `calibration_bins`; returns each grader's row of
    `judge_calibration`.

    Of a rubric it is the newest version. Without a cut it is `min_relevant`, or the nearest that a
    grader has. Raises `BadInput` for a reference that is no assessor, a grader without
    probabilities of what they judged, and a cut that is not on a grader's scale.
    """
    reference = choosing.reference_of(lake, collection, reference)
    assessor = reference.removeprefix("assessor:")
    if assessor == reference:
        raise BadInput(
            f"{reference!r} is no assessor", "Probabilities are compared with people's judgments."
        )
    level = choosing.min_relevant(lake, collection)
    known: dict[str, dict[int, dict[str, Any]]] = {}
    for row in lake.objects(CALIBRATION, collection, assessor):
        known.setdefault(row["grader"], {})[row["cut"]] = row
    found = [_at(known, name, level if cut is None else cut, cut is None) for name in graders]
    size = WIDTH, WIDTH - 0.6 + 2 * PER_GRADER * len(found)
    with style.figure(output, *size) as drawn:
        heights = [WIDTH - 1.5, PER_GRADER * len(found)]
        axes, below = drawn.subplots(2, sharex=True, height_ratios=heights)
        axes.plot((0, 1), (0, 1), color=style.GREY, linewidth=0.8, linestyle="--")
        lines = []
        for place, row in enumerate(found):
            of = collection, assessor, row["grader"], row["cut"]
            bins, x, y, counts = zip(*lake.rows(BINS, *of), strict=True)
            look = {"color": style.COLOURS[place % 8], "marker": style.MARKERS[place % 8]}
            lines += axes.plot(x, y, linewidth=1, markersize=5, **look)
            for at, n in zip(bins, counts, strict=True):
                number = {"ha": "center", "va": "center", "fontsize": 7, "color": look["color"]}
                below.text((at - 0.5) / 10, place, f"{n:,}", **number)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.set_ylabel(f"share judged \u2265 {level} by {style.shortened(assessor, 30)}")
        axes.grid(color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        below.set(ylim=(len(found) - 0.5, -0.5), yticks=[], xticks=[n / 10 for n in range(11)])
        below.spines["left"].set_visible(False)
        below.set_ylabel("pairs")
        below.set_xlabel("probability of a grade at the cut or above")
        style.title(drawn, f"{style.shortened(collection)}: calibration")
        names = style.apart([row["grader"] for row in found])
        told = [
            f"{names[row['grader']]} \u2265 {row['cut']}: ECE "
            f"{row['expected_calibration_error']:.3f}, Brier {row['brier']:.3f}"
            for row in found
        ]
        style.legend(drawn, lines, told, columns=1)
    return found


def _at(
    known: dict[str, dict[int, dict[str, Any]]], grader: str, cut: int, or_nearest: bool
) -> dict[str, Any]:
    """The grader's row at a cut. Raises `BadInput` where there is none."""
    if grader not in known:
        able = f"Those that did: {', '.join(known)}." if known else "No grader did."
        raise BadInput(f"{grader!r} gave no probabilities of what people judged", able)
    cuts = known[grader]
    if or_nearest:
        cut = min(cuts, key=lambda each: (abs(each - cut), each))
    if cut not in cuts:
        raise BadInput(f"--cut {cut}: {grader!r} has none", f"It has: {', '.join(map(str, cuts))}.")
    return cuts[cut]
