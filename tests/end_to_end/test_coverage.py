"""Every cell of coverage against plain Python, every alpha-nDCG against ndeval."""

import random
import statistics
from dataclasses import replace

import pytest

from gradelake.analyses.report.report_queries import ask, ask_book
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import coverage_oracle
from tests.command_line import gradelake
from tests.edits import edit, write_edits
from tests.projects import USUAL, project, rows


def some_edits(lake, seed):
    """Edits of version 1: of each query's items one is dropped, the others get other weights.

    One query's items all weigh nothing, and two queries get an item that nobody has graded.
    """
    rng = random.Random(seed)
    items = lake.rows("select query_id, item_id from lake.raw.rubric_items order by all")
    queries = sorted({query for query, _ in items})
    edits = []
    for number, query in enumerate(queries):
        ids = [item for of, item in items if of == query]
        dropped = rng.choice(ids) if len(ids) > 1 else None
        for item in ids:
            weight = 0 if number == 0 else rng.choice([0, 0.5, 1.25, 3])
            if item == dropped:
                edits.append(edit(1, "drop", item))
            else:
                edits.append(edit(1, "reweight", item, weight=weight))
    for query in queries[1:3]:
        new = {"kind": "question", "text": f"What did everybody miss about {query}?"}
        edits.append(edit(1, "add", query_id=query, weight=2.5, **new))
    return [each | {"collection": "random"} for each in edits]


def edit_and_build(folder, seed) -> dict[int, list[dict[str, str]]]:
    """Build with edits; returns version -> all edits up to it."""
    with Lake.live(Project.find(folder)) as lake:
        edits = some_edits(lake, seed)
    write_edits(folder, *edits)
    gradelake(folder, "build")
    return {0: [], 1: edits}


@pytest.fixture(scope="module")
def random_edited(tmp_path_factory, new_lake):
    """Random grades; (folder, grader, versions). Few distinct scores and grades make ties.

    System `lazy` leaves two queries out of three unanswered, `silent` has only passages that
    nobody graded. Query q0 has grades of 0 only, q1 none; every query has an item without any.
    """
    folder = tmp_path_factory.mktemp("coverage") / "random"
    rng = random.Random(20)
    queries = [f"q{number}" for number in range(14)]
    write_random_collection(folder, rng, queries)
    new_lake(folder)
    gradelake(folder, "ingest", "random")
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        insert_random_grades(transaction, rng, queries)
    return folder, "dice", edit_and_build(folder, 3)


def write_random_collection(folder, rng, queries):
    rankings = {}
    for system in ("a", "b", "c", "d", "lazy", "silent"):
        pool = PASSAGES[60:] if system == "silent" else PASSAGES[:70]
        rankings[f"runs/{system}.run"] = [
            f"{query} Q0 {passage} 1 {rng.randint(0, 6)} {system}"
            for number, query in enumerate(queries)
            if system != "lazy" or number % 3 == 0
            for passage in rng.sample(pool, rng.randint(1, min(45, len(pool))))
        ]
    files = {
        "topics.tsv": {query: f"query {query}" for query in queries},
        "passages.tsv": {passage: f"text {passage}" for passage in PASSAGES},
    }
    project(folder, {"random": USUAL | {"judgments": None}}, files=files | rankings)


PASSAGES = [f"{letter}{number}" for number in range(24) for letter in ("", "p", "Z")]


def insert_random_grades(transaction, rng, queries):
    """Up to 9 items per query; of the passages 0-59 some are graded on some items."""
    items, grades = [], []  # rows: (query, facet, item) and (query, passage, item, grade)
    for query in queries:
        for number in range(rng.randint(2, 9)):
            items.append((query, ("", "f", "g")[number % 3], f"{query}/{number}"))
            if number == 0 or query == "q1":
                continue
            for passage in rng.sample(PASSAGES[:60], rng.randint(1, 40)):
                grade = 0 if query == "q0" else rng.choice([0, 0, 0, 1, 2, 4, 4, 5, None])
                grades.append((query, passage, f"{query}/{number}", grade))
    of, facets, ids = map(list, zip(*items, strict=True))
    texts = [f"Question {item}?" for item in ids]
    common = {"collection": "random", "bank": "questions", "weight": 1.0}
    transaction.insert(
        "rubric_items",
        rows("rubric_items", query_id=of, facet_id=facets, item_id=ids, text=texts, **common),
    )
    grader = {"grader_id": "d" * 16, "name": "dice", "scale_min": 0, "scale_max": 5}
    transaction.insert("graders", rows("graders", settings="{}", parser="strict", **grader))
    of, passages, ids, given = map(list, zip(*grades, strict=True))
    status = ["failed" if grade is None else "ok" for grade in given]
    columns = {"query_id": of, "passage_id": passages, "item_id": ids, "grade": given}
    same = {"collection": "random", "grader_id": "d" * 16}
    transaction.insert("grades", rows("grades", status=status, **columns, **same))


def assert_same(ours: dict, theirs: dict, tolerance: float) -> None:
    assert ours.keys() == theirs.keys()
    for key, values in theirs.items():
        assert ours[key] == pytest.approx(values, abs=tolerance), key


@pytest.fixture
def graded(random_edited):
    """(published lake, grader, versions)."""
    folder, grader, versions = random_edited
    with Lake.published(Project.find(folder)) as lake:
        yield lake, grader, versions


def test_every_cell_of_coverage_equals_plain_python(graded):
    lake, grader, versions = graded
    for version, edits in versions.items():
        theirs = coverage_oracle.coverage(coverage_oracle.read(lake, grader, edits))
        rows = lake.rows(
            "select tau, k, system, query_id, cover, cover_weighted, cover_normalised, "
            "cover_workbench from lake.marts.rubric_coverage "
            "where grader = ? and rubric_version = ?",
            grader,
            version,
        )
        assert len(rows) == len(theirs)
        assert len({values[0] for values in theirs.values()}) > 4, "hardly anything to compare"
        assert_same({row[:4]: row[4:] for row in rows}, theirs, 1e-9)


def test_every_cell_of_a_facet_is_coverage_of_its_items(graded):
    lake, grader, versions = graded
    facet_of = dict(lake.rows("select item_id, facet_id from lake.raw.rubric_items"))
    for version, edits in versions.items():
        whole = coverage_oracle.read(lake, grader, edits)
        theirs = {}
        for facet in ("f", "g"):
            weights = {
                query: {item: n for item, n in of_query.items() if facet_of.get(item) == facet}
                for query, of_query in whole.weights.items()
            }
            weights = {query: of_query for query, of_query in weights.items() if of_query}
            cells = coverage_oracle.coverage(replace(whole, weights=weights))
            theirs |= {(*key, facet): values[:2] for key, values in cells.items()}
        rows = lake.rows(
            "select tau, k, system, query_id, facet_id, cover, cover_weighted "
            "from lake.marts.facet_coverage where rubric_version = ?",
            version,
        )
        assert len(rows) == len(theirs)
        assert len({values[0] for values in theirs.values()}) > 3, "hardly anything to compare"
        assert_same({row[:5]: row[5:] for row in rows}, theirs, 1e-9)


def test_lists_and_the_report_s_grid_say_which_facet_an_item_is_of(graded):
    lake, _, _ = graded
    facet_of = dict(lake.rows("select item_id, facet_id from lake.raw.rubric_items"))
    listed = ask_book(lake, "verify_grades", rubric_version=0)
    assert {row["facet_id"] for row in listed} == {None, "f", "g"}
    ids = [row["item"].removeprefix("Question ").removesuffix("?") for row in listed]
    assert [row["facet_id"] or "" for row in listed] == [facet_of[item] for item in ids]
    covered = ask_book(lake, "facet_coverage", rubric_version=0)
    assert {row["facet"] for row in covered} == {"f", "g"}
    (grid,) = ask(
        lake,
        "grids",
        collection="random",
        rubric_version=0,
        assessor=None,
        most=3,
        first_query="q2",
        last_query="q2",
    )
    for item in grid["items"]:
        facet = facet_of[item["item_id"]]
        assert item["item_text"].startswith(f"[{facet}] Question" if facet else "Question")


def test_cover_on_the_leaderboard_is_the_mean_over_all_queries_with_items(graded):
    lake, grader, versions = graded
    for version, edits in versions.items():
        found = coverage_oracle.read(lake, grader, edits)
        cells = coverage_oracle.coverage(found)
        theirs = {}
        for tau in coverage_oracle.LEVELS:
            for system, ranked in found.rankings.items():
                values = [cells[tau, 20, system, query][0] for query in found.weights]
                answered = [cells[tau, 20, system, q][0] for q in found.weights if ranked.get(q)]
                theirs[tau, system] = (
                    statistics.mean(values),
                    statistics.stdev(values) / len(values) ** 0.5,
                    statistics.mean(answered) if answered else None,
                    len(values),
                    len(answered),
                )
        for policy in ("best", "second_best"):
            rows = lake.rows(
                "select level, system, score, stderr, score_answered, n_queries, n_answered "
                "from lake.marts.leaderboard where label_set = ? and measure = 'Cover@20'",
                f"{grader}/v{version}/{policy}",
            )
            assert_same({row[:2]: row[2:] for row in rows}, theirs, 1e-8)


def test_every_alpha_ndcg_equals_ndeval(graded):
    lake, grader, versions = graded
    for version, edits in versions.items():
        theirs = coverage_oracle.alpha_ndcg(coverage_oracle.read(lake, grader, edits))
        rows = lake.rows(
            "select tau, k, system, query_id, alpha_ndcg from lake.marts.alpha_ndcg "
            "where grader = ? and rubric_version = ?",
            grader,
            version,
        )
        assert len(rows) == len(theirs)
        assert sum(0 < value < 1 for value in theirs.values()) > 50, "hardly anything to compare"
        assert_same({row[:4]: row[4] for row in rows}, theirs, 1e-6)
