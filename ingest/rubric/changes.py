"""Edits of a rubric's items, and what a person changed in a sheet as such."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradelake.ingest.rubric.items import RubricItem, Section
from gradelake.ingest.rubric.line import Fields, read_fields, take_facet, take_token
from gradelake.ingest.rubric.sheet import HINT, Sheet, SheetPart
from gradelake.sql.common.problems import Problems
from gradelake.sql.common.rubric_items import OF_CRITERIA


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

    def as_object(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "query_id": self.query_id,
            "bank": self.bank,
            "item_id": self.item and self.item.item_id,
            "old_text": self.item and self.item.text,
            "text": self.text or None,
            "weight": self.weight,
            "kind": self.kind or (self.item.kind if self.item else ""),
            "gold_answers": list(self.gold_answers) or None,
            "facet_id": self.facet_id or (self.item.facet_id if self.item else ""),
        }


def edit_of(
    section: Section, item: RubricItem | None, fields: Fields, line: int, facet_id: str = ""
) -> Edit | None:
    """The edit that makes an item of a section what `fields` say; None where it is so already.

    `item` is None for a new one, which may be of a facet. Raises `ValueError`, with words for
    people, for what no edit can do. Whether an edit can be applied is for dbt to say (`save`).
    """

    def edit(action: str, **values: Any) -> Edit:
        about = {"kind": kind} | values
        return Edit(action, section.query_id, section.bank, item, line, **about)

    kind = fields.kind if item and fields.kind != item.kind else ""  # a criterion's tier or type
    if item is None:
        return edit("add", facet_id=facet_id, **fields._asdict())
    if kind and not fields.kind.startswith(item.kind[: len(OF_CRITERIA)]):
        raise ValueError(
            f"the kind of an item cannot change (it is a {item.kind}): remove the line and add "
            "another item"
        )
    is_reworded = fields.text != item.text.strip()
    answers = fields.gold_answers if fields.gold_answers != item.gold_answers else None
    weight = fields.weight if fields.weight != item.weight else None
    if not item.is_in_force:
        if is_reworded or answers is not None:
            raise ValueError("an item comes back as it was: restore it, and reword it afterwards")
        return edit("restore", weight=weight)
    if answers == () and is_reworded:
        raise ValueError(
            "a new wording keeps the gold answers: to be without them, remove this line and add "
            "another item"
        )
    if answers == ():
        raise ValueError(
            "an item cannot lose all its gold answers: drop it, and add it in other words"
        )
    if is_reworded:
        return edit("reword", text=fields.text, gold_answers=answers or (), weight=weight)
    if answers is not None:
        return edit("reanswer", gold_answers=answers, weight=weight)
    return edit("reweight", weight=weight) if kind or weight is not None else None


def compare(
    sheet: Sheet, shown: str, section_of: Callable[[SheetPart], Section | None]
) -> list[Edit]:
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
            edits += _edits_of(part, section, problems)
    problems.raise_if_any()
    return edits


def _edits_of(part: SheetPart, section: Section, problems: Problems) -> list[Edit]:
    short = section.short_ids()
    items = {item.item_id: item for item in (*section.dropped, *section.in_force)}
    by_token = {short[item_id]: item for item_id, item in items.items()} | items
    lines: dict[str, int] = {}  # item id -> its line in the sheet
    found = []
    for number, line in part.lines:
        item, facet_id = None, ""
        try:
            if line.startswith("+"):
                facet_id, rest = take_facet(line[1:])
                fields = read_fields(rest, weight_may_miss=True)
            else:
                token, rest = take_token(line)
                item = by_token.get(token)
                if item is None:
                    raise ValueError(
                        f"there is no item {token!r} here: ids stay as they are, new items begin "
                        "with +, and each item is one line"
                    )
                if (before := lines.setdefault(item.item_id, number)) != number:
                    raise ValueError(f"item {token} is already on line {before}")
                fields = read_fields(rest)
            if edit := edit_of(section, item, fields, number, facet_id):
                found.append(edit)
        except ValueError as error:
            problems.add(number, str(error))
    found += [
        Edit("drop", section.query_id, section.bank, item, part.line)
        for item in section.in_force
        if item.item_id not in lines
    ]
    return found
