"""What breaks under a lake is told in words of a person who can fix it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import pytest

from gradelake.sql.common.plain_words import RanOut, damage, in_plain_words
from gradelake.sql.lake.opening import Lake
from tests.sql.small_lake import N_GRADES, small_lake


@contextmanager
def locked_by_another_program(catalog: Path) -> Iterator[None]:
    """Hold the catalog's write lock until the context is left."""
    hold = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('begin exclusive'); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(catalog)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        yield
        holder.stdin.close()


def test_a_full_disk_is_named_whoever_met_it():
    errors = []
    try:
        with open("/dev/full", "w") as file:
            file.write("x")
    except OSError as error:
        errors.append(error)
    try:
        duckdb.sql("copy (select 1) to '/dev/full' (format csv)")
    except duckdb.Error as error:
        errors.append(error)
    # seen where the footer of a Parquet file had no room
    footer = "parquet: File out of specification: Invalid thrift: transport error"
    errors.append(pl.exceptions.ComputeError(footer))
    said = [in_plain_words(error) for error in errors]
    assert [each.message for each in said] == ["no space is left on the disk"] * 3


MEMORY = "memory_gb in [lake] of gradelake.toml"


@pytest.mark.parametrize(
    ("setting", "what", "hint"),
    [
        ("memory_limit = '20MB'", "memory ran out: DuckDB may hold 19.0 MiB for this", MEMORY),
        (
            "memory_limit = '30MB'; set max_temp_directory_size = '1MB'",
            "no space is left on the disk",
            "Make room",
        ),
    ],
)
def test_what_ran_out_is_named_with_what_to_do(setting, what, hint, tmp_path):
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.execute(f"set temp_directory = '{tmp_path}'; set {setting}")
        with pytest.raises(duckdb.Error) as caught:
            connection.execute(
                "create table t as select hash(i) as h, repeat('x', 99) from range(300000) r(i) "
                "order by h"
            )
        said = in_plain_words(caught.value)
        assert (said.message, hint in said.hint) == (what, True)
        with pytest.raises(RanOut, match=re.escape(what)):
            damage(caught.value)


def test_memory_that_python_lacks_is_named():
    assert in_plain_words(MemoryError()).message == "memory ran out"


def test_a_catalog_that_another_program_locked_is_named(tmp_path):
    project = small_lake(tmp_path)
    with (
        Lake.writer(project) as lake,
        locked_by_another_program(project.lake_path / "catalog.sqlite"),
        pytest.raises(duckdb.Error) as caught,
        lake.transaction("judge") as transaction,
    ):
        transaction.run("delete from {lake}.raw.grades")
    assert "another program" in in_plain_words(caught.value).message
    with Lake.live(project) as lake:
        assert lake.value("select count(*) from lake.raw.grades") == N_GRADES


BESIDE = "SQLite writes beside it, and the folder is read-only; copy it elsewhere"
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


@pytest.mark.slow
def test_a_place_that_may_not_be_written_is_named(tmp_path):
    small_lake(tmp_path)
    (tmp_path / "gradelake.toml").write_text('[collections.c]\nqueries = "topics.tsv"\n')
    (tmp_path / "topics.tsv").write_text("".join(f"q{n}\tbees\n" for n in range(99)))
    for closed, command, message in (
        ("lake", "build", "lake cannot be used: it is read-only for this user"),
        ("lake", "ingest c", "lake/.lock cannot be used: Read-only file system"),
        ("lake", "nightly", "lake/.night.lock cannot be used: Read-only file system"),
        ("lake", "lake verify", f"lake/catalog.sqlite cannot be used: {BESIDE}"),
        ("lake", "lake backup kept", f"lake/catalog.sqlite cannot be used: {BESIDE}"),
        ("lake/data", "release keep r1", "data cannot be used: it is read-only for this user"),
        ("lake/data/raw", "ingest c", "/raw/queries cannot be used: Read-only file system"),
    ):
        apart = ["unshare", "--mount", "bash", "-c", READ_ONLY, str(tmp_path / closed)]
        if not shutil.which("unshare") or subprocess.run([*apart, "true"], check=False).returncode:
            pytest.skip("no mount namespaces here: nothing can be mounted read-only")
        done = subprocess.run(
            [*apart, sys.executable, "-m", "gradelake", *command.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        what, hint = done.stderr.splitlines()
        assert what.startswith("error: /")
        assert what.endswith(message)
        assert hint.endswith("Run it as a user, and on a file system, that may write there.")
        assert done.returncode == 1


def test_a_session_that_its_server_ended_is_named():
    """Words that sessions had when their PostgreSQL server was restarted under them."""
    for text in (
        "TransactionContext Error: Failed to get data file list from DuckLake: "
        "Current transaction is aborted (please ROLLBACK)",
        "IO Error: server closed the connection unexpectedly",
        "FATAL: terminating connection due to administrator command",
    ):
        assert "was its PostgreSQL server restarted?" in str(in_plain_words(duckdb.Error(text)))


def test_other_errors_are_left_as_they_are():
    assert in_plain_words(ValueError("no space for this")) is None
