"""What each search of a system adds: every cell against pytrec_eval and plain Python."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
import pytrec_eval

from tests.command_line import gradelake
from tests.projects import project
from tests.reading import published

MIN_RELEVANT = 2
COLLECTION = {
    "queries": "topics.tsv",
    "passages": "passages.jsonl",
    "query_weights": "weights.csv",
    "judgments": {
        "people": "people.qrels",
        "fractions": {"file": "fractions.csv", "cuts": [0.3, 0.7], "gains": True},
    },
    "near_duplicates": "clusters.tsv",
    "leave_out_near_duplicates": True,
    "min_relevant": MIN_RELEVANT,
}
QUERIES = [f"q{n}" for n in range(7)]
WEIGHTS = {query: float(n) for n, query in enumerate(QUERIES)}  # the first counts in no mean
PASSAGES = [f"p{n:02}" for n in range(30)]
DUPLICATE = "p07"  # of p06
SYSTEMS = ("agent", "plain")
COLUMNS = """
    label_set, system, query_id, call, level, searched, n_found, n_new, n_relevant,
    n_relevant_new, n_unlabelled, recall_so_far, score, score_so_far
"""

Labels = dict[str, dict[str, int]]
Searches = list[list[str]]  # what each found, best first


class Made(NamedTuple):
    """A built project, its label sets, what nDCG gains by each, and what its systems found for each
    query."""

    folder: Path
    label_sets: dict[str, Labels]
    gains: dict[str, Labels]
    found: dict[str, dict[str, Searches]]


def searched(call: int) -> str | None:
    return f"wording {call}" if call % 3 else None


def as_rows(of_queries: dict[str, Searches]) -> list[dict[str, Any]]:
    """A system's log, a row a query."""
    return [
        {
            "query_id": query,
            "question": f"what about {query}",
            "answer": "It depends.",
            "retrievals": [
                {"query": searched(call), "contexts": [f"text of {p}" for p in passages]}
                for call, passages in enumerate(searches, start=1)
            ],
        }
        for query, searches in of_queries.items()
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory, new_lake) -> Made:
    chance, folder = random.Random(52), tmp_path_factory.mktemp("retrievals")
    # some passages are found twice, by a search or by several, and some searches find nothing
    found = {
        system: {
            query: [
                chance.choices(PASSAGES, k=chance.choice((0, 3, 8, 15)))
                for _ in range(chance.randint(1, most))
            ]
            for query in QUERIES
        }
        for system, most in zip(SYSTEMS, (5, 1), strict=True)
    }
    found["agent"]["q1"] = [["p06", "p01"], [DUPLICATE], [], ["p01", "p02"]]
    found["plain"]["q1"] = [["p03"]]  # else the query had no ranking at all
    people = {q: {p: chance.randint(-1, 3) for p in chance.sample(PASSAGES, 14)} for q in QUERIES}
    people["q2"] = dict.fromkeys(PASSAGES, 0)  # nothing is relevant
    del people["q3"]  # nobody judged it
    judge = {q: {p: chance.randint(0, 1) for p in PASSAGES[:20]} for q in QUERIES}
    percent = {q: {p: chance.randint(0, 100) for p in PASSAGES[5:]} for q in QUERIES}
    fractions = [
        {"query_id": query, "passage_id": passage, "judgment": n / 100}
        for query, of_query in percent.items()
        for passage, n in of_query.items()
    ]
    files = {
        "topics.tsv": {query: f"what about {query}" for query in QUERIES},
        "passages.jsonl": [{"passage_id": p, "text": f"text of {p}"} for p in PASSAGES],
        "weights.csv": [{"query_id": query, "weight": w} for query, w in WEIGHTS.items()],
        "people.qrels": people,
        "judge.qrels": judge,
        "fractions.csv": fractions,
        "clusters.tsv": f"p06 {DUPLICATE}\n",
        **{f"{system}.jsonl": as_rows(of_queries) for system, of_queries in found.items()},
    }
    new_lake(folder)
    project(folder, {"shop": COLLECTION}, files=files)
    gradelake(folder, "ingest", "shop")
    gradelake(folder, "import", "labels", "shop", "judge.qrels", "--judge", "judge")
    for system in SYSTEMS:
        gradelake(folder, "import", "rag", "shop", f"{system}.jsonl")
    gradelake(folder, "build")
    by_fraction = {
        query: {passage: (n >= 30) + (n >= 70) for passage, n in of_query.items()}
        for query, of_query in percent.items()
    }
    label_sets = {
        "assessor:people": people,
        "assessor:fractions": by_fraction,
        "judge:judge": judge,
    }
    return Made(folder, label_sets, {**label_sets, "assessor:fractions": percent}, found)


def ndcg(ranking: list[str], gains: dict[str, int]) -> float:
    qrels = {"q": {p: max(gain, 0) for p, gain in gains.items() if p != DUPLICATE}}
    run = {"q": {p: float(-rank) for rank, p in enumerate(ranking)}}
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    return scores.get("q", {}).get("ndcg_cut_10", 0.0)


def wanted_of(made: Made, label_set: str, system: str, query: str) -> Iterator[tuple]:
    """The cells of each search of a query."""
    labels, gains = made.label_sets[label_set][query], made.gains[label_set][query]
    level = 1 if label_set == "judge:judge" else MIN_RELEVANT  # its highest label
    labels = {p: label for p, label in labels.items() if p != DUPLICATE}
    relevant = {p for p, label in labels.items() if label >= level}
    together: list[str] = []
    for call, passages in enumerate(made.found[system][query], start=1):
        ranking = [p for p in dict.fromkeys(passages) if p != DUPLICATE]
        new = [p for p in ranking if p not in together]
        together += new
        yield (
            call,
            level,
            searched(call),
            len(ranking),
            len(new),
            len(relevant.intersection(ranking)),
            len(relevant.intersection(new)),
            len({*ranking} - labels.keys()),
            len(relevant.intersection(together)) / len(relevant) if relevant else 0,
            ndcg(ranking, gains),
            ndcg(together, gains),
        )


def test_every_cell_is_what_python_and_pytrec_eval_make_of_it(made):
    wanted = {
        (label_set, system, query, call): cells
        for label_set, of_queries in made.label_sets.items()
        for system in SYSTEMS
        for query in of_queries
        for call, *cells in wanted_of(made, label_set, system, query)
    }
    rows = published(made.folder).rows(f"select {COLUMNS} from lake.marts.retrievals")
    assert {tuple(row[:4]): row[4:] for row in rows}.keys() == wanted.keys()
    assert len(rows) == len(wanted)
    for label_set, system, query, call, *cells in rows:
        expected = wanted[label_set, system, query, call]
        assert cells == pytest.approx(expected, abs=1e-9), (label_set, system, query, call)


def test_all_together_is_the_ranking_that_boards_score(made):
    differing = published(made.folder).rows(
        """
        select retrievals.*, scores.value
        from lake.marts.retrievals
        inner join lake.marts.topic_scores as scores
            using (collection, label_set, level, system, query_id)
        where scores.measure = 'nDCG@10'
        qualify
            call = max(call) over (partition by label_set, system, query_id)
            and abs(score_so_far - scores.value) > 1e-9
        """
    )
    assert differing == []


def test_the_question_of_the_book_has_a_row_for_each_system(made):
    asked = "@retrievals --label_set assessor:people --format json"
    shown = gradelake(made.folder, "sql", *asked.split()).stdout
    rows = {row["system"]: row for row in json.loads(shown)}
    assert rows.keys() == {*SYSTEMS}
    people = [query for query in made.label_sets["assessor:people"] if WEIGHTS[query]]
    weights = [WEIGHTS[query] for query in people]
    for system in SYSTEMS:
        cells = [[*wanted_of(made, "assessor:people", system, query)] for query in people]
        wanted = {
            "calls": [len(of_query) for of_query in cells],
            "found": [sum(cell[3] for cell in of_query) for of_query in cells],
            "first_score": [of_query[0][-2] for of_query in cells],
            "score": [of_query[-1][-1] for of_query in cells],
            "added": [of_query[-1][-1] - of_query[0][-2] for of_query in cells],
            "first_recall": [of_query[0][-3] for of_query in cells],
            "recall": [of_query[-1][-3] for of_query in cells],
        }
        means = {name: fmean(values, weights) for name, values in wanted.items()}
        assert {name: rows[system][name] for name in wanted} == pytest.approx(means)
        assert rows[system]["n_queries"] == len(people)
        assert rows[system]["new_by_call"] == new_by_call(cells)


def new_by_call(cells: list[list[tuple]]) -> str:
    """The share of what first searches found that was new, second ones, and so on."""
    shares = []
    for call in range(1, 1 + max(map(len, cells))):
        of_call = [cell for of_query in cells for cell in of_query if cell[0] == call]
        n_found, n_new = (sum(cell[place] for cell in of_call) for place in (3, 4))
        shares.append(f"{100 * n_new / n_found:.0f}%" if n_found else "none")
    return ", ".join(shares)
