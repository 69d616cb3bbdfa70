"""`gradelake import grades`: what others graded becomes graders and grades of the lake."""

from pathlib import Path
from typing import Any

import polars as pl

from gradelake.grading.exchange.brought_along import write_judgments, write_rankings
from gradelake.grading.exchange.choices import Choices, read_grades
from gradelake.grading.exchange.criteria_bank import write_bank
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.imported import Imported
from gradelake.grading.exchange.workbench import Found
from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake


def import_grades(
    lake: Lake, collection: str, path: Path, choices: Choices, arguments: list[str]
) -> Imported:
    """Store a file of grades in one commit; a changed file replaces what it brought before.

    Raises `BadInput` for an unknown collection, a wrong name or an assessor that came from
    elsewhere, and `Rejected` for a file that cannot be used; then nothing is written.
    """
    choices.check()
    shown = str(path)
    files.check_file_name(shown)
    done = Imported(collection, shown)
    with lake.transaction("import", f"grades {collection} {path.name}") as transaction:
        lake.require_collection(collection)
        if not path.is_file():
            raise BadInput(f"{shown}: no such file", "Name a file of grades.")
        writer = Import(transaction, collection, path, choices, done)
        if transaction.recorded(writer.target) == writer.sha256:
            return done
        writer.write(read_grades(path, shown, writer.queries, choices))
        transaction.say(**done.counts)
        transaction.finish_run(arguments)
    done.snapshot = lake.newest_snapshot()
    return done


class Import(FileImport):
    """Writes one file's grades and what comes with them."""

    def write(self, found: Found) -> None:
        """Put everything in its place. Raises `BadInput` where something else is there."""
        self.done.seen = found.counts
        self.done.unknown_queries = found.unknown_queries
        before = self._brought_before()
        self._passages(found.passages)
        n_grades = self._grades(found, before)
        write_judgments(self, found.judgments)
        write_rankings(self, found.rankings)
        write_bank(self, found.items)
        self.transaction.record(self.target, self.sha256, n_grades)

    def _brought_before(self) -> set[str]:
        """Take out the grades that an earlier state of the file brought; their graders' ids."""
        run_id = self.lake.value("select run_id from lake.raw.ledger where target = ?", self.target)
        if run_id is None:
            return set()
        rows = self.lake.rows(
            "select distinct grader_id from lake.raw.grades where collection = ? and batch_id = ?",
            self.collection,
            run_id,
        )
        self.transaction.delete("grades", collection=self.collection, batch_id=run_id)
        return {grader_id for (grader_id,) in rows}

    def _passages(self, passages: pl.DataFrame) -> None:
        """Add those that the lake lacks; where it has another text, that one stays."""
        known = self.lake.frame(
            "select passage_id, text_sha256 as known_sha256 from lake.raw.passages "
            "where collection = ?",
            self.collection,
        )
        joined = passages.join(known, on="passage_id", how="left")
        self.done.seen["other_text_in_lake"] = joined.filter(
            pl.col("text_sha256") != pl.col("known_sha256")
        ).height
        new = joined.filter(pl.col("known_sha256").is_null()).drop("known_sha256")
        self.insert("passages", new, origin="corpus")

    def _grades(self, found: Found, before: set[str]) -> int:
        graded = set(found.grades["grader_id"])
        ids = [grader_id for grader_id in found.graders if grader_id in graded]
        key = ["grader_id", "query_id", "passage_id", "item_id", "passage_sha256"]
        known = self.lake.frame(
            f"select {', '.join(key)} from lake.raw.grades "
            "where collection = ? and grader_id in (select unnest(?))",
            self.collection,
            ids,
        )
        new = found.grades
        if known.height:
            new = new.join(known, on=key, how="anti", nulls_equal=True, maintain_order="left")
            # a grade of a text that nobody noted stands for a grade of any
            noted = pl.col("passage_sha256").is_not_null()
            pair = key[:-1]
            new = new.join(known.filter(~noted), on=pair, how="anti", maintain_order="left")
            blind = new.filter(~noted).join(known, on=pair, how="anti", maintain_order="left")
            new = pl.concat([new.filter(noted), blind])
        self.done.seen["grades_in_lake_already"] = found.grades.height - new.height
        self._graders({i: found.graders[i] for i in ids}, before - set(ids))
        rows = new.sort("query_id", "passage_id")
        self.insert("grades", rows, batch_id=self.transaction.run_id)
        self._account(found)
        return new.height

    def _graders(self, wanted: dict[str, dict[str, Any]], left: set[str]) -> None:
        """Drop the graders left empty, enter those that are new, widen the scales of others."""
        if left:
            self.transaction.run(
                "delete from {lake}.raw.graders where engine = 'imported' "
                "and grader_id in (select unnest(?)) "
                "and grader_id not in (select grader_id from {lake}.raw.grades)",
                sorted(left),
            )
        rows = self.lake.frame("select * from lake.raw.graders").to_dicts()
        lake = {row["grader_id"]: row for row in rows}
        names = {row["name"]: row["grader_id"] for row in rows}
        fresh = []
        for grader_id, grader in wanted.items():
            if known := lake.get(grader_id):
                grader["name"] = known["name"]
                low = min(known["scale_min"], grader["scale_min"])
                high = max(known["scale_max"], grader["scale_max"])
                if known["engine"] != "imported" or (low, high) == (
                    known["scale_min"],
                    known["scale_max"],
                ):
                    continue
                self.transaction.delete("graders", grader_id=grader_id)
                grader = known | {"scale_min": low, "scale_max": high}
            elif (
                names.setdefault(grader["name"], grader_id) != grader_id
                and grader["engine"] == "imported"
            ):
                if self.choices.grader:
                    raise BadInput(
                        f"the lake has another grader {grader['name']!r}",
                        "Choose another --grader.",
                    )
                grader["name"] += f"-{grader_id[:6]}"  # another prompt or setting of that name
            fresh.append(grader)
        if fresh:
            self.transaction.insert("graders", pl.DataFrame(fresh, infer_schema_length=None))
            self.count("graders", len(fresh))

    def _account(self, found: Found) -> None:
        """Every grader of the file with its grades by status."""
        by_status: dict[str, dict[str, int]] = {}
        for grader_id, status, n in (
            found.grades.group_by("grader_id", "status").len().sort("grader_id", "status").rows()
        ):
            by_status.setdefault(grader_id, {})[status] = n
        self.done.graders = sorted(
            (
                {
                    "name": found.graders[i]["name"],
                    "grader_id": i,
                    "target": found.graders[i]["target"],
                    "grades": sum(n.values()),
                    **n,
                }
                for i, n in by_status.items()
            ),
            key=lambda grader: grader["name"],
        )
