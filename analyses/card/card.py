"""A judge's card, read from a release and written as Markdown, LaTeX or JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import duckdb

from gradelake.analyses.card.sections import SECTIONS, Section
from gradelake.analyses.report.report_queries import ask_book
from gradelake.sql.ask import book
from gradelake.sql.common.plain_words import older_release
from gradelake.sql.common.project import TO_GRADE, require_known
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import Answer, Column, Page, PagePart, Table
from gradelake.sql.shown.rows import table_of

# its own labels, and those of the newest version of a rubric that it grades by
LABEL_SETS = """
    select collection, label_set
    from lake.marts.label_sets as label_sets
    left join lake.marts.rubric_versions as versions using (collection, rubric_version)
    where
        (label_sets.grader = $grader or label_sets.label_set = 'judge:' || $grader)
        and coalesce(versions.is_newest, true)
        and (len($collections) = 0 or list_contains($collections, collection))
    order by all
"""


def read_card(lake: Lake, grader: str, collections: Sequence[str], measure: str) -> Page:
    """The card of a grader (of `judge:NAME` that of NAME), on these collections or on all where it
    has labels. Raises `BadInput` for a grader, collection or measure that there is not."""
    grader = grader.removeprefix("judge:")
    known = dict(lake.rows("select grader, engine from lake.marts.graders"))
    require_known(grader, known, f"this release has no grader {grader!r}", none_yet=TO_GRADE)
    for collection in collections:
        lake.require_collection(collection)
    book.check_names(lake, {"measure": measure})
    with lake.one_state():
        pairs = lake.rows(LABEL_SETS, grader=grader, collections=list(collections))
        where = list(dict.fromkeys(collections or [collection for collection, _ in pairs]))
        judge = {"grader": grader, "engine": known[grader], "measure": measure}
        judge |= {"collections": where, "label_sets": pairs}
        parts = [_read(lake, section, judge) for section in SECTIONS]
    release = f"Release {lake.release}" if lake.release else "The working catalog"
    known_of = {"grader": grader, "release": lake.release, "collections": where}
    return Page(
        f"Judge card: {grader}",
        f"{release}, Gradelake {version('gradelake')}; collections: {', '.join(where) or 'none'}.",
        parts,
        known_of | {"measure": measure, "gradelake": version("gradelake")},
    )


def _read(lake: Lake, section: Section, judge: dict[str, Any]) -> PagePart:
    words = judge | {"collection": next(iter(judge["collections"]), "COLLECTION")}
    missing = section.missing.format(**words)
    if section.asks and judge["engine"] == "imported":
        missing = "It cannot be asked here: its labels were made elsewhere."
    try:
        rows = list(_rows(lake, section, judge))
    except duckdb.Error as error:
        if not (lacks := older_release(error, lake.release)):
            raise
        rows, missing = [], f"Not known: {lacks.message}. Run `gradelake build`."
    about = section.about.format(**words)
    text = next((row["text"] for row in rows if row.get("text")), "")
    answer = Answer(
        {},
        about if rows else missing,
        [("", text)] if text else [],
        [_table(section, rows)] if rows else [],
        details={"about": about, "missing": None if rows else missing, "rows": rows},
    )
    return PagePart(section.name, section.title, answer)


def _rows(lake: Lake, section: Section, judge: dict[str, Any]) -> Iterator[dict[str, Any]]:
    firsts = set()
    for collection, row in _asked(lake, section, judge):
        label_set = collection, row.get("label_set")
        if label_set not in [*judge["label_sets"], (collection, None)] or not all(
            row[name] in values for name, values in section.only.items()
        ):
            continue
        first = tuple(row[name] for name in section.first_of)
        if not first or first not in firsts:
            firsts.add(first)
            yield {name: row[name] for name in section.columns or row}


def _asked(lake: Lake, section: Section, judge: dict[str, Any]) -> Iterator[tuple[str, dict]]:
    """(collection, row) of what a section asks for."""
    asked = section.asked
    if isinstance(asked, str) and " " in asked:
        used = {name: value for name, value in judge.items() if f"${name}" in asked}
        for row in lake.objects(asked, **used):
            yield row.get("collection", ""), row
        return
    for collection in judge["collections"]:
        if isinstance(asked, str):
            known = judge | {"collection": collection} | section.parameters
            asks_for = book.entry(asked).parameters.keys() & known.keys()
            rows = iter(ask_book(lake, asked, **{name: known[name] for name in asks_for}))
        else:
            rows = iter(asked(lake, collection, judge))
        yield from ((collection, row) for row in rows)


def _table(section: Section, rows: list[dict[str, Any]]) -> Table:
    """The rows; an only row is a line for each of its values."""
    if not section.is_one:
        looks = dict.fromkeys(("low", "high"), "share") if "share" in rows[0] else {}
        if isinstance(section.asked, str) and " " not in section.asked:
            looks |= book.entry(section.asked).looks
        table = table_of([*rows[0]], [[*row.values()] for row in rows], looks)
        return replace(table, columns=[replace(column, head="") for column in table.columns])
    known = {name: value for name, value in rows[0].items() if name not in ("settings", "text")}
    for name, value in json.loads(rows[0].get("settings") or "{}").items():
        known[name] = json.dumps(value, ensure_ascii=False)
    return Table("values", [Column("name", " "), Column("value", " ")], [*known.items()])
