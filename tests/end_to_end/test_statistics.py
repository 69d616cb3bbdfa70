"""Intervals, tests and estimates on TREC DL 2019: real runs, real judgments, real judges."""

import csv
import json

import numpy as np
import pytest

from gradelake.analyses.stats.boards import read_board, read_official_ranks
from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.stats.prediction_powered import Stratum, prediction_powered, stratified
from gradelake.analyses.stats.significance import agreement_on_pairs, compare_pairs
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.analyses.test_stats_commands import assert_correlations_are_the_marts
from tests.conftest import gradelake

pytestmark = pytest.mark.slow

NIST, SUN = "assessor:nist", "judge:Sun"


@pytest.fixture(scope="module")
def lake(dl19):
    with Lake.published(Project.find(dl19)) as lake:
        yield lake


def test_every_correlation_of_dl19_is_that_of_the_mart(lake):
    assert assert_correlations_are_the_marts(lake) > 30


def test_the_published_correlations_come_with_intervals_around_them(lake):
    official = read_official_ranks(lake, "dl19", None)
    found = agreement(read_board(lake, "dl19", SUN, "nDCG@10"), official, n_replicates=2000)
    spearman, kendall, _ = found.correlations
    assert [f"{one.value:.3f}" for one in (spearman, kendall)] == ["0.948", "0.828"]
    for one in (spearman, kendall):
        assert one.p_value == 1 / 2001
        for spread in one.spread.values():
            assert spread.low < one.value < spread.high
            assert spread.undefined == 0
        # more that is left to chance, wider intervals
        width = {kind: spread.high - spread.low for kind, spread in one.spread.items()}
        assert width["both"] > max(width["queries"], width["systems"]) * 0.95


def test_nist_surely_orders_the_systems_better_than_a_judge(lake):
    official = read_official_ranks(lake, "dl19", None)
    nist, sun = (read_board(lake, "dl19", name, "nDCG@10") for name in (NIST, SUN))
    found = agreement(nist, official, sun, n_replicates=2000)
    kendall = {b.resampled: b for b in found.better if b.statistic == "kendall"}
    assert kendall["queries"].probability > 0.95
    assert kendall["systems"].probability > 0.99


def test_judge_and_assessor_agree_on_most_significant_pairs_and_contradict_on_none(lake):
    ours, theirs = (
        compare_pairs(read_board(lake, "dl19", name, "nDCG@10"), 20_000) for name in (SUN, NIST)
    )
    assert len(ours.p) == 37 * 36 / 2
    for correction in ("p_holm", "p_bh", "p_tukey"):
        counts = agreement_on_pairs(ours, theirs, correction, 0.05)
        assert counts["opposite"] == 0
        assert counts["both"] > counts["only"] + counts["only_reference"]


def test_95_percent_of_intervals_hold_nists_board_of_these_queries(lake):
    """500 samples of 15 of the 43 queries, each system's mean estimated from Sun's and NIST's."""
    nist, sun = (read_board(lake, "dl19", name, "nDCG@10").values / 1e10 for name in (NIST, SUN))
    truth, judge = nist.mean(axis=0), sun.mean(axis=0)
    generator, held, alike, narrower = np.random.default_rng(1), [], [], []
    for _ in range(500):
        drawn = np.zeros(43, dtype=bool)
        drawn[generator.choice(43, 15, replace=False)] = True
        strata = [Stratum(43, nist[drawn] / 43, sun[drawn] / 43)]
        these, alone = stratified(strata, judge), stratified(strata, None)
        low, high = these.interval(0.95)
        held.append((low <= truth) & (truth <= high))
        low, high = prediction_powered(nist[drawn], sun[drawn], sun[~drawn]).interval(0.95)
        alike.append((low <= truth) & (truth <= high))
        narrower.append(these.standard_error <= alone.standard_error)
    assert 0.92 <= np.mean(held) <= 0.97
    # intervals for queries like these are wider than these queries need
    assert np.mean(alike) > np.mean(held)
    assert np.mean(narrower) > 0.95


def test_a_sample_goes_out_is_judged_and_comes_back(dl19, tmp_path):
    file = tmp_path / "sample.csv"
    done = gradelake(
        dl19,
        "export",
        "sample",
        "dl19",
        "--label-set",
        SUN,
        "--size",
        "50",
        "--depth",
        "10",
        "-o",
        str(file),
        "--json",
    )
    assert json.loads(done.stdout)["rows"] == 50
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert all(row["passage"] and not row["judgment"] for row in rows)
