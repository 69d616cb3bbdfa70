"""How surely labels agree with a reference beyond chance."""

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table

FEW = 10  # queries in which labels differ
KIND = Column("kind", is_key=True)
COLUMNS = [
    parts.LABEL_SET,
    KIND,
    Column("cut", is_key=True),
    Column("label_cut", kind="label", is_detail=True),
    Column("reference_cut", kind="label", is_detail=True),
    *parts.figure("kappa", "kappa", "kappa"),
    parts.N_PAIRS,
    Column(
        "n_disagreeing",
        "queries apart",
        "count",
        means="Queries with a pair on which the two differ.",
    ),
]
BETTER = [
    parts.LABEL_SET,
    KIND,
    *parts.figure("kappa", "kappa", "kappa"),
    *parts.figure("against", "its", "kappa", "The kappa of the other label set."),
    *parts.figure("difference", "difference", "kappa", "The first kappa less the second."),
    parts.P,
    parts.N_PAIRS,
]


@question("kappa", "Compute kappas; does a judge agree better?", marts=["kappa"])
@options.of_label_sets("The label set to compare; may be repeated. Default: all.")
@options.with_reference
@options.named("--against", "Test whether each label set agrees better than this one.")
@options.of_kinds(
    "Kind of kappa, as in the mart kappa. Default: binary, and all labels on a common scale."
)
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def kappa(lake, collection, label_sets, reference, against, kinds, replicates, **settings):
    """Say how well labels agree with people's, or another label set's, beyond chance, and how
    surely.

    The kappas of `gradelake sql @kappa`, each with an interval from resampling queries, around the
    kappa. With --against a paired test: the difference of two judges' kappas on the passages that
    both labelled, as leaderboards take labels as relevant, or of all labels.

    \b
    Examples:
      gradelake stats kappa dl19 --label-set judge:Sun
      gradelake stats kappa dl19 --against judge:Thomas --kind quadratic
    """
    from gradelake.analyses.choosing import compared_with, reference_of
    from gradelake.analyses.stats.ceiling import compare_judges
    from gradelake.analyses.stats.kappas import kappa_intervals

    settings["n_replicates"] = replicates
    reference = reference_of(lake, collection, reference)
    if against:
        compared_with(lake, collection, reference, (against,))
    named = (*label_sets, against) if label_sets and against else label_sets
    found = kappa_intervals(lake, collection, reference, named, kinds, **settings)
    tables = [
        Table.of(
            "kappas",
            COLUMNS,
            [vars(one) | parts.spread("kappa", one.kappa, one.spread) for one in found],
            caption=f"Cohen's kappa with {reference}",
        )
    ]
    if against:
        better = compare_judges(lake, collection, reference, against, found, **settings)
        caption = f"Agrees better than {against}, on the same pairs?"
        tables.append(Table.of("better", BETTER, map(_better, better), caption=caption))
    notes = []
    if any(0 < one.n_disagreeing < FEW for one in found):
        notes.append(
            f"where labels differ in fewer than {FEW} queries, an interval knows little: other "
            "queries may hold errors that these do not"
        )
    asked = {"collection": collection, "reference": reference, "against": against}
    return Answer(asked | settings, tables=tables, notes=notes)


def _better(compared):
    names = ("kappa", "against", "difference")
    values = (*compared.kappas, compared.difference)
    row = {"label_set": compared.sides[0], "kind": compared.kind, "n": compared.n, "p": compared.p}
    for name, value, resampled in zip(
        names, values, (*compared.spreads, compared.spread), strict=True
    ):
        row |= parts.spread(name, value, resampled)
    return row
