"""What of the rubric asks for a look: items that mislead, passages that are missed."""

from dataclasses import dataclass
from typing import Any

from gradelake.analyses.report.report_queries import ask
from gradelake.sql.lake.lake import Lake

TAU = 4  # a grade of tau or more answers an item (RUBRIC, Farzi and Dietz 2024); or the next lower
SHOWN = 15  # rows of each list


@dataclass(frozen=True)
class Health:
    """A grader's view of a rubric: counts by tau, and how each list begins at `tau`."""

    grader: str
    tau: int
    n_items: int
    by_tau: list[dict[str, Any]]
    spurious: list[dict[str, Any]]
    uncovered: list[dict[str, Any]]
    never_covered: list[dict[str, Any]]

    @property
    def counts(self) -> dict[str, Any]:
        """The counts at `tau`."""
        return next(row for row in self.by_tau if row["tau"] == self.tau)


def read_health(
    lake: Lake, collection: str, rubric_version: int | None, assessor: str | None
) -> list[Health]:
    """Of every grader that has graded items. Without an assessor nothing is known to be relevant:
    no item is spurious then, no passage uncovered."""
    by_grader: dict[str, list[dict[str, Any]]] = {}
    of = {"collection": collection, "rubric_version": rubric_version}
    for row in ask(lake, "rubric_health", assessor=assessor, **of):
        by_grader.setdefault(row["grader"], []).append(row)
    found = []
    for grader, rows in by_grader.items():
        taus = [row["tau"] for row in rows]
        tau = max((tau for tau in taus if tau <= TAU), default=min(taus))
        chosen = of | {"grader": grader, "tau": tau, "rows": SHOWN}
        found.append(
            Health(
                grader,
                tau,
                rows[0]["n_items"],
                rows,
                ask(lake, "spurious_items", assessor=assessor, **chosen),
                ask(lake, "uncovered_passages", assessor=assessor, **chosen),
                ask(lake, "never_covered_items", **chosen),
            )
        )
    return found
