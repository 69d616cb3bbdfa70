"""Estimates from a judge's labels and a judged sample: against ppi_py, by hand, simulated."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm

with warnings.catch_warnings():  # it silences all warnings of the process
    from ppi_py import classical_mean_ci, ppi_mean_ci

from gradelake.analyses.stats.estimate import _about_pairs
from gradelake.analyses.stats.judged_sample import JudgedSample
from gradelake.analyses.stats.kappas import Met
from gradelake.analyses.stats.prediction_powered import (
    PairStratum,
    Stratum,
    carrying_queries,
    classical,
    expected_pairs,
    prediction_powered,
    relevant_pairs,
    stratified,
    telling_queries,
)
from gradelake.analyses.stats.rates import rates_of
from gradelake.analyses.stats.resample import ON_ONE


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


def test_a_small_sample_is_as_ppi_py_has_it_but_for_degrees_of_freedom():
    generator = np.random.default_rng(1)
    human, judge = population(generator, 50)
    y, f, elsewhere = human[:10], judge[:10], judge[10:]
    ours = prediction_powered(y, f, elsewhere)
    tuning = ours.tuning[0]
    low, high = (bound.item() for bound in ppi_mean_ci(y, f, elsewhere, alpha=0.1, lam=tuning))
    assert ours.value[0] == pytest.approx((low + high) / 2)
    # their variances times n / (n - 1), and the tuning, which is a slope, takes another
    theirs = tuning**2 * elsewhere.var() / 39 + (y - tuning * f).var() / 8
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
    # but for the degree of freedom that finding this out took
    alone = classical(human[:50]).standard_error
    assert useless.standard_error == pytest.approx(alone * np.sqrt(49 / 48))


def test_a_judge_who_is_wrong_the_other_way_round_is_ignored():
    human, _ = population(np.random.default_rng(3), 200)
    assert prediction_powered(human[:40], 1 - human[:40], 1 - human[40:]).tuning[0] == 0


@pytest.mark.parametrize("correlation", [0.9, 0.3])
def test_95_percent_of_intervals_over_queries_hold_the_mean_of_1000_draws(correlation):
    generator = np.random.default_rng(4)
    truth = population(np.random.default_rng(5), 1_000_000, 1, correlation)[0].mean()
    human, judge = population(generator, 200, 1000, correlation)
    y, f, elsewhere = human[:25], judge[:25], judge[25:]
    these = [Stratum(200, y / 200, f / 200)]
    for estimate, held in (
        (prediction_powered(y, f, elsewhere), truth),
        (classical(y), truth),
        (stratified(these, judge.mean(axis=0)), human.mean(axis=0)),
        (stratified(these, None), human.mean(axis=0)),
    ):
        low, high = estimate.interval(0.95)
        assert 0.93 <= ((low <= held) & (held <= high)).mean() <= 0.97


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


def test_a_pair_stratum_adds_two_pairs_that_are_relevant_and_two_that_are_not():
    # of 10 drawn of 40 the first 4 are in the top k, as are 12 of all; the judge holds all relevant
    ranked = (np.arange(10) < 4)[:, None]
    human = np.array([1, 1, 0, 1, *[0] * 6], dtype=bool)
    stratum = PairStratum(
        40, human, np.ones(10, dtype=bool), ranked, np.array([12]), np.array([12])
    )
    assert stratum.expected() == pytest.approx([3])
    # tuning 1: -1 of four, and of those that are added 0, 0, -1, -1: mean -3/8, of squares 3/8;
    # 12 of 40 are in the top k, and all others add 0
    among = 0.3 * 3 / 8 - (0.3 * 3 / 8) ** 2
    assert stratum.variance(np.ones(1)) == pytest.approx([40**2 * (1 - 10 / 40) / 10 * among])
    # by people alone: 3 of 4, and 2 of 4 that are added
    among = 0.3 * 5 / 8 - (0.3 * 5 / 8) ** 2
    alone = relevant_pairs([stratum], None)
    assert alone.value == pytest.approx([40 * 3 / 10])
    assert np.isnan(alone.standard_error).all()  # 3 of its top k are fewer than 5
    assert stratum.variance(np.zeros(1)) == pytest.approx([40**2 * (1 - 10 / 40) / 10 * among])


def test_degrees_of_freedom_are_those_of_the_stratum_that_has_the_variance():
    def stratum(size: int, n: int) -> PairStratum:
        human = np.arange(n) % 2 == 0
        everything = np.ones((n, 1), dtype=bool)
        return PairStratum(size, human, human, everything, np.array([size]), np.array([size // 2]))

    large, small = stratum(5000, 8), stratum(50, 40)
    found = relevant_pairs([large, small], None)
    first, second = (each.variance(np.zeros(1))[0] for each in (large, small))
    by_hand = (first + second) ** 2 / (first**2 / 7 + second**2 / 39)
    assert found.degrees == pytest.approx([by_hand])
    assert found.degrees[0] < 7.01
    # all that is judged leaves nothing to doubt
    whole = stratum(20, 20)
    assert expected_pairs([whole])[0] == np.inf
    assert relevant_pairs([whole], None).standard_error == [0]


@pytest.mark.parametrize(
    ("depth", "k", "draw"),
    [(None, 10, "with --depth 10, or of about 250 pairs"), (10, 10, "of about 250 pairs")],
)
def test_systems_without_an_interval_are_told_which_sample_gives_one(depth, k, draw):
    sample = JudgedSample("", (), "judge:Sun", "pair", depth, {"s1": 900}, [])
    assert _about_pairs(np.array([2.04, 30.0, 4.9, 5.0]), sample, 100, k) == [
        "2 systems have no interval: 100 pairs so drawn hold on average fewer than 5 of their top "
        f"10 (as few as 2.04); draw the sample {draw}"
    ]
    assert _about_pairs(np.array([5.0, np.inf]), sample, 100, k) == []


def ranked_pairs(seed: int, agreement: float):
    """Pairs of 43 queries: whether people and the judge hold each relevant, and whether it is in
    the top 10 of 30 systems: (pairs,), (pairs,), (pairs, systems)."""
    generator = np.random.default_rng(seed)
    n_queries, n_passages, n_systems = 43, 100, 30
    human = generator.random((n_queries, n_passages)) < 0.3
    judge = human ^ (generator.random(human.shape) > agreement)
    skill = generator.uniform(0.2, 2.5, n_systems)
    ranked = np.zeros((n_queries, n_passages, n_systems), dtype=bool)
    for query in range(n_queries):
        scores = generator.normal(size=(n_passages, n_systems)) + np.outer(human[query], skill)
        top = np.argsort(-scores, axis=0)[:10]
        np.put_along_axis(ranked[query], top, True, axis=0)
    return human.ravel(), judge.ravel(), ranked.reshape(-1, n_systems)


LENIENT = "lenient"  # a judge who holds nearly everything relevant


@pytest.mark.parametrize(
    ("agreement", "allocation", "size"),
    [
        *((0.8, "proportional", size) for size in (100, 200, 400)),
        (0.97, "proportional", 200),
        (0.97, "equal", 100),
        (LENIENT, "equal", 200),
    ],
)
def test_intervals_of_pairs_hold_the_truth_or_are_not_given(agreement, allocation, size):
    """Of the lenient judge's two labels one has nearly all of the variance, and few of its pairs
    are drawn: by the sample's own variance and one number of degrees of freedom 85 % held, of one
    system 52 %."""
    human, judge, ranked = ranked_pairs(size, 1 if agreement == LENIENT else agreement)
    if agreement == LENIENT:
        judge = np.random.default_rng(1).random(len(human)) < 0.97
    truth, judge_total = ((ranked & each[:, None]).sum(axis=0) for each in (human, judge))
    of = {one: np.flatnonzero(judge == one) for one in (False, True)}
    shares = {one: len(among) / len(judge) for one, among in of.items()}
    if allocation == "equal":
        shares = dict.fromkeys(of, 0.5)
    known = {one: (ranked[among], judge[among][:, None]) for one, among in of.items()}
    counts = {one: (r.sum(axis=0), (r & j).sum(axis=0)) for one, (r, j) in known.items()}
    generator, held = np.random.default_rng(size + 1), []
    for _ in range(150):
        strata = []
        for one, among in of.items():
            drawn = generator.choice(among, min(len(among), round(size * shares[one])), False)
            columns = human[drawn], judge[drawn], ranked[drawn]
            strata.append(PairStratum(len(among), *columns, *counts[one]))
        for total in (judge_total, None):
            low, high = relevant_pairs(strata, total).interval(0.95)
            assert (high > low)[~np.isnan(low)].all()
            held.append(np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high)))
    of_system = np.nanmean(held, axis=0)
    assert np.nanmean(held) >= 0.93
    assert of_system.min() >= 0.85
    assert np.isfinite(held).mean() > 0.95


def test_few_queries_that_carry_a_score_or_tell_judge_and_people_apart_are_counted():
    every = np.array([[1, 0.5, 0], [0, 0.5, 0], [0, 0.5, 0], [0, 0.5, 0]])
    assert carrying_queries(every) == pytest.approx([1, 4, 0])
    human = np.array([[1, 0.2, 0.3], [1, 0.4, 0.1], [1, 0.6, 0.2], [0, 0.8, 0.0]])
    judge = np.array([[1, 0.2, 0.3], [1, 0.4, 0.1], [1, 0.6, 0.2], [1, 0.5, 0.0]])
    assert telling_queries(human, judge, np.ones(3)).tolist() == [1, 1, 0]
    assert telling_queries(human, judge, np.zeros(3)).tolist() == [1, 4, 4]


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


def test_a_sensitivity_of_one_query_has_no_interval_and_nothing_is_corrected_by_it():
    """One passage is relevant, in one query of twelve; the judge finds it."""
    rows = [(f"q{n}", label, at, 5) for n in range(12) for label in (0, 1) for at in (0, 2)]
    rows += [("q3", 1, 0, 1), ("q3", 1, 1, 1)]
    (one,) = rates_of(Met.of(rows, {}), 60, 300, 1, 0.95)
    assert one.figures["sensitivity"] == 1
    assert one.spreads["sensitivity"].no_interval == ON_ONE
    assert one.spreads["corrected"].low is one.figures["corrected"] is None
