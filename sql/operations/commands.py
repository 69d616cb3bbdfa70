"""`gradelake log`: what was committed to a lake."""

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing


def _show(found) -> None:
    columns = ["version", "committed_at", "author", "message", "release"]
    rows = [
        commit | {"committed_at": f"{commit['committed_at']:%Y-%m-%d %H:%M:%S}"}
        for commit in found["commits"]
    ]
    console.print_table(columns, [list(row.values()) for row in rows])


@click.command(short_help="List what was committed to the lake, newest first.")
@click.option("--limit", "-n", type=click.IntRange(1), default=20, help="How many commits to list.")
@answering(_show)
@click.pass_obj
def log(project, limit):
    """List what was committed to the lake, newest first, and the releases readers can ask for.

    A sitting of `gradelake review` commits every verdict, and is one line here: its last commit.
    Versions that `gradelake lake tidy` has let go are not listed; `gradelake release list` says
    more about releases.

    \b
    Examples:
      gradelake log
      gradelake log --limit 100 --json
    """
    project = project()
    with Lake.readable(project) as lake:
        # a release that was dropped, or never published, has a commit but cannot be read
        names = [r.name for r in publishing.available(project, lake.connection)]
        commits = lake.objects(
            """
            with commits as (
                select
                    *,
                    json_extract_string(commit_extra_info, '$.release') as release,
                    json_extract_string(commit_extra_info, '$.invocation_id') as invocation_id
                from lake.snapshots()
                where commit_message is not null
            )
            select
                snapshot_id as version,
                snapshot_time::timestamp as committed_at,
                author,
                commit_message as message,
                case when list_contains($names, release) then release end as release
            from commits
            qualify
                invocation_id is null
                or row_number() over (partition by invocation_id order by snapshot_id desc) = 1
            order by snapshot_id desc
            limit $limit
            """,
            names=names,
            limit=limit,
        )
    return {"commits": commits}
