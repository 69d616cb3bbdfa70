"""Rubrics of labels in the lake: what a model distilled from judged pairs, version by version."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.opening import Lake

SHORTEST_ID = 6  # characters of an id that are enough to name it


@dataclass(frozen=True)
class LabelRubric:
    """One version of a rubric: a text per label, those of its last iteration.

    `facts` says where it comes from: collection, assessor, grader_id, engine, model, distil_prompt,
    seed, iterations, created_at.
    """

    rubric_id: str
    name: str
    texts: Mapping[int, str]
    facts: Mapping[str, Any]


def rubrics_text(texts: Mapping[int, str]) -> str:
    """The rubrics of labels, lowest label first; what is not there yet says so."""
    if not texts:
        return "none yet"
    return "\n".join(f"Label {label}: {texts[label]}" for label in sorted(texts))


def find_label_rubric(lake: Lake, stated: str, where: str) -> LabelRubric:
    """The newest rubric of a name; of NAME@ID the version with this id, or beginning of an id.

    Raises `BadInput` for one that the lake does not have.
    """
    versions = lake.rows(
        "select rubric_id, any_value(name), max(created_at) as made from lake.raw.label_rubrics "
        "group by rubric_id order by made desc, rubric_id"
    )
    names = [name for _, name, _ in versions]
    name, _, wanted = stated.partition("@")
    if name not in names:
        raise BadInput(
            f"{where}: the lake has no label rubrics {name!r}",
            did_you_mean(name, set(names))
            if names
            else "Make some: gradelake distil COLLECTION --assessor NAME --grader NAME --name NAME",
        )
    found = [id_ for id_, known, _ in versions if known == name and id_.startswith(wanted)]
    if not found or (wanted and len(wanted) < SHORTEST_ID) or (wanted and len(found) > 1):
        ids = ", ".join(f"{name}@{id_}" for id_, known, _ in versions if known == name)
        raise BadInput(f"{where}: {stated!r} is not a version of {name!r}", f"Newest first: {ids}.")
    return _read(lake, found[0])


def _read(lake: Lake, rubric_id: str) -> LabelRubric:
    rows = lake.objects(
        """
        select
            name, collection, assessor, grader_id, engine, model, distil_prompt, seed,
            created_at, iteration as iterations, label, text
        from lake.raw.label_rubrics
        where
            rubric_id = $rubric_id
            and iteration = (
                select max(iteration) from lake.raw.label_rubrics where rubric_id = $rubric_id
            )
        order by label
        """,
        rubric_id=rubric_id,
    )
    texts = {row.pop("label"): row.pop("text") for row in rows}
    return LabelRubric(rubric_id, rows[0].pop("name"), texts, rows[0])


def pairs_of(lake: Lake, rubric_id: str) -> list[dict[str, Any]]:
    """The sampled pairs of a rubric: query_id, passage_id, label, explanation by feature."""
    pairs = lake.objects(
        "select query_id, passage_id, label, explanation from lake.raw.label_rubric_pairs "
        "where rubric_id = ? order by label, query_id, passage_id",
        rubric_id,
    )
    return [
        pair | {"explanation": pair["explanation"] and json.loads(pair["explanation"])}
        for pair in pairs
    ]
