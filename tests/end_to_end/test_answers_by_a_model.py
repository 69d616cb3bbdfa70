"""Nuggets looked for in answers by a real model in a real vLLM, whose command is killed.

SmolLM2-135M completes examples, with a prompt as anybody may write one. What it says means nothing;
what it does not manage is reported, and never guessed.
"""

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradelake.ingest import demo
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.grading.smollm import missing, model_folder
from tests.projects import project

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=str(missing()))]

DEMO = Path(demo.__file__).parent
PATIENCE = 300  # seconds until a model is at work: cores are few, and shared
PROMPT = """
name: assigns
version: 1
source: ours
description: For a small model
target: assign
window: 2
output: text
scale: {no: 0, partly: 1, yes: 2}
parser: labels
template: |-
  Passage: Iron rusts in wet air. Paint keeps the air away.
  Phrases: ['rusts in wet air', 'iron is heavy']
  Told: ['yes', 'no']

  Passage: Cats sleep for most of the day. They hunt at night.
  Phrases: ['hunt mice at night']
  Told: ['partly']

  Passage: Bread is baked in an oven.
  Phrases: ['bread is old', 'is baked']
  Told: ['no', 'yes']

  Passage: Rain falls from clouds.
  Phrases: ['falls from clouds']
  Told: ['yes']

  Passage: Gold is a metal.
  Phrases: ['comes from far away stars']
  Told: ['no']

  Passage: {passage}
  Phrases: {items}
  Told:
"""
GRADES = """
    select query_id, passage_id, item_id, status, grade, error from lake.raw.grades
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, new_lake) -> Path:
    """The demo's generated answers, and the nuggets of their queries."""
    folder = tmp_path_factory.mktemp("answers")
    new_lake(folder)

    collection = {
        "queries": DEMO / "topics.tsv",
        "passages": DEMO / "passages.jsonl",
        "responses": [DEMO / "responses.jsonl"],
    }
    grader = {"engine": "vllm", "model": model_folder(), "actors": 1, "prompt": "assigns"}
    grader |= {"max_model_len": 2048, "kv_cache_mib": 128, "chunk_pairs": 4}
    # without the chat template it goes on where a prompt ends
    grader |= {"chat": False, "decoding": {"max_tokens": 10}}
    files = {"prompts/assigns.yaml": PROMPT}
    project(folder, {"rag": collection}, {"assigns": grader}, files, grading={"prompts": "prompts"})
    gradelake(folder, "ingest", "rag")
    gradelake(folder, "import", "bank", "rag", DEMO / "nugget_bank.jsonl", "--name", "nuggets")
    return folder


def started(folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "gradelake", "grade", "rag", "--grader", "assigns"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def rows(folder: Path, sql: str) -> list[tuple]:
    with Lake.live(Project.find(folder)) as lake:
        return lake.rows(sql)


@pytest.fixture(scope="module")
def done(folder) -> SimpleNamespace:
    """The grades when the command was killed, its model at work, and after the next run."""
    process = started(folder)
    deadline = time.monotonic() + PATIENCE
    while not rows(folder, GRADES):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    process.kill()
    assert process.wait() == -9
    half = rows(folder, GRADES)
    again = started(folder)
    printed, _ = again.communicate(timeout=2 * PATIENCE)
    assert again.returncode in (0, 3), printed  # some may have failed
    return SimpleNamespace(half=half, grades=rows(folder, GRADES))


def test_each_answer_and_nugget_has_one_grade(done, folder):
    pairs = rows(
        folder,
        "select distinct query_id, passage_id, item_id from lake.raw.answers "
        "inner join lake.raw.rubric_items using (collection, query_id)",
    )
    assert sorted(tuple(pair) for *pair, _, _, _ in done.grades) == sorted(pairs)


def test_what_was_graded_before_the_kill_stays_as_it_was(done):
    assert 4 <= len(done.half) < len(done.grades)
    assert set(done.half) <= set(done.grades)


def test_a_grade_is_on_the_scale_or_the_reason_why_not_is_told(done):
    for *_, status, grade, error in done.grades:
        if status == "ok":
            assert grade in (0, 1, 2)
            assert error is None
        else:
            assert (status, grade) == ("failed", None)
            assert error
    assert "ok" in {status for *_, status, _, _ in done.grades}
