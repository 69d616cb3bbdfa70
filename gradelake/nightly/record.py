"""A night's row in `raw.pipeline_runs`: written before anything else, closed at its end."""

import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count
from typing import Any

from gradelake.grading.probe.probe import Probe
from gradelake.grading.sentinel.sentinel import OF_PROBES, read_watched
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing

COMMAND = "nightly"
KILLED = "killed: it never came to its end"
COUNTED = ("pairs", "failed", "recovered", "tokens", "cached_tokens")  # of what a grader did


@dataclass
class Night:
    """A night that has begun. `name` is also the name of the release that it publishes."""

    run_id: str
    name: str
    started_at: datetime
    compare_with: str | None  # release of the last night, or else the newest there is
    killed: list[dict[str, Any]] = field(default_factory=list)  # nights that were, before this one
    idle: dict[str, Any] | None = None  # what the last night planned, where nothing was to do


def begin(project: Project, arguments: list[str]) -> Night:
    """Write the night's row, making the lake where there is none. Hold the night's lock.

    Since nobody else holds it, a row that says `running` is of a night that was killed: it is
    marked failed.
    """
    with Lake.create(project) as lake, lake.lock("gradelake nightly"):
        started_at = utc_now()
        before = _nights(lake)
        # night-YYYY-MM-DD (UTC), or with -2, -3, ... what neither a night nor a release has
        taken = {night["night"] for night in before} | publishing.names(project, lake.connection)
        day = f"night-{started_at:%Y-%m-%d}"
        later = (f"{day}-{number}" for number in count(2))
        name = next(name for name in chain([day], later) if name not in taken)
        run_id = uuid.uuid4().hex
        killed = [
            {"night": n["night"], "run_id": n["run_id"], "started_at": n["started_at"].isoformat()}
            for n in before
            if n["state"] == "running"
        ]
        with lake.transaction("nightly", f"{name} begins") as transaction:
            if killed:
                transaction.run(
                    "update {lake}.raw.pipeline_runs set state = 'failed', error = ? "
                    "where command = ? and state = 'running'",
                    KILLED,
                    COMMAND,
                )
            transaction.run(
                "insert into {lake}.raw.pipeline_runs values (?, ?, ?, ?, ?, ?, ?, ?)",
                run_id,
                COMMAND,
                json.dumps(arguments),
                "running",
                json.dumps({"night": name}),
                None,
                started_at,
                None,
            )
        # the newest release of a night that can be read; where there is none, what readers get
        there = {release.name for release in publishing.available(project, lake.connection)}
        of_nights = (night["release"] for night in before if night["release"] in there)
        compare_with = next(of_nights, None) or publishing.read_by_default(project, lake.connection)
    idle = json.loads(before[0]["idle"] or "null") if before else None
    return Night(run_id, name, started_at, compare_with, killed, idle)


def end(
    project: Project, night: Night, state: str, counts: dict[str, Any], error: str | None
) -> None:
    """Close the night's row."""
    numbers = {name: n for name, n in counts.items() if isinstance(n, int)}
    with (
        Lake.writer(project) as lake,
        lake.transaction("nightly", f"{night.name} {state}") as transaction,
    ):
        transaction.run(
            "update {lake}.raw.pipeline_runs "
            "set state = ?, counts = ?, error = ?, finished_at = ? where run_id = ?",
            state,
            json.dumps({"night": night.name} | counts),
            error,
            utc_now(),
            night.run_id,
        )
        transaction.say(**numbers)


def collections_in(project: Project) -> set[str]:
    """Collections that the lake has."""
    with Lake.live(project) as lake:
        return set(lake.column("select collection from lake.raw.collections"))


def committed(project: Project, collection: str, grader: str, since: datetime) -> dict[str, int]:
    """What a grader committed since then, for one that died without a result."""
    with Lake.live(project) as lake:
        (counts,) = lake.rows(
            """
            select
                coalesce(sum(ok + unanswerable + defaulted + failed), 0),
                coalesce(sum(failed), 0),
                0,
                coalesce(sum(tokens), 0),
                coalesce(sum(cached_tokens), 0)
            from lake.raw.grading_runs
            inner join lake.raw.graders using (grader_id)
            where collection = ? and name = ? and started_at >= ?
            """,
            collection,
            grader,
            since,
        )
    return {name: int(n) for name, n in zip(COUNTED, counts, strict=True)}


def drifts(project: Project, since: datetime) -> list[dict[str, Any]]:
    """Judges whose newest whole round of a sentinel ended since then, and is an alarm."""
    with Lake.live(project) as lake:
        return lake.objects(
            """
            select
                collection, sentinel, grader, round, drift_round,
                cast(drift_began_at as date)::varchar as drift_began_on,
                agreement_before, agreement_since, kappa_before, kappa_since,
                flips_evidence, agreement_evidence, threshold
            from lake.marts.judge_drift
            where is_whole and finished_at >= ?
            qualify is_alarm and row_number() over (
                partition by collection, sentinel, grader order by round desc
            ) = 1
            order by collection, sentinel, grader
            """,
            since,
        )


def fooled(project: Project, since: datetime) -> list[dict[str, Any]]:
    """Judges whose newest whole round of a probe ended since then, and shows an attack that makes
    passages relevant more often than `[probes.NAME]` bears; with the attack that does so most."""
    found = []
    with Lake.live(project) as lake:
        for name in project.probes:
            probe = read_watched(Probe, project, "probes", name)
            found += lake.objects(
                """
                select
                    collection, $name as probe, grader, round, attack, n_below, crossed_share,
                    crossed_share_low, crossed_share_high, crossed_again_share
                from lake.marts.judge_probes
                inner join lake.marts.graders using (grader)
                where
                    is_whole
                    and not is_relevant
                    and finished_at >= $since
                    and collection = $collection
                    and list_contains($graders, name)
                    and (probe || '/').starts_with($set_name)
                    and crossed_share_low > $most_fooled
                qualify row_number() over (
                    partition by grader order by round desc, crossed_share desc, attack
                ) = 1
                order by grader
                """,
                name=name,
                since=since,
                collection=probe.collection,
                graders=probe.graders,
                set_name=f"{OF_PROBES}{probe.size}/{probe.seed}/",
                most_fooled=probe.most_fooled,
            )
    return found


def _nights(lake: Lake) -> list[dict[str, Any]]:
    return lake.objects(
        """
        select
            run_id, state, started_at,
            json_extract_string(counts, '$.night') as night,
            json_extract_string(counts, '$.release') as release,
            json_extract(counts, '$.idle') as idle
        from lake.raw.pipeline_runs
        where command = ?
        order by started_at desc
        """,
        COMMAND,
    )
