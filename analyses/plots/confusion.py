"""The confusion picture: how often each label meets each judgment."""

from gradelake.analyses import choosing
from gradelake.sql.common.shortened import shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown as as_shown
from gradelake.sql.shown.pictures.picture import Picture

KAPPA = """
    select kappa from lake.marts.kappa
    where
        collection = ? and label_set = ? and reference = ? and not is_sampled
        and kind = 'graded' and is_common_scale
"""


def confusion_picture(
    lake: Lake, collection: str, label_set: str, reference: str | None, by_label: bool = False
) -> tuple[Picture, int, str]:
    """Counts, and each one's share of its column, from the mart `confusion`.

    A row per label, the highest on top; a column per judgment of the reference. Shares are of each
    judgment, as in UMBRELA's Figure 2; `by_label`: of each label. Below 0 counts as 0. Returns the
    number of pairs, and whose labels they are shares of, too. Raises `BadInput` for label sets that
    are not compared.
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
        of = pair[not by_label]
        totals[of] = totals.get(of, 0) + n
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
    return Picture("confusion", rows, slots), n_pairs, whose
