"""TRUE on the demo collection, by the commands a person would use, with a real model in vLLM.

SmolLM2-135M is far too small: that the labels arrive is shown, not that they are right.
"""

import json
import re
import shutil

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests import command_line
from tests.conftest import gradelake
from tests.grading.smollm import missing, model_folder
from tests.places import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=str(missing()))]

PAIRS = 6  # that reason: a start is enough
GRADERS = """
[graders.explainer]
prompt = "true_explain"
decoding = {{ temperature = 0.7, frequency_penalty = 1.0, max_tokens = 900 }}
{common}
[graders.true]
prompt = "true_direct"
label_rubrics = "demo_labels"
{common}
[graders.true_slow]
prompt = "true_reasoning"
label_rubrics = "demo_labels"
decoding = {{ max_tokens = 60 }}
{common}"""


@pytest.fixture(scope="module")
def judged(demo, tmp_path_factory):
    """The demo, with a rubric of its labels, judged a little by two graders; published."""
    folder = tmp_path_factory.mktemp("label_rubrics") / "demo"
    shutil.copytree(demo, folder)
    common = (
        f'engine = "vllm"\nmodel = {json.dumps(str(model_folder()))}\nactors = 1\n'
        "max_model_len = 2048\nkv_cache_mib = 192\n"
    )
    with (folder / "gradelake.toml").open("a", encoding="utf-8") as config:
        config.write(GRADERS.format(common=common))
    gradelake(
        folder,
        "distil",
        "demo",
        "--assessor",
        "human",
        "--grader",
        "explainer",
        "--name",
        "demo_labels",
        "--per-label",
        "1",
        "--iterations",
        "1",
    )
    query = seen_by(folder)[0][0]
    gradelake(folder, "grade", "demo", "--grader", "true", "--queries", query)
    # a model this small seldom says its label where it is read: those pairs fail
    _grade_or_fail(folder, "--grader", "true_slow", "--limit", str(PAIRS))
    gradelake(folder, "build")
    return folder


def _grade_or_fail(folder, *options: str) -> None:
    done = command_line.run(folder, "grade", "demo", *options)
    assert done.returncode in (0, 3), f"{done.stdout}{done.stderr}"


def seen_by(folder) -> list[tuple[str, str]]:
    """(query, passage) of the sampled pairs."""
    shown = json.loads(gradelake(folder, "distil", "--show", "demo_labels", "--json").stdout)
    return [(pair["query_id"], pair["passage_id"]) for pair in shown["pairs"]]


def rows(judged, query: str) -> list[tuple]:
    with Lake.published(Project.find(judged)) as lake:
        return lake.rows(query)


def test_the_rubric_has_a_text_for_each_label_of_the_collection(judged):
    shown = json.loads(gradelake(judged, "distil", "--show", "demo_labels", "--json").stdout)
    assert list(shown["rubrics"]) == ["0", "1", "2", "3"]
    assert all(text.strip() for text in shown["rubrics"].values())
    assert sorted(pair["label"] for pair in shown["pairs"]) == [0, 1, 2, 3]


def test_the_labels_of_the_judge_are_in_the_marts(judged):
    query = seen_by(judged)[0][0]
    labels = dict(
        rows(
            judged,
            "select passage_id, label from lake.marts.relevance_labels "
            "where label_set = 'judge:true'",
        )
    )
    pool = rows(
        judged, f"select passage_id from lake.intermediate.int_pool where query_id = '{query}'"
    )
    assert set(labels) == {passage_id for (passage_id,) in pool}
    assert set(labels.values()) <= {0, 1, 2, 3}
    measures = rows(
        judged,
        "select count(*) from lake.marts.leaderboard_v2 "
        "where label_set = 'judge:true' and measure = 'nDCG@10'",
    )
    assert measures[0][0] > 0


def test_every_reasoned_pair_has_a_label_or_the_reason_why_not(judged):
    found = rows(
        judged,
        "select coalesce(grades.grade between 0 and 3, grades.error is not null) "
        "from lake.raw.grades as grades inner join lake.raw.graders using (grader_id) "
        "where graders.name = 'true_slow'",
    )
    assert found == [(True,)] * PAIRS


def test_sql_finds_the_pairs_that_a_judge_has_seen(judged):
    found = rows(
        judged,
        "select graders.grader, count(*) from lake.intermediate.int_graders as graders "
        "inner join lake.staging.stg_label_rubric_pairs as pairs "
        "on graders.label_rubric_id = pairs.rubric_id group by all order by all",
    )
    assert found == [("true", 4), ("true_slow", 4)]


def test_the_statement_of_the_page_leaves_out_what_a_judge_has_seen(judged):
    page = (REPOSITORY / "grading" / "README.md").read_text(encoding="utf-8")
    (statement,) = re.findall(r"```sql\n(select labels.*?)```", page, re.DOTALL)
    seen = set(seen_by(judged))
    label_set = "from lake.marts.relevance_labels where label_set = 'judge:true'"
    graded = set(rows(judged, f"select query_id, passage_id {label_set}"))
    left = rows(
        judged,
        f"select query_id, passage_id from ({statement}) as unseen where label_set = 'judge:true'",
    )
    assert set(left) == graded - seen
    assert seen & graded


def test_agreement_is_reported_without_the_pairs_a_judge_has_seen(judged):
    seen = set(seen_by(judged))
    pairs = set(
        rows(
            judged,
            "select judge.query_id, judge.passage_id from lake.marts.relevance_labels as judge "
            "inner join lake.marts.relevance_labels as human using (query_id, passage_id) "
            "where judge.label_set = 'judge:true' and human.label_set = 'assessor:human'",
        )
    )
    assert seen & pairs
    counts = rows(
        judged,
        "select is_sampled, any_value(n) from lake.marts.kappa "
        "where label_set = 'judge:true' and assessor = 'human' group by all order by all",
    )
    assert counts == [(False, len(pairs - seen)), (True, len(pairs & seen))]
