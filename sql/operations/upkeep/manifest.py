"""What a backup holds: a manifest, written last, and the files it names."""

import hashlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.project import CONFIG_NAME
from gradelake.sql.lake.storage import sync

MANIFEST = "manifest.json"
_FORMAT = 1


@dataclass(frozen=True)
class ManifestEntry:
    """A file of the backup: where it goes in a restored folder, and where it is kept."""

    path: str
    stored: str
    size: int  # bytes
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """One backup. `lake` is the id of the lake it is of; times are UTC."""

    lake: str
    snapshot: int
    releases: list[str]
    made_at: str
    source: str
    entries: list[ManifestEntry]

    def content(self) -> bytes:
        return (json.dumps({"format": _FORMAT, **asdict(self)}, indent=1) + "\n").encode()


def read_manifest(backup: Path) -> Manifest:
    """The manifest of a backup. Raises `BadInput` when there is none, or it is not Gradelake's."""
    try:
        with opened(backup, MANIFEST) as file:
            content = json.load(file)
        if content.pop("format") != _FORMAT:
            raise BadInput(f"{backup}: made by another Gradelake", "Use the one that made it.")
        entries = [ManifestEntry(**entry) for entry in content.pop("entries")]
        manifest = Manifest(**content, entries=entries)
        _check(manifest)
    except (FileNotFoundError, KeyError) as error:
        raise BadInput(
            f"{backup}: no backup here ({MANIFEST} is missing or incomplete)",
            "Name a folder that `gradelake lake backup` made.",
        ) from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"{backup}: {MANIFEST} cannot be read: {error}") from error
    for entry in entries:
        for path in (PurePosixPath(entry.path), PurePosixPath(entry.stored)):
            if path.is_absolute() or ".." in path.parts:
                raise BadInput(f"{backup}: {MANIFEST} names a place outside it: {path}")
    return manifest


def _check(manifest: Manifest) -> None:
    """Raise `TypeError` or `ValueError` for what is no text where one belongs, and `KeyError` where
    files that every backup has are not named."""
    places = [place for entry in manifest.entries for place in (entry.path, entry.stored)]
    for text in (manifest.lake, manifest.made_at, manifest.source, *manifest.releases, *places):
        if b"\0" in os.fsencode(text):
            raise ValueError(f"{text!r} is no name")
    if missing := {CONFIG_NAME, "lake/catalog.sqlite"} - {entry.path for entry in manifest.entries}:
        raise KeyError(*missing)


def opened(backup: Path, stored: str) -> io.BufferedReader:
    """What a backup has under a name, to read. Only a plain file is: a pipe or a device never
    ends."""
    if not backup.is_dir():
        raise BadInput(f"{backup}: no such folder", "Name a backup.")
    if not (backup / stored).is_file():
        raise FileNotFoundError(stored)
    return (backup / stored).open("rb")


class FolderWriter:
    """Adds to a backup in a folder. Until `finish`, the former manifest holds."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.former = {}
        if (folder / MANIFEST).exists():
            self.former = {entry.path: entry for entry in read_manifest(folder).entries}
        self.copied = 0
        self.copied_bytes = 0

    def add(self, path: str, stored: str, size: int, fetch: Callable[[Path], str]) -> ManifestEntry:
        """Keep a file that never changes under this name; one that is there already stays."""
        place, known = self.folder / stored, self.former.get(path)
        if place.is_file() and place.stat().st_size == size:
            if known and (known.stored, known.size) == (stored, size):
                return known
            return ManifestEntry(
                path, stored, size, sha256_of(place)
            )  # of a backup that was killed
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(place.name + ".writing")
        sha256 = fetch(fresh)
        os.replace(fresh, place)
        self.copied += 1
        self.copied_bytes += size
        return ManifestEntry(path, stored, size, sha256)

    def finish(self, manifest: Manifest) -> None:
        """Put the manifest in its place, then remove what it does not name."""
        fresh = self.folder / f"{MANIFEST}.writing"
        fresh.write_bytes(manifest.content())
        sync(fresh)
        os.replace(fresh, self.folder / MANIFEST)
        named = {self.folder / entry.stored for entry in manifest.entries}
        for part in ("data", "kept"):
            for file in (self.folder / part).rglob("*"):
                if file.is_file() and file not in named:
                    file.unlink()


def require_whole(backup: Path, manifest: Manifest) -> None:
    """Raise `WorkFailed` naming the files of a backup that are not what the manifest says."""
    wrong = []
    stored = {entry.stored: entry for entry in manifest.entries}
    for entry in console.progress("checking", stored.values(), len(stored)):
        try:
            with opened(backup, entry.stored) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            wrong.append(f"{entry.stored} is missing or cannot be read")
            continue
        if found != entry.sha256:
            wrong.append(f"{entry.stored} has other bytes than were backed up")
    if wrong:
        listed = "\n  ".join(wrong[:10])
        more = f"\n  and {len(wrong) - 10:,} more" if len(wrong) > 10 else ""
        raise WorkFailed(
            f"{backup}: this backup is damaged, nothing was restored\n  {listed}{more}",
            "Use another backup.",
        )
