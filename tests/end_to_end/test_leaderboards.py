"""Every cell of the leaderboards against pytrec_eval, scipy, and the published correlations."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gradelake.sql.common.rank_correlation import tied
from tests import oracle
from tests.command_line import gradelake
from tests.lakes import DL19_JUDGES
from tests.places import DL19
from tests.reading import published


def lake_cells(folder) -> dict[tuple, float]:
    rows = published(folder).rows(
        "select label_set, level, system, query_id, measure, value "
        "from lake.marts.topic_scores where measure != 'Judged@10'"
    )
    return {tuple(row[:5]): row[5] for row in rows}


def demo_inputs(folder):
    labels = {
        "assessor:human": oracle.read_qrels(folder / "judgments.qrels"),
        "judge:overlap": oracle.read_qrels(folder / "labels/overlap.qrels"),
        "judge:rubric_overlap": oracle.read_qrels(folder / "labels/rubric_overlap.qrels"),
    }
    runs = oracle.read_runs(folder / "runs") | oracle.read_answers(folder / "responses.jsonl")
    return labels, runs


def dl19_inputs():
    labels = {"assessor:nist": oracle.read_qrels(DL19 / "qrels.txt")}
    for judge, file in DL19_JUDGES.items():
        labels[f"judge:{judge}"] = oracle.read_qrels(DL19 / "labels" / f"{file}.qrels")
    return labels, oracle.read_runs(DL19 / "runs")


def assert_same_cells(ours: dict[tuple, float], theirs: dict[tuple, float]) -> None:
    assert ours.keys() == theirs.keys()
    keys = list(theirs)
    difference = np.abs(np.array([ours[k] for k in keys]) - np.array([theirs[k] for k in keys]))
    assert difference.max() < 1e-9, keys[int(difference.argmax())]


def test_every_cell_of_the_demo_equals_pytrec_eval(demo):
    theirs = dict(oracle.cells(*demo_inputs(demo)))
    n_answered = 11 * 8 - 1  # one system leaves one query unanswered
    assert len(theirs) == 3 * 5 * n_answered * len(oracle.MEASURES)
    assert_same_cells(lake_cells(demo), theirs)


@pytest.mark.slow
def test_every_cell_of_dl19_equals_pytrec_eval(dl19):
    theirs = dict(oracle.cells(*dl19_inputs()))
    assert len(theirs) == 4 * 5 * 37 * 43 * len(oracle.MEASURES)
    assert_same_cells(lake_cells(dl19), theirs)


def test_the_mean_is_over_all_queries_and_a_skipped_one_counts_zero(demo):
    labels, runs = demo_inputs(demo)
    values = oracle.evaluate(labels["assessor:human"], runs["coordination_match"], 2)
    assert len(values) == 7  # of 8 queries
    score, answered, n_queries, n_answered, stderr = published(demo).rows(
        "select score, score_answered, n_queries, n_answered, stderr "
        "from lake.marts.leaderboard where label_set = 'assessor:human' and level = 2 "
        "and system = 'coordination_match' and measure = 'AP'"
    )[0]
    points = [cells["AP"] for cells in values.values()]
    assert (n_queries, n_answered) == (8, 7)
    assert score == pytest.approx(sum(points) / 8, abs=1e-9)
    assert answered == pytest.approx(sum(points) / 7, abs=1e-9)
    assert stderr == pytest.approx(stats.sem([*points, 0.0]), abs=1e-9)


@pytest.mark.slow
def test_rounding_to_4_decimals_is_part_of_a_dl19_correlation(dl19):
    """test1 and TUA1-1 differ by 0.000001: as printed they tie, which moves NIST's own figures."""
    ((*nist, n_systems, left_out),) = published(dl19).rows(
        "select spearman, kendall, spearman_unrounded, kendall_unrounded, n_systems, left_out "
        "from lake.marts.leaderboard_correlation "
        "where measure = 'nDCG@10' and level = 1 and label_set = 'assessor:nist'"
    )
    assert [f"{figure:.4f}" for figure in nist] == ["0.9999", "0.9984", "0.9997", "0.9968"]
    assert (n_systems, left_out) == (36, ["UNH_exDL_bm25"])


@pytest.mark.parametrize("collection", ["demo", pytest.param("dl19", marks=pytest.mark.slow)])
def test_every_correlation_equals_scipy(collection, request):
    folder = request.getfixturevalue(collection)
    file = folder / "official_ranks.json" if collection == "demo" else DL19 / "official_ranks.json"
    official = json.loads(file.read_text())
    boards = published(folder).frame(
        "select label_set, level, measure, system, score, score_4dp from lake.marts.leaderboard"
    )
    boards = boards.filter(pl.col("system").is_in(list(official)))
    rows = published(folder).rows(
        "select label_set, level, measure, spearman, kendall, spearman_unrounded, "
        "kendall_unrounded, undefined_reason from lake.marts.leaderboard_correlation"
    )
    groups = boards.partition_by("label_set", "level", "measure", as_dict=True)
    assert len(rows) == len(groups)
    undefined = 0
    for *key, rho, tau, rho_unrounded, tau_unrounded, reason in rows:
        board = groups[tuple(key)]
        ranks = [-official[system] for system in board["system"]]
        for scores, ours in (
            (board["score_4dp"], (rho, tau)),
            (pl.Series(tied(board["score"].to_numpy())), (rho_unrounded, tau_unrounded)),
        ):
            if scores.n_unique() == 1:
                assert ours == (None, None)
                continue
            theirs = (stats.spearmanr(scores, ranks)[0], stats.kendalltau(scores, ranks)[0])
            assert ours == pytest.approx(theirs, abs=1e-9), key
        assert (rho is None) == (reason is not None)
        undefined += rho is None
    assert undefined > 0, "some judge never gives a high label: all systems then score 0"


def test_missing_labels_are_the_pooled_passages_without_one(demo):
    labels, runs = demo_inputs(demo)
    expected = {
        (query, passage)
        for run in runs.values()
        for query, scores in run.items()
        for passage in sorted(scores, key=lambda p: (np.float32(scores[p]), p), reverse=True)[:20]
        if passage not in labels["assessor:human"][query]
    }
    rows = published(demo).rows(
        "select query_id, passage_id, text from lake.marts.missing_labels "
        "where label_set = 'assessor:human'"
    )
    stored = published(demo).rows("select n_systems, best_rank from lake.marts.missing_labels")
    assert len(rows) == len(expected)
    assert {row[:2] for row in rows} == expected
    assert all(text for *_, text in rows)
    assert stored == sorted(stored, key=lambda row: (-row[0], row[1])), "most useful first"


@pytest.mark.slow
def test_near_duplicates_can_be_left_out_of_rankings_and_labels(demo, tmp_path):
    """As UMBRELA (section 3.1) evaluates: only the canonical passage of a cluster counts."""
    folder = shutil.copytree(demo, tmp_path / "demo")
    config = folder / "gradelake.toml"
    relevant = "min_relevant = 2\n"
    assert relevant in config.read_text()
    setting = f"{relevant}leave_out_near_duplicates = true\n"
    config.write_text(config.read_text().replace(relevant, setting))
    gradelake(folder, "ingest", "demo")
    gradelake(folder, "build")
    left_out = {
        passage
        for line in (folder / "near_duplicates.tsv").read_text().splitlines()
        for passage in line.split()[1:]
    }

    def without(by_query):
        return {
            query: {passage: value for passage, value in values.items() if passage not in left_out}
            for query, values in by_query.items()
        }

    labels, runs = demo_inputs(folder)
    labels = {name: without(qrels) for name, qrels in labels.items()}
    runs = {name: without(run) for name, run in runs.items()}
    ours, theirs = lake_cells(folder), dict(oracle.cells(labels, runs))
    assert_same_cells(ours, theirs)
    assert ours != lake_cells(demo), "some duplicate was retrieved"


# how queries of the demo and of its `answers` count; one that weighs nothing is in no mean
TRAFFIC = {
    "demo": """query_id,weight,cluster,segments
volcano-prediction,0,,tail|alike
lower-blood-pressure,40.5,,head
faulty-online-purchase,3,buyer,tail
hash-collisions,1,,tail|alike
fall-of-constantinople,1,,tail|alike
sourdough-sour-rise,7,buyer,head
rates-and-inflation,0.25,,tail
bird-navigation,2,ornithologist,tail
""",
    "answers": """query_id,weight,cluster,segments
volcanoes,5,one,head
sourdough,2.5,two,tail
interest-rates,2,two,tail
migrating-birds,1,,head
""",
}


@pytest.mark.parametrize(
    ("made", "collection"), [("graded_demo", "demo"), ("demo_answers", "answers")]
)
@pytest.mark.slow
def test_means_by_weight_cluster_and_segment_equal_plain_numpy(request, tmp_path, made, collection):
    folder = shutil.copytree(request.getfixturevalue(made), tmp_path / "lake")
    before = {row[:4] for row in boards(folder, collection)}
    config, table = folder / "gradelake.toml", f"[collections.{collection}]\n"
    (folder / "traffic.csv").write_text(TRAFFIC[collection])
    setting = f'{table}query_weights = "traffic.csv"\n'
    config.write_text(config.read_text().replace(table, setting))
    gradelake(folder, "ingest", collection)
    gradelake(folder, "build")
    traffic = pl.read_csv(folder / "traffic.csv").filter(pl.col("weight") > 0)
    lake = published(folder)
    values = {
        tuple(key): dict(zip(queries, scores, strict=True))
        for *key, queries, scores in lake.rows(
            "select label_set, level, system, measure, list(query_id), list(value) "
            "from lake.marts.topic_scores where collection = ? group by all",
            collection,
        )
    }
    of_segment = lake.rows(
        "select segment, label_set, level, system, measure, score, stderr, n_queries, n_answered, "
        "weight_share from lake.marts.leaderboard_by_segment where collection = ?",
        collection,
    )
    segments = {name for text in traffic["segments"] for name in text.split("|")}
    ours = boards(folder, collection)
    assert {row[:4] for row in ours} == before
    assert len(of_segment) == len(segments) * len(ours)
    for segment, *key, score, stderr, n_queries, n_answered, share in [
        *(("", *row, 1) for row in ours),
        *of_segment,
    ]:
        own = traffic.filter(
            pl.col("segments").str.split("|").list.contains(segment) | (segment == "")
        )
        scores = values.get(tuple(key), {})
        expected = weighted_mean(
            np.array([scores.get(query, 0) for query in own["query_id"]]),
            own["weight"].to_numpy(),
            own["cluster"].fill_null(own["query_id"]).to_numpy(),
        )
        counts = (own.height, sum(query in scores for query in own["query_id"]))
        assert (n_queries, n_answered) == counts, key
        assert (score, np.nan if stderr is None else stderr) == pytest.approx(
            expected, abs=2e-10, nan_ok=True
        ), (segment, key)
        assert share == pytest.approx(own["weight"].sum() / traffic["weight"].sum())
    for mart, of in (("leaderboard", "''"), ("leaderboard_by_segment", "segment")):
        for scores, ranks in lake.rows(
            f"select list(score), list(rank) from lake.marts.{mart} where collection = ? "
            f"group by {of}, label_set, level, measure",
            collection,
        ):
            assert ranks == stats.rankdata([-score for score in scores], "min").tolist()


def boards(folder, collection) -> list[tuple]:
    return published(folder).rows(
        "select label_set, level, system, measure, score, stderr, n_queries, n_answered "
        "from lake.marts.leaderboard where collection = ?",
        collection,
    )


def weighted_mean(values, weights, clusters) -> tuple[float, float]:
    """(the mean, its linearised standard error over clusters), as in textbooks."""
    mean = np.average(values, weights=weights)
    residuals = weights * (values - mean) / weights.sum()
    of_cluster = np.array([residuals[clusters == one].sum() for one in np.unique(clusters)])
    m = len(of_cluster)
    return mean, np.sqrt(m / (m - 1) * (of_cluster**2).sum()) if m > 1 else np.nan
