"""From a sheet to rows of the edits file: compared, checked against other edits, numbered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradelake.ingest.csv_tables import join_answers
from gradelake.ingest.rubric import changes, edits_file, sheet
from gradelake.ingest.rubric.changes import Edit
from gradelake.ingest.rubric.edits_file import Row
from gradelake.ingest.rubric.items import Section, number, tail_of, tail_of_text
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.ingest.rubric.sheet import Part
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.common.project import Project
from gradelake.sql.lake.transaction import author


@dataclass(frozen=True)
class Saved:
    """What was saved, or would be: the edits and their version (None: nothing was changed)."""

    edits: list[Edit]
    version: int | None
    copied: bool = False
    untouched: tuple[str, ...] = ()  # queries whose heading is gone
    rows: Sequence[dict[str, str]] = ()  # of the file


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

    def save(self, text: str, shown: str, reason: str | None = None) -> Saved:
        """Add to the file what a sheet changes. Raises what `propose` raises: nothing added."""
        with edits_file.locked(self.project):
            proposed = self.propose(text, shown, reason)
            if not proposed.rows:
                return proposed
            return replace(proposed, copied=edits_file.append(self.project, proposed.rows))

    def propose(self, text: str, shown: str, reason: str | None = None) -> Saved:
        """What `save` would add to the file. Raises `Rejected` or `BadInput`.

        `shown` names the sheet in messages; `reason` takes the place of the sheet's.
        """
        found = sheet.read(text, shown)
        if not found.parts:
            return Saved([], None)
        if found.collection != self.rubric.collection:
            raise BadInput(
                f"{shown}: this sheet is for collection {found.collection!r}",
                f"Edit it with --collection {found.collection}",
            )
        self.rubric.check_version(found.version)
        edits = changes.compare(found, shown, lambda part: self._section(found.version, part))
        named = {part.query_id for part in found.parts}
        untouched = tuple(q for q in dict.fromkeys(self.queries) if q not in named)
        if not edits:
            return Saved([], None, untouched=untouched)
        rows = edits_file.read(self.project)
        self._refuse_conflicts(edits, rows, found.version, shown)
        version = self._version(edits, rows, shown)
        why = found.reason if reason is None else reason
        new = [self._row(edit, version, why) for edit in edits]
        return Saved(edits, version, untouched=untouched, rows=new)

    def _section(self, version: int, part: Part) -> Section | None:
        if self.queries and part.query_id not in self.queries:
            return None
        if part.query_id not in self.rubric.query_texts or part.bank not in self.rubric.banks:
            return None
        if self.bank is not None and part.bank != self.bank:
            return None
        return self.rubric.section(version, part.query_id, part.bank)

    def _refuse_conflicts(
        self, edits: Sequence[Edit], rows: list[Row], version: int, shown: str
    ) -> None:
        """Edits that others saved since the sheet was written must be about other items."""
        before = [row.cells for row in self.rows]
        if [row.cells for row in rows[: len(before)]] != before:
            raise BadInput(
                f"{edits_file.NAME} has changed in the meantime; nothing was written",
                "Look at it, then edit again.",
            )
        since = rows[len(before) :]
        since += [row for row in self.rows if row.version > version]
        self._refuse_touched(edits, since, shown, "has been edited since this sheet was written")

    def check_version(self, rows: Sequence[Row] | None = None) -> int:
        """The newest version of the file. Raises `BadInput` when edits of `version` cannot go in.

        `rows` are the file's, if it was read again.
        """
        rows = self.rows if rows is None else rows
        newest = edits_file.newest_version(rows, self.rubric.collection)
        if self.version not in (None, newest, newest + 1):
            raise BadInput(
                f"--version {self.version}: edits go to the newest version or to a new one",
                f"{self.rubric.collection} is at version {newest}: leave --version out to make "
                f"version {newest + 1}.",
            )
        return newest

    def _version(self, edits: list[Edit], rows: list[Row], shown: str) -> int:
        """The next version, or the one that was asked for. Raises `BadInput`."""
        newest = self.check_version(rows)
        if self.version != newest:
            return newest + 1
        of_version = [row for row in rows if row.version == newest]
        why = f"was already edited in version {newest}: leave --version out"
        self._refuse_touched(edits, of_version, shown, why)
        return newest

    def _refuse_touched(self, edits: Sequence[Edit], rows: list[Row], shown: str, why: str) -> None:
        problems = Problems(
            shown,
            "Nothing was written. Make a new sheet from the rubric as it is now (rubric edit "
            "--print); a saved edit's own row can be changed in the file of edits.",
        )
        mine = [row for row in rows if row["collection"] == self.rubric.collection]
        for edit in edits:
            for row in mine:
                if _same_item(edit, row):
                    by = f" by {row['editor']}" if row["editor"] else ""
                    problems.add(
                        edit.line,
                        f"{name_of(edit)} {why} ({edits_file.NAME}:{row.line}, {row['action']}"
                        f"{by})",
                    )
                    break
        problems.raise_if_any()

    def _row(self, edit: Edit, version: int, reason: str) -> dict[str, str]:
        return {
            "rubric_version": str(version),
            "collection": self.rubric.collection,
            "bank": edit.bank,
            "item_id": edit.item.item_id if edit.item else "",
            "action": edit.action,
            "query_id": edit.query_id,
            "kind": edit.kind,
            "text": edit.text,
            "gold_answer": join_answers(edit.gold_answers),
            "weight": "" if edit.weight is None else number(edit.weight),
            "editor": self.editor or author(),
            "reason": reason,
            "facet_id": edit.facet_id,
        }


def _same_item(edit: Edit, row: Row) -> bool:
    """Whether a row is about an item that the edit touches or makes, or makes one."""
    if row["bank"] != edit.bank or row["query_id"] not in ("", edit.query_id):
        return False
    theirs = {tail_of(row["item_id"])} if row["item_id"] else set()
    if row["text"]:
        theirs.add(tail_of_text(row["text"]))
    return bool(theirs & changes.touched(edit))


def name_of(edit: Edit) -> str:
    """An edit's item for a message."""
    text = edit.text if edit.item is None else edit.item.text or edit.item.item_id
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
