"""Looking after a lake: `gradelake lake verify|backup|restore|recover|copy|tidy`."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, typed, without_project
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.common.quoting import shell_word


def _timed(what: str, work: Callable[[], Any]) -> Any:
    """Do something under a spinner; the result says how many seconds it took."""
    started = time.monotonic()
    with console.working(what):
        done = work()
    done.seconds = round(time.monotonic() - started, 3)
    return done


def _warned(done: Any) -> Any:
    """Print a result's warnings, which stand beside it on standard error."""
    for warning in done.warnings:
        console.warn(f"warning: {warning}")
    return done


@click.group()
def lake():
    """Look after a lake: check it, back it up, bring it elsewhere.

    \b
    Examples:
      gradelake lake verify
      gradelake lake backup /backups/dl19
    """


def _show_verified(done) -> None:
    from gradelake.sql.operations.upkeep.verify import line

    for note in done.notes:
        console.say(f"note {note}")
    for fault in done.faults:
        console.say(f"BAD  {line(fault)}")
        console.say(f"       {fault.hint}")
    how = "every column read, hashes compared" if done.deep else "sizes and footers read"
    if done.compared:
        how += f", {done.compared:,} compared with the backup"
    console.say(
        f"{counted(len(done.catalogs), 'catalogs')} ({', '.join(done.catalogs)}), "
        f"{counted(done.files, 'files')} of "
        f"{console.size(done.bytes)} ({how}), {sum(done.tables.values()):,} raw rows in "
        f"{console.duration(done.seconds)}",
        wrap=True,
    )
    if done.deep and done.unhashed:
        console.say(
            f"{counted(done.unhashed, 'files', 'have')} no hash to compare with yet: the next "
            "build records one",
            wrap=True,
        )
    if done.unhashed_in_catalog:
        what = counted(done.unhashed_in_catalog, "small commits or releases", "have")
        console.say(f"{what} no hash to compare with yet: the next build records one", wrap=True)
    if done.orphans:
        console.say(
            f"{counted(done.orphans, 'files')} of {console.size(done.orphan_bytes)} that no "
            "catalog names: being written now, or left by a killed process (`gradelake lake tidy` "
            "removes those)",
            wrap=True,
        )
    console.say(counted(len(done.faults), "faults") if done.faults else "the lake is sound")


@lake.command(short_help="Check that every file of the lake is there and whole.")
@click.option("--deep", is_flag=True, help="Read every file, and check its hash.")
@click.option(
    "--against",
    metavar="BACKUP",
    type=click.Path(exists=True, path_type=Path),
    help="Also compare the files' bytes with a backup's hashes.",
)
@answering(_show_verified)
@click.pass_obj
def verify(project, deep, against):
    """Check that every file which the lake and its releases name is there and whole.

    Also that the catalogs are sound, that the raw rows keep their contracts, and that the grades
    agree with their ledger. Only reads, and waits for nobody. Exit code 1 when something is wrong.

    A byte that was flipped inside a Parquet file often reads as another value, without an error.
    --deep finds every one: each file has the hash that it had when it was committed. --against
    compares the files with a backup's hashes, too.

    \b
    Examples:
      gradelake lake verify
      gradelake lake verify --deep --against /backups/dl19
    """
    from gradelake.sql.operations.upkeep.verify import verify as run_verify

    return _timed("looking at every file", lambda: run_verify(project(), deep, against))


def _show_backup(done) -> None:
    releases = ", ".join(done.releases) or "none yet"
    console.say(f"backed up version {done.snapshot} (releases: {releases}) to {done.place}")
    console.say(
        f"{counted(done.files, 'files')} of {console.size(done.bytes)}, {done.copied:,} of them "
        f"new ({console.size(done.copied_bytes)}), in {console.duration(done.seconds)}"
    )


@lake.command(short_help="Back up the newest commit and every kept release.")
@click.argument("place", metavar="FOLDER", type=click.Path(path_type=Path))
@answering(_show_backup)
@click.pass_obj
def backup(project, place):
    """Back up the newest commit, every kept release, and what people keep beside the lake.

    A folder gets only the files that it does not have yet; until the new backup is whole, the
    former one holds. Work on the lake goes on meanwhile. Collections' own files (runs, judgments)
    are not in it: the lake has what was ingested.

    \b
    Examples:
      gradelake lake backup /backups/dl19
    """
    from gradelake.sql.operations.upkeep.backup import backup as run_backup

    return _warned(_timed("backing up", lambda: run_backup(project(), place)))


def _show_restored(done) -> None:
    console.say(
        f"restored version {done.manifest.snapshot}, backed up {done.manifest.made_at}Z, in "
        f"{done.project.folder}"
    )
    done.verified.seconds = done.seconds
    _show_verified(done.verified)


@lake.command(short_help="Make a project folder from a backup.")
@click.argument("backup", metavar="BACKUP", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@answering(_show_restored)
@without_project
def restore(backup, folder):
    """Make a project folder from a backup: gradelake.toml, the seeds, and a SQLite lake.

    Every hash is checked first, and the restored lake afterwards. FOLDER must be new or empty.
    `gradelake lake copy` brings the lake on to a PostgreSQL catalog.

    \b
    Examples:
      gradelake lake restore /backups/dl19 dl19-restored
    """
    from gradelake.sql.operations.upkeep.restore import restored

    return _timed("restoring", lambda: restored(backup, folder))


def _show_recovered(done) -> None:
    console.say(
        f"the working catalog is release {done.release} now: version {done.snapshot}, published "
        f"{done.published_at:%Y-%m-%d %H:%M:%S}"
    )
    if done.set_aside:
        console.say(f"what was in its place is in {done.set_aside[0]}")
    if done.commits:
        console.say("\ngone from it, and known to a later release:")
        columns = ["version", "committed_at", "message"]
        rows = [(c["version"], c["committed_at"][:19], c["message"]) for c in done.commits]
        console.print_table(columns, rows)
    if done.gone:
        console.say(
            "\ngone: rows of data files that it does not know (ingest and grade them again; "
            "`gradelake lake tidy` deletes the files after a day)"
        )
        columns = ["table", "collection", "rows"]
        console.print_table(columns, [[row[each] for each in columns] for row in done.gone])
    if not done.commits and not done.gone:
        console.say("no data file has rows that it lacks; small commits after it may be gone")
    console.hint("next: gradelake lake verify")


@lake.command(short_help="Make a lost working catalog anew from a release.")
@click.option("--from", "name", metavar="RELEASE", required=True, help="Its name, or `published`.")
@answering(_show_recovered)
@click.pass_obj
def recover(project, name):
    """Make the working catalog anew from RELEASE, where it is missing, damaged or another lake's.

    What was committed after the release is gone; it counts the rows whose files are still there.
    What is in the catalog's place is set aside, not deleted.

    \b
    Examples:
      gradelake lake recover --from r3
    """
    from gradelake.sql.operations.upkeep.recover import recover as run_recover

    with console.working("recovering"):
        return run_recover(project(), name)


def _show_copied(done) -> None:
    if done.finished_before:
        console.say(f"this lake was copied there already, at version {done.snapshot}")
        if done.later_commits:
            raise WorkFailed(
                f"commits in the source since: {done.later_commits:,}", "Copy into an empty lake."
            )
        return
    rows = [
        (table, n, "before" if table in done.before else "now")
        for table, n in (done.before | done.tables).items()
        if n
    ]
    console.print_table(["table", "rows", "copied"], rows)
    console.say(
        f"copied version {done.snapshot} in {console.duration(done.seconds)}; counts and contents "
        "are the same"
    )
    if done.chunks:
        console.say(f"replies of {done.chunks:,} chunks that wait to be committed were copied too")
    if done.seeds:
        console.say(f"seeds copied: {', '.join(done.seeds)}")
    if done.later_commits:
        console.warn(f"later commits of the source, which are not there: {done.later_commits:,}")
    console.hint(f"next: {done.next}")


@lake.command(short_help="Bring the raw tables into another, empty lake.")
@click.argument("to", metavar="TO.toml", type=click.Path(path_type=Path))
@answering(_show_copied)
@click.pass_obj
def copy(project, to):
    """Bring the raw tables into the lake that another gradelake.toml names.

    SQLite to PostgreSQL and S3, or back. Work goes on there where it was: what is ingested is
    known, and no grade is paid for twice. The target must be empty; an interrupted copy goes on.
    Releases and marts stay behind: a build makes new ones.

    \b
    Examples:
      gradelake lake copy team.toml
      gradelake --config team.toml build
    """
    from gradelake.sql.operations.upkeep.lake_copy import copy as run_copy

    source, target = project(), Project.find(to)
    done = _timed("copying", lambda: run_copy(source, target, typed()))
    done.next = f"gradelake --config {shell_word(to)} build"
    return _warned(done)


def _show_tidied(done) -> None:
    console.say(f"merged {counted(done.files_merged, 'small files')}")
    console.say(
        f"dropped {counted(done.releases_dropped, 'releases')} and "
        f"{counted(done.snapshots_expired, 'older versions')}"
    )
    freed = "" if done.bytes_freed is None else f"; {_signed(done.bytes_freed)}"
    orphans = f", {done.orphans_deleted:,} of them orphans" if done.orphans_deleted else ""
    deleted = counted(done.files_deleted + done.orphans_deleted, "files")
    console.say(f"deleted {deleted}{orphans}{freed}")
    if done.files_held:
        console.say(f"left {counted(done.files_held, 'files')} that only releases read")
    if done.files_waiting:
        console.say(
            f"{counted(done.files_waiting, 'files', 'wait')} until nobody can still be reading them"
        )


def _signed(n: int) -> str:
    return f"{console.size(n)} freed" if n >= 0 else f"{console.size(-n)} more are in use"


@lake.command(short_help="Merge small files, drop old releases, free what nobody needs.")
@answering(_show_tidied)
@click.pass_obj
def tidy(project):
    """Merge small files, drop old releases, and delete files that nobody needs any more.

    How many of the newest releases stay, beside those kept with `gradelake release keep`, and how
    long files stay that nothing needs, is set in gradelake.toml:

    \b
      [lake]
      keep_releases = 14
      keep_days = 1

    Writers wait until it is done; readers do not notice.

    \b
    Examples:
      gradelake lake tidy
    """
    from gradelake.sql.operations.upkeep.retention import maintain

    with console.working("tidying"):
        return maintain(project())
