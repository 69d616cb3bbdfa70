"""What is asked of a report."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Request:
    """Of one report, and, first, of the files of several.

    - collections: all in the lake where none is named
    - output: the file, of one collection; default: reports/COLLECTION.html
    - reference: the assessor to compare with; default: who judged the most, of equals the first by
      name
    - compare_with: since which release ranks moved; default: the one before
    - grid_passages: how many of each grid are shown, the best first; default: all
    - without_rubric: nothing is shown of an item, an answer, or what a model replied
    - preview: a file of what `rubric preview --json` printed
    """

    collections: tuple[str, ...] = ()
    output: Path | None = None
    reference: str | None = None
    compare_with: str | None = None
    grid_passages: int | None = None
    without_rubric: bool = False
    preview: Path | None = None

    def options(self) -> dict[str, Any]:
        """What a command was told that makes the same report, but for where it reads."""
        return {
            "--reference": self.reference,
            "--grid-passages": self.grid_passages,
            "--without-rubric": self.without_rubric or None,
            "--preview": self.preview,
        }
