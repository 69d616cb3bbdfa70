"""A judge that labelled half of what people judged is marked wherever its board is shown."""

import csv
import io
import shutil
from collections import Counter
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, json_of
from tests.drawn import texts
from tests.projects import write
from tests.report_page import Page

pytestmark = pytest.mark.slow

HALF = "judge:half"


@pytest.fixture(scope="module")
def folder(demo, tmp_path_factory) -> Path:
    """The demo with a judge whose labels are every second line of another's."""
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("incomplete") / "demo")
    lines = (folder / "labels" / "overlap.qrels").read_text().splitlines(keepends=True)
    (folder / "half.qrels").write_text("".join(lines[::2]))
    gradelake(folder, "import", "labels", "demo", "half.qrels", "--judge", "half")
    gradelake(folder, "build")
    return folder


def pairs(file: Path) -> dict[tuple[str, str], int]:
    lines = (line.split() for line in file.read_text().splitlines())
    return {(query, passage): int(label) for query, _, passage, label in lines}


def rows(folder: Path, *words: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gradelake(folder, *words, "--format", "csv").stdout)))


def share(folder: Path) -> float:
    """Of the judged pairs, how many the files of labels have."""
    judged = pairs(folder / "judgments.qrels")
    return len(judged.keys() & pairs(folder / "half.qrels").keys()) / len(judged)


@pytest.mark.parametrize("mart", ["label_completeness", "leaderboard_correlation"])
def test_the_marts_say_which_share_is_labelled_and_that_it_is_too_little(folder, mart):
    with Lake.published(Project.find(folder)) as lake:
        found = lake.rows(
            f"select distinct label_set, labelled_share, is_incomplete from lake.marts.{mart}"
        )
    complete = {"assessor:human", "judge:overlap", "judge:rubric_overlap"}
    assert {row for row in found if row[0] != HALF} == {(name, 1, False) for name in complete}
    ((_, labelled, is_incomplete),) = (row for row in found if row[0] == HALF)
    assert labelled == pytest.approx(share(folder), abs=1e-9)
    assert 0.4 < labelled < 0.6
    assert is_incomplete


def test_a_row_of_a_board_is_as_complete_as_what_its_system_ranks_high(folder):
    """Nobody says of one row that much is unlabelled and that all is labelled."""
    entries = Counter()  # (system, k) -> how many it has among the top k of all queries
    for file in (folder / "runs").iterdir():
        of_query = Counter(line.split()[0] for line in file.read_text().splitlines())
        for k in (10, 20, 100):
            entries[file.stem, k] = sum(min(n, k) for n in of_query.values())
    with Lake.published(Project.find(folder)) as lake:
        found = lake.rows(
            "select label_set, system, split_part(measure, '@', 2), n_unlabelled_at_k, "
            "labelled_share, is_incomplete from lake.marts.leaderboard "
            "where system != 'answer_writer'"
        )
    seen = set()
    for label_set, system, k, unlabelled, labelled, is_incomplete in found:
        of_judged = share(folder) if label_set == HALF else 1
        of_ranked = 1 - unlabelled / entries[system, int(k)] if k else 1
        assert labelled == pytest.approx(min(of_judged, of_ranked), abs=1e-9)
        assert is_incomplete == (labelled < 0.9)
        seen.add((label_set, is_incomplete))
    assert {("assessor:human", True), ("assessor:human", False)} < seen


def test_boards_tables_statistics_and_pictures_mark_it(folder, tmp_path):
    places = rows(folder, "sql", "@boards")[0]["places"]
    assert places.count("(incomplete)") == 1
    says = f"{HALF} is incomplete: it labels {share(folder):.0%} of the pairs that people judged"
    table = ("stats", "correlation-table", "demo", "--measure", "AP")
    latex = gradelake(folder, *table, "--format", "latex").stdout
    assert latex.count(f"{HALF} (incomplete) &") == 1
    marked = {row["label_set"]: row["is_incomplete"] for row in rows(folder, *table)}
    assert (marked[HALF], marked["judge:overlap"]) == ("True", "False")
    board = ("stats", "leaderboard", "demo", "--label-set", HALF)
    latex = gradelake(folder, *board, "--format", "latex").stdout
    assert says.replace("%", r"\%") in latex
    assert {row["is_incomplete"] for row in rows(folder, *board)} == {"True"}
    words = ("stats", "correlation", "demo", "--measure", "AP", "--replicates", "100")
    done = gradelake(folder, *words, "--label-set", HALF)
    assert f"{HALF} (incomplete)" in done.stdout
    assert done.stderr.splitlines()[0] == f"note: {says}"
    found = json_of(folder, *words, "--label-set", HALF, "--json")
    assert {(row["label_set"], row["is_incomplete"]) for row in found["correlations"]} == {
        (HALF, True)
    }
    assert found["notes"][0] == says
    words = ("stats", "significance", "demo", "--measure", "AP", "--replicates", "100")
    done = gradelake(folder, *words, "--label-set", HALF)
    assert done.stderr.splitlines()[0] == f"note: {says}"
    picture = tmp_path / "s.svg"
    words = (
        "stats",
        "scatter",
        "demo",
        "--label-set",
        HALF,
        "--measure",
        "AP",
        "--picture",
        str(picture),
    )
    gradelake(folder, *words)
    assert says in texts(picture.read_text())


def test_the_report_marks_its_boards_and_correlations(folder, tmp_path):
    file = tmp_path / "demo.html"
    gradelake(folder, "report", "-o", str(file))
    page = Page(file)
    says = f"incomplete: it labels {share(folder):.0%} of the pairs that people judged"
    assert page.settled["incomplete"] == {HALF: says}
    assert {row["label_set"] for row in page.unpack("correlated") if row["is_incomplete"]} == {HALF}
    assert f"{HALF} (incomplete) nDCG@10" in page.text()


def test_judges_are_compared_on_the_pairs_that_all_of_them_labelled(folder):
    """Kappa on these pairs is scikit-learn's; that on a judge's own pairs is the mart's."""
    judged = pairs(folder / "judgments.qrels")
    labels = {
        f"judge:{name}": pairs(folder / file)
        for name, file in (
            ("half", "half.qrels"),
            ("overlap", "labels/overlap.qrels"),
            ("rubric_overlap", "labels/rubric_overlap.qrels"),
        )
    }
    for least, names in (("0", set(labels)), ("90", set(labels) - {HALF})):
        common = sorted(judged.keys() & set.intersection(*(set(labels[n]) for n in names)))
        found = rows(folder, "sql", "@compare_judges", "--least_labelled", least)
        assert {row["label_set"] for row in found} == names
        for row in found:
            own, level = labels[row["label_set"]], int(row["level"])
            assert int(row["n_pairs"]) == len(common)
            for column, over in (
                ("kappa", common),
                ("kappa_of_own", sorted(judged.keys() & own.keys())),
            ):
                theirs = cohen_kappa_score(
                    [own[pair] >= level for pair in over], [judged[pair] >= 2 for pair in over]
                )
                assert float(row[column]) == pytest.approx(theirs, abs=5e-4)


def test_the_least_share_is_a_seed(folder, tmp_path):
    own = shutil.copytree(folder, tmp_path / "demo")
    write(own / "seeds/evaluation_completeness.csv", ["least_labelled", "0.4"])
    gradelake(own, "build")
    with Lake.published(Project.find(own)) as lake:
        marts = ("label_completeness", "leaderboard_correlation")
        for mart in marts:
            assert not any(lake.column(f"select is_incomplete from lake.marts.{mart}")), mart


def test_people_who_judged_in_part_are_told_of_a_panel(tmp_path):
    """Two systems, seven queries of which two people judged some each."""
    queries = [f"q{n}" for n in range(1, 8)]
    write(tmp_path / "topics.tsv", {query: query for query in queries})
    for name, order in (("a", "ab"), ("b", "ba")):
        lines = [
            f"{query} Q0 {passage} 1 {-n} x" for query in queries for n, passage in enumerate(order)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines))
    judged = [f"{query},a,1,{'ann' if query < 'q4' else 'bob'}" for query in queries]
    (tmp_path / "ratings.csv").write_text("\n".join(["query,passage,rating,rater", *judged]))
    gradelake(tmp_path, "start", "--name", "two")
    gradelake(tmp_path, "ingest", "two")
    gradelake(tmp_path, "build")
    row = "two,people,majority,ann bob"
    said = gradelake(tmp_path, "compare", "a", "b", "--label-set", "assessor:ann").stdout
    assert f"({row} in seeds/panels.csv makes them one)" in said
    assert "on 3 queries" in said
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "panels.csv").write_text(f"collection,panel,rule,assessors\n{row}\n")
    gradelake(tmp_path, "build")
    said = gradelake(tmp_path, "compare", "a", "b", "--label-set", "panel:people").stdout
    assert "on 7 queries" in said
    assert "panels.csv" not in said
