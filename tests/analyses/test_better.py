"""Is B better than A: the interval is what the test does not reject, and the words fit both."""

from dataclasses import replace

import numpy as np
import pytest

from gradelake.analyses.answers.significance import rows_of_pairs
from gradelake.analyses.stats import better
from gradelake.analyses.stats.better import decide
from gradelake.analyses.stats.boards import UNIT
from gradelake.analyses.stats.counting import Counting
from gradelake.analyses.stats.ranks import rank_uncertainty
from gradelake.analyses.stats.significance import compare_pairs, flipped_ends, randomisation_test
from tests.analyses.boards import board, random_board


def counted(made, weights, clusters=None):
    weights = np.asarray(weights, dtype=float)
    clusters = np.array(clusters if clusters is not None else made.queries)
    return replace(made, counting=Counting(weights / weights.mean(), clusters))


@pytest.mark.parametrize("n_queries", [6, 9, 14, 15, 43])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_an_interval_leaves_out_0_exactly_where_p_is_at_or_below_alpha(n_queries, alpha):
    boards = [random_board(n_queries, 8, seed) for seed in range(4)]
    weights = np.random.default_rng(5).lognormal(0, 1, n_queries)
    told = 0
    for each in [*boards, *(counted(one, weights) for one in boards)]:
        pairs = compare_pairs(each, 1000)
        low, high = pairs.intervals(alpha)
        assert np.array_equal((low > 0) | (high < 0), pairs.p <= alpha)
        told += (pairs.p <= alpha).sum()
        differ = pairs.significant("p_tukey", alpha) != 0
        assert not (differ & (pairs.p > alpha)).any(), "among all, and not alone"
    assert told > 5


@pytest.mark.parametrize("n_queries", [7, 20])
def test_the_ends_are_the_first_shifts_that_the_test_rejects(n_queries):
    differences = np.random.default_rng(n_queries).integers(-9, 10, (n_queries, 6)) * UNIT / 10
    low, high = flipped_ends(differences, 0.1, 500, seed=3)
    for column, ends in enumerate(zip(low, high, strict=True)):
        for end, outwards in zip(ends, (-1, 1), strict=True):
            for step, rejected in ((0, False), (outwards, True)):
                shift = np.rint(1000 * end) + 2 * step
                shifted = 1000 * differences[:, [column]] - shift
                # the end itself may be a fraction
                (p,), _ = randomisation_test(shifted, 500, seed=3, slack=0 if step else n_queries)
                assert (p <= 0.1) == rejected


AHEAD = [[0.1, 0.5], [0.2, 0.7], [0.1, 0.4], [0.3, 0.6], [0.2, 0.9], [0.1, 0.6]]
EQUAL = [[0.5, 0.5]]
CROSSED = [[0.1, 0.4], [0.4, 0.1]]
NOISY = np.round(np.random.default_rng(2).random((20, 2)), 1)
ONE_HEAVY = [*[1] * 19, 1900]
UNLIKE = [1, 2, 3, 4, 5] * 6
ALONE = "No conclusion can be drawn from one query: s2 is ahead of s1 by 0.400 of P@10 on 1 query"
FEW = "queries cannot show a difference by this test (the least p is"
OTHERS = "so nothing is said of others: s2 is ahead of s1 by"
# (values, what is counted how, what is said); read them aloud
SITUATIONS = [
    (AHEAD, {}, "s2 is better than s1 by 0.450 of P@10 on 6 queries (0.300 to 0.700, p = 0.031)"),
    (np.fliplr(AHEAD), {}, "s1 is better than s2 by 0.450 of P@10 on 6 queries (0.300 to 0.700, "
     "p = 0.031)"),
    (AHEAD * 5, {}, "s2 is better than s1 by 0.450 of P@10 on 30 queries (0.400 to 0.500, "
     "p < 0.001)"),
    (AHEAD, {"segment": "head"}, "s2 is better than s1 by 0.450 of P@10 on 6 queries of head "
     "(0.300 to 0.700, p = 0.031)"),
    (AHEAD[:4], {"alpha": 0.2}, "s2 is better than s1 by 0.375 of P@10 on 4 queries (0.300 to "
     "0.500, p = 0.125)"),
    ([[0.5, 0.5 + n % 2 / 1e4] for n in range(20)], {}, "s2 is better than s1 by 0.00005 of "
     "P@10 on 20 queries (0.00003 to 0.00007, p = 0.002)"),
    (NOISY, {}, "No significant difference between s2 and s1: s2 is ahead by 0.020 of P@10 on 20 "
     "queries (-0.144 to 0.186, p = 0.855)"),
    (np.fliplr(NOISY), {}, "No significant difference between s2 and s1: s1 is ahead by 0.020 of "
     "P@10 on 20 queries (-0.144 to 0.186, p = 0.855)"),
    (CROSSED * 4, {}, "s2 and s1 have the same mean P@10 on 8 queries (-0.300 to 0.300, "
     "p = 1.000)"),
    (AHEAD[:5], {}, f"5 {FEW} 0.062): s2 is ahead of s1 by 0.440 of P@10 on 5 queries (94% "
     "interval 0.300 to 0.700)"),
    (AHEAD[:2], {}, f"2 {FEW} 0.500): s2 is ahead of s1 by 0.450 of P@10 on 2 queries (50% "
     "interval 0.400 to 0.500)"),
    (np.fliplr(AHEAD[:4]), {}, f"4 {FEW} 0.125): s1 is ahead of s2 by 0.375 of P@10 on 4 queries "
     "(88% interval 0.300 to 0.500)"),
    (AHEAD, {"alpha": 0.01}, f"6 {FEW} 0.031): s2 is ahead of s1 by 0.450 of P@10 on 6 queries "
     "(97% interval 0.300 to 0.700)"),
    ([*AHEAD[:3], *EQUAL * 6], {}, "s2 and s1 differ on 3 queries, which cannot show a difference "
     "by this test (the least p is 0.250): s2 is ahead of s1 by 0.133 of P@10 on 9 queries (95% "
     "interval 0.000 to 0.300)"),
    (CROSSED, {}, f"2 {FEW} 0.500): s2 and s1 have the same mean P@10 on 2 queries (50% interval "),
    (AHEAD[:1], {}, ALONE),
    (AHEAD[:1], {"segment": "head"}, f"{ALONE} of head"),
    (EQUAL * 9, {}, "s2 and s1 have the same P@10 on each of 9 queries"),
    (EQUAL, {}, "s2 and s1 have the same P@10 on 1 query"),
    (EQUAL * 9, {"weights": range(1, 10)}, "s2 and s1 have the same P@10 on each of 9 queries by "
     "their weights"),
    (AHEAD * 5, {"weights": UNLIKE}, "s2 is better than s1 by 0.450 of P@10 on 30 queries by their "
     "weights (0.390 to 0.510, p < 0.001)"),
    (AHEAD * 5, {"weights": UNLIKE, "segment": "tail"}, "s2 is better than s1 by 0.450 of P@10 on "
     "30 queries of tail by their weights (0.390 to 0.510, p < 0.001)"),
    (NOISY, {"weights": [1, 2] * 10}, "No significant difference between s2 and s1: s1 is ahead by "
     "0.023 of P@10 on 20 queries by their weights (-0.170 to 0.217, p = 0.800)"),
    (NOISY, {"weights": ONE_HEAVY}, "One query carries 99% of the weight, so nothing is said of "
     "others: "),
    (AHEAD[:2], {"weights": [1, 3]}, f"One query carries 75% of the weight, {OTHERS} 0.475 of P@10 "
     "on 2 queries by their weights"),
    ([[0.1, 0.3]] * 6, {"weights": range(1, 7)}, f"All queries differ by the same, {OTHERS} 0.200 "
     "of P@10 on 6 queries by their weights"),
    (AHEAD * 5, {"clusters": "aabbccdde" * 3 + "fgh"}, "s2 is better than s1 by 0.450 of P@10 on "
     "30 queries in 8 clusters ("),
    (AHEAD, {"clusters": "aaaabb"}, f"One cluster of queries carries 67% of the weight, {OTHERS} "
     "0.450 of P@10 on 6 queries in 2 clusters"),
    (AHEAD, {"clusters": "aaaaaa"}, f"One cluster of queries carries 100% of the weight, {OTHERS} "
     "0.450 of P@10 on 6 queries in 1 cluster"),
    (CROSSED * 3, {"clusters": "aabbcc"}, "All clusters differ by the same, so nothing is said of "
     "others: s2 and s1 have the same mean P@10 on 6 queries in 3 clusters"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "about", "says"), SITUATIONS)
def test_the_words_fit_the_figures(values, about, says):
    made = replace(board(values), segment=about.get("segment"))
    if {"weights", "clusters"} & set(about):
        weights = about.get("weights") or [1] * len(values)
        made = counted(made, weights, [*about["clusters"]] if "clusters" in about else None)
    (found,) = decide(compare_pairs(made.pair("s2", "s1")), about.get("alpha", 0.05))
    assert found.sentence.startswith(says)
    assert found.sentence == says or says.endswith((" ", "("))
    assert (found.verdict == better.BETTER) == ("is better" in found.sentence)
    if found.verdict != better.SAME:
        assert (found.low is None) == (found.verdict in (better.ONE_QUERY, better.NO_SPREAD))
    assert (found.p is None) == (found.low is None)


def test_letters_and_the_table_of_pairs_say_no_more_than_the_sentence():
    apart = 0
    for seed in range(7):
        made = random_board(6 + 3 * seed, 4, seed)
        for each in (made, counted(made, np.arange(1, len(made.queries) + 1))):
            pairs = compare_pairs(each)
            letters = {one.system: set(one.groups) for one in rank_uncertainty(each).systems}
            verdicts = {
                (row["first"], row["second"]): row["verdict"] for row in rows_of_pairs(pairs, 0.05)
            }
            for one in decide(pairs):
                said = verdicts[one.better, one.worse]
                assert ("better" in said) == (one.verdict == better.BETTER), said
                if not letters[one.a] & letters[one.b]:
                    assert one.verdict == better.BETTER
                    apart += 1
    assert apart > 5
