"""Where the report's figures come from, and how to get them again."""

import json
import shlex
from datetime import datetime
from importlib.metadata import version
from typing import Any

from gradelake.analyses.report.report_queries import ask
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing


def read_provenance(
    lake: Lake, collection: str, compared_with: str | None, options: dict[str, Any]
) -> dict[str, Any]:
    """What the page says of where it comes from; the collection must be in the lake.

    `options`: what the command that made the report was told, but for where it read. `release` is
    None where the working catalog was read, `snapshot` its version number, `source` the option
    that reads the same again.
    """
    snapshot, at = read_at(lake)
    name = shlex.quote(collection)
    source = f"--release {shlex.quote(lake.release)}" if lake.release else "--live"
    stated = options | {"--compare-with": compared_with}
    made = shlex.join(
        str(word)
        for pair in stated.items()
        if pair[1] is not None
        for word in (pair[0], *_words(pair[1]))
    )
    graders = ask(lake, "graders", collection=collection)
    for grader in graders:
        grader["settings"] = _readable(grader["settings"])
    return {
        "collection": ask(lake, "size", collection=collection)[0],
        "graders": graders,
        "rubric_versions": ask(lake, "rubric_versions", collection=collection),
        "cost": ask(lake, "cost", collection=collection),
        "failures": ask(lake, "failures", collection=collection),
        "release": lake.release,
        "snapshot": snapshot,
        "committed_at": f"{at:%Y-%m-%d %H:%M} UTC",
        "compared_with": compared_with,
        "gradelake": version("gradelake"),
        "source": source,
        "commands": [
            f"gradelake report {name} {source} {made}".rstrip(),
            f"gradelake sql @leaderboard --collection {name} {source}",
            f"gradelake sql @correlation --collection {name} {source}",
            f"gradelake export qrels {name} --all qrels {source}",
        ],
    }


def earlier_release(project: Project, lake: Lake) -> str | None:
    """The release before the one that is read, or the newest when that is the working catalog."""
    found = publishing.available(project, lake.connection)
    if lake.release is None:
        return found[-1].name if found else None
    names = [release.name for release in found]
    before = names[: names.index(lake.release)] if lake.release in names else []
    return before[-1] if before else None


def read_at(lake: Lake) -> tuple[int, datetime]:
    """(version that is read, when it was committed): of a release, the one that ended its build."""
    ((snapshot, at),) = lake.rows(
        """
        select snapshot_id, snapshot_time::timestamp
        from lake.snapshots()
        where $release is null or json_extract_string(commit_extra_info, '$.release') = $release
        order by snapshot_id desc
        limit 1
        """,
        release=lake.release,
    )
    return snapshot, at


def _readable(recorded: str | None) -> str:
    """`temperature 0, max_tokens 100` instead of JSON."""
    if not recorded:
        return ""
    settings = json.loads(recorded)
    settings |= settings.pop("decoding", None) or {}
    return ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in settings.items()
        if value not in (None, False, {}, [], "")
    )


def _words(value: Any) -> tuple[Any, ...]:
    """What stands behind an option."""
    return () if value is True else value if isinstance(value, tuple) else (value,)
