"""Published grades per criterion on TREC DL 2019: labels against plain Python."""

import ast
import gzip
import json
import shutil
from pathlib import Path

import pytest

from tests import reading
from tests.command_line import gradelake
from tests.places import DL19, missing_dl19
from tests.projects import project, write

pytestmark = pytest.mark.slow

GRADERS = {
    "llama8b": "4_prompts_dl2019.json.gz",
    "llama70b": "dl2019_test_4prompts_llama70b.json.gz",
    "sun_then": "dl2019_sun_then_decomposed_relavance_qrel.json.gz",
}
# the sums of four criteria as labels (arXiv:2507.09488): 10-12 -> 3, 7-9 -> 2, 5-6 -> 1
CRITERIA_SUM = "12:3 11:3 10:3 9:2 8:2 7:2 6:1 5:1"
POLICIES = (
    "policy,rule,m,tau,mapping\nbest,best,,,\nsecond_best,mth_best,2,,\nsum,sum,,,\n"
    f"criteria_sum,sum,,,{CRITERIA_SUM}\n"
)


@pytest.fixture(scope="module")
def published() -> dict[str, dict[tuple[str, str], list[int]]]:
    """grader -> pair -> its grades, best first; pairs without any are left out."""
    if reason := missing_dl19():
        pytest.skip(reason)
    graders = {}
    for grader, file in GRADERS.items():
        content = json.loads(gzip.decompress((DL19 / "grades" / file).read_bytes()))
        pairs = {}
        for key, criteria in content.items():
            query, passage = ast.literal_eval(key)
            grades = [grade for grade in criteria.values() if grade is not None]
            if grades:
                pairs[str(query), passage] = sorted(grades, reverse=True)
        graders[grader] = pairs
    return graders


@pytest.fixture(scope="module")
def folder(published, tmp_path_factory, new_lake) -> Path:
    """DL 2019 without runs, the three files as three graders, and the policy `sum`; built."""
    folder = tmp_path_factory.mktemp("criteria") / "dl19"
    judged = {"queries": DL19 / "topics.tsv", "judgments": {"nist": DL19 / "qrels.txt"}}
    project(folder, {"dl19": judged}, files={"seeds/label_policies.csv": POLICIES.splitlines()})
    new_lake(folder)
    gradelake(folder, "ingest", "dl19")
    for grader, file in GRADERS.items():
        path = str(DL19 / "grades" / file)
        gradelake(folder, "import", "grades", "dl19", path, "--grader", grader)
    gradelake(folder, "build")
    return folder


def labels_of(folder, label_set) -> dict[tuple[str, str], int]:
    rows = reading.published(folder).rows(
        "select query_id, passage_id, label from lake.marts.relevance_labels where label_set = ?",
        label_set,
    )
    return {(query, passage): label for query, passage, label in rows}


@pytest.mark.parametrize("grader", GRADERS)
def test_labels_are_the_best_second_best_and_sum_of_the_criteria(folder, published, grader):
    pairs = published[grader]
    assert labels_of(folder, f"{grader}/v0/best") == {p: max(g) for p, g in pairs.items()}
    assert labels_of(folder, f"{grader}/v0/sum") == {p: sum(g) for p, g in pairs.items()}
    assert labels_of(folder, f"{grader}/v0/second_best") == {
        pair: grades[1] if len(grades) > 1 else 0 for pair, grades in pairs.items()
    }
    # 10-12 is 3, 7-9 is 2, 5-6 is 1, as the paper has it; its script lets 5 fall to 0
    assert labels_of(folder, f"{grader}/v0/criteria_sum") == {
        pair: sum(sum(grades) >= least for least in (5, 7, 10)) for pair, grades in pairs.items()
    }


def test_the_pairs_and_missing_grades_are_those_of_the_files(folder, published):
    """70B has two nulls; sun_then grades two of four criteria, and 123 pairs on none."""
    assert {grader: len(pairs) for grader, pairs in published.items()} == {
        "llama8b": 9260,
        "llama70b": 9260,
        "sun_then": 9137,
    }
    rows = reading.published(folder).rows(
        "select label_set, min(n_items), max(n_items), sum(n_missing) "
        "from lake.marts.relevance_labels where ends_with(label_set, '/best') group by all"
    )
    failed = reading.published(folder).rows(
        "select grader, error, count(*) from lake.marts.failed_grades group by all"
    )
    assert {label_set: counts for label_set, *counts in rows} == {
        "llama8b/v0/best": [4, 4, 0],
        "llama70b/v0/best": [4, 4, 2],
        "sun_then/v0/best": [4, 4, 2 * 9137],
    }
    assert failed == [("llama70b", "the file has no grade (null)", 2)]


def test_an_ensemble_of_a_judge_per_criterion_sums_what_all_of_them_graded(
    folder, published, tmp_path
):
    """The file of the 70B model lacks a grade in two pairs: those have no sum."""
    folder = shutil.copytree(folder, tmp_path / "judges")
    path = str(DL19 / "grades" / GRADERS["llama70b"])
    gradelake(folder, "import", "grades", "dl19", path, "--name", "llama70b")
    criteria = ("Exactness", "Topicality", "Coverage", "Contextual-Fit")
    rows = [f"four,sum,llama70b.{criterion},{CRITERIA_SUM}" for criterion in criteria]
    write(folder / "seeds/ensembles.csv", ["ensemble,rule,grader,mapping", *rows])
    gradelake(folder, "build")
    whole = {pair: sum(g) for pair, g in published["llama70b"].items() if len(g) == len(criteria)}
    assert len(whole) == len(published["llama70b"]) - 2
    assert labels_of(folder, "judge:four") == {
        pair: sum(n >= least for least in (5, 7, 10)) for pair, n in whole.items()
    }
