"""The confusion picture: how often each label meets each judgment."""

from pathlib import Path

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.plots.style import GREY, figure, shortened
from gradelake.sql.lake.opening import Lake

CELL = (0.85, 0.55)  # inches
MARGINS = (2.3, 1.7)

KAPPA = """
    select kappa from lake.marts.kappa
    where
        collection = ? and label_set = ? and reference = ? and not is_sampled
        and kind = 'graded' and is_common_scale
"""


def draw_confusion(
    lake: Lake, collection: str, label_set: str, reference: str | None, output: Path
) -> int:
    """Draw counts, and each one's share of its row, from the mart `confusion`.

    A row per label, the highest on top; a column per judgment. Below 0 counts as 0. Returns the
    number of pairs. Raises `BadInput` for label sets that are not compared, or a file of another
    kind.
    """
    reference = choosing.reference_of(lake, collection, reference)
    choosing.compared_with(lake, collection, reference, (label_set,))
    highest = choosing.highest_labels(lake, collection)
    counts = choosing.read_confusions(lake, collection, reference)[label_set]
    kappa = lake.value(KAPPA, collection, label_set, reference)
    labels = choosing.shown_labels(highest[label_set], (label for label, _ in counts))
    judgments = choosing.shown_labels(highest[reference], (judgment for _, judgment in counts))
    table = np.array([[counts.get((i, j), 0) for j in judgments] for i in labels])
    totals = table.sum(axis=1)
    shares = table / np.maximum(totals, 1)[:, None]

    width = MARGINS[0] + CELL[0] * len(judgments)
    with figure(output, max(width, 4.2), MARGINS[1] + CELL[1] * len(labels)) as drawn:
        axes = drawn.subplots()
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
        for (row, column), n in np.ndenumerate(table):
            share = shares[row, column]
            shown = f"{n:,}\n{share:.0%}" if totals[row] else f"{n:,}"
            axes.text(
                column,
                row,
                shown,
                ha="center",
                va="center",
                fontsize=8,
                linespacing=1.25,
                color="white" if share > 0.55 else "black",
            )
        axes.set_xticks(range(len(judgments)), map(str, judgments))
        axes.set_yticks(range(len(labels)), map(str, labels))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xticks(np.arange(1, len(judgments)) - 0.5, minor=True)
        axes.set_yticks(np.arange(1, len(labels)) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="minor", length=0)
        axes.set_xlabel(shortened(reference))
        axes.set_ylabel(shortened(label_set))
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(labels)), [f"{n:,}" for n in totals], color=GREY)
        right.tick_params(length=0)
        right.spines[:].set_visible(False)
        axes.annotate(
            "total",
            (1, 1),
            (6, 3),
            xycoords="axes fraction",
            textcoords="offset points",
            color=GREY,
            fontsize=8,
        )
        bar = drawn.colorbar(image, ax=axes, pad=0.03, aspect=30, format=lambda x, _: f"{x:.0%}")
        bar.set_label("share of the row")
        bar.outline.set_visible(False)
        known = "" if kappa is None else f", Cohen's \u03ba = {kappa:.2f}"
        drawn.suptitle(f"{shortened(collection)}: {totals.sum():,} pairs{known}", fontsize=10)
    return int(totals.sum())
