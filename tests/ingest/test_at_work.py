"""Files that are too much for a machine stop nothing but themselves."""

import gzip
import os
import signal
import subprocess
import sys

import pytest

from gradelake.ingest.collections.at_work import AtWork
from gradelake.sql.common import console, files
from gradelake.sql.common.problems import Rejected
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.ingest.conftest import report, said

NEWLINES = gzip.compress(b"\n" * (1 << 20))
RUN = "q1 Q0 p2 1 2.5 new\n"
SHOWN = "runs/good.run"


def ingesting(tiny, kilobytes: int) -> subprocess.CompletedProcess:
    """An ingest in a process of its own, which gets no more memory."""
    assert tiny.project  # writes its gradelake.toml
    return subprocess.run(
        ["sh", "-c", f"ulimit -v {kilobytes}; exec '{sys.executable}' -m gradelake ingest tiny"],
        cwd=tiny.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def note_of(tiny):
    return tiny.folder / "lake" / ".reading-tiny.json"


@pytest.mark.slow
def test_blank_lines_without_end_take_no_memory(ingested):
    zipped = gzip.compress(RUN.encode())
    path = ingested.write("runs/new.run", "")
    path = path.rename(f"{path}.gz")
    path.write_bytes(zipped + NEWLINES * 60 + gzip.compress(b"q2 Q0 p3 1 high new\n"))
    done = ingesting(ingested, 4 << 20)
    assert f"runs/new.run.gz:{60 * (1 << 20) + 2}: score 'high' is not" in done.stdout
    assert done.returncode == 3
    path.write_bytes(zipped + NEWLINES * 60)
    done = ingesting(ingested, 4 << 20)
    assert "wrote 1 system, 1 run entry" in done.stdout
    assert done.returncode == 0


def test_what_unzips_to_more_than_the_limits_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(NEWLINES * 65)
    said = report(files.chunks, path)
    assert "a.txt.gz: unzips to more than 200 times its size" in said
    assert "raise max_unzipped_ratio in [lake] of gradelake.toml" in said
    monkeypatch.setattr(files, "limits", files.UnzipLimits(0.1, 2000))
    assert "the file is empty" in report(files.chunks, path)
    path.write_bytes(NEWLINES * 100)
    assert "unzips to more than 0.1 GB" in report(files.chunks, path)


def test_a_project_sets_the_limits(tmp_path):
    file = tmp_path / "gradelake.toml"
    file.write_text("[lake]\nmax_unzipped_gb = 3\nmax_unzipped_ratio = 4.5\n")
    Lake.create(Project.read(file)).close()
    assert files.limits == files.UnzipLimits(3, 4.5)
    file.write_text("")
    Lake.create(Project.read(file)).close()
    assert files.limits == files.UnzipLimits(200, 200)


def at_work(tiny) -> AtWork:
    return AtWork(tiny.project, tiny.collection)


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_file_that_kills_what_reads_it_is_refused_until_it_changes(ingested):
    at_work(ingested).begin(SHOWN)  # and killed
    for _ in range(2):
        with pytest.raises(Rejected, match=r"runs/good\.run: what reads it is killed"):
            at_work(ingested).check(SHOWN, dies)
    os.utime(ingested.folder / SHOWN)
    at_work(ingested).check(SHOWN, dies)


def test_a_file_at_whose_second_trial_everything_was_killed_is_not_tried_again(ingested):
    at_work(ingested).begin(SHOWN)
    again = at_work(ingested)
    again.check(SHOWN, list)
    again.begin(SHOWN)
    with pytest.raises(Rejected, match="what reads it is killed"):
        at_work(ingested).check(SHOWN, list)


def test_what_does_not_fit_into_memory_is_named(ingested):
    with (
        pytest.raises(Rejected, match=r"runs/good\.run: does not fit into memory"),
        at_work(ingested).reading(SHOWN),
    ):
        bytearray(1 << 62)
    assert not note_of(ingested).exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_ingest_that_is_stopped_leaves_no_suspects(ingested, error, monkeypatch):
    def stopped(what, items, total):
        yield next(iter(items))
        raise error

    ingested.write("runs/new.run", RUN)
    ingested.write("runs/other.run", RUN)
    monkeypatch.setattr(console, "progress", stopped)
    with pytest.raises(error):
        ingested.ingest()
    assert not note_of(ingested).exists()


def test_a_file_that_changes_while_it_is_read_is_refused(ingested, monkeypatch):
    def changing(what, items, total):
        for item in items:
            other = ingested.write("new.run", "q1 Q0 p2 1 1.0 new\n")
            other.replace(ingested.folder / "runs" / "new.run")  # at once: it is never empty
            yield item

    ingested.write("runs/new.run", RUN)
    with monkeypatch.context() as patch:
        patch.setattr(console, "progress", changing)
        refused = ingested.ingest()
    assert "runs/new.run: was changed while it was read" in said(refused)
    assert "new" not in ingested.systems()
    assert said(ingested.ingest()) == ""
    assert "new" in ingested.systems()
