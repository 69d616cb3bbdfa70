"""`gradelake log`: what was committed to a lake."""

import click

from gradelake.sql.common import console
from gradelake.sql.lake.lake import Lake
from gradelake.sql.releases import releases


@click.command(short_help="List what was committed to the lake, newest first.")
@click.option("--limit", "-n", default=20, show_default=True, help="How many commits.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def log(project, limit, as_json):
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
        names = [r.name for r in releases.available(project, lake.connection)]
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
    if as_json:
        console.print_json({"commits": commits})
        return
    for commit in commits:
        commit["committed_at"] = f"{commit['committed_at']:%Y-%m-%d %H:%M:%S}"
    columns = ["version", "committed_at", "author", "message", "release"]
    console.print_table(columns, [list(commit.values()) for commit in commits])
