"""Backups hold one moment of a lake; a restored one is that lake, and nothing is overwritten."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import REPLIES, lock_file
from gradelake.sql.lake.lock import file_lock
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.backup import backup
from gradelake.sql.operations.upkeep.manifest import FolderWriter, read_manifest
from gradelake.sql.operations.upkeep.people_files import people_files
from gradelake.sql.operations.upkeep.restore import restore
from gradelake.sql.operations.upkeep.verify import verify
from tests import projects
from tests.command_line import gradelake, json_of, start
from tests.sql.small_lake import file_of, graders, overwritten, passages


def content(lake: Lake) -> list[tuple]:
    return lake.rows("select passage_id, text from lake.raw.passages order by all")


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }


def test_a_restored_lake_has_the_rows_the_history_the_releases_and_the_seeds(project, tmp_path):
    projects.write(project.folder / "seeds/label_policies.csv", "policy\n")
    done = backup(project, tmp_path / "backup")
    assert (done.releases, done.warnings) == (["r1"], [])
    restored, _ = restore(tmp_path / "backup", tmp_path / "new")
    assert verify(restored, deep=True).faults == []
    with Lake.live(project) as ours, Lake.live(restored) as theirs:
        assert content(theirs) == content(ours)
        assert len(content(ours)) == 10
        history = "select snapshot_id, commit_message from lake.snapshots() order by 1"
        assert theirs.rows(history) == ours.rows(history)
    with Lake.published(restored) as release:
        assert (release.release, len(content(release))) == ("r1", 30)
    assert (restored.folder / "seeds" / "label_policies.csv").read_text() == "policy\n"
    with Lake.writer(restored) as lake, lake.transaction("test") as transaction:
        transaction.insert("graders", graders("later"))  # it can be written to


def test_a_second_backup_copies_what_is_new_and_forgets_what_is_gone(project, tmp_path):
    first = backup(project, tmp_path / "backup")
    again = backup(project, tmp_path / "backup")
    assert (again.copied, again.files) == (0, first.files)
    with Lake.writer(project) as lake, lake.transaction("ingest") as transaction:
        transaction.insert("passages", passages(100, 12))
    before = set(files_below(tmp_path / "backup"))
    later = backup(project, tmp_path / "backup")
    assert later.copied == 2, "the file of the new passages, and the catalog"
    gone = before - set(files_below(tmp_path / "backup"))
    assert len(gone) == 1, "the former catalog"
    restored, manifest = restore(tmp_path / "backup", tmp_path / "new")
    assert manifest.snapshot == later.snapshot == first.snapshot + 1
    with Lake.live(restored) as lake:
        assert len(content(lake)) == 22


def test_a_killed_backup_leaves_the_former_one_whole(project, tmp_path):
    """Killed when all new files are copied and the manifest is not there yet."""
    backup(project, tmp_path / "backup")
    with Lake.writer(project) as lake, lake.transaction("ingest") as transaction:
        transaction.insert("passages", passages(100, 12))
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from gradelake.sql.common.project import Project\n"
        "from gradelake.sql.operations.upkeep.backup import backup\n"
        "from gradelake.sql.operations.upkeep.manifest import FolderWriter\n"
        "FolderWriter.finish = lambda self, manifest: os.kill(os.getpid(), 9)\n"
        "backup(Project.read(Path(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", script, str(project.file), str(tmp_path / "backup")]
    assert subprocess.run(command, check=False).returncode == -9
    restored, _ = restore(tmp_path / "backup", tmp_path / "old")
    with Lake.live(restored) as lake:
        assert len(content(lake)) == 10
    # the next one takes over what the killed one copied
    done = backup(project, tmp_path / "backup")
    assert done.copied == 0
    with Lake.live(restore(tmp_path / "backup", tmp_path / "new")[0]) as lake:
        assert len(content(lake)) == 22


def test_writers_wait_for_the_catalog_alone_and_not_for_the_files(project, tmp_path, monkeypatch):
    held = []
    add = FolderWriter.add

    def adds(self, *arguments):
        with file_lock(lock_file(project), "test", wait=False):
            held.append(arguments[0])
        return add(self, *arguments)

    monkeypatch.setattr(FolderWriter, "add", adds)
    backup(project, tmp_path / "backup")
    assert len(held) == 7, "three Parquet files, gradelake.toml, catalog, release, published"


def test_a_backup_waits_for_a_writer(project, tmp_path):
    with file_lock(lock_file(project), "a test"):
        running = start(project.folder, "lake", "backup", str(tmp_path / "backup"))
        assert running.stderr.readline().startswith("waiting for a test")
        time.sleep(0.2)
        assert not (tmp_path / "backup" / "manifest.json").exists()
    out, _ = running.communicate(timeout=300)
    assert "(releases: r1)" in out


def test_replies_that_wait_to_be_committed_come_along(project, tmp_path):
    folder = project.lake_path / "grading" / "g"
    folder.mkdir(parents=True)
    (folder / f"chunk-2{REPLIES}").write_bytes(b"asked")
    (folder / ".run-1.run").write_bytes(b"")
    backup(project, tmp_path / "backup")
    restored, _ = restore(tmp_path / "backup", tmp_path / "new")
    assert files_below(restored.lake_path / "grading") == {f"g/chunk-2{REPLIES}": b"asked"}
    assert not (restored.lake_path / "grading" / "g" / ".run-1.run").exists()


def test_a_damaged_backup_is_refused_and_nothing_restored(project, tmp_path):
    backup(project, tmp_path / "backup")
    entry = next(e for e in read_manifest(tmp_path / "backup").entries if "grades" in e.path)
    overwritten(tmp_path / "backup" / entry.stored, 100, b"\xff")
    with pytest.raises(WorkFailed, match=f"{entry.stored} has other bytes"):
        restore(tmp_path / "backup", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_backup_without_one_of_its_files_is_refused_and_half_a_file_is_none(project, tmp_path):
    backup(project, tmp_path / "backup")
    entry = next(e for e in read_manifest(tmp_path / "backup").entries if "grades" in e.path)
    (tmp_path / "backup" / entry.stored).unlink()
    with pytest.raises(WorkFailed, match=f"{entry.stored} is missing"):
        restore(tmp_path / "backup", tmp_path / "new")

    def dies(target: Path) -> str:
        target.write_bytes(b"ab")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # as killed while it is copied again
        FolderWriter(tmp_path / "backup").add(entry.path, entry.stored, entry.size, dies)
    assert not (tmp_path / "backup" / entry.stored).exists()


def test_nothing_is_restored_over_anything(project, tmp_path):
    backup(project, tmp_path / "backup")
    before = files_below(project.folder)
    with pytest.raises(BadInput, match="is not empty"):
        restore(tmp_path / "backup", project.folder)
    assert files_below(project.folder) == before
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "backup", tmp_path / "empty")
    assert (tmp_path / "empty" / "lake" / "catalog.sqlite").is_file()


def test_a_manifest_cannot_write_outside_of_the_folder(project, tmp_path):
    backup(project, tmp_path / "backup")
    file = tmp_path / "backup" / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["entries"][0]["path"] = "../outside"
    file.write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="outside it"):
        restore(tmp_path / "backup", tmp_path / "new")


FORGED = [{"path": 1}, {"stored": ["data"]}, {"path": "a\0b"}, {"path": "a\ud800b"}]


def test_a_forged_manifest_is_refused_in_words_and_nothing_restored(project, tmp_path):
    backup(project, tmp_path / "backup")
    file = tmp_path / "backup" / "manifest.json"
    good = json.loads(file.read_text())
    first, *rest = good["entries"]
    forged = [json.dumps(good | {"entries": [first | each, *rest]}) for each in FORGED]
    for text in (*forged, json.dumps(good | {"entries": []}), "[" * 100_000):
        file.write_text(text)
        with pytest.raises(BadInput, match=r"manifest\.json"):
            restore(tmp_path / "backup", tmp_path / "new")
        assert not list(tmp_path.glob("*new*")), text[:100]


@pytest.mark.parametrize("stored", ["manifest.json", "data"])
def test_what_never_ends_in_a_backup_is_not_read(project, tmp_path, stored):
    backup(project, tmp_path / "backup")
    entry = read_manifest(tmp_path / "backup").entries[0]
    file = tmp_path / "backup" / (entry.stored if stored == "data" else stored)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises((BadInput, WorkFailed), match="is missing"):
        restore(tmp_path / "backup", tmp_path / "new")


def test_what_is_no_backup_is_refused(project, tmp_path):
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "photo.jpg").write_bytes(b"")
    (tmp_path / "file").write_bytes(b"a file")
    for place in ("things", "file", "nothing"):
        with pytest.raises(BadInput):
            restore(tmp_path / place, tmp_path / "new")
    for place in ("things", "file"):
        with pytest.raises(BadInput):
            backup(project, tmp_path / place)
    with pytest.raises(BadInput, match="is inside the lake itself"):
        backup(project, project.lake_path / "data" / "backup")
    for emptied in ({"entries": []}, {}):  # its last writer died, or somebody edited it
        backup(project, tmp_path / "kept")
        manifest = tmp_path / "kept" / "manifest.json"
        manifest.write_text(json.dumps(emptied and json.loads(manifest.read_text()) | emptied))
        with pytest.raises(BadInput, match=r"manifest\.json is missing or incomplete"):
            restore(tmp_path / "kept", tmp_path / "new")
        assert not (tmp_path / "new").exists()
        manifest.unlink()
    assert files_below(tmp_path / "things") == {"photo.jpg": b""}
    assert (tmp_path / "file").read_bytes() == b"a file"


def test_two_lakes_do_not_share_a_backup(project, tmp_path):
    backup(project, tmp_path / "backup")
    other = projects.project(tmp_path / "other")
    Lake.create(other).close()
    with pytest.raises(BadInput, match="another lake"):
        backup(other, tmp_path / "backup")


def test_a_lake_with_a_missing_file_is_not_backed_up_and_the_former_backup_stays(project, tmp_path):
    backup(project, tmp_path / "backup")
    before = files_below(tmp_path / "backup")
    file = file_of(project, "grades")
    file.unlink()
    with pytest.raises(WorkFailed, match=f"such as {file}"):
        backup(project, tmp_path / "backup")
    assert files_below(tmp_path / "backup") == before


# --- settings -------------------------------------------------------------------------------------


def with_settings(folder: Path, text: str) -> Project:
    return Project.read(projects.write(folder / "gradelake.toml", text))


def test_the_settings_say_where_the_restored_lake_is_and_hold_no_password(tmp_path):
    project = with_settings(
        tmp_path,
        "# ours\n[lake]\n"
        'catalog = "postgres:dbname=x host=db user=u password=hunter2"  # shared\n'
        'data = "s3://bucket/prefix"\nkeep_releases = 3\n\n[collections.c]\nqueries = "q.tsv"\n',
    )
    found, warnings = people_files(project)
    assert found["gradelake.toml"].decode() == (
        '# ours\n[lake]\npath = "lake"\nkeep_releases = 3\n\n[collections.c]\nqueries = "q.tsv"\n'
    )
    assert len(warnings) == 1
    assert "hunter2" not in warnings[0]


def test_settings_of_a_lake_beside_them_stay_as_they_are(tmp_path):
    text = '[lake]\npath = "lake"   # here\n'
    found, warnings = people_files(with_settings(tmp_path, text))
    assert (found, warnings) == ({"gradelake.toml": text.encode()}, [])


def test_a_secret_in_the_settings_is_refused_without_repeating_it(tmp_path):
    for line in (
        'api_key = "sk-123"',
        'base_url = "https://me:hunter2@host/v1"',
        'headers = {token = "t"}',
    ):
        project = with_settings(tmp_path, f'[graders.g]\nengine = "openai"\n{line}\n')
        with pytest.raises(BadInput, match="looks like a secret") as error:
            people_files(project)
        assert not {"sk-123", "hunter2"} & set(str(error.value).split())


def test_the_name_of_a_variable_is_no_secret(tmp_path):
    project = with_settings(
        tmp_path, '[graders.g]\nengine = "openai"\napi_key_env = "KEY"\nmax_tokens = 5\n'
    )
    assert people_files(project)[1] == []


def test_the_settings_are_read_where_they_cannot_be(tmp_path):
    project = with_settings(tmp_path, "")
    (tmp_path / "seeds" / "label_policies.csv").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"label_policies\.csv: cannot be read"):
        people_files(project)


def test_the_commands_tell_what_they_did(project, tmp_path):
    folder = project.folder
    told = json_of(folder, "lake", "backup", str(tmp_path / "b"), "--json")
    assert (told["releases"], told["files"]) == (["r1"], 7)
    restored = gradelake(tmp_path, "lake", "restore", "b", "new").stdout
    assert "the lake is sound" in restored
    again = gradelake(tmp_path, "lake", "restore", "b", "new").stdout
    assert "the lake is sound" in again
    assert os.listdir(tmp_path / "new" / "lake" / "releases") == ["r1.sqlite"]
