"""`gradelake lake verify`: whether every file that the lake's catalogs name is there and whole."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import GradelakeError, WorkFailed
from gradelake.sql.common.plain_words import CannotBeUsed, RanOut, damage, in_plain_words
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import (
    attach,
    catalog_file,
    connect,
    execute,
    literal,
    little_memory,
    quote,
    release_file,
)
from gradelake.sql.lake.identity import LostCatalog
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.storage import Storage
from gradelake.sql.operations.upkeep.lake_files import (
    LIVE,
    Catalog,
    catalog_files,
    read_postgres,
    read_sqlite,
    require_sound,
    rows_of,
)
from gradelake.sql.operations.upkeep.manifest import Manifest, read_manifest
from gradelake.sql.operations.upkeep.verify_catalog import (
    DROP,
    FROM_BACKUP,
    REBUILD,
    RECOVER,
    check_catalog,
)
from gradelake.sql.operations.upkeep.verify_rows import Fault, Verified, check_rows
from gradelake.sql.releases import publishing
from gradelake.sql.releases.data_files import DataFile

_AT_ONCE = 200  # Parquet files whose footers are asked for together
_UNFIT = (
    "Was an older working catalog put back? `gradelake lake recover --from {0}` makes one of this "
    "release, `gradelake release drop {0}` takes it from its readers. Until then nothing is tidied."
)
_ANEW = "Without one, what it held has to be ingested, imported or graded anew, in a new lake."


@dataclass(frozen=True)
class NamedFile:
    """A file with everything that names it."""

    file: DataFile
    hits: list[str]


@dataclass(frozen=True)
class _Known:
    """What is known of the data files, each by its path: sizes on the disk, rows by their footers,
    and hashes at their commit, of a backup, and of a check that was just made."""

    sizes: dict[str, int]
    rows: dict[str, int | str]
    committed: dict[str, str]
    backed_up: dict[str, str]
    checked: dict[str, str]

    def what_is_wrong(
        self, named: NamedFile, project: Project, storage: Storage, deep: bool
    ) -> str | None:
        """What is wrong with a file, in words; None if it is whole."""
        file, path = named.file, named.file.path
        size = self.sizes.get(path)
        if size is None:
            return "is missing"
        if size != file.size:
            return f"has {size:,} bytes instead of {file.size:,}"
        is_read = deep or path in self.backed_up
        try:
            sha256 = storage.sha256(path) if is_read else self.checked.get(path)
        except RanOut:
            raise
        except (OSError, GradelakeError) as error:
            return f"cannot be read: {error}"
        if sha256 and self.committed.get(path, sha256) != sha256:
            held = rows_of(project, file, named.hits[0])
            return f"has other bytes than when it was committed; it held {held}"
        if sha256 and self.backed_up.get(path, sha256) != sha256:
            return "has other bytes than in the backup"
        found = self.rows[storage.path(path)]
        if isinstance(found, str):
            return f"cannot be read: {found}"
        if found != file.rows:
            return f"has {counted(found, 'rows')} instead of {file.rows:,}"
        return _unreadable(file, storage) if deep else None


def verify(
    project: Project,
    deep: bool = False,
    against: Path | None = None,
    restored: Manifest | None = None,
) -> Verified:
    """Check the whole lake; nothing is written and no lock is taken.

    `deep` reads every column of every file, and compares its bytes with the hash of its commit:
    much of what is flipped in a Parquet file reads without an error. `against` names a backup whose
    hashes they are compared with; `restored` is the manifest by which the files were just checked,
    so that their hashes are known without reading. Raises `BadInput` when there is no lake or no
    such backup, and `WorkFailed` when its folder cannot be read at all.
    """
    done = Verified(deep=deep)
    backed_up = _hashes(read_manifest(against)) if against else {}
    checked = _hashes(restored) if restored else {}
    storage = Storage(project)
    there = storage.sizes()  # before the catalogs: what a writer adds meanwhile is not an orphan
    catalogs = _catalogs(project, done)
    named = _by_path(catalogs)
    in_catalogs = set(named).union(*(catalog.others for catalog in catalogs))
    orphans = [size for path, size in there.items() if path not in in_catalogs]
    done.orphans, done.orphan_bytes = len(orphans), sum(orphans)
    done.files, done.bytes = len(named), sum(each.file.size for each in named.values())
    done.compared = len(backed_up.keys() & named.keys())
    committed = {path: sha256 for catalog in catalogs for path, sha256 in catalog.hashes.items()}
    done.unhashed = len(named.keys() - committed.keys())

    whole = [path for path, each in named.items() if there.get(path) == each.file.size]
    known = _Known(there, _footers(storage, whole), committed, backed_up, checked)
    faults = [
        _fault(each, storage, what)
        for each in console.progress("looking at files", named.values(), len(named))
        if (what := known.what_is_wrong(each, project, storage, deep))
    ]
    if faults:  # a release that was dropped meanwhile took its files along
        still = _by_path(_catalogs(project, Verified()))
        start = len(storage.root)
        faults = [each for each in faults if each.file is None or each.file[start:] in still]
    done.faults += faults
    if any(catalog.name == LIVE for catalog in catalogs):
        _check_live(project, catalogs[0].snapshot, done)
    return done


def _check_live(project: Project, snapshot: int, done: Verified) -> None:
    """Check the rows of the working catalog; one that cannot be read is a fault."""
    try:
        _check_rows(project, snapshot, done)
    except (duckdb.Error, UnicodeDecodeError) as error:
        if refused := in_plain_words(error):
            raise refused from None
        what = f"cannot be read: {damage(error)}"
        place = None if project.on_postgres else str(catalog_file(project))
        done.faults.append(Fault(what, RECOVER.format("RELEASE"), place, None, [LIVE]))


# --- catalogs -----------------------------------------------------------------------------------


def _catalogs(project: Project, done: Verified) -> list[Catalog]:
    """Every catalog that can be read; of the others `done` gets a fault."""
    if project.on_postgres:
        found = read_postgres(project)
        done.catalogs = [catalog.name for catalog in found]
        return found
    found = []
    files = catalog_files(project)
    try:
        Lake.live(project).close()
    except LostCatalog as error:
        place = str(catalog_file(project))
        what = error.message.removeprefix(f"{place} ")
        done.faults.append(Fault(what, error.hint or FROM_BACKUP, place, None, [LIVE]))
        files.pop(LIVE, None)
    except CannotBeUsed:
        raise
    except (GradelakeError, duckdb.Error):
        pass  # what is wrong with it is found below
    for name, file in files.items():
        done.catalogs.append(name)
        try:
            require_sound(file)
            found.append(read_sqlite(project, name, file))
        except WorkFailed as error:
            remedies = {LIVE: RECOVER.format("RELEASE"), "published": FROM_BACKUP}
            remedy = remedies.get(name, DROP.format(name))
            done.faults.append(Fault(error.message, remedy, str(file), None, [name]))
    return found


def _by_path(catalogs: list[Catalog]) -> dict[str, NamedFile]:
    found: dict[str, NamedFile] = {}
    for catalog in catalogs:
        for file in catalog.files:
            hits = found.setdefault(file.path, NamedFile(file, [])).hits
            if catalog.name not in hits:
                hits.append(catalog.name)
    return found


# --- files --------------------------------------------------------------------------------------


def _fault(named: NamedFile, storage: Storage, what: str) -> Fault:
    """A fault of a file, and its remedy: derived tables can be rebuilt, raw ones cannot."""
    derived = not named.file.table.startswith("raw.")
    remedy = f"{FROM_BACKUP} {_ANEW}"
    if derived and named.hits == [LIVE]:
        remedy = REBUILD
    elif derived:
        remedy = (
            f"{FROM_BACKUP} Or rebuild it for the next release (`gradelake build "
            "--full-refresh`) and drop those that are hit (`gradelake release drop NAME`)."
        )
    return Fault(what, remedy, storage.path(named.file.path), named.file.table, named.hits)


def _footers(storage: Storage, paths: list[str]) -> dict[str, int | str]:
    """What each Parquet footer says: rows, or why it cannot be read."""
    query = "select file_name, num_rows from parquet_file_metadata(?)"
    found: dict[str, int | str] = {}
    for start in range(0, len(paths), _AT_ONCE):
        some = [storage.path(path) for path in paths[start : start + _AT_ONCE]]
        try:
            found |= execute(storage.connection, query, [[*map(literal, some)]]).fetchall()
        except duckdb.Error:  # one of them, at least
            for path in some:
                try:
                    found |= execute(storage.connection, query, [[literal(path)]]).fetchall()
                except duckdb.Error as error:
                    found[path] = damage(error)
    return found


def _unreadable(file: DataFile, storage: Storage) -> str | None:
    place = quote(literal(storage.path(file.path)))
    try:
        content = f"read_parquet({place}, hive_partitioning = false)"
        storage.connection.execute(f"select bit_xor(hash(t)) from {content} as t")
    except duckdb.Error as error:
        return f"is corrupted: {damage(error)}"
    return None


def _hashes(manifest: Manifest) -> dict[str, str]:
    """sha256 of each data file in a backup, by its path below the data folder."""
    below = "lake/data/"
    return {
        entry.path[len(below) :]: entry.sha256
        for entry in manifest.entries
        if entry.path.startswith(below)
    }


# --- rows ---------------------------------------------------------------------------------------


def _check_rows(project: Project, snapshot: int, done: Verified) -> None:
    connection = connect()
    try:
        attach(connection, project, read_only=True, snapshot=snapshot)
    except RanOut:
        raise
    except GradelakeError as error:
        done.faults.append(Fault(error.message, error.hint or FROM_BACKUP, None, None, [LIVE]))
        return
    with Lake(project, connection, None) as lake, little_memory(connection):
        with suppress(WorkFailed):  # a release that cannot be read has its fault already
            done.faults += [
                Fault(why, _UNFIT.format(name), str(release_file(project, name)), None, [name])
                for name, why in publishing.unfit(project, connection)
            ]
        check_catalog(lake, done)
        broken = {fault.table for fault in done.faults if LIVE in fault.hits}
        connection.execute("begin read only")  # else each query reads the catalog again
        check_rows(lake, broken, done)


def line(fault: Fault) -> str:
    """A fault in one line."""
    place = f"{fault.file}: " if fault.file else ""
    table = f" (table {fault.table})" if fault.table else ""
    hits = f"; hit: {', '.join(fault.hits)}" if fault.hits else ""
    return f"{place}{fault.what}{table}{hits}"
