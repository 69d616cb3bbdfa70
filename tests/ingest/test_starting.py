"""`gradelake start`: what the files of a folder are, and nothing named that was not understood."""

import pytest

from gradelake.grading.graders.grader_reader import read_grader
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest_collection
from gradelake.ingest.collections.starting import start
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project

FILES = {
    "topics.tsv": "q1\twhy is the sky blue\nq2\thow do bees find home\n",
    "topics.csv": "id,title\nq1,why is the sky blue\n",
    "runs/bm25.run": "q1 Q0 p1 1 2.5 x\n",
    "clicks.csv": "query,passage,position,clicked\nq1,p1,1,1\n",
    "products.csv": "sku,title\n7,Lamp\n",
    "scored.csv": "query,passage,score\nq1,p1,2.5\n",
    "shop.csv": "sku;name\n1;Größe\n".encode("latin-1"),
    "nist.qrels": "q1 0 p1 2\n",
    "team.csv": "query,passage,rating,rater\nq1,p1,1,ann\n",
    "labels/my gpt.csv": "query,passage,label\nq1,p1,3\n",
    "logs.jsonl": '{"question": "q", "contexts": ["c"], "answer": "a"}\n',
    "notes.txt": "Ask Ann about the ratings.\n",
}


def test_a_folder_of_files_becomes_a_collection_that_comes_in(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
    done = start(tmp_path, "mine")
    kinds = {seen.shown: seen.kind for seen in done.seen}
    assert kinds == {
        "topics.tsv": "queries",
        "topics.csv": "queries",
        "runs/bm25.run": "runs",
        "clicks.csv": "clicks",
        "products.csv": "passages",
        "scored.csv": "runs",
        "shop.csv": None,
        "nist.qrels": "judgments",
        "team.csv": "judgments",
        "labels/my gpt.csv": "labels",
        "logs.jsonl": "rag",
        "notes.txt": None,
    }
    project = Project.read(done.file)
    collection = Collection.named(project, "mine")
    assert collection.judgments == {"nist": "nist.qrels", "team": "team.csv"}
    by_hand = "`gradelake import labels mine 'labels/my gpt.csv' --judge 'my gpt'`"
    assert by_hand in done.file.read_text()
    assert "# notes.txt is not used: no form that is known here" in done.file.read_text()
    assert "is not UTF-8; Save it as UTF-8, or name its encoding in" in done.file.read_text()
    outcome = ingest_collection(project, "mine", [])
    assert (outcome.exit_code, outcome.rejected) == (0, [])
    assert not [said for said in outcome.warnings if "ranks" in said]  # scored.csv has none
    with pytest.raises(BadInput, match="already exists"):
        start(tmp_path, "mine")


def test_without_a_file_of_topics_queries_are_their_own_texts(tmp_path):
    (tmp_path / "a.csv").write_text("search_term,sku,position\nred shoes,1,1\nred shoes,2,2\n")
    project = Project.read(start(tmp_path, "shop").file)
    outcome = ingest_collection(project, "shop", [])
    assert outcome.counts == {"queries": 1, "systems": 1, "run_entries": 2}


def test_logs_of_rag_systems_bring_their_topics_and_have_graders_of_their_own(tmp_path, capsys):
    (tmp_path / "v1.jsonl").write_text('{"question": "q", "contexts": ["c"], "answer": "a"}\n')
    done = start(tmp_path, "rag")
    done.print()
    assert "gradelake import rag rag v1.jsonl" in capsys.readouterr().out
    project = Project.read(done.file)
    assert list(project.graders) == ["context", "correct", "faithful"]
    for name in project.graders:
        assert read_grader(project, name).prompt.items != "question"
    assert not Collection.named(project, "rag").names_topics


def test_a_folder_of_which_nothing_is_understood_gets_no_configuration(tmp_path):
    (tmp_path / "notes.txt").write_text("Ask Ann about the ratings.\n")
    with pytest.raises(BadInput, match="nothing in it is understood") as raised:
        start(tmp_path)
    assert "notes.txt: no form that is known here" in str(raised.value)
    assert not (tmp_path / "gradelake.toml").exists()
