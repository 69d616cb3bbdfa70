"""The leaderboard under human labels, from a judge's labels and a small judged sample."""

import click
import numpy as np

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown

COLUMNS = [
    parts.SYSTEM,
    Column("judge", "judge alone", "score", means="Its score by the judge's labels."),
    Column(
        "estimate",
        "estimate",
        "score",
        means="Its score as it would be if people had labelled everything.",
    ),
    Column("interval", kind="interval", is_beside=True, means=parts.OVER_QUERIES),
    Column("sample_only", "sample alone", "score", means="The same from people's sample alone."),
    Column("sample_interval", "interval", "interval", is_beside=True, means=parts.OVER_QUERIES),
    Column(
        "width_ratio",
        "width ratio",
        "ratio",
        means="How wide the first interval is; 1: as wide as the second.",
    ),
    Column(
        "tuning", "tuning", "ratio", means="How much the judge's labels are trusted, from 0 to 1."
    ),
]


@question("estimate", "Estimate the leaderboard under human labels.")
@options.measured
@options.named("--label-set", "The judge's labels.", required=True)
@options.named(
    "--assessor",
    "Who judged a sample of them; may be repeated, for people who share a sample.",
    multiple=True,
    required=True,
)
@options.named("--sample", "Which sample, if they judged several.")
@options.at_level
@options.numbered(
    "--assessor-level",
    "Judgment from which a passage is relevant. Default: the collection's min_relevant.",
)
@click.option(
    "--these-queries",
    is_flag=True,
    help="For a sample of queries: intervals for the "
    "mean over exactly the label set's queries, not queries like them.",
)
@options.with_confidence
def estimate(lake, collection, measure, label_set, assessor, confidence, **settings):
    """Estimate the leaderboard under human labels, from a judge's labels and a small judged sample.

    Prediction-powered inference: the judge's scores, corrected by what people said of a sample
    drawn with `gradelake export qrels --sample`. Beside it the estimate from the sample alone; the
    width ratio says how much narrower the judge makes the interval (below 1 it helps). A sample of
    queries serves every measure, one of pairs P@k.

    \b
    Examples:
      gradelake stats estimate dl19 --measure nDCG@10 \\
          --label-set judge:Sun --assessor ann
    """
    from gradelake.analyses.stats.estimate import estimate_board

    found = estimate_board(lake, collection, label_set, assessor, measure, **settings)
    sample = found.sample
    units = "queries" if sample.unit == "query" else "pairs"
    asked = {"collection": collection, "label_set": label_set, "measure": measure}
    return Answer(
        asked | {"confidence": confidence},
        f"sample {sample.name}: {found.n_judged:,} of {found.n_population:,} {units} judged by "
        f"{sample.assessor}; {shown('percent', confidence)} intervals",
        tables=[Table("systems", COLUMNS, _rows(found, confidence))],
        notes=found.notes,
        details={
            "assessor": sample.assessor,
            "sample": sample.name,
            "unit": sample.unit,
            "level": found.level,
            "assessor_level": found.assessor_level,
            "n_judged": found.n_judged,
            "n_population": found.n_population,
        },
    )


def _rows(found, confidence: float) -> list[list]:
    """A row for each system, the best first."""
    low, high = found.powered.interval(confidence)
    sample_low, sample_high = found.sample_only.interval(confidence)
    width_ratio = found.width_ratio()
    return [
        [
            found.systems[at],
            parts.rounded(found.judge[at]),
            parts.rounded(found.powered.value[at]),
            Interval(parts.rounded(low[at]), parts.rounded(high[at])),
            parts.rounded(found.sample_only.value[at]),
            Interval(parts.rounded(sample_low[at]), parts.rounded(sample_high[at])),
            parts.rounded(width_ratio[at]),
            parts.rounded(found.powered.tuning[at]),
        ]
        for at in np.argsort(-found.powered.value, kind="stable")
    ]
