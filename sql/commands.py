"""The lake's commands: build, sql, log, doctor."""

import sys
import time
from pathlib import Path

import click

from sql import asking, book, console, releases
from sql.counted import counted
from sql.errors import BadInput, WorkFailed
from sql.lake import Lake
from sql.node_progress import NodeProgress
from sql.project import did_you_mean
from sql.shell import session
from sql.shell.commands import print_book


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--name", help="Name of the release (default: the next of r1, r2, ...).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("dbt_arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def build(project, name, as_json, dbt_arguments):
    """Derive the marts with dbt and publish them to readers.

    Extra arguments go to `dbt build`; one that selects a part of the models builds that part in
    the working catalog only, and publishes nothing. --verbose shows dbt's own log.

    \b
    Examples:
      gradelake build
      gradelake build --name before-the-deadline
      gradelake build --select leaderboard_correlation
    """
    project = project()
    started = time.monotonic()
    verbose = console.wishes.verbose and not as_json  # dbt writes where the object goes
    with NodeProgress(quiet=as_json or verbose) as on_node:
        from sql.build import build as run_build

        built = run_build(
            project, list(dbt_arguments), sys.argv[1:], name=name, on_node=on_node, verbose=verbose
        )
    seconds = time.monotonic() - started
    if as_json:
        console.print_json(
            {"release": built.release, "snapshot": built.snapshot, "seconds": round(seconds, 3)}
            | built.counts
            | {"seconds_by_node": built.seconds}
        )
        return
    parts = ", ".join(counted(n, kind.replace("_", " ")) for kind, n in built.counts.items())
    console.say(f"built {parts} in {console.duration(seconds)}")
    if built.release:
        console.say(f"published release {built.release}")
    else:
        console.say("a partial build: not published (readers keep the last release)")


class _Asking(click.Command):
    """`--help` beside a question of the book tells of that question."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        asked = next((word[1:] for word in args if word.startswith("@") and word != "@"), None)
        if asked and {"--help", "-h"} & set(args):
            console.say(book.entry(asked).help("gradelake sql "))
            context.exit()
        return super().parse_args(context, args)


@click.command(
    cls=_Asking,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.option("--format", "format_", default="table", show_default=True,
              type=click.Choice([*console.FORMATS, "parquet"]),
              help="How rows are written.")  # fmt: skip
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
@click.option("--release", help="Read a named release instead of the newest.")
@click.option("--live", is_flag=True, help="Read the working catalog, perhaps a build half-way.")
@click.argument("query", required=False)
@click.pass_context
def sql(context, format_, output, release, live, query):
    """Ask the lake: SQL, or a question of the query book. Without either, a shell.

    Reads the newest release; `marts` is the default schema, so its tables need no prefix. On a
    terminal texts are shortened to its width: `--format line` or `json` shows all of them.

    \b
    Examples:
      gradelake sql "select * from leaderboard where rank = 1"
      gradelake sql @leaderboard --measure AP --level 2
      gradelake sql @                    # the questions of the query book
      gradelake sql @leaderboard --help  # what it asks, and its parameters
      gradelake sql --format csv @correlation > correlation.csv
      gradelake sql "select * from leaderboard at (version => 12)" --live
    """
    if query == "@":
        print_book("gradelake sql ")
        return
    is_question = query is not None and query.startswith("@")
    given = book.parameters(context.args) if is_question else {}
    if context.args and not is_question:
        options = [word for word in (query, *context.args) if word.startswith("-")]
        if options:
            raise BadInput(f"no option {options[0]!r}", did_you_mean(options[0], _options(context)))
        raise BadInput(f"unexpected argument {context.args[0]!r}", "Quote the query as one word.")
    if format_ == "parquet" and query is not None and not output:
        raise BadInput("--format parquet writes a file", "Add --output FILE.parquet.")
    with Lake.reading(context.obj(), release, live) as lake:
        lake.connection.execute("USE lake.marts")
        if query is None:
            session.run(lake, format_, output, release is not None)
            return
        if not is_question:
            _ask(lake, asking.one_statement(query), None, format_, output)
            return
        options = [option.removeprefix("--") for option in _options(context)]
        with asking.lake_of(lake, book.entry(query[1:]), release is not None) as asked:
            statement, values = book.asked(asked, query[1:], given, options)
            _ask(asked, statement, values, format_, output)


def _ask(lake, statement, values, format_, output) -> None:
    found = asking.relation(lake, statement, values)
    if found is None:
        raise BadInput("this statement returns no rows", "The lake is open for reading only.")
    with console.working("asking the lake"):
        if output:
            asking.write(found, format_, output)
            return
        asking.in_words(found.execute)
    if not asking.answer(found, format_):
        asking.tell_what_is_not_built(lake)


def _options(context: click.Context) -> list[str]:
    long = [name for each in context.command.params for name in each.opts if name[:2] == "--"]
    return sorted(long)


@click.command(short_help="List what was committed to the lake, newest first.")
@click.option("--limit", "-n", default=20, show_default=True, help="How many commits.")
@click.option("--all", "show_all", is_flag=True, help="Also every model of every build.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def log(project, limit, show_all, as_json):
    """List what was committed to the lake, newest first, and the releases readers can ask for.

    Versions that `gradelake lake tidy` has let go are not listed; `gradelake release list` tells
    more of releases.

    \b
    Examples:
      gradelake log
      gradelake log --limit 100 --json
    """
    project = project()
    try:
        lake = Lake.live(project)
    except WorkFailed:  # no right to open the working catalog: the release tells up to itself
        lake = Lake.published(project)
    with lake:
        # a release that was dropped, or never published, has a commit but cannot be read
        names = [r.name for r in releases.available(project, lake.connection)]
        rows = lake.rows(
            """
            with commits as (
                select
                    *,
                    json_extract_string(commit_extra_info, '$.release') as release
                from lake.snapshots()
            )
            select
                snapshot_id,
                snapshot_time::timestamp as committed_at,
                author,
                commit_message,
                case when list_contains($names, release) then release end as release
            from commits
            where
                $show_all
                or (
                    commit_message is not null
                    and json_extract_string(commit_extra_info, '$.invocation_id') is null
                )
            order by snapshot_id desc
            limit $limit
            """,
            names=names, show_all=show_all, limit=limit,
        )  # fmt: skip
    columns = ["version", "committed_at", "author", "message", "release"]
    if as_json:
        console.print_json({"commits": [dict(zip(columns, row, strict=True)) for row in rows]})
        return
    shown = [(v, f"{at:%Y-%m-%d %H:%M:%S}", a, m, r) for v, at, a, m, r in rows]
    console.print_table(columns, shown)


@click.command(short_help="Check the installation, the configuration and the lake.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def doctor(project, as_json):
    """Check the installation, the configuration and the lake; say what to do about each finding.

    \b
    Examples:
      gradelake doctor
      gradelake --config team.toml doctor --json
    """
    with console.working("looking"):
        from sql.doctor import examine

        findings = examine(project)
    failed = any(finding.state == "bad" for finding in findings)
    if as_json:
        console.print_json({"ok": not failed, "findings": [vars(finding) for finding in findings]})
    else:
        for finding in findings:
            mark = {"good": "ok  ", "note": "note", "bad": "BAD "}[finding.state]
            console.say(f"{mark} {finding.what}")
            if finding.hint:
                console.say(f"       {finding.hint}")
    if failed:
        sys.exit(1)
