"""A real PostgreSQL server for tests, started from Debian's packages and thrown away afterwards."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest


def server_programs() -> Path | None:
    """Folder of initdb and pg_ctl, or None."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def as_postgres(command: list[str]) -> None:
    """Run a server program; PostgreSQL refuses to run as root."""
    user = pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None
    subprocess.run(command, user=user, check=True, capture_output=True, text=True, cwd="/")


@contextmanager
def postgres_server() -> Iterator[str]:
    """Yields the catalog setting of a fresh, empty database; skips where no server is installed."""
    programs = server_programs()
    if programs is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="gradelake-postgres-", dir="/tmp"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(folder / "data")
    as_postgres([str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "grade", "-E", "UTF8"])
    options = f"-p {port} -h 127.0.0.1 -k {folder}"
    control = str(programs / "pg_ctl")
    as_postgres([control, "-D", data, "-o", options, "-w", "-l", f"{folder}/log", "start"])
    try:
        yield f"postgres:dbname=postgres host=127.0.0.1 port={port} user=grade"
    finally:
        as_postgres([control, "-D", data, "-m", "immediate", "-w", "stop"])
        shutil.rmtree(folder)


def new_database(catalog: str, name: str) -> str:
    """Make an empty database on the same server; returns its catalog setting."""
    with psycopg.connect(catalog.removeprefix("postgres:"), autocommit=True) as session:
        session.execute(f"create database {name}")
    return catalog.replace("dbname=postgres", f"dbname={name}")


def restart_server(dsn: str, away: float = 0) -> None:
    """Stop the server at once, as in a crash, and start it again: every session breaks off. It is
    `away` for so many seconds."""
    with psycopg.connect(dsn) as session:
        (data,) = session.execute("show data_directory").fetchone()
    stop = [str(server_programs() / "pg_ctl"), "-D", data, "-m", "immediate", "-w"]
    if away:
        as_postgres([*stop, "stop"])
        time.sleep(away)
    as_postgres([*stop, "-l", f"{data}/log", "restart"])
