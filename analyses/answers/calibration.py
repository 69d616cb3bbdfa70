"""What a grader's probabilities are worth by people's judgments."""

from typing import Any

import click

from gradelake.analyses import choosing
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.shown.answer import Answer, Column, Table
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


GRADERS = [
    Column("grader", is_key=True),
    Column("cut", kind="label", is_key=True),
    Column("n", "pairs", "count"),
    Column("expected_calibration_error", "ECE", "score"),
    Column("brier", "Brier", "score"),
]
OF_BINS = [
    Column("grader", is_title=True),
    Column("bin", kind="label", is_key=True),
    Column("mean_probability", "mean probability", "score"),
    Column("relevant_share", "share held relevant", "score"),
    Column("n", "pairs", "count"),
]


@question(
    "calibration",
    "Say how well graders' probabilities are calibrated.",
    draws=True,
    marts=["judge_calibration", "calibration_bins"],
)
@click.option(
    "--grader",
    "graders",
    multiple=True,
    metavar="NAME",
    required=True,
    help="The grader; may be repeated.",
)
@options.with_reference
@options.numbered(
    "--cut",
    "The grade from which a passage counts as relevant (default: min_relevant, or the nearest).",
)
def calibration(lake, collection, graders, reference, cut):
    """Say how often people judged relevant what a grader found as probable, bin by bin.

    On the picture's dashed line, probabilities are what they say. ECE is how far bins lie from it
    on average, Brier the mean squared error; both as in `judge_calibration`. Of a rubric, the
    newest version counts.

    \b
    Examples:
      gradelake stats calibration dl19 --grader umbrela \\
          --picture calibration.svg
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
        point = {"grader": row["grader"], "cut": row["cut"], "shown": shown, "place": place}
        bins = lake.objects(BINS, collection, assessor, row["grader"], row["cut"])
        rows += [point | one for one in bins]
    slots = {
        "title": f"{shortened(collection)}: calibration",
        "y": f"share judged \u2265 {level} by {shortened(assessor, 30)}",
        "graders": list(dict.fromkeys(row["shown"] for row in rows)),
    }
    return Answer(
        {"collection": collection},
        f"By {reference}, relevant from {level}: {'; '.join(slots['graders'])}.",
        tables=[Table.of("graders", GRADERS, found), Table.of("bins", OF_BINS, rows)],
        picture=Picture("calibration", rows, slots),
    )


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
