"""Estimates from a judge's labels and a judged sample: against ppi_py, by hand, simulated."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm

with warnings.catch_warnings():  # it silences all warnings of the process
    from ppi_py import classical_mean_ci, ppi_mean_ci

from gradelake.analyses.stats.estimate import _where_enough
from gradelake.analyses.stats.kappas import Met
from gradelake.analyses.stats.prediction_powered import (
    Stratum,
    classical,
    prediction_powered,
    stratified,
)
from gradelake.analyses.stats.rates import rates_of


def population(generator, n_units, n_systems=1, correlation=0.8):
    """(human, judge) values between 0 and 1 that correlate, the judge's too high."""
    shared = generator.normal(size=(n_units, n_systems))
    noise = generator.normal(size=(2, n_units, n_systems))
    weight = np.sqrt(correlation)
    human, judge = weight * shared + np.sqrt(1 - correlation) * noise
    return np.clip(0.5 + 0.15 * human, 0, 1), np.clip(0.65 + 0.15 * judge, 0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_estimate_error_and_tuning_are_those_of_ppi_py(seed):
    """It divides variances by n, and takes normal quantiles; with many units neither matters."""
    human, judge = population(np.random.default_rng(seed), 60_000)
    y, f, elsewhere = human[:20_000], judge[:20_000], judge[20_000:]
    ours = prediction_powered(y, f, elsewhere)
    low, high = (bound.item() for bound in ppi_mean_ci(y, f, elsewhere, alpha=0.1))
    assert ours.value[0] == pytest.approx((low + high) / 2, abs=1e-6)
    width = 2 * norm.ppf(0.95) * ours.standard_error[0]
    assert width == pytest.approx(high - low, rel=1e-3)
    assert np.ravel(ours.interval(0.9)) == pytest.approx([low, high], abs=1e-5)
    low, high = classical_mean_ci(y[:, 0], alpha=0.1)
    assert np.ravel(classical(y).interval(0.9)) == pytest.approx([low, high], abs=1e-5)


def test_a_small_sample_is_as_ppi_py_has_it_but_for_n_less_one():
    generator = np.random.default_rng(1)
    human, judge = population(generator, 50)
    y, f, elsewhere = human[:10], judge[:10], judge[10:]
    ours = prediction_powered(y, f, elsewhere)
    tuning = ours.tuning[0]
    low, high = (bound.item() for bound in ppi_mean_ci(y, f, elsewhere, alpha=0.1, lam=tuning))
    assert ours.value[0] == pytest.approx((low + high) / 2)
    # their variances, each times n / (n - 1)
    theirs = tuning**2 * elsewhere.var() / 39 + (y - tuning * f).var() / 9
    assert ours.standard_error[0] == pytest.approx(np.sqrt(theirs))


def test_a_perfect_judge_is_trusted_and_a_useless_one_is_not():
    generator = np.random.default_rng(2)
    human, _ = population(generator, 400)
    perfect = prediction_powered(human[:50], human[:50], human[50:])
    assert perfect.tuning[0] == pytest.approx(350 / 400, abs=0.15)
    assert perfect.standard_error[0] < 0.6 * classical(human[:50]).standard_error[0]
    constant = np.full_like(human, 0.7)
    useless = prediction_powered(human[:50], constant[:50], constant[50:])
    assert useless.tuning[0] == 0
    assert useless.value == pytest.approx(classical(human[:50]).value)
    assert useless.standard_error == pytest.approx(classical(human[:50]).standard_error)


def test_a_judge_who_is_wrong_the_other_way_round_is_ignored():
    human, _ = population(np.random.default_rng(3), 200)
    assert prediction_powered(human[:40], 1 - human[:40], 1 - human[40:]).tuning[0] == 0


@pytest.mark.parametrize("correlation", [0.9, 0.3])
def test_95_percent_of_intervals_over_queries_hold_the_mean_of_1000_draws(correlation):
    generator = np.random.default_rng(4)
    truth = population(np.random.default_rng(5), 1_000_000, 1, correlation)[0].mean()
    human, judge = population(generator, 200, 1000, correlation)
    y, f, elsewhere = human[:25], judge[:25], judge[25:]
    for estimate in (prediction_powered(y, f, elsewhere), classical(y)):
        low, high = estimate.interval(0.95)
        assert 0.93 <= ((low <= truth) & (truth <= high)).mean() <= 0.97


# --- strata: a finite population, a sample without replacement -----------------------------------


def test_a_stratified_total_can_be_computed_by_hand():
    # 10 units of which 2 judged (1, 0), 4 units of which 2 judged (1, 1)
    strata = [
        Stratum(10, np.array([[1.0], [0.0]]), np.array([[1.0], [1.0]])),
        Stratum(4, np.array([[1.0], [1.0]]), np.array([[1.0], [0.0]])),
    ]
    alone = stratified(strata, None)
    assert alone.value == pytest.approx([10 * 0.5 + 4 * 1])
    # N^2 (1 - n/N) s^2 / n: 100 * 0.8 * 0.5 / 2, and nothing where all are equal
    assert alone.standard_error == pytest.approx([np.sqrt(20)])
    assert alone.degrees == pytest.approx([2])


def test_the_judge_corrects_by_the_difference_times_the_stratums_size():
    # the judge's values follow the human's, 0.2 too high: tuning 1
    human = np.array([[0.1], [0.5], [0.3], [0.7]])
    strata = [Stratum(20, human[:2], human[:2] + 0.2), Stratum(8, human[2:], human[2:] + 0.2)]
    both = stratified(strata, judge_total=np.array([18.0]))
    assert both.tuning == pytest.approx([1])
    assert both.value == pytest.approx([18 - 0.2 * 28])
    assert both.standard_error == pytest.approx([0], abs=1e-9)


def test_a_whole_stratum_adds_no_variance_and_a_single_unit_of_many_is_refused():
    whole = Stratum(2, np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]]))
    assert stratified([whole], None).standard_error == [0]
    assert stratified([whole], np.array([1.0])).value == [1]
    with pytest.raises(ValueError, match="a stratum of 9 units has 1 judged"):
        stratified([Stratum(9, np.ones((1, 1)), np.ones((1, 1)))], None)


@pytest.mark.parametrize("judge_is_right", [0.9, 0.6])
def test_95_percent_of_intervals_over_pairs_hold_the_total_of_1000_draws(judge_is_right):
    generator = np.random.default_rng(6)
    n_units, n_systems = 3000, 4
    human = generator.random(n_units) < 0.4
    label = np.where(generator.random(n_units) < judge_is_right, human * 3, ~human * 2)
    label += generator.integers(0, 2, n_units)
    # a system sees a part of the pairs, as its top k is a part of the pool
    share = (generator.random((n_units, n_systems)) < 0.5) / 1000
    judge = label >= 2
    truth = (share * human[:, None]).sum(axis=0)
    judge_total = (share * judge[:, None]).sum(axis=0)
    of_label = {value: np.flatnonzero(label == value) for value in np.unique(label)}
    held = {"both": [], "alone": []}
    for _ in range(1000):
        strata = []
        for units in of_label.values():
            drawn = generator.choice(units, max(2, len(units) // 15), replace=False)
            strata.append(
                Stratum(
                    len(units), share[drawn] * human[drawn, None], share[drawn] * judge[drawn, None]
                )
            )
        for name, total in (("both", judge_total), ("alone", None)):
            low, high = stratified(strata, total).interval(0.95)
            held[name].append((low <= truth) & (truth <= high))
    for name in held:
        assert 0.93 <= np.mean(held[name]) <= 0.97, name


def ranked_pairs(seed: int, agreement: float):
    """Pairs of 43 queries: whether people and the judge hold each relevant, and what a relevant one
    adds to P@10 of 30 systems: (pairs,), (pairs,), (pairs, systems)."""
    generator = np.random.default_rng(seed)
    n_queries, n_passages, n_systems = 43, 60, 30
    human = generator.random((n_queries, n_passages)) < 0.35
    judge = human ^ (generator.random(human.shape) > agreement)
    skill = generator.uniform(0.2, 2.5, n_systems)
    shares = np.zeros((n_queries, n_passages, n_systems))
    for query in range(n_queries):
        scores = generator.normal(size=(n_passages, n_systems)) + np.outer(human[query], skill)
        top = np.argsort(-scores, axis=0)[:10]
        np.put_along_axis(shares[query], top, 1 / (10 * n_queries), axis=0)
    return human.ravel(), judge.ravel(), shares.reshape(-1, n_systems)


@pytest.mark.parametrize("agreement", [0.8, 0.9])
@pytest.mark.parametrize("size", [100, 200, 400])
def test_intervals_of_pairs_hold_the_truth_or_are_not_given(agreement, size):
    """Of a system's top 10 a sample of all pairs holds few; without limits 79% held."""
    human, judge, shares = ranked_pairs(size, agreement)
    truth, judge_total = shares.T @ human, shares.T @ judge
    generator, held = np.random.default_rng(size + 1), []
    for _ in range(200):
        strata, ranked = [], []
        for label in (False, True):
            among = np.flatnonzero(judge == label)
            drawn = generator.choice(among, round(size * len(among) / len(judge)), replace=False)
            columns = (shares[drawn] * each[drawn, None] for each in (human, judge))
            strata.append(Stratum(len(among), *columns))
            ranked.append(shares[drawn] > 0)
        found = _where_enough(stratified(strata, judge_total), strata, ranked)
        low, high = found.interval(0.95)
        given = ~np.isnan(low)
        assert (high > low)[given].all()
        held.extend(((low <= truth) & (truth <= high))[given])
    assert np.mean(held) > 0.92
    share = len(held) / (200 * 30)
    assert share < 0.5 if size == 100 else share > 0.8 if size == 400 else share > 0.4


# --- rates: of all passages that a judge labelled -------------------------------------------------


def test_a_rate_is_corrected_by_a_judges_errors_and_by_each_labels_share_of_relevant_ones():
    """Of 200 passages in 20 queries every third is judged; some stand for three of their kind."""
    generator = np.random.default_rng(9)
    passages = [
        (f"q{n % 20}", int(generator.random() < 0.4), n % 3 == 0, 3.0 if n % 9 == 0 else 1.0)
        for n in range(200)
    ]
    labels = [
        int(r) if generator.random() < 0.8 else int(generator.integers(3)) for _, r, *_ in passages
    ]
    rows = [
        row
        for (query, relevant, judged, weight), label in zip(passages, labels, strict=True)
        for row in ((query, label, 0, 1), *[(query, label, 2 - relevant, weight)] * judged)
    ]
    (one, two) = rates_of(Met.of(rows, {}), 67, 300, 1, 0.95)
    assert (one.label_cut, two.label_cut, one.n, one.n_judged) == (1, 2, 200, 67)

    def share(which, among) -> float:
        of = [
            (which(*each), each[0][3])
            for each in zip(passages, labels, strict=True)
            if among(*each)
        ]
        return sum(w for is_so, w in of if is_so) / sum(w for _, w in of)

    for found in (one, two):
        cut = found.label_cut
        rate = np.mean(np.array(labels) >= cut)
        said, held = lambda p, label: label >= cut, lambda p, label: p[1]  # noqa: B023
        sensitivity = share(said, lambda p, label: p[2] and p[1])
        specificity = 1 - share(said, lambda p, label: p[2] and not p[1])
        above, below = (
            share(held, lambda p, label: p[2] and (label >= cut) == side)  # noqa: B023
            for side in (True, False)
        )
        expected = {
            "rate": rate,
            "sensitivity": sensitivity,
            "specificity": specificity,
            "judged": share(held, lambda p, label: p[2]),
            "powered": rate * above + (1 - rate) * below,
            "corrected": (rate + specificity - 1) / (sensitivity + specificity - 1),
            "youden": sensitivity + specificity - 1,
        }
        if found.figures["corrected"] is None:
            assert found.spreads["youden"].low <= 0
            expected["corrected"] = None
        assert found.figures == pytest.approx(expected)
    assert one.spreads["powered"].low < one.figures["powered"] < one.spreads["powered"].high
