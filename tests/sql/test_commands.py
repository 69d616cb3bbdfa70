"""build, sql, log and doctor as a person meets them, on the demo collection."""

import shutil
from pathlib import Path

import pytest

from gradelake.sql.ask.book import entries
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.edits import edit, write_edits
from tests.sql.small_lake import file_of

ODD_NAME = "c#x p%41q, what? it's ünd"


@pytest.fixture(scope="module")
def folder(demo, tmp_path_factory):
    """A copy of the demo that these tests may change."""
    return shutil.copytree(demo, tmp_path_factory.mktemp("commands") / ODD_NAME)


def test_a_table_for_people_and_files_for_programs_whose_ending_tells_the_format(project):
    import polars as pl

    folder, query = project.folder, "select passage_id, grade from raw.grades order by all limit {}"
    two = query.format(2)
    table = gradelake(folder, "sql", two).stdout.splitlines()
    assert [line.split() for line in table] == [
        ["passage_id", "grade"],
        ["p000", "1"],
        ["p001", "1"],
    ]
    objects = json_of(folder, "sql", two, "--format", "json")
    assert objects == [{"passage_id": "p000", "grade": 1}, {"passage_id": "p001", "grade": 1}]
    for name, reader in (
        ("board.csv", pl.read_csv),
        ("board.JSON", pl.read_json),
        ("b'[1].parquet", lambda file: pl.read_parquet(file, glob=False)),
    ):
        for n in (3, 2):  # also over what is there
            done = gradelake(folder, "sql", query.format(n), "--output", name)
            assert done.stdout == ""
            assert done.stderr.splitlines()[-1] == f"wrote {n} rows to {name}"
            assert reader(folder / name).shape == (n, 2)
    gradelake(folder, "sql", two, "--output", "board.txt")
    assert (folder / "board.txt").read_text().splitlines() == table
    gradelake(folder, "sql", two, "--output", "board.txt", "--format", "csv")
    assert (folder / "board.txt").read_text() == "passage_id,grade\np000,1\np001,1\n"
    assert gradelake(folder, "--quiet", "sql", two, "--output", "x.csv").stderr == ""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    gradelake(elsewhere, "--config", project.file, "sql", two, "--output", "here.csv")
    assert (elsewhere / "here.csv").exists()


@pytest.fixture(scope="module")
def edited_folder(graded_demo, tmp_path_factory) -> Path:
    """The graded demo collection after a question was reworded: its new wording has no grades."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("edited") / "demo")
    acids = "sourdough-sour-rise/79d1ecceed8fa847ccc372f1f0204186"
    write_edits(folder, edit(1, "reword", acids, text="Which acids?"))
    gradelake(folder, "build")
    return folder


NOBODY_REVIEWED = {
    "assessor_agreement",
    "battle_agreement",
    "queues",
    "review_agreement",
    "review_conflicts",
}
NOTHING_CITED = {"support_disagreements", "uncited_sentences", "unsupported_sentences"}
EMPTY = (
    NOBODY_REVIEWED
    | NOTHING_CITED
    | {"consistency", "noise", "imported_grades", "replies"}  # judges are asked once, and no model
    | {"drift", "facet_coverage", "failed_grades", "failures", "group_bias", "nights"}
    | {"family_correlation", "probes", "criteria_failures"}  # nor had it criteria
    | {"segments", "battles", "ceiling", "retrievals"}  # one assessor judged, and no agent searched
)


@pytest.mark.slow
def test_every_question_of_the_book_runs_and_says_what_it_answers(edited_folder):
    empty = set()
    with Lake.published(Project.find(edited_folder)) as lake:
        lake.connection.execute("use lake.marts")
        for name, entry in entries().items():
            assert entry.question.endswith("?"), name
            assert all(default and what for default, what in entry.parameters.values()), name
            relation = lake.connection.sql(entry.sql, params=entry.values({}))
            if not relation.fetchall():
                empty.add(name)
    # nothing failed, the demo sets no groups, nobody reviewed, no night or sentinel was there
    assert empty == EMPTY


def test_the_log_lists_commits_and_releases_newest_first(folder):
    commits = json_of(folder, "log", "--json")["commits"]
    assert commits[0]["release"] == "r1"
    assert commits[0]["message"].startswith("build: ")
    assert [c["version"] for c in commits] == sorted((c["version"] for c in commits), reverse=True)
    ingest = next(c for c in commits if c["message"].startswith("ingest demo"))
    assert "2,740 run entries" in ingest["message"]
    assert all(c["message"] for c in commits)
    assert not commits[1]["message"].startswith("build"), "a build is one commit"


@pytest.mark.slow
def test_releases_can_be_named_and_older_ones_read(folder):
    count = "select count(*) as n from leaderboard"
    before = gradelake(folder, "sql", count, "--format", "csv").stdout
    (folder / "runs" / "another.run").write_text("volcano-prediction Q0 p037 1 1.0 another\n")
    gradelake(folder, "ingest", "demo")
    assert gradelake(folder, "sql", count, "--format", "csv").stdout == before, "not built yet"
    built = json_of(folder, "build", "--name", "with-another", "--json")
    assert built["release"] == "with-another"
    assert [file.name for file in folder.parent.iterdir()] == [ODD_NAME], "all stays in the lake"
    assert gradelake(folder, "sql", count, "--format", "csv").stdout != before
    again = gradelake(folder, "sql", count, "--format", "csv", "--release", "r1").stdout
    assert again == before
    wrong = gradelake(folder, "sql", count, "--release", "with-anoter", code=2)
    assert "Did you mean 'with-another'?" in wrong.stderr
    taken = gradelake(folder, "build", "--name", "r1", code=2)
    assert "there is already a release 'r1'" in taken.stderr
    # a build that is killed after its commit, before it gives readers its release
    (folder / "lake" / "releases" / "with-another.sqlite").unlink()
    (folder / "lake" / "published.sqlite").unlink()
    gradelake(folder, "build", "--name", "with-another")
    assert gradelake(folder, "sql", count, "--format", "csv").stdout != before


@pytest.mark.slow
def test_a_build_of_a_part_is_not_published(folder):
    with Lake.published(Project.find(folder)) as lake:
        release = lake.release
    part = ("--select", "missing_labels", "--", "--resource-type", "model")
    assert "not published" in gradelake(folder, "build", *part).stdout
    with Lake.published(Project.find(folder)) as lake:
        assert lake.release == release


def test_texts_are_shown_as_they_are_and_wrong_uses_of_sql_are_told(project):
    folder = project.folder
    done = gradelake(folder, "sql", "select ':smile:' as \"[b]n\", ['[/b]x'] as l")
    assert done.stdout.split() == ["[b]n", "l", ":smile:", "[/b]x"]
    assert json_of(folder, "sql", "select 'nan'::double as n", "--format", "json") == [{"n": None}]
    for arguments, message in (
        (["select 1; select 2"], "one statement at a time"),
        (["select 1", "--output", "/nonexistent/x.csv"], "cannot be written"),
        (["select 1", "--output", "board.doc"], ".txt, .md, .html, or add --format"),
        (["--output", "board"], "does not tell the format"),
        (["select 1", "--format", "parquet"], "Add --output"),
        (["select 1", "--format", "parquet", "--output", "/nonexistent/x"], "cannot be written"),
    ):
        assert message in gradelake(folder, "sql", *arguments, code=2).stderr


@pytest.mark.slow
def test_the_doctor_finds_a_lost_data_file(project):
    assert "every key is unique" in gradelake(project.folder, "doctor").stdout
    file_of(project, "grades").unlink()
    assert "cannot be read: grades" in gradelake(project.folder, "doctor", code=1).stdout


@pytest.mark.slow
def test_a_failing_test_leaves_readers_on_the_last_release(folder):
    """A fault in the raw data that only dbt's tests can see: a judgment stored twice."""
    project = Project.find(folder)
    with Lake.published(project) as lake:
        release = lake.release
    with Lake.writer(project) as lake, lake.transaction("sabotage") as transaction:
        transaction.run(
            "insert into {lake}.raw.judgments select * from {lake}.raw.judgments limit 1"
        )
    done = gradelake(folder, "build", code=1)
    assert "readers keep the last release" in done.stderr
    assert "unique_key" in done.stderr
    assert "Traceback" not in done.stderr
    with Lake.published(project) as lake:
        assert lake.release == release
    found = gradelake(folder, "doctor", code=1)
    assert "raw.judgments: more than one row for 1 key" in found.stdout
