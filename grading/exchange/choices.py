"""What is wanted of a file of grades."""

import re
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import check_name

# a file of assignments begins with an object of nuggets, one of criteria with a pair
_ASSIGNMENTS = re.compile(rb'\s*\{(?!\s*"\()[^\n]*"nuggets"')

# format -> the choices that it has, what it is, and what else to do where another was made
_OF_FORMAT = {
    "workbench": (
        ("rater", "assessor", "name", "systems", "trust"),
        "is graded JSONL, which says itself who graded what",
        ", or say --format criteria if it holds grades per criterion",
    ),
    "criteria": (
        ("name", "grader", "model", "kind", "scale"),
        "holds a grade per criterion: no replies, judgments or rankings",
        "",
    ),
    "assignments": (("grader", "model"), "holds assignments of nuggets to answers", ""),
}


@dataclass(frozen=True)
class Choices:
    """What of a file is wanted, and under which names. None: not said."""

    rater: str = "published"
    assessor: str | None = None
    name: str | None = None
    systems: bool = False
    trust: bool = False
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

    def require_of(self, of_format: str, shown: str) -> None:
        """Raise `BadInput` for a choice that files of the format do not have."""
        names, what_it_is, or_else = _OF_FORMAT[of_format]
        for choice in fields(self):
            if choice.name in (*names, "format") or getattr(self, choice.name) == choice.default:
                continue
            raise BadInput(f"{shown} {what_it_is}", f"Leave out --{choice.name}{or_else}.")
