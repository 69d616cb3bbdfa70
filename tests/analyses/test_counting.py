"""Queries that do not count alike: by traffic, in clusters, by segment."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.stats.boards import UNIT, Board, OfficialRanks, read_board
from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.stats.counting import Counting, Units
from gradelake.analyses.stats.ranks import rank_uncertainty
from gradelake.analyses.stats.resample import student_reach
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.analyses import boards
from tests.command_line import gradelake, json_of
from tests.lakes import start_lake
from tests.projects import project

COPIES = np.array([3, 1, 2, 5, 1, 1, 4, 2, 1, 3])


def counted_and_copied(seed: int = 0) -> tuple[Board, Board]:
    """A board of weighted queries, and one where each is there as often as it weighs, in a cluster
    of its own; the last two are one cluster in both."""
    values = np.random.default_rng(seed).integers(0, 11, size=(len(COPIES), 4)) / 10
    names = np.array([*(f"c{n}" for n in range(len(COPIES) - 1)), f"c{len(COPIES) - 2}"])

    def board(copies: np.ndarray, weights: np.ndarray) -> Board:
        made = boards.board(np.repeat(values, copies, axis=0))
        counting = Counting(weights / weights.mean(), np.repeat(names, copies))
        printed = np.floor(np.average(made.values, axis=0, weights=weights) / 1e6 + 0.5)
        return replace(made, counting=counting, printed=printed)

    return board(np.ones_like(COPIES), COPIES), board(COPIES, np.ones(COPIES.sum()))


def test_a_query_that_weighs_three_counts_as_three_copies_that_are_no_news_of_each_other():
    counted, copied = counted_and_copied()
    pairs = [compare_pairs(board) for board in (counted, copied)]
    for name in ("difference", "p", "p_tukey"):
        np.testing.assert_allclose(*(getattr(one, name) for one in pairs), atol=1e-9)
    np.testing.assert_allclose(*(one.intervals(0.05) for one in pairs), atol=1e-9)
    ours, theirs = (
        rank_uncertainty(board, n_replicates=200).systems for board in (counted, copied)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert (one.system, one.rank, one.groups) == (other.system, other.rank, other.groups)
        assert (one.best_rank, one.worst_rank) == (other.best_rank, other.worst_rank)
        assert (one.low, one.stderr) == pytest.approx((other.low, other.stderr))
    official = OfficialRanks("them", {f"s{n}": float(n) for n in range(1, 5)})
    found = [agreement(board, official, n_replicates=200) for board in (counted, copied)]
    spreads = [each.correlations[0].spread["queries"] for each in found]
    assert spreads[0] == spreads[1]


def test_where_queries_count_unequally_p_and_interval_are_students_of_the_effective_number():
    counted, _ = counted_and_copied(3)
    found = compare_pairs(counted)
    assert (found.by_student, found.is_exact, found.least_p) == (True, False, 0)
    low, high = found.intervals(0.05)
    for at, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        differences = (counted.values[:, a] - counted.values[:, b]) / UNIT
        mean = np.average(differences, weights=COPIES)
        names = np.unique(counted.counting.clusters)
        adds = [
            (COPIES * (differences - mean))[counted.counting.clusters == n].sum() for n in names
        ]
        sizes = np.array([COPIES[counted.counting.clusters == n].sum() for n in names])
        error = np.sqrt(len(names) / (len(names) - 1) * np.square(adds).sum()) / COPIES.sum()
        freedom = (sizes**2).sum() ** 2 / (sizes**4).sum() - 1
        assert found.p[at] == pytest.approx(2 * stats.t.sf(abs(mean) / error, freedom))
        reach = error * stats.t.ppf(0.975, freedom)
        assert (low[at], high[at]) == pytest.approx((mean - reach, mean + reach))


@pytest.mark.parametrize("log_spread", [0, 0.8, 1.5])
def test_of_40_clusters_the_95_percent_interval_holds_the_mean_as_often_as_it_says(log_spread):
    """Reciprocal ranks of queries whose users are alike, from the traffic of a long tail."""
    rng = np.random.default_rng(40)
    held = []
    for _ in range(1200):
        clusters = np.repeat(np.arange(40), rng.geometric(0.4, 40))
        chances = np.array([0.2, 0.5, 0.9])[rng.integers(0, 3, 40)][clusters]
        values = 1 / rng.geometric(chances)
        weights = rng.lognormal(0, log_spread, len(clusters))
        counting = Counting(weights / weights.mean(), clusters.astype(str))
        units = Units.of(np.rint(values[:, None] * UNIT), counting)
        reach = units.standard_errors[0] / UNIT * student_reach(units.n_effective)
        truth = np.mean([p * -np.log(p) / (1 - p) for p in (0.2, 0.5, 0.9)])
        held.append(abs(np.average(values, weights=weights) - truth) <= reach)
    assert np.mean(held) >= 0.93


HEAD, TAIL = 24, 76  # queries; those of the head are asked ten times as often
SHOP = {"queries": "topics.jsonl", "judgments": {"me": "me.qrels"}, "runs": ["runs/*.run"]}
BY = ("--measure", "RR", "--label-set", "assessor:me")


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Path:
    """`a` finds what is often looked for, `b` what seldom is: each of ten queries in eleven."""
    folder = tmp_path_factory.mktemp("shop") / "shop"
    queries = [f"q{n:03}" for n in range(HEAD + TAIL)]
    is_head = dict(zip(queries, [True] * HEAD + [False] * TAIL, strict=True))
    order = {False: ["no", "yes"], True: ["yes", "no"]}
    files = {
        "topics.jsonl": [
            {"query_id": q, "text": q, "weight": 1, "segments": "head" if head else "tail"}
            for q, head in is_head.items()
        ],
        "traffic.csv": [
            {"query_id": q, "weight": 10 + n % 3 if is_head[q] else 1 + n % 2 / 4}
            for n, q in enumerate(queries)
        ],
        "me.qrels": {q: {"yes": 1, "no": 0} for q in queries},
    }
    for system, finds in (("a", True), ("b", False)):
        files[f"runs/{system}.run"] = {
            q: order[(head == finds) != (n % 11 == 5)]
            for n, (q, head) in enumerate(is_head.items())
        }
    rule = {"collection": "shop", "system": "a", "baseline": "b", "label_set": "assessor:me"}
    project(
        folder,
        {"shop": SHOP, "traffic": SHOP | {"query_weights": "traffic.csv"}},
        files=files,
        **{"gates.tail": rule | {"measures": "RR", "collection": "traffic", "segment": "tail"}},
    )
    start_lake(folder)
    for name in ("shop", "traffic"):
        gradelake(folder, "ingest", name)
    gradelake(folder, "build")
    return folder


@pytest.mark.slow
def test_by_traffic_a_shop_keeps_the_ranker_that_an_unweighted_board_would_drop(shop):
    def asked(*words: str, code: int = 0) -> dict:
        return json_of(shop, *words, "--json", code=code)

    for collection, best, fell in (("shop", "b", 4), ("traffic", "a", 0)):
        assert asked("stats", "ranks", collection, *BY)["top"] == [best]
        (pair,) = asked("stats", "significance", collection, *BY)["pairs"]
        assert pair["first"] == best
        assert pair["difference"] == pytest.approx(pair["mean_first"] - pair["mean_second"])
        assert pair["p"] < 0.05
        found = asked("gate", collection, "--system", "a", "--baseline", "b", *BY, code=fell)
        assert abs(found["measures"][0]["difference"]) == pytest.approx(pair["difference"])
        assert asked("stats", "ranks", collection, *BY, "--segment", "tail")["top"] == ["b"]
        told = asked("compare", collection, pair["second"], best, *BY)
        figures = [pair[name] for name in ("difference", "low", "high", "p")]
        assert [told[name] for name in ("difference", "low", "high", "p")] == pytest.approx(figures)
        assert told["mean_b"] - told["mean_a"] == pytest.approx(told["difference"])
        assert [part["difference"] > 0 for part in told["segments"]] == [best == "a", best == "b"]
    assert told["difference_unweighted"] < 0 < told["difference"]
    assert "on 100 queries by their weights" in told["sentence"]
    two = ("gate", "traffic", "--system", "a", "--baseline", "b", *BY)
    both, (whole,) = ("--segment", "all", "--segment", "tail"), found["measures"]
    (tail,) = asked(*two, "--segment", "tail", code=4)["measures"]
    together = asked(*two, *both, code=4)["measures"]
    assert [one["verdict"] for one in together] == ["passed", "fell"]
    assert together == [whole, tail | {"p_fell": pytest.approx(2 * tail["p_fell"])}]  # Holm
    told = gradelake(shop, *two, *both, code=4).stdout
    assert told.startswith("fell: a against b; tolerance 0.01, alpha 0.05\n\nAll 2 tests must pass")
    assert "\npassed by assessor:me: queries count by their weights" in told
    assert "\nfell by assessor:me, segment tail: RR fell by" in told
    assert "\nassessor:me, all\nmeasure" in told
    assert "\nassessor:me, tail\nmeasure" in told
    told = gradelake(shop, "gate", "--rule", "tail", code=4).stdout
    assert told.startswith("fell: a against b by assessor:me, segment tail; tolerance 0.01")
    assert "queries count by their weights, and clusters of queries as one" in told
    wrong = gradelake(shop, "stats", "ranks", "traffic", *BY, "--segment", "tial", code=2).stderr
    assert "'traffic' has no segment 'tial'" in wrong
    assert "Did you mean 'tail'?" in wrong
    refused = ("stats", "estimate", "traffic", *BY, "--assessor", "me")
    assert "does not heed weights and clusters" in gradelake(shop, *refused, code=2).stderr


@pytest.mark.slow
def test_the_board_of_a_segment_has_its_queries_as_they_count(shop):
    with Lake.published(Project.find(shop)) as lake:
        board = read_board(lake, "traffic", "assessor:me", "RR", segment="head")
        rows = lake.rows(
            "select score, stderr from lake.marts.leaderboard_by_segment where collection = "
            "'traffic' and segment = 'head' and measure = 'RR' and level = 1 order by system"
        )
    assert len(board.queries) == HEAD
    means = board.units.totals.sum(axis=0) / HEAD / UNIT
    expected = np.stack([means, board.units.standard_errors / UNIT], axis=1)
    np.testing.assert_allclose(rows, expected, atol=1e-9)
