"""`gradelake init`: a starter configuration or the demo collection, and an empty lake."""

import os
import shutil
from importlib import resources
from pathlib import Path

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import CONFIG_NAME
from gradelake.sql.common.quoting import toml_key

STARTER = """\
# Gradelake's configuration. Paths are relative to this file.

[lake]
path = "lake"                     # the catalog and its Parquet files

# One table per collection. Take a dataset of ir_datasets, or your own files, or both.
[collections.mine]
# ir_dataset = "msmarco-passage/trec-dl-2019/judged"
queries = "topics.tsv"            # query_id TAB text, or JSON lines
# query_weights = "traffic.csv"   # query_id, weight; cluster and segments, too
# passages = "passages.jsonl.gz"  # {"passage_id", "text"}, or passage_id TAB text
# judgments = { nist = "qrels.txt" }
# runs = ["runs/*.run.gz"]        # the system's name is the file name without endings
# responses = ["responses/*.jsonl"]  # {"system", "query_id", "text"}, or TREC RAG reports
# official_ranks = { official = "official_ranks.json" }
# near_duplicates = "clusters.tsv"   # canonical id, then its duplicates, one cluster a line
# guidelines = "guidelines.md"       # for people who judge
# leave_out_near_duplicates = false
# min_relevant = 2                # judgments at or above it count as relevant
# default_pool_depth = 20
# [collections.mine.groups.family]   # does a judge favour systems of one kind?
# bm25 = ["bm25*"]                # patterns of systems' names

# One table per grader: an engine, a prompt and, but for lexical, a model. `gradelake prompts list`
# shows the prompts.
[graders.lexical]
engine = "lexical"                # compares words, without a model: the floor for every judge
prompt = "question_self_rating"   # every passage against every question of its query, 0-5
parser = "strict"

# [graders.flan]
# engine = "transformers"         # or vllm, openai
# model = "google/flan-t5-large"  # a folder, or a name at its hub
# prompt = "question_self_rating"
# parser = "paper"
"""


# graders of RAG systems' logs, and their prompts, as grading/RAG.md has them
OF_LOGS = {"context": "umbrela", "correct": "nuggetizer_assign", "faithful": "support"}
_OF_LOGS = """\
# Made by `gradelake import rag`: the questions of its logs are the topics.

[collections.{}]

# lexical compares words; for a real judge, engine = "openai" and a model
"""


def write_for_logs(folder: Path, collection: str) -> Path:
    """Write the `gradelake.toml` of a collection whose topics come with logs of RAG systems, into a
    folder that has none."""
    file = folder / CONFIG_NAME
    graders = (
        f'\n[graders.{grader}]\nengine = "lexical"\nprompt = "{prompt}"\n'
        for grader, prompt in OF_LOGS.items()
    )
    text = "".join([_OF_LOGS.format(toml_key(collection)), *graders])
    file.write_text(text, encoding="utf-8")
    return file


def write_starter(folder: Path) -> Path:
    """Write `gradelake.toml` into a folder. Raises `BadInput` when there is another already."""
    file = folder / CONFIG_NAME
    if file.exists() and file.read_bytes() != STARTER.encode():
        raise BadInput(f"{file} already exists", "Edit it, or choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(STARTER, encoding="utf-8")
    return file


def copy_demo(folder: Path) -> Path:
    """Copy the demo collection, with its configuration, into a folder of its own; files of it that
    are there stay. Raises `BadInput` where the folder is another project's."""
    file = folder / CONFIG_NAME
    source = resources.files("gradelake.ingest.demo")
    if file.exists() and file.read_bytes() != (source / CONFIG_NAME).read_bytes():
        raise BadInput(f"{file} already exists", "Remove that folder, or choose another.")
    with resources.as_file(source) as path:
        shutil.copytree(
            path,
            folder,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("*.py", "__pycache__"),
            copy_function=lambda of, to: os.path.exists(to) or shutil.copy2(of, to),
        )
    return file
