"""Leaderboards for the report: scores, ranks, how ranks moved, how boards agree."""

from typing import Any

from gradelake.analyses.choosing import measures
from gradelake.analyses.report.report_queries import ask
from gradelake.sql.lake.lake import Lake

Key = tuple[str, int, str]  # label set, level, measure


def read_boards(
    lake: Lake, before: Lake | None, collection: str, label_sets: list[str]
) -> dict[str, dict[str, Any]]:
    """The boards of each label set, as the page reads them.

    label set -> {systems: [name], queries: {measure: n}, measures: [name], boards: {level:
    {measure: {score, stderr, rank, before: [one per system]}}}}. A system's place in `before`
    is None where it was not on that board in the earlier release; without one, all are.
    """
    wanted, in_order = set(label_sets), measures(lake)
    earlier = ask(before, "boards", collection=collection) if before else []
    ranks = {(*_key(row), row["system"]): row["rank"] for row in earlier}
    cells: dict[Key, dict[str, dict]] = {}
    systems: dict[str, set[str]] = {}
    sizes: dict[str, dict[str, int]] = {}
    for row in ask(lake, "boards", collection=collection):
        if row["label_set"] in wanted:
            cells.setdefault(_key(row), {})[row["system"]] = row
            systems.setdefault(row["label_set"], set()).add(row["system"])
            sizes.setdefault(row["label_set"], {})[row["measure"]] = row["n_queries"]
    found: dict[str, dict[str, Any]] = {}
    for name in label_sets:
        if name in systems:
            scored = {measure for label_set, _, measure in cells if label_set == name}
            found[name] = {
                "systems": sorted(systems[name]),
                "queries": sizes[name],
                "measures": [measure for measure in in_order if measure in scored],
                "boards": {},
            }
    for key, by_system in cells.items():
        name, level, measure = key
        rows = [by_system.get(system) for system in found[name]["systems"]]
        found[name]["boards"].setdefault(level, {})[measure] = {
            "score": [row and row["score_4dp"] for row in rows],
            "stderr": [row and row["stderr"] for row in rows],
            "rank": [row and row["rank"] for row in rows],
            "before": [row and ranks.get((*key, row["system"])) for row in rows],
        }
    return found


def _key(row: dict[str, Any]) -> Key:
    return row["label_set"], row["level"], row["measure"]


def read_agreement(lake: Lake, collection: str, reference: str | None) -> dict[str, dict]:
    """label set -> level -> measure -> how its board agrees with the reference's."""
    found: dict[str, dict] = {}
    if reference is None:
        return found
    for row in ask(lake, "board_agreement", collection=collection, reference=reference):
        name, level, measure = row.pop("label_set"), row.pop("level"), row.pop("measure")
        found.setdefault(name, {}).setdefault(level, {})[measure] = row
    return found


def usable_official(official: dict[str, dict[str, float]], boards: dict) -> str | None:
    """The first official leaderboard that ranks two of the boards' systems, or more."""
    systems = {system for board in boards.values() for system in board["systems"]}
    return next((name for name, ranks in official.items() if len(systems & set(ranks)) > 1), None)
