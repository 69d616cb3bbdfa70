"""`gradelake stats ranks`: intervals as of scipy, rank ranges one by one, groups by all pairs."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.stats.boards import read_board
from gradelake.analyses.stats.ranks import letter, rank_uncertainty
from gradelake.analyses.stats.resample import resampled
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.analyses.boards import board, random_board
from tests.command_line import gradelake, json_of


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_a_systems_interval_is_students_over_its_queries(confidence):
    ours = random_board(9, 5, seed=3)
    for one in rank_uncertainty(ours, n_replicates=50, confidence=confidence).systems:
        values = ours.values[:, ours.systems.index(one.system)] / 1e10
        expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
        assert (one.low, one.high) == pytest.approx((expected.low, expected.high))
        assert one.stderr == pytest.approx(stats.sem(values))


def test_a_rank_range_is_that_of_ranking_copied_queries_one_by_one():
    ours = random_board(9, 6, seed=5)
    found = rank_uncertainty(ours, n_replicates=300, seed=7, confidence=0.9)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(7).spawn(1)[0]))
    ranks = []
    for times in resampled(generator, 300, 9).astype(int):
        copies = np.repeat(ours.values, times, axis=0)
        ranks.append(stats.rankdata(-copies.sum(axis=0), method="min"))
    for one in found.systems:
        own = sorted(np.array(ranks)[:, ours.systems.index(one.system)])
        assert one.best_rank == min(own[14], one.rank), "5% of 300 are as good or better"
        assert one.worst_rank == max(own[284], one.rank)
    assert any(one.best_rank < one.worst_rank for one in found.systems)


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_the_largest_sets_without_a_significant_pair(seed):
    ours = random_board(12, 8, seed)
    found = rank_uncertainty(ours, n_replicates=2000, seed=2, alpha=0.2)
    pairs = compare_pairs(ours, n_replicates=2000, seed=2)
    known = {"n_replicates": 2000, "seed": 2, "alpha": 0.2, "pairs": pairs}
    assert rank_uncertainty(ours, **known).systems == found.systems
    differ = {
        frozenset((ours.systems[a], ours.systems[b]))
        for a, b, p in zip(pairs.first, pairs.second, pairs.p_tukey, strict=True)
        if p <= 0.2
    }
    alike = [
        set(some)
        for n in range(1, 9)
        for some in combinations(ours.systems, n)
        if not any(frozenset(pair) in differ for pair in combinations(some, 2))
    ]
    largest = [some for some in alike if not any(some < other for other in alike)]
    order = [one.system for one in found.systems]
    groups = [{order[place] for place in group} for group in found.groups]
    assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))
    for one, other in combinations(found.systems, 2):
        share = set(one.groups) & set(other.groups)
        assert (not share) == (frozenset((one.system, other.system)) in differ)
    assert found.top == order[: len(found.top)]
    assert all(frozenset((order[0], name)) not in differ for name in found.top)


def test_systems_that_win_everywhere_stand_alone_and_equal_ones_share_rank_and_letter():
    found = rank_uncertainty(board([[0.1, 0.9, 0.5, 0.5]] * 30), n_replicates=2000)
    assert [(one.system, one.rank, one.groups) for one in found.systems] == [
        ("s2", 1, "a"),
        ("s3", 2, "b"),
        ("s4", 2, "b"),
        ("s1", 4, "c"),
    ]
    assert [(one.best_rank, one.worst_rank) for one in found.systems] == [
        (1, 1),
        (2, 2),
        (2, 2),
        (4, 4),
    ]
    assert found.top == ["s2"]


def test_one_query_says_nothing_of_others_and_one_system_is_alone():
    best, worst = rank_uncertainty(board([[0.1, 0.9]]), n_replicates=20).systems
    assert (best.rank, worst.rank, best.groups, worst.groups) == (1, 2, "a", "a")
    assert {best.low, best.high, best.stderr, best.best_rank, best.worst_rank} == {None}
    (only,) = rank_uncertainty(board([[0.1], [0.9]]), n_replicates=20).systems
    assert (only.best_rank, only.worst_rank, only.groups) == (1, 1, "a")


def test_of_four_queries_no_two_systems_differ_and_no_rank_is_certain():
    found = rank_uncertainty(board([[0.9, 0.1]] * 4), n_replicates=200)
    assert [(one.rank, one.groups) for one in found.systems] == [(1, "a"), (2, "a")]
    assert {(one.best_rank, one.worst_rank) for one in found.systems} == {(1, 2)}
    assert found.too_few == "4 queries are too few to tell two systems apart."
    enough = rank_uncertainty(board([[0.9, 0.1]] * 6), n_replicates=200)
    assert (enough.too_few, [one.groups for one in enough.systems]) == ("", ["a", "b"])
    assert [(one.best_rank, one.worst_rank) for one in enough.systems] == [(1, 1), (2, 2)]


def test_there_are_letters_for_any_number_of_groups():
    letters = [letter(n) for n in range(120)]
    assert (letters[0], letters[25], letters[26], letters[52], letters[104]) == (
        *("a", "z", "A", "a'"),
        "a''",
    )
    assert len({*letters}) == 120


# --- on the demo ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_ranks_scores_and_standard_errors_are_the_leaderboards(graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        rows = lake.rows(
            "select label_set, measure, level, list((system, rank, score) order by rank, "
            "system), list(stderr order by rank, system) from lake.marts.leaderboard "
            "where level = 2 and measure in ('AP', 'Cover@20') group by all"
        )
        assert len(rows) > 6
        assert {measure for _, measure, *_ in rows} >= {"Cover@20", "AP"}
        for label_set, measure, level, systems, errors in rows:
            found = rank_uncertainty(
                read_board(lake, "demo", label_set, measure, level), n_replicates=2
            )
            assert [(one.system, one.rank) for one in found.systems] == [of[:2] for of in systems]
            ours = [one.score for one in found.systems]
            assert ours == pytest.approx([of[2] for of in systems], abs=2e-10)
            ours = [one.stderr for one in found.systems]
            assert ours == pytest.approx(errors, abs=1e-9)


@pytest.mark.slow
def test_the_command_prints_ranks_with_ranges_and_groups(demo):
    command = ("stats", "ranks", "demo", "--measure", "AP", "--label-set", "judge:overlap")
    found = json_of(demo, *command, "--json")
    printed = gradelake(demo, *command).stdout.splitlines()
    assert printed[0].startswith("judge:overlap, AP, level 2: 11 systems over 8 queries; 95%")
    for line, one in zip(printed[2:13], found["systems"], strict=True):
        ranks = f"{one['best_rank']} to {one['worst_rank']}"
        interval = f"{one['low']:.3f} to {one['high']:.3f}"
        assert line.split()[:3] == [str(one["rank"]), one["system"], f"{one['score']:.3f}"]
        assert line.split("  ")[-1].strip() == one["groups"]
        assert f"{interval}  {ranks} " in line
    assert printed[0].endswith("(randomised Tukey HSD, alpha 0.05).")
    letters = {one["system"]: one["groups"] for one in found["systems"]}
    best = found["systems"][0]["groups"]
    assert found["top"] == [name for name in letters if set(letters[name]) & set(best)]
