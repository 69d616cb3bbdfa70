"""Worked examples for few-shot prompts: files of judged pairs, and samples of them."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainValidator

from gradelake.grading.prompts.judged_pairs import JUDGED, check_assessor
from gradelake.grading.prompts.prompt import Example
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common import checked, files
from gradelake.sql.common.checked import Checked, Text
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.opening import Lake


class _Line(Checked):
    """A line of a file of examples; what `sample` writes beside them is not read."""

    passage: Text
    query: Text
    label: Annotated[str, PlainValidator(lambda label, info: _word(label, info.context))]
    collection: Text = ""
    query_id: Any = None
    passage_id: Any = None
    assessor: Any = None
    seed: Any = None


def _word(label: Any, scale: Scale) -> str:
    word = scale.word_of(str(label)) if type(label) in (int, str) else None
    if word is None:
        raise ValueError(f"{label!r} is not a word of the scale: {', '.join(scale.words)}")
    return word


def read_examples(path: Path, shown: str, scale: Scale) -> list[Example]:
    """The examples of a JSONL file, in its order.

    Raises `Rejected` with every line that lacks passage, query or label, has a key nobody reads,
    or a label that is not a word of the scale.
    """
    problems = Problems(
        shown, 'Lines look like {"passage": "...", "query": "...", "label": "Yes"}.'
    )
    found = []
    for number, row in files.json_lines(files.read(path, shown), shown):
        line, wrong = checked.read(_Line, row, context=scale)
        for fault in wrong:
            problems.add(number, str(fault))
        if line:
            found.append(Example(line.passage, line.query, line.label, line.collection))
    problems.raise_if_any()
    return found


def sample(
    lake: Lake, collection: str, assessor: str, scale: Scale, per_label: int, seed: int
) -> list[dict[str, Any]]:
    """Judged pairs of a collection, `per_label` of each label, as lines of an examples file.

    On a numeric scale the label is the judgment (below 0 counts as 0; one off the scale is left
    out); on a scale of two words the higher one is a judgment of at least min_relevant. The same
    seed gives the same pairs: they are ordered by a hash of seed and ids, and labels take turns.
    Raises `BadInput` for an unknown collection or assessor, and when a label has too few pairs.
    """
    if not scale.is_numeric and len(scale.words) != 2:
        raise BadInput(
            f"judgments do not say which word of the scale {scale} is meant",
            "Sample for a numeric scale, or for one of two words.",
        )
    check_assessor(lake, collection, assessor)
    rows = lake.rows(
        _SAMPLE,
        collection=collection,
        assessor=assessor,
        per_label=per_label,
        seed=str(seed),
        numeric=scale.is_numeric,
        grades=list(scale.words.values()),
    )
    counts = Counter(grade for grade, *_ in rows)
    if few := [grade for grade in dict.fromkeys(scale.words.values()) if counts[grade] < per_label]:
        shown = ", ".join(f"{counts[grade]} of label {grade}" for grade in few)
        raise BadInput(
            f"{collection} does not have {per_label} judged passages of every label: {shown}",
            "Sample fewer per label, or for another scale.",
        )
    word_of = {grade: word for word, grade in reversed([*scale.words.items()])}
    return [
        {
            "passage": passage,
            "query": query,
            "label": word_of[grade],
            "collection": collection,
            "query_id": query_id,
            "passage_id": passage_id,
            "assessor": assessor,
            "seed": seed,
        }
        for grade, query_id, passage_id, query, passage in rows
    ]


_SAMPLE = f"""
{JUDGED}
select
    case
        when $numeric then label
        when relevance >= min_relevant then list_max($grades)
        else list_min($grades)
    end as grade,
    query_id,
    passage_id,
    query,
    passage
from judged
where list_contains($grades, grade)
window turns as (partition by grade order by draw, query_id, passage_id)
qualify row_number() over turns <= $per_label
order by row_number() over turns, grade desc
"""
