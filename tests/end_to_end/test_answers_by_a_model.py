"""Nuggets made, looked for in answers, and citations judged by a real model in a real vLLM; killed.

SmolLM2-135M cannot write the lists that nuggetizer's prompts ask for, so it completes examples
instead, with prompts as anybody may write them. What it says means nothing; what it does not
manage is reported, and never guessed.
"""

import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from gradelake.ingest import demo
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.grading.smollm import missing, model_folder
from tests.projects import project

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=str(missing()))]

DEMO = Path(demo.__file__).parent
QUERIES = ["bird-navigation", "hash-collisions", "lower-blood-pressure", "volcano-prediction"]
PATIENCE = 300  # seconds until a model is at work: cores are few, and shared

PROMPTS = {
    "creates": """
target: generate
items: nugget
window: 1
max_nuggets: 3
max_passages: 2
importance: weighs
output: text
template: |-
  Known so far: {items}

  Question: when do cats sleep
  Passage: Cats sleep for most of the day. They hunt mice at night.
  Phrases: ["sleep most of the day", "hunt mice at night"]

  Question: why does iron rust
  Passage: Iron rusts in wet air. Paint keeps the air away.
  Phrases: ["rusts in wet air", "paint keeps the air away"]

  Question: {query}
  Passage: {passages}
  Phrases:
""",
    "weighs": """
target: importance
window: 1
output: text
scale: {okay: 0, vital: 1}
parser: labels
template: |-
  Question: why does iron rust
  Phrase: ['rusts in wet air']
  Importance: ['vital']

  Question: why does iron rust
  Phrase: ['iron is old']
  Importance: ['okay']

  Question: when do cats sleep
  Phrase: ['sleep most of the day']
  Importance: ['vital']

  Question: when do cats sleep
  Phrase: ['the cat is a pet that many people keep']
  Importance: ['okay']

  Question: {query}
  Phrase: {items}
  Importance:
""",
    "assigns": """
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
""",
    "supports": """
target: support
output: scale
scale: {none: 0, part: 1, full: 2}
parser: strict
template: |-
  Is what the statement says in the citation? Answer with one word: full, part or none.

  Statement: {item}

  Citation: {passage}
""",
}
SETTINGS = {  # without the chat template it goes on where a prompt ends
    "creates": {"chat": False, "decoding": {"max_tokens": 40, "frequency_penalty": 0.5}},
    "assigns": {"chat": False, "decoding": {"max_tokens": 10}, "chunk_pairs": 4},
    "supports": {"chunk_pairs": 4},
}


def reports() -> list[dict]:
    """An answer to each query, by two systems, of three sentences: the first cites a passage that
    is not there, the others relevant ones."""
    relevant = defaultdict(list)
    for line in (DEMO / "judgments.qrels").read_text().splitlines():
        query_id, _, passage_id, judgment = line.split()
        if int(judgment) >= 2:
            relevant[query_id].append(passage_id)
    found = []
    for line in (DEMO / "responses.jsonl").read_text().splitlines():
        answer = json.loads(line)
        if (query_id := answer["query_id"]) not in QUERIES:
            continue
        texts = answer["text"].replace("\n", " ").split(". ")[:4]
        for first, system in enumerate(("one", "two")):
            cited = [
                ["nowhere"],
                relevant[query_id][first:2],
                relevant[query_id][first : first + 1],
            ]
            sentences = [
                {"text": text, "citations": passages}
                for text, passages in zip(texts[first:], cited, strict=False)
            ]
            metadata = {"run_id": system, "topic_id": query_id}
            found.append({"metadata": metadata, "responses": sentences})
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory, new_lake) -> Path:
    """The demo, with two systems' answers to four of its queries."""
    folder = tmp_path_factory.mktemp("answers")
    new_lake(folder)
    head = "name: {0}\nversion: 1\nsource: ours\ndescription: For a small model{1}"
    files = {f"prompts/{name}.yaml": head.format(name, text) for name, text in PROMPTS.items()}
    collection = {
        "queries": DEMO / "topics.tsv",
        "passages": DEMO / "passages.jsonl",
        "judgments": {"human": DEMO / "judgments.qrels"},
        "responses": ["reports.jsonl"],
        "min_relevant": 2,
    }
    model = {"engine": "vllm", "model": model_folder(), "actors": 1}
    model |= {"max_model_len": 2048, "kv_cache_mib": 128}
    graders = {name: model | {"prompt": name} | more for name, more in SETTINGS.items()}
    files["reports.jsonl"] = reports()
    project(folder, {"rag": collection}, graders, files, grading={"prompts": "prompts"})
    gradelake(folder, "ingest", "rag")
    return folder


def started(folder: Path, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "gradelake", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder: Path, *arguments: str) -> str:
    """What it prints; some of what was asked for may have failed."""
    process = started(folder, *arguments)
    out, _ = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode in (0, 3), out
    return out


def kill_while_asked(process: subprocess.Popen) -> None:
    """kill -9 while the model is at work."""
    deadline = time.monotonic() + PATIENCE
    while not is_asked(process):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    process.kill()
    assert process.wait() == -9


def is_asked(process: subprocess.Popen) -> bool:
    """Whether a worker asks the model: Ray calls it after what it does."""
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if " ".join(child.cmdline()).startswith("ray::Grade.grade"):
                    return True
    return False


def rows(folder: Path, sql: str, open_lake=Lake.live) -> list[tuple]:
    with open_lake(Project.find(folder)) as lake:
        return lake.rows(sql)


BANK = "select query_id, item_id, text, weight from lake.raw.rubric_items order by all"
GRADES = """
    select graders.name, grades.query_id, grades.passage_id, grades.item_id, status, grade, error
    from lake.raw.grades
    inner join lake.raw.graders using (grader_id)
"""


@pytest.fixture(scope="module")
def done(folder) -> SimpleNamespace:
    """All of it, `generate` and `assigns` killed in the midst and begun again."""
    create = ("generate", "rag", "--grader", "creates", "--method", "nuggetizer")
    create += ("--queries", ",".join(QUERIES))
    assign = ("grade", "rag", "--grader", "assigns")
    kill_while_asked(started(folder, *create))
    half_made = rows(folder, BANK)
    created = run(folder, *create)
    bank = rows(folder, BANK)
    run(folder, *assign, "--limit", "4")
    kill_while_asked(started(folder, *assign))
    half_assigned = rows(folder, GRADES)
    run(folder, *assign)
    run(folder, "grade", "rag", "--grader", "supports")
    gradelake(folder, "build")
    return SimpleNamespace(
        half_made=half_made,
        created=created,
        bank=bank,
        half_assigned=half_assigned,
        grades=rows(folder, GRADES),
    )


def test_the_bank_is_whole_and_a_query_without_items_is_named(done, folder):
    assert done.half_made == []  # of what was killed nothing came in half
    assert rows(folder, BANK) == done.bank
    found = {query_id for query_id, *_ in done.bank}
    assert found
    told = {query_id for query_id in QUERIES if f"query {query_id} got no items" in done.created}
    assert found | told == set(QUERIES)
    assert not found & told
    ids = [item_id for _, item_id, *_ in done.bank]
    assert len(ids) == len(set(ids))
    assert {weight for *_, weight in done.bank} <= {0.5, 1.0}
    assert all(text.strip() for _, _, text, _ in done.bank)
    noted = rows(folder, "select target, n_rows from lake.raw.ledger where target like '%/bank/%'")
    per_query = Counter(query_id for query_id, *_ in done.bank)
    assert {target.split("/")[-1]: n for target, n in noted} == per_query


def test_each_answer_and_nugget_and_each_cited_sentence_has_one_grade(done, folder):
    nuggets = rows(
        folder,
        "select distinct query_id, passage_id, item_id from lake.raw.answers "
        "inner join lake.raw.rubric_items using (collection, query_id)",
    )
    cited = rows(  # by the first citation of each sentence, of passages that are there
        folder,
        "select distinct query_id, cited_passage_id, sentences.item_id from lake.raw.citations "
        "inner join lake.raw.sentences using (collection, system, query_id, sentence) "
        "where citation = 1 and cited_passage_id <> 'nowhere'",
    )
    graded = defaultdict(list)
    for name, *pair, _, _, _ in done.grades:
        graded[name].append(tuple(pair))
    assert sorted(graded["assigns"]) == sorted(nuggets)
    assert sorted(graded["supports"]) == sorted(cited)
    assert set(graded) == {"assigns", "supports"}


def test_what_was_graded_before_the_kill_stays_as_it_was(done):
    assert 4 <= len(done.half_assigned) < sum(name == "assigns" for name, *_ in done.grades)
    assert set(done.half_assigned) <= set(done.grades)


def test_a_grade_is_on_the_scale_or_the_reason_why_not_is_told(done):
    for name, *_, status, grade, error in done.grades:
        if status == "ok":
            assert grade in (0, 1, 2)
            assert error is None
        else:
            assert (name, status, grade) == ("assigns", "failed", None)
            assert error
    assert ("assigns", "ok") in {(name, status) for name, *_, status, _, _ in done.grades}


def test_scores_are_of_these_grades(done, folder):
    held = {(p, i): grade for name, _, p, i, _, grade, _ in done.grades if name == "assigns"}
    answers = rows(folder, "select system, query_id, passage_id from lake.raw.answers")
    of_nuggets = {}
    for system, query_id, passage_id in answers:
        found = [held[passage_id, item] for query, item, *_ in done.bank if query == query_id]
        if any(grade is not None for grade in found):
            score = sum(grade or 0 for grade in found) / 2 / len(found)
            of_nuggets[system, query_id] = (len(found), pytest.approx(score))
    assert of_nuggets
    assert {
        (system, query_id): (n, score)
        for system, query_id, n, score in rows(
            folder,
            "select system, query_id, n_nuggets, all_score from lake.marts.nugget_scores",
            Lake.published,
        )
    } == of_nuggets

    supported = {(i, p): grade for name, _, p, i, _, grade, _ in done.grades if name == "supports"}
    of_citations = defaultdict(list)
    for system, query_id, item_id, passage_id in rows(
        folder,
        "select system, query_id, item_id, cited_passage_id from lake.raw.citations "
        "inner join lake.raw.sentences using (collection, system, query_id, sentence) "
        "where citation = 1",
    ):  # what is not there supports nothing
        of_citations[system, query_id].append(supported.get((item_id, passage_id), 0) / 2)
    assert {
        (system, query_id): precision
        for system, query_id, precision in rows(
            folder,
            "select system, query_id, support_precision from lake.marts.support_scores",
            Lake.published,
        )
    } == {key: pytest.approx(sum(each) / len(each)) for key, each in of_citations.items()}
    assert len(of_citations) == 2 * len(QUERIES)
