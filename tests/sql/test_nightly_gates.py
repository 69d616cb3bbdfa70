"""Gates in a night: what fell is told, with exit code 3; what cannot be told alerts nobody."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.analyses.gated import write_gated, write_run
from tests.lakes import start_lake

pytestmark = pytest.mark.slow

GATES = """
[gates.since]
collection = "gated"
system = "base"
measures = ["RR", "AP"]
label_set = "assessor:me"

[gates.unsure]
collection = "gated"
system = "shaky"
baseline = "again"
measures = "RR"
label_set = "assessor:me"
"""


def night(folder: Path, code: int) -> dict:
    alert = ["--on-failure", "cat > alert.json"]
    done = subprocess.run(
        [sys.executable, "-m", "gradelake", "nightly", "--json", *alert],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gates") / "project"
    write_gated(folder)
    with (folder / "gradelake.toml").open("a") as settings:
        settings.write(GATES)
    start_lake(folder)
    return folder


def test_a_night_tells_what_fell_and_by_how_much(folder):
    first = night(folder, code=0)
    assert [(gate["gate"], gate["verdict"]) for gate in first["gates"]] == [
        ("since", "no earlier release"),
        ("unsure", "cannot tell"),
    ]
    assert not (folder / "alert.json").exists()

    write_run(folder, "base", 9)
    wrong = '[gates.wrong]\ncollection = "gated"\nsystem = "bas"\nbaseline = "again"\n'
    with (folder / "gradelake.toml").open("a") as settings:
        settings.write(f'{wrong}measures = "RR"\nlabel_set = "assessor:me"\n')
    second = night(folder, code=3)
    assert second["state"] == "done"
    since, unsure = second["gates"]
    assert (since["verdict"], since["baseline_release"]) == ("fell", first["release"])
    assert since["measures"][0]["difference"] == -0.375
    assert unsure["verdict"] == "cannot tell"
    said = "gate since: base fell by 0.3750 RR (1.0000 to 0.6250)"
    assert said in second["text"]
    (refused,) = second["refused"]
    assert refused["step"] == "gate wrong"
    assert "no system 'bas'" in refused["reason"]
    assert json.loads((folder / "alert.json").read_text())["text"] == second["text"]
    with Lake.live(Project.find(folder)) as lake:
        rows = lake.rows(
            "select error from lake.raw.pipeline_runs where command = 'nightly' order by started_at"
        )
    assert rows[0] == (None,)
    assert said in rows[1][0]
