"""An independent evaluation of TREC files: plain Python readers, pytrec_eval and scipy."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytrec_eval

MEASURES = {
    "nDCG@10": "ndcg_cut_10",
    "nDCG@20": "ndcg_cut_20",
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "P@10": "P_10",
    "R@100": "recall_100",
}
_REQUEST = {"ndcg_cut.10,20", "map", "recip_rank", "Rprec", "P.10", "recall.100"}
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
    values = evaluator.evaluate(run)
    return {
        query: {ours: cells[theirs] for ours, theirs in MEASURES.items()}
        for query, cells in values.items()
    }


def cells(labels: dict[str, Qrels], runs: dict[str, Run]) -> Iterator[tuple[tuple, float]]:
    """((label set, level, system, query, measure), value) of every combination."""
    for label_set, qrels in labels.items():
        for level in LEVELS:
            for system, run in runs.items():
                for query, values in evaluate(qrels, run, level).items():
                    for measure, value in values.items():
                        yield (label_set, level, system, query, measure), value
