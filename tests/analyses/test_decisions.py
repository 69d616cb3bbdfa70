"""Decision errors of `gradelake stats significance --reference`: by hand, and by scipy's tests."""

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.stats.correlation import settled
from gradelake.analyses.stats.decisions import decision_errors
from gradelake.analyses.stats.resample import resampled
from gradelake.analyses.stats.significance import compare_pairs
from tests.analyses.boards import board, random_board
from tests.analyses.test_correlation import students_on_angles

METHODS = ("p", "p_holm", "p_bh")


def test_errors_are_counted_of_the_judges_pairs_and_of_peoples():
    noise = np.tile([[0.1], [-0.1]], (4, 1))
    judge = compare_pairs(board([[0.1, 0.5, 0.9, 0.9]] * 8))
    # s1 is first, not last but one; s3 and s4 differ, and s2 and s3 too little to be told apart
    values = np.hstack([np.full((8, 1), 0.8), 0.3 + noise, np.full((8, 1), 0.28), np.zeros((8, 1))])
    people = compare_pairs(board(values, "assessor:a"))
    found = {
        one.error: (one.n_errors, one.n_pairs)
        for one in decision_errors(judge, people, 0.05)
        if one.correction == "p"
    }
    assert found == {
        "reversed": (4, 5),  # s1 and each other, s2 and s4; not s3 and s4, which the judge ties
        "wrong_sign": (5, 5),  # s2 and s3, too
        "untold": (1, 5),
        "missed": (1, 5),
        "contradicted": (4, 5),
    }


def plain_calls(values) -> dict[str, list]:
    """Of (queries, systems): who is better of each pair by scipy's t-test at 0.1, or 0."""
    one, other = (values[:, columns] for columns in np.triu_indices(values.shape[1], k=1))
    ps = np.where((one == other).all(axis=0), 1, stats.ttest_rel(one, other).pvalue)
    signs = np.sign((one - other).sum(axis=0).round(9))
    order, m = np.argsort(ps), len(ps)
    # step down until one is too large; step up from the last that is small enough
    passes = [ps[pair] <= 0.1 / (m - step) for step, pair in enumerate(order)]
    down = passes.index(False) if False in passes else m
    up = max((n for n, pair in enumerate(order, start=1) if ps[pair] <= 0.1 * n / m), default=0)
    firsts = {"p": order[: (ps <= 0.1).sum()], "p_holm": order[:down], "p_bh": order[:up]}
    return {"sign": signs} | {
        name: np.where(np.isin(np.arange(m), first), signs, 0) for name, first in firsts.items()
    }


def plain_errors(ours, theirs, name) -> dict[str, float]:
    pairs = list(zip(ours[name], theirs[name], theirs["sign"], strict=True))
    called = [(a, b, sign) for a, b, sign in pairs if a]
    known = [(a, b) for a, b, _ in pairs if b]
    return {
        "reversed": np.mean([a == -b for a, b, _ in called]) if called else np.nan,
        "wrong_sign": np.mean([a == -sign for a, _, sign in called]) if called else np.nan,
        "untold": np.mean([b == 0 for _, b, _ in called]) if called else np.nan,
        "missed": np.mean([a == 0 for a, b in known]) if known else np.nan,
        "contradicted": np.mean([a == -b for a, b in known]) if known else np.nan,
    }


def test_intervals_are_those_of_tests_of_copies_one_by_one():
    ours, theirs = random_board(20, 7, 5), random_board(20, 7, 8, "assessor:a")
    pairs = [compare_pairs(one, 2000) for one in (ours, theirs)]
    found = decision_errors(*pairs, 0.1, n_replicates=60, seed=11, confidence=0.9)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(11).spawn(1)[0]))
    drawn, boards = [], settled([ours.units, theirs.units])
    by_name = np.argsort(ours.queries)
    for times in resampled(generator, 60, 20).astype(int):
        rows = np.repeat(by_name, times)
        calls = [plain_calls(one.totals[rows] / 1e10) for one in boards]
        drawn.append({name: plain_errors(*calls, name) for name in METHODS})
    compared = 0
    for one in found:
        if one.correction in METHODS:
            values = np.array([each[one.correction][one.error] for each in drawn])
            assert one.spread.undefined == np.isnan(values).sum()
            ends = students_on_angles(1 - 2 * one.share, 1 - 2 * values, 20, 0.9)
            high, low = ((1 - end) / 2 for end in ends)
            if one.spread.no_interval:
                assert np.ptp(values[~np.isnan(values)]) < 1e-12 or one.n_pairs < 10
                assert one.spread.low is one.spread.high is None
                continue
            assert (one.spread.low, one.spread.high) == pytest.approx((low, high), abs=1e-6)
            compared += 1
    assert 6 < compared < 15


def test_tukeys_calls_are_drawn_anew_as_often_as_the_test_itself_finds_them():
    """The share of pairs told apart in replicates is that of the whole test on copies."""
    ours, theirs = random_board(30, 6, 3), random_board(30, 6, 4, "assessor:a")
    pairs = [compare_pairs(one, 2000) for one in (ours, theirs)]
    found = {
        (one.correction, one.error): one
        for one in decision_errors(*pairs, 0.05, n_replicates=300, seed=2)
    }
    generator = np.random.default_rng(5)
    missed, boards = [], settled([ours.units, theirs.units])
    for _ in range(60):
        rows = generator.integers(0, 30, 30)
        calls = [
            compare_pairs(board(one.totals[rows] / 1e10), 400).significant("p_tukey", 0.05)
            for one in boards
        ]
        missed.append(np.mean(calls[0][calls[1] != 0] == 0))
    expected = np.std(missed, ddof=1)
    assert found["p_tukey", "missed"].spread.standard_error == pytest.approx(expected, rel=0.4)
