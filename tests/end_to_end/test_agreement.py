"""Agreement of labels and of leaderboards: real figures, and every cell against named libraries."""

import json
import os
import shutil
from itertools import groupby

import numpy as np
import pytest

from tests import agreement_oracle, oracle
from tests.command_line import gradelake, json_of
from tests.end_to_end.strange_lake import ENSEMBLES, MEMBERS, QUERIES, labels_of, rows
from tests.projects import project
from tests.reading import published
from tests.report_page import Page

pytestmark = pytest.mark.slow

NTH = int(os.environ.get("GRADELAKE_NTH_KAPPA", "21"))  # of thousands; all take a minute


def common(labels, one, other, query=None) -> tuple[list[int], list[int]]:
    shared = [pair for pair in labels[one] if pair in labels[other] and query in (None, pair[0])]
    return [labels[one][pair] for pair in shared], [labels[other][pair] for pair in shared]


def assert_cell(row, one, other) -> None:
    """Every column of a row of `kappa` or `kappa_by_query`."""
    where = {key: row[key] for key in ("label_set", "reference", "kind", "cut")}
    assert row["n"] == len(one), where
    if row["kind"] in agreement_oracle.WEIGHTS:
        expected = {
            "kappa": agreement_oracle.kappa(one, other, agreement_oracle.WEIGHTS[row["kind"]]),
            **dict.fromkeys(("n_both", "n_neither", "precision", "recall", "bias_index")),
        }
    else:
        one = agreement_oracle.classes(row["kind"], one, row["label_cut"])
        other = agreement_oracle.classes(row["kind"], other, row["reference_cut"])
        expected = {
            "kappa": agreement_oracle.kappa(one, other),
            "observed": np.mean(np.equal(one, other)),
            **agreement_oracle.two_by_two(one, other),
        }
    assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-9), where
    if row["kappa"] is not None:
        from_shares = (row["observed"] - row["expected"]) / (1 - row["expected"])
        assert from_shares == pytest.approx(row["kappa"], abs=1e-6), where


def test_what_people_hold_relevant_is_a_cut_where_nobody_judged_just_so(new_lake, tmp_path):
    """Judgments are 0 and 2, relevant is from 1 on."""
    passages = [f"p{n}" for n in range(6)]
    judged = [f"q{q} 0 {p} {2 * (n % 2)}" for q in (1, 2) for n, p in enumerate(passages)]
    labelled = [f"q{q} 0 {p} {n % 3}" for q in (1, 2) for n, p in enumerate(passages)]
    files = {"topics.tsv": {"q1": "why", "q2": "how"}, "people": judged, "judge": labelled}
    settings = {"queries": "topics.tsv", "judgments": {"people": "people"}, "min_relevant": 1}
    project(tmp_path, {"mine": settings}, files=files)
    new_lake(tmp_path)
    gradelake(tmp_path, "ingest", "mine")
    gradelake(tmp_path, "import", "labels", "mine", "judge", "--judge", "j")
    gradelake(tmp_path, "build")
    done = gradelake(tmp_path, "sql", "@kappa", "--collection", "mine", "--format", "json")
    found = {row["cut"]: row["kappa"] for row in json.loads(done.stdout)}
    one, other = ([int(line.split()[3]) for line in lines] for lines in (labelled, judged))
    assert found == {
        f">={cut}|>=1": pytest.approx(
            agreement_oracle.kappa([n >= cut for n in one], [n >= 1 for n in other]), abs=5e-4
        )
        for cut in (1, 2)
    }


def test_every_kappa_equals_scikit_learn_on_odd_labels_too(strange):
    labels = labels_of(strange)
    found = rows(strange, "select * from lake.marts.kappa order by all")
    pairs = {(row["label_set"], row["reference"]) for row in found}
    members, ensembles = ({f"judge:{name}" for name in of} for of in (MEMBERS, ENSEMBLES))
    assert pairs == {
        (a, b)
        for a in labels
        for b in labels
        if a != b
        and common(labels, a, b) != ([], [])
        # an ensemble would agree with what it is made of
        and not ({a, b} & members and {a, b} & ensembles)
    }
    for row in found[::NTH]:
        assert_cell(row, *common(labels, row["label_set"], row["reference"]))
    kinds = {row["kind"] for row in found}
    assert kinds == {"graded", "linear", "quadratic", "binary", "collapsed", "boxed"}
    assert any(row["kappa"] is None for row in found)
    collapsed = {row["cut"] for row in found if row["kind"] == "collapsed" and row["label_cut"] < 3}
    assert {"0|1-3", "0-1|2-3"} <= collapsed


def test_a_judge_whose_scale_is_stated_has_the_kappas_of_the_scale(demo, tmp_path):
    """It says 0 and 2 only, on 0-3 as people do: its file alone tells of a scale 0-2."""
    folder = shutil.copytree(demo, tmp_path / "demo")
    labels = (folder / "labels/overlap.qrels").read_text().split("\n")[:-1]
    shy = [f"{line[:-1]}{2 * (int(line[-1]) > 1)}" for line in labels]
    (folder / "shy.qrels").write_text("\n".join(shy) + "\n")
    collapsed = "select * from lake.marts.kappa where kind = 'collapsed' and assessor = 'human' "
    collapsed += "and label_set = 'judge:shy' order by label_cut"
    stated = ("--judge", "shy", "--max-label", "3")
    gradelake(folder, "import", "labels", "demo", "shy.qrels", *stated)
    gradelake(folder, "build")
    found = rows(folder, collapsed)
    assert [row["cut"] for row in found] == ["0|1-3", "0-1|2-3", "0-2|3"]
    files = {"judge:shy": "shy.qrels", "assessor:human": "judgments.qrels"}
    labelled = {
        name: {
            (query, passage): label
            for query, of_query in oracle.read_qrels(folder / file).items()
            for passage, label in of_query.items()
        }
        for name, file in files.items()
    }
    for row in found:
        assert_cell(row, *common(labelled, "judge:shy", "assessor:human"))


def test_every_kappa_of_a_query_equals_scikit_learn(strange):
    labels = labels_of(strange)
    found = rows(strange, "select * from lake.marts.kappa_by_query order by all")
    assert {row["query_id"] for row in found} == set(QUERIES)
    for row in found[::NTH]:
        assert_cell(row, *common(labels, row["label_set"], row["reference"], row["query_id"]))


def test_a_judge_and_two_people_are_compared_where_all_three_labelled(strange):
    labels = labels_of(strange)
    levels = dict(published(strange).rows("select label_set, level from lake.marts.usual_levels"))
    people = [labels["assessor:ann"], labels["assessor:bob"]]
    found = rows(strange, "select * from lake.marts.human_ceiling")
    assert {row["kind"] for row in found} == {"binary", *agreement_oracle.WEIGHTS}
    assert {row["label_set"] for row in found} == {
        name
        for name, of in labels.items()
        if name.startswith("judge:") and of.keys() & people[0].keys() & people[1].keys()
    }
    for row in found:
        sides = [labels[row["label_set"]], *people]
        shared = set.intersection(*map(set, sides))
        judge, ann, bob = ([side[pair] for pair in shared] for side in sides)
        weights = agreement_oracle.WEIGHTS.get(row["kind"])
        if row["kind"] == "binary":  # people's from min_relevant on
            judge = [label >= levels[row["label_set"]] for label in judge]
            ann, bob = ([label >= 2 for label in of] for of in (ann, bob))
        one, other, ceiling = (
            agreement_oracle.kappa(*two, weights)
            for two in ((judge, ann), (judge, bob), (ann, bob))
        )
        cells = [row[name] for name in ("kappa_assessor", "kappa_other", "kappa_people")]
        assert row["n"] == len(shared)
        assert cells == pytest.approx([one, other, ceiling], abs=1e-9), row
        if None not in (one, other):
            assert row["shortfall"] == pytest.approx(ceiling - (one + other) / 2, abs=1e-9)


def test_confusion_counts_labels_as_they_are(strange):
    found = rows(
        strange,
        "select * from lake.marts.confusion where label_set = 'judge:yes' and assessor = 'ann'",
    )
    lines = (strange / "ann.qrels").read_text().split("\n")[:-1]
    judgments = [int(line.split()[3]) for line in lines]
    assert -1 in judgments
    assert {(row["label"], row["judgment"]): row["n"] for row in found} == {
        (1, judgment): judgments.count(judgment) for judgment in set(judgments)
    }


@pytest.mark.parametrize("mart", ["leaderboard_agreement", "topic_agreement"])
def test_every_correlation_of_two_boards_equals_the_libraries(strange, mart):
    table, score = (
        ("leaderboard", "score_4dp")
        if mart == "leaderboard_agreement"
        else ("topic_scores", "round(value, 4)")
    )
    query = "query_id" if table == "topic_scores" else "'' as query_id"
    keys = ("label_set", "level", "measure", "query_id")
    cells = rows(
        strange,
        f"select label_set, level, measure, {query}, system, {score} as score "
        f"from lake.marts.{table} order by all",
    )
    boards = {
        key: {row["system"]: row["score"] for row in board}
        for key, board in groupby(cells, lambda row: tuple(row[key] for key in keys))
    }
    found = rows(strange, f"select *, {query} from lake.marts.{mart}")
    assert found
    defined = 0
    for row in found:
        one = boards[tuple(row[key] for key in keys)]
        other = boards[row["reference"], row["reference_level"], row["measure"], row["query_id"]]
        expected = agreement_oracle.correlations(
            [one[system] for system in one], [other[system] for system in one]
        )
        assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-9), row
        assert (row["kendall"] is None) == (row["undefined_reason"] is not None)
        assert row["reference_level"] == (row["level"] if row["assessor"] is None else 2)
        defined += row["kendall"] is not None
    assert 0 < defined < len(found)


def test_the_top_of_every_board_equals_the_libraries(strange):
    cells = rows(strange, "select * from lake.marts.leaderboard order by all")
    boards: dict[tuple, dict] = {}
    for row in cells:
        key = row["label_set"], row["level"], row["measure"]
        boards.setdefault(key, {})[row["system"]] = row["score_4dp"]
    found = rows(strange, "select * from lake.marts.top_agreement")
    wanted = rows(
        strange,
        "select label_set, level, measure, reference, k from lake.marts.leaderboard_agreement, "
        "unnest([5, 10, 15]) ks(k) where assessor is not null",
    )
    keys = ("label_set", "level", "measure", "reference", "k")
    assert sorted(tuple(row[key] for key in keys) for row in found) == sorted(
        tuple(row[key] for key in keys) for row in wanted
    )
    ties, sizes = 0, set()
    for row in found:
        ours = boards[row["label_set"], row["level"], row["measure"]]
        theirs = boards[row["reference"], row["reference_level"], row["measure"]]
        places = {one: 1 + sum(o > theirs[one] for o in theirs.values()) for one in theirs}
        first = [one for one in theirs if places[one] <= row["k"]]
        expected = agreement_oracle.correlations(
            [ours[one] for one in first], [theirs[one] for one in first]
        )
        del expected["spearman"]
        best = sorted(one for one in ours if ours[one] == max(ours.values()))
        expected |= {
            "n_systems": len(first),
            "n_compared": len(theirs),
            "best_rank": np.mean([places[one] for one in best]),
            "loss": max(theirs.values()) - np.mean([theirs[one] for one in best]),
        }
        assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-9), row
        assert row["best_system"] == ", ".join(best)
        assert (row["kendall"] is None) == (row["undefined_reason"] is not None)
        ties += len(best) > 1
        sizes.add(len(first))
    assert 0 < ties < len(found)
    assert {5, 6, 8} <= sizes


def test_where_no_board_has_min_relevant_the_assessors_nearest_is_compared(demo, tmp_path):
    """min_relevant is 9; people's highest judgment is 3, and so is the nearest board of theirs."""
    folder = shutil.copytree(demo, tmp_path / "demo")
    config = folder / "gradelake.toml"
    config.write_text(config.read_text().replace("min_relevant = 2", "min_relevant = 9"))
    gradelake(folder, "ingest", "demo")
    gradelake(folder, "build")
    for mart in ("leaderboard_agreement", "topic_agreement"):
        query = f"select * from lake.marts.{mart} where assessor is not null"
        assert {row["reference_level"] for row in rows(folder, query)} == {3}, mart
    assert rows(folder, "select * from lake.marts.system_bias where assessor is not null")


@pytest.mark.fast
def test_the_oracle_overlaps_as_the_rbo_package_does():
    """Figures printed by rbo 0.1.3, which does not go with numpy 2."""
    for places, printed in (
        ([3, 0, 8, 11, 6, 7, 4, 1, 9, 10, 2, 5], 0.6306003828619482),
        ([1, 0, 2], 0.9),
        (list(range(12))[::-1], 0.4442989627905196),
    ):
        one = [-float(i) for i in range(len(places))]
        other = [-float(place) for place in places]
        assert agreement_oracle.overlap(one, other) == pytest.approx(printed, abs=1e-12)


def test_two_systems_of_one_run_are_named_where_boards_show_them(strange, tmp_path):
    board = ("sql", "@leaderboard", "--label_set", "assessor:ann", "--format", "json")
    found = json_of(strange, *board)
    assert {row["system"]: row["same_as"] for row in found if row["same_as"]} == {
        "s6": "s7",
        "s7": "s6",
    }
    said = gradelake(strange, "compare", "strange", "s6", "s7").stdout
    assert "the files of s6 and s7 are byte for byte the same" in said
    assert "byte for byte" not in gradelake(strange, "compare", "strange", "s5", "s6").stdout
    gradelake(strange, "report", "strange", "-o", str(tmp_path / "page.html"))
    twins = [{"system": "s6", "same_as": "s7"}, {"system": "s7", "same_as": "s6"}]
    assert Page(tmp_path / "page.html").settled["same_runs"] == twins
