"""The verification lists on published grades, against counts made in plain Python from the file."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.end_to_end.llmjudge import JUDGE, NUGGETS, QUESTIONS, RELEVANT, TAU, Published, make_lake
from tests.places import missing_llmjudge
from tests.published import LLMJUDGE_KAPPAS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def published():
    if reason := missing_llmjudge():
        pytest.skip(reason)
    return Published()


@pytest.fixture(scope="module")
def folder(published, tmp_path_factory, new_lake) -> Path:
    folder = tmp_path_factory.mktemp("llmjudge")
    new_lake(folder)
    make_lake(folder, published)
    return folder


def ask(folder, entry, **parameters) -> list[dict]:
    """An entry of the query book, as a script would read it."""
    options = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
    return json.loads(gradelake(folder, "sql", "--format", "json", f"@{entry}", *options).stdout)


def labels_and_judgments(folder, label_set) -> tuple[list[int], list[int]]:
    with Lake.published(Project.find(folder)) as lake:
        rows = lake.rows(
            "select labels.label, judgments.label from lake.marts.relevance_labels as labels "
            "inner join lake.marts.relevance_labels as judgments "
            "using (collection, query_id, passage_id) "
            "where labels.label_set = ? and judgments.label_set = 'assessor:human'",
            label_set,
        )
    return [label for label, _ in rows], [judgment for _, judgment in rows]


@pytest.mark.parametrize(("grader", "n_uncovered"), [(QUESTIONS, 784), (NUGGETS, 625)])
def test_uncovered_passages_are_the_relevant_ones_that_no_item_covers(
    folder, published, grader, n_uncovered
):
    best = published.best(grader)
    expected = {
        pair: (judgment, best[pair])
        for pair, judgment in published.judgments.items()
        if judgment >= RELEVANT and published.is_complete(grader, pair) and best[pair] < TAU
    }
    rows = ask(folder, "uncovered_passages", grader=grader, tau=TAU)
    found = [(row["judgment"], row["best_grade"]) for row in rows]
    pairs = [(row["query_id"], row["passage_id"]) for row in rows]
    assert len(rows) == len(expected) == n_uncovered
    assert dict(zip(pairs, found, strict=True)) == expected
    assert found == sorted(found, key=lambda row: (-row[0], row[1])), "most useful first"
    for pair, row in zip(pairs, rows, strict=True):
        assert published.ratings[grader][pair][row["best_item"]] == row["best_grade"]
        assert published.texts[pair[1]].startswith(row["text"])


@pytest.mark.parametrize(
    ("grader", "n_items", "n_spurious", "n_hits"),
    [(QUESTIONS, 250, 192, 4_337), (NUGGETS, 245, 236, 8_467)],
)
def test_spurious_items_are_those_that_non_relevant_passages_answer(
    folder, published, grader, n_items, n_spurious, n_hits
):
    counts = defaultdict(Counter)
    for pair, ratings in published.ratings[grader].items():
        kind = "relevant" if published.judgments[pair] >= RELEVANT else "non_relevant"
        for item, rating in ratings.items():
            counts[item] += Counter({f"n_{kind}": 1, f"hits_{kind}": rating >= TAU})
    assert len(counts) == n_items
    expected = {
        item: (n["hits_non_relevant"], n["n_non_relevant"], n["hits_relevant"], n["n_relevant"])
        for item, n in counts.items()
        if n["hits_non_relevant"]
    }
    rows = ask(folder, "spurious_items", grader=grader, tau=TAU)
    columns = ("n_hits", "n_non_relevant", "n_relevant_hits", "n_relevant")
    found = {row["item_id"]: tuple(row[column] for column in columns) for row in rows}
    assert found == expected
    assert len(rows) == n_spurious
    assert sum(row["n_hits"] for row in rows) == n_hits
    rates = [Fraction(row["n_hits"], row["n_non_relevant"]) for row in rows]
    assert [row["rate"] for row in rows] == pytest.approx(list(map(float, rates)), abs=0.00051)
    order = [(rate, row["n_hits"]) for rate, row in zip(rates, rows, strict=True)]
    assert order == sorted(order, reverse=True), "most useful first"


@pytest.mark.parametrize("grader", [QUESTIONS, NUGGETS])
def test_items_that_nothing_covers_are_listed_once_all_is_graded(folder, published, grader):
    """The pool is the judged passages, as there are no runs."""
    graded = defaultdict(list)
    for ratings in published.ratings[grader].values():
        for item, rating in ratings.items():
            graded[item].append(rating)
    pool = Counter(query for query, _ in published.judgments)
    expected = {
        item: (max(ratings), len(ratings))
        for item, ratings in graded.items()
        if max(ratings) < TAU and len(ratings) == pool[item.split("/")[0]]
    }
    rows = ask(folder, "never_covered_items", grader=grader, tau=TAU)
    assert {row["item_id"]: (row["best_grade"], row["n_graded"]) for row in rows} == expected
    assert rows, "some items cover nothing"


def test_no_grade_is_missing_as_every_pair_was_rated_on_every_item(folder, published):
    for grader, pairs in published.ratings.items():
        assert all(published.is_complete(grader, pair) for pair in pairs)
    assert ask(folder, "missing_grades") == []


@pytest.mark.parametrize("grader", [QUESTIONS, NUGGETS])
def test_grades_stand_beside_the_answers_that_were_extracted(folder, published, grader):
    query = min(query for query, _ in published.judgments)
    expected = {
        (pair[1], item): (rating, published.answers[pair, item] or None, published.judgments[pair])
        for pair, ratings in published.ratings[grader].items()
        if pair[0] == query
        for item, rating in ratings.items()
    }
    rows = ask(folder, "verify_grades", grader=grader, query_id=query)
    found = {
        (row["passage_id"], row["item"]): (row["grade"], row["answer"], row["judgment"])
        for row in rows
    }
    assert found == expected
    assert len(rows) == len(expected)
    order = [(row["item"], -row["grade"]) for row in rows]
    assert order == sorted(order), "per item the best first"


def test_the_grid_of_a_query_has_a_line_per_passage_and_a_column_per_item(folder, published):
    query = min(query for query, _ in published.judgments)
    passages = {pair[1]: r for pair, r in published.ratings[QUESTIONS].items() if pair[0] == query}
    items = sorted(published.items[QUESTIONS][query])
    rows = ask(folder, "grade_grid", grader=QUESTIONS, query_id=query)
    assert rows[0]["id"] == "query"
    legend, grid = rows[1 : 1 + len(items)], rows[1 + len(items) :]
    assert [row["text"] for row in legend] == items
    assert {row["id"]: row["grades"].split() for row in grid} == {
        passage: [str(ratings[item]) for item in items] for passage, ratings in passages.items()
    }
    for row in legend:  # an item's number stands above its column
        end = len(row["grades"])
        assert all(
            line["grades"][:end].split() == line["grades"].split()[: end // 3] for line in grid
        )
    order = [(max(r.values()), sum(r.values())) for r in (passages[row["id"]] for row in grid)]
    assert order == sorted(order, reverse=True), "best passages first"


@pytest.mark.parametrize("label_set", [f"{QUESTIONS}/v0/best", f"judge:{JUDGE}"])
def test_disagreements_are_at_least_half_a_scale_wide(folder, published, label_set):
    if label_set.startswith("judge:"):
        labels, greatest = published.classified, 3
    else:
        labels, greatest = published.best(QUESTIONS), 5
    gaps = {
        pair: abs(Fraction(label, greatest) - Fraction(published.judgments[pair], 3))
        for pair, label in labels.items()
    }
    expected = {pair for pair, gap in gaps.items() if gap >= Fraction(1, 2)}
    rows = ask(folder, "disagreements", label_set=label_set)
    pairs = [(row["query_id"], row["passage_id"]) for row in rows]
    assert len(pairs) == len(expected)
    assert set(pairs) == expected
    order = [gaps[pair] for pair in pairs]
    assert order == sorted(order, reverse=True), "farthest first"
    assert [row["gap"] for row in rows] == pytest.approx(list(map(float, order)), abs=0.0051)
    for pair, row in zip(pairs, rows, strict=True):
        assert (row["label"], row["judgment"]) == (labels[pair], published.judgments[pair])
        if label_set.startswith("judge:"):
            assert row["best_item"] is None
        else:
            assert published.ratings[QUESTIONS][pair][row["best_item"]] == row["label"]
            assert row["best_answer"] == (published.answers[pair, row["best_item"]] or None)


@pytest.mark.parametrize(("grader", "kappa"), LLMJUDGE_KAPPAS.items())
def test_binary_agreement_of_best_labels_is_that_of_the_file(folder, published, grader, kappa):
    labels, judgments = labels_and_judgments(folder, f"{grader}/v0/best")
    ours = cohen_kappa_score([label >= TAU for label in labels], [j >= 2 for j in judgments])
    best = published.best(grader)
    theirs = cohen_kappa_score(
        [best[pair] >= TAU for pair in best], [published.judgments[pair] >= 2 for pair in best]
    )
    assert len(labels) == len(best) == 7_263
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert f"{ours:.3f}" == kappa


def test_four_level_agreement_of_the_mapped_second_best_is_that_of_the_file(folder, published):
    labels, judgments = labels_and_judgments(folder, f"{QUESTIONS}/v0/mapped")
    second = published.best(QUESTIONS, m=2)
    mapped = [{5: 3, 4: 1}.get(second[pair], 0) for pair in second]
    theirs = cohen_kappa_score(mapped, [published.judgments[pair] for pair in second])
    ours = cohen_kappa_score(labels, judgments)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert round(ours, 4) == 0.1673
