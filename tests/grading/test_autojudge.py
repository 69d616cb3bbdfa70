"""A grader as a judge of TREC AutoJudge, run by its own command."""

import json
from collections import defaultdict
from dataclasses import replace

import nltk
import pytest
from click.testing import CliRunner

from gradelake.ingest.collections.responses import passage_id
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.grading.misbehaving import answer
from tests.grading.stand_ins import StandIn
from tests.lakes import start_lake
from tests.places import REPOSITORY

pytestmark = pytest.mark.slow
DEMO = REPOSITORY / "ingest" / "demo" / "answers"
GRADERS = """
[graders.writer]
engine = "openai"
prompt = "generate_nuggets_dl"

[graders.direct]
engine = "openai"
prompt = "umbrela"
"""
OUTPUTS = ("default.nuggets.jsonl", "default.qrels.txt", "default.eval.txt")
WORKFLOW = """
nugget_class: gradelake.autojudge.Judge
qrels_class: gradelake.autojudge.Judge
judge_class: gradelake.autojudge.Judge
create_nuggets: true
create_qrels: true
judge: true
settings: {gradelake: gradelake.toml, grader: direct}
nugget_settings: {gradelake: gradelake.toml, grader: writer}
"""


@pytest.fixture(scope="module")
def auto_judge(tmp_path_factory):
    """Its command. NLTK's word lists, which it reads while it is imported, are stand-ins."""
    data = tmp_path_factory.mktemp("nltk")
    (data / "tokenizers" / "punkt").mkdir(parents=True)
    (data / "corpora" / "stopwords").mkdir(parents=True)
    (data / "corpora" / "stopwords" / "english").write_text("the\n")
    nltk.data.path.append(str(data))
    from autojudge_base.cli import main

    def run(*options: str):
        words = ("run", "-w", "workflow.yml", "--rag-responses", "runs", "--out-dir", "out")
        return CliRunner().invoke(main, [*words, "--rag-topics", "topics.jsonl", *options])

    return run


@pytest.fixture
def spot(tmp_path, monkeypatch, server):
    """A track's files in its own form, and a model that auto-judge's environment names."""
    reports = defaultdict(list)
    for line in (DEMO / "responses.jsonl").read_text().splitlines():
        report = json.loads(line)
        report["metadata"]["team_id"] = "demo"
        reports[report["metadata"]["run_id"]].append(report)
    topics = [line.split("\t") for line in (DEMO / "topics.tsv").read_text().splitlines()]
    (tmp_path / "runs").mkdir()
    for run, rows in reports.items():
        (tmp_path / "runs" / f"{run}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = (json.dumps({"request_id": query, "title": text}) for query, text in topics)
    (tmp_path / "topics.jsonl").write_text("\n".join(lines))
    (tmp_path / "gradelake.toml").write_text(GRADERS)
    (tmp_path / "workflow.yml").write_text(WORKFLOW)
    start_lake(tmp_path / "out" / "gradelake")  # its builds are shorter
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_MODEL", "judge-1")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    server.on("", StandIn("judge-1"))
    server.on("final score", lambda asked: answer(f"##final score: {len(asked.text) % 4}"))
    return tmp_path, reports, dict(topics)


def in_the_lake(folder, query):
    project = replace(Project.find(folder), lake_path=folder / "out" / "gradelake" / "lake")
    with Lake.published(project) as lake:
        return lake.rows(query)


def outputs(folder):
    return {name: (folder / "out" / name).read_text() for name in OUTPUTS}


def test_auto_judge_gets_nuggets_qrels_and_a_board_and_again_with_the_endpoint_off(
    auto_judge, spot, server
):
    folder, reports, topics = spot
    first = auto_judge()
    assert first.exit_code == 0, first.output
    found = outputs(folder)
    server.stop()
    again = auto_judge()
    assert again.exit_code == 0, again.output
    assert outputs(folder) == found

    banks = [json.loads(line) for line in found["default.nuggets.jsonl"].splitlines()]
    assert {bank["query_id"] for bank in banks} == set(topics)
    assert all(bank["claim_bank"] for bank in banks)

    labels = {}
    for line in found["default.qrels.txt"].splitlines():
        topic, _, passage, label = line.split()
        labels[topic, passage] = int(label)
    answers = {
        (run, report["metadata"]["topic_id"]): passage_id(
            " ".join(sentence["text"] for sentence in report["responses"])
        )
        for run, rows in reports.items()
        for report in rows
    }
    assert set(labels) == {(topic, passage) for (_, topic), passage in answers.items()}

    shares = defaultdict(list)  # an answer is one passage here
    for (run, topic), passage in answers.items():
        shares[run].append((labels[topic, passage] >= 1) / 10)
    rows = [line.split("\t") for line in found["default.eval.txt"].splitlines()]
    assert len({topic for _, topic, _, _ in rows}) == len(topics) + 1
    for run, values in shares.items():
        (mean,) = (float(v) for r, t, m, v in rows if (r, t, m) == (run, "all", "P@10"))
        assert mean == pytest.approx(sum(values) / len(topics))


def test_what_the_model_did_not_say_is_no_score(auto_judge, spot, server):
    folder, _, _ = spot
    server.forget()
    server.on("", answer("##final score: 2"))
    server.on("Rising magma", answer("no idea"))
    done = auto_judge("--no-create-nuggets", "--no-create-qrels")
    assert "direct has no grade of" in str(done.exception)
    assert not (folder / "out" / "default.eval.txt").exists()
    only_judge = ("--no-create-nuggets", "--no-create-qrels", "-S", "failed_allowed=1")
    done = auto_judge(*only_judge)
    assert done.exit_code == 0, done.output
    board = (folder / "out" / "default.eval.txt").read_text()
    server.stop()  # what failed is not asked again where it may be done without
    again = auto_judge(*only_judge)
    assert again.exit_code == 0, again.output
    assert (folder / "out" / "default.eval.txt").read_text() == board


def test_what_a_call_is_given_is_what_counts(auto_judge, spot, server):
    """A lake that held another run and topic gives the board and qrels of an empty one, and does
    not ask again for what it has a grade of."""
    folder, _, _ = spot
    assert auto_judge("--no-create-nuggets").exit_code == 0
    (folder / "runs" / "careless_writer.jsonl").unlink()
    *kept, gone = (folder / "topics.jsonl").read_text().splitlines()
    gone = json.loads(gone)["request_id"]
    (folder / "topics.jsonl").write_text("\n".join(kept))
    for file in (folder / "runs").iterdir():
        rows = file.read_text().splitlines()
        others = [row for row in rows if json.loads(row)["metadata"]["topic_id"] != gone]
        file.write_text("\n".join(others))
    n_asked, found = len(server.asked), []
    for _ in ("in the lake that held them", "alone"):
        done = auto_judge("--no-create-nuggets")
        assert done.exit_code == 0, done.output
        found.append([(folder / "out" / name).read_text() for name in OUTPUTS[1:]])
        assert gone not in found[-1][0]
        assert len(server.asked) == n_asked or len(found) == 2
        (folder / "out").rename(folder / f"out{len(found)}")
    assert found[0] == found[1]


def test_another_model_before_it_changes_nothing(auto_judge, spot, server, monkeypatch):
    folder, _, _ = spot
    only_judge = ("--no-create-nuggets", "--no-create-qrels")
    assert auto_judge(*only_judge).exit_code == 0
    board = (folder / "out" / "default.eval.txt").read_text()
    server.on("final score", answer("##final score: 3"))
    monkeypatch.setenv("OPENAI_MODEL", "judge-2")
    assert auto_judge(*only_judge).exit_code == 0
    assert (folder / "out" / "default.eval.txt").read_text() != board
    monkeypatch.setenv("OPENAI_MODEL", "judge-1")
    server.stop()
    done = auto_judge(*only_judge, "-S", "label_set=judge:direct")
    assert done.exit_code == 0, done.output
    assert (folder / "out" / "default.eval.txt").read_text() == board


def test_a_corpus_is_a_file_of_the_passages_that_answers_cite(auto_judge, spot):
    folder, reports, _ = spot
    answers = (row for rows in reports.values() for row in rows)
    cited = {name for row in answers for said in row["responses"] for name in said["citations"]}
    rows = ({"docid": name, "text": f"The text of {name}."} for name in sorted(cited))
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    only_judge = ("--no-create-nuggets", "--no-create-qrels", "--corpus")
    done = auto_judge(*only_judge, "corpus.jsonl")
    assert done.exit_code == 0, done.output
    texts = dict(in_the_lake(folder, "select passage_id, text from lake.raw.passages"))
    assert {name: texts.get(name) for name in cited} == {n: f"The text of {n}." for n in cited}
    done = auto_judge(*only_judge, "corpus.gz")
    assert "--corpus corpus.gz: no such file" in str(done.exception)
