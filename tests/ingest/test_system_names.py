"""`gradelake system`: systems listed, removed and renamed; releases keep what they had."""

import json

import pytest

from gradelake.ingest.collections.system_names import remove_systems, rename_system
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from tests.ingest.conftest import said


@pytest.fixture
def two(ingested):
    """Two runs and a writer's answers, and their official ranks."""
    tiny = ingested
    tiny.write("runs/other.run", ["q1 Q0 p1 1 2.5 t", "q2 Q0 p3 2 1.5 t"])
    report = {"metadata": {"run_id": "writer", "topic_id": "q1"}, "responses": [{"text": "Air."}]}
    tiny.write("responses.jsonl", [json.dumps(report)])
    tiny.write("ranks.tsv", ["good 1", "other 2"])
    tiny.configure(responses=["responses.jsonl"], official_ranks={"trec": "ranks.tsv"})
    assert not tiny.ingest().rejected
    return tiny


def test_a_removed_system_is_gone_from_every_table_until_its_file_brings_it_back(two):
    done = two.gradelake("system", "remove", "tiny", "other", "writer", "--json")
    assert json.loads(done.stdout) == {
        "collection": "tiny",
        "removed": ["other", "writer"],
        "files": ["runs/other.run", "responses.jsonl"],
    }
    two.close()
    with Lake.live(two.project) as lake:
        for table in ("systems", "run_entries", "answers", "sentences", "citations"):
            assert lake.value(f"select count(*) from lake.raw.{table} where system <> 'good'") == 0
        assert lake.value("select count(*) from lake.raw.passages where origin = 'response'") == 1
    again = json.loads(two.gradelake("ingest", "tiny", "--json").stdout)
    assert again["written"] == {"systems": 1, "run_entries": 2}  # the responses did not change


@pytest.mark.slow
def test_a_renamed_system_keeps_its_rows_and_is_the_one_of_the_renamed_file(two):
    before = two.run_of("other")
    two.close()
    told = two.gradelake("system", "rename", "tiny", "other", "system-a")
    assert "other of tiny is system-a now" in told.stdout
    assert "rename it in runs/other.run, too" in " ".join(told.stderr.split())
    (two.folder / "runs/other.run").rename(two.folder / "runs/system-a.run")
    two._lake = None
    outcome = two.ingest()
    assert outcome.counts == {}
    assert two.run_of("system-a") == before
    assert two.systems() == {"good", "system-a", "writer"}
    ranked = two.rows("select system, rank from lake.raw.official_ranks order by rank")
    assert ranked == [("good", 1.0), ("system-a", 2.0)]


def test_the_list_says_where_each_system_came_from(two):
    listed = json.loads(two.gradelake("system", "list", "tiny", "--json").stdout)["systems"]
    assert [(row["system"], row["kind"], row["source_file"], row["n_rows"]) for row in listed] == [
        ("good", "ranking", "runs/good.run", 2),
        ("other", "ranking", "runs/other.run", 2),
        ("writer", "generation", "responses.jsonl", 1),
    ]
    table = two.gradelake("system", "list", "tiny").stdout
    assert "responses.jsonl" in table


def test_a_name_that_is_not_there_or_taken_or_unusable_is_refused_and_nothing_changes(two):
    two.close()
    for work, message in (
        (lambda: remove_systems(two.project, "tiny", ["good", "god"], []), "no system 'god'"),
        (lambda: rename_system(two.project, "tiny", "god", "x", []), "no system 'god'"),
        (lambda: rename_system(two.project, "tiny", "good", "other", []), "'other' already"),
        (lambda: rename_system(two.project, "tiny", "good", "../x", []), "../x"),
        (lambda: rename_system(two.project, "tny", "good", "x", []), "tny"),
    ):
        with pytest.raises(BadInput) as caught:
            work()
        assert message in str(caught.value)
    two._lake = None
    assert two.systems() == {"good", "other", "writer"}
    assert not said(two.ingest())
