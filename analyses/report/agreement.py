"""How labels meet judgments: counts and Cohen's kappa of each label set, for the report."""

from dataclasses import dataclass, field
from typing import Any

from gradelake.analyses.report.report_queries import ask
from gradelake.sql.lake.lake import Lake

MANY = 12  # a longer scale shows the labels that occur


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
        """The cut with the highest kappa."""
        known = [cut for cut in self.binary if cut["kappa"] is not None]
        return max(known, key=lambda cut: cut["kappa"], default=None)


def read_confusions(
    lake: Lake, collection: str, reference: str, reference_cut: int, label_sets: list[str]
) -> list[Confusion]:
    """The label sets that share labelled pairs with the reference, in the order given."""
    counts: dict[str, dict[tuple[int, int], int]] = {}
    for row in ask(lake, "confusion", collection=collection, reference=reference):
        of_set = counts.setdefault(row["label_set"], {})
        of_set[row["label"], row["judgment"]] = row["n"]
    found = {name: _confusion(name, counts[name]) for name in label_sets if name in counts}
    values = {"collection": collection, "reference": reference, "reference_cut": reference_cut}
    for row in ask(lake, "kappas", **values):
        confusion = found.get(row["label_set"])
        if confusion is None:
            continue
        if row["kind"] == "binary":
            confusion.binary.append(row)
        else:
            confusion.quadratic = row["kappa"]
    return list(found.values())


def _confusion(name: str, counts: dict[tuple[int, int], int]) -> Confusion:
    labels = _scale({label for label, _ in counts})
    judgments = _scale({judgment for _, judgment in counts})
    rows = [
        [counts.get((label, judgment), 0) for judgment in judgments] for label in reversed(labels)
    ]
    return Confusion(name, labels[::-1], judgments, rows)


def _scale(values: set[int]) -> list[int]:
    return list(range(max(values) + 1)) if max(values) < MANY else sorted(values)
