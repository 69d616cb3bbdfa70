"""Nights: what arrived lands, what is missing is graded, what fails is told and survived."""

import gzip
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gradelake.nightly import WEBHOOK, step, summary
from gradelake.nightly.alert import Alerts
from gradelake.nightly.budget import Budget, Share
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import night_lock
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.verify import verify
from tests.command_line import a_night, gradelake, run_apart, start
from tests.conftest import made_once
from tests.edits import write_edits
from tests.grading.project import engine_code
from tests.lakes import start_lake
from tests.reading import live, published

SETTINGS = """
[grading]
engines = "engines"

[collections.tiny]
queries = "topics.tsv"
passages = "passages.tsv"
judgments = { nist = "nist.qrels" }
runs = ["runs/*"]
inbox = "inbox"
"""
NOWHERE = '\n[collections.nowhere]\nqueries = "missing.tsv"\n'
THOMAS = '\n[graders.thomas]\nengine = "lexical"\nprompt = "thomas"\n'
SUN = '\n[graders.sun]\nengine = "lexical"\nprompt = "sun"\n'
# asked about bees, it cannot be used any more
BREAKING = """
chunk_pairs = 1

def score(self, prompts):
    if any("Bees" in prompt.values["passage"] for prompt in prompts):
        raise EngineUnusable("the endpoint is gone", "Start it again.")
    return [Response("1", prompt_tokens=7, completion_tokens=1) for _ in prompts]
"""
BREAKS = '\n[graders.breaks]\nengine = "breaking"\nprompt = "thomas"\nactors = 1\n'
UNPRICED = '\n[graders.unpriced]\nengine = "openai"\nmodel = "m"\nprompt = "thomas"\n'
TEXTS = ["The sky is blue.", "Air scatters light.", "Bees see the sun.", "Bees fly.", "A car."]


def write(folder: Path, name: str, *lines: str, seconds_ago: float = 3600) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines))
    then = time.time() - seconds_ago
    os.utime(file, (then, then))
    return file


def finished(night: subprocess.Popen, code: int = 0) -> dict:
    out, err = night.communicate(timeout=300)
    assert night.returncode == code, out + err
    return json.loads(out)


ASKS = '\n[graders.asks]\nengine = "lexical"\nprompt = "question_self_rating"\n'
MAILED = ("--on-failure", "cat > mailed.json")
NIGHTS = """
    select json_extract_string(counts, '$.night'), state, error, finished_at is not null
    from lake.raw.pipeline_runs where command = 'nightly' order by started_at
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    """A project after its first night, which might grade 5 pairs of 2 x 4."""

    def make(folder: Path) -> None:
        write(folder, "gradelake.toml", SETTINGS + THOMAS + SUN)
        start_lake(folder)
        write(folder, "engines/breaking.py", engine_code(BREAKING))
        write(folder, "topics.tsv", "q1\twhy is the sky blue", "q2\thow do bees find home")
        write(folder, "passages.tsv", *(f"p{n}\t{text}" for n, text in enumerate(TEXTS)))
        write(folder, "nist.qrels", "q1 0 p0 2", "q1 0 p1 1", "q2 0 p2 1", "q2 0 p4 0")
        write(folder, "runs/good.run", "q1 Q0 p1 1 2.5 good", "q2 Q0 p2 2 1.5 good")
        night = a_night(folder, "--max-pairs", "5", writes=True)
        (folder / "first.json").write_text(json.dumps(night))

    return made_once(tmp_path_factory, "first-night", make)


@pytest.fixture
def folder(first, tmp_path) -> Path:
    return shutil.copytree(first, tmp_path / "a lake")


# --- a night that goes well -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_night_ingests_grades_builds_and_tidies(first):
    told = json.loads((first / "first.json").read_text())
    assert (told["state"], told["exit_code"], told["failed"]) == ("done", 0, [])
    assert told["release"] == told["night"]
    assert told["came_in"][0]["written"]["systems"] == 1
    assert [each["step"] for each in told["steps"]] == [
        "ingest tiny",
        "plan tiny",
        "grade tiny thomas",
        "grade tiny sun",
        "build",
        "report",
        "lake tidy",
    ]
    assert told["release"] in (first / "reports" / "tiny.html").read_text()
    assert live(first).rows(NIGHTS) == [(told["night"], "done", None, True)]
    with Lake.published(Project.find(first)) as release:
        assert release.release == told["night"]
        assert release.rows("select state from lake.marts.nights") == [("running",)]
    assert (
        json.loads((first / "lake" / "nights" / f"{told['night']}.json").read_text())["counts"]
        == told["counts"]
    )

    # the budget is shared by the graders and never exceeded
    assert [(each["pairs"], each["left"]) for each in told["graded"]] == [(2, 2), (3, 1)]
    assert live(first).rows("select count(*) from lake.raw.grades") == [(5,)]
    assert (told["counts"]["pairs"], told["counts"]["pairs_left"]) == (5, 3)

    # commits of its steps carry its id
    messages = live(first).rows(
        "select commit_message from lake.snapshots() "
        f"where json_extract_string(commit_extra_info, '$.night') = '{told['run_id']}'"
    )
    commands = {message.split(":")[0] for (message,) in messages}
    assert {"ingest tiny", "grade tiny sun", "grade tiny thomas", "build"} <= commands


@pytest.mark.slow
def test_a_night_that_changes_nothing_publishes_nothing_and_is_seen_all_the_same(first, folder):
    told = json.loads((first / "first.json").read_text())
    (folder / "gradelake.toml").write_text(SETTINGS)  # nothing to grade
    done = a_night(folder)
    assert [each["step"] for each in done["steps"]] == ["ingest tiny"]
    assert (done["release"], done["nothing_changed_since"]) == (None, told["release"])
    assert done["text"].endswith(f"nothing changed since {told['release']}")
    asked = gradelake(folder, "sql", "@nights", "--format", "json").stdout
    assert [(each["night"], each["release"]) for each in json.loads(asked)] == [
        (done["night"], None),
        (told["night"], told["release"]),
    ]


@pytest.mark.slow
def test_a_night_after_one_with_nothing_to_do_plans_only_where_something_changed(folder, tmp_path):
    write(folder, "gradelake.toml", SETTINGS + ASKS)
    first, second = a_night(folder), a_night(folder)
    assert [each["step"] for each in first["steps"]] == ["ingest tiny", "plan tiny"]
    assert [each["step"] for each in second["steps"]] == ["ingest tiny"]
    assert second["left_out"] == first["left_out"] != []

    other = shutil.copytree(folder, tmp_path / "another grader")
    write(other, "gradelake.toml", SETTINGS + ASKS + THOMAS)
    (found,) = a_night(other, "--max-pairs", "0")["graded"]
    assert (found["grader"], found["left"], found["out_of_budget"]) == ("thomas", 2, True)

    write(folder, "bank.csv", "query_id,kind,text", "q1,question,Is it blue?")
    gradelake(folder, "import", "bank", "tiny", "bank.csv", "--name", "ours")
    (found,) = a_night(folder, "--max-pairs", "0")["graded"]
    assert (found["grader"], found["left"]) == ("asks", 2)


# --- a night in which things go wrong -------------------------------------------------------------


@pytest.mark.slow
def test_a_night_that_would_publish_far_less_than_the_last_stops_and_tells_it(first, folder):
    told = json.loads((first / "first.json").read_text())
    write(folder, "gradelake.toml", f"{SETTINGS}\n[lake]\nleast_share = 0.7\n")
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        two = "select grader_id, query_id, passage_id from {lake}.raw.grades order by all limit 2"
        these = f"(grader_id, query_id, passage_id) in ({two})"
        transaction.run(f"delete from {{lake}}.raw.grades where {these}")
        transaction.run("delete from {lake}.raw.judgments where passage_id = 'p4'")  # one of four
    done = a_night(folder, *MAILED, code=1)
    ((step, reason),) = [(each["step"], each["reason"]) for each in done["failed"]][:1]
    assert step == "build"
    gone = f"3 rows of raw.grades instead of 5 in release {told['release']} (less than 70%)"
    assert f"there would be {gone}" in reason
    assert json.loads((folder / "mailed.json").read_text())["release"] is None
    with Lake.published(Project.find(folder)) as lake:
        assert lake.release == told["release"]


@pytest.mark.slow
def test_wrong_edits_of_the_rubric_leave_the_last_good_ones_in_force(folder):
    write(folder, "gradelake.toml", SETTINGS + ASKS)
    write(folder, "bank.csv", "query_id,kind,text", "q1,question,Is it blue?")
    gradelake(folder, "import", "bank", "tiny", "bank.csv", "--name", "ours")
    of_ours = {"collection": "tiny", "bank": "ours", "action": "add", "kind": "question"}
    good = of_ours | {"rubric_version": 1, "query_id": "q1", "text": "What scatters?"}
    write_edits(folder, good)
    gradelake(folder, "build")
    wrong = of_ours | {"rubric_version": 2, "query_id": "q9", "text": "Who?"}
    write_edits(folder, good, wrong)
    write(folder, "inbox/new.run", "q1 Q0 p3 1 9 new")
    told = a_night(folder, *MAILED, code=3)
    (refused,) = told["refused"]
    assert refused["step"] == "rubric"
    assert "rubric_edits.csv: row 2 (add" in refused["reason"]
    assert told["text"].endswith("refused: rubric")
    assert told["failed"] == []
    assert json.loads((folder / "mailed.json").read_text())["refused"] == [refused]
    assert live(folder).rows(NIGHTS)[-1][1:3] == ("done", f"rubric: {refused['reason']}")
    with Lake.published(Project.find(folder)) as lake:
        assert lake.release == told["night"]
        assert lake.rows("select max(rubric_version) from lake.marts.rubric_versions") == [(1,)]
        graded = "select distinct item_text from lake.marts.grade_grid where grade is not null"
        assert set(lake.rows(graded)) == {("Is it blue?",), ("What scatters?",)}
    again = a_night(folder, code=3)
    assert again["nothing_changed_since"] == told["night"]


def kill_the_reader(night: subprocess.Popen, note: Path, times: int) -> None:
    """Kill what reads poison.run.gz, as the system does for its memory; `note` names the file with
    how often it was tried. A night's step reads it, the next night's in a process first."""
    started, tried = [], ""
    while len(started) < times or f", {times}]" not in tried:
        assert night.poll() is None, night.communicate()
        time.sleep(0.01)
        with suppress(psutil.Error, FileNotFoundError):  # one has ended, or nothing is read
            started = steps_of(night)
            tried = note.read_text().partition("poison")[2]
    started[-1].kill()


@pytest.mark.slow
def test_a_file_that_kills_what_reads_it_is_quarantined_by_the_next_night(folder):
    write(folder, "gradelake.toml", f"{SETTINGS}\n[lake]\nmax_unzipped_ratio = 2000\n")
    write(folder, "inbox/new.run", "q1 Q0 p0 1 9 new", "q2 Q0 p3 1 9 new")
    poison = write(folder, "inbox/poison.run.gz")
    poison.write_bytes(gzip.compress(b"\n" * (1 << 20)) * 20_000)
    (folder / "inbox/poison.run.gz.done").touch()
    note = folder / "lake" / ".reading-tiny.json"
    night = start(folder, "nightly", "--json")
    kill_the_reader(night, note, 1)
    (failed,) = finished(night, 1)["failed"]
    assert failed["reason"].startswith("it was killed by SIGKILL")

    night = start(folder, "nightly", "--json", *MAILED)
    kill_the_reader(night, note, 2)
    told = finished(night, 3)
    (came_in,) = told["came_in"]
    assert came_in["accepted"] == ["inbox/new.run"]
    ((file, reason),) = [(each["file"], each["reason"]) for each in came_in["quarantined"]]
    assert file == "inbox/poison.run.gz"
    assert reason == "inbox/poison.run.gz: what reads it is killed: there may be too little memory"
    assert file in (folder / "mailed.json").read_text()
    assert live(folder).rows("select count(*) from lake.raw.run_entries where system = 'new'") == [
        (2,)
    ]


@pytest.mark.slow
def test_what_fails_or_is_bad_stops_nothing_else_and_is_told(folder, httpserver, monkeypatch):
    write(folder, "gradelake.toml", SETTINGS + NOWHERE + BREAKS + THOMAS + UNPRICED)
    write(folder, "inbox/new.run", "q1 Q0 p0 1 9 new", "q2 Q0 p3 1 9 new")
    write(folder, "inbox/bad.run", "q1 Q0 p0 1 high bad")
    write(folder, "inbox/growing.run", "q1 Q0 p0 1 9", seconds_ago=0)
    httpserver.expect_request("/T0P/SECRET", "POST").respond_with_data("")
    secret = httpserver.url_for("/T0P/SECRET")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv(WEBHOOK, secret)
    told = a_night(folder, "--max-cost", "1", *MAILED, code=1, writes=True)
    assert [state for _, state, *_ in live(folder).rows(NIGHTS)] == ["done", "failed"]

    # what came in
    came_in, nothing_came = told["came_in"]
    assert nothing_came["state"] == "failed"
    assert came_in["accepted"] == ["inbox/new.run"]
    assert came_in["waiting"] == ["inbox/growing.run"]
    assert [each["file"] for each in came_in["quarantined"]] == ["inbox/bad.run"]
    assert "score 'high' is not a finite number" in came_in["quarantined"][0]["reason"]
    assert (folder / "inbox" / "quarantine" / "bad.run.reason.txt").is_file()

    # the collection and the grader that fail are named; the others went on, no pair twice
    assert [(each["step"], each["state"]) for each in told["failed"]] == [
        ("ingest nowhere", "failed"),
        ("plan nowhere", "skipped"),
        ("grade tiny breaks", "failed"),
        ("grade tiny unpriced", "skipped"),
    ]
    assert "missing.tsv" in told["failed"][0]["reason"]
    assert "the endpoint is gone" in told["failed"][2]["reason"]
    no_price = "seeds/prices.csv has no price of its model, which --max-cost needs"
    assert told["failed"][3]["reason"] == no_price
    graded = {each["grader"]: each for each in told["graded"]}
    assert (graded["thomas"]["state"], graded["thomas"]["left"]) == ("done", 0)
    broken = graded["breaks"]
    n_committed = broken["pairs"]
    assert (broken["state"], broken["tokens"]) == ("failed", 8 * n_committed)
    assert 0 < n_committed < n_committed + broken["left"]
    assert live(folder).rows(
        "select count(*) from lake.raw.grades inner join lake.raw.graders "
        "using (grader_id) where name = 'breaks'"
    ) == [(n_committed,)]
    assert live(folder).rows(
        "select count(distinct (grader_id, query_id, passage_id)), count(*) - ? "
        "from lake.raw.grades",
        n_committed,
    ) == [(8 + n_committed, 8)]

    # what moved since the last night
    assert told["moved"]["before"] == json.loads((folder / "first.json").read_text())["release"]
    boards = {(each["label_set"], each["measure"]): each for each in told["moved"]["leaderboards"]}
    board = boards["assessor:nist", "nDCG@10"]
    assert board["systems"][0]["system"] == "new"
    assert board["systems"][0]["rank_before"] is None

    # the summary went out; where to is written nowhere
    assert [each["ok"] for each in told["alerts"]] == [True, True]
    assert json.loads((folder / "mailed.json").read_text())["failed"] == told["failed"]
    ((posted, _),) = httpserver.log
    assert posted.get_json()["text"].startswith(f"{told['night']}: failed")
    assert "T0P" not in json.dumps(told)
    # of three letters, a report's packed data may have any by chance
    files = [file for file in folder.rglob("*") if file.is_file()]
    holding = [file for file in files if b"T0P/SECRET" in file.read_bytes()]
    assert holding == []
    assert live(folder).rows(
        "select arguments from lake.raw.pipeline_runs where state = 'failed'"
    ) == [('["nightly", "--max-cost", "1.0", "--on-failure ***", "--webhook ***"]',)]
    assert verify(Project.find(folder)).faults == []

    # the night is a row of the mart, and a person can read it
    shown = gradelake(
        folder,
        "sql",
        "--live",
        "--format",
        "csv",
        "select state, files_accepted, files_quarantined, files_waiting, "
        "pairs_graded, steps_failed from nights",
    )
    in_all = 3 + n_committed
    assert shown.stdout.splitlines()[1:] == [f"failed,1,1,1,{in_all},4", "done,0,0,0,5,0"]


# --- killed and stopped ---------------------------------------------------------------------------


def steps_of(night: subprocess.Popen) -> list[psutil.Process]:
    """Processes of a night's steps, and what they started."""
    return [
        each
        for each in psutil.Process(night.pid).children(recursive=True)
        # the night's own child forks the steps; Python's tracker does not read
        if each.ppid() != night.pid and "resource_tracker" not in str(each.cmdline())
    ]


def wait_for_step(night: subprocess.Popen, step: str) -> None:
    """Read what a night says until it begins a step."""
    assert any(line.startswith(f"{step} ...") for line in night.stderr), step


@pytest.mark.slow
def test_a_stopped_night_says_so_a_killed_one_takes_its_step_along_and_the_next_does_the_rest(
    folder,
):
    project = Project.find(folder)
    write(folder, "gradelake.toml", SETTINGS)  # grading that is killed has tests of its own
    write(folder, "inbox/new.run", "q1 Q0 p0 1 9 new", "q2 Q0 p3 1 9 new")
    night = start(folder, "nightly", *MAILED)
    wait_for_step(night, "build")
    night.send_signal(signal.SIGTERM)
    out, err = night.communicate(timeout=300)
    assert night.returncode == 130, out + err
    assert "stopped; " in out.splitlines()[0]
    (first, *_), (_, state, error, is_closed) = live(folder).rows(NIGHTS)
    assert (state, is_closed) == ("failed", True)
    assert error.startswith("it was stopped\nbuild: ")
    assert json.loads((folder / "mailed.json").read_text())["exit_code"] == 130

    long = write(folder, "inbox/long.run", *(f"q1 Q0 p{n} 1 1 long" for n in range(2_000_000)))
    night = start(folder, "nightly", "--json")
    wait_for_step(night, "ingest tiny")
    name = live(folder).value(
        "select json_extract_string(counts, '$.night') "
        "from lake.raw.pipeline_runs where state = 'running'"
    )
    while not (steps := steps_of(night)):
        assert night.poll() is None, night.communicate()
    for each in steps:  # so that the file is still at work when the night is killed
        each.suspend()
    refused = gradelake(folder, "nightly", "--json", code=75)  # it leaves at once
    assert json.loads(refused.stdout)["night"] is None
    assert "another night is at work: gradelake nightly (process" in refused.stderr
    night.kill()
    for each in steps:
        each.resume()
    night.communicate()
    assert psutil.wait_procs(steps, timeout=10)[1] == []
    long.unlink()
    with Lake.published(project) as release:
        assert release.release == first
        assert release.rows("select system from lake.raw.systems") == [("good",)]

    told = a_night(folder)
    assert [each["night"] for each in told["killed_before"]] == [name]
    assert [row[1:] for row in live(folder).rows(NIGHTS)[2:]] == [
        ("failed", "killed: it never came to its end", False),
        ("done", None, True),
    ]
    boards = "select distinct system from lake.marts.leaderboard order by 1"
    assert published(folder).column(boards) == ["good", "new"]
    assert told["moved"]["n_leaderboards_moved"] > 0
    assert verify(project).faults == []


# --- nights that cannot begin ---------------------------------------------------------------------


def test_a_night_that_cannot_even_begin_is_told_too(tmp_path):
    write(tmp_path, "gradelake.toml", "[lake")
    done = gradelake(tmp_path, "nightly", "--on-failure", "cat > mailed.json", "--json", code=2)
    mailed = json.loads((tmp_path / "mailed.json").read_text())
    assert "gradelake.toml:1:" in mailed["error"]
    assert json.loads(done.stdout)["exit_code"] == 2


@pytest.mark.slow
def test_on_postgresql_the_lock_is_the_catalogs(catalog, tmp_path):
    write(tmp_path, "gradelake.toml", f'[lake]\ncatalog = "{catalog}"', SETTINGS)
    with night_lock(Project.find(tmp_path)):
        done = run_apart(tmp_path, "nightly")
    assert done.returncode == 75
    assert "another night is at work: another process" in done.stderr


def test_a_webhook_that_is_none_is_refused_without_showing_it(tmp_path):
    write(tmp_path, "gradelake.toml", SETTINGS)
    done = gradelake(tmp_path, "nightly", "--webhook", "hooks.example/SECRET", code=2)
    assert "must begin with https://" in done.stderr
    assert "SECRET" not in done.stderr
    assert not (tmp_path / "lake").exists()


# --- alerts, budgets, summaries -------------------------------------------------------------------


def test_an_alert_that_fails_is_reported_without_the_address(httpserver):
    httpserver.expect_request("/SECRET").respond_with_data("", 500)
    elsewhere = {"Location": httpserver.url_for("/elsewhere")}  # sent on, it would be lost
    httpserver.expect_request("/MOVED").respond_with_data("", 301, elsewhere)
    for address, reason in {
        httpserver.url_for("/SECRET"): "the server answered 500",
        httpserver.url_for("/MOVED"): "the server answered 301",
        "http://127.0.0.1:1/SECRET": "Connection refused",
    }.items():
        sent = Alerts("echo no mail today >&2; exit 7", address).send({"text": "x"})
        assert sent == [
            {"alert": "command", "ok": False, "reason": "exit code 7: no mail today"},
            {"alert": "webhook", "ok": False, "reason": reason},
        ]
    (sent,) = Alerts(None, "http://127.0.0.1:1/a secret with spaces").send({"text": "x"})
    assert (sent["ok"], "secret" in sent["reason"]) == (False, False)


def test_a_command_is_told_no_address(tmp_path, monkeypatch):
    monkeypatch.setenv(WEBHOOK, "https://hooks.example/SECRET")
    (sent,) = Alerts(f"env > '{tmp_path}/seen'", None).send({"text": "x"})
    assert sent["ok"]
    assert "SECRET" not in (tmp_path / "seen").read_text()


def test_what_one_grader_does_not_need_of_the_budget_goes_to_the_others():
    assert Budget().share(7) == Share(None, None)
    budget = Budget(max_pairs=90)
    assert budget.share(3).limit == 30
    budget.spend(10)
    assert budget.share(2).limit == 40
    budget.spend(80)
    assert budget.share(1) is None
    budget = Budget(max_cost=9)
    assert budget.share(3, n_paid=2) == Share(None, None, 4.5)
    budget.spend(10, 1)
    assert budget.share(2, n_paid=0) == Share(None, None)  # it asks no model
    assert budget.share(1, n_paid=1).max_cost == 8
    budget.spend(10, 8)
    assert budget.share(1, n_paid=1) is None
    assert budget.share(1, n_paid=0) == Share(None, None)


def test_minutes_are_shared_by_what_is_left_of_them():
    now = [100.0]
    budget = Budget(max_minutes=10, clock=lambda: now[0])
    assert budget.share(2).max_minutes == pytest.approx(5)
    now[0] += 120
    assert budget.share(1).max_minutes == pytest.approx(8)
    now[0] += 480
    assert budget.share(1) is None


def said_and_stays() -> dict[str, str]:
    threading.Thread(target=threading.Event().wait).start()
    return {"said": "all"}


@pytest.mark.slow
def test_a_step_that_said_all_and_does_not_leave_holds_no_night_up(monkeypatch):
    monkeypatch.setattr(step, "GRACE", 0.5)
    with step.forker() as forker:
        done = step.run("it", said_and_stays, step.Stop(forker), apart=True)
    assert (done.state, done.result) == (step.DONE, {"said": "all"})
    assert multiprocessing.active_children() == []


def test_a_file_whose_name_is_no_utf8_can_be_told(tmp_path):
    write(tmp_path, "gradelake.toml", "")
    name = os.fsdecode(b"inbox/caf\xe9.run")
    failed = [{"step": "ingest tiny", "state": "failed", "reason": name}]
    told = {
        "night": "night-2026-02-01",
        "exit_code": 1,
        "failed": failed,
        "refused": [],
        "gates": [],
        "drifts": [],
        "fooled": [],
    }
    file = summary.write(Project.find(tmp_path), told)
    assert json.loads(file.read_text(encoding="utf-8"))["failed"][0]["reason"] == name
    assert summary.error_of(told) == r"ingest tiny: inbox/caf\udce9.run"


def test_summaries_of_the_newest_nights_are_kept(tmp_path):
    write(tmp_path, "gradelake.toml", "")
    project = Project.find(tmp_path)
    for day in range(1, 31):
        write(tmp_path, f"lake/nights/night-2026-01-{day:02d}.json", seconds_ago=9999 - day)
    write(tmp_path, "lake/nights/people-put-this-here.txt")
    summary.write(project, {"night": "night-2026-02-01"})
    kept = sorted(file.name for file in (tmp_path / "lake" / "nights").iterdir())
    assert len(kept) == summary.KEPT + 1
    assert (kept[0], kept[-2:]) == (
        "night-2026-01-02.json",
        ["night-2026-02-01.json", "people-put-this-here.txt"],
    )
