"""A log of clicks becomes a label set, with counts and intervals that hold what they promise."""

import numpy as np
import polars as pl
import pytest

import gradelake
from gradelake.ingest.mapping.columns import read_clicks
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.benchmarks import clicks
from tests.ingest.conftest import report

pytestmark = pytest.mark.slow

N_QUERIES, N_PASSAGES, DAYS = 40, 25, 7
BINS, LEAST_EXPECTED = (0, 0.5, 1, 2), 2  # seeds/click_bins.csv
RATES = 0.5 / np.arange(1, N_PASSAGES + 1) ** 0.7  # of clicks, by position


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A lake with simulated impressions: each passage has a true attraction, whatever its place."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "gradelake.toml").write_text('[collections.shop]\nqueries = "topics.tsv"\n')
    dice = np.random.default_rng(11)
    attraction = dice.gamma(4, 1 / 4, (N_QUERIES, N_PASSAGES))
    log, rated = [], []
    for query in range(N_QUERIES):
        for day in range(DAYS):
            for position, passage in enumerate(dice.permutation(N_PASSAGES), start=1):
                shown = int(dice.integers(20, 60)) if query else 1
                unusual = dice.lognormal(-0.125, 0.5)  # how a day differs from others
                likely = min(1.0, RATES[position - 1] * attraction[query, passage] / 3 * unusual)
                n_clicks = int(dice.binomial(shown, likely))
                row = (f"q{query}", f"p{passage}", position, f"day {day}", shown, n_clicks)
                log.append(row)
        rated += [(f"q{query}", f"p{n}", int(attraction[query, n] > 1)) for n in range(N_PASSAGES)]
    names = ["query", "passage", "position", "day", "impressions", "clicks"]
    pl.DataFrame(log, schema=names, orient="row").write_csv(folder / "clicks.csv")
    run = [(f"q{q}", f"p{n}", n + 1) for q in range(N_QUERIES) for n in range(N_PASSAGES)]
    (folder / "topics.tsv").write_text("".join(f"q{n}\ttopic {n}\n" for n in range(N_QUERIES)))
    (folder / "gradelake.toml").write_text(
        '[collections.shop]\nqueries = "topics.tsv"\nclicks = "clicks.csv"\n'
    )
    Lake.create(Project.read(folder / "gradelake.toml")).close()
    with gradelake.open(folder) as lake:
        assert lake.ingest("shop")["rejected"] == []
        columns = ["query", "passage", "rank"]
        done = lake.ingest(
            "shop",
            runs={"by_number": pl.DataFrame(run, schema=columns, orient="row")},
            judgments={
                "truth": pl.DataFrame(rated, schema=["query", "passage", "rating"], orient="row")
            },
        )
        assert done["rejected"] == []
        lake.build()
        yield lake, attraction, pl.DataFrame(log, schema=names, orient="row")


def test_counts_equal_a_plain_computation(shop):
    lake, _, log = shop
    rates = dict(
        log.group_by("position").agg(pl.col("clicks").sum() / pl.col("impressions").sum()).rows()
    )
    expected = pl.col("impressions") * pl.col("position").replace_strict(rates)
    plain = log.group_by("query", "passage").agg(
        pl.col("impressions", "clicks").sum(), expected.sum().alias("expected")
    )
    found = lake.sql(
        "select query_id, passage_id, n_impressions, n_clicks, n_expected, coec, label "
        "from click_labels"
    ).fetchall()
    by_pair = {row[:2]: row[2:] for row in plain.rows()}
    assert len(found) == len(by_pair) == N_QUERIES * N_PASSAGES
    for query, passage, *values, coec, label in found:
        _, n_clicks, most_likely = by_pair[query, passage]
        assert values == pytest.approx(by_pair[query, passage], abs=1e-9)
        assert coec == pytest.approx(n_clicks / most_likely)
        bins = [n for n, least in enumerate(BINS) if coec >= least]
        assert label == (max(bins) if most_likely >= LEAST_EXPECTED else None)
    assert {row[-1] for row in found} == {None, 0, 1, 2, 3}


def test_an_interval_holds_the_true_ratio_as_often_as_it_says(shop):
    lake, attraction, _ = shop
    rows = lake.sql("select query_id, passage_id, coec_low, coec_high from click_labels").fetchall()
    # the ratio is to what is usual at a position: the mean attraction of what is shown there
    usual = attraction.mean()
    held = [
        low <= attraction[int(query[1:]), int(passage[1:])] / usual <= high
        for query, passage, low, high in rows
    ]
    assert 0.93 <= np.mean(held) <= 0.995


@pytest.mark.fast
def test_an_interval_over_days_holds_where_days_differ_and_one_day_has_none():
    over_days, poisson = clicks.coverage(clicks.BY_ITSELF, days=7, clicks=50, passages=600)
    assert poisson < 0.85 < 0.93 <= over_days
    (of_one_day,) = clicks.intervals(np.array([[3]]), np.array([[200.0]])).to_dicts()
    assert of_one_day["coec"] == pytest.approx(1.5, abs=1e-6)
    assert of_one_day["n_days"] == 1
    assert of_one_day["coec_low"] is of_one_day["coec_high"] is None


def test_clicks_are_a_label_set_that_is_compared_with_people(shop):
    lake, _, _ = shop
    board = lake.sql(
        "select system from leaderboard where label_set = 'clicks:COEC' and measure = 'nDCG@10'"
    ).fetchall()
    assert set(board) == {("by_number",)}
    (kappa,) = lake.sql(
        "select kappa from kappa where label_set = 'clicks:COEC' and assessor = 'truth' "
        "and kind = 'binary' and label_cut = 2 and reference_cut = 1 and not is_sampled"
    ).fetchone()
    assert kappa > 0.4


@pytest.mark.fast
def test_a_log_may_be_row_by_row_and_what_cannot_be_is_told(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("query,sku,position,clicked\nq,1,1,true\nq,1,1,no\n")
    assert read_clicks(path, path.name).rows() == [
        ("q", "1", 1, "", 1, 1, 2),
        ("q", "1", 1, "", 1, 0, 3),
    ]
    path.write_text("query,sku,position,clicks,views\nq,1,1,3,2\nq,1,0,0,1\nq,1,x,0,1\n")
    told = report(lambda *a: [read_clicks(*a)], path).splitlines()
    assert told[:2] == [
        "clicks.csv:2: 3 clicks of 2 impressions at position 1 cannot be",
        "clicks.csv:3: 0 clicks of 1 impressions at position 0 cannot be",
    ]
    assert told[2].startswith("clicks.csv:4: position, impressions and clicks are")
