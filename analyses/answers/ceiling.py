"""Judges beside how far two people agree with each other."""

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table

SIDES = ("label_set", "assessor", "other_assessor")
FIGURES = {
    "kappa_assessor": "with the one",
    "kappa_other": "with the other",
    "kappa_people": "people",
    "shortfall": "shortfall",
}
COLUMNS = [
    Column("assessor", is_title=True),
    Column("other_assessor", is_title=True),
    parts.LABEL_SET,
    Column("kind", is_key=True),
    *(column for key, head in FIGURES.items() for column in parts.figure(key, head, "kappa")),
    parts.P,
    parts.N_PAIRS,
]


@question("ceiling", "Compare judges with how far people agree.", marts=["human_ceiling"])
@options.of_label_sets("Only this judge; may be repeated. Default: all.")
@options.of_kinds("Kind of kappa. Default: all four.", options.KINDS[:4])
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def ceiling(lake, collection, label_sets, kinds, replicates, **settings):
    """Compare judges with the human ceiling: how far two people agree with each other.

    A judge against each of two assessors, and these against each other, on the passages that all
    three labelled (mart human_ceiling), with intervals from resampling queries. The shortfall is
    people's kappa less the mean of the judge's two: no judge can be expected to have less than 0.

    \b
    Examples:
      gradelake stats ceiling mine
      gradelake stats ceiling mine --label-set judge:umbrela --kind binary
    """
    from gradelake.analyses.stats.ceiling import ceilings

    settings["n_replicates"] = replicates
    found = ceilings(lake, collection, label_sets, kinds, **settings)
    ordered = sorted(found, key=lambda one: one.sides[1:])
    notes = [] if found else ["no passage was labelled by a judge and by two assessors"]
    return Answer(
        {"collection": collection} | settings,
        tables=[Table.of("ceilings", COLUMNS, map(_row, ordered), caption="Cohen's kappas")],
        notes=notes,
    )


def _row(together):
    row = dict(zip(SIDES, together.sides, strict=True)) | {
        "kind": together.kind,
        "n": together.n,
        "p": together.p,
    }
    values, spreads = (*together.kappas, together.difference), (*together.spreads, together.spread)
    for name, value, resampled in zip(FIGURES, values, spreads, strict=True):
        row |= parts.spread(name, value, resampled)
    return row
