"""Nights that keep to their money, watch a judge, collect a batch, submit the next and judge gates;
one is killed while it does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.analyses.gated import QUERIES, write_gated, write_run
from tests.command_line import a_night
from tests.grading.batch_server import BatchServer
from tests.grading.misbehaving import answer
from tests.grading.project import PRICES
from tests.lakes import start_lake
from tests.projects import write

pytestmark = pytest.mark.slow

MONEY = 0.37  # EUR a night: a round of the sentinel, and about half of what the batches cost
LIMITS = ("--max-cost", str(MONEY), "--on-failure", "cat > alert.json")
SETTINGS = """
[graders.gpt]
engine = "openai"
model = "m"
prompt = "thomas"
base_url = "{url}"
batch = true
batch_poll = 0.01
pause = 0.01

[sentinels.daily]
collection = "gated"
graders = ["gpt"]
pairs = 24
every_days = 0

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
WRONG = """
[gates.wrong]
collection = "gated"
system = "bas"
baseline = "again"
measures = "RR"
label_set = "assessor:me"
"""


def graded(asked):
    """A grade of 0 to 2; a token for four characters, and one for the reply."""
    usage = {"prompt_tokens": len(asked.text) // 4, "completion_tokens": 1}
    return answer(str(len(asked.text) % 3), usage=usage)


@pytest.fixture
def server():
    with BatchServer() as server:
        server.on("", graded)
        yield server


@pytest.fixture
def folder(tmp_path_factory, server, monkeypatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-long-key")
    folder = tmp_path_factory.mktemp("one-night") / "project"
    write_gated(folder)
    write(folder / "topics.tsv", {one: f"why is {one} so?" for one in QUERIES})
    write(folder / "passages.tsv", {"yes": "Because of that.", "no": "The sky is blue."})
    write(folder / "seeds/prices.csv", PRICES)
    with (folder / "gradelake.toml").open("a") as settings:
        settings.write('passages = "passages.tsv"\n' + SETTINGS.format(url=server.url))
    start_lake(folder)
    return folder


def cost_of(night: dict) -> float:
    return sum(each["cost"] or 0 for each in (*night["graded"], *night["sentinels"]))


def test_a_night_of_gate_money_batches_and_sentinel_is_killed_and_finished_by_the_next(
    folder, server
):
    first = a_night(folder, *LIMITS)
    assert [(each["round"], each["pairs"]) for each in first["sentinels"]] == [(1, 24)]
    submitted = sum(len(made.lines) for made in server.batches.values())
    assert 0 < submitted < 24  # the sentinel's round left too little for all
    (paid,) = first["graded"]
    assert (paid["pairs"], paid["under_way"], paid["left"]) == (0, submitted, 24 - submitted)
    assert f", {submitted} under way in batches; " in first["text"]
    assert [(gate["gate"], gate["verdict"]) for gate in first["gates"]] == [
        ("since", "no earlier release"),
        ("unsure", "cannot tell"),
    ]
    assert not (folder / "alert.json").exists()
    with Lake.live(Project.find(folder)) as lake:  # rounds are asked online, at the full price
        cost = lake.value("select cost from lake.marts.judge_drift")
    assert first["sentinels"][0]["cost"] == pytest.approx(cost)

    write_run(folder, "base", 9)
    for made in server.batches.values():
        made.looks = 9  # it is over when it is looked at next
    second = [sys.executable, "-m", "gradelake", "nightly", *LIMITS]
    with subprocess.Popen(second, cwd=folder) as killed:
        server.victim, server.kill = killed.pid, ("download", True, 0.0)
    assert killed.returncode == -9

    with (folder / "gradelake.toml").open("a") as settings:
        settings.write(WRONG)
    third = a_night(folder, *LIMITS, code=3)
    assert (third["state"], third["failed"], third["drifts"]) == ("done", [], [])
    (refused,) = third["refused"]
    assert refused["step"] == "gate wrong"
    assert "no system 'bas'" in refused["reason"]
    since, unsure = third["gates"]
    assert (since["verdict"], since["baseline_release"]) == ("fell", first["release"])
    assert since["measures"][0]["difference"] == -0.375
    assert unsure["verdict"] == "cannot tell"
    fell = "gate since: base fell by 0.375 RR (1.000 to 0.625)"
    assert fell in third["text"]
    assert json.loads((folder / "alert.json").read_text())["text"] == third["text"]

    with Lake.live(Project.find(folder)) as lake:
        rounds = lake.rows(
            "select round, count(*), count(distinct (query_id, passage_id)) "
            "from lake.raw.sentinel_grades group by round order by round"
        )
        grades = lake.value(
            "select count(*) from lake.raw.grades inner join lake.raw.graders using (grader_id) "
            "where name = 'gpt'"
        )
        errors = lake.column(
            "select error from lake.raw.pipeline_runs where command = 'nightly' order by started_at"
        )
    assert (errors[0], fell in errors[2]) == (None, True)
    assert all(each[1:] == (24, 24) for each in rounds)
    assert [each[0] for each in rounds] == [1, 2, 3]  # the killed night had ended the second
    assert grades == submitted
    assert set(server.times_billed().values()) == {1}
    under_way = sum(len(made.lines) for made in server.batches.values()) - submitted
    assert 0 < under_way <= 24 - submitted
    for night in (first, third):
        assert 0 < cost_of(night) <= MONEY
