"""Whether probabilities are what they say: every cell and the picture against scikit-learn."""

import json
from collections import defaultdict

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from tests.analyses.test_plots import drawn
from tests.command_line import gradelake
from tests.end_to_end.strange_lake import MEMBERS, held, labels_of, rows

pytestmark = pytest.mark.slow
ECE = "expected_calibration_error"


def of_the_demo(folder) -> dict[tuple, dict[tuple, float]]:
    """(grader, cut) -> (query, passage) -> the probability of that grade or more, on the passage's
    most probable item."""
    found = defaultdict(lambda: defaultdict(float))
    for row in rows(
        folder,
        "select name, query_id, passage_id, probabilities from lake.raw.grades "
        "inner join lake.raw.graders using (grader_id)",
    ):
        for cut in range(1, len(row["probabilities"])):
            of, pair = found[row["name"], cut], (row["query_id"], row["passage_id"])
            of[pair] = max(of[pair], sum(row["probabilities"][cut:]))
    return found


def assert_calibrated(folder, assessor, judgments, min_relevant, probabilities) -> None:
    """Both marts are what scikit-learn makes of these probabilities and judgments."""
    marts = [
        rows(folder, f"select * from lake.marts.{mart} where assessor = ?", assessor)
        for mart in ("judge_calibration", "calibration_bins")
    ]
    whole, bins = ({(row["grader"], row["cut"], row.get("bin")): row for row in m} for m in marts)
    assert {(grader, cut) for grader, cut, _ in whole} == probabilities.keys()
    seen = set()
    for (grader, cut), of in probabilities.items():
        pairs = sorted(of.keys() & judgments.keys())
        # ours are kept to ten digits: one that is a hair above an edge is on it
        p = np.round([of[pair] for pair in pairs], 10)
        y = np.array([judgments[pair] >= min_relevant for pair in pairs])
        shares, means = calibration_curve(y, p, n_bins=10)
        numbers = np.searchsorted(np.linspace(0, 1, 11)[1:-1], p) + 1
        n = np.array([np.sum(numbers == number) for number in np.unique(numbers)])
        for number, *cells in zip(np.unique(numbers), n, means, shares, strict=True):
            row = bins[grader, cut, number]
            seen.add((grader, cut, number))
            mine = [row[name] for name in ("n", "mean_probability", "relevant_share")]
            assert mine == pytest.approx(cells, abs=1e-9)
        row = whole[grader, cut, None]
        assert (row["n"], row["relevant_share"]) == (len(pairs), pytest.approx(y.mean()))
        assert row["mean_probability"] == pytest.approx(p.mean())
        assert row[ECE] == pytest.approx(n @ np.abs(means - shares) / len(p), abs=1e-9)
        assert row["brier"] == pytest.approx(brier_score_loss(y, p), abs=1e-9)
    assert seen == bins.keys()


def test_the_calibration_of_judges_and_rubric_graders_is_scikit_learns(graded_demo):
    judged = rows(graded_demo, "select * from lake.raw.judgments where collection = 'demo'")
    judgments = {(row["query_id"], row["passage_id"]): row["relevance"] for row in judged}
    found = of_the_demo(graded_demo)
    assert {grader for grader, _ in found} == {"lexical", "lexical_nuggets", "lexical_direct"}
    assert_calibrated(graded_demo, "human", judgments, 2, found)


def test_a_calibrated_ensemble_holds_what_isotonic_regression_says(strange):
    labels = labels_of(strange)
    votes = defaultdict(list)
    for member in MEMBERS:
        for pair, label in labels[f"judge:{member}"].items():
            votes[pair].append(label)
    reached = held({pair: each for pair, each in votes.items() if len(each) > 1}, labels)
    found = rows(
        strange,
        "select * from lake.intermediate.int_ensemble_grades "
        "inner join lake.marts.graders using (grader_id) where grader = 'calibrated'",
    )
    assert {(row["query_id"], row["passage_id"]) for row in found} == reached.keys()
    for row in found:
        expected = [1.0, *reached[row["query_id"], row["passage_id"]], 0.0]
        assert row["probabilities"] == pytest.approx(-np.diff(expected), abs=1e-8)
        assert row["expected_grade"] == pytest.approx(sum(expected) - 1, abs=1e-8)
    for assessor in ("ann", "bob"):
        probabilities = {
            ("calibrated", cut): {pair: each[cut - 1] for pair, each in reached.items()}
            for cut in (1, 2, 3)
        }
        assert_calibrated(strange, assessor, labels[f"assessor:{assessor}"], 2, probabilities)


def test_the_reliability_picture_has_the_counts_of_each_bin(graded_demo, tmp_path):
    graders = ("--grader", "lexical_direct", "--grader", "lexical")
    said, written = drawn(graded_demo, tmp_path, "calibration", "demo", *graders)
    done = gradelake(graded_demo, "sql", "@calibration", "--cut", "2", "--format", "json")
    book = {row["grader"]: row for row in json.loads(done.stdout)}
    for row in said["graders"]:
        assert row["cut"] == 2, "min_relevant"
        assert row[ECE] == book[row["grader"]]["ece"]
        told = f"{row['grader']} \u2265 2: ECE {row[ECE]:.3f}, Brier {row['brier']:.3f}"
        assert told in written
        counts = rows(
            graded_demo,
            "select n from lake.marts.calibration_bins where grader = ? and cut = 2 order by bin",
            row["grader"],
        )
        texts = [f"{one['n']:,}" for one in counts]
        assert any(written[at : at + len(texts)] == texts for at in range(len(written)))
    for words, why in (
        (("--grader", "lexical", "--cut", "9"), "--cut 9: 'lexical' has none"),
        (("--grader", "nobody"), "'nobody' gave no probabilities of what people judged"),
    ):
        wrong = gradelake(graded_demo, "stats", "calibration", "demo", *words, code=2)
        assert why in wrong.stderr
