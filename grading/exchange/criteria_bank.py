"""The rubric that a file of grades per criterion brings: a bank named after its grader."""

from typing import TYPE_CHECKING

import polars as pl

from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.transaction import utc_now

if TYPE_CHECKING:
    from gradelake.grading.exchange.file_import import FileImport


class CriteriaBank:
    """The criteria as rubric items of the file's queries.

    Raises `BadInput` when the collection has a rubric of that kind from elsewhere: a rubric is one
    for all graders of its kind, so the criteria would be items that every other grader misses.
    """

    def __init__(self, into: "FileImport", items: pl.DataFrame):
        self.into, self.items = into, items
        self.bank = into.choices.grader or into.choices.name
        if items.height:
            self._refuse_beside_another_rubric(items["kind"][0])

    @property
    def mark(self) -> str:
        """Ledger entry saying that a bank holds the criteria of a file."""
        return f"{self.into.collection}/criteria/{self.bank}"

    def _refuse_beside_another_rubric(self, kind: str) -> None:
        into = self.into
        banks = into.lake.rows(
            "select distinct bank from lake.raw.rubric_items where collection = ? and kind = ? "
            "order by bank",
            into.collection,
            kind,
        )
        ours = into.transaction.recorded
        foreign = [
            f"the bank {bank!r}"
            for (bank,) in banks
            if not ours(f"{into.collection}/criteria/{bank}")
        ]
        # without a bank, what was graded stands in as the rubric
        foreign += [
            f"what {grader!r} graded"
            for (grader,) in into.lake.rows(
                "select distinct name from lake.raw.graders as graders "
                "inner join lake.raw.grades as grades using (grader_id) "
                "where grades.collection = ? and graders.target = ? "
                "and not (graders.engine = 'imported' and graders.prompt = 'criteria') "
                "order by name",
                into.collection,
                kind,
            )
            if not banks
        ]
        if foreign:
            other = "nugget" if kind == "question" else "question"
            raise BadInput(
                f"{into.collection} has a rubric of {kind}s already: {', '.join(foreign[:3])}",
                "Its graders and these criteria would share one rubric, and each miss the other's "
                f"items. Import the criteria as --kind {other}, into a collection of their own, or "
                "with --name instead of --grader: a judge per criterion.",
            )

    def write(self) -> None:
        """Put the items in the place of those that the file brought before."""
        into = self.into
        if self.bank and into.transaction.recorded(self.mark):
            into.transaction.delete("rubric_items", collection=into.collection, bank=self.bank)
            into.transaction.forget(self.mark)
        if self.items.is_empty():
            return
        self._refuse_another_bank_of_this_name()
        rows = into.own(
            self.items,
            bank=self.bank,
            facet_id="",
            weight=1.0,
            origin="imported",
            created_at=utc_now(),
        )
        n_rows = into.transaction.insert("rubric_items", rows)
        into.transaction.record(self.mark, into.file_sha256, n_rows)
        into.count("rubric_items", n_rows)

    def _refuse_another_bank_of_this_name(self) -> None:
        if self.into.lake.value(
            "select count(*) from lake.raw.rubric_items where collection = ? and bank = ?",
            self.into.collection,
            self.bank,
        ):
            raise BadInput(
                f"{self.into.collection} has a bank {self.bank!r} from another source",
                "The criteria become a bank named after the grader. Choose another --grader.",
            )
