"""A piece of TREC DL 2019: the first judged passages of a few queries, and all their questions."""

import gzip
import itertools
import json
from pathlib import Path

from tests.command_line import gradelake
from tests.places import DL19
from tests.projects import project

N_QUERIES, N_PASSAGES = 6, 10


def make_sample(folder: Path) -> Path:
    """A project with 6 queries x 10 passages x 10 questions ingested; nothing graded."""
    lines = (DL19 / "qrels.txt").read_text().splitlines()
    by_query = {
        query_id: list(group)
        for query_id, group in itertools.groupby(lines, lambda x: x.split()[0])
    }
    chosen = sorted(by_query)[:N_QUERIES]
    topics = (DL19 / "topics.tsv").read_text().splitlines()
    with gzip.open(DL19 / "question_bank.jsonl.gz", "rt") as stream:
        bank = [line for line in stream if json.loads(line)["query_id"] in chosen]
    files = {
        "nist.qrels": [line for query_id in chosen for line in by_query[query_id][:N_PASSAGES]],
        "topics.tsv": [line for line in topics if line.split("\t")[0] in chosen],
        "bank.jsonl": "".join(bank),
    }
    collection = {
        "queries": "topics.tsv",
        "passages": DL19 / "passages.jsonl.gz",
        "judgments": {"nist": "nist.qrels"},
        "min_relevant": 2,
    }
    project(folder, {"dl19": collection}, files=files)
    gradelake(folder, "ingest", "dl19")
    gradelake(folder, "import", "bank", "dl19", "bank.jsonl", "--name", "questions")
    return folder
