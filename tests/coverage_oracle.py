"""Coverage and alpha-nDCG worked out beside the lake: plain Python on raw tables, and ndeval."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pyndeval

from gradelake.sql.lake.opening import Lake

LEVELS = range(1, 6)
CUTOFFS = (10, 20)


@dataclass
class Graded:
    """One grader's grades under one version of the rubric."""

    weights: dict[str, dict[str, float]]  # query -> item -> weight
    grades: dict[str, dict[str, dict[str, int]]]  # query -> item -> passage -> grade
    rankings: dict[str, dict[str, list[str]]]  # system -> query -> passages, best first

    def pairs(self):
        """(system, query, ranking) of every system and every query that has items."""
        for system, ranked in self.rankings.items():
            for query in self.weights:
                yield system, query, ranked.get(query, [])


def read(lake: Lake, grader: str, edits: list[dict[str, str]]) -> Graded:
    """What the raw tables say of the one collection; `edits` are applied to the banks' items."""
    items = lake.rows("select query_id, item_id, weight from lake.raw.rubric_items")
    weights: dict = defaultdict(dict)
    for query, item, weight in items:
        weights[query][item] = weight
    for edit in edits:
        query = edit.get("query_id") or edit["item_id"].rpartition("/")[0]
        if edit["action"] == "drop":
            del weights[query][edit["item_id"]]
        elif edit["action"] == "reweight":
            weights[query][edit["item_id"]] = float(edit["weight"])
        else:
            assert edit["action"] == "add"
            md5 = hashlib.md5(edit["text"].encode()).hexdigest()
            weights[query][f"{query}/{md5}"] = float(edit["weight"])
    grades: dict = defaultdict(lambda: defaultdict(dict))
    for query, item, passage, grade in lake.rows(
        "select query_id, item_id, passage_id, grade from lake.raw.grades "
        "inner join lake.raw.graders using (grader_id) where name = ? and grade is not null",
        grader,
    ):
        if item in weights[query]:
            grades[query][item][passage] = grade
    weights = {query: of_query for query, of_query in weights.items() if of_query}
    return Graded(weights, grades, _rankings(lake))


def _rankings(lake: Lake) -> dict[str, dict[str, list[str]]]:
    """As trec_eval ranks: by score as a 32-bit float, then id bytewise, both descending."""
    entries: dict = {
        s: defaultdict(list) for (s,) in lake.rows("select system from lake.raw.systems")
    }
    for system, query, passage, score in lake.rows(
        "select system, query_id, passage_id, score from lake.raw.run_entries"
    ):
        entries[system][query].append((np.float32(score), passage.encode(), passage))
    return {
        system: {
            query: [passage for *_, passage in sorted(ranked, reverse=True)]
            for query, ranked in of_system.items()
        }
        for system, of_system in entries.items()
    }


def coverage(graded: Graded) -> dict[tuple, tuple]:
    """(tau, k, system, query) -> (cover, weighted, normalised, as the workbench counts)."""
    cells = {}
    for system, query, ranking in graded.pairs():
        weights, grades = graded.weights[query], graded.grades[query]
        for tau in LEVELS:
            coverable = [i for i in weights if max(grades[i].values(), default=-1) >= tau]
            n_graded = sum(1 for item in weights if grades[item])
            for k in CUTOFFS:
                top = ranking[:k]
                covered = [i for i in weights if any(grades[i].get(p, -1) >= tau for p in top)]
                total = sum(weights.values())
                cells[tau, k, system, query] = (
                    len(covered) / len(weights),
                    sum(weights[item] for item in covered) / total if total else None,
                    len(covered) / len(coverable) if coverable else 0.0,
                    len(covered) / n_graded if ranking and n_graded else None,
                )
    return cells


def alpha_ndcg(graded: Graded) -> dict[tuple, float]:
    """(tau, k, system, query) -> alpha-nDCG@k of ndeval; what it does not print is 0."""
    measures = {k: f"alpha-nDCG@{k}" for k in CUTOFFS}
    qrels = [
        (query, item, passage, grade)
        for query, of_query in graded.grades.items()
        for item, of_item in of_query.items()
        for passage, grade in of_item.items()
    ]
    cells = {}
    for tau in LEVELS:
        evaluator = pyndeval.RelevanceEvaluator(qrels, measures.values(), relevance_level=tau)
        for system, ranked in graded.rankings.items():
            # ndeval breaks ties of scores its own way: it gets none
            run = [
                (query, passage, -rank)
                for query, ranking in ranked.items()
                for rank, passage in enumerate(ranking[: max(CUTOFFS)])
            ]
            found = evaluator.evaluate(run)
            for query in graded.weights:
                for k, measure in measures.items():
                    cells[tau, k, system, query] = found.get(query, {}).get(measure, 0.0)
    return cells
