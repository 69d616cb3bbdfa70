"""Who graded per criterion: a judge for each, or one grader whose rubric are the criteria, which
become a bank named after it."""

import re
from collections.abc import Iterable
from typing import Any

import polars as pl

from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench import imported_grader
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake.rows import frame_of

_SCALE = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")


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
        if not self.scale:
            return imported_grader(
                model=self.model,
                prompt=criterion.strip(),
                target="direct",
                settings={"criterion": criterion},
                prefix=None if self.model == self.name else self.name,
            )
        low, high = self.scale
        settings = {"criteria": self.name, "scale": [low, high]}
        row = imported_grader(
            model=self.model, prompt="criteria", target=self.kind, settings=settings
        )
        return row | {"name": self.name, "scale_min": low, "scale_max": high}

    def items(self, query_ids: Iterable[str]) -> pl.DataFrame:
        """The items of one grader: every criterion of the file, once for each query."""
        rows = [
            (query_id, item_id_of(query_id, "", criterion), self.kind, criterion, place)
            for query_id in (query_ids if self.one else ())
            for place, criterion in enumerate(self._ids, start=1)
        ]
        columns = ("query_id", "item_id", "kind", "text", "place")
        items = frame_of("rubric_items", columns, rows)
        return items.unique("item_id", keep="last", maintain_order=True)


def _read_scale(text: str) -> tuple[int, int]:
    """`0-3` -> (0, 3). Raises `BadInput` for anything else."""
    found = _SCALE.fullmatch(text.strip())
    if not found or int(found[1]) >= int(found[2]) or int(found[2]) >= 1 << 31:
        raise BadInput(f"--scale {text}: not a scale", "Write LEAST-GREATEST, for example 0-3.")
    return int(found[1]), int(found[2])


def write_bank(into: FileImport) -> None:
    """Put the criteria, as rubric items, in the place of those that the file brought before.

    Raises `BadInput` when the collection has a rubric of that kind from elsewhere: a rubric is one
    for all graders of its kind, so the criteria would be items that every other grader misses.
    """
    transaction, collection, items = into.transaction, into.collection, into.items
    bank = into.choices.grader or into.choices.name
    mark = f"{collection}/criteria/{bank}"  # says in the ledger that a bank holds criteria
    if items.height:
        _refuse_beside_another_rubric(into, items["kind"][0])
    if bank and transaction.recorded(mark):
        transaction.delete("rubric_items", collection=collection, bank=bank)
        transaction.forget(mark)
    if items.is_empty():
        return
    if into.lake.value(
        "select count(*) from lake.raw.rubric_items where collection = ? and bank = ?",
        collection,
        bank,
    ):
        raise BadInput(
            f"{collection} has a bank {bank!r} from another source",
            "The criteria become a bank named after the grader. Choose another --grader.",
        )
    n_rows = into.insert(
        "rubric_items",
        items,
        bank=bank,
        facet_id="",
        weight=1.0,
        origin="imported",
        created_at=utc_now(),
    )
    transaction.record(mark, into.file_sha256, n_rows)


def _refuse_beside_another_rubric(into: FileImport, kind: str) -> None:
    banks = into.lake.rows(
        "select distinct bank from lake.raw.rubric_items where collection = ? and kind = ? "
        "order by bank",
        into.collection,
        kind,
    )
    foreign = [
        f"the bank {bank!r}"
        for (bank,) in banks
        if not into.transaction.recorded(f"{into.collection}/criteria/{bank}")
    ]
    if not banks:  # then what was graded stands in as the rubric
        graders = into.lake.rows(
            "select distinct name from lake.raw.graders where grader_id in "
            "(select distinct grader_id from lake.raw.grades where collection = ?) "
            "and target = ? and not (engine = 'imported' and prompt = 'criteria') "
            "order by name",
            into.collection,
            kind,
        )
        foreign = [f"what {grader!r} graded" for (grader,) in graders]
    if foreign:
        other = "nugget" if kind == "question" else "question"
        raise BadInput(
            f"{into.collection} has a rubric of {kind}s already: {', '.join(foreign[:3])}",
            "Its graders and these criteria would share one rubric, and each miss the other's "
            f"items. Import the criteria as --kind {other}, into a collection of their own, or "
            "with --name instead of --grader: a judge per criterion.",
        )
