"""What an import of a judge's or a person's labels did."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from gradelake.ingest.collections import trec
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.mapping.queries import note_of_left_out, of_known_queries
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.opening import Lake


@dataclass
class ImportedFile:
    """What was written; `snapshot` is None when nothing changed. `by` says whose it is.

    `empty`: rows without a label (None: there cannot be any); `changed`: pairs whose label was
    another one before, or was taken back.
    """

    file: str
    collection: str
    what: str  # labels, judgments ...
    by: Mapping[str, str | None]
    written: int = 0
    empty: int | None = None
    changed: int = 0
    snapshot: int | None = None
    warnings: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # what rows contradict each other

    @property
    def exit_code(self) -> int:
        """3 when something was left out, else 0."""
        return 3 if self.left_out else 0

    def taken(self, frame: pl.DataFrame, lake: Lake) -> pl.DataFrame:
        """Rows of the collection's topics, each pair once. The others are left out and noted, or
        refused by `Rejected`, as `unknown_queries` of gradelake.toml says."""
        if "rater" in frame.columns:
            if raters := sorted(frame["rater"].drop_nulls().unique()):
                (role, own), *_ = self.by.items()
                told = f"a column of raters ({', '.join(raters[:5])}) is not read"
                self.warnings.append(f"{self.file}: {told}: all of it is of the {role} {own}")
            frame = frame.drop("rater")
        frame, repeated = trec.once_per_pair(self.of_topics(frame, lake), self.file)
        if repeated:
            self.warnings.append(f"{self.file}: {counted(repeated, 'repeated lines')}, kept once")
        return frame

    def of_topics(self, frame: pl.DataFrame, lake: Lake) -> pl.DataFrame:
        """Rows of the collection's topics; others as in `taken`."""
        name, stated = self.collection, lake.project.collections
        leave_out = (
            name in stated and Collection.named(lake.project, name).unknown_queries == "leave out"
        )
        known = lake.query_ids(name)
        frame, left = of_known_queries(lake, name, known, frame, self.file, leave_out)
        if left:
            note = note_of_left_out(left, frame.height, self.file, name)
            self.warnings.append(note)
        return frame

    def as_object(self) -> dict:
        may_miss = {"not_judged_yet": self.empty, "changed": self.changed}
        return {
            **self.by,
            "written": self.written,
            **({} if self.empty is None else may_miss),
            "snapshot": self.snapshot,
            "warnings": self.warnings,
            **({"left_out": self.left_out} if self.left_out else {}),
        }

    def print(self) -> None:
        for warning in self.warnings:
            console.warn(f"note: {warning}")
        for line in self.left_out:
            console.warn(f"left out: {line}")
        if self.snapshot is None:
            console.say(f"{self.file}: unchanged, nothing to do")
            return
        (role, name), *_ = self.by.items()
        label = self.what.split()[-1].removesuffix("s")
        console.say(
            f"{role} {name}: wrote {counted(self.written, self.what)} for {self.collection}"
        )
        if self.changed:
            console.say(f"{self.changed:,} of the pairs had a different {label} before")
        if self.empty:
            console.say(f"{counted(self.empty, 'rows', 'have')} no {label} yet")
