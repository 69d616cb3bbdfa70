"""A judge's card, read from a release and written as Markdown, LaTeX or JSON."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import duckdb

from gradelake.analyses.card.sections import SECTIONS, Section
from gradelake.analyses.report.report_queries import ask_book
from gradelake.sql.ask import book
from gradelake.sql.common import console
from gradelake.sql.common.plain_words import older_release
from gradelake.sql.common.project import TO_GRADE, require_known
from gradelake.sql.common.table_text import text_columns
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.latex import escape, tabular, template

TEMPLATES = {"markdown": "card.md.jinja", "latex": "card.tex.jinja"}
# its own labels, and those of the newest version of a rubric that it grades by
LABEL_SETS = """
    select collection, label_set
    from lake.intermediate.int_label_sets as label_sets
    left join lake.marts.rubric_versions as versions using (collection, rubric_version)
    where
        (label_sets.grader = $grader or label_sets.label_set = 'judge:' || $grader)
        and coalesce(versions.is_newest, true)
        and (len($collections) = 0 or list_contains($collections, collection))
    order by all
"""


@dataclass(frozen=True)
class Card:
    """A judge's card; each section has rows, or says in `missing` why it has none."""

    grader: str
    release: str | None
    collections: list[str]
    measure: str
    sections: list[dict[str, Any]]

    def as_object(self) -> dict[str, Any]:
        return vars(self) | {"gradelake": version("gradelake")}

    def written(self, form: str) -> str:
        """The card as `markdown`, `latex` or `json`."""
        if form == "json":
            return json.dumps(console.plain(self.as_object()), ensure_ascii=False) + "\n"
        tools = {"table": _table, "cell": _cell, "tabular": _tabular}
        tools |= {"escape": escape, "prose": _prose}
        return template(TEMPLATES[form]).render(self.as_object() | tools)


def read_card(lake: Lake, grader: str, collections: Sequence[str], measure: str) -> Card:
    """The card of a grader (of `judge:NAME` that of NAME), on these collections or on all where it
    has labels. Raises `BadInput` for a grader, collection or measure that there is not."""
    grader = grader.removeprefix("judge:")
    known = dict(lake.rows("select grader, engine from lake.intermediate.int_graders"))
    require_known(grader, known, f"this release has no grader {grader!r}", none_yet=TO_GRADE)
    for collection in collections:
        lake.require_collection(collection)
    book.check_names(lake, {"measure": measure})
    with lake.one_state():
        pairs = lake.rows(LABEL_SETS, grader=grader, collections=list(collections))
        where = list(dict.fromkeys(collections or [collection for collection, _ in pairs]))
        judge = {"grader": grader, "engine": known[grader], "measure": measure}
        judge |= {"collections": where, "label_sets": pairs}
        return Card(
            *(grader, lake.release, where, measure),
            [_read(lake, section, judge) for section in SECTIONS],
        )


def _read(lake: Lake, section: Section, judge: dict[str, Any]) -> dict[str, Any]:
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
    return {
        "section": section.name,
        "title": section.title,
        "about": section.about.format(**words),
        "rows": rows,
        "is_one": section.is_one,
        "missing": None if rows else missing,
    }


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


def _rows_shown(section: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The head and rows of a section's table; its only row is a line for each value."""
    rows = section["rows"]
    if section["is_one"]:
        known = {name: value for name, value in rows[0].items() if name not in ("settings", "text")}
        for name, value in json.loads(rows[0].get("settings") or "{}").items():
            known[name] = json.dumps(value, ensure_ascii=False)
        return ["", ""], [[name, value] for name, value in known.items()]
    return list(rows[0]), [list(row.values()) for row in rows]


def _table(section: dict[str, Any]) -> tuple[list[tuple[str, bool]], list[tuple[str, ...]]]:
    """(head, whether it is of numbers) of each column, and the rows as texts."""
    columns = text_columns(*_rows_shown(section))
    heads = [(column.header, column.is_number) for column in columns]
    return heads, list(zip(*(column.texts for column in columns), strict=True))


def _tabular(section: dict[str, Any]) -> str:
    _, *lines = tabular(*_rows_shown(section))  # what it needs stands above the card
    return "\n".join(lines)


def _prose(text: str) -> str:
    """Sentences as LaTeX, commands in them as they are typed."""
    return re.sub("`(.*?)`", r"\\texttt{\1}", escape(text))


def _cell(text: str) -> str:
    """A text in a table of Markdown, and nothing that it could mean there."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("_", "\\_")
