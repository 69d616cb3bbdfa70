"""Labels against judgments: counts, and Cohen's kappa of each row.

The shape is that of the RUBRIC papers (Farzi and Dietz, 2024): a row per label, a column per
judgment; in rows 4 and 0, or where asked in each, the judgment that the label stands for is boxed,
and the row's kappa is that of the boxed label and judgment, each against the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from gradelake.analyses import choosing
from gradelake.analyses.tables.table import Block, Cell, Column, Table, number, text
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

Counts = dict[tuple[int, int], int]
BOXED = (4, 0)  # labels of the rows that have a kappa in RUBRIC's Table 5


@dataclass(frozen=True)
class Rows:
    """One row or column of the table: the values it holds, and what it is called."""

    values: frozenset[int]
    name: str

    @classmethod
    def of(cls, low: int, high: int) -> "Rows":
        return cls(frozenset(range(low, high + 1)), str(low) if low == high else f"{low}-{high}")


def agreement_table(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...],
    reference: str | None,
    cut: int | None = None,
    reference_cut: int | None = None,
    each_kappa: bool = False,
) -> Table:
    """Counts of label and judgment, from the marts `confusion` and `kappa`.

    A label has a box and a kappa where it is one of `BOXED`, or `each_kappa`, or where those are no
    labels of its scale, or it is the judgments' scale.
    With `cut`, two rows (labels at or above it, and below) and two columns, cut at `reference_cut`
    (the collection's min_relevant unless given). Below 0 counts as 0. Raises `BadInput` for what
    is not there, and for a cut that leaves one side empty.
    """
    reference = choosing.reference_of(lake, collection, reference)
    names = choosing.compared_with(lake, collection, reference, label_sets)
    highest = choosing.highest_labels(lake, collection)
    relevant = choosing.min_relevant(lake, collection)
    reference_cut = relevant if reference_cut is None else reference_cut
    if cut is None:
        columns = [Rows.of(j, j) for j in range(highest[reference], -1, -1)]
    else:
        columns = _two(reference_cut, highest[reference], "--judgment-cut")
    confusions = choosing.read_confusions(lake, collection, reference)
    blocks = []
    for name in names:
        counts = confusions[name]
        kappas = _read_kappas(lake, collection, name, reference)
        if cut is None:
            top = len(columns) - 1
            labels = choosing.shown_labels(highest[name], (label for label, _ in counts))[::-1]
            rows = [Rows.of(label, label) for label in labels]
            is_each = each_kappa or highest[name] in (top, *range(BOXED[0]))
            stands_for = {
                row: boxed_judgment(label, highest[name], top, relevant)
                for row, label in enumerate(labels)
                if is_each or label in BOXED
            }
            boxed = {row: top - judgment for row, judgment in stands_for.items()}
            of_rows = {
                row: kappas.get(("boxed", labels[row], judgment))
                for row, judgment in stands_for.items()
            }
        else:
            rows = _two(cut, highest[name], "--cut")
            boxed = {0: 0, 1: 1}
            of_rows = dict.fromkeys(boxed, kappas.get(("binary", cut, reference_cut)))
        block = rows_of(counts, rows, columns, boxed, of_rows)
        keys = {"label_set": name, "reference": reference}
        blocks.append(Block(keys, block, title=name if len(names) > 1 else ""))
    whose = names[0] if len(names) == 1 else "each label set"
    kinds = "the two rows against each other" if cut else "each boxed cell against the rest"
    return Table(
        "agreement",
        f"{collection}: labels of {whose} (rows) and {reference} (columns), how often they meet, "
        f"and Cohen's kappa of {kinds}. Bold: the most of a column.",
        columns_of(columns),
        blocks,
        {"collection": collection, "reference": reference},
    )


def columns_of(judgments: Sequence[Rows]) -> list[Column]:
    """The table's columns: the label, each judgment, their sum, the kappa."""
    return [
        Column("label", "Label", is_number=False, is_key=True),
        *(Column(f"judgment_{c.name}", c.name.replace("-", "--"), "Judgments") for c in judgments),
        Column("total", "Total"),
        Column("kappa", "Cohen's kappa"),
    ]


def _read_kappas(
    lake: Lake, collection: str, label_set: str, reference: str
) -> dict[tuple[str, int, int], float | None]:
    """(kind, cut, cut of the reference) -> kappa."""
    rows = lake.rows(
        "select kind, label_cut, reference_cut, kappa from lake.marts.kappa "
        "where collection = ? and label_set = ? and reference = ? and not is_sampled "
        "and kind in ('boxed', 'binary')",
        collection,
        label_set,
        reference,
    )
    return {tuple(row[:3]): row[3] for row in rows}


def boxed_judgment(label: int, highest: int, highest_judgment: int, relevant: int) -> int:
    """The judgment that a label stands for, as the RUBRIC papers box it.

    On a common scale itself. Else 0 for 0, one above min_relevant for the upper fifth of the scale
    (4 and 5 of 0-5), and min_relevant for the labels between.
    """
    if highest == highest_judgment or label == 0:
        return label
    return min(highest_judgment, relevant + (5 * label >= 4 * highest))


def rows_of(
    counts: Counts,
    rows: Sequence[Rows],
    columns: Sequence[Rows],
    boxed: Mapping[int, int],
    kappas: Mapping[int, float | None],
) -> list[list[Cell]]:
    """Cells of the rows: counts by column, a box where `boxed` has a column, the sum, a kappa."""
    cells = [
        [
            sum(counts.get(cell, 0) for cell in product(row.values, column.values))
            for column in columns
        ]
        for row in rows
    ]
    most = [max(column) for column in zip(*cells, strict=True)]
    table = []
    for at, (row, numbers) in enumerate(zip(rows, cells, strict=True)):
        shown = [
            replace(number(n, 0), is_bold=0 < n == most[column], is_boxed=boxed.get(at) == column)
            for column, n in enumerate(numbers)
        ]
        kappa = number(kappas[at], 2) if at in kappas else Cell(None, "")
        name = text(row.name, row.name.replace("-", "--"))
        table.append([name, *shown, number(sum(numbers), 0), kappa])
    return table


def _two(cut: int, highest: int, option: str) -> list[Rows]:
    if not 1 <= cut <= highest:
        raise BadInput(
            f"{option} {cut}: labels are 0-{highest}, so one side would be empty",
            f"Choose a cut from 1 to {highest}.",
        )
    return [Rows.of(cut, highest), Rows.of(0, cut - 1)]
