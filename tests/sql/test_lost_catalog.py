"""A lake whose working catalog is lost is not taken for a new one; a release restores it."""

import json
import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import catalog_file, published_file, release_file
from gradelake.sql.lake.identity import LostCatalog, lake_id_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.doctor import examine
from gradelake.sql.operations.upkeep.lake_files import lake_id
from gradelake.sql.operations.upkeep.recover import recover
from gradelake.sql.operations.upkeep.retention import maintain
from gradelake.sql.operations.upkeep.verify import verify
from gradelake.sql.releases import publishing
from tests import projects
from tests.command_line import gradelake, json_of
from tests.postgres_server import new_database, postgres_server
from tests.sql.small_lake import file_of, grades, passages, publish, small_lake


def lose(project: Project, how: str) -> None:
    for file in project.lake_path.glob("catalog.sqlite*"):
        file.unlink()
    if how == "empty":
        catalog_file(project).touch()
    elif how == "another":
        other = project.folder / "other"
        small_lake(other)
        shutil.copy(other / "lake" / "catalog.sqlite", catalog_file(project))


def files(project: Project) -> dict[Path, bytes]:
    found = [*project.lake_path.rglob("*.sqlite"), *project.lake_path.rglob("*.parquet")]
    return {file: file.read_bytes() for file in found}


LOST = {
    "missing": "is missing, and the lake's releases are there",
    "empty": "is empty, and the lake's releases are there",
    "another": "is the catalog of another lake",
}


@pytest.mark.parametrize("how", LOST)
def test_every_way_into_a_lost_catalog_is_refused_and_nothing_is_written(project, how):
    lose(project, how)
    before = files(project)
    for opening in (Lake.create, Lake.writer, Lake.live, Lake.readable, maintain):
        with pytest.raises(LostCatalog, match=LOST[how]) as error:
            opening(project)
        assert "gradelake lake restore" in error.value.hint
        assert "gradelake lake recover --from r1" in error.value.hint
    for words in ("build", "lake tidy", "lake backup b", "log", "release list"):
        refused = gradelake(project.folder, *words.split(), code=1).stderr
        assert "catalog.sqlite" in refused, words
    told = [fault for fault in verify(project).faults if fault.file == str(catalog_file(project))]
    assert LOST[how] in told[0].what
    bad = [found.what for found in examine(lambda: project) if found.state == "bad"]
    assert any(LOST[how] in what for what in bad)
    assert files(project) == before
    with Lake.published(project) as lake:  # what was published can be read
        assert lake.value("select count(grade) from lake.raw.grades") == 20


def test_data_alone_show_that_there_was_a_lake(project):
    lose(project, "missing")
    published_file(project).unlink()
    release_file(project, "r1").unlink()
    for opening in (Lake.create, Lake.writer, Lake.live, Lake.published, verify):
        with pytest.raises(LostCatalog, match="is missing, and the lake's data files"):
            opening(project)
    shutil.rmtree(project.lake_path)
    Lake.create(project).close()


@pytest.mark.slow
def test_a_night_on_a_lost_catalog_fails_and_tells_somebody(project):
    settings = '[collections.c]\nqueries = "q.tsv"\njudgments = { a = "a.qrels" }\n'
    project.file.write_text(settings)
    lose(project, "missing")
    done = gradelake(project.folder, "nightly", "--on-failure", "cat > told.json", code=1)
    assert "is missing" in done.stderr
    told = json.loads((project.folder / "told.json").read_text())
    assert told["exit_code"] == 1
    assert "gradelake lake recover --from r1" in told["error"]


@pytest.mark.slow
@pytest.mark.parametrize("how", LOST)
def test_it_is_recovered_from_a_release_and_what_came_later_is_told(project, how):
    with Lake.writer(project) as lake, lake.transaction("grade", "c judge") as transaction:
        transaction.insert("grades", grades([f"p{i:03d}" for i in range(10, 28)]))
    id_before = lake_id(project)
    lose(project, how)
    done = json_of(project.folder, "lake", "recover", "--from", "r1", "--json")
    # ten of these passages were gone after r1; eight grades are of pairs that r1 has not
    assert done["gone"] == [{"table": "raw.grades", "collection": "c", "rows": 8}]
    assert done["commits"] == []
    assert lake_id(project) == id_before == lake_id_of(published_file(project))
    assert verify(project, deep=True).faults == []
    with Lake.writer(project) as lake:
        assert lake.value("select count(grade) from lake.raw.grades") == 20
        assert lake.value("select count(text) from lake.raw.passages") == 30
        assert publishing.next_name(project, lake.connection) == "r2"
    kept = list(project.lake_path.glob("catalog-before-*.sqlite"))
    assert len(kept) == (how != "missing")
    assert recover(project, "r1").set_aside == [], "given again, it ends well"
    with Lake.writer(project) as lake, lake.transaction("grade", "c judge") as transaction:
        transaction.insert("grades", grades(["p999"]))
    with pytest.raises(BadInput, match="is not lost: it has release r1"):
        recover(project, "r1")


def test_a_damaged_catalog_and_its_log_make_way(project):
    catalog_file(project).write_bytes(b"garbage!" * 1000)
    (project.lake_path / "catalog.sqlite-wal").write_bytes(b"of the old one")
    done = recover(project, "published")
    endings = {Path(file).suffix for file in done.set_aside}
    assert {".sqlite", ".sqlite-wal"} <= endings
    assert not (project.lake_path / "catalog.sqlite-wal").exists()
    assert verify(project).faults == []


def test_there_must_be_that_release(project):
    lose(project, "missing")
    with pytest.raises(BadInput, match="there is no release 'r2'") as error:
        recover(project, "r2")
    assert "r1" in error.value.hint


# --- releases and the working catalog's history -----------------------------------------------


def older_catalog_put_back(project: Project) -> None:
    """As of r1, while r2 has five passages more."""
    older = project.folder / "older.sqlite"
    with Lake.live(project):
        shutil.copy(catalog_file(project), older)
    with Lake.writer(project) as lake:
        with lake.transaction("ingest", "c") as transaction:
            transaction.insert("passages", passages(40, 15))
            transaction.say(passages=15)
        publish(lake, "r2")
    for file in project.lake_path.glob("catalog.sqlite*"):
        file.unlink()
    shutil.copy(older, catalog_file(project))


@pytest.mark.slow
def test_a_release_that_an_older_catalog_does_not_know_is_told_and_nothing_is_tidied(project):
    older_catalog_put_back(project)
    before = files(project).keys()
    (fault,) = verify(project).faults
    assert fault.file == str(release_file(project, "r2"))
    assert "later than the working catalog" in fault.what
    with pytest.raises(WorkFailed, match="nothing was deleted"):
        maintain(project)
    assert files(project).keys() == before

    with Lake.writer(project) as lake:
        assert publishing.next_name(project, lake.connection) == "r3"
        for n in range(6):  # its history goes on, and has other versions of these numbers
            with lake.transaction("ingest", f"{n}") as transaction:
                transaction.insert("passages", passages(60 + n, 1))
    (fault,) = verify(project).faults
    assert "another version" in fault.what
    done = recover(project, "r2")
    assert [commit["message"] for commit in done.commits] == []
    assert verify(project).faults == []
    maintain(project)


@pytest.mark.slow
def test_an_older_release_can_be_recovered_and_the_later_one_dropped(project):
    older_catalog_put_back(project)
    lose(project, "missing")
    done = recover(project, "r1")
    assert [commit["message"] for commit in done.commits] == [
        "ingest c: 20 passages gone",
        "ingest c: 15 passages",
        "build",
    ]
    assert done.gone == [{"table": "raw.passages", "collection": "c", "rows": 15}]
    with Lake.writer(project) as lake:
        publish(lake, publishing.next_name(project, lake.connection))
        gradelake(project.folder, "release", "drop", "r2")
    assert verify(project).faults == []
    maintain(project)
    with Lake.published(project) as lake:
        assert lake.release == "r3"


def test_a_release_is_written_once(project):
    before = release_file(project, "r1").read_bytes()
    with Lake.writer(project) as lake:
        with lake.transaction("build") as transaction:
            transaction.extra |= {"release": "r1"}
            transaction.finish_run([])
        publishing.publish(lake, "r1")  # as a process does that died in between
        assert release_file(project, "r1").read_bytes() == before
    older_catalog_put_back(project)
    before = release_file(project, "r2").read_bytes()
    with (
        Lake.writer(project) as lake,
        pytest.raises(WorkFailed, match="another release has this name"),
    ):
        publish(lake, "r2")
    assert release_file(project, "r2").read_bytes() == before
    refused = gradelake(project.folder, "build", "--name", "r2", code=2).stderr
    assert "there is already a release 'r2'" in refused


@pytest.mark.slow
def test_an_empty_database_over_a_lakes_files_is_refused(tmp_path):
    with postgres_server() as catalog:
        project = small_lake(projects.project(tmp_path, lake={"catalog": catalog}).folder)
        assert verify(project, deep=True).unhashed == 0
        with file_of(project, "grades").open("r+b") as file:
            file.write(b"p")  # PAR1
        (fault,) = verify(project, deep=True).faults
        assert "it held 20 rows of raw.grades, grader_id g, collection c" in fault.what
        with Lake.writer(project) as lake:
            assert publishing.next_name(project, lake.connection) == "r2"
        empty = {"catalog": new_database(catalog, "emptied")}
        emptied = projects.project(tmp_path, lake=empty)
        for opening in (Lake.create, Lake.writer, Lake.live, Lake.published, verify):
            with pytest.raises(
                LostCatalog, match=r"PostgreSQL catalog is empty, and .* data files"
            ):
                opening(emptied)
        with pytest.raises(BadInput, match="releases are in the catalog itself"):
            recover(emptied, "r1")
        settings = {"catalog": new_database(catalog, "theirs")}
        small_lake(projects.project(tmp_path / "theirs", lake=settings).folder)
        settings["data"] = tmp_path / "lake" / "data"
        theirs = projects.project(tmp_path / "theirs", lake=settings)
        before = files(project)
        with pytest.raises(WorkFailed, match=r"that the catalog reads are not in .* nothing was"):
            maintain(theirs)
        assert files(project) == before
