"""What a person changed in a sheet: edits, or the lines that cannot be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradelake.ingest.rubric.items import RubricItem, Section, tail_of, tail_of_text
from gradelake.ingest.rubric.line import Fields, read_fields, take_facet, take_token
from gradelake.ingest.rubric.sheet import HINT, Part, Sheet
from gradelake.sql.common.problems import Problems


@dataclass(frozen=True)
class Edit:
    """One edit. `item` is the edited item (None: `add`); None or () is what stays as it was."""

    action: str  # drop, reword, add, reweight, reanswer or restore
    query_id: str
    bank: str
    item: RubricItem | None
    line: int  # of the sheet: the item's, or the heading's where its line is gone
    kind: str = ""
    text: str = ""
    gold_answers: tuple[str, ...] = ()
    weight: float | None = None
    facet_id: str = ""  # of an added item


def compare(sheet: Sheet, shown: str, section_of: Callable[[Part], Section | None]) -> list[Edit]:
    """The edits that turn the rubric that the sheet was written from into the sheet's.

    `section_of` gives the section a part was written from, None where there is none. Raises
    `Rejected` with every line that is wrong.
    """
    problems = Problems(shown, HINT)
    edits = []
    for part in sheet.parts:
        section = section_of(part)
        if section is None:
            problems.add(
                part.line, f"no query {part.query_id!r} with a bank {part.bank!r} to edit here"
            )
        elif section.fingerprint() != part.fingerprint:
            problems.add(
                part.line,
                f"version {sheet.version} of this query is not what it was when this sheet was "
                "written: make a new sheet and change that",
            )
        else:
            edits += _Comparison(part, section, problems).edits()
    problems.raise_if_any()
    return edits


class _Comparison:
    """One part of a sheet against the section it was written from."""

    def __init__(self, part: Part, section: Section, problems: Problems):
        self.part = part
        self.section = section
        self.problems = problems
        self.short = section.short_ids()
        self.items = {item.item_id: item for item in (*section.dropped, *section.in_force)}
        self.by_token = {self.short[i]: item for i, item in self.items.items()} | self.items
        self.in_force = {item.item_id for item in section.in_force}
        self.lines: dict[str, int] = {}  # item id -> its line in the sheet

    def edits(self) -> list[Edit]:
        found = []
        for line_number, line in self.part.lines:
            try:
                edit = self._edit(line_number, line)
            except ValueError as error:
                self.problems.add(line_number, str(error))
                continue
            if edit:
                found.append(edit)
        found += [
            self._make("drop", item, self.part.line)
            for item in self.section.in_force
            if item.item_id not in self.lines
        ]
        self._refuse_repeats(found)
        return found

    def _make(self, action: str, item: RubricItem | None, line: int, **values: Any) -> Edit:
        return Edit(action, self.section.query_id, self.section.bank, item, line, **values)

    def _edit(self, line_number: int, line: str) -> Edit | None:
        """The edit that a line stands for, if any. Raises `ValueError` for a wrong line."""
        if line.startswith("+"):
            facet_id, rest = take_facet(line[1:])
            if facet_id and facet_id not in self.section.facets:
                known = ", ".join(self.section.facets) or "it has none"
                raise ValueError(f"the query has no facet {facet_id!r} (known: {known})")
            fields = read_fields(rest, weight_may_miss=True)
            if not fields.text:
                raise ValueError("the new item has no text")
            return self._make("add", None, line_number, facet_id=facet_id, **fields._asdict())
        token, rest = take_token(line)
        item = self.by_token.get(token)
        if item is None:
            raise ValueError(
                f"there is no item {token!r} here: ids stay as they are, new items begin with +, "
                "and each item is one line"
            )
        if before := self.lines.get(item.item_id):
            raise ValueError(f"item {token} is already on line {before}")
        self.lines[item.item_id] = line_number
        fields = read_fields(rest)
        if fields.kind != item.kind:
            raise ValueError(
                f"the kind of an item cannot change (it is a {item.kind}): remove the line and add "
                "another item"
            )
        if item.item_id not in self.in_force:
            return self._restored(item, fields, line_number)
        return self._changed(item, fields, line_number)

    def _restored(self, item: RubricItem, fields: Fields, line_number: int) -> Edit:
        if fields.text != item.text.strip() or fields.gold_answers != item.gold_answers:
            raise ValueError("an item comes back as it was: restore it, and reword it afterwards")
        weight = fields.weight if fields.weight != item.weight else None
        return self._make("restore", item, line_number, weight=weight)

    def _changed(self, item: RubricItem, fields: Fields, line_number: int) -> Edit | None:
        weight = fields.weight if fields.weight != item.weight else None
        answers = fields.gold_answers if fields.gold_answers != item.gold_answers else None
        if fields.text == item.text.strip():
            if answers == ():
                raise ValueError(
                    "an item cannot lose all its gold answers: drop it, and add it in other words"
                )
            if answers is not None:
                return self._make(
                    "reanswer", item, line_number, gold_answers=answers, weight=weight
                )
            if weight is None:
                return None
            return self._make("reweight", item, line_number, weight=weight)
        if not fields.text:
            raise ValueError("the text is empty: to drop the item, remove the whole line")
        if answers == ():
            raise ValueError(
                "a new wording keeps the gold answers: to be without them, remove this line and "
                "add another item"
            )
        return self._make(
            "reword", item, line_number, text=fields.text, gold_answers=answers or (), weight=weight
        )

    def _refuse_repeats(self, found: list[Edit]) -> None:
        """No two items of a query and bank have one text, whatever became of the others."""
        leaving = {e.item.item_id for e in found if e.item and e.action in ("drop", "reword")}
        texts = {item.text.strip(): item for item in self.items.values()}
        new: dict[str, int] = {}
        for edit in (edit for edit in found if edit.action in ("add", "reword")):
            other = texts.get(edit.text)
            if edit.text in new:
                self.problems.add(edit.line, f"line {new[edit.text]} has the same text")
            elif other and (message := self._repeat(edit, other, leaving)):
                self.problems.add(edit.line, message)
            new.setdefault(edit.text, edit.line)

    def _repeat(self, edit: Edit, other: RubricItem, leaving: set[str]) -> str | None:
        name = self.short[other.item_id]
        if other.item_id in leaving:
            return f"this is the text of item {name}: leave that item on its line as it is"
        if other.item_id in self.in_force or other.item_id in self.lines:
            return f"item {name} already has this text"
        if edit.action == "add":
            return f"this is the text of item {name}, which was dropped: take the # off its line"
        return None  # an earlier wording comes back


def touched(edit: Edit) -> set[str]:
    """The last parts of the ids that an edit is about: of the old item and the new."""
    tails = {tail_of(edit.item.item_id)} if edit.item else set()
    return tails | ({tail_of_text(edit.text)} if edit.text else set())
