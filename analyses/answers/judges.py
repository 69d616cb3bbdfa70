"""Label sets beside each other: how far each agrees with people, on passages and on systems."""

from gradelake.analyses import choosing
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.ask import book
from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown.answer import Answer, Cell, Column, Table, with_best_bold

# key -> (heading, kind, column)
STATISTICS = {
    "kappa": ("Kappa", "kappa", "agreement.kappa"),
    "quadratic": ("Quadratic", "kappa", "quadratic.kappa"),
    "precision": ("Precision", "score", "agreement.precision"),
    "recall": ("Recall", "score", "agreement.recall"),
    "spearman": ("rho", "tau", "boards.spearman"),
    "kendall": ("tau", "tau", "boards.kendall"),
    "tau_ap": ("tau-AP", "tau", "boards.tau_ap"),
    "rbo": ("RBO", "tau", "boards.rbo"),
    "kendall_first_5": ("tau, first 5", "tau", "tops.first_5"),
    "kendall_first_10": ("tau, first 10", "tau", "tops.first_10"),
}
MEANS = {  # what has not the name of its column
    "quadratic": "Kappa of all labels, weighted by how far apart they are.",
    "kendall_first_5": "Kendall's tau-b over people's first 5 systems.",
    "kendall_first_10": "Kendall's tau-b over people's first 10 systems.",
}
JUDGES = f"""
    with tops as (
        select
            label_set, level, max(kendall) filter (where k = 5) as first_5,
            max(kendall) filter (where k = 10) as first_10
        from lake.marts.top_agreement
        where collection = $collection and reference = $reference and measure = $measure
        group by all
    )

    select
        levels.label_set, levels.level, agreement.n,
        {", ".join(f"{what} as {name}" for name, (*_, what) in STATISTICS.items())}
    from lake.marts.usual_levels as levels
    inner join lake.raw.collections as collections using (collection)
    left join lake.marts.kappa as agreement
        on
            levels.collection = agreement.collection and levels.label_set = agreement.label_set
            and agreement.reference = $reference and not agreement.is_sampled
            and agreement.kind = 'binary' and agreement.label_cut = levels.level
            and agreement.reference_cut = collections.min_relevant
    left join lake.marts.kappa as quadratic
        on
            levels.collection = quadratic.collection and levels.label_set = quadratic.label_set
            and quadratic.reference = $reference and not quadratic.is_sampled
            and quadratic.kind = 'quadratic' and quadratic.is_common_scale
    left join lake.marts.leaderboard_agreement as boards
        on
            levels.collection = boards.collection and levels.label_set = boards.label_set
            and levels.level = boards.level and boards.reference = $reference
            and boards.measure = $measure
    left join tops on levels.label_set = tops.label_set and levels.level = tops.level
    where levels.collection = $collection and coalesce(agreement.n, boards.n_systems) > 0
    order by boards.kendall desc nulls last, levels.label_set
"""


@question(
    "judges", "Say how far each judge agrees with people.", marts=["kappa", "leaderboard_agreement"]
)
@options.of_label_sets("The label set; may be repeated (default: all).")
@options.with_reference
@options.named("--measure", "The leaderboards' measure.", default="nDCG@10")
def judges(lake, collection, label_sets, reference, measure):
    """Say how far each label set agrees with people, in a column for each statistic.

    On passages, at each label set's usual level: kappa, precision and recall of what is relevant,
    and quadratic kappa of all labels where both scales end alike. On systems: correlations of
    leaderboards, over all and over the reference's first 5 and 10.

    \b
    Examples:
      gradelake stats judges dl19 -o judges.tex
      gradelake stats judges dl19 --measure AP --format csv
    """
    reference = choosing.reference_of(lake, collection, reference)
    book.check_names(lake, {"measure": measure})
    asked = {"collection": collection, "reference": reference, "measure": measure}
    found = {row["label_set"]: row for row in lake.objects(JUDGES, **asked)}
    for name in label_sets:
        if name not in found:
            choosing.require_board(lake, collection, name)
            raise BadInput(f"{name!r} is not compared with {reference!r}", "Choose --reference.")
    names = list(dict.fromkeys(label_sets)) or list(found)
    if not names:
        raise BadInput(f"nothing is compared with {reference!r}", "Choose --reference.")
    complete = choosing.completeness(lake, collection)
    columns = [
        Column("label_set", "Labels", is_key=True),
        Column("level", "Level", "label", is_key=True),
        Column("n", "Pairs", "count"),
        *(
            Column(name, head, kind, means=MEANS.get(name, ""))
            for name, (head, kind, _) in STATISTICS.items()
        ),
    ]
    rows = [
        found[name] | {"label_set": Cell(name, shown=name + complete[name].mark)} for name in names
    ]
    caption = (
        f"{collection}: agreement with {reference}, on passages at each label set's level, and of "
        f"leaderboards by {measure}. Bold: the best of a column; --: undefined, or not compared."
    )
    table = Table.of("judges", columns, rows, caption=caption)
    return Answer(asked, tables=[with_best_bold(table, STATISTICS)])
