"""Rubrics of labels from judged pairs, in the steps of TRUE, arXiv:2509.25602.

1. Draw some of an assessor's judged pairs, as many of each label.
2. A model explains each pair's label, by five features.
3. The explanations of a label become its rubric in a few iterations: each reads another part of
   them, with the rubrics of all labels so far, and refines the rubric.

What was drawn, explained and distilled is stored as one version of a named rubric. Step 4, judging
by the rubric, is `gradelake grade` with a prompt that has the slot {label_rubrics}.
"""

from dataclasses import dataclass, field
from typing import Any

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.distil.distil_store import Distilled, DistilRequest, Explanation, store
from gradelake.grading.distil.rubric_file import check_rubric_name
from gradelake.grading.generate.writers import QueryBatch, Writers, WritingRun, batches_of, writers
from gradelake.grading.graders.label_rubrics import rubrics_text
from gradelake.grading.plan.planner import check_queries, check_slots
from gradelake.grading.prompts.judged_pairs import PairSample, sample_pairs
from gradelake.grading.prompts.prompt import OF_QUERY
from gradelake.grading.prompts.written_reply import FEATURES
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


@dataclass
class DistilPlan:
    request: DistilRequest
    sample: PairSample

    def as_object(self) -> dict[str, Any]:
        request, sample = self.request, self.sample
        return request.about | {
            "grader": request.grader.name,
            "pairs": len(sample.pairs),
            "per_label": sample.per_label,
            "drawn": {label: len(sample.of(label)) for label in sample.available},
            "available": sample.available,
        }


@dataclass
class DistilRun(WritingRun, DistilPlan):
    rubric_id: str | None = None
    is_new: bool = True
    rubrics: dict[int, str] = field(default_factory=dict)  # label -> its text
    explained: int = 0  # in this run
    kept: int = 0  # explained by an earlier run that did not finish
    failed: dict[tuple[str, str], str] = field(default_factory=dict)  # pair -> why
    iterations: int = 0  # that are done
    cut_characters: int = 0  # of explanations that did not fit the model

    def progress(self) -> str:
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        n_known, n_pairs = self.explained + self.kept, len(self.sample.pairs)
        return (
            f"{n_known:,} of {n_pairs:,} pairs explained{failed}; "
            f"{self.iterations} of {self.request.iterations} iterations"
        )

    @property
    def exit_code(self) -> int:
        """0 done, 3 some pairs could not be explained, 130 stopped by the user."""
        if self.rubric_id is None:
            return 130
        return 3 if self.failed else 0

    def as_object(self) -> dict[str, Any]:
        return super().as_object() | {
            "rubric_id": self.rubric_id,
            "is_new": self.is_new,
            "rubrics": self.rubrics,
            "explained": self.explained,
            "kept": self.kept,
            "failed": [
                {"query_id": query_id, "passage_id": passage_id, "reason": why}
                for (query_id, passage_id), why in self.failed.items()
            ],
            "cut_characters": self.cut_characters,
            **self.run_facts(),
        }


def draw(lake: Lake, request: DistilRequest) -> PairSample:
    """Step 1. Raises `BadInput` for a request that cannot be met."""
    check_rubric_name(request.name, "--name")
    check_queries(lake, request.collection, request.query_ids)
    check_slots(lake, request.collection, request.grader.prompt)
    return sample_pairs(
        lake,
        request.collection,
        request.assessor,
        share=request.share,
        per_label=request.per_label,
        seed=request.seed,
        query_ids=request.query_ids,
    )


def distil(project: Project, request: DistilRequest, arguments: list[str]) -> DistilRun:
    """Draw, explain, distil and store a new version of a rubric.

    Nothing is stored before all is done; explanations are kept meanwhile, so that a run that was
    stopped or killed need not pay for them again. Raises `BadInput` for a request that cannot be
    met, and `WorkFailed` when the engine cannot work, when a label gets no explanation or no
    rubric, or when another process is at work with this grader.
    """
    about = Asked(request.collection, "distil")
    with ReplyLog.of_run(project, request.grader, about) as log:
        outcome = DistilRun(request, draw(log.lake, request))
        with writers(log, outcome) as crew:
            made = Distilled(outcome.sample.pairs, _explain(request, crew))
            if not crew.stop():
                _check_explained(outcome, made)
                _distil(request, crew, made)
            if outcome.iterations == request.iterations:
                outcome.rubric_id, outcome.is_new = store(
                    log, request, made, arguments, outcome.notes
                )
                outcome.rubrics = made.rubrics[-1]
                log.committed()
    return outcome


def _explain(request: DistilRequest, crew: Writers) -> list[Explanation | None]:
    """Step 2. An explanation per drawn pair, in their order."""
    outcome = crew.outcome
    highest = str(max(outcome.sample.available))
    values = [
        {
            **{slot: getattr(pair, slot) for slot in OF_QUERY},
            "query_id": pair.query_id,
            "passage_id": pair.passage_id,
            "passage": pair.passage,
            "label": str(pair.label),
            "max_label": highest,
        }
        for pair in outcome.sample.pairs
    ]
    asked = [(str(n), one) for n, one in enumerate(values)]
    found: list[Explanation | None] = [None] * len(asked)
    for generated in crew.ask(batches_of(asked, "explain-")):
        for one in generated:
            n = int(one.query_id)
            found[n] = one.items
            if one.items is None:
                pair = outcome.sample.pairs[n]
                outcome.failed[pair.query_id, pair.passage_id] = one.error or "no reason was given"
            elif one.is_recalled:
                outcome.kept += 1
            else:
                outcome.explained += 1
    return found


def _check_explained(outcome: DistilRun, made: Distilled) -> None:
    for label in outcome.sample.available:
        if not _explanations_of(made, label):
            why = next(
                outcome.failed[pair.query_id, pair.passage_id] for pair in outcome.sample.of(label)
            )
            raise WorkFailed(
                f"no pair with the label {label} could be explained: {why}",
                "Nothing was stored. Explanations of other labels are kept for the next run.",
            )


def _explanations_of(made: Distilled, label: int) -> list[Explanation]:
    both = zip(made.pairs, made.explanations, strict=True)
    return [explanation for pair, explanation in both if pair.label == label and explanation]


def part_of(explanations: list[Explanation], iteration: int, iterations: int) -> list[Explanation]:
    """What an iteration, counted from 1, reads: the explanations are dealt out like cards; where
    they are fewer than the iterations, each reads them all."""
    if len(explanations) < iterations:
        return explanations
    return explanations[iteration - 1 :: iterations]


def _distil(request: DistilRequest, crew: Writers, made: Distilled) -> None:
    """Step 3. Adds the rubrics of each iteration to what was made; stops when the user asks."""
    outcome = crew.outcome
    labels = sorted(outcome.sample.available)
    so_far: dict[int, str] = {}
    for iteration in range(1, request.iterations + 1):
        parts = {
            label: part_of(_explanations_of(made, label), iteration, request.iterations)
            for label in labels
        }
        batches = []
        for label in labels:
            values = {
                "label": str(label),
                "max_label": str(labels[-1]),
                "rubrics": rubrics_text(so_far),
                "explanations": _as_text(parts[label]),
            }
            name, asked = f"distil-{iteration}-{label}", (str(label), values)
            batches.append(QueryBatch(name, (asked,), request.distil_prompt))
        texts: dict[int, str] = {}
        for generated in crew.ask(batches):
            for one in generated:
                if one.items is None:
                    raise WorkFailed(
                        f"no rubric for the label {one.query_id} in iteration {iteration}: "
                        f"{one.error}",
                        "Nothing was stored. The same command continues with the explanations.",
                    )
                texts[int(one.query_id)] = one.items
                outcome.cut_characters += one.cut_characters
        if len(texts) < len(labels):
            return
        so_far = texts
        made.rubrics.append(texts)
        made.read.append({label: len(part) for label, part in parts.items()})
        outcome.iterations = iteration


def _as_text(explanations: list[Explanation]) -> str:
    """Numbered, a line per feature."""
    return "\n\n".join(
        "\n".join(
            [f"Passage {number}", *(f"- {key.replace('_', ' ')}: {one[key]}" for key in FEATURES)]
        )
        for number, one in enumerate(explanations, 1)
    )
