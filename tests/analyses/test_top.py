"""`gradelake stats correlation --top`: the first systems and the choice, in plain Python."""

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.stats.boards import OfficialRanks
from gradelake.analyses.stats.correlation import settled
from gradelake.analyses.stats.resample import resampled
from gradelake.analyses.stats.top import STATISTICS, top_agreement
from tests import agreement_oracle
from tests.analyses.boards import board, random_board
from tests.analyses.test_correlation import students_on_angles


def plain_top(ours, theirs, k) -> dict[str, float]:
    """Of two lists of scores: the statistics over those with fewer than k above, by `theirs`."""
    first = [i for i, score in enumerate(theirs) if sum(o > score for o in theirs) < k]
    found = agreement_oracle.correlations([ours[i] for i in first], [theirs[i] for i in first])
    return {name: np.nan if found[name] is None else found[name] for name in STATISTICS}


def plain_loss(ours, theirs) -> float:
    best = [theirs[i] for i, score in enumerate(ours) if score == max(ours)]
    return max(theirs) - sum(best) / len(best)


@pytest.mark.parametrize("k", [2, 4, 9])
def test_figures_and_intervals_of_the_first_are_those_of_copies_one_by_one(k):
    ours, theirs = random_board(9, 6, 5), random_board(9, 6, 99, "assessor:a")
    found = top_agreement(ours, theirs, [k], n_replicates=200, seed=11, confidence=0.9)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(11).spawn(1)[0]))
    drawn, boards = [], settled([ours.units, theirs.units])
    for times in resampled(generator, 200, 9).astype(int):
        rows = np.repeat(np.arange(9), times)
        pair = [
            np.round(one.totals[rows].mean(axis=0) / 1e10 + 1e-12, 4).tolist() for one in boards
        ]
        drawn.append(plain_top(*pair, k) | {"loss": plain_loss(*pair)})
    observed = [(one.printed / 1e4).tolist() for one in (ours, theirs)]
    expected = plain_top(*observed, k)
    for one in found.tops:
        assert one.value == pytest.approx(expected[one.statistic], abs=1e-9)
        values = np.array([each[one.statistic] for each in drawn])
        assert one.spread.undefined == np.isnan(values).sum()
        low, high = students_on_angles(one.value, values, 9, 0.9)
        low = max(low, 0) if one.statistic == "rbo" else low
        assert (one.spread.low, one.spread.high) == pytest.approx((low, high), abs=1e-6)
    choice = found.choice
    assert choice.loss == pytest.approx(plain_loss(*observed))
    error = np.std([each["loss"] for each in drawn], ddof=1) / np.sqrt(1 - 1 / 9)
    low, high = stats.t.interval(0.9, 8, choice.loss, error)
    assert (choice.spread.low, choice.spread.high) == pytest.approx((max(low, 0), high))


def test_systems_that_tie_are_in_together_and_lose_on_average():
    people = board([[0.9, 0.7, 0.7, 0.2]] * 4, "assessor:a")
    judge = board([[0.1, 0.8, 0.5, 0.8]] * 4)
    found = top_agreement(judge, people, [2, 3], ["s1", "s2"])
    assert [(one.k, one.n_systems) for one in found.tops[::3]] == [(2, 3), (3, 3)]
    assert found.choice.systems == ("s2", "s4")
    assert found.choice.loss == pytest.approx((0.2 + 0.7) / 2)
    assert found.choice.in_best_group is False  # s4 is not
    assert top_agreement(judge, people, [2], ["s1", "s2", "s4"]).choice.in_best_group is True
    ranks = OfficialRanks("official", {"s1": 1, "s2": 2.5, "s3": 2.5, "s4": 4})
    official = top_agreement(judge, ranks, [2], n_replicates=50)
    assert [one.value for one in official.tops] == [one.value for one in found.tops[:3]]
    assert official.choice.loss is official.choice.spread.low is None


@pytest.mark.parametrize("shared", [0.5, 1])
def test_settled_boards_resampled_differ_between_systems_as_the_boards_themselves(shared):
    generator = np.random.default_rng(4)
    noise = generator.normal(0, 0.3, (3, 25, 40))
    skill = generator.normal(0.5, 0.1, 40)
    people = skill + noise[0]
    judge = skill + generator.normal(0, 0.05, 40) + shared * noise[0] + (1 - shared) * noise[1]
    boards = [board(judge).units, board(people).units]
    drawn = []
    for times in resampled(generator, 400, 25):
        drawn.append(np.cov([times @ one.totals / 25 for one in settled(boards)]))
    observed = np.cov([one.means for one in boards])
    assert np.mean(drawn, axis=0) == pytest.approx(observed, rel=0.1)
    plain = [
        np.cov([times @ one.totals / 25 for one in boards])
        for times in resampled(generator, 99, 25)
    ]
    assert np.all(np.mean(plain, axis=0) > 1.1 * observed)
