"""The confusion picture: how often each label meets each judgment."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

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
    lake: Lake,
    collection: str,
    label_set: str,
    reference: str | None,
    output: Path,
    by_label: bool = False,
) -> tuple[int, str]:
    """Draw counts, and each one's share of its column, from the mart `confusion`.

    A row per label, the highest on top; a column per judgment of the reference. Shares are of each
    judgment, as in UMBRELA's Figure 2; `by_label`: of each label. Below 0 counts as 0. Returns the
    number of pairs, and whose labels they are shares of. Raises `BadInput` for label sets that are
    not compared, or a file of another kind.
    """
    reference = choosing.reference_of(lake, collection, reference)
    choosing.compared_with(lake, collection, reference, (label_set,))
    highest = choosing.highest_labels(lake, collection)
    counts = choosing.read_confusions(lake, collection, reference)[label_set]
    kappa = lake.value(KAPPA, collection, label_set, reference)
    labels = choosing.shown_labels(highest[label_set], (label for label, _ in counts))
    judgments = choosing.shown_labels(highest[reference], (judgment for _, judgment in counts))
    table = np.array([[counts.get((i, j), 0) for j in judgments] for i in labels])
    whose = label_set if by_label else reference
    totals = table.sum(axis=int(by_label), keepdims=True)
    shares = table / np.maximum(totals, 1)
    is_any = np.broadcast_to(totals > 0, table.shape)

    width = MARGINS[0] + CELL[0] * len(judgments)
    with figure(output, max(width, 4.2), MARGINS[1] + CELL[1] * len(labels)) as drawn:
        axes = drawn.subplots()
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
        for (row, column), n in np.ndenumerate(table):
            share = shares[row, column]
            shown = f"{n:,}\n{share:.0%}" if is_any[row, column] else f"{n:,}"
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
        _write_totals(axes, totals)
        bar = drawn.colorbar(image, ax=axes, pad=0.03, aspect=30, format=lambda x, _: f"{x:.0%}")
        bar.set_label(f"share of each label of {shortened(whose)}")
        bar.outline.set_visible(False)
        known = "" if kappa is None else f", Cohen's \u03ba = {kappa:.2f}"
        drawn.suptitle(f"{shortened(collection)}: {table.sum():,} pairs{known}", fontsize=10)
    return int(table.sum()), whose


def _write_totals(axes: Axes, totals: np.ndarray) -> None:
    """What the shares are of: beside the rows, or above the columns."""
    is_of_rows = totals.shape[1] == 1
    beside = axes.secondary_yaxis("right") if is_of_rows else axes.secondary_xaxis("top")
    ticks = beside.set_yticks if is_of_rows else beside.set_xticks
    ticks(range(totals.size), [f"{n:,}" for n in totals.flat], color=GREY)
    beside.tick_params(length=0)
    beside.spines[:].set_visible(False)
    where, offset = ((1, 1), (6, 3)) if is_of_rows else ((0, 1), (-30, 4))
    axes.annotate(
        "total",
        where,
        offset,
        xycoords="axes fraction",
        textcoords="offset points",
        color=GREY,
        fontsize=8,
    )
