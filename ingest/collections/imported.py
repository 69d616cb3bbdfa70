"""What an import of a judge's or a person's labels did."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradelake.sql.common import console
from gradelake.sql.common.counted import counted


@dataclass
class Imported:
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

    def as_object(self) -> dict:
        may_miss = {"not_judged_yet": self.empty, "changed": self.changed}
        return {
            **self.by,
            "written": self.written,
            **({} if self.empty is None else may_miss),
            "snapshot": self.snapshot,
            "warnings": self.warnings,
        }

    def print(self) -> None:
        for warning in self.warnings:
            console.warn(f"note: {warning}")
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
