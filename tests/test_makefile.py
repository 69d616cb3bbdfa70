"""`make demo`: what it does with a demo that was made before. Nothing is built here."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.places import REPOSITORY


@pytest.fixture
def clone(tmp_path) -> Path:
    """A folder with the Makefile and a demo, in which nothing was edited."""
    (tmp_path / "Makefile").symlink_to(REPOSITORY / "Makefile")
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "gradelake.toml").write_text("")
    return tmp_path


def make(folder: Path, *arguments: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_demo_without_edits_makes_way(clone):
    assert make(clone, "old-demo") == ""
    assert [entry.name for entry in clone.iterdir()] == ["Makefile"]
    assert make(clone, "old-demo") == "", "there may be none"


def test_a_demo_with_edits_is_kept_under_another_name_each_time(clone):
    for number in (1, 2):
        seeds = clone / "demo" / "seeds"
        seeds.mkdir(parents=True, exist_ok=True)
        (seeds / "rubric_edits.csv").write_text(f"edit {number}")
        assert f"the old demo is now demo.old-{number}\n" in make(clone, "old-demo")
        assert not (clone / "demo").exists()
    for number in (1, 2):
        kept = clone / f"demo.old-{number}" / "seeds" / "rubric_edits.csv"
        assert kept.read_text() == f"edit {number}"
    assert (clone / "demo.old-1" / "gradelake.toml").exists()


def test_making_the_demo_begins_with_it():
    planned = make(REPOSITORY, "--dry-run", "demo")
    assert planned.index("demo.old-$n") < planned.index("gradelake init demo")
