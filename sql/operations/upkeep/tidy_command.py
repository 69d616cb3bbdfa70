"""`gradelake lake tidy`: merge small files, drop old releases, delete what nobody needs."""

import click

from gradelake.sql.common import console
from gradelake.sql.common.counted import counted


@click.command(short_help="Merge small files, drop old releases, free what nobody needs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def tidy(project, as_json):
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
    from dataclasses import asdict

    with console.working("tidying"):
        from gradelake.sql.operations.upkeep.retention import maintain

        tell = (lambda step: None) if as_json else (lambda step: console.tell(f"{step} ..."))
        done = maintain(project(), tell=tell)
    if as_json:
        console.print_json(asdict(done))
        return
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
            f"{counted(done.files_waiting, 'files', 'wait')} until nobody can be at reading them"
        )


def _signed(n: int) -> str:
    return f"{console.size(n)} freed" if n >= 0 else f"{console.size(-n)} more are in use"
