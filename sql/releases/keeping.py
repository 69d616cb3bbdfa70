"""Which releases stay: those that people keep, the newest ones, and the one that readers get."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import NAME, published_file, release_file
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import author
from gradelake.sql.releases import data_files, publishing
from gradelake.sql.releases.publishing import Release


def kept(lake: Lake) -> set[str]:
    """Names of the releases that stay until somebody drops them."""
    return set(lake.column("select release from lake.raw.kept_releases"))


def overview(project: Project) -> list[dict[str, Any]]:
    """The releases that can be read, newest first, and what is true of each."""
    with Lake.readable(project) as lake:
        found = publishing.available(project, lake.connection)
        marked = kept(lake)
        default = publishing.read_by_default(project, lake.connection)
        alone = bytes_alone(lake, found)
    return [
        {
            "release": each.name,
            "snapshot": each.snapshot,
            "published_at": each.published_at,
            "is_kept": each.name in marked,
            "is_read": each.name == default,
            "bytes_alone": alone[each.name],
        }
        for each in reversed(found)
    ]


def keep(lake: Lake, name: str) -> bool:
    """Mark a release to stay. Returns False when it was marked before.

    Raises `BadInput` when there is no such release.
    """
    with lake.transaction("release", f"keep {name}") as transaction:
        publishing.named(publishing.available(lake.project, lake.connection), name)
        if name in kept(lake):
            return False
        values = (name, author(), utc_now())
        transaction.run("insert into {lake}.raw.kept_releases values (?, ?, ?)", *values)
    return True


def let_go(lake: Lake, name: str) -> bool:
    """Take the mark away again. Returns False when there was none.

    Raises `BadInput` when there is no such release.
    """
    with lake.transaction("release", f"keep --undo {name}") as transaction:
        if name not in kept(lake):
            publishing.named(publishing.available(lake.project, lake.connection), name)
            return False
        transaction.delete("kept_releases", release=name)
    return True


def drop(lake: Lake, name: str, force: bool = False) -> bool:
    """Take a release from its readers; what only it reads is deleted when the lake is tidied.

    Returns False when it was dropped before; what a killed drop left is taken away. Raises
    `BadInput` when there is no such release, when it is the newest or the one that readers get, or
    when it is kept and `force` is not given.
    """
    with lake.lock("gradelake release drop"):
        found = publishing.available(lake.project, lake.connection)
        if name not in {each.name for each in found} and _was_there(lake, name):
            _forget(lake, {name})
            return False
        release = publishing.named(found, name)
        if release.name in _newest(lake, found):
            raise BadInput(
                f"{name!r} is the newest release, which readers get",
                "Publish another one first: gradelake build",
            )
        if name in kept(lake) and not force:
            raise BadInput(
                f"{name!r} is kept", f"Drop it anyway with: gradelake release drop {name} --force"
            )
        _remove(lake, [release])
    return True


def _was_there(lake: Lake, name: str) -> bool:
    """Whether a release that readers no longer get was published: not one whose build died first,
    which the next build publishes."""
    later = [each.name for each in publishing.listed(lake.connection)][-1:]
    return name in publishing.built(lake.connection) and name not in later


def drop_old(lake: Lake, n_newest: int) -> list[Release]:
    """Drop all releases but the newest ones and the kept ones; returns them. Under the lock."""
    found = publishing.available(lake.project, lake.connection)
    staying = kept(lake) | _newest(lake, found) | {r.name for r in found[-n_newest:]}
    old = [release for release in found if release.name not in staying]
    if old:
        _remove(lake, old)
    return old


def _newest(lake: Lake, found: list[Release]) -> set[str]:
    """The newest release of the working catalog, and the one that readers get if that is
    another."""
    there = {release.name for release in found}
    ours = [each.name for each in publishing.listed(lake.connection) if each.name in there]
    default = publishing.read_by_default(lake.project, lake.connection)
    return {*ours[-1:], *([default] if default else [])}


def _remove(lake: Lake, dropped: list[Release]) -> None:
    """The copies go first: killed in between, no reader finds a release without its files."""
    names = {release.name for release in dropped}
    for release in dropped:  # its readers have a while to finish
        data_files.hold(lake.connection, files(lake, release), datetime.now(UTC))
    if not lake.project.on_postgres:
        for release in dropped:
            release_file(lake.project, release.name).unlink(missing_ok=True)
    _forget(lake, names)


def _forget(lake: Lake, names: set[str]) -> None:
    """Take from the catalog what it has of releases that no reader gets any more."""
    newest = lake.newest_snapshot()
    # by name: in a catalog restored from an older copy, the number may be another commit's
    snapshots = [r.snapshot for r in publishing.listed(lake.connection) if r.name in names]
    expire(lake, [snapshot for snapshot in snapshots if snapshot != newest])
    if marked := sorted(names & kept(lake)):
        with lake.transaction("release", f"drop {', '.join(marked)}") as transaction:
            transaction.delete("kept_releases", release=marked)


def expire(lake: Lake, snapshots: list[int]) -> int:
    """Forget these snapshots; files that no other one reads are scheduled to be deleted."""
    if not snapshots:
        return 0
    versions = ", ".join(f"{snapshot:d}" for snapshot in snapshots)
    return len(lake.rows(f"call ducklake_expire_snapshots('{NAME}', versions => [{versions}])"))


def files(lake: Lake, release: Release) -> dict[str, int]:
    """path -> bytes of every data file that a release reads."""
    if lake.project.on_postgres:
        return data_files.of_snapshot(lake.connection, release.snapshot)
    return data_files.of_catalog(release_file(lake.project, release.name))


def bytes_alone(lake: Lake, found: list[Release]) -> dict[str, int]:
    """name -> bytes that go with a release: its copy of the catalog, and the files that neither
    another release nor the working catalog reads."""
    of_each = {release.name: files(lake, release) for release in found}
    readers = Counter(path for named in of_each.values() for path in named)
    readers.update(data_files.of_snapshot(lake.connection, lake.newest_snapshot()))
    alone = {
        name: sum(size for path, size in named.items() if readers[path] == 1)
        for name, named in of_each.items()
    }
    if not lake.project.on_postgres:
        for name in alone:
            alone[name] += release_file(lake.project, name).stat().st_size
    return alone


def files_of_all(lake: Lake) -> dict[str, int]:
    """path -> bytes of every data file that any release reads."""
    found: dict[str, int] = {}
    for release in publishing.available(lake.project, lake.connection):
        found |= files(lake, release)
    published = published_file(lake.project)
    if not lake.project.on_postgres and published.is_file():
        found |= data_files.of_catalog(published)  # as a rule one of those
    return found
