"""Nuggets of answers, from files as nuggetizer writes them to boards: scores equal its own."""

import json
import random
from statistics import mean, stdev

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.grading.project import engine_code
from tests.projects import project

nuggetizer = pytest.importorskip("nuggetizer.core.metrics")
pytestmark = pytest.mark.slow

SYSTEMS, QUERIES = 8, 12
LABELS = ("support", "partial_support", "not_support")
MEASURES = {
    "StrictVital": "strict_vital_score",
    "StrictAll": "strict_all_score",
    "Vital": "vital_score",
    "All": "all_score",
}
# An engine that looks up what the file says of an answer's nuggets
READS = """
def __init__(self, grader):
    super().__init__(grader)
    file = HERE.parent / "assigned.jsonl"
    self.known = {}
    for line in file.read_text().splitlines():
        row = json.loads(line)
        for nugget in row["nuggets"]:
            self.known[row["answer_text"], nugget["text"]] = nugget["assignment"]

def score(self, prompts):
    return [
        Response(str([
            self.known[prompt.values["passage"], item]
            for item in ast.literal_eval(prompt.values["items"])
        ]))
        for prompt in prompts
    ]
"""


def assigned(seed: int) -> list[dict]:
    """Random records as `nuggetizer assign` writes them; q00 has no vital nugget, and of the
    last system some assignments failed."""
    rng = random.Random(seed)
    records = []
    for n in range(QUERIES):
        texts = [f"fact {n}.{place}" for place in range(rng.randint(1, 25))]
        importance = ["okay" if n == 0 else rng.choice(["vital", "okay"]) for _ in texts]
        for system in range(SYSTEMS):
            labels = (*LABELS, "failed") if system == SYSTEMS - 1 else LABELS
            records.append(
                {
                    "query": f"what about {n}",
                    "qid": f"q{n:02}",
                    "run_id": f"s{system:02}",
                    "answer_text": f"system {system} on {n}",
                    "nuggets": [
                        {"text": text, "importance": which, "assignment": rng.choice(labels)}
                        for text, which in zip(texts, importance, strict=True)
                    ],
                }
            )
    return records


def by_nuggetizer(record: dict) -> list[float]:
    """Its own scores of an answer, in the order of `MEASURES`."""
    scores = nuggetizer.calculate_nugget_scores(record["qid"], record["nuggets"])
    return [round(getattr(scores, name), 10) for name in MEASURES.values()]


def plain(record: dict) -> tuple:
    """What a record says, whatever the order of its nuggets."""
    nuggets = sorted(tuple(sorted(nugget.items())) for nugget in record["nuggets"])
    return tuple(record[key] for key in ("query", "qid", "run_id", "answer_text")), nuggets


@pytest.fixture(scope="module")
def records() -> list[dict]:
    return assigned(20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, new_lake, records):
    folder = tmp_path_factory.mktemp("nuggets")
    new_lake(folder)
    by_query = {row["qid"]: row for row in records}
    files = {
        "topics.tsv": {qid: row["query"] for qid, row in by_query.items()},
        "assigned.jsonl": records,
        "bank.jsonl": [
            {
                "query": row["query"],
                "qid": qid,
                "nuggets": [{k: n[k] for k in ("text", "importance")} for n in row["nuggets"]],
            }
            for qid, row in by_query.items()
        ],
        "responses.jsonl": [
            {"system": r["run_id"], "query_id": r["qid"], "text": r["answer_text"]} for r in records
        ],
        "engines/reads.py": engine_code(READS),
    }
    rag = {"queries": "topics.tsv", "responses": ["responses.jsonl"]}
    theirs = {"engine": "reads", "prompt": "nuggetizer_assign", "actors": 1}
    project(folder, {"rag": rag}, {"theirs": theirs}, files, grading={"engines": "engines"})
    gradelake(folder, "ingest", "rag")
    gradelake(folder, "import", "bank", "rag", "bank.jsonl", "--name", "nuggets")
    gradelake(folder, "grade", "rag", "--grader", "theirs", code=3)  # some failed
    gradelake(folder, "build")
    return folder


@pytest.fixture(scope="module")
def lake(folder):
    with Lake.published(Project.find(folder)) as lake:
        yield lake


def test_answers_score_as_nuggetizer_scores_them(lake, records):
    ours = {
        (system, query_id): scores
        for system, query_id, *scores in lake.rows(
            f"select system, query_id, {', '.join(MEASURES.values())} from lake.marts.nugget_scores"
        )
    }
    theirs = {(row["run_id"], row["qid"]): by_nuggetizer(row) for row in records}
    assert len(theirs) == SYSTEMS * QUERIES
    assert ours == theirs


def test_what_failed_is_counted_as_not_assigned(lake, records):
    failed = sum(n["assignment"] == "failed" for row in records for n in row["nuggets"])
    assert failed > 10
    assert lake.rows(
        "select system, sum(n_nuggets - n_assigned) from lake.marts.nugget_scores "
        "group by all having sum(n_nuggets - n_assigned) > 0"
    ) == [(records[-1]["run_id"], failed)]
    assert lake.value("select count(*) from lake.marts.failed_grades") == failed
    ((share, is_incomplete),) = lake.rows(
        "select labelled_share, is_incomplete from lake.marts.label_completeness"
    )
    pairs = sum(len(row["nuggets"]) for row in records)
    assert (share, is_incomplete) == (round(1 - failed / pairs, 10), False)


def test_without_vital_nuggets_the_score_is_zero_and_the_other_column_null(lake):
    assert lake.rows(
        "select distinct n_vital, strict_vital_score, vital_score, strict_vital_score_or_null, "
        "vital_score_or_null from lake.marts.nugget_scores where query_id = 'q00'"
    ) == [(0, 0, 0, None, None)]


def test_a_board_has_nuggetizers_means_of_each_run_at_every_level(lake, records):
    board = {
        (system, measure): (score, stderr)
        for system, measure, score, stderr in lake.rows(
            "select distinct system, measure, score, stderr from lake.marts.leaderboard "
            "where label_set = 'theirs/v0/nuggets'"
        )
    }
    assert len(board) == SYSTEMS * 4
    for system in {row["run_id"] for row in records}:
        own = [row for row in records if row["run_id"] == system]
        overall = nuggetizer.calculate_global_metrics(own)
        for measure, name in MEASURES.items():
            values = [
                getattr(nuggetizer.calculate_nugget_scores(r["qid"], r["nuggets"]), name)
                for r in own
            ]
            score, stderr = board[system, measure]
            assert score == pytest.approx(overall[name], abs=1e-9)
            assert score == pytest.approx(mean(values), abs=1e-9)
            assert stderr == pytest.approx(stdev(values) / QUERIES**0.5, abs=1e-9)


def test_assignments_label_no_passages(lake):
    for mart in ("relevance_labels", "confusion", "kappa", "rubric_coverage", "leaderboard_shift"):
        assert lake.value(f"select count(*) from lake.marts.{mart}") == 0, mart
    assert lake.rows("select label_set, level from lake.marts.usual_levels") == [
        ("theirs/v0/nuggets", 1)
    ]


def test_each_assignment_stands_in_the_lists_for_people(lake, records):
    row = records[0]
    expected = {n["text"]: 2 - LABELS.index(n["assignment"]) for n in row["nuggets"]}
    found = dict(
        lake.rows(
            "select item_text, grade from lake.marts.verify_grades where text = ?",
            row["answer_text"],
        )
    )
    assert found == expected
    assert lake.rows(
        "select sum(n_wanted), sum(n_missing) from lake.marts.rubric_progress"
    ) == lake.rows(
        "select sum(n_nuggets), sum(n_nuggets - n_assigned) from lake.marts.nugget_scores"
    )


def test_what_nuggetizer_would_have_written_is_written_again(folder, records):
    asked = ("export", "grades", "rag", "--format", "assignments", "--grader")
    gradelake(folder, *asked, "theirs", "-o", "out.jsonl")
    written = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert sorted(map(plain, written)) == sorted(map(plain, records))
    assert written[0]["response_length"] == len(written[0]["answer_text"].split())
    refused = gradelake(folder, *asked, "thiers", "-o", "o.jsonl", code=2).stderr
    assert "Did you mean 'theirs'?" in refused or "theirs" in refused
