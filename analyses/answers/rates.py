"""The share of relevant passages, from a judge's labels and what people judged."""

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table

COLUMNS = [
    Column("label_cut", kind="label", is_detail=True),
    Column("cut", is_key=True, means="The labels that count as relevant."),
    Column(
        "share",
        is_key=True,
        means="What is estimated: the judge's share, the corrected one, or an error rate.",
    ),
    *parts.figure("value", "value", "score", "The estimate."),
]


@question("rates", "Estimate the share of relevant passages from a judge.", marts=["kappa"])
@options.named("--label-set", "The judge's labels.", required=True)
@options.with_reference
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def rates(lake, collection, label_set, reference, replicates, **settings):
    """Estimate the share of relevant passages from a judge's labels and what people judged.

    At each cut of the labels: the judge's sensitivity and specificity, its rate, and that rate
    corrected in two ways. By sensitivity and specificity (Rogan and Gladen 1978) it is right if the
    judge errs alike on judged and other passages; by prediction-powered inference it is right if
    the judged passages are a random sample, however the judge errs. Intervals, from resampling
    queries, cover the uncertainty of the rate and of the judge's errors.

    \b
    Examples:
      gradelake stats rates dl19 --label-set judge:Sun
      gradelake stats rates dl19 --label-set judge:Sun --reference assessor:ann
    """
    from gradelake.analyses.choosing import reference_of
    from gradelake.analyses.stats.rates import FIGURES
    from gradelake.analyses.stats.rates import rates as rates_of_cuts

    settings["n_replicates"] = replicates
    reference = reference_of(lake, collection, reference)
    found = rates_of_cuts(lake, collection, label_set, reference, **settings)
    rows = [
        {"label_cut": one.label_cut, "cut": f">={one.label_cut}", "share": name}
        | parts.spread("value", one.figures[name], one.spreads[name])
        for one in found
        for name in FIGURES
    ]
    notes = []
    if no_better := [f">={one.label_cut}" for one in found if one.figures["corrected"] is None]:
        notes.append(
            f"at {', '.join(no_better)} the judge is not shown to be better than chance: its rate "
            "cannot be corrected by its errors"
        )
    first = found[0]
    asked = {"collection": collection, "label_set": label_set, "reference": reference}
    return Answer(
        asked | settings,
        f"{first.n:,} passages labelled, {first.n_judged:,} of them judged by people",
        tables=[Table.of("cuts", COLUMNS, rows)],
        notes=notes,
        details={"n": first.n, "n_judged": first.n_judged},
    )
