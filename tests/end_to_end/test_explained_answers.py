"""Every column of every answer of `stats` says what it means: in a mart's words, or in its own."""

import json
import re

import pytest

from gradelake.analyses.answers import battles, estimate
from gradelake.analyses.answers.asking import statistics
from gradelake.sql.common.project import Project
from gradelake.sql.lake.dictionary import meanings, words_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown import html
from gradelake.sql.shown.answer import Answer, Table
from tests.command_line import gradelake
from tests.tiers import first_of

LABELS = "--label-set lexical/v0/best"
MEASURE = "--measure nDCG@10"
ASKED = {
    "agreement": LABELS,
    "alpha": "--per-query",
    "calibration": "--grader lexical_direct",
    "ceiling": "",
    "confusion": LABELS,
    "correlation": f"{MEASURE} --reference assessor:human --top 5 --against lexical/v0/best",
    "correlation-table": "",
    "coverage": LABELS,
    "grades": "--grader lexical",
    "judges": "",
    "kappa": "--against lexical/v0/best",
    "labels": "",
    "leaderboard": f"{LABELS} --label-set assessor:human {MEASURE} --ranks --stderr --groups",
    "meta": f"--reference assessor:human {MEASURE} --qrels",
    "overview": "",
    "ranks": f"{LABELS} {MEASURE}",
    "rates": LABELS,
    "scatter": f"{LABELS} {MEASURE}",
    "significance": f"{LABELS} {MEASURE} --reference assessor:human",
}
# columns of marts have the name, and are something else
OTHERS = {("battles", "n_battles"), ("rates", "cut")}
# what the demo has not: battles, and a sample that people judged
COLUMNS = {"battles": [*battles.COLUMNS, *battles.AGREEMENT], "estimate": estimate.COLUMNS}


@pytest.fixture(scope="module")
def lake(graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        yield lake


def explained(lake, name: str) -> Answer:
    one = statistics()[name]
    if name in COLUMNS:
        return one.explained(lake, Answer({}, tables=[Table(name, COLUMNS[name], [])]))
    return one.answer(lake, "demo", ASKED[name].split())


@pytest.mark.parametrize("name", first_of(3, *sorted(ASKED | COLUMNS)))
def test_every_column_has_words_and_of_its_own_only_those_that_no_mart_has(lake, name):
    means = explained(lake, name).means
    assert means
    assert [one.key for one, words in means.items() if not words] == []
    assert all(re.fullmatch(r"\S.*\S", words) for words in means.values())
    marts = statistics()[name].marts
    assert marts == [mart for mart in marts if mart in meanings(lake)]
    known = words_of(lake, marts[:-1])  # the last is for what no other says
    assert {(name, one.key) for one in means if one.means and one.key in known} <= OTHERS


def test_there_is_no_other_answer():
    assert {*statistics()} == {*ASKED, *COLUMNS}


def test_they_stand_below_the_answer_in_json_and_over_columns_of_a_page(lake, graded_demo):
    asked = ("stats", "scatter", "demo", *ASKED["scatter"].split())
    plain, told = (gradelake(graded_demo, *asked, *more).stdout for more in ((), ("--explain",)))
    assert told.startswith(plain)
    words = "Whether its two ranks differ by more than a tenth of the systems."
    assert re.search(rf"\nfar from its place +is_far +{words}\n", told)
    assert json.loads(gradelake(graded_demo, *asked, "--explain", "--json").stdout)["columns"] == {
        "system": meanings(lake)["leaderboard"]["system"],
        "reference": "Its score by the reference.",
        "labels": "Its score by the labels.",
        "is_far": words,
    }
    gradelake(graded_demo, *asked, "--explain", "--format", "csv", code=2)  # has no room for it
    assert f'data-key="is_far" title="{words}"' in html.render(explained(lake, "scatter"))
