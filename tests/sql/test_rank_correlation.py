"""Rank correlations against scipy and plain Python."""

import numpy as np
import pytest
from scipy import stats

from gradelake.sql.common.rank_correlation import correlations, signs


def one(predicted, official) -> dict[str, float]:
    found = correlations(signs(np.array(predicted)), signs(np.array(official)), None)
    return {name: float(value) for name, value in found.items()}


def plain_tau_ap(predicted, official) -> float:
    """Both directions: of those above each system, the share that is above it in both."""

    def direction(one_side, other_side):
        shares = []
        for here, there in zip(one_side, other_side, strict=True):
            above = [o for p, o in zip(one_side, other_side, strict=True) if p > here]
            if above:
                shares.append(sum(o > there for o in above) / len(above))
        return sum(shares) / len(shares)

    return direction(predicted, official) + direction(official, predicted) - 1


def tied_scores(generator, n_systems):
    """Few different values, so that both sides tie."""
    return generator.integers(0, max(2, n_systems // 2), size=n_systems).astype(float)


@pytest.mark.parametrize("n_systems", [2, 3, 10, 37])
def test_random_rankings_with_ties_are_as_scipy_and_the_definition_have_them(n_systems):
    generator = np.random.default_rng(n_systems)
    compared = 0
    for _ in range(50):
        predicted, official = (tied_scores(generator, n_systems) for _ in range(2))
        if np.ptp(predicted) == 0 or np.ptp(official) == 0:
            continue
        ours = one(predicted, official)
        assert ours["spearman"] == pytest.approx(stats.spearmanr(predicted, official)[0], abs=1e-12)
        assert ours["kendall"] == pytest.approx(stats.kendalltau(predicted, official)[0], abs=1e-12)
        assert ours["tau_ap"] == pytest.approx(plain_tau_ap(predicted, official), abs=1e-12)
        compared += 1
    assert compared > 10


def test_tau_ap_of_a_ranking_without_ties_can_be_counted_by_hand():
    # c, a, b where a, b, c is right. Above a: c, wrong. Above b: c wrong, a right: (0 + 1/2) / 2.
    # the other way: above b: a, right; above c: a and b, both wrong: (1 + 0) / 2
    assert one([2, 1, 3], [3, 2, 1])["tau_ap"] == pytest.approx(0.25 + 0.5 - 1)


@pytest.mark.parametrize(
    ("predicted", "official"), [([1, 1, 1], [3, 2, 1]), ([3, 2, 1], [1, 1, 1])]
)
def test_a_side_without_differences_has_no_correlation(predicted, official):
    assert all(np.isnan(value) for value in one(predicted, official).values())
