"""TRUE on the demo collection, by the commands a person would use: what becomes of its labels.

A server with set replies stands in for the large models; `tests/grading/test_vllm_server.py`
has a real one.
"""

import json
import re
import shutil

import pytest

from gradelake.grading.prompts.written_reply import FEATURES
from tests.command_line import gradelake, json_of
from tests.grading.misbehaving import Server, answer
from tests.places import REPOSITORY
from tests.reading import published

pytestmark = pytest.mark.slow

GRADERS = """
[graders.explainer]
engine = "openai"
model = "stand-in"
base_url = "{url}"
prompt = "true_explain"
[graders.true]
engine = "lexical"
prompt = "true_direct"
label_rubrics = "demo_labels"
"""


@pytest.fixture(scope="module")
def server():
    features = {feature: f"about {feature}" for feature in FEATURES}
    with Server() as server:
        server.on("Explain why this passage", answer(json.dumps(features)))
        server.on("Write the rubric of the label", answer(json.dumps({"rubric": "It answers."})))
        yield server


@pytest.fixture(scope="module")
def judged(demo, server, tmp_path_factory):
    """The demo, with a rubric of its labels, judged a little; published."""
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("label_rubrics") / "demo")
    with (folder / "gradelake.toml").open("a", encoding="utf-8") as config:
        config.write(GRADERS.format(url=server.url))
    drawn = ("--assessor", "human", "--per-label", "1", "--iterations", "1")
    gradelake(folder, "distil", "demo", "--grader", "explainer", "--name", "demo_labels", *drawn)
    query = seen_by(folder)[0][0]
    gradelake(folder, "grade", "demo", "--grader", "true", "--queries", query)
    gradelake(folder, "build")
    return folder


def seen_by(folder) -> list[tuple[str, str]]:
    """(query, passage) of the sampled pairs."""
    shown = json_of(folder, "distil", "--show", "demo_labels", "--json")
    return [(pair["query_id"], pair["passage_id"]) for pair in shown["pairs"]]


def test_the_statement_of_the_page_leaves_out_what_a_judge_has_seen(judged):
    page = (REPOSITORY / "grading" / "README.md").read_text(encoding="utf-8")
    (statement,) = re.findall(r"```sql\n(select labels.*?)```", page, re.DOTALL)
    seen = set(seen_by(judged))
    label_set = "from lake.marts.relevance_labels where label_set = 'judge:true'"
    graded = set(published(judged).rows(f"select query_id, passage_id {label_set}"))
    left = published(judged).rows(
        f"select query_id, passage_id from ({statement}) as unseen where label_set = 'judge:true'"
    )
    assert set(left) == graded - seen
    assert seen & graded


def test_agreement_is_reported_without_the_pairs_a_judge_has_seen(judged):
    seen = set(seen_by(judged))
    pairs = set(
        published(judged).rows(
            "select judge.query_id, judge.passage_id from lake.marts.relevance_labels as judge "
            "inner join lake.marts.relevance_labels as human using (query_id, passage_id) "
            "where judge.label_set = 'judge:true' and human.label_set = 'assessor:human'"
        )
    )
    assert seen & pairs
    counts = published(judged).rows(
        "select is_sampled, any_value(n) from lake.marts.kappa "
        "where label_set = 'judge:true' and assessor = 'human' group by all order by all"
    )
    assert counts == [(False, len(pairs - seen)), (True, len(pairs & seen))]
