"""Whether the catalogs hold what was committed: rows of small commits, releases, definitions."""

from pathlib import Path

from gradelake.sql.common.files import sha256_of
from gradelake.sql.lake import hashes
from gradelake.sql.lake.connection import METADATA, catalog_file
from gradelake.sql.lake.identity import open_catalog
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.lake_files import LIVE
from gradelake.sql.operations.upkeep.verify_rows import Fault, Verified
from gradelake.sql.releases import data_files, publishing

FROM_BACKUP = (
    "Take it from a backup: `gradelake lake restore` puts one into a new folder, and the file can "
    "be copied from there."
)
RECOVER = f"{FROM_BACKUP} Or make it anew: `gradelake lake recover --from {{}}`."
DROP = f"{FROM_BACKUP} Or drop the release: `gradelake release drop {{}}`."
REBUILD = "`gradelake build --full-refresh` rebuilds it."
_ROWS_FROM = (
    "A backup (`gradelake lake restore` puts one into a new folder) or a release (`gradelake sql "
    "--release NAME`) may have them as they were: bring them in again, from there or from where "
    "they came."
)
# what DuckLake never changes while a version reads it, but for when it ended
_DEFINITIONS = ("schema", "table", "column", "view", "tag", "column_tag")
# nor while the file is there
_FILES = ("data_file", "file_column_stats")


def check_catalog(lake: Lake, done: Verified) -> None:
    """Add to `done` what small commits left in the catalog and is not as they left it, and on
    SQLite which releases changed, and what is defined otherwise than in the newest of them."""
    project = lake.project
    with lake.one_state():
        wrong, done.unhashed_in_catalog = hashes.changed_inlined(lake)
        names = data_files.table_names(lake.connection)
        recorded = dict(lake.rows(hashes.RECORDED.format(METADATA)))
    for each in wrong:
        table = names[each.table_id]
        remedy = _ROWS_FROM if table.startswith("raw.") else REBUILD
        done.faults.append(Fault(each.what, remedy, None, table, [LIVE]))
    if project.on_postgres:
        return
    told, whole = {fault.file for fault in done.faults}, []
    for key, file in hashes.releases(project).items():
        if str(file) in told or not file.is_file():
            continue
        done.unhashed_in_catalog += key not in recorded
        if recorded.get(key, sha256 := sha256_of(file)) == sha256:
            whole.append(file)
        else:
            what = "has other bytes than when it was published"
            done.faults.append(Fault(what, DROP.format(file.stem), str(file), None, [file.stem]))
    live = catalog_file(project)
    if whole and (parts := _otherwise(live, whole[-1])):
        name = whole[-1].stem
        what = f"has other rows in {', '.join(parts)} than release {name}"
        done.faults.append(Fault(what, RECOVER.format(name), str(live), None, [LIVE]))


def _otherwise(live: Path, release: Path) -> list[str]:
    """The tables of DuckLake's own whose rows a working catalog has otherwise than a release, of
    those that the release's version reads."""
    snapshot, found = publishing.read(release).snapshot, []
    with open_catalog(live) as catalog:
        catalog.execute("attach ? as release", [f"{release.resolve().as_uri()}?mode=ro"])
        for part in (*_DEFINITIONS, *_FILES):
            table = f"ducklake_{part}"
            columns = [row[1] for row in catalog.execute(f"pragma table_info({table})")]
            shown = ", ".join(f'"{each}"' for each in columns if each != "end_snapshot")
            which = f"begin_snapshot <= {snapshot} and coalesce(end_snapshot > {snapshot}, true)"
            if part in _FILES:
                ids = "select data_file_id from {}.ducklake_data_file"
                both = f"{ids.format('main')} intersect {ids.format('release')}"
                which = f"data_file_id in ({both})"
            ours, theirs = (
                f"select {shown} from {of}.{table} where {which}" for of in ("main", "release")
            )
            for query in (f"{ours} except {theirs}", f"{theirs} except {ours}"):
                if catalog.execute(f"{query} limit 1").fetchone() and table not in found:
                    found.append(table)
    return found
