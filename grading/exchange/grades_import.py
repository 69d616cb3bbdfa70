"""`gradelake import grades`: what others graded becomes graders and grades of the lake."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.grading.exchange.assignments_import import NUGGETS, read_assignments
from gradelake.grading.exchange.beside_rows import together
from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.criteria import read_criteria
from gradelake.grading.exchange.criteria_bank import write_bank
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.imported import Imported
from gradelake.grading.exchange.judgments_and_rankings import write_judgments, write_rankings
from gradelake.grading.exchange.workbench import Found
from gradelake.grading.exchange.workbench_read import read_graded
from gradelake.grading.plan.planner import ensure_views
from gradelake.sql.common import files
from gradelake.sql.common.console import unseen
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.connection import quote
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.opening import Lake

# what makes a grade unique in its collection; one whose text, query or gold answers nobody noted
# stands for a grade of any
_HASHES = ("passage_sha256", "query_sha256", "gold_sha256")
_KEY = [column for column in KEYS["grades"] if column != "collection"]


_READERS = {"workbench": read_graded, "criteria": read_criteria, "assignments": read_assignments}


def import_grades(
    lake: Lake,
    collection: str,
    path: Path,
    choices: Choices,
    arguments: list[str],
    progress: Callable[..., Any] = unseen,
) -> Imported:
    """Store a file of grades in one commit; a changed file replaces what it brought before.

    Raises `BadInput` for an unknown collection, a wrong name or an assessor that came from
    elsewhere, and `Rejected` for a file that cannot be used; then nothing is written.
    """
    choices.check()
    shown = str(path)
    files.check_file_name(shown)
    if not path.is_file():
        raise BadInput(f"{shown}: no such file", "Name a file of grades.")
    of_format = choices.format_of(path, shown)
    if of_format == "assignments":
        ensure_views(lake, (NUGGETS,))
    done = Imported(collection, shown)
    with lake.transaction("import", f"grades {collection} {path.name}") as transaction:
        lake.require_collection(collection)
        writer = Import(transaction, collection, path, choices, done)
        if transaction.recorded(writer.target) == writer.sha256:
            return done
        choices.require_of(of_format, shown)
        found = _READERS[of_format](path, shown, writer.queries, choices, writer.rows, progress)
        writer.rows.flush()
        files.require_same(path, shown, writer.file_sha256)
        writer.write(found)
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
        self._passages()
        n_grades = self._grades(found, before)
        write_judgments(self)
        write_rankings(self)
        write_bank(self, found.items)
        self.transaction.delete("brought_along", target=self.target)
        self.rows.brought_along.merge("content", _merged, "query_id", "part")
        self.transaction.insert_from(
            "brought_along", "select * exclude (place) from staged_brought_along"
        )
        self.transaction.record(self.target, self.sha256, n_grades)

    def _brought_before(self) -> set[str]:
        """Take out the grades that an earlier state of the file brought; their graders' ids."""
        run_id = self.lake.value("select run_id from lake.raw.ledger where target = ?", self.target)
        if run_id is None:
            return set()
        rows = self.lake.rows(
            "select distinct grader_id from lake.raw.grades where collection = ? and run_id = ?",
            self.collection,
            run_id,
        )
        self.transaction.delete("grades", collection=self.collection, run_id=run_id)
        return {grader_id for (grader_id,) in rows}

    def _passages(self) -> None:
        """Add those that the lake lacks; where it has another text, that one stays."""
        rows, seen = self.rows.passages, self.done.seen
        if rows.keep_first("passage_id"):
            seen["other_text_in_file"] = self.lake.value(
                "select count(*) from staged_passages_with_repeats as every "
                "inner join staged_passages as kept using (passage_id) "
                "where every.text_sha256 != kept.text_sha256"
            )
        seen["other_text_in_lake"] = self.lake.value(
            "select count(*) from staged_passages as ours "
            "inner join lake.raw.passages as known using (collection, passage_id) "
            "where ours.text_sha256 != known.text_sha256"
        )
        self.insert_from(
            "passages",
            "select * exclude (place) from staged_passages "
            "anti join lake.raw.passages using (collection, passage_id)",
        )

    def _grades(self, found: Found, before: set[str]) -> int:
        rows, seen = self.rows.grades, self.done.seen
        seen["repeated_grades"] = seen.get("repeated_grades", 0) + rows.keep_first(*_KEY)
        by_status = self.lake.rows(
            "select grader_id, status, count(*), min(grade), max(grade) from staged_grades "
            "group by all order by all"
        )
        _enter_scales(found, by_status)
        graded = {grader_id for grader_id, *_ in by_status}
        ids = [grader_id for grader_id in found.graders if grader_id in graded]
        n_grades = sum(n for _, _, n, _, _ in by_status)
        self._graders({i: found.graders[i] for i in ids}, before - set(ids))
        n_new = self.insert_from("grades", self._new_grades(ids))
        seen["grades_in_lake_already"] = n_grades - n_new
        self._account(found, by_status)
        return n_new

    def _new_grades(self, graders: list[str]) -> str:
        """The query for the file's grades that the lake does not have from elsewhere."""
        known = (
            f"select {', '.join(_KEY)} "
            f"from lake.raw.grades where collection = {quote(self.collection)} "
            f"and grader_id in ({', '.join(map(quote, graders)) or 'null'})"
        )
        if not self.lake.rows(f"{known} limit 1"):
            return "select * exclude (place) from staged_grades"
        same = " and ".join(
            f"(file.{name} is null or known.{name} is null or file.{name} = known.{name})"
            for name in _HASHES
        )
        # joined by what is never null: by a condition with "or" alone, every pair is compared
        return f"""
            with there_already as (
                select file.place
                from staged_grades as file
                inner join ({known}) as known using (grader_id, query_id, passage_id, item_id)
                where {same}
            )
            select file.* exclude (place)
            from staged_grades as file
            anti join there_already using (place)
        """

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

    def _account(self, found: Found, by_status: list[tuple]) -> None:
        """Every grader of the file with its grades by status."""
        graders: dict[str, dict[str, Any]] = {}
        for i, status, n, *_ in by_status:
            grader = graders.setdefault(
                i,
                {
                    "name": found.graders[i]["name"],
                    "grader_id": i,
                    "target": found.graders[i]["target"],
                    "grades": 0,
                },
            )
            grader["grades"] += n
            grader[status] = n
        self.done.graders = sorted(graders.values(), key=lambda grader: grader["name"])


def _merged(contents: list[str]) -> str:
    return json.dumps(together(map(json.loads, contents)), ensure_ascii=False)


def _enter_scales(found: Found, by_status: list[tuple]) -> None:
    """Enter the scales that are told by grades: rows of (grader, status, n, least, greatest)."""
    for grader_id, at_least in found.scale_at_least.items():
        ends = [row[3:] for row in by_status if row[0] == grader_id and row[3] is not None]
        found.graders[grader_id]["scale_min"] = min([0, *(least for least, _ in ends)])
        found.graders[grader_id]["scale_max"] = max([at_least, *(most for _, most in ends)])
