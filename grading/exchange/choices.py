"""What is wanted of a file of grades, and its reading in whichever format it is."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradelake.grading.exchange.assignments_import import read_assignments
from gradelake.grading.exchange.criteria import read_criteria
from gradelake.grading.exchange.criteria_graders import JudgePerCriterion, OneGrader, read_scale
from gradelake.grading.exchange.workbench import Found, Rows
from gradelake.grading.exchange.workbench_read import read_graded
from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import check_name

# a file of assignments begins with an object of nuggets, one of criteria with a pair
_ASSIGNMENTS = re.compile(rb'\s*\{(?!\s*"\()[^\n]*"nuggets"')

RATERS = {"published": ("published",), "paper": ("paper",), "both": ("published", "paper")}


@dataclass(frozen=True)
class Choices:
    """What of a file is wanted, and under which names. None: not said."""

    rater: str = "published"
    assessor: str | None = None
    name: str | None = None
    systems: bool = False
    format: str | None = None  # None: the beginning of the file tells
    grader: str | None = None
    model: str | None = None
    kind: str | None = None
    scale: str | None = None

    def check(self) -> None:
        """Raise `BadInput` for a name that cannot be one."""
        names = {"--name": self.name, "--assessor": self.assessor, "--grader": self.grader}
        for option, name in names.items():
            if name is not None:
                check_name(name, option)

    def format_of(self, path: Path, shown: str) -> str:
        """workbench, criteria or assignments."""
        if self.format:
            return self.format
        start = next(files.chunks(path, shown, sys.maxsize))
        if _ASSIGNMENTS.match(start):
            return "assignments"
        return "criteria" if start.lstrip().startswith(b"{") else "workbench"


def read_grades(
    path: Path,
    shown: str,
    queries: dict[str, str],
    choices: Choices,
    into: Rows,
    progress: Callable[..., Any],
) -> Found:
    """Read a file of grades of `queries` (id -> text); its rows go into `into`. Raises `BadInput`
    for choices that its format does not have, and `Rejected` for a file that cannot be used."""
    of_format = choices.format_of(path, shown)
    if of_format == "workbench":
        _refuse_choices_of_criteria(shown, choices)
        return read_graded(
            path,
            shown,
            queries,
            RATERS[choices.rater],
            choices.name,
            into,
            progress,
            choices.assessor,
            choices.systems,
        )
    if of_format == "assignments":
        grader = _grader_of_assignments(shown, choices)
        return read_assignments(path, shown, queries, grader, choices.model, into, progress)
    return read_criteria(path, shown, queries, _graders(shown, choices), into, progress)


def _grader_of_assignments(shown: str, choices: Choices) -> str:
    given = [
        option
        for option in ("assessor", "systems", "name", "kind", "scale")
        if getattr(choices, option)
    ]
    if choices.rater != "published":
        given.insert(0, "rater")
    if given:
        raise BadInput(
            f"{shown} holds assignments of nuggets to answers", f"Leave out --{given[0]}."
        )
    if not choices.grader:
        raise BadInput(
            f"{shown} does not say who assigned", "Name the grader: --grader NAME, perhaps --model."
        )
    return choices.grader


def _refuse_choices_of_criteria(shown: str, choices: Choices) -> None:
    given = [option for option in ("grader", "model", "kind", "scale") if getattr(choices, option)]
    if given:
        raise BadInput(
            f"{shown} is graded JSONL, which says itself who graded what",
            f"Leave out --{given[0]}, or say --format criteria if it holds grades per criterion.",
        )


def _graders(shown: str, choices: Choices) -> JudgePerCriterion | OneGrader:
    if choices.rater != "published" or choices.assessor or choices.systems:
        raise BadInput(
            f"{shown} holds a grade per criterion: no replies, judgments or rankings",
            "Leave out --rater, --assessor and --systems.",
        )
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
