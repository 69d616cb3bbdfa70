"""The published grades of the LLMJudge challenge: every number as the file has it."""

import gzip
import json
import re
from collections import Counter
from contextlib import closing

import pytest

from gradelake.grading.exchange.grades_export import export_grades
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.pipeline import ingest
from tests import workbench_schema
from tests.grading.test_grades_export import whole
from tests.grading.workbench_files import bring
from tests.ingest.conftest import new_tiny
from tests.places import SHARED

pytestmark = pytest.mark.slow

LLMJUDGE = SHARED / "llmjudge"
FILE = LLMJUDGE / "dev.jsonl.gz"


@pytest.fixture(scope="module")
def published(tmp_path_factory, empty_lake):
    """(project, what the import did) with both raters."""
    if not FILE.is_file():
        pytest.skip(f"no LLMJudge data at {LLMJUDGE} (it may not be redistributed)")
    with closing(new_tiny(tmp_path_factory.mktemp("llmjudge") / "project", empty_lake)) as project:
        project.settings = {"queries": str(LLMJUDGE / "dev_queries.tsv")}
        ingest(project.lake, Collection.named(project.project, "tiny"), [], lambda w, i, n: i)
        yield project, bring(project, str(FILE), rater="both", assessor="human")


@pytest.fixture(scope="module")
def paragraphs(published):
    """Every paragraph, read with plain json."""
    with gzip.open(FILE, "rt", encoding="utf-8") as stream:
        return [given for line in stream for given in json.loads(line)[1]]


def rate(given):
    """(prompt class, rating, reply) of every rating of a paragraph."""
    for entry in given["exam_grades"]:
        replies = dict(entry["answers"])
        for rating in entry.get("self_ratings", ()):
            item = rating.get("question_id") or rating["nugget_id"]
            yield entry["prompt_info"]["prompt_class"], rating["self_rating"], replies[item]


def counted(project, where):
    rows = project.rows(
        "select prompt, status, grade, count(*) from lake.raw.grades "
        f"inner join lake.raw.graders using (grader_id) where {where} group by all"
    )
    return {(prompt, status, grade): n for prompt, status, grade, n in rows}


def test_every_rating_has_the_grade_of_the_file(published, paragraphs):
    project, _ = published
    expected = Counter()
    for given in paragraphs:
        for prompt, rating, reply in rate(given):
            digit = re.fullmatch(r"[^\w]*([0-9])[^\w]*", reply)
            is_ok = digit is not None and digit[1] == str(rating)
            expected[prompt, "ok" if is_ok else "defaulted", rating] += 1
    assert expected.total() == 144_415
    where = "target in ('question', 'nugget') and parser = 'published'"
    assert counted(project, where) == expected


def test_extractions_and_direct_labels_are_those_of_the_file(published, paragraphs):
    project, _ = published
    expected = Counter()
    for given in paragraphs:
        for entry in given["exam_grades"]:
            if "self_ratings" not in entry:
                prompt = entry["prompt_info"]["prompt_class"]
                expected[prompt, "ok", 1] += len(entry["correctAnswered"])
                expected[prompt, "ok", 0] += len(entry["wrongAnswered"])
        for entry in given["grades"]:
            expected[entry["prompt_info"]["prompt_class"], "ok", entry["self_ratings"]] += 1
    assert expected.total() == 144_415 + 7_263
    assert counted(project, "target in ('extract', 'direct')") == expected


def test_replies_that_are_no_bare_digit_are_told_and_count_1_by_the_papers_rule(
    published, paragraphs
):
    project, done = published
    others = Counter(
        reply for given in paragraphs for _, _, reply in rate(given) if reply not in set("012345")
    )
    assert done.seen["replies_no_bare_digit"] == others.total() == 641
    quoted = sum(n for reply, n in others.items() if re.fullmatch(r'[0-5]"', reply))
    assert quoted == 11
    by_paper = counted(project, "parser = 'paper'")
    found = Counter()
    for (_, status, grade), n in by_paper.items():
        found[status, grade if status == "defaulted" else None] += n
    assert found == {("ok", None): 144_415 - 641 + quoted, ("defaulted", 1): 641 - quoted}


def test_passages_and_judgments_come_with_them(published, paragraphs):
    project, done = published
    assert done.counts["passages"] == len({given["paragraph_id"] for given in paragraphs}) == 7_224
    found = project.rows("select passage_id, relevance from lake.raw.judgments order by all")
    expected = [
        (given["paragraph_id"], judgment["relevance"])
        for given in paragraphs
        for judgment in given["paragraph_data"]["judgments"]
    ]
    assert found == sorted(expected)
    assert done.exit_code == 0


def test_the_file_comes_out_as_it_went_in(published, tmp_path):
    """Every entry, marker and reply of it, as JSON values; the workbench's own reader takes it."""
    project, _ = published
    out = tmp_path / "out.jsonl.gz"
    names = project.rows("select name from lake.raw.graders where parser != 'paper'")
    export_grades(project.lake, "tiny", out, [name for (name,) in names])
    with gzip.open(FILE, "rt", encoding="utf-8") as stream, gzip.open(out, "rt") as back:
        given = {json.loads(line)[0]: line for line in stream}
        found = {json.loads(line)[0]: line for line in back}
    assert found.keys() == given.keys()
    for query, line in found.items():
        assert whole(line) == whole(given[query])
        workbench_schema.Line.model_validate(json.loads(line))
