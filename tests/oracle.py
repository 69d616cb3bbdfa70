"""An independent evaluation of TREC files: plain Python readers, pytrec_eval and ir_measures."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import ir_measures
import numpy as np
import pytrec_eval

MEASURES = {
    "nDCG@10": "ndcg_cut_10",
    "nDCG@20": "ndcg_cut_20",
    "AP": "map",
    "RR": "recip_rank",
    "RR@10": "recip_rank",
    "Rprec": "Rprec",
    "P@10": "P_10",
    "R@100": "recall_100",
    "Success@20": "success_20",
}
_REQUEST = {"ndcg_cut.10,20", "map", "recip_rank", "Rprec", "P.10", "recall.100", "success.20"}
LEVELS = range(1, 6)

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def read_qrels(file: Path) -> Qrels:
    """query -> passage -> label, negative labels as 0 (trec_eval crashes on some of them)."""
    labels: Qrels = defaultdict(dict)
    for line in file.read_text().splitlines():
        query, _, passage, label = line.split()
        labels[query][passage] = max(0, int(label))
    return dict(labels)


def read_run(file: Path) -> Run:
    """query -> passage -> score."""
    scores: Run = defaultdict(dict)
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        for line in lines:
            query, _, passage, _, score, _ = line.split()
            scores[query][passage] = float(score)
    return dict(scores)


def read_runs(folder: Path) -> dict[str, Run]:
    """system -> run."""
    return {file.name.split(".run")[0]: read_run(file) for file in sorted(folder.glob("*.run*"))}


def read_answers(file: Path) -> dict[str, Run]:
    """system -> run, for generated answers of one passage each."""
    import hashlib

    runs: dict[str, Run] = defaultdict(dict)
    for line in file.read_text().splitlines():
        row = json.loads(line)
        passage = hashlib.md5(row["text"].strip().encode()).hexdigest()
        runs[row["system"]][row["query_id"]] = {passage: -1.0}
    return dict(runs)


def evaluate(qrels: Qrels, run: Run, level: int) -> dict[str, dict[str, float]]:
    """query -> measure (our name) -> value."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, _REQUEST, relevance_level=level)
    values = {
        query: {ours: cells[theirs] for ours, theirs in MEASURES.items()}
        for query, cells in evaluator.evaluate(run).items()
    }
    for cells in values.values():
        cells["RR@10"] *= cells["RR@10"] >= 1 / 10
    return values


def cells(labels: dict[str, Qrels], runs: dict[str, Run]) -> Iterator[tuple[tuple, float]]:
    """((label set, level, system, query, measure), value) of every combination."""
    for label_set, qrels in labels.items():
        for level in LEVELS:
            for system, run in runs.items():
                for query, values in evaluate(qrels, run, level).items():
                    for measure, value in values.items():
                        yield (label_set, level, system, query, measure), value


# ours -> that of ir_measures, behind which are pytrec_eval, cwl_eval (RBP), MS MARCO's script
# (RR@k), gdeval (ERR) and its own Judged
OF_EVERY_FAMILY = {
    "nDCG": "nDCG",
    "nDCG@5": "nDCG@5",
    "AP": "AP(rel={level})",
    "AP@10": "AP(rel={level})@10",
    "RR": "RR(rel={level})",
    "RR@3": "RR(rel={level})@3",
    "Rprec": "Rprec(rel={level})",
    "P@5": "P(rel={level})@5",
    "R@5": "R(rel={level})@5",
    "Success@3": "Success(rel={level})@3",
    "ERR@10": "ERR@10",
    "RBP(p=0.8)": "RBP(rel={level},p=0.8)",
    "RBP(p=0.5)": "RBP(rel={level},p=0.5)",
    "bpref": "Bpref(rel={level})",
    "SetP": "SetP(rel={level})",
    "SetR": "SetR(rel={level})",
    "SetF": "SetF(rel={level})",
    "Judged@10": "Judged@10",
}
HIGHEST_OF_GDEVAL = 4
TOLERANCE = {"ERR@10": 5.1e-6}  # gdeval prints five decimals


def evaluate_every_family(qrels: Qrels, run: Run, level: int) -> Iterator[tuple[tuple, float]]:
    """((query, measure), value) by ir_measures, of the run's queries that have labels.

    ERR only where no label is above 4: gdeval refuses others. Ties are broken here, because its
    providers differ: the scores that they get are places in trec_eval's order.
    """
    numbers = {query: str(number) for number, query in enumerate(qrels, 1)}  # gdeval wants them
    places = {
        numbers[query]: {
            passage: float(-place)
            for place, passage in enumerate(
                sorted(scores, key=lambda p: (np.float32(scores[p]), p.encode()), reverse=True)
            )
        }
        for query, scores in run.items()
        if query in qrels
    }
    labels = {numbers[query]: passages for query, passages in qrels.items()}
    highest = max(label for passages in labels.values() for label in passages.values())
    parsed = {
        ir_measures.parse_measure(theirs.format(level=level)): ours
        for ours, theirs in OF_EVERY_FAMILY.items()
        if ours != "ERR@10" or highest <= HIGHEST_OF_GDEVAL
    }
    queries = {number: query for query, number in numbers.items()}
    for found in ir_measures.iter_calc(list(parsed), labels, places):
        if found.query_id in places:
            ours, value = parsed[found.measure], found.value
            if ours == "Judged@10":  # we divide by 10 where fewer were retrieved, too
                value *= min(10, len(places[found.query_id])) / 10
            yield (queries[found.query_id], ours), value
