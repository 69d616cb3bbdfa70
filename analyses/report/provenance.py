"""Where the report's figures come from, and how to get them again."""

import json
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from analyses.report.queries import ask
from sql import releases
from sql.lake import Lake
from sql.project import Project


@dataclass(frozen=True)
class Provenance:
    """`release` is None where the working catalog was read; `snapshot` is its version number."""

    collection: dict[str, Any]
    graders: list[dict[str, Any]]
    rubric_versions: list[dict[str, Any]]
    cost: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    release: str | None
    snapshot: int
    committed_at: str
    compared_with: str | None
    gradelake: str
    commands: list[str]


def read_provenance(
    lake: Lake, collection: str, release: releases.Release | None, compared_with: str | None
) -> Provenance:
    """Raises what reading the lake raises; the collection must be in it."""
    snapshot = release.snapshot if release else lake.newest_snapshot()
    at = release.published_at if release else _committed_at(lake, snapshot)
    name = shlex.quote(collection)
    source = f"--release {shlex.quote(release.name)}" if release else "--live"
    graders = ask(lake, "graders", collection=collection)
    for grader in graders:
        grader["decoding"] = _readable(grader["decoding"])
    return Provenance(
        collection=ask(lake, "size", collection=collection)[0],
        graders=graders,
        rubric_versions=ask(lake, "rubric_versions", collection=collection),
        cost=ask(lake, "cost", collection=collection),
        failures=ask(lake, "failures", collection=collection),
        release=release and release.name,
        snapshot=snapshot,
        committed_at=f"{at:%Y-%m-%d %H:%M} UTC",
        compared_with=compared_with,
        gradelake=version("gradelake"),
        commands=[
            f"gradelake report {name} {source}",
            f"gradelake sql @leaderboard --collection {name} {source}",
            f"gradelake sql @correlation --collection {name} {source}",
            f"gradelake export qrels {name} --all qrels {source}",
        ],
    )


def earlier_release(project: Project, lake: Lake) -> str | None:
    """The release before the one that is read, or the newest when that is the working catalog."""
    found = releases.available(project, lake.connection)
    if lake.release is None:
        return found[-1].name if found else None
    names = [release.name for release in found]
    before = names[: names.index(lake.release)] if lake.release in names else []
    return before[-1] if before else None


def _committed_at(lake: Lake, snapshot: int):
    return lake.value(
        "select snapshot_time::timestamp from lake.snapshots() where snapshot_id = ?", snapshot
    )


def _readable(decoding: str | None) -> str:
    """`temperature 0, max_tokens 100` instead of JSON."""
    if not decoding:
        return ""
    settings = json.loads(decoding)
    return ", ".join(f"{name} {value}" for name, value in settings.items())
