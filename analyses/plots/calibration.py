"""The reliability picture: what a grader's probabilities are worth by people's judgments."""

from typing import Any

from gradelake.analyses import choosing
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown as as_shown
from gradelake.sql.shown.pictures.picture import Picture

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


def calibration_picture(
    lake: Lake, collection: str, graders: tuple[str, ...], reference: str | None, cut: int | None
) -> tuple[Picture, list[dict[str, Any]]]:
    """Bin by bin, the share that people hold relevant over the mean probability of a grade at the
    cut or above, with counts, from the mart `calibration_bins`; returns each grader's row of
    `judge_calibration`, too.

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
    names, rows = apart([row["grader"] for row in found]), []
    for place, row in enumerate(found):
        shown = (
            f"{names[row['grader']]} \u2265 {row['cut']}: ECE "
            f"{as_shown('score', row['expected_calibration_error'])}, "
            f"Brier {as_shown('score', row['brier'])}"
        )
        of = {"grader": row["grader"], "cut": row["cut"], "shown": shown, "place": place}
        bins = lake.objects(BINS, collection, assessor, row["grader"], row["cut"])
        rows += [of | one for one in bins]
    slots = {
        "title": f"{shortened(collection)}: calibration",
        "y": f"share judged \u2265 {level} by {shortened(assessor, 30)}",
        "graders": list(dict.fromkeys(row["shown"] for row in rows)),
    }
    return Picture("calibration", rows, slots), found


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
