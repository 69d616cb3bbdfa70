"""Judges that favour something, and several judges as one, against plain Python."""

import math
import random
import shutil
import statistics
from collections import Counter, defaultdict

import krippendorff
import pytest
from scipy import stats

from tests.command_line import gradelake, json_of
from tests.end_to_end.strange_lake import ENSEMBLES, MEMBERS, labels_of, rows
from tests.reading import published

pytestmark = pytest.mark.slow


def test_an_ensemble_labels_as_its_members_together(strange):
    expected = labels_of(strange)
    for ensemble in ENSEMBLES:
        found = rows(
            strange,
            "select query_id, passage_id, label from lake.marts.relevance_labels "
            "where label_set = ?",
            f"judge:{ensemble}",
        )
        n_labels = 18 if ensemble == "sum" else 24  # a sum is of all three members
        assert len(found) == len(expected[f"judge:{ensemble}"]) == n_labels
        for row in found:
            pair = row["query_id"], row["passage_id"]
            assert row["label"] == expected[f"judge:{ensemble}"][pair], (ensemble, pair)


def test_a_sum_that_takes_a_missing_grade_as_0_says_how_many_are_missing(strange):
    by_members = Counter(pair for name in MEMBERS for pair in labels_of(strange)[f"judge:{name}"])
    found = rows(
        strange,
        "select query_id, passage_id, n_items, n_missing from lake.marts.relevance_labels "
        "where label_set = 'judge:sum_missing_as_0'",
    )
    missing = {(row["query_id"], row["passage_id"]): row["n_missing"] for row in found}
    assert missing == {pair: len(MEMBERS) - n for pair, n in by_members.items()}
    assert {row["n_items"] for row in found} == {3}
    assert set(missing.values()) == {0, 1}


def test_an_ensemble_is_a_judge_like_others_and_nobody_has_to_ask_it(strange):
    boards = rows(strange, "select distinct label_set from lake.marts.leaderboard")
    assert {f"judge:{ensemble}" for ensemble in ENSEMBLES} < {row["label_set"] for row in boards}
    models = rows(strange, "select grader, model from lake.marts.graders where engine = 'ensemble'")
    assert {row["grader"]: row["model"] for row in models} == {
        ensemble: f"{ensemble} of {', '.join(MEMBERS)}" for ensemble in ENSEMBLES
    }
    backlog = rows(strange, "select distinct grader from lake.marts.grading_backlog")
    assert backlog == []


def test_wrong_ensembles_are_refused_by_name(strange, tmp_path):
    folder = shutil.copytree(strange, tmp_path / "strange")
    for members, problems in (
        (
            "two,median,fair\ntwo,median,wide\nwho,median,fair\nwho,median,nobody\n",
            (
                "two, wide: its members ask about different things, or grade on different scales",
                "who, nobody: no grader of that name has graded anything",
            ),
        ),
        (
            "odd,best,fair\nodd,best,fine\nsingle,median,fair\nfair,median,fine\nfair,median,good\n",
            (
                "odd, fair: rule must be majority, median, mean_expected, calibrated, sum or sum",
                "single, fair: one grader is no ensemble",
                "fair, fine: there is a grader of that name",
            ),
        ),
    ):
        (folder / "seeds" / "ensembles.csv").write_text(
            "ensemble,rule,grader,mapping\n" + members.replace("\n", ",\n")
        )
        done = gradelake(folder, "build", code=2)
        for problem in problems:
            assert problem in done.stderr
    (folder / "seeds" / "ensembles.csv").write_text(
        "ensemble,rule,grader,mapping\n"
        "sum,sum,fair,6:3 5:2\nsum,sum,fine,6:3\nmap,sum,fair,three\nmap,sum,fine,three\n"
        "twice,sum,fair,1:2 1:3\ntwice,sum,fine,1:2 1:3\n"
    )
    done = gradelake(folder, "build", code=2)
    assert "sum, fair: its rows name several mappings" in done.stderr
    assert "map, fine: mapping must look like 5:3 4:1" in done.stderr
    assert "twice, fair: mapping names a label twice" in done.stderr
    assert published(folder).value("select count(*) from lake.intermediate.ensembles") == 18


def test_a_panel_is_its_assessors_by_a_rule(strange, tmp_path):
    folder = shutil.copytree(strange, tmp_path / "strange")
    pairs = sorted(labels_of(folder)["assessor:bob"])
    said, dice = {}, random.Random(6)
    for who in ("p1", "p2", "p3"):
        said[who] = {pair: dice.randint(0, 3) for pair in pairs if dice.random() < 0.8}
        rows_of = (f"{query},{passage},{label}" for (query, passage), label in said[who].items())
        (folder / f"{who}.csv").write_text("\n".join(["query,passage,judgment", *rows_of]))
        gradelake(folder, "import", "judgments", "strange", f"{who}.csv", "--assessor", who)
    file, head = folder / "seeds" / "panels.csv", "collection,panel,rule,assessors\n"
    file.write_text(
        f"{head}strange,one,best,p1 p2\nstrange,two,mean,p1 eve\nstrange,three,mean,p1\n"
    )
    told = gradelake(folder, "build", code=2).stderr
    assert "one, strange: rule must be majority, last or mean" in told
    assert "two, strange: no judgments of eve in the collection" in told
    assert "three, strange: assessors must name two or more people, each once" in told
    rules = {
        "majority": lambda labels: min(labels, key=lambda one: (-labels.count(one), one)),
        "last": lambda labels: labels[-1],
        "mean": lambda labels: math.floor(sum(labels) / len(labels) + 0.5),
    }
    file.write_text(head + "".join(f"strange,{rule},{rule},p1  p2 p3\n" for rule in rules))
    gradelake(folder, "build")
    for rule, of in rules.items():
        found = rows(
            folder,
            "select query_id, passage_id, label, n_missing from lake.marts.relevance_labels "
            "where label_set = ?",
            f"panel:{rule}",
        )
        expected = {}
        for pair in pairs:
            if labels := [said[who][pair] for who in said if pair in said[who]]:
                expected[pair] = (of(labels), 3 - len(labels))
        assert {tuple(row.values())[:2]: tuple(row.values())[2:] for row in found} == expected
    boards = rows(folder, "select distinct label_set from lake.marts.leaderboard")
    assert {f"panel:{rule}" for rule in rules} < {row["label_set"] for row in boards}
    compared = rows(
        folder, "select distinct label_set from lake.marts.kappa where reference = 'panel:last'"
    )
    judges = {row["label_set"] for row in boards if row["label_set"].startswith("judge:")}
    assert set() < {row["label_set"] for row in compared} <= judges  # not its own members


def test_nobody_is_a_second_rater_beside_their_own_labels(strange, tmp_path):
    folder = shutil.copytree(strange, tmp_path / "strange")
    (folder / "seeds" / "panels.csv").write_text(
        "collection,panel,rule,assessors\nstrange,both,mean,ann bob\n"
    )
    (folder / "seeds" / "hybrids.csv").write_text(
        "collection,hybrid,assessor,label_set,mapping\nstrange,filled,bob,judge:fair,\n"
    )
    gradelake(folder, "build")
    made = ["hybrid:filled", "panel:both", *(f"judge:{name}" for name in ENSEMBLES)]
    labels = rows(folder, "select * from lake.marts.relevance_labels")
    matrix = defaultdict(dict)
    for row in labels:
        pair = row["query_id"], row["passage_id"]
        matrix[row["label_set"]][pair] = max(row["label"], 0)
    own = sorted(set(matrix) - set(made))
    pairs = sorted({pair for name in own for pair in matrix[name]})
    expected = krippendorff.alpha(
        [[matrix[name].get(pair, math.nan) for pair in pairs] for name in own],
        level_of_measurement="ordinal",
    )
    alpha = ("stats", "alpha", "strange", "--replicates", "20")
    found = json_of(folder, *alpha, "--json")
    assert found["label_sets"] == own
    assert sorted(found["left_out"]) == sorted(made)
    assert found["alphas"][0]["alpha"] == pytest.approx(expected)
    assert "left out, as their labels come from the same raters: hybrid:filled" in (
        gradelake(folder, *alpha).stderr
    )
    for one, other, shared in (
        ("panel:both", "assessor:ann", "assessor:ann"),
        ("hybrid:filled", "judge:fair", "judge:fair"),
        ("judge:median", "judge:fine", "judge:fine"),
        ("hybrid:filled", "panel:both", "assessor:bob"),
    ):
        named = (*alpha, "--label-set", one, "--label-set", other)
        assert f"both hold the labels of {shared}" in gradelake(folder, *named, code=2).stderr
    gradelake(folder, *alpha, "--label-set", "panel:both", "--label-set", "judge:fair")
    compared = rows(folder, "select distinct label_set, reference from lake.marts.kappa")
    pairs = {(row["label_set"], row["reference"]) for row in compared}
    assert ("judge:median", "judge:wide") in pairs
    assert not pairs & {("judge:median", "judge:fine"), ("judge:fine", "judge:median")}


def test_a_hybrid_is_what_people_say_and_else_the_judge_on_one_scale(strange, tmp_path):
    folder = shutil.copytree(strange, tmp_path / "strange")
    file, head = folder / "seeds" / "hybrids.csv", "collection,hybrid,assessor,label_set,mapping\n"
    wrong = {
        "strange,scales,bob,judge:wide,": "labels of judge:wide go up to 5, judgments to 3: a",
        "strange,beyond,bob,judge:wide,5:4": "mapping goes beyond the judgments, which go up to 3",
        "strange,nobody,eve,judge:fair,": "no judgments of eve in it",
        "strange,none,bob,judge:foul,": "of a grader that has graded: judge:foul",
        "strange,policy,bob,fair/v0/best,": "of a grader that has graded: fair/v0/best",
        "else,where,bob,judge:fair,": "the lake has no such collection",
    }
    file.write_text(head + "".join(f"{row}\n" for row in wrong))
    told = gradelake(folder, "build", code=2).stderr
    for row, problem in wrong.items():
        (line,) = (line for line in told.splitlines() if f"{row.split(',')[1]}, " in line)
        assert problem in line
    file.write_text(f"{head}strange,same,bob,judge:fair,\nstrange,other,bob,judge:wide,5:3 4:2\n")
    gradelake(folder, "build")
    expected = labels_of(folder)
    mapped = {pair: {5: 3, 4: 2}.get(n, 0) for pair, n in expected["judge:wide"].items()}
    for name, judge in {"same": expected["judge:fair"], "other": mapped}.items():
        labels = "select query_id, passage_id, label from lake.marts.relevance_labels"
        found = rows(folder, f"{labels} where label_set = 'hybrid:{name}'")
        theirs = {(row["query_id"], row["passage_id"]): row["label"] for row in found}
        assert theirs == judge | expected["assessor:bob"]
    boards = rows(folder, "select distinct label_set from lake.marts.leaderboard")
    assert {"hybrid:same", "hybrid:other"} < {row["label_set"] for row in boards}
    compared = "select count(*) as n from lake.marts.kappa where starts_with(label_set, 'hybrid:')"
    assert rows(folder, compared) == [{"n": 0}]
    estimate = ("stats", "estimate", "strange", "--measure", "P@5", "--assessor", "bob")
    told = gradelake(folder, *estimate, "--label-set", "hybrid:same", code=2).stderr
    assert "hybrid:same holds people's own judgments" in told


def residuals(folder) -> dict[tuple, dict[str, dict[str, float]]]:
    """(label set, assessor, level, measure) -> system -> query -> value less the human value."""
    cells = defaultdict(dict)
    for row in rows(folder, "select * from lake.marts.topic_scores"):
        key = row["label_set"], row["level"], row["measure"]
        cells[key][row["system"], row["query_id"]] = row["value"]
    found = {}
    for (label_set, level, measure), values in cells.items():
        for assessor in ("ann", "bob"):
            human = cells[f"assessor:{assessor}", 2, measure]
            if label_set != f"assessor:{assessor}":
                by_system = defaultdict(dict)
                for (system, query), value in values.items():
                    if (system, query) in human:
                        by_system[system][query] = value - human[system, query]
                found[label_set, assessor, level, measure] = by_system
    return found


def test_favour_is_the_residual_less_that_of_all_systems(strange):
    expected = residuals(strange)
    found = rows(strange, "select * from lake.marts.system_bias")
    assert len(found) > 1000
    for row in found:
        of = expected[row["label_set"], row["assessor"], row["level"], row["measure"]]
        favours = [
            residual - statistics.fmean(other[query] for other in of.values())
            for query, residual in of[row["system"]].items()
        ]
        assert row["n_queries"] == len(favours)
        assert row["favour"] == pytest.approx(statistics.fmean(favours), abs=1e-9)
        if len(favours) > 1:
            assert row["stderr"] == pytest.approx(stats.sem(favours), abs=1e-9)


def test_a_group_is_compared_with_the_rest_over_queries(strange):
    expected = residuals(strange)
    found = rows(strange, "select * from lake.marts.group_bias where group_name = 'low'")
    assert {row["grouping"] for row in found} == {"half"}
    tested = 0
    for row in found:
        of = expected[row["label_set"], row["assessor"], row["level"], row["measure"]]
        queries = {query for residual in of.values() for query in residual}
        differences = [
            statistics.fmean(of[f"s{n}"][query] for n in range(4))
            - statistics.fmean(of[f"s{n}"][query] for n in range(4, 8))
            for query in queries
        ]
        assert (row["n_systems"], row["n_others"], row["n_queries"]) == (4, 4, len(queries))
        assert row["difference"] == pytest.approx(statistics.fmean(differences), abs=1e-9)
        if row["t"] is not None and row["stderr"] > 1e-6:
            theirs = stats.ttest_1samp(differences, 0)
            assert row["t"] == pytest.approx(theirs.statistic, rel=1e-5, abs=1e-6)
            assert row["df"] == theirs.df
            assert row["p"] == pytest.approx(theirs.pvalue, abs=2e-6)
            tested += 1
    assert tested > 100


def test_p_is_corrected_by_holm_over_all_groups_of_a_board(strange):
    boards = defaultdict(list)
    for row in rows(strange, "select * from lake.marts.group_bias where p is not null"):
        key = row["label_set"], row["assessor"], row["level"], row["measure"]
        boards[key].append((row["p"], row["p_holm"]))
    assert {len(of) for of in boards.values()} >= {2}
    for of in boards.values():
        so_far, by_p = 0.0, sorted(of)
        expected = []
        for place, (p, _) in enumerate(by_p):
            so_far = max(so_far, min(1, (len(of) - place) * p))
            expected.append(so_far)
        assert [holm for _, holm in by_p] == pytest.approx(expected, abs=1e-7)


def test_boards_are_correlated_without_one_group(strange):
    scores = defaultdict(dict)
    for row in rows(strange, "select * from lake.marts.leaderboard"):
        key = row["label_set"], row["level"], row["measure"]
        scores[key][row["system"]] = row["score_4dp"]
    levels = {
        row["label_set"]: row["level"]
        for row in rows(strange, "select * from lake.marts.usual_levels")
    }
    found = rows(strange, "select * from lake.marts.family_correlation")
    assert {row["group_name"] for row in found} == {"low", "high"}
    known = 0
    for row in found:
        judge = scores[row["label_set"], row["level"], row["measure"]]
        assessor = f"assessor:{row['assessor']}"
        people = scores[assessor, levels[assessor], row["measure"]]
        gone = [f"s{n}" for n in (range(4) if row["group_name"] == "low" else range(4, 8))]
        kept = [system for system in judge if system not in gone and system in people]
        assert (row["n_left_out"], row["n_systems"]) == (4, len(kept))
        for systems, name in ((kept, "kendall"), ([*judge], "kendall_of_all")):
            tau = stats.kendalltau([judge[s] for s in systems], [people[s] for s in systems])
            if row[name] is None:
                assert math.isnan(tau.statistic)
            else:
                assert row[name] == pytest.approx(tau.statistic, abs=1e-9)
                known += 1
    assert known > 100
