"""How many labels there are, and how they agree with a reference's: UMBRELA's Tables 1 and 2."""

from gradelake.analyses import choosing
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.tables.table import Block, Column, Table, number, text
from gradelake.sql.ask import book
from gradelake.sql.lake.opening import Lake

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


def labels_table(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...] = (),
    reference: str | None = None,
    measure: str = "nDCG@10",
) -> Table:
    """A row per label set: the runs that it scores, the topics and labels that it has; and how far
    it agrees with the reference, on all labels, on two, and in how it orders the runs by `measure`.

    Labels below 0 count as 0. Raises `BadInput` for what is not there.
    """
    reference = choosing.reference_of(lake, collection, reference)
    for name in label_sets:
        require_label_set(lake, collection, name)
    book.check_names(lake, {"measure": measure})
    asked = {"collection": collection, "reference": reference, "measure": measure}
    found = lake.rows(ROWS, **asked, label_sets=list(label_sets))
    occurring = {label for _, counts, *_ in found for label in counts}
    labels = choosing.shown_labels(max(occurring), occurring)
    return Table(
        "labels",
        f"{collection}: runs, topics and labels; Cohen's kappa with {reference} on all labels of "
        f"one scale, and on two; rank correlation of the runs by {measure}. --: undefined.",
        [
            Column("label_set", "Labels", is_number=False, is_key=True),
            Column("runs", "Runs"),
            Column("topics", "Topics"),
            *(Column(f"label_{label}", str(label), "Label") for label in labels),
            Column("kappa", "all", "Kappa"),
            Column("kappa_binary", "two", "Kappa"),
            Column("kendall", "tau", measure),
            Column("spearman", "rho", measure),
        ],
        [
            Block(
                {},
                [
                    [
                        text(name),
                        number(n_runs or 0, 0),
                        number(n_topics, 0),
                        *(number(counts.get(label, 0), 0) for label in labels),
                        *(number(value, 4) for value in agreement),
                    ]
                    for name, counts, n_runs, n_topics, *agreement in found
                ],
            )
        ],
        asked,
    )
