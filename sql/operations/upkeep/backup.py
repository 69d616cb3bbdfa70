"""`gradelake lake backup`: one snapshot of a lake, its releases and what people keep beside it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import require_lake, waiting_replies, write_lock
from gradelake.sql.lake.identity import vacuum_into
from gradelake.sql.lake.lock import file_lock
from gradelake.sql.lake.storage import Storage, copied
from gradelake.sql.operations.upkeep.lake_files import (
    LIVE,
    Catalog,
    catalog_files,
    lake_id,
    read_sqlite,
)
from gradelake.sql.operations.upkeep.manifest import (
    MANIFEST,
    FolderWriter,
    Manifest,
    ManifestEntry,
    read_manifest,
)
from gradelake.sql.operations.upkeep.people_files import people_files


@dataclass
class BackedUp:
    """What a backup did: files in it and their bytes, and how many were new."""

    place: Path
    snapshot: int
    releases: list[str]
    files: int
    bytes: int
    copied: int
    copied_bytes: int
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0


def backup(project: Project, place: Path) -> BackedUp:
    """Bring the backup in the folder `place` up to the newest commit.

    The writer's lock is held while the catalogs are copied, not while the data files are: they
    never change. The folder gets only what it does not have; its former backup holds until the new
    one is whole. Raises `BadInput` for a place that holds something else, and `WorkFailed` when a
    file of the lake is missing or cannot be copied.
    """
    require_lake(project)
    people, warnings = people_files(project)
    lake = lake_id(project)
    if place.resolve().is_relative_to(project.lake_path.resolve()):
        raise BadInput(f"{place}: is inside the lake itself", "Name a place outside it.")
    _require_place(place, lake)
    busy = "this folder is being written by"
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = file_lock(place / ".lock", "gradelake lake backup", wait=False, busy=busy)
        with lock, _scratch(place) as scratch:
            taken, copies = _take(project, scratch)
            for n, (path, content) in enumerate(people.items()):
                taken[path] = scratch / f"people-{n}"
                taken[path].write_bytes(content)
            catalogs = [read_sqlite(project, name, copy) for name, copy in copies.items()]
            return _write(project, place, lake, taken, catalogs, warnings)
    except OSError as error:
        raise WorkFailed(
            f"{error.filename or place}: {error.strerror or error}",
            "The backup was not made; a former one is as it was.",
        ) from error


def _require_place(place: Path, lake: str) -> None:
    """Raise `BadInput` unless a backup of this lake may be written there."""
    is_former, is_other = False, place.exists()
    if place.is_dir():
        ours = {".lock", ".scratch", "data", "kept", f"{MANIFEST}.writing", MANIFEST}
        is_former = (place / MANIFEST).exists()
        is_other = bool({file.name for file in place.iterdir()} - ours)
    if is_other:
        raise BadInput(f"{place}: there is something else here", "Name a new or an empty folder.")
    if is_former and read_manifest(place).lake != lake:
        raise BadInput(f"{place}: holds the backup of another lake", "Name another place.")


@contextmanager
def _scratch(place: Path) -> Iterator[Path]:
    """A folder for copies, where they go; what a killed backup left in it is removed."""
    folder = place / ".scratch"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- under the lock -------------------------------------------------------------------------------


def _take(project: Project, scratch: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Copies of what changes: by their path in a restored folder, and the catalogs by name."""
    taken = {}
    with write_lock(project, "gradelake lake backup"):
        # first the replies: what goes now was committed, so the catalog below has it
        for file in waiting_replies(project):
            copy = scratch / f"{file.parent.name}-{file.name}"
            try:
                shutil.copyfile(file, copy)
            except FileNotFoundError:
                continue
            taken[f"lake/grading/{file.parent.name}/{file.name}"] = copy
        catalogs = _take_catalogs(project, scratch)
    for name, copy in catalogs.items():
        if name == LIVE:
            taken["lake/catalog.sqlite"] = copy
            continue
        if name != "published":
            taken[f"lake/releases/{name}.sqlite"] = copy
        taken["lake/published.sqlite"] = copy  # the last one to come is what readers get
    return taken, catalogs


def _take_catalogs(project: Project, scratch: Path) -> dict[str, Path]:
    """Copies of the catalogs by name, the working one first, then the releases as they came."""
    if project.on_postgres:
        from gradelake.sql.operations.upkeep.postgres_export import export

        return export(project, scratch)
    files = catalog_files(project)
    copies = {name: scratch / f"{name}.sqlite" for name in files}
    for name, file in files.items():
        take = vacuum_into if name == LIVE else shutil.copyfile
        take(file, copies[name])
    return copies


# --- without it -----------------------------------------------------------------------------------


def _write(
    project: Project,
    place: Path,
    lake: str,
    taken: dict[str, Path],
    catalogs: list[Catalog],
    warnings: list[str],
) -> BackedUp:
    storage = Storage(project)
    wanted = _wanted(catalogs, storage)
    writer = FolderWriter(place)
    committed = {path: sha256 for catalog in catalogs for path, sha256 in catalog.hashes.items()}
    entries = [
        _add_data(writer, storage, path, size, committed.get(path))
        for path, size in console.progress("copying", wanted.items(), len(wanted))
    ]
    for path, file in taken.items():  # what changes has a name that its content gives
        name = f"kept/{sha256_of(file)}{file.suffix}"
        entries.append(writer.add(path, name, file.stat().st_size, partial(copied, file)))
    releases = [catalog.name for catalog in catalogs if catalog.name != LIVE]
    snapshot = catalogs[0].snapshot
    manifest = Manifest(
        lake,
        snapshot,
        releases,
        utc_now().isoformat(timespec="seconds"),
        str(project.folder),
        entries,
    )
    writer.finish(manifest)
    return BackedUp(
        place,
        snapshot,
        releases,
        len(entries),
        sum(entry.size for entry in entries),
        writer.copied,
        writer.copied_bytes,
        warnings,
    )


def _wanted(catalogs: list[Catalog], storage: Storage) -> dict[str, int]:
    """Every data file that a catalog needs, with its bytes; what else one names, where it is."""
    there = storage.sizes()
    wanted = {file.path: file.size for catalog in catalogs for file in catalog.files}
    broken = [path for path, size in wanted.items() if there.get(path) != size]
    if broken:
        raise WorkFailed(
            f"{counted(len(broken), 'files of the lake', 'are')} missing or incomplete, such as "
            f"{storage.path(broken[0])}",
            "`gradelake lake verify` lists them and says what to do.",
        )
    outside = [path for path in wanted if os.path.isabs(path) or "://" in path]
    if outside:
        raise WorkFailed(f"{outside[0]}: is outside the lake's data ({storage.root})")
    return wanted


def _add_data(
    writer: FolderWriter, storage: Storage, path: str, size: int, committed: str | None
) -> ManifestEntry:
    try:
        entry = writer.add(
            f"lake/data/{path}", f"data/{path}", size, lambda target: storage.fetch(path, target)
        )
    except FileNotFoundError as error:
        raise WorkFailed(
            f"{storage.path(path)} was removed during the backup", "Run it again."
        ) from error
    if committed and entry.sha256 != committed:
        raise WorkFailed(
            f"{storage.path(path)}: its bytes, or those of its copy, are not those that were "
            "committed; the backup was not made, a former one is as it was",
            "`gradelake lake verify --deep` says which rows are hit. If the lake is sound, the "
            "copy is not: begin a new backup elsewhere.",
        )
    return entry
