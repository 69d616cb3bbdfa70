"""What graders have still to do on a collection: the capability behind `gradelake plan`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradelake.grading.graders.configured import configured, judges
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.planner import GradingPlan, NothingToGrade, check_queries, ensure_views
from gradelake.grading.plan.request import GradingRequest, Totals
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


@dataclass(frozen=True)
class Plans:
    """Plans of graders, and why others have none; None: of a grader, and all its trials."""

    collection: str
    plans: list[tuple[Grader, Totals]]
    refused: list[tuple[str, BadInput]] | None = None

    def as_object(self) -> dict[str, Any]:
        """What `plan --json` prints, and `grade --dry-run --json`."""
        plans = [totals.as_object(grader) for grader, totals in self.plans]
        found: dict[str, Any] = {"collection": self.collection, "plans": plans}
        if self.refused is not None:
            found["refused"] = [
                {
                    "grader": name,
                    "reason": error.message,
                    "nothing_to_grade": isinstance(error, NothingToGrade),
                }
                for name, error in self.refused
            ]
        elif len(plans) == 1:
            found["plan"] = found.pop("plans")[0]
        return found


def identities(project: Project, lake: Lake, collections: Sequence[str]) -> list[list[str]]:
    """All that may grade collections: the id of each, or why it cannot be used."""
    found = []
    for collection in collections:
        for name in judges(project, collection):
            try:
                identity = configured(project, lake, name).grader_id
            except BadInput as error:
                identity = str(error)
            found.append([collection, name, identity])
    return found


def plan(
    project: Project,
    collection: str,
    graders: Sequence[str] = (),
    queries: tuple[str, ...] | None = None,
    rubric_version: int | None = None,
    limit: int | None = None,
) -> Plans:
    """Plan graders of gradelake.toml; without `graders`, all that may grade the collection.

    Raises `BadInput` for a collection or query that the lake does not have, and where the only
    grader that is named cannot be planned.
    """
    plans, refused = [], []
    with console.working("planning"), Lake.writer(project) as lake:
        check_queries(lake, collection, queries)
        ensure_views(lake)
        with lake.one_state():  # DuckDB reads the catalog once
            for name in graders or judges(project, collection):
                try:
                    grader = configured(project, lake, name)
                    request = GradingRequest(collection, grader, rubric_version, queries, limit)
                    plans.append((grader, GradingPlan(lake, request).totals))
                except BadInput as error:
                    if len(graders) == 1:
                        raise
                    refused.append((name, error))
    return Plans(collection, plans, refused)
