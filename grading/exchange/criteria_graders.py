"""Who graded per criterion: a judge for each, or one grader whose rubric are the criteria."""

import re
from collections.abc import Iterable
from typing import Any

import polars as pl

from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.workbench import ITEMS, imported_grader
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rubric_items import item_id_of

_SCALE = re.compile(r"([0-9]+)-([0-9]+)")


class JudgePerCriterion:
    """Each criterion is a direct judge of its own, named `prefix.Criterion`.

    Its scale is found from its grades.
    """

    scale = None

    def __init__(self, prefix: str, model: str | None = None):
        self.prefix, self.model = prefix, model or prefix
        self._ids: dict[str, str] = {}  # of the judges, by criterion
        self.rows: dict[str, dict[str, Any]] = {}  # of raw.graders, by grader_id

    def place(self, criterion: str, query_id: str) -> tuple[str, str]:
        """(grader_id, item_id) of a grade."""
        if criterion not in self._ids:
            judge = imported_grader(
                model=self.model,
                prompt=criterion.strip(),
                target="direct",
                parser="published",
                settings={"criterion": criterion},
                prefix=None if self.model == self.prefix else self.prefix,
            )
            self._ids[criterion] = judge["grader_id"]
            self.rows[judge["grader_id"]] = judge
        return self._ids[criterion], ""

    def items(self, query_ids: Iterable[str]) -> pl.DataFrame:
        """No rubric: each judge grades passages as a whole."""
        return pl.DataFrame(schema=ITEMS)


class OneGrader:
    """One grader; the criteria are items of the rubric of every query.

    `kind` is what the items are, question or nugget; `scale` are the least and greatest grade.
    """

    def __init__(self, name: str, model: str | None, kind: str, scale: tuple[int, int]):
        self.name, self.kind, self.scale = name, kind, scale
        self._criteria: dict[str, None] = {}
        row = imported_grader(
            model=model or name,
            prompt="criteria",
            target=kind,
            parser="published",
            settings={"criteria": name, "scale": list(scale)},
            prefix=None,
        ) | {"name": name, "scale_min": scale[0], "scale_max": scale[1]}
        self._id = row["grader_id"]
        self.rows = {self._id: row}

    def place(self, criterion: str, query_id: str) -> tuple[str, str]:
        """(grader_id, item_id) of a grade."""
        self._criteria[criterion] = None
        return self._id, item_id_of(query_id, "", criterion)

    def items(self, query_ids: Iterable[str]) -> pl.DataFrame:
        """Every criterion of the file, once for each query."""
        rows = {
            item_id_of(query_id, "", criterion): (query_id, self.kind, criterion)
            for query_id in query_ids
            for criterion in self._criteria
        }
        return pl.DataFrame(
            [(query_id, item_id, kind, text) for item_id, (query_id, kind, text) in rows.items()],
            schema=ITEMS,
            orient="row",
        )


def read_scale(text: str) -> tuple[int, int]:
    """`0-3` -> (0, 3). Raises `BadInput` for anything else."""
    found = _SCALE.fullmatch(text.strip())
    if not found or int(found[1]) >= int(found[2]) or int(found[2]) >= 1 << 31:
        raise BadInput(f"--scale {text}: not a scale", "Write LEAST-GREATEST, for example 0-3.")
    return int(found[1]), int(found[2])


def graders_of(choices: Choices, shown: str) -> JudgePerCriterion | OneGrader:
    """Who graded a file. Raises `BadInput` where the choices do not say it."""
    if bool(choices.name) == bool(choices.grader):
        raise BadInput(
            f"{shown} does not say which model graded"
            if not choices.name
            else "--grader and --name cannot be used together",
            "Either --grader NAME: one grader, whose rubric are the criteria. Or --name NAME: a "
            "judge per criterion, called NAME.CRITERION.",
        )
    if choices.grader:
        scale = read_scale(choices.scale or "0-3")
        return OneGrader(choices.grader, choices.model, choices.kind or "question", scale)
    if choices.kind or choices.scale:
        raise BadInput(
            "--kind and --scale are of a grader with a rubric",
            "Say --grader NAME instead of --name.",
        )
    assert choices.name  # then the judges have one: it was checked above
    return JudgePerCriterion(choices.name, choices.model)
