"""Units and crontab lines start this installation's night, whatever the paths are called."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gradelake.nightly.schedule import Schedule, unit_word
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from tests import projects
from tests.command_line import gradelake

AWKWARD = 'a lake\'s "50%" $HOME\\n'


@pytest.fixture
def project(tmp_path) -> Project:
    """A project in a folder with spaces, quotes, a percent sign, a dollar and a backslash."""
    return projects.project(tmp_path / AWKWARD)


def said_by(unit: str, setting: str) -> str:
    (value,) = re.findall(rf"^{setting}=(.*)$", unit, re.MULTILINE)
    return value


def test_systemd_finds_nothing_wrong_with_the_units(project, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed (Debian: apt-get install systemd)")
    units = tmp_path / "units"
    done = gradelake(project.folder, "schedule", "--systemd", "--at", "03:15", "--into", str(units))
    names = sorted(file.name for file in units.iterdir())
    assert [name.rpartition(".")[2] for name in names] == ["service", "timer"]
    assert str(units / names[0]) in done.stdout
    checked = subprocess.run(
        ["systemd-analyze", "verify", *(str(units / name) for name in names)],
        capture_output=True,
        text=True,
        check=False,
    )
    about_ours = [line for line in checked.stderr.splitlines() if "gradelake" in line]
    assert (checked.returncode, about_ours) == (0, [])
    broken = (units / names[0]).read_text().replace("ExecStart=", "ExecStart=/no/such")
    (units / names[0]).write_text(broken)
    again = subprocess.run(
        ["systemd-analyze", "verify", str(units / names[0])], check=False, capture_output=True
    )
    assert again.returncode != 0, "it looks at what is to be started"


def test_the_service_starts_this_installation_in_the_projects_folder(project):
    unit = Schedule.at(project, "02:30", ("--max-minutes", "240")).service()
    assert said_by(unit, "Type") == "oneshot"
    assert said_by(unit, "WorkingDirectory") == str(project.folder).replace("%", "%%")
    start = said_by(unit, "ExecStart")
    assert Path(start.split()[0]).is_file()
    assert start.endswith(" nightly --max-minutes 240")
    assert said_by(unit, "EnvironmentFile").startswith("-/"), "secrets are in a file of their own"


def test_words_that_systemd_would_misread_are_quoted():
    for word, written in {
        "/a/plain.path": "/a/plain.path",
        "two words": '"two words"',
        'a"b': r'"a\"b"',
        "it's": '"it\'s"',
        "50%": "50%%",
        "$HOME": "$$HOME",
        "back\\slash": '"back\\\\slash"',
        "a;b": '"a;b"',
        "": '""',
    }.items():
        assert unit_word(word) == written


def test_the_timer_makes_up_for_a_missed_night(project):
    unit = Schedule.at(project, "3:05", ()).timer()
    assert said_by(unit, "OnCalendar") == "*-*-* 03:05:00"
    assert said_by(unit, "Persistent") == "true"
    assert said_by(unit, "RandomizedDelaySec")


@pytest.mark.slow
def test_the_line_of_the_crontab_runs_in_a_shell_as_cron_would_run_it(project, tmp_path):
    options = ("--at", "04:07", "--", "--max-pairs", "9")
    done = gradelake(project.folder, "schedule", "--cron", *options)
    comment, line = done.stdout.rstrip("\n").splitlines()
    assert comment.startswith("#")
    minute, hour, *days, command = line.split(" ", 5)
    assert (minute, hour, days) == ("7", "4", ["*", "*", "*"])
    assert not re.search(r"(?<!\\)%", command), "cron would end the line there"
    ran = subprocess.run(
        ["/bin/sh", "-c", command.replace(r"\%", "%")],
        cwd="/",
        env=os.environ | {"HOME": "/"},
        capture_output=True,
        text=True,
        check=False,
    )
    log = (project.folder / "nightly.log").read_text()
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", "")
    assert "there are no collections" in log
    assert str(project.file) in log


def test_what_cannot_be_scheduled_is_refused(project):
    for reason, *arguments in (
        ("is not a time of day", "--cron", "--at", "25:00"),
        ("--systemd or --cron", "--at", "02:30"),
        ("is a secret", "--cron", "--", "--webhook", "https://hooks.example/SECRET"),
        ("--into is for --systemd", "--cron", "--into", "units"),
    ):
        done = gradelake(project.folder, "schedule", *arguments, code=2)
        assert reason in done.stderr
        assert "SECRET" not in done.stderr + done.stdout


def test_a_path_that_no_unit_can_hold_is_refused(tmp_path):
    with pytest.raises(BadInput, match="Rename that folder"):
        Schedule.at(projects.project(tmp_path / "two\nlines"), "02:30", ())
