"""Edits become rows of the file: numbered, checked by dbt as a build checks them, and added."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from gradelake.ingest.reading.csv_tables import join_answers
from gradelake.ingest.rubric import changes, edits_file, sheet
from gradelake.ingest.rubric.changes import Edit
from gradelake.ingest.rubric.edits_file import Row
from gradelake.ingest.rubric.items import RubricItem, Section, number
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.ingest.rubric.sheet import SheetPart
from gradelake.sql.build.preview import Preview, previewed
from gradelake.sql.build.seeds import WrongSeeds
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.common.project import Project
from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake.transaction import author

_SEED = "rubric_edits"
_HINT = (
    "Nothing was written. Fix these lines; where the same items were edited since, make a new "
    "sheet (rubric edit --print), or change the saved edit's own row in the file of edits."
)


@dataclass(frozen=True)
class Proposal:
    """Edits that somebody made in a session, on version `based_on` of its rubric.

    `shown` names where they were written, in messages; `untouched` are queries that were left out.
    """

    session: "Session"
    edits: Sequence[Edit]
    based_on: int
    shown: str
    reason: str = ""
    untouched: tuple[str, ...] = ()

    @property
    def collection(self) -> str:
        return self.session.rubric.collection


@dataclass(frozen=True)
class Saved:
    """What was saved, or would be: the edits and their version (None: nothing was changed)."""

    collection: str
    file: str
    edits: Sequence[Edit]
    shown: str
    untouched: tuple[str, ...] = ()
    version: int | None = None
    n_before: int = 0  # rows that the file has before these
    content: bytes = b""  # of the file
    copied: bool = False  # rows that come with the package were put before these

    def as_object(self) -> dict[str, Any]:
        return {
            "collection": self.collection,
            "version": self.version,
            "file": self.file,
            "edits": [edit.as_object() for edit in self.edits],
        }


def numbered(proposal: Proposal) -> Saved:
    """What `save` would write. Raises `BadInput` for a version that edits cannot go into, and
    `Rejected` where somebody else edited the same items since."""
    project, collection, edits = proposal.session.project, proposal.collection, proposal.edits
    file = os.path.relpath(edits_file.path_of(project))
    saved = Saved(collection, file, edits, proposal.shown, proposal.untouched)
    if not edits:
        return saved
    rows = edits_file.read(project)
    if _is_saved(proposal, rows):
        return replace(saved, edits=())
    _refuse_conflicts(proposal, rows)
    version = next_version(rows, collection, proposal.session.version)
    content = edits_file.appended(project, [_row(proposal, edit, version) for edit in edits])
    return replace(saved, version=version, n_before=len(rows), content=content)


def save(proposal: Proposal, tried_out: bytes = b"") -> Saved:
    """Add edits to the file, or nothing of them.

    They are checked as a build checks the file, unless what the file would hold is `tried_out`
    already. Raises what `numbered` and `tried` raise.
    """
    project = proposal.session.project
    with edits_file.locked(project):
        saved = numbered(proposal)
        if saved.version is None:
            return saved
        if saved.content != tried_out:
            with tried(project, saved):
                pass
        copied = not edits_file.path_of(project).exists() and saved.n_before > 0
        edits_file.write(project, saved.content)
        return replace(saved, copied=copied)


@contextmanager
def tried(project: Project, saved: Saved, wanted: Sequence[str] = (_SEED,)) -> Iterator[Preview]:
    """The lake as the next build would leave it with these edits (`previewed`).

    Raises `Rejected` with the lines of the edits that cannot be applied.
    """
    try:
        with previewed(project, wanted, {edits_file.NAME: saved.content}) as preview:
            yield preview
    except WrongSeeds as error:
        problems = Problems(saved.shown, _HINT)
        for seed, row, problem in error.found:
            nth = int(row.split(maxsplit=2)[1]) - saved.n_before - 1  # of `row 3 (drop ...)`
            if seed != edits_file.NAME or nth < 0:
                raise  # what is wrong was there before
            problems.add(saved.edits[nth].line, _by_lines(problem, saved))
        problems.raise_if_any()


def next_version(rows: Sequence[Row], collection: str, asked: int | None) -> int:
    """The version that new edits get: a new one, or the newest where that is asked for.

    Raises `BadInput` where another is.
    """
    newest = edits_file.newest_version(rows, collection)
    if asked not in (None, newest, newest + 1):
        raise BadInput(
            f"--version {asked}: edits go to the newest version or to a new one",
            f"{collection} is at version {newest}: leave --version out to make version "
            f"{newest + 1}.",
        )
    return asked or newest + 1


def _by_lines(problem: str, saved: Saved) -> str:
    """What dbt's check says, with lines of the sheet in place of rows of the file."""

    def place(found: re.Match) -> str:
        nth = int(found[1]) - saved.n_before - 1
        return f"line {saved.edits[nth].line}" if nth >= 0 else f"{edits_file.NAME}, row {found[1]}"

    return re.sub(r"(?<=\(see )row (\d+)(?=\)$)", place, problem)


def _refuse_conflicts(proposal: Proposal, rows: list[Row]) -> None:
    """Edits that others saved since must be about other items."""
    asked, known = proposal.session.version, proposal.session.rows
    before = [row.cells for row in known]
    if [row.cells for row in rows[: len(before)]] != before:
        raise BadInput(
            f"{edits_file.NAME} has changed in the meantime; nothing was written",
            "Look at it, then edit again.",
        )
    later = rows[len(before) :] + [row for row in known if row.version > proposal.based_on]
    others = [(row, "has been edited since this was written") for row in later]
    why = f"was already edited in version {asked}: leave --version out"
    others += [(row, why) for row in rows if row.version == asked]
    problems = Problems(proposal.shown, _HINT)
    for edit in proposal.edits:
        for row, why in others:
            if edit.item and _is_of(row, proposal.collection, edit.item):
                by = f" by {row['editor']}" if row["editor"] else ""
                where = f"{edits_file.NAME}:{row.line}, {row['action']}{by}"
                problems.add(edit.line, f"{_title(edit)} {why} ({where})")
                break
    problems.raise_if_any()


def _is_saved(proposal: Proposal, rows: list[Row]) -> bool:
    """Whether a later version is just these edits, by the same person: the process that saved them
    was killed before it could say so, and is run again."""
    later: dict[int, list[dict[str, str]]] = {}
    for row in rows:
        if row["collection"] == proposal.collection and row.version > proposal.based_on:
            later.setdefault(row.version, []).append(row.cells)
    for version, there in later.items():
        wanted = (_row(proposal, edit, version) for edit in proposal.edits)
        if there == [{name: cell.strip() for name, cell in row.items()} for row in wanted]:
            return True
    return False


def _is_of(row: Row, collection: str, item: RubricItem) -> bool:
    """Whether a row is an edit of this item, or made it."""
    if (row["collection"], row["bank"]) != (collection, item.bank):
        return False
    if row["query_id"] not in ("", item.query_id):
        return False
    made = row["text"] and item_id_of(item.query_id, item.facet_id, row["text"])
    return item.item_id in (row["item_id"], made)


def _title(edit: Edit) -> str:
    text = edit.item.text or edit.item.item_id if edit.item else edit.text
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _row(proposal: Proposal, edit: Edit, version: int) -> dict[str, str]:
    return {
        "rubric_version": str(version),
        "collection": proposal.collection,
        "bank": edit.bank,
        "item_id": edit.item.item_id if edit.item else "",
        "action": edit.action,
        "query_id": edit.query_id,
        "kind": edit.kind,
        "text": edit.text,
        "gold_answer": join_answers(edit.gold_answers),
        "weight": "" if edit.weight is None else number(edit.weight),
        "editor": proposal.session.editor or author(),
        "reason": proposal.reason,
        "facet_id": edit.facet_id,
    }


@dataclass(frozen=True)
class Session:
    """One `rubric edit`: the rubric, and the file's rows, as they were when it began.

    `queries` and `bank`, where given, are what a sheet may be about; `version` the version that
    is asked for; `editor` who edits, '' being who runs this process.
    """

    project: Project
    rubric: Rubric
    rows: Sequence[Row]
    queries: Sequence[str] = ()
    bank: str | None = None
    version: int | None = None
    reason: str = ""
    editor: str = ""

    def text(self) -> str:
        """The sheet to be edited."""
        version = self.rubric.newest
        sections = [
            section
            for query_id in dict.fromkeys(self.queries)
            for section in self.rubric.sections(version, query_id, self.bank)
        ]
        return sheet.write(
            self.rubric.collection, version, sections, self.rubric.query_texts, self.reason
        )

    def read(self, text: str, shown: str, reason: str | None = None) -> Proposal:
        """What a sheet changes. Raises `Rejected` by line, or `BadInput`.

        `shown` names the sheet in messages; `reason` takes the place of the sheet's.
        """
        found = sheet.read(text, shown)
        edits: Sequence[Edit] = ()
        untouched: tuple[str, ...] = ()
        if found.parts:
            if found.collection != self.rubric.collection:
                raise BadInput(
                    f"{shown}: this sheet is for collection {found.collection!r}",
                    f"Edit it with --collection {found.collection}",
                )
            self.rubric.check_version(found.version)
            edits = changes.compare(found, shown, lambda part: self._section(found.version, part))
            named = {part.query_id for part in found.parts}
            untouched = tuple(q for q in dict.fromkeys(self.queries) if q not in named)
        reason = found.reason if reason is None else reason
        return Proposal(self, edits, found.version, shown, reason, untouched)

    def _section(self, version: int, part: SheetPart) -> Section | None:
        if self.queries and part.query_id not in self.queries:
            return None
        if part.query_id not in self.rubric.query_texts or part.bank not in self.rubric.banks:
            return None
        if self.bank is not None and part.bank != self.bank:
            return None
        return self.rubric.section(version, part.query_id, part.bank)
