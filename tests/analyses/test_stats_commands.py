"""`gradelake stats` on the demo: figures of the marts, JSON, tables, and what is refused."""

import csv
import json

import krippendorff
import numpy as np
import pytest

from gradelake.analyses.stats.boards import read_board
from gradelake.analyses.stats.kappas import kappa_intervals
from gradelake.analyses.stats.labels import compare_labels
from gradelake.analyses.stats.options import KINDS
from gradelake.sql.common.project import Project
from gradelake.sql.common.rank_correlation import STATISTICS
from gradelake.sql.lake.opening import Lake
from tests.command_line import typed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lake(demo):
    with Lake.published(Project.find(demo)) as lake:
        yield lake


@pytest.fixture(scope="module")
def graded_lake(graded_demo):
    with Lake.published(Project.find(graded_demo)) as lake:
        yield lake


def stats(folder, *words: str, code=0):
    return typed(folder, " ".join(("stats", *words)), code)


def test_the_level_is_min_relevant_unless_the_labels_end_below_it(lake):
    assert read_board(lake, "demo", "assessor:human", "AP").level == 2
    highest = lake.value(
        "select max(label) from lake.marts.relevance_labels where label_set = 'judge:overlap'"
    )
    assert read_board(lake, "demo", "judge:overlap", "AP").level == min(2, highest)


def test_a_rubrics_board_begins_where_an_answer_counts_and_says_so(graded_demo, graded_lake):
    """At 4, RUBRIC's tau, and not at the judgments' 2, which can be asked for."""
    board = read_board(graded_lake, "demo", "lexical/v0/best", "AP")
    assert board.level == 4
    assert read_board(graded_lake, "demo", "judge:lexical_direct", "AP").level == 2
    question = "sql @leaderboard --label_set lexical/v0/best --measure AP --format json"
    for words, level in (("", 4), (" --level usual", 4), (" --level 2", 2)):
        rows = json.loads(typed(graded_demo, question + words).stdout)
        assert {row["level"] for row in rows} == {level}
    table = stats(graded_demo, "leaderboard demo --label-set lexical/v0/best --measure AP").stdout
    assert "labels of lexical/v0/best; passages labelled 4 or higher are relevant" in table


def test_correlation_answers_in_json_and_again_the_same(demo):
    command = "correlation demo --measure nDCG@10 --against judge:overlap --replicates 500 --json"
    first, again = stats(demo, command).stdout, stats(demo, command).stdout
    assert first == again
    found = json.loads(first)
    label_sets = ("assessor:human", "judge:overlap", "judge:rubric_overlap")
    assert [(one["label_set"], one["statistic"]) for one in found["correlations"]] == [
        (name, statistic) for name in label_sets for statistic in STATISTICS
    ]
    for over in ("queries", "systems", "both"):
        assert {f"{over}_{end}" for end in ("low", "high", "no_interval", "standard_error")} <= {
            *found["correlations"][0]
        }
    compared = [one["label_set"] for one in found["better"]]
    assert {name: compared.count(name) for name in label_sets} == {
        "assessor:human": 9,
        "judge:overlap": 0,  # is not compared with itself
        "judge:rubric_overlap": 9,
    }


def test_significance_writes_all_pairs_and_counts_agreement(demo, tmp_path):
    command = "significance demo --measure P@10 --label-set judge:overlap --replicates 2000"
    command += " --reference assessor:human"
    found = json.loads(stats(demo, command, "--json").stdout)
    assert found["is_exact"]  # 8 queries
    n_systems = 11
    assert found["n_pairs"] == len(found["pairs"]) == n_systems * (n_systems - 1) / 2
    for row in found["counts"]:
        assert row["both"] + row["opposite"] + row["only"] == row["significant"]
        assert (
            sum(row[name] for name in ("both", "opposite", "only", "only_reference", "neither"))
            == found["n_pairs"]
        )
    errors = {(one["correction"], one["error"]): one for one in found["decision_errors"]}
    for row in found["counts"]:
        reversed_, untold, missed = (
            errors[row["correction"], name] for name in ("reversed", "untold", "missed")
        )
        assert reversed_["n_pairs"] == untold["n_pairs"] == row["significant"]
        assert (reversed_["n_errors"], untold["n_errors"]) == (row["opposite"], row["only"])
        assert missed["n_errors"] == row["only_reference"]
    shown = stats(demo, command).stdout
    assert "Decision errors, where judge:overlap decides for assessor:human" in shown
    assert "55 pairs of 11 systems over 8 queries (all sign patterns;" in shown
    assert "(45 rows more: --table pairs --format csv)" in shown
    done = stats(demo, command, "-o", str(tmp_path / "pairs.csv"))
    assert done.stdout.endswith("pairs.csv: wrote 55 rows\n")
    assert "no p can be below 0.008 here, so with 55 pairs Holm's" in done.stderr
    with (tmp_path / "pairs.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["p_tukey"]) for row in rows] == [pair["p_tukey"] for pair in found["pairs"]]


def test_a_kappa_of_every_kind_is_the_marts_and_in_the_middle_of_its_interval(demo, lake):
    found = kappa_intervals(lake, "demo", "assessor:human", (), KINDS, 100)
    columns = "label_set, kind, cut, label_cut, reference_cut, kappa, n"
    rows = lake.rows(
        f"select {columns} from lake.marts.kappa where reference = 'assessor:human' "
        "and collection = 'demo' and (kind != 'binary' or reference_cut = 2)"
    )
    assert {one.kind for one in found} == set(KINDS)
    names = columns.split(", ")
    assert sorted(rows, key=str) == sorted(
        (tuple(getattr(one, name) for name in names) for one in found), key=str
    )
    inside = [
        one for one in found if one.spread.low and one.spread.low > -1 and one.spread.high < 1
    ]
    assert len(inside) > 10
    for one in inside:
        middle = np.cos((np.arccos(one.spread.low) + np.arccos(one.spread.high)) / 2)
        assert middle == pytest.approx(one.kappa, abs=1e-6)
    command = "kappa demo --against judge:overlap --replicates 100"
    told = json.loads(stats(demo, command, "--json").stdout)
    assert {one["kind"] for one in told["kappas"]} >= {"binary"}
    assert "judge:overlap" not in {one["label_set"] for one in told["better"]}
    assert "Agrees better than judge:overlap, on the same pairs?" in stats(demo, command).stdout


def test_rates_are_shown_for_each_cut(demo):
    of = "rates demo --label-set judge:overlap --replicates 200"
    found = json.loads(stats(demo, of, "--json").stdout)
    shares = {row["share"] for row in found["cuts"]}
    assert {"corrected", "sensitivity", "specificity"} <= shares
    assert len(found["cuts"]) == len({row["cut"] for row in found["cuts"]}) * len(shares)
    ends = {"low", "high", "no_interval", "standard_error", "undefined"}
    assert {"value", *(f"value_{end}" for end in ends)} <= {*found["cuts"][0]}
    assert f"{found['n']:,} passages labelled" in stats(demo, of).stdout


def test_alpha_is_that_of_the_package_overall_and_per_query(demo, lake):
    names = ["assessor:human", "judge:overlap", "judge:rubric_overlap"]
    rows = lake.rows(
        "pivot (select query_id, passage_id, label_set, greatest(label, 0) as label "
        "from lake.marts.relevance_labels) on label_set using first(label) "
        "group by query_id, passage_id order by all"
    )
    matrix = np.array([row[2:] for row in rows], dtype=float).T
    queries = np.array([row[0] for row in rows])
    found = compare_labels(lake, "demo", [], "ordinal", 200, 1, 0.95)
    assert found.label_sets == names
    assert found.value == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="ordinal"))
    assert found.spread.low < found.value < found.spread.high
    assert found.n_pairs == ((~np.isnan(matrix)).sum(axis=0) > 1).sum()
    for query, value, _ in found.by_query:
        part = matrix[:, queries == query]
        assert value == pytest.approx(krippendorff.alpha(part, level_of_measurement="ordinal"))
    done = stats(demo, "alpha", "demo", "--per-query", "--metric", "nominal", "--json")
    as_json = json.loads(done.stdout)
    nominal = krippendorff.alpha(matrix, level_of_measurement="nominal")
    assert as_json["alphas"][0]["alpha"] == pytest.approx(nominal)
    assert len(as_json["by_query"]) == 8


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("correlation demo --measure nDCG@1", "has no measure 'nDCG@1'"),
        ("correlation demo --measure AP --level 7", "has no relevance level 7"),
        ("correlation demo --measure AP --leaderboard x", "has no official leaderboard 'x'"),
        (
            "correlation demo --measure AP --leaderboard official --reference assessor:human",
            "--leaderboard and --reference cannot be used together",
        ),
        ("alpha demo --label-set judge:overlap", "'judge:overlap' alone cannot agree"),
        ("ceiling demo --label-set judge:overlab", "Did you mean 'judge:overlap'?"),
        ("alpha demo --live --release r1", "--live and --release cannot be used t"),
    ],
)
def test_what_is_not_there_is_refused_with_a_hint(demo, line, wrong):
    assert wrong in stats(demo, line, code=2).stderr
