"""The Parquet files in a bucket: a real S3 server that checks signatures and rights."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.backup import backup
from gradelake.sql.operations.upkeep.restore import restore
from gradelake.sql.operations.upkeep.verify import verify
from tests import command_line, shared_ray
from tests.conftest import made_once
from tests.grading.project import Judged, make_template
from tests.lakes import own_cache
from tests.postgres_server import new_database
from tests.projects import write
from tests.s3_server import S3, s3_server
from tests.search import texts
from tests.sql.small_lake import N_PASSAGES, passages, small_lake
from tests.sql.test_copy import raw_tables

CONFIG = """
[lake]
data = "{}"
keep_days = 0
[collections.c]
queries = "topics.tsv"
passages = "passages.tsv"
"""


@pytest.fixture(scope="module")
def s3():
    with s3_server() as server:
        yield server


@pytest.fixture
def as_writer(s3, monkeypatch) -> S3:
    become(monkeypatch, s3.writer)
    return s3


def become(monkeypatch, user: dict[str, str]) -> None:
    for name, value in user.items():
        monkeypatch.setenv(name, value)


def settings(folder: Path, text: str) -> Project:
    return Project.read(write(folder / "gradelake.toml", text))


def n_passages(project: Project) -> int:
    """Counted in the files: a plain count is answered by the catalog."""
    with Lake.published(project) as lake:
        return lake.value("select count(text) from lake.raw.passages")


def gradelake(folder: Path, *arguments: str, code: int = 0) -> str:
    """What the command line prints, on both of its streams; `grade` has a Ray of its own."""
    run = command_line.run_apart if "grade" in arguments else command_line.run
    done = run(folder, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


# --- rights ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lake(s3, tmp_path_factory) -> Project:
    """The small lake in the bucket; the tests leave what its release reads."""
    project = settings(tmp_path_factory.mktemp("lake"), CONFIG.format(s3.data("small")))
    with pytest.MonkeyPatch.context() as patch:
        become(patch, s3.writer)
        small_lake(project.folder)
    return project


@pytest.mark.slow
def test_who_may_only_read_the_bucket_reads_releases_and_changes_nothing(lake, s3, monkeypatch):
    files = s3.files("small")
    assert len(files) == 3
    assert not (lake.lake_path / "data").exists()
    become(monkeypatch, s3.reader)
    assert n_passages(lake) == N_PASSAGES
    (lake.folder / "topics.tsv").write_text("".join(f"q{n}\twhy\n" for n in range(20)))
    told = gradelake(lake.folder, "ingest", "c", code=1)
    assert "AccessDenied" in told
    assert "may this key do that?" in told
    assert "Traceback" not in told
    assert s3.files("small") == files


@pytest.mark.slow
def test_a_bucket_is_backed_up_restored_and_tidied(lake, as_writer, tmp_path):
    backup(lake, tmp_path / "backup")
    restored, _ = restore(tmp_path / "backup", tmp_path / "restored")
    assert raw_tables(restored) == raw_tables(lake)
    assert n_passages(restored) == N_PASSAGES

    for change in ("insert", "delete"):
        with Lake.writer(lake) as opened, opened.transaction("test") as transaction:
            if change == "insert":
                transaction.insert("passages", passages(100, 20))
            else:
                transaction.run("delete from {lake}.raw.passages where passage_id >= 'p100'")
    before = as_writer.files("small")
    gradelake(lake.folder, "lake", "tidy")
    assert len(as_writer.files("small")) < len(before)
    assert verify(lake, deep=True).faults == []
    assert n_passages(lake) == N_PASSAGES, "what the release reads has stayed"


# --- moving ---------------------------------------------------------------------------------------

BOARD = "select system, measure, level, score from leaderboard order by all"


@pytest.fixture
def logs(monkeypatch) -> Iterator[Path]:
    """Where Ray writes its logs. Sockets are in there too, so the path has to be short."""
    folder = Path(tempfile.mkdtemp(prefix="gl", dir="/tmp"))
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    with shared_ray.new_ray():
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
def test_work_moved_to_postgres_and_a_bucket_goes_on_where_it_was_and_comes_back(
    s3, catalog, tmp_path, tmp_path_factory, logs, monkeypatch
):
    """And the key is nowhere but in the environment."""
    (tmp_path / "house").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", own_cache(tmp_path / "house" / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "house"))
    home, team, back = (tmp_path / name for name in ("home", "team", "back"))
    shutil.copytree(
        made_once(tmp_path_factory, "tiny-judged", make_template) / "lake", home / "lake"
    )
    become(monkeypatch, s3.writer)
    configure(home, 'path = "lake"')
    told = [gradelake(home, "grade", "tiny", "--grader", "lexical")]
    before = raw_tables(Project.find(home))
    assert before["grades"][0] == 12

    config = configure(
        team, f'catalog = "{new_database(catalog, "team")}"\ndata = "{s3.data("team")}"'
    )
    told.append(gradelake(home, "lake", "copy", str(config)))
    assert raw_tables(Project.find(team)) == before
    assert missing(team) == 0
    # a new system brings new pairs: those, and nothing else, are graded
    write(team / "passages.tsv", ["p6\tBees find home, for they remember landmarks."])
    write(team / "runs" / "new.run", ["q2 Q0 p6 1 2.5 new"])
    told.append(json.dumps(command_line.a_night(team, writes=True)))
    assert missing(team) == 0
    with Lake.published(Project.find(team)) as opened:
        last = "select planned from lake.raw.grading_runs order by started_at"
        assert opened.rows(last) == [(12,), (3,)]
    assert verify(Project.find(team), deep=True).faults == []
    become(monkeypatch, s3.reader)
    assert "new,nDCG@10" in gradelake(team, "sql", "--format", "csv", BOARD)
    wrong = s3.writer["AWS_SECRET_ACCESS_KEY"][:-8] + "mistaken"
    become(monkeypatch, s3.writer | {"AWS_SECRET_ACCESS_KEY": wrong})
    for command in (
        ("sql", BOARD),
        ("build", "--full-refresh"),
        ("lake", "verify"),
        ("--debug", "sql", BOARD),
    ):
        told.append(gradelake(team, *command, code=1))
        assert "SignatureDoesNotMatch" in told[-1] or "403 Forbidden" in told[-1], command
    become(monkeypatch, s3.writer)
    after = raw_tables(Project.find(team))
    assert after["grades"][0] == 15

    config = configure(back, 'path = "lake"')
    told.append(gradelake(team, "lake", "copy", str(config)))
    assert raw_tables(Project.find(back)) == after
    assert missing(back) == 0

    s3.download(tmp_path / "bucket")
    database = {"database": every_row(catalog.replace("dbname=postgres", "dbname=team"))}
    for secret in (s3.writer["AWS_SECRET_ACCESS_KEY"], s3.reader["AWS_SECRET_ACCESS_KEY"], wrong):
        assert where_it_is(secret, tmp_path, logs, told, database) == []
    # and the search does find what is there
    found = where_it_is("lexical", tmp_path, logs, told, database)
    assert {"database", "output 0"} <= set(found)
    assert any("/bucket/" in place and place.endswith("decoded") for place in found)
    assert any("raylet" in place for place in texts(logs))


def configure(folder: Path, lake: str) -> Path:
    """The tiny collection's settings and files, with another lake; returns gradelake.toml."""
    file = Judged(folder).project.file
    file.write_text(f"[lake]\n{lake}\n{file.read_text()}")
    return file


def missing(folder: Path) -> int:
    """Pairs that the grader has still to grade."""
    done = gradelake(folder, "plan", "tiny", "--grader", "lexical", "--json")
    answer, _ = json.JSONDecoder().raw_decode(done[done.index("{") :])
    return answer["plans"][0]["missing_pairs"]


def every_row(setting: str) -> str:
    """All that a database holds, and what was last asked in it."""
    with psycopg.connect(setting.removeprefix("postgres:"), autocommit=True) as session:
        names = session.execute(
            "select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables "
            "where schemaname not in ('pg_catalog', 'information_schema')"
        ).fetchall()
        rows = [session.execute(f"select * from {name}").fetchall() for (name,) in names]
        asked = session.execute("select query from pg_stat_activity").fetchall()
    return repr([rows, asked])


def where_it_is(word: str, folder: Path, logs: Path, told: list[str], database: dict) -> list[str]:
    """All places that hold a word: output, files, Ray's logs, the bucket, the database."""
    places = {f"output {n}": text for n, text in enumerate(told)} | database
    places |= texts(folder) | texts(logs)
    return [place for place, text in places.items() if word in text]
