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


class CriteriaGraders:
    """With `--name PREFIX` each criterion is a direct judge, named `PREFIX.Criterion`, whose scale
    is found from its grades; with `--grader NAME` the criteria are items of one grader's rubric of
    every query, on a `scale`."""

    def __init__(self, choices: Choices, shown: str):
        """Raises `BadInput` where the choices do not say who graded the file."""
        if bool(choices.name) == bool(choices.grader):
            raise BadInput(
                f"{shown} does not say which model graded"
                if not choices.name
                else "--grader and --name cannot be used together",
                "Either --grader NAME: one grader, whose rubric are the criteria. Or --name NAME: "
                "a judge per criterion, called NAME.CRITERION.",
            )
        if choices.name and (choices.kind or choices.scale):
            raise BadInput(
                "--kind and --scale are of a grader with a rubric",
                "Say --grader NAME instead of --name.",
            )
        self.one, self.name = choices.grader, choices.grader or choices.name or ""
        self.model, self.kind = choices.model or self.name, choices.kind or "question"
        self.scale = _read_scale(choices.scale or "0-3") if self.one else None
        self.rows: dict[str, dict[str, Any]] = {}  # of raw.graders, by grader_id
        self._ids: dict[str, str] = {}  # of the graders, by criterion

    def place(self, criterion: str, query_id: str) -> tuple[str, str]:
        """(grader_id, item_id) of a grade."""
        if criterion not in self._ids:
            row = self._row(criterion)
            self._ids[criterion] = row["grader_id"]
            self.rows[row["grader_id"]] = row
        return self._ids[criterion], item_id_of(query_id, "", criterion) if self.one else ""

    def _row(self, criterion: str) -> dict[str, Any]:
        settings: dict[str, Any] = {"criterion": criterion}
        named: dict[str, Any] = {}
        if self.scale:
            low, high = self.scale
            settings = {"criteria": self.name, "scale": [low, high]}
            named = {"name": self.name, "scale_min": low, "scale_max": high}
        row = imported_grader(
            model=self.model,
            prompt="criteria" if self.one else criterion.strip(),
            target=self.kind if self.one else "direct",
            parser="published",
            settings=settings,
            prefix=None if self.one or self.model == self.name else self.name,
        )
        return row | named

    def items(self, query_ids: Iterable[str]) -> pl.DataFrame:
        """Of one grader: every criterion of the file, once for each query."""
        rows = [
            (query_id, item_id_of(query_id, "", criterion), self.kind, criterion)
            for query_id in (query_ids if self.one else ())
            for criterion in self._ids
        ]
        return pl.DataFrame(rows, schema=ITEMS, orient="row").unique(
            "item_id", keep="last", maintain_order=True
        )


def _read_scale(text: str) -> tuple[int, int]:
    """`0-3` -> (0, 3). Raises `BadInput` for anything else."""
    found = _SCALE.fullmatch(text.strip())
    if not found or int(found[1]) >= int(found[2]) or int(found[2]) >= 1 << 31:
        raise BadInput(f"--scale {text}: not a scale", "Write LEAST-GREATEST, for example 0-3.")
    return int(found[1]), int(found[2])
