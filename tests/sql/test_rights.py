"""Least rights: what the roles of sql/lake/rights may do in PostgreSQL, and a group in a folder."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
import pytest

from gradelake.sql import lake as lake_room
from gradelake.sql.common.errors import GradelakeError, WorkFailed
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.verify import verify
from tests.command_line import gradelake
from tests.places import REPOSITORY
from tests.postgres_server import new_database, postgres_server
from tests.projects import project
from tests.sql.small_lake import N_PASSAGES, passages, small_lake

pytestmark = pytest.mark.slow

RIGHTS = Path(lake_room.__file__).parent / "rights"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Name -> the same lake, opened as `nightly`, `night2`, `analyst` or `stranger`."""
    folder = tmp_path_factory.mktemp("rights")
    with postgres_server() as setting:
        catalog = new_database(setting, "gradelake")
        for name in ("roles.sql", "logins.sql"):
            run(catalog, (RIGHTS / name).read_text(encoding="utf-8"))
        run(catalog, "create role stranger login")
        run(catalog, "create role night2 login in role gradelake_writer")
        run(catalog, "alter role night2 set role = 'gradelake_writer'")
        lakes = {}
        for user in ("nightly", "night2", "analyst", "stranger"):
            place = catalog.replace("user=grade", f"user={user}")
            lakes[user] = project(folder / user, lake={"catalog": place, "data": folder / "data"})
        small_lake(lakes["nightly"].folder)
        yield lakes


def run(setting: str, statements: str) -> list[tuple]:
    with psycopg.connect(setting.removeprefix("postgres:"), autocommit=True) as session:
        answer = session.execute(statements)
        return answer.fetchall() if answer.description else []


def test_a_reader_reads_releases(lake):
    with Lake.published(lake["analyst"]) as opened:
        assert opened.release == "r1"
        assert opened.value("select count(text) from lake.raw.passages") == N_PASSAGES
    with Lake.live(lake["analyst"]) as opened:
        assert opened.value("select count(text) from lake.raw.passages") == 10
    assert verify(lake["analyst"]).faults == []


def test_a_reader_sees_tables_that_a_writer_makes_later(lake):
    with Lake.writer(lake["night2"]) as opened, opened.transaction("test") as transaction:
        transaction.run("create table {lake}.marts.later as select 7 as seven")
    with Lake.live(lake["analyst"]) as opened:
        assert opened.value("select seven from lake.marts.later") == 7


@pytest.mark.parametrize("command", ["release keep r1", "lake tidy", "nightly"])
def test_a_reader_that_writes_is_told_so_in_one_sentence(lake, command):
    folder = lake["analyst"].folder
    settings = folder / "gradelake.toml"
    if "[collections" not in settings.read_text():
        with settings.open("a") as file:
            file.write('[collections.c]\nqueries = "topics.tsv"\n')
    done = gradelake(folder, *command.split(), code=1)
    what, hint = done.stderr[done.stderr.index("error: ") :].splitlines()
    assert re.fullmatch(
        "error: this PostgreSQL login may not do that: "
        "cannot execute [A-Z ]+ in a read-only transaction",
        what,
    )
    assert "SECURITY.md says which there are" in hint


def test_a_reader_writes_nothing_whatever_it_attaches(lake):
    with (
        pytest.raises((duckdb.Error, WorkFailed), match=r"read-only|permission denied"),
        Lake.writer(lake["analyst"]) as opened,
        opened.transaction("test") as transaction,
    ):
        transaction.insert("passages", passages(100, 20))
    for statement in (
        "drop table ducklake_snapshot",
        "delete from ducklake_data_file",
        "update ducklake_table set table_name = 'x'",
        "insert into ducklake_metadata values ('a', 'b')",
        "create table mine (a int)",
        "create schema mine",
        "create database mine",
        "create role mine",
        "set role gradelake_writer",
        "alter table ducklake_snapshot owner to analyst",
    ):
        # also where it lifts the bolt that its login has on it
        for first in ("", "set default_transaction_read_only = off; "):
            with pytest.raises(psycopg.Error, match=r"permission denied|must be|read-only"):
                run(lake["analyst"].catalog, f"{first}{statement}")
    assert verify(lake["nightly"], deep=True).faults == []


def test_writers_change_what_the_other_made_and_get_nowhere_else(lake):
    for user, first in (("nightly", 200), ("night2", 300)):
        with Lake.writer(lake[user]) as opened, opened.transaction("test") as transaction:
            transaction.run("delete from {lake}.raw.passages where passage_id >= 'p100'")
            transaction.insert("passages", passages(first, 20))
    with Lake.live(lake["nightly"]) as opened:
        assert opened.value("select count(text) from lake.raw.passages") == 30
    for statement in (
        "create database mine",
        "create role mine",
        "create schema mine",
        "drop schema public cascade",
        "drop database gradelake",
        "copy (select 1) to '/tmp/x'",
        "alter role analyst superuser",
    ):
        with pytest.raises(psycopg.Error, match=r"permission denied|must be|cannot drop"):
            run(lake["nightly"].catalog, statement)


def test_who_has_no_role_does_not_even_connect(lake):
    with pytest.raises(WorkFailed, match="permission denied for database"):
        Lake.live(lake["stranger"])


@pytest.mark.fast
def test_the_page_shows_these_very_statements_and_policies():
    page = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
    for name, text in ((file.name, file.read_text(encoding="utf-8")) for file in RIGHTS.iterdir()):
        shown = re.sub(r"\A(--.*\n)+", "", text)  # without the file's own introduction
        assert shown in page or name == "bucket_reader.json", name


# --- a lake in a folder ---------------------------------------------------------------------------


@contextmanager
def as_user(user: int, group: int) -> Iterator[None]:
    """What this process does inside, it does as somebody else."""
    groups = os.getgroups()
    os.setgroups([group])
    os.setegid(group)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")
def test_the_group_of_a_folder_reads_its_releases_and_others_see_nothing():
    """As SECURITY.md says: umask 027 for the writer, readers in the folder's group."""
    staff, stranger = 65501, 65502
    folder = Path(tempfile.mkdtemp(prefix="gradelake-", dir="/tmp"))
    before = os.umask(0o027)
    try:
        os.chown(folder, 0, staff)
        folder.chmod(0o2750)  # what is made below gets its group
        made = small_lake(folder / "project")
        with as_user(staff, staff):
            with Lake.published(made) as opened:
                assert opened.value("select count(text) from lake.raw.passages") == N_PASSAGES
            with pytest.raises((duckdb.Error, GradelakeError, OSError)), Lake.writer(made):
                pytest.fail("the group was let in to write")
            with pytest.raises(PermissionError):
                (made.lake_path / "catalog.sqlite").open("ab")
        with as_user(stranger, stranger), pytest.raises(PermissionError):
            os.listdir(folder)
        # nothing is changed by being read, and nobody gained anything
        assert verify(made).faults == []
        assert all(path.stat().st_mode & 0o027 == 0 for path in folder.rglob("*"))
    finally:
        os.umask(before)
        shutil.rmtree(folder)
