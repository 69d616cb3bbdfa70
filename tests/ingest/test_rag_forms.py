"""Folders as tools of RAG write them: `start` knows them, and what it says brings them in."""

import re
import shlex

import pytest

from gradelake.ingest.mapping.presets import presets_of
from gradelake.ingest.starting.start import start
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.ingest.forms import rag_evaluations, rag_others, rag_traces
from tests.tiers import CAMPAIGN, EVERY, first_of

FOLDERS = {**rag_evaluations.FOLDERS, **rag_traces.FOLDERS, **rag_others.FOLDERS}
OF_RANKINGS = """
    select count(*) from lake.raw.run_entries join lake.raw.systems using (collection, system)
    where kind = 'ranking'
"""
# what their metrics are called, and how many scores there are
SCORES = {
    "ragas result": {
        "ragas:answer_relevancy": 14,
        "ragas:faithfulness": 12,
        "ragas:llm_context_precision_with_reference": 14,
    },
    "deepeval test run": {"deepeval:Answer Relevancy": 14, "deepeval:Faithfulness": 14},
    "deepeval conversations": {"deepeval:Answer Relevancy": 14, "deepeval:Faithfulness": 14},
    "promptfoo": {"promptfoo:llm-rubric": 14},
    "promptfoo lines": {"promptfoo:llm-rubric": 14},
    "mlflow artifact": {"mlflow:answer_correctness/v1": 14, "mlflow:faithfulness/v1": 14},
    "mlflow parquet": {"mlflow:answer_correctness/v1": 14, "mlflow:faithfulness/v1": 14},
    "langsmith runs": {"langsmith:correctness": 14},
    "langsmith experiment": {"langsmith:correctness": 14, "langsmith:groundedness": 14},
    "langsmith download": {"langsmith:correctness": 14, "langsmith:groundedness": 14},
    "langfuse json": {"langfuse:helpfulness": 14},
    "langfuse jsonl": {"langfuse:helpfulness": 14},
    "inputs, outputs, expected": {"expected:Factuality": 14},
    "TruLens": {"trulens:groundedness": 14},
}
OF_SCORES = "select board || ':' || measure, count(*) from lake.raw.imported_scores group by all"
REFERENCES = "select count(distinct query_id) from lake.raw.rubric_items"


# all are tried by `make campaigns`: each takes seconds
TRIED = [*FOLDERS][::5]
IN_TURN = dict.fromkeys([*TRIED, *FOLDERS])


@pytest.mark.parametrize("name", first_of(len(TRIED), *IN_TURN))
def test_every_file_of_a_folder_is_known(tmp_path, name):
    FOLDERS[name].write(tmp_path)
    done = start(tmp_path, "shop")
    brings = {seen.shown: (*seen.brings,) for seen in done.seen}
    unused = dict.fromkeys(FOLDERS[name].not_used, ())
    assert brings == dict.fromkeys(brings, ("rag",)) | unused, done.seen
    assert len(done.commands) == FOLDERS[name].commands


@pytest.mark.parametrize("n", first_of(3, *range(10), mark=CAMPAIGN))
def test_two_forms_in_one_folder_are_told_apart(tmp_path, n):
    names = [*FOLDERS]
    wanted = {}
    for name in (names[n], names[n + 11]):
        folder = tmp_path / name.replace(" ", "_")
        folder.mkdir()
        FOLDERS[name].write(folder)
        alone = start(folder, "shop")
        alone.file.unlink()
        wanted |= {f"{folder.name}/{seen.shown}": (seen.form, seen.brings) for seen in alone.seen}
    done = start(tmp_path, "shop")
    there = {seen.shown: (seen.form, seen.brings) for seen in done.seen}
    assert {shown: there[shown] for shown in wanted} == wanted
    commands = [shlex.split(command) for command in done.commands]
    systems = [words[words.index("--system") + 1] for words in commands if "--system" in words]
    assert len({*systems}) == len(systems)


COMPARED = TRIED[::3]  # a build takes seconds, too


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(len(TRIED), *IN_TURN, mark=CAMPAIGN))
def test_a_folder_comes_in_and_is_compared_without_an_edit(tmp_path, name):
    folder = FOLDERS[name]
    folder.write(tmp_path)
    done = gradelake(tmp_path, "start", "--name", "shop")
    commands = re.findall(r"^(?:next|then): gradelake (import .*)$", done.stdout, re.MULTILINE)
    assert len(commands) == folder.commands
    for command in commands:
        assert "unchanged" not in gradelake(tmp_path, *shlex.split(command)).stdout
    with Lake.live(Project.read(tmp_path / "gradelake.toml")) as lake:
        assert {*lake.column("select system from lake.raw.systems")} == {*folder.systems}
        asked = "select count(*), count(narrative) from lake.raw.queries"
        assert lake.rows(asked) == [(folder.questions, folder.histories)]
        assert lake.value(OF_RANKINGS) == folder.contexts
        assert lake.value("select count(*) from lake.raw.answers") == folder.answers
        assert lake.value(REFERENCES) == folder.references
        assert dict(lake.rows(OF_SCORES)) == SCORES.get(name, {})
    for command in commands:
        assert "unchanged" in gradelake(tmp_path, *shlex.split(command)).stdout
    if not EVERY and name not in COMPARED:
        return
    grader = "correct" if folder.references else "context"
    gradelake(tmp_path, "grade", "shop", "--grader", grader)
    gradelake(tmp_path, "build")
    compared = gradelake(tmp_path, "compare", *folder.systems).stdout
    assert f"{folder.questions} queries" in compared


@pytest.mark.slow
@pytest.mark.campaign
def test_every_preset_of_logs_has_a_folder(tmp_path):
    seen = set()
    for number, folder in enumerate(FOLDERS.values()):
        (tmp_path / str(number)).mkdir()
        folder.write(tmp_path / str(number))
        seen |= {each.form for each in start(tmp_path / str(number), "shop").seen}
    known = {name for name, form in presets_of(tmp_path).items() if "rag" in form.brings}
    assert known <= seen
