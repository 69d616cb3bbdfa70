"""What a gate says of the differences of queries, against scipy, and how often it is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.gate.sample import ANY, FIXED, TYPICAL, Difference
from gradelake.analyses.gate.verdict import CANNOT_TELL, FELL, PASSED, judge
from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.counting import Counting
from tests.analyses.boards import board
from tests.command_line import json_of
from tests.reading import published
from tests.tiers import first_of

ALPHA, TOLERANCE = 0.05, 0.01


def paired(differences, measure: str = "AP") -> Board:
    """A system and its baseline, whose scores differ so, in points."""
    moved = np.asarray(differences, dtype=float)
    queries = [f"q{n}" for n in range(len(moved))]
    both = board(np.stack([0.5 + moved, np.full(len(moved), 0.5)], axis=1), queries=queries)
    return replace(both, measure=measure)


def verdict_of(
    *differences, tolerance: float = TOLERANCE, alpha: float = ALPHA, sure: str = TYPICAL
):
    measures = [paired(one, f"P@{n}") for n, one in enumerate(differences, start=1)]
    return judge(measures, tolerance, alpha, sure=sure)


def sample(n: int, mean: float, spread: float) -> np.ndarray:
    """As many differences, of just this mean and standard deviation, alike on both sides."""
    half = np.random.default_rng(n).normal(size=n // 2)
    noise = np.concatenate([half, -half, np.zeros(n % 2)])
    return mean + spread * noise / noise.std(ddof=1)


def expected_p(differences: np.ndarray, bound: float) -> tuple[float, float]:
    """p of (the mean is at most that, is at least that): the greater one of Student's test, and of
    Hall's transformation as the paper prints it; where few queries moved to a side, no less than
    the chance to have met none of what the far end of the scale would need there."""
    n, g = len(differences), stats.skew(differences)
    w = (differences.mean() - bound) / differences.std(ddof=1)
    hall = np.sqrt(n) * (w + g * w**2 / 3 + g**2 * w**3 / 27 + g / (6 * n))
    found = []
    for side, tail in (("greater", stats.t.sf), ("less", stats.t.cdf)):
        student = stats.ttest_1samp(differences, bound, alternative=side).pvalue
        sign = 1 if side == "greater" else -1
        mean, moved = sign * differences.mean(), sign * (differences.mean() - differences)
        few = moved.clip(0, 0.1).sum() < 0.25 and mean > sign * bound
        missed = stats.binom.pmf(0, n, (mean - sign * bound) / (1 + mean)) if few else 0
        found.append(max(student, tail(hall, n - 1), missed))
    return tuple(found)


@pytest.mark.parametrize("seed", range(20))
def test_p_is_the_greater_of_scipys_t_test_and_halls_and_bounds_are_where_it_is_alpha(seed):
    generator = np.random.default_rng(seed)
    differences = generator.uniform(-0.1, 0.03) + generator.choice([-1, 1]) * generator.gamma(
        generator.uniform(0.1, 2), 0.1, generator.integers(4, 60)
    )
    alpha = generator.uniform(0.01, 0.2)
    (one,) = verdict_of(differences, alpha=alpha).measures

    found, (low, high) = one.difference, one.difference.bounds
    better, worse = expected_p(differences, -TOLERANCE)
    assert found.p_passed == pytest.approx(better, abs=1e-7)
    assert one.p_fell == pytest.approx(worse, abs=1e-7)
    assert expected_p(differences, low)[0] == pytest.approx(alpha, abs=1e-6)
    assert expected_p(differences, high)[1] == pytest.approx(alpha, abs=1e-6)
    expected = PASSED if low > -TOLERANCE else FELL if high < -TOLERANCE else CANNOT_TELL
    assert one.verdict == expected


def test_without_skewness_the_bounds_are_students():
    differences = np.array([-0.5, -0.3, -0.1, 0, 0.1, 0.3, 0.5])
    (one,) = verdict_of(differences).measures
    student = stats.ttest_1samp(differences, 0).confidence_interval(1 - 2 * ALPHA)
    assert one.difference.bounds == pytest.approx(student, abs=1e-9)


@pytest.mark.parametrize("tolerance", [0, 0.01])
def test_a_system_with_the_same_rankings_passes_and_one_that_is_equal_by_chance_does_not(tolerance):
    assert judge([paired([0] * 5)], tolerance, ALPHA, same=[0]).verdict == PASSED
    assert verdict_of([0] * 5, tolerance=tolerance).verdict == CANNOT_TELL
    assert verdict_of([0] * 299).verdict == PASSED  # a share of 0.01 of all would be among them
    assert judge([paired([-0.5] * 8)], tolerance, ALPHA, same=[0]).verdict == FELL  # by labels


# (share, difference) of each kind of queries; the others have 0, or next to it
RARE = [
    ([(0.05, -0.2)], PASSED),
    ([(0.02, -0.5)], PASSED),
    ([(0.1, -0.5)], PASSED),
    ([(0.011, -1), (0.1, 0.01)], PASSED),
    ([(0.96, -0.0208), (0.04, 0.5)], FELL),
]


@pytest.mark.parametrize("sure", [TYPICAL, ANY])
@pytest.mark.parametrize(("kinds", "wrong"), RARE)
@pytest.mark.parametrize("n_queries", [8, 43])
def test_what_much_on_few_queries_makes_up_for_is_seldom_passed_or_failed(
    n_queries, kinds, wrong, sure
):
    """Often no query of the sample shows it, and the others differ by next to nothing."""
    generator = np.random.default_rng(n_queries)
    shares, values = zip(*kinds, strict=True)
    rest = 1 - sum(shares)
    drawn = generator.choice([*values, 0], p=[*shares, rest], size=(150, n_queries))
    drawn += generator.uniform(-0.0005, 0.0005, drawn.shape)
    found = [
        Difference.of(one, TOLERANCE, ALPHA, sure=sure) for one in np.rint(drawn.clip(-1, 1) * UNIT)
    ]
    p = [one.p_passed if wrong == PASSED else one.p_fell for one in found]
    assert np.mean(np.array(p) <= ALPHA) <= ALPHA


def test_a_sample_that_moves_is_believed_and_one_that_does_not_says_so():
    alike = np.array([0.001, -0.001] * 20)
    (one,) = verdict_of(alike).measures
    assert (one.verdict, one.difference.few) == (CANNOT_TELL, True)
    (one,) = verdict_of([0.12, -0.08] * 20).measures
    assert (one.verdict, one.difference.few) == (PASSED, False)


@pytest.mark.parametrize("seed", range(5))
def test_bets_are_those_of_waudby_smith_and_ramdas_whatever_the_order_of_queries(seed):
    generator = np.random.default_rng(seed)
    differences = generator.uniform(-0.4, 0.5, n := int(generator.integers(5, 300)))
    (one,) = verdict_of(differences, sure=ANY).measures

    def capital(scores: np.ndarray, bound: float) -> float:
        """Of bets on a mean above the bound, on the paper's scale of 0 to 1, by turns."""
        x, m, total, bet = (scores + 1) / 2, (bound + 1) / 2, [], 1 / ((bound + 1) / 2)
        while len(total) < 2 or bet * m > 5 / np.sqrt(n):
            total.append(np.prod(1 + bet * (x - m)))
            bet /= 2
        if bet * m * 2 > 5 / np.sqrt(n):
            total.append(np.prod(1 + bet * (x - m)))
        return float(np.mean(total))

    assert one.difference.p_passed == pytest.approx(min(1, 1 / capital(differences, -TOLERANCE)))
    assert one.difference.p_fell == pytest.approx(min(1, 1 / capital(-differences, TOLERANCE)))
    low, high = one.difference.bounds
    assert capital(differences, low) == pytest.approx(1 / ALPHA, rel=1e-6)
    assert capital(-differences, -high) == pytest.approx(1 / ALPHA, rel=1e-6)
    other = verdict_of(np.sort(differences), sure=ANY).measures[0].difference
    assert other.p_passed == pytest.approx(one.difference.p_passed, rel=1e-9)
    assert other.bounds == pytest.approx((low, high), abs=1e-9)


def test_any_distribution_takes_more_queries_and_as_many_as_it_says():
    typical, any_ = (verdict_of([0.2, -0.2] * 10, sure=sure).measures[0] for sure in (TYPICAL, ANY))
    assert typical.queries_as_seen < any_.queries_as_seen
    n = any_.queries_as_seen // 2
    enough, fewer = ([0.2, -0.2] * (n + more) for more in (1, -1))
    assert verdict_of(enough, sure=ANY).verdict == PASSED
    assert verdict_of(fewer, sure=ANY).verdict == CANNOT_TELL
    # no method can tell by fewer that 0.01 of all queries do not lose 1
    assert verdict_of([0] * 298, sure=ANY).verdict == CANNOT_TELL
    assert verdict_of([0] * 500, sure=ANY).verdict == PASSED


def counted_as(differences, weights, clusters=None) -> Board:
    names = np.array(clusters or [f"c{n}" for n in range(len(weights))])
    weights = np.array(weights) / np.mean(weights)
    return replace(paired(differences), counting=Counting(weights, names))


@pytest.mark.parametrize("sure", [TYPICAL, ANY])
def test_one_query_with_most_of_the_weight_tells_nothing_of_others(sure):
    for one in (counted_as([-0.5, *[0.1] * 9], [200, *[1] * 9]), paired([-0.5])):
        (found,) = judge([one], TOLERANCE, ALPHA, sure=sure).measures
        assert (found.verdict, found.difference.bounds) == (CANNOT_TELL, None)
        assert (found.queries_as_seen, found.queries_if_equal) == (None, None)
        assert found.difference.greatest_share > 0.95


def test_bets_of_weighted_queries_and_of_clusters_stake_by_weight():
    """However the mean of each lies, as long as that of all, by weight, is at the bound."""
    generator = np.random.default_rng(1)
    weights = generator.lognormal(0, 1, 40)
    means = np.where(weights > np.median(weights), -0.3, 0.3)
    means -= (weights @ means) / weights.sum() + TOLERANCE
    for clusters in (None, [f"c{n // 2}" for n in range(40)]):
        wrong = 0
        for _ in range(300):
            drawn = np.where(generator.random(40) < (1 + means) / 2, 1, -1)
            one = counted_as(drawn, weights, clusters)
            limits = TOLERANCE, ALPHA, False, one.counting, ANY
            found = Difference.of(one.differences, *limits)
            wrong += min(found.p_passed, found.p_fell) <= ALPHA
        assert wrong <= 2 * stats.binom.ppf(0.99, 300, ALPHA)
    alike = judge([counted_as([0.2] * 40, [3] * 40)], TOLERANCE, ALPHA, sure=ANY).measures[0]
    plain = verdict_of([0.2] * 40, sure=ANY).measures[0]
    assert alike.difference.bounds == pytest.approx(plain.difference.bounds)


@pytest.mark.parametrize(
    ("differences", "weights", "verdict"),
    [
        ([-0.3, 0.1, 0.1], [1, 1, 1], FELL),
        ([-0.01] * 3, [1, 1, 1], FELL),
        ([-0.01] * 7, [1, 2, 3, 5, 7, 11, 13], FELL),
        ([-0.009] * 3, [1, 1, 1], PASSED),
        ([-0.3, 0.1, 0.1], [1, 2, 2], PASSED),
        ([-0.06, *[0] * 9], [1000, *[1] * 9], FELL),
        ([-0.06], [1], FELL),
    ],
)
def test_of_fixed_queries_the_difference_by_weight_is_the_verdict(differences, weights, verdict):
    (one,) = judge([counted_as(differences, weights)], TOLERANCE, ALPHA, sure=FIXED).measures
    assert (one.verdict, one.difference.bounds) == (verdict, None)


def test_the_same_drop_everywhere_says_nothing_of_queries_that_none_of_them_stands_for():
    """One query in 26 that gains 1 would make up for drops of 0.05 on the others, and 8 queries
    easily miss it; for drops of 0.5 it would take a third of all."""
    assert verdict_of([-0.05] * 8).verdict == CANNOT_TELL
    (one,) = verdict_of([-0.5] * 8).measures
    assert one.verdict == FELL
    share = (0.5 - TOLERANCE) / 1.5
    assert one.p_fell == pytest.approx(stats.binom.pmf(0, 8, share))
    share = (one.difference.bounds[1] + 0.5) / 1.5
    assert stats.binom.pmf(0, 8, share) == pytest.approx(ALPHA)

    assert verdict_of([0.05] * 8).verdict == CANNOT_TELL
    (one,) = verdict_of([0.5] * 8).measures
    assert (one.verdict, one.p_fell) == (PASSED, 1)
    assert one.difference.p_passed == pytest.approx(stats.binom.pmf(0, 8, 0.51 / 1.5))


def test_a_drop_that_may_be_smaller_than_the_tolerance_has_not_fallen():
    (one,) = verdict_of(sample(40, -0.02, 0.05)).measures
    high = one.difference.bounds[1]
    assert high < 0 < high + TOLERANCE
    assert one.verdict == CANNOT_TELL


def test_that_any_fell_is_corrected_for_how_many_measures_there_are_and_that_all_passed_is_not():
    def just(side: float, p: float) -> np.ndarray:
        """A sample of 30 whose p of having passed (1) or fallen (-1) is just that."""
        return sample(30, -TOLERANCE + side * stats.t.isf(p, 29) * 0.05 / np.sqrt(30), 0.05)

    assert verdict_of(just(-1, 0.03)).verdict == FELL
    two = verdict_of(just(-1, 0.03), just(1, 0.04))  # 2 * 0.03 is above alpha
    assert [one.verdict for one in two.measures] == [CANNOT_TELL, PASSED]
    assert two.measures[0].p_fell == pytest.approx(0.06)
    assert two.verdict == CANNOT_TELL

    both = verdict_of(just(-1, 0.03), just(-1, 0.02))  # Holm: 2 * 0.02, then 0.03
    assert [one.p_fell for one in both.measures] == pytest.approx([0.04, 0.04])
    assert both.verdict == FELL

    assert verdict_of(just(1, 0.04), just(1, 0.045), just(1, 0.03)).verdict == PASSED
    assert verdict_of(just(1, 0.04), just(1, 0.06)).verdict == CANNOT_TELL


@pytest.mark.slow
def test_label_sets_and_segments_that_overlap_are_wrong_together_as_seldom_as_one():
    generator, is_tail = np.random.default_rng(1), np.arange(40) < 20
    fell, passed = [], []
    for _ in range(500):
        people = generator.normal(0, 0.1, 40)
        judge_ = people / 2 + generator.normal(0, 0.1, 40)

        def verdict(gain: np.ndarray, tolerance: float, *scores: np.ndarray) -> str:
            moved = [one + gain for one in scores]
            parts = [part for one in moved for part in (one, one[is_tail])]
            return verdict_of(*parts, tolerance=tolerance).verdict

        fell.append(verdict(np.zeros(40), 0, people, judge_) == FELL)
        # lower by just the tolerance, in the tail and by people; better by far in all else
        gain = np.where(is_tail, -TOLERANCE, 0.3)
        passed.append(verdict(gain, TOLERANCE, people, judge_ + 0.3) == PASSED)
    most = stats.binom.ppf(0.999, 500, ALPHA) / 500
    assert 0.005 < np.mean(fell) <= most
    assert 0.01 < np.mean(passed) <= most


@pytest.mark.parametrize("mean", [0.004, -0.002, -0.02])
def test_as_many_queries_as_it_says_would_do_and_one_less_would_not(mean):
    (one,) = verdict_of(sample(20, mean, 0.1)).measures
    assert one.verdict == CANNOT_TELL
    enough = one.queries_as_seen
    assert verdict_of(sample(enough, mean, 0.1)).verdict == (PASSED if mean > -0.01 else FELL)
    assert verdict_of(sample(enough - 1, mean, 0.1)).verdict == CANNOT_TELL


@pytest.mark.parametrize("side", [1, -1])
def test_skewed_differences_take_as_many_queries_as_their_test_does(side):
    differences = side * np.array([0.3, *[-0.02] * 19])
    (one,) = verdict_of(differences).measures
    assert one.verdict == CANNOT_TELL
    for n, is_told in ((one.queries_as_seen, True), (one.queries_as_seen - 1, False)):
        p = min(one.difference.of_size(n).p_values(differences.mean() + TOLERANCE))
        assert (p <= ALPHA) == is_told
    unskewed = verdict_of(sample(20, differences.mean(), differences.std(ddof=1))).measures[0]
    assert one.queries_as_seen >= unskewed.queries_as_seen


def test_of_as_many_queries_as_it_says_an_equal_system_passes_in_four_of_five_cases():
    (one,) = verdict_of(sample(20, 0, 0.05)).measures
    generator = np.random.default_rng(1)
    passed = [
        verdict_of(generator.normal(0, 0.05, one.queries_if_equal)).verdict == PASSED
        for _ in range(2000)
    ]
    assert np.mean(passed) == pytest.approx(0.8, abs=0.03)


def test_no_number_of_queries_is_told_where_a_million_would_not_do():
    (one,) = verdict_of(sample(20, 0, 0.4), tolerance=0).measures
    assert (one.queries_as_seen, one.queries_if_equal) == (None, None)


@pytest.mark.parametrize(("n_queries", "least"), first_of(1, (8, 0.001), (43, 0.01)))
def test_of_a_thousand_nulls_no_more_than_alpha_fall_or_pass(n_queries, least):
    """Which of two systems a score is of is chance: nothing fell. Lowered by the tolerance, they
    may not pass."""
    generator = np.random.default_rng(n_queries)
    scores = generator.beta(1, 2, size=(n_queries, 2)).round(1)
    drawn = generator.integers(0, n_queries, size=(1000, n_queries))
    nulls = (scores[:, 0] - scores[:, 1])[drawn] * generator.choice([-1, 1], drawn.shape)

    fell = [verdict_of(one, tolerance=0).verdict == FELL for one in nulls]
    passed = [verdict_of(one - TOLERANCE).verdict == PASSED for one in nulls]
    most = stats.binom.ppf(0.999, 1000, ALPHA) / 1000
    assert least < np.mean(fell) <= most
    assert least < np.mean(passed) <= most


def test_queries_that_decide_are_those_that_differ_most_with_the_verdict_without_them():
    differences = np.array([0.001, -0.4, 0, 0.002, -0.001, 0, 0.3])
    found = verdict_of(differences)
    first, second, *_ = deciders = found.deciders(5)
    # not those of 0
    assert [one["query_id"] for one in deciders] == ["q1", "q6", "q3", "q0", "q4"]
    scores = [first[name] for name in ("baseline", "system", "difference")]
    assert scores == pytest.approx([0.5, 0.1, -0.4])
    for one in (first, second):
        rest = np.delete(differences, int(one["query_id"][1:]))
        assert one["verdict_without"] == verdict_of(rest).verdict
    steady = verdict_of([0.25, 0.05] * 6 + [-0.9])
    assert (steady.verdict, steady.deciders(1)[0]["verdict_without"]) == (CANNOT_TELL, PASSED)
    assert verdict_of([0.1, 0.1]).deciders(1)[0]["verdict_without"] == CANNOT_TELL


def test_the_command_judges_the_scores_of_the_lake_and_leaves_with_the_verdict(demo):
    rows = published(demo).rows(
        """
        with labelled as (
            select distinct query_id from lake.marts.relevance_labels
            where label_set = 'assessor:human'
        ),
        scores as (
            from lake.marts.topic_scores
            where label_set = 'assessor:human' and measure = 'AP' and level = 2
        )
        select coalesce(new.value, 0) - coalesce(old.value, 0)
        from labelled
        left join scores as new on new.query_id = labelled.query_id and new.system = 'lsa'
        left join scores as old on old.query_id = labelled.query_id and old.system = 'bm25_rm3'
        """
    )
    differences = np.array(rows)[:, 0]
    two = ("--system", "lsa", "--baseline", "bm25_rm3", "--measure", "AP", "--json")
    for tolerance, code in ((0, 5), (0.01, 5), (0.4, 0)):
        command = ("gate", "demo", *two, "--label-set", "assessor:human", "--tolerance", tolerance)
        (one,) = json_of(demo, *command, code=code)["measures"]
        assert one["p_fell"] == pytest.approx(expected_p(differences, -tolerance)[1], abs=1e-7)
        assert expected_p(differences, one["high"])[1] == pytest.approx(ALPHA, abs=1e-6)
