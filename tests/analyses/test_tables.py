"""Answers as tables for papers: their numbers are the marts', and their LaTeX holds together."""

import csv
import io
import json
import re

import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gradelake.analyses.answers.agreement import boxed_judgment
from gradelake.analyses.answers.correlation_table import Style
from gradelake.analyses.answers.leaderboard import approximate_ranks
from gradelake.sql.common.spreadsheet import plain_cell, shown_cell
from gradelake.sql.shown.answer import EMPTY, GREY, Answer, Cell, Column, Table
from gradelake.sql.shown.latex import escape, render
from tests.command_line import gradelake, typed
from tests.published import APPROXIMATE_RANKS, RANKS_ON_A_BOARD
from tests.reading import published

pytestmark = pytest.mark.slow


def shown(folder, form: str, *words: str) -> str:
    return typed(folder, " ".join(("stats", *words, "--format", form))).stdout


def latex(folder, *words: str) -> str:
    return shown(folder, "latex", *words)


def csv_rows(folder, *words: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(shown(folder, "csv", *words))))


def as_latex(table: Table, standalone: bool = False) -> str:
    return render(Answer({}, tables=[table]), standalone)


def body(document: str) -> list[str]:
    """Lines between the head's rule and the last."""
    lines = document.splitlines()
    return lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]


def assert_holds_together(document: str, widest: float = 345) -> None:
    """Braces and environments close, every row is as wide as the table, no row is broken."""
    bare = re.sub(r"\\[{}&%$#_]", "", re.sub(r"(?m)^%.*$", "", document))
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    environments = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", bare):
        if what == "begin":
            environments.append(name)
        else:
            assert environments.pop() == name
    assert environments == []
    tables = re.findall(
        r"\\begin\{(tabular|longtable)\}\{([lr]+)\}\n(.*?)\\end\{\1\}", bare, re.DOTALL
    )
    assert tables
    for kind, alignment, inside in tables:
        assert "\n\n" not in inside, "an empty line would end the row"
        rows = [row for row in inside.splitlines() if row.endswith(r"\\") and "caption" not in row]
        assert rows
        for row in rows:
            spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", row)]
            assert row.count("&") + 1 + sum(spans) - len(spans) == len(alignment), row
        assert inside.count(r"\toprule") == (2 if kind == "longtable" else 1)
        assert points_wide(rows, "footnotesize" in bare) <= widest, "an article's lines"


def points_wide(rows: list[str], is_small: bool) -> float:
    """No less than a table's width: letters as wide as bold digits, cells as LaTeX shows them."""
    shown = [re.sub(r"\\textbf|\\fbox|\\(?=_)|[{}]|\$\\?-?", "", row[:-3]) for row in rows]
    cells = [row.split(" & ") for row in shown if "multicolumn" not in row]
    letters = [max(len(cell.replace("rho", "r")) for cell in of) for of in zip(*cells, strict=True)]
    return sum(n * 5.75 * (0.8 if is_small else 1) + (6 if is_small else 12) for n in letters)


def test_agreement_has_a_row_per_label_with_the_kappa_of_its_boxed_judgment(small):
    """Row 4: of 8 pairs, 2 are labelled 4 and 2 judged 3, one both; kappa = (48-40)/(64-40)."""
    document = latex(small, "agreement", "small", "--label-set", "judge:five", "--each-kappa")
    assert body(document) == [
        r"5 & \fbox{\textbf{1}} & 0 & 0 & 0 & 1 & 0.600 \\",
        r"4 & \fbox{\textbf{1}} & \textbf{1} & 0 & 0 & 2 & 0.333 \\",
        r"3 & 0 & \fbox{\textbf{1}} & 0 & 0 & 1 & 0.600 \\",
        r"2 & 0 & \fbox{0} & 0 & 0 & 0 & -- \\",
        r"1 & 0 & \fbox{0} & 0 & 1 & 1 & $-$0.200 \\",
        r"0 & 0 & 0 & \textbf{1} & \fbox{\textbf{2}} & 3 & 0.467 \\",
    ]
    assert r"Label & 3 & 2 & 1 & 0 & Total & Cohen's kappa \\" in document
    assert_holds_together(document)


def test_labels_4_and_0_have_kappas_as_in_rubric_unless_all_are_asked_for(small):
    document = latex(small, "agreement", "small", "--label-set", "judge:five")
    assert body(document) == [
        r"5 & \textbf{1} & 0 & 0 & 0 & 1 &  \\",
        r"4 & \fbox{\textbf{1}} & \textbf{1} & 0 & 0 & 2 & 0.333 \\",
        r"3 & 0 & \textbf{1} & 0 & 0 & 1 &  \\",
        r"2 & 0 & 0 & 0 & 0 & 0 &  \\",
        r"1 & 0 & 0 & 0 & 1 & 1 &  \\",
        r"0 & 0 & 0 & \textbf{1} & \fbox{\textbf{2}} & 3 & 0.467 \\",
    ]
    assert_holds_together(document)


def test_merged_rows_and_columns_are_cut_where_asked(small):
    """At 4 and at min_relevant 2: 3 pairs above on both sides, 1 on the judgments' alone."""
    document = latex(small, "agreement", "small", "--label-set", "judge:five", "--cut", "4")
    assert body(document) == [
        r"4--5 & \fbox{\textbf{3}} & 0 & 3 & 0.750 \\",
        r"0--3 & 1 & \fbox{\textbf{4}} & 5 & 0.750 \\",
    ]
    assert r"Label & 2--3 & 0--1 & Total & Cohen's kappa \\" in document
    assert_holds_together(document)
    rows = csv_rows(small, "agreement small --label-set judge:five --cut 1 --judgment-cut 3")
    assert [list(row.values())[1:4] for row in rows] == [["1-5", "2", "3"], ["0", "0", "3"]]


@pytest.mark.fast
@pytest.mark.parametrize(
    ("highest", "highest_judgment", "relevant", "boxes"),
    [
        (5, 3, 2, [0, 2, 2, 2, 3, 3]),  # as the RUBRIC papers box TREC DL
        (5, 3, 1, [0, 1, 1, 1, 2, 2]),  # and collections where 1 is relevant
        (3, 3, 2, [0, 1, 2, 3]),
        (1, 1, 1, [0, 1]),
        (1, 3, 2, [0, 3]),
        (5, 1, 1, [0, 1, 1, 1, 1, 1]),
    ],
)
def test_a_label_stands_for_the_judgment_that_the_papers_box(
    highest, highest_judgment, relevant, boxes
):
    found = [boxed_judgment(n, highest, highest_judgment, relevant) for n in range(highest + 1)]
    assert found == boxes


def test_several_label_sets_stand_one_above_the_other(demo):
    document = latex(demo, "agreement", "demo")
    assert re.findall(r"\\textit\{(.*?)\}", document) == ["judge:overlap", r"judge:rubric\_overlap"]
    assert_holds_together(document)
    rows = csv_rows(demo, "agreement", "demo")
    n_pairs = dict(
        published(demo).rows(
            "select label_set, sum(n)::int from lake.marts.confusion "
            "where reference = 'assessor:human' group by all"
        )
    )
    for name, n in n_pairs.items():
        assert sum(int(row["total"]) for row in rows if row["label_set"] == name) == n


def test_a_leaderboard_has_printed_scores_with_the_best_bold_and_official_ranks(demo):
    words = "leaderboard demo --label-set assessor:human --measure nDCG@10 --measure AP --ranks"
    document = latex(demo, words)
    assert_holds_together(document)
    assert document.count(r"\textbf") == 2
    rows = csv_rows(demo, words)
    board, above = (
        published(demo).rows(
            f"select system, {columns} from lake.marts.leaderboard where level = 2 "
            "and label_set = 'assessor:human' and measure = ? order by rank, system",
            measure,
        )
        for columns, measure in (("rank, score", "nDCG@10"), ("rank", "AP"))
    )
    assert [(r["system"], int(r["rank"]), float(r["nDCG@10"])) for r in rows] == board
    assert {r["system"]: int(r["AP_rank"]) for r in rows} == dict(above)
    official = json.loads((demo / "official_ranks.json").read_text())
    found = {r["system"]: float(r["official_rank"]) for r in rows if r["official_rank"]}
    assert found == pytest.approx(official)
    best = escape(board[0][0])
    assert rf"1 & {best} & \textbf{{{board[0][2]:.3f}}} & 1 &" in document


def test_boards_of_several_label_sets_and_levels_stand_side_by_side_with_standard_errors(
    graded_demo,
):
    """As the workbench's Table 4 has questions at grades 3, 4 and 5 beside nuggets."""
    label_sets = ("lexical/v0/best", "lexical_nuggets/v0/best")
    words = ["leaderboard", "demo", "--measure", "Cover@20", "--measure", "nDCG@10", "--stderr"]
    for name in label_sets:
        words += ["--label-set", name]
    for level in ("3", "4", "5"):
        words += ["--level", level]
    document = latex(graded_demo, *words)
    assert_holds_together(document)
    once = re.sub(r"(?s)\\endfirsthead.*?\\endhead", "", document)  # of several parts
    heads = re.findall(r"Rank & System & (.*) \\\\", once)
    heads = " & ".join(heads).removesuffix(" & Official").split(" & ")
    names = [f"Cover@20 ({level})" for level in (3, 4, 5)]
    names.insert(1, "nDCG@10")  # knows no level, and stands once
    assert heads == [head for name in 2 * names for head in (name, "$\\pm$")]
    assert "Official" in document
    rows = csv_rows(graded_demo, *words)
    board = published(graded_demo).rows(
        "select label_set, level, measure, system, score, stderr "
        "from lake.marts.leaderboard where level in (3, 4, 5) "
        "and (measure = 'Cover@20' or measure = 'nDCG@10' and level = 3)"
    )
    found = {row["system"]: row for row in rows}
    compared = [row for row in board if row[0] in label_sets]
    assert len(compared) == 2 * 4 * len(rows)
    for label_set, level, measure, system, score, error in compared:
        key = f"{label_set} {level} {measure}"
        assert float(found[system][key]) == score
        assert float(found[system][f"{key}_stderr"]) == error
    order = [float(row["lexical/v0/best 3 Cover@20"]) for row in rows]
    assert order == sorted(order, reverse=True)


def test_beside_scores_stand_intervals_and_letters_as_stats_ranks_has_them(demo):
    words = ("demo", "--label-set", "judge:overlap", "--measure", "AP")
    rows = csv_rows(demo, "leaderboard", *words, "--interval", "--groups")
    done = gradelake(demo, "stats", "ranks", *words, "--json")
    systems = {one["system"]: one for one in json.loads(done.stdout)["systems"]}
    assert len(rows) == len(systems)
    for row in rows:
        one = systems[row["system"]]
        half = (one["high"] - one["low"]) / 2
        assert float(row["AP_half_interval"]) == pytest.approx(half, abs=1e-8)
        assert row["AP_groups"] == one["groups"]
    document = latex(demo, "leaderboard", *words, "--interval", "--groups")
    assert_holds_together(document)
    assert r"Rank & System & score & $\pm$ & groups & Official \\" in document
    assert "half of its 95\\% interval over queries (Student's t)" in document
    assert "share a letter do not differ significantly (randomised Tukey HSD" in document


@pytest.mark.fast
def test_a_system_that_was_not_submitted_has_about_the_rank_that_the_workbench_says():
    ranks = {system: rank for system, rank in RANKS_ON_A_BOARD.items() if rank}
    assert approximate_ranks([*RANKS_ON_A_BOARD], ranks) == APPROXIMATE_RANKS
    assert approximate_ranks(["a", "b"], {}) == {"a": 1, "b": 1}


def test_about_which_official_ranks_other_systems_would_have_stands_in_the_board(demo):
    words = ("leaderboard", "demo", "--label-set", "judge:overlap", "--measure", "AP")
    rows = csv_rows(demo, *words, "--approximate")
    official = json.loads((demo / "official_ranks.json").read_text())
    expected = approximate_ranks([row["system"] for row in rows], official)
    shown = {row["system"]: row["official_rank"] for row in rows}
    assert {system: shown[system] for system in expected} == {
        system: f"~{rank:g}" for system, rank in expected.items()
    }
    assert {system: float(shown[system]) for system in official} == official
    assert all(
        not row["official_rank"] for row in csv_rows(demo, *words) if row["system"] in expected
    )
    document = latex(demo, *words, "--approximate")
    assert document.count(r"\textasciitilde{}") == len(expected) + 1
    assert_holds_together(document)


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        ("Cover@20", "a grade of 4 or higher answers an item of the rubric. Bold"),
        ("AP", "passages labelled 4 or higher are relevant. Bold"),
        ("nDCG@10", "by the labels of lexical/v0/best. Bold"),
    ],
)
def test_a_caption_says_what_the_level_means_for_the_measure(graded_demo, measure, says):
    words = ("--label-set", "lexical/v0/best", "--level", "4", "--measure", measure)
    assert says in latex(graded_demo, "leaderboard", "demo", *words)


@pytest.mark.fast
def test_a_table_wider_than_a_page_comes_in_parts_that_repeat_what_the_rows_are():
    key = Column("system", "System", is_key=True)
    columns = [
        Column(f"m{m} {head}", head, "score", group=f"m{m}", is_beside=head != "score")
        for m in range(12)
        for head in ("score", "stderr")
    ]
    rows = [
        ["one", *(i / 100 for i in range(24))],
        [Cell("two", shown=""), *[EMPTY] * 22, 0.5, 0.1],
    ]
    document = as_latex(Table("leaderboard", [key, *columns], rows, "x"))
    assert_holds_together(document)
    heads = re.findall(r"System & (.*) \\\\", document)
    assert len(heads) > 1
    assert " & ".join(heads) == " & ".join(12 * [r"score & $\pm$"])
    assert all(head.endswith(r"$\pm$") for head in heads), "none is cut from its score"
    assert document.count("one &") == len(heads)
    assert document.count(" & 0.500 & 0.100") == 1, "a row stands where it says something"
    assert document.count("\n &") == 1
    long = as_latex(Table("leaderboard", [key, *columns], rows * 30, "x"), standalone=True)
    assert_holds_together(long)
    assert long.count(r"\caption[]{(continued)}") == len(heads) - 1


def test_a_leaderboard_is_of_the_only_label_set_without_being_told(small):
    (row,) = csv_rows(small, "leaderboard", "one", "--measure", "AP")
    assert (row["system"], row["AP"]) == ("only", "1.0")


def test_correlations_are_scipys_on_printed_scores(demo):
    rows = csv_rows(demo, "correlation-table", "demo", "--measure", "nDCG@10", "--measure", "P@10")
    official = json.loads((demo / "official_ranks.json").read_text())
    assert {(r["label_set"], r["level"]) for r in rows} >= {("judge:overlap", "1")}
    for row in rows:
        board = csv_rows(
            demo, "leaderboard", "demo", "--label-set", row["label_set"], "--level", row["level"]
        )
        board = [system for system in board if system["official_rank"]]
        ranks = [-official[system["system"]] for system in board]
        for measure in ("nDCG@10", "P@10"):
            scores = [float(system[measure]) for system in board]
            if len(set(scores)) == 1:
                assert row[f"{measure} kendall"] == ""
                continue
            for name, function in (("kendall", stats.kendalltau), ("spearman", stats.spearmanr)):
                theirs = function(scores, ranks).statistic
                assert float(row[f"{measure} {name}"]) == pytest.approx(theirs, abs=1e-9)


def test_correlations_have_three_decimals_and_each_columns_best_is_bold(demo):
    document = latex(
        demo,
        "correlation-table demo --label-set assessor:human --label-set judge:overlap "
        "--level 2 --measure nDCG@10",
    )
    assert_holds_together(document)
    rows = [line.removesuffix(r" \\").split(" & ") for line in body(document) if "&" in line]
    assert [row[:2] for row in rows] == [["assessor:human", "2"], ["judge:overlap", "2"]]
    for column in (2, 3):
        peoples, judges = (row[column] for row in rows)
        assert re.fullmatch(r"\d\.\d{3}", peoples), "their labels made the official ranks"
        assert re.fullmatch(r"\\textbf\{\d\.\d{3}\}", judges)
    assert r"$\rho$ & $\tau$" in document


def test_what_is_as_good_as_the_best_is_bold_and_each_row_counts_its_wins(demo):
    """RUBRIC takes methods within 0.05 of the best of a column for equally good."""
    words = (
        "correlation-table",
        "demo",
        "--measure",
        "AP",
        "--measure",
        "P@10",
        "--within",
        "0.05",
    )
    rows = csv_rows(demo, *words)
    people = [row for row in rows if row["label_set"] == "assessor:human"]
    judges = [row for row in rows if row not in people]
    assert {row["wins"] for row in people} == {""}
    columns = [f"{m} {s}" for m in ("AP", "P@10") for s in ("spearman", "kendall")]
    shown = [{c: round(float(row[c]), 3) for c in columns if row[c]} for row in judges]
    best = {c: max(row[c] for row in shown if c in row) for c in columns}
    wins = [sum(value >= best[c] - 0.05 - 1e-9 for c, value in row.items()) for row in shown]
    assert [int(row["wins"]) for row in judges] == wins
    assert len({*wins}) > 1
    assert latex(demo, *words).count(r"\textbf") == sum(wins)


def test_what_overlaps_the_best_within_standard_errors_is_bold(demo):
    """As EXAM++ takes methods for equally good; the errors are those of `stats correlation`."""
    words = (
        "correlation-table demo --measure RR --level 1 --level 2 --overlapping --replicates 200",
    )
    rows = csv_rows(demo, *words)
    judges = [row for row in rows if not row["label_set"].startswith("assessor:")]
    errors = {}
    for level in ("1", "2"):
        line = f"stats correlation demo --measure RR --level {level} --replicates 200 --json"
        for one in json.loads(typed(demo, line).stdout)["correlations"]:
            error = one["queries_standard_error"]
            errors[one["label_set"], level, one["statistic"]] = error
    for name in ("spearman", "kendall"):
        shown = [
            (round(float(row[f"RR {name}"]), 3), errors[row["label_set"], row["level"], name])
            for row in judges
        ]
        best, its_error = max(shown)
        for row, (value, error) in zip(judges, shown, strict=True):
            row[name] = value + error >= best - its_error - 1e-9
    wins = [row["spearman"] + row["kendall"] for row in judges]
    assert [int(row["wins"]) for row in judges] == wins
    assert 1 < sum(wins) < 2 * len(wins), "some overlap, others do not"
    document = latex(demo, *words, "--grey-below", "0.9")
    assert document.count(r"\textbf") == sum(wins)
    values = [float(row[f"RR {name}"]) for row in rows for name in ("spearman", "kendall")]
    assert document.count(r"\textcolor{gray}") == sum(value < 0.9 for value in values)
    assert ",xcolor}" in document
    assert "standard errors of resampled queries (median" in document


@pytest.mark.fast
def test_a_dagger_says_that_all_systems_are_perfect():
    style = Style(grey_below=0.5)
    cells = [style.cell(None, None, is_perfect=flag) for flag in (True, False)]
    assert [cell.value for cell in cells] == [None, None]
    assert [Column("tau", kind="tau").text(cell) for cell in cells] == ["\u2020", "--"]
    assert escape("\u2020") == r"\textdagger{}"
    grey = [
        GREY in style.cell(value, None, is_perfect=False).marks for value in (0.4999, 0.5, None)
    ]
    assert grey == [True, False, False]


def test_one_column_can_be_named_and_what_knows_no_level_repeated(demo):
    words = (
        "correlation-table",
        "demo",
        "--label-set",
        "judge:overlap",
        "--level",
        "1",
        "--level",
        "2",
    )
    rows = csv_rows(demo, *words, "--measure", "'AP spearman'", "--measure", "nDCG@10")
    assert list(rows[0])[2:5] == ["AP spearman", "nDCG@10 spearman", "nDCG@10 kendall"]
    lines = body(latex(demo, *words, "--measure", "nDCG@10", "--repeated"))
    first, second = (line.removesuffix(r" \\").split(" & ")[2:] for line in lines)
    assert first == second
    assert len(first) == 2


def test_by_topic_stands_the_mean_of_the_topics_own_correlations(demo):
    words = "correlation-table demo --label-set judge:overlap --level 1 --reference assessor:human"
    (row,) = csv_rows(demo, words, "--measure", "AP", "--by-topic")
    values = published(demo).rows(
        "select query_id, system, round(ours.value, 4), round(theirs.value, 4) "
        "from lake.marts.topic_scores as ours inner join lake.marts.topic_scores as theirs "
        "using (collection, measure, query_id, system) where measure = 'AP' and ours.level = 1 "
        "and theirs.level = 2 and ours.label_set = 'judge:overlap' "
        "and theirs.label_set = 'assessor:human'"
    )
    for name, function in (("kendall", stats.kendalltau), ("spearman", stats.spearmanr)):
        found = []
        for query in {query for query, *_ in values}:
            ours, theirs = zip(*(pair for q, _, *pair in values if q == query), strict=True)
            if len(set(ours)) > 1 < len(set(theirs)):
                found.append(function(ours, theirs).statistic)
        assert float(row[f"AP by topic {name}"]) == pytest.approx(sum(found) / len(found))
        assert row[f"AP {name}"] != row[f"AP by topic {name}"]


def test_labels_are_counted_beside_their_agreement(demo, tmp_path):
    """As UMBRELA's Tables 1 and 2 have runs, topics and labels, kappas and correlations."""
    rows = {row["label_set"]: row for row in csv_rows(demo, "labels demo --measure AP")}
    assert next(iter(rows)) == "assessor:human"
    typed(demo, f"export qrels demo --all {tmp_path / 'qrels'}")
    labels = {
        name: {
            (query, passage): max(0, int(label))
            for query, _, passage, label in map(
                str.split,
                (tmp_path / "qrels" / f"{name.replace(':', '.')}.qrels").read_text().splitlines(),
            )
        }
        for name in rows
    }
    human = labels["assessor:human"]
    for name, row in rows.items():
        assert int(row["topics"]) == len({query for query, _ in labels[name]})
        assert int(row["runs"]) == 11
        counted = {n: int(row[f"label_{n}"]) for n in range(4)}
        assert counted == {n: list(labels[name].values()).count(n) for n in range(4)}
    row = rows["judge:overlap"]
    both = [
        (labels["judge:overlap"][pair], human[pair])
        for pair in human
        if pair in labels["judge:overlap"]
    ]
    ours, theirs = zip(*both, strict=True)
    assert float(row["kappa"]) == pytest.approx(cohen_kappa_score(ours, theirs))
    two = cohen_kappa_score([label >= 2 for label in ours], [label >= 2 for label in theirs])
    assert float(row["kappa_binary"]) == pytest.approx(two)
    line = "correlation-table demo --label-set judge:overlap --level 2 --measure AP"
    (other,) = csv_rows(demo, line, "--reference", "assessor:human")
    assert [row["kendall"], row["spearman"]] == [other["AP kendall"], other["AP spearman"]]


def test_a_measure_that_knows_no_level_stands_once_for_each_label_set(demo):
    label_sets = ["assessor:human", "judge:overlap", "judge:rubric_overlap"]
    alone = csv_rows(demo, "correlation-table", "demo", "--measure", "nDCG@10")
    assert [row["label_set"] for row in alone] == label_sets
    words = ("correlation-table", "demo", "--measure", "nDCG@10", "--measure", "AP")
    lines = [line.split(" & ") for line in body(latex(demo, *words)) if "&" in line]
    assert len(lines) > len(label_sets)
    assert [line[0].replace("\\", "") for line in lines if line[2]] == label_sets
    values = {(row["label_set"], row["nDCG@10 kendall"]) for row in csv_rows(demo, *words)}
    assert len(values) == len(label_sets), "in CSV it is in every row"


def test_another_label_sets_leaderboard_can_be_the_reference(demo):
    words = "correlation-table demo --label-set judge:overlap --level 1 --reference assessor:human"
    (row,) = csv_rows(demo, words, "--measure", "AP")
    pairs = published(demo).rows(
        "select ours.score_4dp, theirs.score_4dp from lake.marts.leaderboard as ours "
        "inner join lake.marts.leaderboard as theirs using (collection, measure, system) "
        "where measure = 'AP' and ours.label_set = 'judge:overlap' and ours.level = 1 "
        "and theirs.label_set = 'assessor:human' and theirs.level = 2"
    )
    theirs = stats.kendalltau(*zip(*pairs, strict=True)).statistic
    assert float(row["AP kendall"]) == pytest.approx(theirs, abs=1e-9)


def test_json_has_what_csv_has_unrounded_and_null_where_undefined(small):
    words = ("agreement", "small", "--label-set", "judge:five", "--each-kappa")
    answer = json.loads(shown(small, "json", *words))
    assert (answer["collection"], answer["reference"]) == ("small", "assessor:me")
    rows = answer["agreement"]
    assert [row["label"] for row in rows] == ["5", "4", "3", "2", "1", "0"]
    assert [row["kappa"] for row in rows] == pytest.approx(
        [0.6, 1 / 3, 0.6, None, -0.2, 14 / 30], abs=1e-9
    )
    in_csv = csv_rows(small, *words)
    assert in_csv == [{key: "" if v is None else str(v) for key, v in row.items()} for row in rows]


def test_a_file_is_written_whole_and_a_standalone_document_compiles_by_its_shape(small):
    done = typed(small, "stats agreement small --label-set judge:five --standalone -o table.tex")
    assert done.stdout == "table.tex: wrote 6 rows\n"
    document = (small / "table.tex").read_text()
    assert document.startswith(r"\documentclass{article}")
    assert document.endswith("\\end{document}\n")
    assert_holds_together(document)


@pytest.mark.fast
def test_long_names_of_systems_go_over_lines():
    names = [f"a_{'long-name/' * 8}{n}" for n in range(60)]
    columns = [Column("system", "System", is_key=True)]
    columns += [Column(f"P@{n}", kind="score") for n in (5, 10, 20, 50)]
    document = as_latex(Table("leaderboard", columns, [[name, *[0.5] * 4] for name in names], "x"))
    assert document.count(r"\begin{longtable}{p{172pt}rrrr}") == 1, "one part"
    name = r"\raggedright a\_\allowbreak{}long-\allowbreak{}name/\allowbreak{}long-"
    assert name in document
    assert "0.500 & 0.500" in document


@pytest.mark.fast
def test_what_latex_would_take_for_a_command_is_escaped():
    assert escape(r"50%_{a}&#$~^\ <b>|") == (
        r"50\%\_\{a\}\&\#\$\textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}b\textgreater{}\textbar{}"
    )
    assert escape("two\nlines\x00") == "two lines "


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("agreement small --label-set judge:elsewhere", "is not compared with"),
        ("agreement small --cut 6", "--cut 6: labels are 0-5"),
        ("agreement small --cut 4 --judgment-cut 0", "--judgment-cut 0: labels"),
        ("agreement small --judgment-cut 2", "--judgment-cut goes with --cut"),
        ("leaderboard small --label-set judge:five", "no level 2"),
        ("leaderboard small", "--label-set NAME: assessor:me, judge:elsewhere, judge:five."),
        ("correlation-table small", "'small' has no official leaderboards"),
        ("correlation-table small --leaderboard a --reference b", "cannot be used together"),
        (
            "correlation-table small --reference judge:five --by-topic",
            "Say --reference assessor:NAME",
        ),
        ("leaderboard one --stderr --interval", "--interval cannot be used together"),
        ("agreement small --format csv --standalone", "--standalone is for LaTeX"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(small, line, said):
    done = typed(small, f"stats {line}", code=2)
    assert said in done.stderr
    assert done.stdout == ""


def test_cuts_and_numbers_stand_in_csv_as_they_are(demo):
    for text in ("=0|=0", "=-1|=3", "-0.5", "+12", "-1e-05", ">=1|>=2"):
        assert shown_cell(text) == plain_cell(text) == text
    for text in ("=0|=A1", "=cmd|=0", "-1+1", "+1x", "=0|=0\n", "=0", "'=0"):
        assert shown_cell(text) == f"'{text}"
        assert plain_cell(f"'{text}") == text
    boxed = "select cut from kappa where kind = 'boxed' order by label_cut, reference_cut limit 1"
    assert typed(demo, f'sql "{boxed}" --format csv').stdout == "cut\n=0|=0\n"


def test_judges_stand_beside_each_other_with_the_marts_figures(demo):
    rows = csv_rows(demo, "judges", "demo", "--measure", "AP")
    lake = published(demo)
    names = [row["label_set"] for row in rows]
    assert set(names) == {"judge:overlap", "judge:rubric_overlap"}
    kappas, taus = (
        dict(lake.rows(f"select label_set, {columns} and reference = 'assessor:human'"))
        for columns in (
            "kappa from lake.marts.kappa inner join lake.marts.usual_levels as levels "
            "using (collection, label_set) where kind = 'binary' and label_cut = level "
            "and reference_cut = 2",
            "kendall from lake.marts.leaderboard_agreement inner join lake.marts.usual_levels "
            "using (collection, label_set, level) where measure = 'AP'",
        )
    )
    for row in rows:
        assert float(row["kappa"]) == kappas[row["label_set"]]
        assert float(row["kendall"]) == taus[row["label_set"]]
    assert names == sorted(names, key=lambda name: -taus[name])
    document = latex(demo, "judges", "demo")
    assert_holds_together(document)
    assert document.count(r"\textbf") >= 8
    wrong = gradelake(demo, "stats", "judges", "demo", "--measure", "APP", code=2)
    assert "--measure 'APP': there is none" in wrong.stderr


def test_any_answer_and_statistic_is_latex_where_asked(demo, tmp_path):
    asked = "sql @leaderboard --measure AP --label-set judge:overlap"
    rows = json.loads(typed(demo, f"{asked} --format json").stdout)
    typed(demo, f"{asked} --output {tmp_path}/board.tex")
    document = typed(demo, f"{asked} --format latex").stdout
    assert document == (tmp_path / "board.tex").read_text()
    assert_holds_together(document, widest=1000)
    cells = [line.removesuffix(r" \\").split(" & ") for line in body(document)]
    systems = list(rows[0]).index("system")
    assert [row[systems] for row in cells] == [escape(row["system"]) for row in rows]
    odd = typed(
        demo, 'sql "select \'a_b & 50%\' as ""x_y"", -1.5 as n, null::int as m" --format latex'
    )
    assert r"x\_y & n & m \\" in odd.stdout
    assert r"a\_b \& 50\% & $-$1.5 & -- \\" in odd.stdout
    stat = "stats ranks demo --measure AP --label-set judge:overlap --replicates 50"
    done = typed(demo, f"{stat} --format latex")
    assert_holds_together(done.stdout, widest=1000)
    ranks = json.loads(typed(demo, f"{stat} --json").stdout)["systems"]
    assert [line.split(" & ")[1] for line in body(done.stdout)] == [
        escape(one["system"]) for one in ranks
    ]
    assert re.search("^% .*share a letter", done.stdout)
    comma = list(csv.DictReader(io.StringIO(typed(demo, f"{stat} --format csv").stdout)))
    assert [float(row["score"]) for row in comma] == [one["score"] for one in ranks]
    assert "cannot be used together" in typed(demo, f"{stat} --json --format csv", code=2).stderr
