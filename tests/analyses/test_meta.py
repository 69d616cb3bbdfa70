"""`stats meta` against scipy, scikit-learn, krippendorff, and sums over pairs written out."""

import json
from collections import defaultdict

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from gradelake.analyses.stats.meta import meta_evaluation
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.analyses.boards import board
from tests.command_line import gradelake


def ap_of(theirs, ours):
    """Mean share of those above a system in `theirs` that are above it in `ours`, too."""
    shares = []
    for one in range(len(theirs)):
        above = [other for other in range(len(theirs)) if theirs[other] > theirs[one]]
        if above:
            shares.append(sum(ours[other] > ours[one] for other in above) / len(above))
    return 2 * np.mean(shares) - 1


def gap_of(theirs, ours):
    order = sorted(range(len(ours)), key=lambda n: (-ours[n], n))
    shares = []
    for place, one in enumerate(order):
        gaps = [theirs[other] - theirs[one] for other in order[:place]]
        if any(gaps):
            shares.append(sum(gap for gap in gaps if gap > 0) / sum(map(abs, gaps)))
    return 2 * np.mean(shares) - 1


@pytest.mark.parametrize("seed", range(20))
def test_each_statistic_is_scipys_or_its_sum_over_pairs(seed):
    dice = np.random.default_rng(seed)
    made = [np.round(dice.beta(2, 3, (6, 9)), 1 + seed % 2) for _ in range(2)]
    judge, truth = (board(each) for each in made)
    ours, theirs = (each.mean(axis=0).round(10) for each in made)
    found = meta_evaluation(judge, truth, [5]).statistics
    top = theirs >= sorted(theirs)[-5]
    assert found == pytest.approx(
        {
            "kendall": stats.kendalltau(ours, theirs)[0],
            "spearman": stats.spearmanr(ours, theirs)[0],
            "pearson": stats.pearsonr(ours, theirs)[0],
            "tauap_b": (ap_of(ours, theirs) + ap_of(theirs, ours)) / 2,
            "tau_gap": gap_of(theirs, ours),
            "kendall@5": stats.kendalltau(ours[top], theirs[top])[0],
        },
        nan_ok=True,
    )


def test_means_that_differ_only_because_values_are_stored_with_ten_decimals_tie():
    """Three thirds against one whole and nothing, and 37 systems of such values against scipy with
    exact fractions."""
    judge, truth = board([[1 / 3, 1, 0.5], [1 / 3, 0, 0.5], [1 / 3, 0, 0.5]]), board([[2, 1, 3]])
    found = meta_evaluation(judge, truth, [2]).statistics
    assert found["kendall"] == pytest.approx(stats.kendalltau([2, 2, 3], [2, 1, 3])[0])
    assert found["kendall@2"] == 1
    dice = np.random.default_rng(3)
    sevenths = dice.integers(0, 8, (2, 6, 37))
    made = [board(of / 7, queries=[*"abcdef"]) for of in sevenths]
    by_name = np.argsort([f"s{n}" for n in range(1, 38)])
    exact = sevenths.sum(axis=1)[:, by_name]
    assert any(
        len(np.unique(one.values.sum(axis=0))) > len({*e})
        for one, e in zip(made, exact, strict=True)
    )
    found = meta_evaluation(*made).statistics
    assert found["kendall"] == pytest.approx(stats.kendalltau(*exact)[0], abs=1e-12)
    assert found["spearman"] == pytest.approx(stats.spearmanr(*exact)[0], abs=1e-12)
    assert found["tau_gap"] == pytest.approx(gap_of(*exact[::-1]), abs=1e-8)


def test_only_queries_that_both_have_count_where_that_is_asked_for():
    values = np.array([[3, 2, 1], [1, 2, 3], [1, 2, 3]]) / 4
    judge, truth = board(values[:2], queries=("1", "2")), board(values, queries=("1", "2", "3"))
    assert meta_evaluation(judge, truth).statistics["kendall"] is None  # its systems tie
    shared = meta_evaluation(board(values[:1], queries=("1",)), truth, only_shared=True)
    assert (shared.n_queries, shared.statistics["kendall"]) == (1, 1.0)
    with pytest.raises(BadInput, match="share no query"):
        meta_evaluation(board(values[:1], queries=("9",)), truth, only_shared=True)


def test_a_board_on_which_all_tie_has_the_tau_ap_of_the_tracks_tool():
    flat, one = board(np.full((2, 3), 0.5)), board(np.array([[3, 2, 1], [3, 1, 2]]) / 4)
    found = [meta_evaluation(*pair).statistics["tauap_b"] for pair in [(flat, one), (one, flat)]]
    assert found == [-0.5, -0.5]  # none of its pairs one way (-1), none to order the other (0)
    assert meta_evaluation(flat, flat).statistics["tauap_b"] == 0


def of_labels(truth, ours, cut, same_scale):
    """What the track's tool says of a query's labels, passage -> label."""
    passages = sorted({*truth, *ours})
    t, o = ([labels.get(one, 0) for one in passages] for labels in (truth, ours))
    relevant, found = (
        {p for p, x in zip(passages, side, strict=True) if x >= cut} for side in (t, o)
    )
    both, either = len(relevant & found), len(relevant | found)
    one, other = ([p in side for p in passages] for side in (relevant, found))
    differ = len({*one, *other}) > 1
    return {
        "precision": (both / len(found) if found else 0) if either else None,
        "recall": (both / len(relevant) if relevant else 0) if either else None,
        "f1": 2 * both / (len(relevant) + len(found)) if either else None,
        "tp": both,
        "fp": len(found - relevant),
        "fn": len(relevant - found),
        "jaccard": both / either if either else None,
        "kappa": metrics.cohen_kappa_score(one, other) if differ else None,
        "kappa_linear": metrics.cohen_kappa_score(t, o, weights="linear") if same_scale else None,
        "alpha": krippendorff.alpha([t, o], level_of_measurement="ordinal") if same_scale else None,
        "ari": metrics.adjusted_rand_score(one, other),
    }


@pytest.mark.parametrize("judge", ["overlap", "rubric_overlap"])  # 0 to 3 as people's; 0 to 5
def test_labels_agree_as_scikit_learn_and_krippendorff_say(demo, judge):
    name = f"judge:{judge}"
    words = ("demo", "--reference", "assessor:human", "--measure", "nDCG@10", "--label-set", name)
    done = gradelake(demo, "stats", "meta", *words, "--qrels", "--json")
    *rows, mean = json.loads(done.stdout)["qrels"]
    labels = defaultdict(lambda: defaultdict(dict))
    with Lake.published(Project.find(demo)) as lake:
        query = "select label_set, query_id, passage_id, label from lake.marts.relevance_labels"
        for label_set, query_id, passage_id, label in lake.rows(query):
            labels[label_set][query_id][passage_id] = label
    truth, ours = labels["assessor:human"], labels[name]
    assert [row["query_id"] for row in rows] == sorted({*truth, *ours})
    assert mean["query_id"] == "all"
    for row in rows:
        assert row["level"] == row["reference_level"]
        query, cut = row["query_id"], row["level"]
        oracle = of_labels(truth[query], ours[query], cut, judge == "overlap")
        assert {figure: row[figure] for figure in oracle} == pytest.approx(oracle), query
    for figure in oracle:
        values = [row[figure] for row in rows if row[figure] is not None]
        assert mean[figure] == (pytest.approx(np.mean(values)) if values else None)
