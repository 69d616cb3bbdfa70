"""The same project on a PostgreSQL catalog: a real server, started here from Debian's packages."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest import mock

import psycopg
import pytest

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.run import committer as committing
from gradelake.grading.run.committer import Committer
from gradelake.sql.common.errors import GradelakeError, Unreachable, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake import postgres
from gradelake.sql.lake.connection import grader_lock
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.postgres import advisory_lock
from tests import command_line, projects
from tests.command_line import gradelake, json_of
from tests.grading.project import Judged, make_template
from tests.postgres_server import new_database, restart_server
from tests.tiers import first_of


@contextmanager
def locked_elsewhere(project: Project, **options) -> Iterator[None]:
    """What this process holds counts as another's."""
    with advisory_lock(project, **options), mock.patch.object(postgres, "_held", {}):
        yield


def grader_id(folder: Path) -> str:
    planned = gradelake(folder, "plan", "demo", "--grader", "lexical_direct", "--json")
    return json.loads(planned.stdout)["plans"][0]["grader_id"]


def crash_under_a_build(folder: Path, catalog: str) -> None:
    """The build names the crash of its server in one sentence."""
    build = command_line.start(folder, "build")
    while not (folder / "lake" / "data" / "intermediate").exists():
        assert build.poll() is None, build.communicate()
        time.sleep(0.05)
    restart_server(catalog.removeprefix("postgres:"))
    _, errors = build.communicate(timeout=300)
    if build.returncode == -signal.SIGABRT:
        # one in twenty: an internal error of DuckDB's leaves a connection that it cannot close
        assert "terminate called" in errors
    else:
        assert build.returncode == 1
        assert errors[errors.index("error: ") :].splitlines() == [
            "error: the connection to the lake's catalog was lost: was its PostgreSQL server "
            "restarted?; readers keep the last release",
            "  What was committed before stays, and nothing half-done is in the lake. "
            "Run it again once it answers.",
        ]


@pytest.mark.slow
def test_the_demo_on_postgres_gives_the_same_board_also_after_a_crash(demo, catalog, tmp_path):
    folder = shutil.copytree(demo, tmp_path / "demo", ignore=shutil.ignore_patterns("lake"))
    config = folder / "gradelake.toml"
    config.write_text(config.read_text().replace("[lake]\n", f'[lake]\ncatalog = "{catalog}"\n'))
    nothing = gradelake(folder, "sql", "select 1", code=2)
    assert "no lake here yet" in nothing.stderr
    gradelake(folder, "ingest", "demo")
    assert "nothing is published yet" in gradelake(folder, "sql", "select 1", code=2).stderr
    assert "nothing new" in gradelake(folder, "ingest", "demo").stdout
    for judge in ("overlap", "rubric_overlap"):
        gradelake(folder, "import", "labels", "demo", f"labels/{judge}.qrels", "--judge", judge)
    crash_under_a_build(folder, catalog)
    gradelake(folder, "build")
    query = "select * from leaderboard order by all"
    ours = gradelake(folder, "sql", query, "--format", "csv").stdout
    assert ours == gradelake(demo, "sql", query, "--format", "csv").stdout
    assert not (folder / "lake" / "published.sqlite").exists()

    # what comes after a release is not seen by its readers until the next one
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        transaction.run("delete from {lake}.intermediate.int_board_scores")
    assert gradelake(folder, "sql", query, "--format", "csv").stdout == ours
    assert gradelake(folder, "sql", query, "--format", "csv", "--live").stdout != ours
    commits = json_of(folder, "log", "--json")["commits"]
    assert [c["release"] for c in commits if c["release"]] == ["r1"]

    # a grader at work holds a lock of the database; its pairs land once
    with locked_elsewhere(Project.read(config), name=f"grader {grader_id(folder)}"):
        busy = gradelake(folder, "grade", "demo", "--grader", "lexical_direct", code=1)
    assert "this grader is already at work" in busy.stderr
    done = gradelake(folder, "grade", "demo", "--grader", "lexical_direct", "--json")
    assert json.loads(done.stdout)["ok"] == 304
    again = gradelake(folder, "grade", "demo", "--grader", "lexical_direct")
    assert "nothing is missing" in again.stdout
    gradelake(folder, "doctor")

    # a second build waits for the first one's advisory lock
    project = Project.find(folder)
    with Lake.writer(project) as lake:
        refused = pytest.raises(WorkFailed, match="being written")
        with locked_elsewhere(project), refused, lake.lock("t", wait=False):
            pass
        with lake.lock("t", wait=True):  # a server may take a moment to let it go
            pass


SLOW = """
chunk_pairs = 1

def score(self, prompts):
    note(*(prompt.values["passage"] for prompt in prompts))
    time.sleep(0.4)
    return [Response("1") for _ in prompts]
"""


@pytest.mark.slow
def test_a_run_outlives_its_server_for_minutes_and_ends_where_another_took_its_grader(
    catalog, tmp_path, monkeypatch
):
    place = new_database(catalog, "outlived")
    make_template(tmp_path, catalog=place)
    judged = Judged(tmp_path)
    judged.place["catalog"] = place
    judged.engine("slow", SLOW)
    grader = judged.grader("slow", engine="slow", prompt="question_self_rating", parser="strict")

    def restart() -> None:
        while len(judged.asked()) < 2:
            time.sleep(0.05)
        restart_server(place.removeprefix("postgres:"), away=2)

    with closing(judged):
        server = threading.Thread(target=restart)
        server.start()
        try:
            run = judged.grade("slow")
        finally:
            server.join()  # before its folder goes
        assert (run.exit_code, run.counts["ok"], len(judged.grades("slow"))) == (0, 12, 12)
        assert len(judged.asked()) == run.totals.prompts, "a prompt was paid for twice"

        committer = Committer(ReplyLog(judged.lake, grader, Asked(judged.name, "grade")))
        with grader_lock(judged.project, grader.grader_id, "t"):
            ours = postgres._held
            committer.begin(0)
            restart_server(place.removeprefix("postgres:"))
            with (
                mock.patch.object(postgres, "_held", {}),
                grader_lock(judged.project, grader.grader_id, "theirs"),
                mock.patch.object(postgres, "_held", ours),
                pytest.raises(WorkFailed, match="gone, another process began with tiny slow"),
            ):
                committer.finish("done")
            gone = Unreachable("no server")
            monkeypatch.setattr(postgres, "connect", mock.Mock(side_effect=gone))
            monkeypatch.setattr(committing, "SERVER_GONE_FOR", 1)
            with pytest.raises(WorkFailed, match="minutes: no server") as given_up:
                committer.finish("done")
            assert "waits in" in given_up.value.hint


def test_an_unreachable_server_is_reported_without_the_password(tmp_path):
    catalog = "postgres:dbname=x host=127.0.0.1 port=1 user=u password=hunter2"
    projects.project(tmp_path, lake={"catalog": catalog})
    for command in (["ingest", "x"], ["build"], ["sql", "select 1"], ["log"], ["doctor"]):
        done = command_line.run(tmp_path, *command)
        assert done.returncode in (1, 2), command
        assert "hunter2" not in done.stdout + done.stderr, command
        assert "Traceback" not in done.stderr, command


@pytest.mark.parametrize(
    "settings",
    first_of(
        1,
        (r"dbname={0} host={1} port={2} user={0} password='hunter2 it\'s'",),
        ("postgresql://{0}:hunter2%20it%27s@{1}:{2}/{0}",),
    ),
    ids=["words", "URL"],
)
def test_a_password_opens_the_lake_and_is_shown_nowhere(catalog, tmp_path, settings):
    """The server asks for it: at the first session, and again after a crash."""
    database = f"locked{len(settings)}"
    place = new_database(catalog, database).removeprefix("postgres:")
    with psycopg.connect(place, autocommit=True) as session:
        session.execute(f"create role {database} superuser login password 'hunter2 it''s'")
        ((file,),) = session.execute("show hba_file").fetchall()
        rules = Path(file).read_text()
        Path(file).write_text(f"host {database} {database} 127.0.0.1/32 scram-sha-256\n{rules}")
        session.execute("select pg_reload_conf()")
        settings = settings.format(database, session.info.host, session.info.port)
    project = projects.project(tmp_path, lake={"catalog": f"postgres:{settings}"})
    Lake.create(project).close()
    with advisory_lock(project), Lake.live(project) as lake:
        for table in (
            *("duckdb_databases()", "duckdb_secrets()", "duckdb_settings()"),
            *("ducklake_settings('lake')", "__ducklake_metadata_lake.ducklake_metadata"),
        ):
            shown = lake.rows(f"from {table}")
            assert shown, table
            assert "hunter2" not in str(shown), table
        restart_server(place)
        assert lake.rows("from lake.raw.queries") == []
    project.file.write_text(project.text.replace("hunter2", "hunter22"))
    wrong = command_line.run(tmp_path, "--debug", "sql", "--live", "select 1")
    assert "password authentication failed" in wrong.stderr
    assert "hunter2" not in wrong.stdout + wrong.stderr


def test_no_way_of_writing_a_password_gets_it_printed(tmp_path):
    for catalog in (
        "postgres:postgresql://u:hunter2@127.0.0.1:1/x",
        "postgresql://u:hunter2@127.0.0.1:1/x",
        "postgres:host=127.0.0.1 port=1 password = hunter2",
        "postgres:host=127.0.0.1 port=1 password='aa hunter2'",
        "postgres:host=127.0.0.1 port=1 nonsense hunter2",
    ):
        project = projects.project(tmp_path, lake={"catalog": catalog})
        for opening in (Lake.create, Lake.live, Lake.published):
            with pytest.raises(GradelakeError) as error:
                opening(project)
            assert "hunter2" not in str(error.value)
            assert error.value.__cause__ is None


@pytest.mark.slow
def test_two_first_ingests_at_once_double_nothing(catalog, tmp_path):
    """Two machines, one new lake: each has its own folder, so only PostgreSQL can queue them."""
    script = (
        "import sys\n"
        "from gradelake.sql.lake.opening import Lake\n"
        "from gradelake.sql.common.project import Project\n"
        "from gradelake.ingest.collections.collection import Collection\n"
        "from gradelake.ingest.collections.pipeline import ingest\n"
        "project = Project.find(sys.argv[1])\nsys.stdin.readline()\n"
        "with Lake.create(project) as lake:\n"
        "    print(ingest(lake, Collection.named(project, 'twice'), []).counts)\n"
    )
    place = catalog.replace("dbname=postgres", "dbname=twice")
    settings = {"catalog": place, "data": tmp_path / "data"}
    collection = {"queries": "topics.tsv", "runs": ["bm25.run"]}
    machines = []
    for name in ("one", "two"):
        folder = tmp_path / name
        files = {"topics.tsv": {"q1": "why is the sky blue"}, "bm25.run": {"q1": ["p1", "p2"]}}
        projects.project(folder, {"twice": collection}, files=files, lake=settings)
        machines.append(
            subprocess.Popen(
                [sys.executable, "-c", script, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    new_database(catalog, "twice")
    for machine in machines:
        machine.stdin.write("go\n")
        machine.stdin.flush()
    printed = [machine.communicate(timeout=120) for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], printed
    assert sorted(out == "{}\n" for out, _ in printed) == [False, True], "one came first"
    with Lake.live(Project.find(tmp_path / "one")) as lake:
        assert lake.value("select count(*) from lake.raw.run_entries") == 2
        assert lake.value("select count(*) from lake.raw.ledger where target like 'twice/%'") == 3
