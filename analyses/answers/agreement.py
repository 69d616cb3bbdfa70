"""Labels against judgments: counts, and Cohen's kappa of each row.

The shape is that of the RUBRIC papers (Farzi and Dietz, 2024): a row per label, a column per
judgment; in rows 4 and 0, or where asked in each, the judgment that the label stands for is boxed,
and the row's kappa is that of the boxed label and judgment, each against the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import click

from gradelake.analyses import choosing
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import BOLD, BOXED, EMPTY, Answer, Cell, Column, Table

Counts = dict[tuple[int, int], int]
KAPPAS = (4, 0)  # labels of the rows that have a kappa in RUBRIC's Table 5


@dataclass(frozen=True)
class Rows:
    """One row or column of the table: the values it holds, and what it is called."""

    values: frozenset[int]
    name: str

    @classmethod
    def of(cls, low: int, high: int) -> "Rows":
        return cls(frozenset(range(low, high + 1)), str(low) if low == high else f"{low}-{high}")


@question("agreement", "Say how often labels and judgments agree.", marts=["confusion", "kappa"])
@options.of_label_sets(
    "Only this label set; may be repeated, and the tables are stacked (default: all)."
)
@options.with_reference
@options.numbered("--cut", "Merge the labels into two: N or higher, and lower.")
@options.numbered(
    "--judgment-cut",
    "With --cut: the same for the judgments (default: the collection's min_relevant).",
)
@click.option(
    "--each-kappa",
    is_flag=True,
    help="Box a judgment for each label, with a kappa (default: for 4 and 0, as in RUBRIC).",
)
def agreement(lake, collection, label_sets, reference, cut, judgment_cut, each_kappa):
    """Say how often labels and judgments of COLLECTION agree, with Cohen's kappa.

    Beside labels 4 and 0 stands the kappa of the boxed judgment; beside every label, if its scale
    or that of the judgments ends below 4. Labels below 0 count as 0.

    \b
    Examples:
      gradelake stats agreement dl19 --label-set flan/v0/best \\
          -o agreement.tex
      gradelake stats agreement dl19 --label-set flan/v0/best --cut 4
    """
    if cut is not None and each_kappa:
        raise BadInput("--each-kappa is for single labels, not for --cut")
    if judgment_cut is not None and cut is None:
        raise BadInput("--judgment-cut goes with --cut")
    reference = choosing.reference_of(lake, collection, reference)
    names = choosing.compared_with(lake, collection, reference, label_sets)
    asked = AskedTable(lake, collection, reference, cut, judgment_cut, each_kappa)
    judgments = asked.judgments()
    confusions = choosing.read_confusions(lake, collection, reference)
    rows: list[list[Any]] = []
    for name in names:
        rows += ([name, *row] for row in asked.rows(name, confusions[name], judgments))
    whose = names[0] if len(names) == 1 else "each label set"
    kinds = "the two rows against each other" if cut else "each boxed cell against the rest"
    caption = (
        f"{collection}: labels of {whose} (rows) and {reference} (columns), how often they meet, "
        f"and Cohen's kappa of {kinds}. Bold: the most of a column."
    )
    title = Column("label_set", is_title=len(names) > 1, is_detail=len(names) == 1)
    return Answer(
        {"collection": collection, "reference": reference},
        tables=[Table("agreement", [title, *columns_of(judgments)], rows, caption)],
    )


@dataclass(frozen=True)
class AskedTable:
    """What is asked of a collection's labels. A label has a box and a kappa where it is one of
    `KAPPAS`, or `each_kappa`, or where those are no labels of its scale, or it is the judgments'
    scale. With `cut` there are two rows and two columns."""

    lake: Lake
    collection: str
    reference: str
    cut: int | None
    judgment_cut: int | None
    each_kappa: bool

    @property
    def relevant(self) -> int:
        """The judgment from which a passage is relevant."""
        return choosing.min_relevant(self.lake, self.collection)

    def judgments(self) -> list["Rows"]:
        """The columns. Raises `BadInput` for a cut that leaves one side empty."""
        highest = choosing.highest_labels(self.lake, self.collection)[self.reference]
        if self.cut is None:
            return [Rows.of(j, j) for j in range(highest, -1, -1)]
        at = self.relevant if self.judgment_cut is None else self.judgment_cut
        return _two(at, highest, "--judgment-cut")

    def rows(self, name: str, counts: Counts, columns: list["Rows"]) -> list[list[Any]]:
        """The cells of one label set."""
        highest = choosing.highest_labels(self.lake, self.collection)[name]
        kappas = _read_kappas(self.lake, self.collection, name, self.reference)
        if self.cut is not None:
            kappa = kappas.get(("binary", self.cut, min(columns[0].values)))
            rows = _two(self.cut, highest, "--cut")
            return rows_of(counts, rows, columns, {0: 0, 1: 1}, {0: kappa, 1: kappa})
        top = len(columns) - 1
        labels = choosing.shown_labels(highest, (label for label, _ in counts))[::-1]
        is_each = self.each_kappa or highest in (top, *range(KAPPAS[0]))
        stands_for = {
            row: boxed_judgment(label, highest, top, self.relevant)
            for row, label in enumerate(labels)
            if is_each or label in KAPPAS
        }
        boxed = {row: top - judgment for row, judgment in stands_for.items()}
        of_rows = {
            row: kappas.get(("boxed", labels[row], judgment))
            for row, judgment in stands_for.items()
        }
        return rows_of(counts, [Rows.of(label, label) for label in labels], columns, boxed, of_rows)


def columns_of(judgments: Sequence[Rows]) -> list[Column]:
    """The table's columns: the label, each judgment, their sum, the kappa."""
    return [
        Column("label", "Label", is_key=True),
        *(
            Column(
                f"judgment_{c.name}",
                c.name.replace("-", "--"),
                "count",
                group="Judgments",
                means=f"Passages with the label that people judged {c.name}.",
            )
            for c in judgments
        ),
        Column("total", "Total", "count", means="Passages with the label."),
        Column("kappa", "Cohen's kappa", "kappa"),
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
) -> list[list[Any]]:
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
        shown: list[Any] = []
        for column, n in enumerate(numbers):
            marks = {BOLD} if 0 < n == most[column] else set()
            marks |= {BOXED} if boxed.get(at) == column else set()
            shown.append(Cell(n, frozenset(marks)))
        kappa = Cell(kappas[at]) if at in kappas else EMPTY
        name = Cell(row.name, shown=row.name.replace("-", "--"))
        table.append([name, *shown, sum(numbers), kappa])
    return table


def _two(cut: int, highest: int, option: str) -> list[Rows]:
    if not 1 <= cut <= highest:
        raise BadInput(
            f"{option} {cut}: labels are 0-{highest}, so one side would be empty",
            f"Choose a cut from 1 to {highest}.",
        )
    return [Rows.of(cut, highest), Rows.of(0, cut - 1)]
