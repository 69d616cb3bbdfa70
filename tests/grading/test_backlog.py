"""`gradelake plan` and the marts agree on what is missing, whatever a grader is asked."""

import shutil
from contextlib import closing

import pytest

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.graders.configured import configured
from gradelake.grading.plan.planner import GradingPlan
from gradelake.grading.plan.request import GradingRequest
from gradelake.grading.run.committer import Committer
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.grading.project import ENGINE
from tests.projects import write

pytestmark = pytest.mark.slow

NEW = ("key", "answers", "facts", "verified", "waiting")
GRADERS = """
[grading]
engines = "engines"

[graders.key]
engine = "silent"
prompt = "question_answer"
parser = "answer_key"

[graders.answers]
engine = "silent"
prompt = "question_answer"

[graders.facts]
engine = "silent"
prompt = "nugget_extraction"

[graders.verified]
engine = "silent"
prompt = "verify_answer"
answers_from = "answers"

[graders.waiting]
engine = "silent"
prompt = "verify_answer"
answers_from = "facts"
"""
# half of the questions were looked at, with an answer, without one, or in vain
ANSWERS = """
    insert into {lake}.raw.grades by name
    select
        ? as grader_id,
        * exclude (text_sha256),
        case status when 'ok' then 1 when 'unanswerable' then 0 end as grade,
        text_sha256 as passage_sha256,
        'words' as answer,
        'b' as run_id,
        timestamp '2026-03-01' as graded_at
    from (
        select
            collection,
            query_id,
            passage_id,
            item_id,
            text_sha256,
            ['ok', 'unanswerable', 'failed'][1 + ascii(right(passage_id, 1)) % 3] as status
        from {lake}.marts.wanted_grades
        where kind = 'question' and md5(item_id || passage_id) < '8'
    )
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory, graded_demo):
    """The graded demo, with gaps and failures in its grades, and new graders of other kinds."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("backlog") / "demo")
    write(folder / "engines/silent.py", ENGINE)
    with (folder / "gradelake.toml").open("a") as config:
        config.write(GRADERS)
    project = Project.find(folder)
    with closing(Lake.writer(project)) as lake:
        with lake.transaction("test") as transaction:
            transaction.run("delete from {lake}.raw.grades where passage_id like '%3'")
            transaction.run(
                "update {lake}.raw.grades set grade = null, status = 'failed' "
                "where passage_id like '%4'"
            )
            transaction.run(ANSWERS, configured(project, lake, "answers").grader_id)
        for name in NEW:
            grader = configured(project, lake, name)
            committer = Committer(ReplyLog(lake, grader, Asked("demo", "grade")))
            committer.begin(0)
            committer.finish("done")
        yield lake


def planned(lake: Lake, name: str) -> tuple[GradingPlan, set]:
    """A grader's plan, and the pairs that it names."""
    plan = GradingPlan(lake, GradingRequest("demo", configured(lake.project, lake, name)))
    pairs = lake.rows(
        "select query_id, passage_id, item_id from plan_missing "
        "inner join plan_passages using (passage_no, query_no) "
        "inner join plan_items using (item_no, query_id)"
    )
    assert len(pairs) == plan.totals.missing
    return plan, set(pairs)


def listed(lake: Lake, mart: str, name: str, where: str = "true") -> set:
    """What a mart says is missing of a grader."""
    return set(
        lake.rows(
            f"select query_id, passage_id, item_id from lake.marts.{mart} "
            f"where collection = 'demo' and grader = ? and rubric_version = 0 and {where}",
            name,
        )
    )


def test_each_kind_of_grader_misses_what_it_should_and_marts_list_just_that(lake):
    """Worked out from the raw tables."""
    pool = lake.rows("select query_id, passage_id from lake.marts.pool")
    wanted = {"question": set(), "nugget": set()}
    gold = set()
    for query, item, kind, has_gold in lake.rows(
        "select query_id, item_id, kind, len(gold_answers) > 0 from lake.raw.rubric_items"
    ):
        pairs = {(query, passage, item) for other, passage in pool if other == query}
        wanted[kind] |= pairs
        gold |= pairs if has_gold else set()
    looked_at = {"ok": set(), "unanswerable": set(), "failed": set()}
    for *pair, status in lake.rows(
        "select query_id, passage_id, item_id, status from lake.raw.grades where grader_id = ?",
        configured(lake.project, lake, "answers").grader_id,
    ):
        looked_at[status].add(tuple(pair))
    assert all(looked_at.values())
    missing = {
        "lexical": {pair for pair in wanted["question"] if pair[1].endswith("3")},
        "lexical_direct": {(*pair, "") for pair in pool if pair[1].endswith("3")},
        "key": gold,
        "answers": wanted["question"].difference(*looked_at.values()),
        "facts": wanted["nugget"],
        "verified": gold & (looked_at["ok"] | looked_at["unanswerable"]),
        "waiting": set(),
    }
    missing["lexical_nuggets"] = {pair for pair in wanted["nugget"] if pair[1].endswith("3")}
    for name, expected in missing.items():
        plan, pairs = planned(lake, name)
        assert pairs == listed(lake, "grading_backlog", name) == expected, name
        assert bool(pairs) == (name != "waiting")
        if name in ("lexical", "lexical_nuggets"):
            assert listed(lake, "missing_grades", name, "status = 'missing'") == pairs
            failed = listed(lake, "missing_grades", name, "status = 'failed'")
            assert len(failed) == plan.totals.failed > 0
