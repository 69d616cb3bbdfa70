"""Boards that somebody else computed stand beside the lake's own, as EXAM does in the papers; and
the Workbench's Table 4, EXAM++'s Table 3 as they lay boards out."""

import csv
import io
import json
import random
from pathlib import Path

import pytest
from scipy import stats

from gradelake.analyses.report.boards import read_boards
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.drawn import texts
from tests.lakes import start_lake
from tests.projects import project, write

pytestmark = pytest.mark.slow

OFFICIAL = {"one": 1, "two": 2, "three": 3}
EXAM = {"one": (0.75, 0.02), "two": (0.57, 0.03), "three": (0.6, None), "ghost": (0.1, None)}
# of two queries; `mine` was not submitted
RUNS = {
    "one": {"q1": ["p1", "p2", "p3"], "q2": ["p1"]},
    "two": {"q1": ["p2", "p1", "p3"], "q2": ["p2", "p1"]},
    "three": {"q1": ["p3", "p2", "p1"], "q2": ["p3", "p2"]},
    "mine": {"q1": ["p1"], "q2": ["p2"]},
}
LABELS = {"q1": {"p1": 3, "p2": 2, "p3": 0}, "q2": {"p1": 1, "p2": 3, "p3": 0}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    collection = {
        "queries": "topics.tsv",
        "runs": ["runs/*.run"],
        "judgments": {"me": "me.qrels"},
        "official_ranks": {"official": "official.json"},
        "min_relevant": 2,
    }
    files = {
        "topics.tsv": {"q1": "blue sky", "q2": "red sky"},
        "me.qrels": LABELS,
        "sun.qrels": LABELS,
        "official.json": OFFICIAL,
        "exam.csv": [
            {"system": name, "score": score, "stderr": "" if error is None else error}
            for name, (score, error) in EXAM.items()
        ],
        **{f"runs/{name}.run": run for name, run in RUNS.items()},
    }
    project(folder, {"c": collection}, files=files)
    start_lake(folder)
    gradelake(folder, "ingest", "c")
    gradelake(folder, "import", "labels", "c", "sun.qrels", "--judge", "sun")
    words = ("c", "exam.csv", "--name", "EXAM", "--measure", "Cover@20")
    done = gradelake(folder, "import", "scores", *words)
    assert "wrote 4 scores for c" in done.stdout
    assert "1 of its systems are not in c, such as 'ghost'" in done.stderr
    gradelake(folder, "build")
    return folder


def table(folder: Path, *words: str) -> list[dict[str, str]]:
    written = gradelake(folder, "stats", *words, "--format", "csv").stdout
    return list(csv.DictReader(io.StringIO(written)))


def latex(folder: Path, *words: str) -> str:
    return gradelake(folder, "stats", *words, "--format", "latex").stdout


def success(level: int, system: str, k: int = 20) -> float:
    """The share of the queries with a relevant passage among the first k."""
    runs = RUNS[system]
    hits = [any(LABELS[q][p] >= level for p in ranked[:k]) for q, ranked in runs.items()]
    return sum(hits) / len(hits)


def test_it_correlates_with_official_ranks_in_the_column_of_its_measure(folder):
    """Beside it stand direct judges, whose coverage is Success@20, as in EXAM++'s Table 3."""
    words = ("correlation-table", "c", "--measure", "Cover@20", "--level", "1", "--level", "3")
    rows = {(row["label_set"], row["level"]): row for row in table(folder, *words)}
    expected = stats.kendalltau([EXAM[name][0] for name in OFFICIAL], [-1, -2, -3])[0]
    exam = rows["scores:EXAM", ""]
    assert float(exam["Cover@20 kendall"]) == pytest.approx(expected)
    assert float(exam["Cover@20 spearman"]) == pytest.approx(0.5)
    for level in (1, 3):
        scores = [success(level, name) for name in OFFICIAL]
        found = rows["judge:sun", str(level)]["Cover@20 kendall"]
        if len(set(scores)) == 1:
            assert found == ""
        else:
            assert float(found) == pytest.approx(stats.kendalltau(scores, [-1, -2, -3])[0])
    document = latex(folder, *words)
    assert "Cover@k of judges without items: Success@k, of the query as the only item" in document
    asked = ("sql", "--format", "json", "@correlation", "--measure", "Cover@20")
    (row,) = json_of(folder, *asked, "--label_set", "scores:EXAM")
    assert (row["n_systems"], row["left_out"]) == (3, ["ghost"])
    assert row["kendall"] == pytest.approx(1 / 3)


def test_it_stands_in_tables_and_pictures_of_boards(folder, tmp_path):
    boards = ("--label-set", "judge:sun", "--label-set", "scores:EXAM")
    words = ("leaderboard", "c", *boards, "--measure", "RR", "--measure", "Cover@20", "--stderr")
    rows = {row["system"]: row for row in table(folder, *words)}
    assert {name: float(rows[name]["scores:EXAM Cover@20"]) for name in EXAM} == {
        name: score for name, (score, _) in EXAM.items()
    }
    assert rows["one"]["scores:EXAM Cover@20_stderr"] == "0.02"
    assert rows["mine"]["scores:EXAM Cover@20"] == ""
    alone = latex(folder, "leaderboard", "c", *boards[2:])
    assert "Cover@20, by scores:EXAM, computed elsewhere" in alone
    single = ("--board", "scores:EXAM", "Cover@20", "1", "--board", "judge:sun", "RR", "2")
    picture = tmp_path / "boards.svg"
    gradelake(folder, "stats", "leaderboard", "c", *single, "--picture", str(picture))
    assert "scores:EXAM, Cover@20" in texts(picture.read_text())


def test_a_table_as_the_workbenchs_is_ordered_by_one_level_and_correlated_beneath(folder):
    """Levels 1, 2, 3 in the order of 3; a star where nobody ranked; rows beneath."""
    levels = ("--level", "1", "--level", "2", "--level", "3", "--ordered-by", "3")
    words = ("leaderboard", "c", "--label-set", "judge:sun", "--measure", "RR", *levels)
    style = ("--approximate", "--starred", "--correlation")
    *board, spearman, kendall = table(folder, *words, *style)
    assert [row["system"] for row in board] == ["mine", "two", "one", "three"]
    scores = [float(row["judge:sun 3 RR"]) for row in board]
    assert scores == pytest.approx([1, 0.75, 0.5, 5 / 12])
    by_name = {row["system"]: row for row in board}
    for level in (1, 2, 3):
        scores = [float(by_name[name][f"judge:sun {level} RR"]) for name in OFFICIAL]
        for row, of in ((spearman, stats.spearmanr), (kendall, stats.kendalltau)):
            expected = of([round(score, 4) for score in scores], [-1, -2, -3])[0]
            assert float(row[f"judge:sun {level} RR"]) == pytest.approx(expected)
    assert (spearman["system"], kendall["system"]) == ("Spearman", "Kendall")
    document = latex(folder, *words, *style)
    assert "& mine* &" in document
    assert "& one* &" not in document
    assert "*: no official rank." in document
    assert "In the order of the first column of level 3." in document
    assert document.count(r"\midrule" + "\n & Spearman &") == 1, "a rule stands above"
    told = gradelake(folder, "stats", *words[:-2], "--ordered-by", "5", code=2).stderr
    assert "--ordered-by 5: no column has this level" in told


@pytest.mark.parametrize(
    ("content", "words", "says"),
    [
        ("system,score\none,0.5\n", (), "which measure are these scores?"),
        ("system,score\none,much\n", ("--measure", "AP"), ":2: system 'one': score 'much'"),
        ("system,score\none,1\none,2\n", ("--measure", "AP"), ":3: system 'one' is listed twice"),
        ("system,score,stderr\none,1,-1\n", ("--measure", "AP"), "standard error '-1' is none"),
        ("system,score,measure\none,1,RR\n", ("--measure", "AP"), "leave out --measure"),
        ("system,points\none,1\n", ("--measure", "AP"), "score"),
    ],
)
def test_a_file_with_faults_lands_nothing(folder, content, words, says):
    write(folder / "bad.csv", content)
    told = gradelake(folder, "import", "scores", "c", "bad.csv", "--name", "bad", *words, code=2)
    assert says in told.stderr
    asked = "select count(*) as n from raw.imported_scores where board = 'bad'"
    assert json_of(folder, "sql", "--live", "--format", "json", asked) == [{"n": 0}]


def test_a_file_takes_the_place_of_the_board_of_its_name(folder):
    write(folder / "again.json", {"one": 0.1, "two": 0.2})
    words = ("import", "scores", "c", "again.json", "--name", "again", "--measure", "AP")
    gradelake(folder, *words)
    write(folder / "again.json", {"one": 0.3})
    gradelake(folder, *words)
    asked = "select system, score from raw.imported_scores where board = 'again'"
    found = json_of(folder, "sql", "--live", "--format", "json", asked)
    assert found == [{"system": "one", "score": 0.3}]


def metrics(seed: int) -> list[dict]:
    """Scores of answers on scales of their own, some of which are lacking."""
    draw = random.Random(seed)
    rows = []
    for query in ("q1", "q2", *(f"q{n}" for n in range(3, 31))):
        for system, ahead in (("one", 0.0), ("two", 0.15), ("three", 0.05)):
            row = {"system": system, "query": query, "nDCG@10": draw.random()}
            row["seconds"] = round(draw.lognormvariate(3, 1), 3)
            row["tone"] = "" if draw.random() < 0.1 else round(draw.gauss(ahead, 0.2), 4)
            rows.append(row)
    return rows


@pytest.fixture(scope="module")
def of_queries(tmp_path_factory) -> Path:
    """A lake that knows nothing but what another tool scored, of each query."""
    folder = tmp_path_factory.mktemp("of_queries")
    topics = {f"q{n}": f"question {n}" for n in range(1, 31)}
    project(folder, {"c": {"queries": "topics.tsv"}}, files={"topics.tsv": topics})
    start_lake(folder)
    gradelake(folder, "ingest", "c")
    write(folder / "metrics.jsonl", metrics(11))
    columns = "--column=score=tone, seconds, nDCG*"
    done = gradelake(folder, "import", "scores", "c", "metrics.jsonl", "--name", "lab", columns)
    assert "tone has no score of" in done.stderr
    assert "which" not in done.stderr.split("leave these queries out")[1]
    again = gradelake(folder, "import", "scores", "c", "metrics.jsonl", "--name", "lab", columns)
    assert "unchanged" in again.stdout
    gradelake(folder, "build")
    return folder


@pytest.mark.parametrize("measure", ["tone", "seconds"])
def test_scores_of_queries_are_compared_where_all_systems_have_one(of_queries, measure):
    by_query: dict[str, dict[str, float]] = {}
    for row in metrics(11):
        if row[measure] != "":
            by_query.setdefault(row["query"], {})[row["system"]] = row[measure]
    whole = [of for of in by_query.values() if len(of) == 3]
    board = table(of_queries, "leaderboard", "c", "--label-set", "scores:lab", "--measure", measure)
    means = {row["system"]: float(row[measure]) for row in board}
    for system, mean in means.items():
        assert mean == pytest.approx(sum(of[system] for of in whole) / len(whole), abs=1e-4)
    differences = [of["two"] - of["one"] for of in whole]
    words = ("--label-set", "scores:lab", "--measure", measure, "--format", "json")
    told = json_of(of_queries, "compare", "c", "one", "two", *words)
    exact = stats.permutation_test(
        (differences,), lambda of: sum(of), permutation_type="samples", n_resamples=20_000, rng=1
    )
    assert f"on {len(whole)} queries" in json.dumps(told)
    assert told["p"] == pytest.approx(exact.pvalue, abs=0.02)


def test_a_measure_that_has_the_name_of_one_of_ours_says_so(of_queries):
    asked = "select distinct measure from leaderboard order by all"
    found = json_of(of_queries, "sql", "--format", "json", asked)
    assert [row["measure"] for row in found] == ["ndcg@10 (elsewhere)", "seconds", "tone"]


def test_an_interval_in_the_report_is_on_the_scale_of_the_scores(of_queries):
    asked = "select system, score, stderr, n_queries from lake.marts.leaderboard where "
    asked += "measure = 'seconds' and level = 1"
    with Lake.published(Project.read(of_queries / "gradelake.toml")) as lake:
        found = read_boards(lake, None, "c", ["scores:lab"])["scores:lab"]
        known = {system: rest for system, *rest in lake.rows(asked)}
    ours = found["boards"][1]["seconds"]
    for system, low, high in zip(found["systems"], ours["low"], ours["high"], strict=True):
        score, error, n = known[system]
        far = error * stats.t.ppf(0.975, n - 1)
        assert score > 1
        assert (low, high) == pytest.approx((score - far, score + far), abs=2e-4)


def test_a_gate_refuses_scores_on_scales_for_which_its_bounds_do_not_hold(of_queries):
    words = ("gate", "c", "--system", "two", "--baseline", "one", "--label-set", "scores:lab")
    told = gradelake(of_queries, *words, "--measure", "seconds", code=2)
    assert "seconds goes beyond 0 to 1" in told.stderr


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("one,q1,1\none,q1,2\n", ":3: system 'one' has query 'q1' twice"),
        ("one,q99,1\n", "unknown query 'q99'"),
        ("one,,1\n", ":2: system 'one': no query"),
        ("one,q1,much\n", ":2: system 'one': score 'much' is not a number"),
        ("one,q1,1000000\n", "is not 100,000 at most"),
    ],
)
def test_scores_of_queries_with_faults_land_nothing(of_queries, rows, says):
    write(of_queries / "bad.csv", f"system,query,score\n{rows}")
    words = ("bad.csv", "--name", "bad", "--measure", "m")
    assert says in gradelake(of_queries, "import", "scores", "c", *words, code=2).stderr
    asked = "select count(*) as n from raw.imported_scores where board = 'bad'"
    found = json_of(of_queries, "sql", "--live", "--format", "json", asked)
    assert found == [{"n": 0}]
