"""Label sets beside each other: how far each agrees with people, on passages and on systems."""

from gradelake.analyses import choosing
from gradelake.analyses.tables.table import Block, Column, Table, number, text, with_best_bold
from gradelake.sql.ask import book
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

# heading -> (name, statistic)
STATISTICS = {
    "kappa": ("Kappa", "agreement.kappa"),
    "quadratic": ("Quadratic", "quadratic.kappa"),
    "precision": ("Precision", "agreement.precision"),
    "recall": ("Recall", "agreement.recall"),
    "spearman": ("rho", "boards.spearman"),
    "kendall": ("tau", "boards.kendall"),
    "tau_ap": ("tau-AP", "boards.tau_ap"),
    "rbo": ("RBO", "boards.rbo"),
    "kendall_first_5": ("tau, first 5", "tops.first_5"),
    "kendall_first_10": ("tau, first 10", "tops.first_10"),
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
        {", ".join(f"{what} as {name}" for name, (_, what) in STATISTICS.items())}
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


def judges_table(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...] = (),
    reference: str | None = None,
    measure: str = "nDCG@10",
) -> Table:
    """A row for each of the label sets (none: all), a column for each statistic, all at the label
    set's usual level: kappa, precision and recall of what is relevant, weighted kappa of all labels
    where both scales end alike, and how leaderboards by `measure` agree,
    on all systems and on the reference's first. The best of a column is
    bold. Raises `BadInput` for what is not there, or not compared with the reference."""
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
    rows = [
        [
            text(name, name + complete[name].mark),
            number(row["level"], 0),
            number(row["n"], 0),
            *(number(row[statistic], 3) for statistic in STATISTICS),
        ]
        for name, row in ((name, found[name]) for name in names)
    ]
    return Table(
        "judges",
        f"{collection}: agreement with {reference}, on passages at each label set's level, and of "
        f"leaderboards by {measure}. Bold: the best of a column; --: undefined, or not compared.",
        [
            Column("label_set", "Labels", is_number=False, is_key=True),
            Column("level", "Level", is_key=True),
            Column("n", "Pairs"),
            *(Column(name, head) for name, (head, _) in STATISTICS.items()),
        ],
        [Block({}, with_best_bold(rows, range(3, 3 + len(STATISTICS))))],
        {"collection": collection, "reference": reference, "measure": measure},
    )
