"""Which label sets are shown of a collection, and which of them comes first."""

from typing import Any

from gradelake.analyses.report.report_queries import ask, ask_by
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_LABEL, did_you_mean
from gradelake.sql.lake.opening import Lake

HALF = 0.5  # of the passages that systems rank high


def newest_rubric(lake: Lake, collection: str) -> int | None:
    """The newest version of the rubric; None where there is none."""
    versions = ask(lake, "newest_rubric", collection=collection)  # none, or one
    return versions[0]["rubric_version"] if versions else None


def shown_label_sets(lake: Lake, collection: str) -> list[dict[str, Any]]:
    """The label sets of assessors, of judges and of the newest rubric: see
    queries/shown_label_sets.sql."""
    asked = {"collection": collection, "rubric_version": newest_rubric(lake, collection)}
    return ask(lake, "shown_label_sets", **asked)


def judged_shares(lake: Lake, collection: str) -> dict[str, float]:
    """label set that has a leaderboard -> how much of what systems rank high it labels."""
    return ask_by(lake, "judged_shares", "label_set", collection=collection)


def opens_on(reference: str | None, judged: dict[str, float]) -> str | None:
    """The label set that comes first: people's, unless most of what systems rank high would count
    as nothing; then the one that labels the most. `judged`: those to choose from."""
    first = reference if reference in judged else next(iter(judged), None)
    if first and judged[first] < HALF:
        return max(judged, key=lambda name: judged[name])
    return first


def chosen_reference(wanted: str | None, shown: list[dict[str, Any]]) -> str | None:
    """The assessor that was asked for, or who judged the most. Raises `BadInput`."""
    names = [row["label_set"] for row in shown]
    if wanted is None:
        of_people = [row for row in shown if row["kind"] == "assessor"]
        most = min(of_people, key=lambda row: (-row["n_labels"], row["label_set"]), default=None)
        return most["label_set"] if most else None
    if wanted not in names:
        raise BadInput(f"there is no label set {wanted!r}", did_you_mean(wanted, names, TO_LABEL))
    if not wanted.startswith("assessor:"):
        raise BadInput(
            f"the reference must be an assessor; {wanted!r} is not one",
            "gradelake stats correlation and scatter compare judges with each other.",
        )
    return wanted
