"""Krippendorff's alpha of any number of label sets."""

import click

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.shown.answer import Answer, Column, Table

ALPHA = "Krippendorff's alpha; null where all labels are equal."
PAIRS = Column(
    "n_pairs", "pairs", "count", means="Pairs of a query and a passage that two or more labelled."
)
COLUMNS = [
    Column("metric", is_key=True, means="How the distance of two labels is measured."),
    *parts.figure("alpha", "alpha", "kappa", ALPHA),
    PAIRS,
    parts.N_QUERIES,
]
BY_QUERY = [
    Column("query_id", "query", "id", is_key=True),
    Column("alpha", "alpha", "kappa", means=ALPHA),
    PAIRS,
]


@question("alpha", "Compute Krippendorff's alpha of label sets.", marts=["topic_scores"])
@options.of_label_sets("An assessor or judge to compare; may be repeated. Default: all.")
@click.option(
    "--metric",
    type=click.Choice(["ordinal", "nominal", "interval"]),
    default="ordinal",
    help="How the distance of two labels is measured.",
)
@click.option("--per-query", is_flag=True, help="Also show each query's alpha.")
@options.replicated("Bootstrap samples of queries.")
@options.with_confidence
def alpha(lake, collection, label_sets, metric, per_query, replicates, seed, confidence):
    """Compute Krippendorff's alpha: how far label sets agree beyond chance.

    Pairs of a query and a passage count that two or more of them labelled. Labels below 0 count
    as 0. Of all label sets each rater counts once: panels, hybrids and ensembles are left out
    beside their members, and of a grader the newest rubric and the policy `best` count.

    \b
    Examples:
      gradelake stats alpha dl19 --label-set assessor:nist \\
          --label-set judge:Thomas --per-query
    """
    from gradelake.analyses.stats.labels import compare_labels

    names = list(label_sets)
    found = compare_labels(lake, collection, names, metric, replicates, seed, confidence)
    row = {"metric": metric, "n_pairs": found.n_pairs, "n_queries": len(found.by_query)}
    row |= parts.spread("alpha", found.value, found.spread)
    tables = [Table.of("alphas", COLUMNS, [row])]
    if per_query:
        tables.append(Table("by_query", BY_QUERY, found.by_query))
    about = {"collection": collection, "seed": seed, "metric": metric}
    details = {"label_sets": found.label_sets, "left_out": found.left_out}
    return Answer(
        about,
        f"label sets: {', '.join(found.label_sets)}",
        tables=tables,
        notes=_notes(found),
        details=details | {"undefined_reason": found.undefined_reason},
    )


def _notes(found) -> list[str]:
    notes = []
    if found.left_out:
        notes.append(
            f"left out, as their labels come from the same raters: {', '.join(found.left_out)}"
        )
    if found.undefined_reason:
        notes.append(f"alpha is undefined: {found.undefined_reason}")
    elif found.spread.undefined:
        notes.append(f"undefined in {found.spread.undefined:,} replicates")
    if len(set(found.highest.values())) > 1:
        tops = ", ".join(f"{name} {top}" for name, top in sorted(found.highest.items()))
        notes.append(f"the label sets' highest labels differ ({tops}); equal labels agree")
    return notes
