"""How often each label meets each judgment."""

import click

from gradelake.analyses import choosing
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common.counted import counted
from gradelake.sql.common.shortened import shortened
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import shown as as_shown
from gradelake.sql.shown.pictures.picture import Picture

KAPPA = """
    select kappa from lake.marts.kappa
    where
        collection = ? and label_set = ? and reference = ? and not is_sampled
        and kind = 'graded' and is_common_scale
"""


COLUMNS = [
    Column("label", kind="label", is_key=True),
    Column("judgment", kind="label", is_key=True),
    Column("n", "pairs", "count"),
    Column(
        "share",
        kind="percent",
        means="Those as a share of all with the label, or with the judgment.",
    ),
]


@question(
    "confusion", "Count how often each label meets each judgment.", draws=True, marts=["confusion"]
)
@options.named("--label-set", options.LABEL_SET, required=True)
@options.with_reference
@click.option(
    "--by-label",
    is_flag=True,
    help="Shares of each label of --label-set (default: of each of the reference's).",
)
def confusion(lake, collection, label_set, reference, by_label):
    """Count how often each label meets each judgment, and which share of each judgment that is.

    By people's labels, as in UMBRELA's Figure 2: of what they judged 3, how much has which label.
    Labels below 0 count as 0. The picture has a row for each label, the highest on top.

    \b
    Examples:
      gradelake stats confusion dl19 --label-set flan/v0/best
      gradelake stats confusion dl19 --label-set flan/v0/best --by-label \\
          --picture confusion.svg
    """
    reference = choosing.reference_of(lake, collection, reference)
    choosing.compared_with(lake, collection, reference, (label_set,))
    highest = choosing.highest_labels(lake, collection)
    counts = choosing.read_confusions(lake, collection, reference)[label_set]
    kappa = lake.value(KAPPA, collection, label_set, reference)
    labels = choosing.shown_labels(highest[label_set], (label for label, _ in counts))
    judgments = choosing.shown_labels(highest[reference], (judgment for _, judgment in counts))
    totals: dict[int, int] = {}
    for pair, n in counts.items():
        side = pair[not by_label]
        totals[side] = totals.get(side, 0) + n
    rows = []
    for label in labels:
        for judgment in judgments:
            n, total = counts.get((label, judgment), 0), totals.get(label if by_label else judgment)
            share = n / total if total else None
            rows.append({"label": label, "judgment": judgment, "n": n, "share": share})
    n_pairs, whose = sum(counts.values()), label_set if by_label else reference
    known = "" if kappa is None else f", Cohen's \u03ba = {as_shown('kappa', kappa)}"
    slots = {
        "title": [
            f"{shortened(collection)}: {n_pairs:,} pairs{known}",
            f"share of each label of {shortened(whose)}",
        ],
        "x": shortened(reference),
        "y": shortened(label_set),
        "by_label": by_label,
    }
    return Answer(
        {"collection": collection},
        f"{counted(n_pairs, 'pairs')} of {label_set}, as shares of each label of {whose}{known}.",
        tables=[Table.of("confusion", COLUMNS, rows)],
        picture=Picture("confusion", rows, slots),
        details={"pairs": n_pairs, "shares_of": whose},
    )
