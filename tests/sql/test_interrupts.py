"""Ctrl-C at bad moments: it always ends a command, and never leaves it hanging."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import gradelake
from tests.tiers import CAMPAIGN, first_of

pytestmark = pytest.mark.slow

STOPPED = "interrupted; nothing half-done is in the lake\n"
# SIGINT comes while a module is looked for, once: {module}, and what is done then: {work}
AT_AN_IMPORT = """
import signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
{work}
"""
HEEDED = "import time\nfrom gradelake.sql.common.interrupts import heed_ctrl_c\nheed_ctrl_c()\n"


def run(code: str, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


MODULES = ("dbt.cli.main", "gradelake.sql.build.dbt_plugin")


@pytest.mark.parametrize("module", first_of(1, *MODULES, mark=CAMPAIGN))
def test_a_build_is_stopped_whatever_is_imported_at_that_moment(
    demo, tmp_path, module, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # dbt compiles
    folder = shutil.copytree(demo, tmp_path / "demo")
    arguments = ["gradelake", "build", "--full-refresh"]
    work = f"import gradelake.app\nsys.argv = {arguments}\ngradelake.app.main()"
    done = run(AT_AN_IMPORT.format(module=module, work=work), folder)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.lstrip() == STOPPED
    assert "r2" not in gradelake(folder, "log").stdout


@pytest.mark.fast
def test_a_module_is_whole_before_an_interruption_is_raised(tmp_path):
    work = f"""{HEEDED}
try:
    import wave
    time.sleep(60)
except KeyboardInterrupt:
    print(wave.open)
"""
    done = run(AT_AN_IMPORT.format(module="wave", work=work), tmp_path)
    assert done.stdout.startswith("<function open"), done.stderr


@pytest.mark.fast
def test_an_interruption_that_python_would_drop_is_raised_again(tmp_path):
    code = f"""{HEEDED}
import signal

class Dying:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

try:
    Dying()
    time.sleep(60)
except KeyboardInterrupt:
    print("heeded")
"""
    done = run(code, tmp_path)
    assert (done.stdout, done.stderr) == ("heeded\n", "")


def test_a_query_that_is_interrupted_is_no_failure(tmp_path):
    code = """
import os, signal, sys, threading
import click, duckdb
from gradelake.app import app, main

def forever():
    threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        duckdb.execute("select count(*) from range(10_000_000_000) t(a) where a * a % 7 = 3")
    finally:
        duckdb.interrupt()  # its threads would go on, and the process wait for them

command = click.Command("forever", callback=forever)
app.add_command(command)
sys.argv = ["gradelake", "forever"]
main()
"""
    done = run(code, tmp_path)
    assert (done.returncode, done.stderr.lstrip()) == (130, STOPPED)
