"""`gradelake lake restore`: a backup becomes a project folder with a SQLite lake in it."""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.project import CONFIG_NAME, Project
from gradelake.sql.lake.storage import written
from gradelake.sql.operations.upkeep.manifest import Manifest, opened, read_manifest, require_whole
from gradelake.sql.operations.upkeep.verify import verify
from gradelake.sql.operations.upkeep.verify_rows import Verified


@dataclass
class Restored:
    """A project that was made of a backup, and what `verify` says of its lake."""

    project: Project
    manifest: Manifest
    verified: Verified
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        return self.verified.exit_code

    def as_object(self) -> dict[str, Any]:
        return {
            "ok": not self.verified.faults,
            "folder": self.project.folder,
            "snapshot": self.manifest.snapshot,
            "releases": self.manifest.releases,
            "made_at": self.manifest.made_at,
            "files": len(self.manifest.entries),
            "faults": [asdict(fault) for fault in self.verified.faults],
            "seconds": self.seconds,
        }


def restored(backup: Path, folder: Path) -> Restored:
    """`restore` a backup, then look at every file of the new lake."""
    project, manifest = restore(backup, folder)
    return Restored(project, manifest, verify(project, restored=manifest))


def restore(backup: Path, folder: Path) -> tuple[Project, Manifest]:
    """Check every hash of a backup, then put its files into a new or empty folder.

    The folder appears whole or not at all; one that holds just these files is left as it is.
    Raises `BadInput` when it holds something else or there is no backup, and `WorkFailed` when the
    backup is damaged or cannot be copied.
    """
    manifest = read_manifest(backup)
    folder = Path(os.path.abspath(folder))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        if _is_restored(manifest, folder):
            return Project.read(folder / CONFIG_NAME), manifest
        raise BadInput(
            f"{folder}: is not empty", "A backup is restored into a new or an empty folder only."
        )
    require_whole(backup, manifest)
    fresh = folder.with_name(f".{folder.name}.restoring")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        _unpack(backup, manifest, fresh)
        (fresh / "lake" / "data").mkdir(parents=True, exist_ok=True)
        os.replace(fresh, folder)  # an empty folder gives way
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise WorkFailed(
            f"{error.filename or folder}: {error.strerror or error}", "Nothing was restored."
        ) from error
    return Project.read(folder / CONFIG_NAME), manifest


def _is_restored(manifest: Manifest, folder: Path) -> bool:
    """Whether a folder has each file of a backup as it is there: nothing has worked in it since."""
    places = ((folder / entry.path, entry) for entry in manifest.entries)
    return all(
        place.is_file() and place.stat().st_size == entry.size and sha256_of(place) == entry.sha256
        for place, entry in places
    )


def _unpack(backup: Path, manifest: Manifest, fresh: Path) -> None:
    for entry in console.progress("copying", manifest.entries, len(manifest.entries)):
        target = fresh / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened(backup, entry.stored) as source:
            written(source, target)
