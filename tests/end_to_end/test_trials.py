"""The demo, graded three times by a judge of moods: consistency, labels and noise against others'
code."""

from collections import Counter, defaultdict

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.conftest import made_once
from tests.grading.project import engine_code
from tests.grading.test_trials import MOODY
from tests.lakes import start_demo
from tests.noise_oracle import noise
from tests.projects import write

pytestmark = pytest.mark.slow

GRADER = """
[graders.moody]
engine = "moody"
prompt = "question_self_rating"
decoding = { temperature = 0.7 }
trials = 3
"""
ENSEMBLES = (
    "ensemble,rule,grader,mapping\n"
    "moody_majority,majority,moody.all,\nmoody_mean,mean_expected,moody.all,\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    def make(folder):
        start_demo(folder)
        config = folder / "gradelake.toml"
        text = config.read_text()
        assert "[grading]" not in text
        config.write_text(f'{text}\n[grading]\nengines = "engines"\n{GRADER}')
        write(folder / "engines/moody.py", engine_code(MOODY))
        write(folder / "seeds/ensembles.csv", ENSEMBLES)
        gradelake(folder, "import", "bank", "demo", "question_bank.jsonl", "--name", "questions")
        gradelake(folder, "grade", "demo", "--grader", "moody.all")
        gradelake(folder, "build")

    return made_once(tmp_path_factory, "trials", make)


@pytest.fixture(scope="module")
def lake(folder):
    with Lake.published(Project.find(folder)) as lake:
        yield lake


@pytest.fixture(scope="module")
def grades(lake) -> dict[tuple, list[int]]:
    """(query, item, passage) -> the grades of the three trials, in their order."""
    rows = lake.rows(
        "select query_id, item_id, passage_id, grade from lake.raw.grades "
        "join lake.raw.graders using (grader_id) where name like 'moody%' order by name"
    )
    found = defaultdict(list)
    for *pair, grade in rows:
        found[tuple(pair)].append(grade)
    assert {len(each) for each in found.values()} == {3}
    assert len(found) > 2000
    return found


def test_consistency_is_as_others_compute_it(lake, grades):
    matrix = np.array(list(grades.values())).T
    ((n_pairs, n_grades, agreement, flips, alpha),) = lake.rows(
        "select n_pairs, n_grades, self_agreement, flip_rate, graded_alpha "
        "from lake.marts.judge_consistency where part = 'all'"
    )
    assert (n_pairs, n_grades) == (matrix.shape[1], matrix.size)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert agreement == pytest.approx(
        np.mean([accuracy_score(matrix[one], matrix[other]) for one, other in pairs])
    )
    assert flips == pytest.approx((matrix.min(0) != matrix.max(0)).mean())
    assert alpha == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="interval"))


def test_consistency_of_each_item(lake, grades):
    rows = lake.rows(
        "select query_id, item_id, n_pairs, flip_rate from lake.marts.judge_consistency "
        "where part = 'item'"
    )
    flips = defaultdict(list)
    for (query_id, item_id, _), each in grades.items():
        flips[query_id, item_id].append(len(set(each)) > 1)
    found = {(query_id, item_id): (n, rate) for query_id, item_id, n, rate in rows}
    assert found == {key: (len(each), pytest.approx(np.mean(each))) for key, each in flips.items()}


@pytest.mark.parametrize("name", ["moody_majority", "moody_mean"])
def test_an_ensemble_of_all_trials_labels_by_majority_or_mean(lake, grades, name):
    def together(each: list[int]) -> int:
        if name == "moody_mean":
            return int(np.ceil(np.mean(each) - 0.5))  # halfway goes down
        counts = Counter(each)
        return min(grade for grade in counts if counts[grade] == max(counts.values()))

    best: dict[tuple, int] = defaultdict(int)
    for (query_id, _, passage_id), each in grades.items():
        best[query_id, passage_id] = max(best[query_id, passage_id], together(each))
    rows = lake.rows(
        "select query_id, passage_id, label from lake.marts.relevance_labels where label_set = ?",
        f"{name}/v0/best",
    )
    assert {(query_id, passage_id): label for query_id, passage_id, label in rows} == best


def test_noise_is_the_analysis_of_variance_of_queries_and_trials(lake):
    rows = lake.rows(
        "select system, label_set, query_id, value from lake.marts.topic_scores "
        "where collection = 'demo' and measure = 'nDCG@10' and level = 1 "
        "and label_set in ('moody/v0/best', 'moody.2/v0/best', 'moody.3/v0/best')"
    )
    scores = pd.DataFrame(rows, columns=["system", "trial", "query", "value"])
    found = {
        system: rest
        for system, *rest in lake.rows(
            "select system, n_queries, n_trials, score, stderr_queries, stderr_trials, stderr, "
            "low, high from lake.marts.leaderboard_noise where label_set = 'moody/v0/best' "
            "and measure = 'nDCG@10' and level = 1"
        )
    }
    assert len(found) > 3
    for system, (n_queries, n_trials, score, of_queries, of_trials, both, *ends) in found.items():
        mine = scores[scores.system == system].pivot(index="query", columns="trial", values="value")
        matrix = mine.fillna(0).to_numpy()
        matrix = np.vstack([matrix, np.zeros((n_queries - len(matrix), 3))])
        assert matrix.shape == (n_queries, n_trials) == (8, 3)
        long = pd.DataFrame(
            [(q, t, matrix[q, t]) for q in range(8) for t in range(3)], columns=["q", "t", "value"]
        )
        table = anova_lm(ols("value ~ C(q) + C(t)", long).fit())
        squares = table["mean_sq"]
        assert score == pytest.approx(matrix.mean(), abs=1e-9)
        assert of_queries == pytest.approx(np.sqrt(squares["C(q)"] / 24), abs=1e-9)
        assert of_trials == pytest.approx(np.sqrt(squares["C(t)"] / 24), abs=1e-9)
        added = max(0, squares["C(t)"] - squares["Residual"])
        assert both == pytest.approx(np.sqrt((squares["C(q)"] + added) / 24), abs=1e-9)
        expected = noise(matrix).interval()
        assert ends == pytest.approx([float(end) for end in expected], abs=5e-3 * both)


def test_every_measure_and_level_has_noise_as_the_leaderboard_has_scores(lake):
    noisy, plain = (
        set(lake.rows(f"select system, measure, level from lake.marts.{table}"))
        for table in (
            "leaderboard_noise where label_set = 'moody/v0/best'",
            "leaderboard where label_set = 'moody/v0/best'",
        )
    )
    assert noisy == plain
