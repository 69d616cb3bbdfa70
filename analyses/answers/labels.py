"""How many labels there are, and how they agree with a reference's: UMBRELA's Tables 1 and 2."""

from gradelake.analyses import choosing
from gradelake.analyses.answers.asking import question
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats import options
from gradelake.sql.ask import book
from gradelake.sql.shown.answer import Answer, Column, Table

# kappa of two labels: each side at the level of its board; of all: where they are of one scale
ROWS = """
    with

    labels as (
        select
            collection,
            label_set,
            count(distinct query_id) as n_topics,
            histogram(greatest(label, 0)) as n_of_label
        from lake.marts.relevance_labels
        where collection = $collection
        group by all
    ),

    runs as (
        select label_set, count(distinct system) as n_runs
        from lake.marts.leaderboard
        where collection = $collection
        group by all
    ),

    kappas as (
        select
            kappa.label_set,
            max(kappa.kappa) filter (where kind = 'graded' and is_common_scale) as of_all,
            max(kappa.kappa) filter (where kind = 'binary') as of_two
        from lake.marts.kappa as kappa
        inner join lake.marts.usual_levels as ours using (collection, label_set)
        inner join lake.marts.usual_levels as theirs
            on kappa.collection = theirs.collection and kappa.reference = theirs.label_set
        where kappa.collection = $collection and reference = $reference and not is_sampled
            and (kind = 'graded' or label_cut = ours.level and reference_cut = theirs.level)
        group by all
    ),

    boards as (
        select label_set, kendall, spearman
        from lake.marts.leaderboard_agreement
        inner join lake.marts.usual_levels using (collection, label_set, level)
        where collection = $collection and reference = $reference and measure = $measure
    )

    select label_set, n_of_label, n_runs, n_topics, of_all, of_two, kendall, spearman
    from labels
    left join runs using (label_set)
    left join kappas using (label_set)
    left join boards using (label_set)
    where len($label_sets) = 0 or label_set in (select unnest($label_sets))
    order by label_set != $reference, label_set
"""


@question(
    "labels",
    "Say how many labels there are, and how they agree.",
    marts=["kappa", "leaderboard_agreement"],
)
@options.of_label_sets("The label set; may be repeated (default: all).")
@options.with_reference
@options.named(
    "--measure", "The measure of the leaderboards that are correlated.", default="nDCG@10"
)
def labels(lake, collection, label_sets, reference, measure):
    """Say how many runs, topics and labels there are, and how each label set agrees with a
    reference.

    Kappas of all labels and of two, beside the correlation of leaderboards, as in UMBRELA's Tables
    1 and 2. Labels below 0 count as 0.

    \b
    Examples:
      gradelake stats labels dl19 -o labels.tex
      gradelake stats labels dl19 --label-set judge:umbrela
    """
    reference = choosing.reference_of(lake, collection, reference)
    for name in label_sets:
        require_label_set(lake, collection, name)
    book.check_names(lake, {"measure": measure})
    asked = {"collection": collection, "reference": reference, "measure": measure}
    found = lake.rows(ROWS, **asked, label_sets=list(label_sets))
    occurring = {label for _, counts, *_ in found for label in counts}
    scale = choosing.shown_labels(max(occurring), occurring)
    columns = [
        Column("label_set", "Labels", is_key=True),
        Column("runs", "Runs", "count", means="Systems that have a score by these labels."),
        Column("topics", "Topics", "count", means="Queries that have a label."),
        *(
            Column(
                f"label_{label}",
                str(label),
                "count",
                group="Label",
                means=f"Passages with label {label}.",
            )
            for label in scale
        ),
        Column("kappa", "all", "kappa", group="Kappa"),
        Column(
            "kappa_binary", "two", "kappa", group="Kappa", means="Cohen's kappa of relevant or not."
        ),
        Column("kendall", "tau", "tau", group=measure),
        Column("spearman", "rho", "tau", group=measure),
    ]
    rows = [
        [name, n_runs or 0, n_topics, *(counts.get(label, 0) for label in scale), *agreement]
        for name, counts, n_runs, n_topics, *agreement in found
    ]
    caption = (
        f"{collection}: runs, topics and labels; Cohen's kappa with {reference} on all labels of "
        f"one scale, and on two; rank correlation of the runs by {measure}. --: undefined."
    )
    return Answer(asked, tables=[Table("labels", columns, rows, caption)])
