"""A piece of TREC DL 2019: the first judged passages of a few queries, and all their questions."""

import gzip
import itertools
import json
from pathlib import Path

from tests.command_line import gradelake
from tests.places import DL19


def make_sample(folder: Path, n_queries: int = 6, n_passages: int = 10) -> Path:
    """A project with `n_queries` x `n_passages` x 10 questions ingested; nothing graded."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = (DL19 / "qrels.txt").read_text().splitlines()
    by_query = {
        query_id: list(group)
        for query_id, group in itertools.groupby(lines, lambda x: x.split()[0])
    }
    chosen = sorted(by_query)[:n_queries]
    judged = [line for query_id in chosen for line in by_query[query_id][:n_passages]]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    topics = (DL19 / "topics.tsv").read_text().splitlines()
    kept = [line for line in topics if line.split("\t")[0] in chosen]
    (folder / "topics.tsv").write_text("\n".join(kept) + "\n")
    with gzip.open(DL19 / "question_bank.jsonl.gz", "rt") as stream:
        bank = [line for line in stream if json.loads(line)["query_id"] in chosen]
    (folder / "bank.jsonl").write_text("".join(bank))
    (folder / "gradelake.toml").write_text(
        f"""
[collections.dl19]
queries = "topics.tsv"
passages = "{DL19}/passages.jsonl.gz"
judgments = {{ nist = "qrels.txt" }}
min_relevant = 2
"""
    )
    gradelake(folder, "ingest", "dl19")
    gradelake(folder, "import", "bank", "dl19", "bank.jsonl", "--name", "questions")
    return folder
