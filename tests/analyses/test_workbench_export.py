"""`gradelake export workbench`: lists, qrels, boards and tables, as plain Python counts them."""

import csv
import json
import re
from collections import Counter, defaultdict
from statistics import mean, stdev

import pytest
from scipy import stats

from tests import oracle
from tests.command_line import gradelake

pytestmark = pytest.mark.slow
NAME = "lexical.v0.best"


@pytest.fixture(scope="module")
def written(graded_demo, tmp_path_factory):
    """The folder of the export, at ratings 4 and 3, of the grader `lexical`."""
    folder = tmp_path_factory.mktemp("workbench") / "out"
    words = ("--label-set", "lexical/v0/best", "--min-rating", "4", "--min-rating", "3")
    done = gradelake(graded_demo, "export", "workbench", "demo", str(folder), *words)
    assert done.stdout == f"{folder}: wrote 16 files\n"
    return folder


@pytest.fixture(scope="module")
def graded(graded_demo, tmp_path_factory):
    """(query, its paragraphs, passage -> item -> grade by `lexical`) of the exported grades."""
    file = tmp_path_factory.mktemp("graded") / "graded.jsonl"
    gradelake(graded_demo, "export", "grades", "demo", "--grader", "lexical", "--output", str(file))
    found = []
    for line in file.read_text().splitlines():
        query, paragraphs = json.loads(line)
        grades = {
            each["paragraph_id"]: {
                one["question_id"]: one["self_rating"] for one in entry["self_ratings"]
            }
            for each in paragraphs
            for entry in each.get("exam_grades", [])
        }
        found.append((query, paragraphs, grades))
    return found


def cells(file) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text().splitlines()]


def judged(paragraph) -> list[int]:
    return [one["relevance"] for one in paragraph["paragraph_data"]["judgments"]]


def test_the_files_have_the_workbenchs_names(written):
    each = [
        f"demo-rubric-{kind}-leaderboard-{NAME}-min{rating}{end}"
        for kind, of in (("qrels", ".solo.mrr"), ("cover", ".solo"))
        for n in (3, 4)
        for rating, end in ((f"rating-{n}", f"{of}.tsv"), (f"level-{n}", ".correlation.tsv"))
    ]
    names = ("verify-grading", "bad-question", "uncovered-passages", "grid-display")
    assert sorted(file.name for file in written.iterdir()) == sorted(
        [
            *each,
            *(f"demo-{name}.txt" for name in names),
            *(f"demo-rubric-qrels-{NAME}-minrating-{n}.solo.qrels" for n in (3, 4)),
            f"demo-rubric-inter-annotator-{NAME}.tex",
            "official_demo_leaderboard.json",
        ]
    )


def test_coverage_is_what_the_workbench_counts(written, graded):
    for rating in (3, 4):
        of_system = defaultdict(lambda: ([], []))
        for _, paragraphs, grades in graded:
            first_20 = defaultdict(list)
            for each in paragraphs:
                for ranking in each["paragraph_data"]["rankings"]:
                    if ranking["rank"] <= 20:
                        first_20[ranking["method"]].append(each["paragraph_id"])
            answered = {p: {i for i, n in of.items() if n >= rating} for p, of in grades.items()}
            items = set().union(*grades.values())
            known = set().union(*answered.values())
            for system, passages in first_20.items():
                n = len(set().union(*(answered.get(passage, set()) for passage in passages)))
                of_system[system][0].append(n / len(items))
                of_system[system][1].append(n / len(known) if known else 0)
        file = written / f"demo-rubric-cover-leaderboard-{NAME}-minrating-{rating}.solo.tsv"
        head, *rows = cells(file)
        assert head[0] == "method"
        assert [row[0] for row in rows] == sorted(of_system)
        for system, score, _, error, normal, _, normal_error, _ in rows:
            expected = [
                figure
                for values in of_system[system]
                for figure in (mean(values), stdev(values) / len(values) ** 0.5)
            ]
            found = list(map(float, (score, error, normal, normal_error)))
            assert found == pytest.approx(expected, abs=5.1e-5)


def test_qrels_give_the_boards_scores_and_their_correlation_is_scipys(written, graded_demo):
    ranks = json.loads((written / "official_demo_leaderboard.json").read_text())
    assert ranks == json.loads((graded_demo / "official_ranks.json").read_text())
    runs = oracle.read_runs(graded_demo / "runs")
    runs |= oracle.read_answers(graded_demo / "responses.jsonl")
    for rating in (3, 4):
        qrels = written / f"demo-rubric-qrels-{NAME}-minrating-{rating}.solo.qrels"
        board = f"demo-rubric-qrels-leaderboard-{NAME}-minlevel-{rating}.correlation.tsv"
        _, *rows, spearman, kendall = cells(written / board)
        labels = oracle.read_qrels(qrels)
        expected = {
            system: sum(each["RR"] for each in oracle.evaluate(labels, run, 1).values())
            / len(labels)
            for system, run in runs.items()
        }
        assert {row[0]: float(row[1]) for row in rows} == pytest.approx(expected, abs=5.1e-5)
        known = [row for row in rows if row[0] in ranks]
        assert [float(row[7]) for row in known] == [ranks[row[0]] for row in known]
        pairs = [float(row[1]) for row in known], [-ranks[row[0]] for row in known]
        assert [spearman[0], kendall[0]] == ["spearman", "kendall"]
        assert float(spearman[1]) == pytest.approx(stats.spearmanr(*pairs)[0], abs=5.1e-4)
        assert float(kendall[1]) == pytest.approx(stats.kendalltau(*pairs)[0], abs=5.1e-4)


def test_lists_have_what_is_graded_spurious_and_uncovered(written, graded):
    lists = {
        name: (written / f"demo-{name}.txt").read_text()
        for name in ("verify-grading", "bad-question", "uncovered-passages")
    }
    n_grades = sum(len(of) for *_, grades in graded for of in grades.values())
    assert sum(line.count("\t") == 3 for line in lists["verify-grading"].splitlines()) == n_grades
    spurious, uncovered = defaultdict(int), []
    for _, paragraphs, grades in graded:
        for each in paragraphs:
            of = grades.get(each["paragraph_id"])
            if not of or not judged(each):
                continue
            if min(judged(each)) < 1:  # as the workbench has it, whatever counts as relevant
                for item, grade in of.items():
                    spurious[item] += grade >= 4
            elif min(judged(each)) >= 2 and max(of.values()) < 4:
                uncovered.append(
                    [each["paragraph_id"], str(min(judged(each))), str(max(of.values()))]
                )
    rows = [line.split("\t") for line in lists["bad-question"].splitlines()]
    found = {row[0]: int(row[1]) for row in rows if len(row) == 3}
    assert found == {item: n for item, n in spurious.items() if n}
    rows = [line.split("\t") for line in lists["uncovered-passages"].splitlines()]
    assert sorted(row[:3] for row in rows if len(row) == 4) == sorted(uncovered)


def test_grids_have_a_row_for_each_passage_best_first(written, graded):
    with (written / "demo-grid-display.txt").open(newline="") as file:
        rows = list(csv.reader(file))
    heads = [n for n, row in enumerate(rows) if row[:1] == ["queryid"]]
    assert [rows[n][1] for n in heads] == sorted(query for query, *_ in graded)
    by_query = {query: grades for query, _, grades in graded}
    for n, end in zip(heads, [*(n - 1 for n in heads[1:]), len(rows)], strict=True):
        grades, items = by_query[rows[n][1]], rows[n + 1][2::2]
        shown = {
            row[0]: {i: int(g) for i, g in zip(items, row[2::2], strict=True) if g}
            for row in rows[n + 3 : end]
        }
        assert shown == {passage: of for passage, of in grades.items() if of}
        means = [mean(of.values()) for of in shown.values()]
        assert means == sorted(means, reverse=True)


def test_what_cannot_be_written_is_said(graded_demo, tmp_path):
    for words, said in (
        ((str(tmp_path),), "is there already"),
        ((str(tmp_path / "x"), "--label-set", "judge:lexical_direct"), "has no labels by a rubric"),
        ((str(tmp_path / "x"), "--measure", "nDCG@7"), "nDCG@7 is not computed"),
        ((str(tmp_path / "x"), "--min-rating", "6"), "--min-rating 6: labels of 'lexical"),
    ):
        done = gradelake(graded_demo, "export", "workbench", "demo", *words, code=2)
        assert said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("section", "cut"), [("lenient", 1), ("strict", 2)])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_agreement_takes_so_many_answers_and_its_kappa_is_that_of_a_formula(
    written, graded, section, cut, n
):
    tex = (written / f"demo-rubric-inter-annotator-{NAME}.tex").read_text()
    table = tex.split(f"label{{tab:agreement-{n}-{section}}}")[1].split("bottomrule")[0]
    row = next(line for line in table.splitlines() if line.startswith("4"))
    _, *shown = re.findall(r"-?[0-9.]+", row.replace("$-$", "-").replace("4--5", "4"))
    met = Counter()
    for _, paragraphs, grades in graded:
        for each in paragraphs:
            if judged(each) and (of := grades.get(each["paragraph_id"])):
                best = sorted(of.values(), reverse=True)
                label = best[n - 1] if len(best) >= n else 0
                met[label >= 4, max(judged(each)) >= cut] += 1
    total = met.total()
    ours, theirs = (sum(k for pair, k in met.items() if pair[at]) / total for at in (0, 1))
    chance = ours * theirs + (1 - ours) * (1 - theirs)
    kappa = ((met[True, True] + met[False, False]) / total - chance) / (1 - chance)
    assert [float(cell) for cell in shown] == pytest.approx(
        [met[True, True], met[True, False], met[True, True] + met[True, False], kappa], abs=0.0051
    )
