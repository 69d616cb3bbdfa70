"""gradelake release list, keep, drop: as a person meets them, on small lakes without dbt."""

import json
import re
import shutil
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import published_file, release_file
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing
from tests.command_line import gradelake
from tests.sql.test_retention import add_queries, project_in, publish


@pytest.fixture(scope="module")
def three_releases(tmp_path_factory) -> Path:
    """A lake with r1, r2 and r3: 20 queries each, apart from those of the release before."""
    project = project_in(tmp_path_factory.mktemp("releases"))
    with Lake.writer(project) as lake:
        for n in range(3):
            with lake.transaction("test") as transaction:
                transaction.run("delete from {lake}.raw.queries")
            add_queries(lake, 20 * n, 20)
            publish(lake, f"r{n + 1}")
    return project.folder


@pytest.fixture
def project(three_releases, tmp_path) -> Project:
    shutil.copytree(three_releases, tmp_path, dirs_exist_ok=True)
    return Project.find(tmp_path)


def run(project: Project, *arguments: str) -> str:
    """What a command printed."""
    return gradelake(project.folder, *arguments).stdout


def refused(project: Project, *arguments: str, code: int = 2) -> str:
    """What a command said that did nothing."""
    return gradelake(project.folder, *arguments, code=code).stderr


def listed(project: Project) -> dict[str, dict]:
    return {
        r["release"]: r for r in json.loads(run(project, "release", "list", "--json"))["releases"]
    }


def test_the_list_says_what_is_kept_what_readers_get_and_what_dropping_frees(project):
    run(project, "release", "keep", "r1")
    found = listed(project)
    assert list(found) == ["r3", "r2", "r1"], "newest first"
    assert [found[name]["is_kept"] for name in found] == [False, False, True]
    assert [found[name]["is_read"] for name in found] == [True, False, False]
    for name in ("r1", "r2"):  # nobody else reads their one Parquet file; r3's is still in use
        copy = release_file(project, name).stat().st_size
        assert copy < found[name]["bytes_alone"] < copy + 5000
    assert found["r3"]["bytes_alone"] == release_file(project, "r3").stat().st_size
    shown = run(project, "release", "list").splitlines()
    assert shown[0].split() == ["release", "version", "published_at", "kept", "read", "alone"]
    assert "readers get it" in shown[1]
    assert " kept " in shown[3]


def test_before_the_first_build_the_list_says_what_to_do(tmp_path):
    assert "gradelake build" in run(project_in(tmp_path), "release", "list")


def test_keeping_and_undoing_say_what_they_did(project):
    assert run(project, "release", "keep", "r1") == "r1 is kept until it is dropped\n"
    assert run(project, "release", "keep", "r1") == "r1 is already kept\n"
    assert run(project, "release", "keep", "r1", "--undo") == "r1 is no longer kept\n"
    assert run(project, "release", "keep", "r1", "--undo") == "r1 was not kept\n"
    for undo in ([], ["--undo"]):
        assert "there is no release 'r0'" in refused(project, "release", "keep", "r0", *undo)


def test_a_dropped_release_is_found_no_more(project):
    assert "r2 is dropped" in run(project, "release", "drop", "r2")
    assert list(listed(project)) == ["r3", "r1"]
    commits = json.loads(run(project, "log", "--json"))["commits"]
    assert [c["release"] for c in commits if c["release"]] == ["r3", "r1"]
    assert "there is no release 'r2'" in refused(project, "sql", "--release", "r2", "select 1")
    assert "r2 was dropped before" in run(project, "release", "drop", "r2")
    assert "20" in run(project, "sql", "--release", "r1", "select count(*) from lake.raw.queries")


def test_the_newest_release_is_not_dropped_and_a_kept_one_with_force_only(project):
    run(project, "release", "keep", "r1")
    for force in ([], ["--force"]):
        assert "'r3' is the newest release" in refused(project, "release", "drop", "r3", *force)
    assert re.search("'r1' is kept(.|\n)+--force", refused(project, "release", "drop", "r1"))
    run(project, "release", "drop", "r1", "--force")
    with Lake.writer(project) as lake:
        publish(lake, "r1")  # the name may be used again; the mark went with the old one
    assert not listed(project)["r1"]["is_kept"]


def test_what_readers_get_is_not_dropped_when_the_newest_was_never_published(project):
    before = published_file(project).read_bytes()
    with Lake.writer(project) as lake:
        publish(lake, "r4")
    release_file(project, "r4").unlink()  # the build died before it was published
    published_file(project).unlink()
    published_file(project).write_bytes(before)
    assert list(listed(project)) == ["r3", "r2", "r1"]
    commits = json.loads(run(project, "log", "--json"))["commits"]
    assert [c["release"] for c in commits if c["release"]] == ["r3", "r2", "r1"]
    assert "'r3' is the newest release" in refused(project, "release", "drop", "r3")


def test_a_file_that_is_no_release_is_named(project):
    file = Path(release_file(project, "odd"))
    file.write_bytes(b"not a database" * 100)
    said = refused(project, "release", "list", code=1)
    assert "odd.sqlite: this is not a release's catalog" in said


@pytest.mark.slow
def test_the_lake_is_tidied_from_the_command_line(project):
    project.file.write_text("[lake]\nkeep_releases = 1\nkeep_days = 0\n")
    done = json.loads(run(project, "lake", "tidy", "--json"))
    assert (done["releases_dropped"], done["files_deleted"]) == (2, 2)
    assert done["bytes_freed"] > 0
    assert list(listed(project)) == ["r3"]
    assert "dropped 0 releases and 0 older versions" in run(project, "lake", "tidy")


def test_the_number_of_a_dropped_release_is_not_given_again(project):
    with Lake.writer(project) as lake:
        publish(lake, "with-a-name")
    run(project, "release", "drop", "r3")
    with Lake.writer(project) as lake:
        assert publishing.next_name(project, lake.connection) == "r4"
