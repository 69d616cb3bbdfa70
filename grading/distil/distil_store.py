"""How rubrics of labels get into the lake."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.judged_pairs import Pair
from gradelake.grading.prompts.prompt import Prompt
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.hashes import id_of
from gradelake.sql.lake.opening import Lake

Explanation = Mapping[str, str]


@dataclass(frozen=True)
class DistilRequest:
    collection: str
    assessor: str
    grader: Grader
    name: str
    distil_prompt: Prompt
    share: float = 0.1
    per_label: int | None = None
    iterations: int = 3
    seed: int = 1
    query_ids: tuple[str, ...] | None = None  # None: all

    @property
    def about(self) -> dict[str, Any]:
        """What tells it from others, but for the prompt."""
        names = ("collection", "assessor", "name", "seed")
        return {name: getattr(self, name) for name in names} | {"grader_id": self.grader.grader_id}


@dataclass
class Distilled:
    """All that a run made. `rubrics` has one mapping per iteration, label -> text, and `read` how
    many explanations each text was made from; `explanations` has None for pairs without one."""

    pairs: tuple[Pair, ...]
    explanations: list[Explanation | None]
    rubrics: list[dict[int, str]] = field(default_factory=list)
    read: list[dict[int, int]] = field(default_factory=list)


def rubric_id_of(request: DistilRequest, made: Distilled) -> str:
    """16 hex digits over what the rubric was made of and what came of it."""
    content = request.about | {
        "distil_prompt": request.distil_prompt.sha256,
        "pairs": [
            [pair.query_id, pair.passage_id, pair.label, explanation]
            for pair, explanation in zip(made.pairs, made.explanations, strict=True)
        ],
        "rubrics": made.rubrics,
    }
    return id_of(content)


def store(
    log: ReplyLog, request: DistilRequest, made: Distilled, arguments: list[str], notes: list[str]
) -> tuple[str, bool]:
    """Commit a rubric with its iterations, its pairs, its maker and the replies that it was made
    of, as `commit_version` does."""
    rubric_id, grader = rubric_id_of(request, made), request.grader
    shared = request.about | {
        "rubric_id": rubric_id,
        "engine": grader.engine,
        "model": grader.model,
        "distil_prompt": request.distil_prompt.name,
        "distil_prompt_sha256": request.distil_prompt.sha256,
        "created_at": utc_now(),
    }
    rubrics = [
        shared
        | {"iteration": iteration, "label": label, "text": text, "n_explanations": read[label]}
        for iteration, (texts, read) in enumerate(zip(made.rubrics, made.read, strict=True), 1)
        for label, text in sorted(texts.items())
    ]
    pairs = [
        {
            "rubric_id": rubric_id,
            "collection": request.collection,
            "query_id": pair.query_id,
            "passage_id": pair.passage_id,
            "label": pair.label,
            "explanation": explanation and json.dumps(explanation, ensure_ascii=False),
        }
        for pair, explanation in zip(made.pairs, made.explanations, strict=True)
    ]
    extra = {"grader_id": grader.grader_id} | ({"notes": notes} if notes else {})
    return commit_version(log.lake, rubrics, pairs, arguments, extra, log)


def commit_version(
    lake: Lake,
    rubrics: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
    arguments: list[str],
    extra: dict[str, Any],
    log: ReplyLog | None = None,
) -> tuple[str, bool]:
    """Commit a version of a rubric in one transaction; `log` has what its maker was asked.

    Returns its id, and whether it is new: the very same one is not stored twice.
    """
    rubric_id, name, collection = (rubrics[0][key] for key in ("rubric_id", "name", "collection"))
    with lake.transaction("distil", f"{collection} {name}") as commit:
        if log:
            log.grader.register(commit)
            log.commit(commit)
        if lake.value("select 1 from lake.raw.label_rubrics where rubric_id = ?", rubric_id):
            return rubric_id, False
        commit.insert("label_rubrics", rubrics)
        commit.insert("label_rubric_pairs", pairs)
        commit.record(f"{collection}/label_rubric/{name}/{rubric_id}", rubric_id, len(pairs))
        n_labels = len({each["label"] for each in rubrics})
        commit.say(label_rubrics=n_labels, label_rubric_pairs=len(pairs))
        commit.extra |= {"rubric_id": rubric_id, **extra}
        commit.finish_run(arguments)
    return rubric_id, True
