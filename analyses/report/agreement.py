"""How labels meet judgments: counts and Cohen's kappa of each label set, for the report."""

from dataclasses import dataclass, field
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.report.report_queries import ask
from gradelake.sql.lake.opening import Lake


@dataclass
class Confusion:
    """One label set against the reference.

    `counts`: a row per label, the highest first; a column per judgment, the lowest first.
    `binary`: Cohen's kappa of labels at or above each cut against the reference's relevant ones.
    """

    label_set: str
    labels: list[int]
    judgments: list[int]
    counts: list[list[int]]
    quadratic: float | None = None
    binary: list[dict[str, Any]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts))

    def shade(self, row: int, column: int) -> float:
        """The cell's share of its row."""
        return self.counts[row][column] / (sum(self.counts[row]) or 1)

    @property
    def best(self) -> dict[str, Any] | None:
        known = [cut for cut in self.binary if cut["kappa"] is not None]
        return max(known, key=lambda cut: cut["kappa"], default=None)


def read_confusions(
    lake: Lake, collection: str, reference: str, reference_cut: int, label_sets: list[str]
) -> list[Confusion]:
    """The label sets that share labelled pairs with the reference, in the order given."""
    found = {}
    confusions = choosing.read_confusions(lake, collection, reference)
    for name in label_sets:
        if counts := confusions.get(name):
            labels, judgments = (
                choosing.shown_labels(max(of), of) for of in zip(*counts, strict=True)
            )
            table = [[counts.get((i, j), 0) for j in judgments] for i in reversed(labels)]
            found[name] = Confusion(name, labels[::-1], judgments, table)
    values = {"collection": collection, "reference": reference, "reference_cut": reference_cut}
    for row in ask(lake, "kappas", **values):
        if confusion := found.get(row["label_set"]):
            if row["kind"] == "binary":
                confusion.binary.append(row)
            else:
                confusion.quadratic = row["kappa"]
    return list(found.values())
