"""What a graded file holds beside grades: judgments and rankings, taken in when asked for."""

import hashlib
from typing import TYPE_CHECKING

import polars as pl

from gradelake.grading.exchange.workbench import once
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import is_name
from gradelake.sql.lake.transaction import utc_now

if TYPE_CHECKING:
    from gradelake.grading.exchange.file_import import FileImport


class Judgments:
    """The judgments of a file, as those of one assessor.

    Raises `BadInput` when that assessor's judgments came from elsewhere.
    """

    def __init__(self, into: "FileImport", found: pl.DataFrame):
        self.into, self.assessor = into, into.choices.assessor
        seen = into.done.seen
        if not self.assessor:
            seen["judgments_left_out"] = found.height
            found = found.clear()
        elif found.height:
            self._refuse_if_from_elsewhere()
            # files of our own name the assessor of each
            theirs = pl.col("assessor").is_null() | (pl.col("assessor") == self.assessor)
            seen["judgments_of_others"] = found.filter(~theirs).height
            found = found.filter(theirs)
        once_each = once(
            found.sort("relevance", descending=True, maintain_order=True),
            ["query_id", "passage_id"],
        )
        seen["judgments_contradicting"] = found.height - once_each.height
        self.found = once_each.drop("assessor")

    @property
    def target(self) -> str:
        return f"{self.into.collection}/judgments/{self.assessor}"

    @property
    def mark(self) -> str:
        """Ledger entry saying that the assessor's judgments are this file's."""
        return f"{self.into.target}/judgments/{self.assessor}"

    def _refuse_if_from_elsewhere(self) -> None:
        recorded = self.into.transaction.recorded
        if recorded(self.target) and recorded(self.target) != recorded(self.mark):
            raise BadInput(
                f"the lake has judgments of assessor {self.assessor!r} from another source",
                "Choose another name with --assessor, or leave it out.",
            )

    def write(self) -> None:
        """Put them in the place of those that the file brought before."""
        if not self.assessor or self.found.is_empty():
            return
        into = self.into
        sha256 = hashlib.sha256(f"{into.target} {into.file_sha256}".encode()).hexdigest()
        if into.transaction.recorded(self.target):
            into.transaction.delete("judgments", collection=into.collection, assessor=self.assessor)
        rows = into.own(self.found, assessor=self.assessor)
        n_rows = into.transaction.insert("judgments", rows)
        into.transaction.record(self.target, sha256, n_rows)
        into.transaction.record(self.mark, sha256, n_rows)
        into.count("judgments", n_rows)


class Rankings:
    """The rankings of a file, as systems that the lake does not have."""

    def __init__(self, into: "FileImport", found: pl.DataFrame):
        self.into, self.found = into, found

    def write(self) -> None:
        """Add the systems; those that this file brought before are replaced."""
        into, seen = self.into, self.into.done.seen
        if not into.choices.systems:
            seen["rankings_left_out"] = self.found.height
            return
        rows = into.lake.rows(
            "select system, source_file from lake.raw.systems where collection = ?", into.collection
        )
        ours = {system for system, source in rows if source == self.source}
        known = {system for system, _ in rows} - ours
        systems = self.found["system"].unique().sort().to_list()
        unusable = [system for system in systems if not is_name(system)]
        seen["systems_in_lake_already"] = len(known & set(systems))
        seen["systems_with_unusable_names"] = len(unusable)
        new = [system for system in systems if system not in known and system not in unusable]
        for table in ("systems", "run_entries"):
            into.transaction.delete(table, collection=into.collection, system=sorted(ours))
        for system in ours:
            into.transaction.forget(f"{into.collection}/systems/{system}")
        self._insert(new)

    @property
    def source(self) -> str:
        """`source_file` of these systems; the exporter knows by it that their ranks have gaps."""
        return self.into.target.removeprefix(f"{self.into.collection}/grades/")

    def _insert(self, systems: list[str]) -> None:
        if not systems:
            return
        into = self.into
        entries = self.found.filter(pl.col("system").is_in(systems))
        table = entries.group_by("system").agg(pl.len().cast(pl.Int64).alias("n_rows"))
        into.transaction.insert(
            "systems",
            into.own(
                table,
                kind="ranking",
                source_file=self.source,
                file_sha256=into.file_sha256,
                ingested_at=utc_now(),
            ),
        )
        into.count("systems", len(systems))
        into.count("run_entries", into.transaction.insert("run_entries", into.own(entries)))
        for system, n_rows in table.iter_rows():
            target = f"{into.collection}/systems/{system}"
            into.transaction.record(target, into.file_sha256, n_rows)
