"""A folder as a tool writes it, and what is expected of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.ingest.forms import world

# what `start` may take a file for
QUERIES, PASSAGES, RUNS, JUDGMENTS = "queries", "passages", "runs", "judgments"
RESPONSES, CLICKS, LABELS, BANK, RANKS = "responses", "clicks", "labels", "bank", "official_ranks"
NOTHING = ""


@dataclass(frozen=True)
class Folder:
    """A folder of files. `kinds` is what each file is taken for, by its name or a pattern of names;
    a file may bring several kinds, and one may be left out of `kinds` where it does not matter.

    `rows` counts what the lake holds in the end, by its raw tables, where that is not the usual.
    `names` are the assessors and judges whose labels are there; `labels` a map of words that
    `start` must write.
    """

    name: str
    fill: Callable[[Path], None]
    kinds: Mapping[str, tuple[str, ...] | str]
    systems: tuple[str, str] = ("strong", "weak")
    rows: Mapping[str, int] = field(default_factory=dict)
    assessors: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    ids: bool = True  # whether queries have the ids of `world.ASKED`, which a mixture may share

    def counts(self) -> dict[str, int]:
        """The rows of raw tables."""
        return {
            "queries": world.N_QUERIES,
            "passages": world.N_PASSAGES,
            "judgments": world.N_JUDGED,
            "systems": len(self.systems),
            "run_entries": len(self.systems) * world.N_RANKED,
            **self.rows,
        }
