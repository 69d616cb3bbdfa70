"""The verification lists of the query book, each with what plain Python finds, in its order."""

import json
from collections import Counter, defaultdict

import pytest

from tests import oracle
from tests.command_line import json_of
from tests.end_to_end.edited_demo import BIRDS
from tests.reading import published

RELEVANT = 2
GREATEST = {"grade": 5, "judgment": 3}


@pytest.fixture(scope="module")
def grades(graded_demo) -> dict[tuple[str, str], dict[str, int]]:
    """(query, passage) -> item -> grade, of the grader of questions."""
    found = defaultdict(dict)
    for query, passage, item, grade in published(graded_demo).rows(
        "select query_id, passage_id, item_id, grade from lake.raw.grades "
        "inner join lake.raw.graders using (grader_id) where name = 'lexical'"
    ):
        found[query, passage][item] = grade
    return found


@pytest.fixture(scope="module")
def judgments(graded_demo) -> dict[tuple[str, str], int]:
    qrels = oracle.read_qrels(graded_demo / "judgments.qrels")
    return {(query, passage): n for query, of in qrels.items() for passage, n in of.items()}


def ask(folder, entry: str, *options: str) -> list[dict]:
    words = ("--grader", "lexical", *options, "--format", "json")
    return json_of(folder, "sql", f"@{entry}", *words)


def test_uncovered_passages_are_the_relevant_ones_that_no_item_covers(
    graded_demo, grades, judgments
):
    rows = ask(graded_demo, "uncovered_passages", "--tau", "4")
    found = {(r["query_id"], r["passage_id"]): (r["judgment"], r["best_grade"]) for r in rows}
    best = {pair: max(of.values()) for pair, of in grades.items()}
    assert found == {
        pair: (judgment, best[pair])
        for pair, judgment in judgments.items()
        if judgment >= RELEVANT and best[pair] < 4
    }
    assert len(rows) == len(found) > 3
    order = [(-judgment, best_grade) for judgment, best_grade in found.values()]
    assert order == sorted(order), "most useful first"


@pytest.mark.parametrize(("below", "asked"), [(RELEVANT, ()), (1, ("--below", "1"))])
def test_spurious_items_are_those_that_non_relevant_passages_answer(
    graded_demo, grades, judgments, below, asked
):
    """Non-relevant below min_relevant, or below 1, as in the RUBRIC workbench."""
    counts = defaultdict(Counter)
    for pair, of in grades.items():
        if pair in judgments:
            kind = "relevant" if judgments[pair] >= below else "other"
            for item, grade in of.items():
                counts[item] += Counter({kind: 1, f"hits_{kind}": grade >= 2})
    rows = ask(graded_demo, "spurious_items", "--tau", "2", *asked)
    assert {row["below"] for row in rows} == {below}
    columns = ("n_hits", "n_non_relevant", "n_relevant_hits", "n_relevant")
    found = {row["item_id"]: tuple(row[column] for column in columns) for row in rows}
    assert found == {
        item: (n["hits_other"], n["other"], n["hits_relevant"], n["relevant"])
        for item, n in counts.items()
        if n["hits_other"]
    }
    assert len(rows) == len(found) > 3
    order = [(-hits / n, -hits) for hits, n, *_ in found.values()]
    assert order == sorted(order), "most useful first"


def test_disagreements_are_at_least_half_a_scale_wide_and_name_the_best_item(
    graded_demo, grades, judgments
):
    gaps = {
        pair: abs(max(of.values()) / GREATEST["grade"] - judgments[pair] / GREATEST["judgment"])
        for pair, of in grades.items()
        if pair in judgments
    }
    rows = ask(graded_demo, "disagreements", "--label_set", "lexical/v0/best")
    pairs = [(row["query_id"], row["passage_id"]) for row in rows]
    assert set(pairs) == {pair for pair, gap in gaps.items() if gap >= 0.5}
    assert [row["gap"] for row in rows] == pytest.approx([gaps[pair] for pair in pairs], abs=0.0051)
    assert [gaps[pair] for pair in pairs] == sorted(map(gaps.get, pairs), reverse=True)
    assert len(rows) > 3
    items = dict(published(graded_demo).rows("select text, item_id from lake.raw.rubric_items"))
    for pair, row in zip(pairs, rows, strict=True):
        assert row["label"] == grades[pair][items[row["best_item"]]] == max(grades[pair].values())


def test_the_grid_of_a_query_has_a_line_per_passage_and_a_column_per_item(graded_demo, grades):
    of_query = {passage: of for (query, passage), of in grades.items() if query == BIRDS}
    written = map(json.loads, (graded_demo / "question_bank.jsonl").read_text().splitlines())
    bank = {line["query_id"]: [item["question_id"] for item in line["items"]] for line in written}
    items = bank[BIRDS]  # in the order of their author
    assert items != sorted(items)
    heading, *rows = ask(graded_demo, "grade_grid", "--query_id", BIRDS)
    assert heading["id"] == "query"
    legend, grid = rows[: len(items)], rows[len(items) :]
    assert {row["id"]: row["grades"].split() for row in grid} == {
        passage: [str(of[item]) for item in items] for passage, of in of_query.items()
    }
    for number, row in enumerate(legend, start=1):  # an item's number stands above its column
        assert row["id"] == f"item {number}"
        assert len(row["grades"]) == len(grid[0]["grades"][: 3 * number])
    order = [(max(of.values()), sum(of.values())) for of in (of_query[r["id"]] for r in grid)]
    assert order == sorted(order, reverse=True), "best passages first"
