"""`gradelake init`: a starter configuration, or the demo collection, and never over one's work."""

import dataclasses
import re

import pytest

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.ingest.collections import starter
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


def test_the_starter_is_a_configuration_that_can_be_read(tmp_path):
    file = starter.write_starter(tmp_path / "new" / "folder")
    collection = Collection.named(Project.read(file), "mine")
    assert collection.queries == "topics.tsv"


def test_the_starter_has_a_grader_that_works_without_a_model(tmp_path):
    project = Project.read(starter.write_starter(tmp_path))
    assert list(project.graders) == ["lexical"]
    grader = read_grader(project, "lexical")
    assert (grader.prompt.name, grader.prompt.items) == ("question_self_rating", "question")
    assert not engine_finder.engine_of(grader).needs_model


def test_every_setting_the_starter_shows_is_a_known_one(tmp_path):
    file = starter.write_starter(tmp_path)
    head, shown = file.read_text().split("[collections.mine]\n")
    settings = re.sub(r"^# (?=\w+ = |\[)", "", shown, flags=re.MULTILINE)
    file.write_text(f"{head}[collections.mine]\n{settings}")
    project = Project.read(file)
    collection = Collection.named(project, "mine")
    assert collection.ir_dataset == "msmarco-passage/trec-dl-2019/judged"
    assert collection.judgments == {"nist": "qrels.txt"}
    assert collection.runs == ("runs/*.run.gz",)
    assert collection.min_relevant == 2
    flan = project.graders["flan"] | {"revision": "so that no hub is asked"}
    with_revision = dataclasses.replace(project, graders={"flan": flan})
    assert read_grader(with_revision, "flan").prompt.name == "question_self_rating"


@pytest.mark.parametrize("make", [starter.write_starter, starter.copy_demo])
def test_a_configuration_that_exists_is_not_overwritten(tmp_path, make):
    (tmp_path / "gradelake.toml").write_text("mine")
    with pytest.raises(BadInput, match=r"gradelake\.toml already exists"):
        make(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["gradelake.toml"]
    assert (tmp_path / "gradelake.toml").read_text() == "mine"


def test_the_demo_collection_is_ingested_without_a_complaint(tmp_path):
    project = Project.read(starter.copy_demo(tmp_path / "demo"))
    assert not list(project.folder.rglob("*.py"))
    with Lake.create(project) as lake:
        demo = Collection.named(project, "demo")
        outcome = ingest(lake, demo, [])
        assert (outcome.exit_code, outcome.rejected, outcome.warnings) == (0, [], [])
        assert set(outcome.counts) >= {"queries", "passages", "judgments", "run_entries"}
        assert (
            lake.value("select count(*) from lake.raw.run_entries") == outcome.counts["run_entries"]
        )
