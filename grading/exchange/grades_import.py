"""`gradelake import grades`: what others graded becomes graders and grades of the lake."""

import json
from pathlib import Path
from typing import Any

from gradelake.grading.exchange.as_it_came import together
from gradelake.grading.exchange.assignments import NUGGETS, read_assignments
from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.criteria import read_criteria
from gradelake.grading.exchange.criteria_graders import write_bank
from gradelake.grading.exchange.file_import import FileImport, ImportedGrades
from gradelake.grading.exchange.judgments_and_rankings import write_judgments, write_rankings
from gradelake.grading.exchange.workbench_read import read_graded
from gradelake.grading.plan.planner import ensure_views
from gradelake.sql.common import files
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.connection import quote
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.opening import Lake

# what makes a grade unique in its collection; one whose text, query or gold answers nobody noted
# stands for a grade of any
_HASHES = ("passage_sha256", "query_sha256", "gold_sha256")
_KEY = [column for column in KEYS["grades"] if column != "collection"]


# where there is no bank of a grader's kind, its items are those that grades name. Here and below
# grades are counted before they are joined: DuckDB takes tables that this transaction wrote for
# empty ones, and would hold all grades to look a grader up in them
_WITHOUT_ITEM = """
    with graded as (
        select collection, grader_id, item_id, count(*) as n from staged_grades group by all
    )
    select coalesce(sum(n), 0)::bigint
    from graded
    inner join lake.raw.graders as graders using (grader_id)
    semi join lake.raw.rubric_items as items
        on graded.collection = items.collection and graders.target = items.kind
    anti join lake.raw.rubric_items as items using (collection, item_id)
"""
# format -> what reads it, and what to do where it cannot be read
_READERS = {
    "workbench": (
        read_graded,
        "A line is [query_id, [paragraph, ...]]; fix these lines and import again.",
    ),
    "criteria": (
        read_criteria,
        'Such a file is one JSON object, {"(QUERY, PASSAGE)": {"CRITERION": GRADE, ...}, ...}; the '
        "other format read here has lines [query_id, [paragraph, ...]].",
    ),
    "assignments": (
        read_assignments,
        "Lines are as `nuggetizer assign` writes them, of answers in the lake (`gradelake ingest`) "
        "and nuggets of its rubric (`gradelake import bank` reads them from the same file). "
        "Nothing of the file was taken.",
    ),
}


def import_grades(
    lake: Lake, collection: str, path: Path, choices: Choices, arguments: list[str]
) -> ImportedGrades:
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
    with lake.transaction("import", f"grades {collection} {path.name}") as transaction:
        lake.require_collection(collection)
        into = FileImport(transaction, collection, path, choices, of_format)
        if transaction.recorded(into.target) == into.sha256:
            return into.done
        choices.require_of(of_format, shown)
        read, hint = _READERS[of_format]
        problems = Problems(shown, hint)
        read(into, problems)
        problems.raise_if_any()
        into.end()
        _write(into)
        transaction.say(**into.done.counts)
        transaction.finish_run(arguments)
    into.done.snapshot = lake.newest_snapshot()
    return into.done


def import_chosen(
    lake: Lake, collection: str, path: Path, arguments: list[str], **chosen: Any
) -> ImportedGrades:
    """`import_grades` of what is chosen in a file, as `Choices` has it."""
    return import_grades(lake, collection, path, Choices(**chosen), arguments)


def _write(into: FileImport) -> None:
    """Put everything in its place. Raises `BadInput` where something else is there."""
    transaction = into.transaction
    before = _brought_before(into)
    _write_passages(into)
    n_grades = _write_grades(into, before)
    write_judgments(into)
    write_rankings(into)
    write_bank(into)
    into.seen["grades_without_item"] = into.lake.value(_WITHOUT_ITEM)
    transaction.delete("brought_along", target=into.target)
    into.staged["brought_along"].merge("content", _merged, "query_id", "part")
    transaction.insert_from("brought_along", "select * exclude (arrival) from staged_brought_along")
    transaction.record(into.target, into.sha256, n_grades)


def _brought_before(into: FileImport) -> set[str]:
    """Take out the grades that an earlier state of the file brought; their graders' ids."""
    run_id = into.lake.value("select run_id from lake.raw.ledger where target = ?", into.target)
    if run_id is None:
        return set()
    graders = into.lake.column(
        "select distinct grader_id from lake.raw.grades where collection = ? and run_id = ?",
        into.collection,
        run_id,
    )
    into.transaction.delete("grades", collection=into.collection, run_id=run_id)
    return set(graders)


def _write_passages(into: FileImport) -> None:
    """Add those that the lake lacks; where it has another text, that one stays."""
    if into.staged["passages"].keep_first("passage_id"):
        into.seen["other_text_in_file"] = into.lake.value(
            "select count(*) from staged_passages_with_repeats as every "
            "inner join staged_passages as kept using (passage_id) "
            "where every.text_sha256 != kept.text_sha256"
        )
    into.seen["other_text_in_lake"] = into.lake.value(
        "select count(*) from staged_passages as ours "
        "inner join lake.raw.passages as known using (collection, passage_id) "
        "where ours.text_sha256 != known.text_sha256"
    )
    into.insert_from(
        "passages",
        "select * exclude (arrival) from staged_passages "
        "anti join lake.raw.passages using (collection, passage_id)",
    )


def _write_grades(into: FileImport, before: set[str]) -> int:
    into.seen["repeated_grades"] += into.staged["grades"].keep_first(*_KEY)
    by_status = into.lake.rows(
        "select grader_id, status, count(*), min(grade), max(grade) from staged_grades "
        "group by all order by all"
    )
    for grader_id, at_least in into.scale_at_least.items():  # scales that are told by grades
        ends = [row[3:] for row in by_status if row[0] == grader_id and row[3] is not None]
        into.graders[grader_id]["scale_min"] = min([0, *(least for least, _ in ends)])
        into.graders[grader_id]["scale_max"] = max([at_least, *(most for _, most in ends)])
    graded = {grader_id for grader_id, *_ in by_status}
    wanted = {i: grader for i, grader in into.graders.items() if i in graded}
    _write_graders(into, wanted, before - graded)
    n_new = into.insert_from("grades", _new_grades(into, list(wanted)))
    into.seen["grades_in_lake_already"] = sum(n for _, _, n, _, _ in by_status) - n_new
    _require_trust(into)
    found: dict[str, dict[str, Any]] = {}  # every grader of the file with its grades by status
    for i, status, n, *_ in by_status:
        about = {key: into.graders[i][key] for key in ("name", "grader_id", "target")}
        grader = found.setdefault(i, about | {"grades": 0})
        grader["grades"] += n
        grader[status] = n
        if into.graders[i]["engine"] != "imported":
            into.seen["grades_on_its_word"] += n
    into.done.graders = sorted(found.values(), key=lambda grader: grader["name"])
    return n_new


def _require_trust(into: FileImport) -> None:
    """Raise `BadInput` for new grades of graders that a lake ran, as only the file says."""
    claimed = into.lake.rows(
        """
        with graded as (
            select grader_id, count(*) as n from lake.raw.grades where run_id = ? group by grader_id
        )
        select name, n from graded
        inner join lake.raw.graders using (grader_id)
        where engine != 'imported'
        order by name
        """,
        into.transaction.run_id,
    )
    if claimed and not into.choices.trust:
        graders = ", ".join(name for name, _ in claimed)
        raise BadInput(
            f"{into.shown}: only the file says that {counted(sum(n for _, n in claimed), 'grades')}"
            f" are of graders that a lake runs itself ({graders})",
            "If it is an export of a lake of yours, import it with --trust; else with --name "
            "PREFIX, which makes them an imported grader's. Nothing was written.",
        )


def _new_grades(into: FileImport, graders: list[str]) -> str:
    """The query for the file's grades that the lake does not have from elsewhere."""
    known = (
        f"select {', '.join(_KEY)} "
        f"from lake.raw.grades where collection = {quote(into.collection)} "
        f"and grader_id in ({', '.join(map(quote, graders)) or 'null'})"
    )
    if not into.lake.rows(f"{known} limit 1"):
        return "select * exclude (arrival) from staged_grades"
    same = " and ".join(
        f"(file.{name} is null or known.{name} is null or file.{name} = known.{name})"
        for name in _HASHES
    )
    # joined by what is never null: by a condition with "or" alone, every pair is compared
    return f"""
        with there_already as (
            select file.arrival
            from staged_grades as file
            inner join ({known}) as known using (grader_id, query_id, passage_id, item_id)
            where {same}
        )
        select file.* exclude (arrival)
        from staged_grades as file
        anti join there_already using (arrival)
    """


def _write_graders(into: FileImport, wanted: dict[str, dict[str, Any]], left: set[str]) -> None:
    """Drop the graders left empty, enter those that are new, widen the scales of others."""
    if left:
        into.transaction.run(
            "delete from {lake}.raw.graders where engine = 'imported' "
            "and grader_id in (select unnest(?)) "
            "and grader_id not in (select distinct grader_id from {lake}.raw.grades)",
            sorted(left),
        )
    rows = into.lake.objects("select * from lake.raw.graders")
    lake = {row["grader_id"]: row for row in rows}
    names = {row["name"]: row["grader_id"] for row in rows}
    fresh = []
    for grader_id, grader in wanted.items():
        if known := lake.get(grader_id):
            grader["name"] = known["name"]
            scale = {
                "scale_min": min(known["scale_min"], grader["scale_min"]),
                "scale_max": max(known["scale_max"], grader["scale_max"]),
            }
            if known["engine"] != "imported" or scale.items() <= known.items():
                continue
            into.transaction.delete("graders", grader_id=grader_id)
            grader = known | scale
        elif (
            names.setdefault(grader["name"], grader_id) != grader_id
            and grader["engine"] == "imported"
        ):
            if into.choices.grader:
                raise BadInput(
                    f"the lake has another grader {grader['name']!r}", "Choose another --grader."
                )
            grader["name"] += f"-{grader_id[:6]}"  # another prompt or setting of that name
        fresh.append(grader)
    if fresh:
        into.count("graders", into.transaction.insert("graders", fresh))


def _merged(contents: list[str]) -> str:
    return json.dumps(together(map(json.loads, contents)), ensure_ascii=False)
