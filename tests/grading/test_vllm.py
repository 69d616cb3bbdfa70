"""A real vLLM in real Ray actors, with a real model that is far too small to judge.

SmolLM2-135M proves the machinery: its grades mean nothing.
"""

import json
import os
import subprocess
import sys

import pytest

from gradelake.grading.graders.grader_reader import read_grader
from gradelake.grading.plan.planner import Plan, ensure_views
from gradelake.grading.plan.request import Request
from gradelake.grading.run.grader_run import grade
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.grading.dl19_sample import make_sample
from tests.grading.smollm import missing, model_folder
from tests.places import REPOSITORY, missing_dl19

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=str(missing()))]

QUERIES = int(os.environ.get("GRADELAKE_VLLM_QUERIES", "1"))  # each has 100 pairs
ACTORS = int(os.environ.get("GRADELAKE_VLLM_ACTORS", "1"))  # each loads a model of its own

SMOL = {
    "engine": "vllm",
    "prompt": "question_self_rating_context_first",
    "parser": "strict",
    "max_model_len": 2048,
    "kv_cache_mib": 256,
}


def test_real_pairs_through_actors_equal_one_llm_called_directly(tmp_path):
    if reason := missing_dl19():
        pytest.skip(reason)
    folder = make_sample(tmp_path / "sample", n_queries=QUERIES)
    model = str(model_folder())
    settings = "\n".join(
        f"{key} = {json.dumps(value)}"
        for key, value in {**SMOL, "model": model, "chunk_pairs": 25, "actors": ACTORS}.items()
    )
    with (folder / "gradelake.toml").open("a") as config:
        config.write(f"\n[graders.smol]\n{settings}\n")
    project = Project.read(folder / "gradelake.toml")
    request = Request("dl19", read_grader(project, "smol"))
    with Lake.writer(project) as lake:
        ensure_views(lake)
        chunks = list(Plan(lake, request).chunks())
    assert sum(map(len, chunks)) == 100 * QUERIES

    asked = [
        [f"{INSTRUCTION}Context: {p['passage']} Question: {p['item']}" for p in chunk.prompts]
        for chunk in chunks
    ]
    (tmp_path / "chunks.json").write_text(json.dumps(asked))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.grading.direct_vllm",
            model,
            str(tmp_path / "chunks.json"),
            str(tmp_path / "direct.json"),
        ],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    direct = json.loads((tmp_path / "direct.json").read_text())

    run = grade(project, request, lambda line: None)
    assert (run.workers, run.counts["pairs"], run.counts["failed"]) == (ACTORS, 100 * QUERIES, 0)
    with Lake.live(project) as lake:
        found = {
            tuple(key): values
            for *key, values in lake.rows(
                "select query_id, passage_id, item_id, (grade, expected_grade) from lake.raw.grades"
            )
        }
    for chunk, answers in zip(chunks, direct, strict=True):
        keys = chunk.pairs.select("query_id", "passage_id", "item_id").rows()
        for key, n in zip(keys, chunk.pairs["prompt_no"], strict=True):
            expected_direct, probabilities = answers[n]
            mean = sum(p * g for g, p in enumerate(probabilities)) / sum(probabilities)
            assert found[key] == (expected_direct, pytest.approx(mean, abs=1e-9)), key


INSTRUCTION = """\
Can the question be answered based on the available context? choose one:
- 5: The answer is highly relevant, complete, and accurate.
- 4: The answer is mostly relevant and complete but may have minor gaps or inaccuracies.
- 3: The answer is partially relevant and complete, with noticeable gaps or inaccuracies.
- 2: The answer has limited relevance and completeness, with significant gaps or inaccuracies.
- 1: The answer is minimally relevant or complete, with substantial shortcomings.
- 0: The answer is not relevant or complete at all.
"""
