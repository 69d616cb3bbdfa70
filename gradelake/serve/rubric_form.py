"""The form of a query's rubric: what a browser shows and sends, and the edits that it makes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradelake.ingest.reading.csv_tables import join_answers, split_answers
from gradelake.ingest.rubric.changes import Edit, edit_of
from gradelake.ingest.rubric.items import RubricItem, Section, cleaned, number
from gradelake.ingest.rubric.line import Fields, checked_text, read_weight
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, Rejected
from gradelake.sql.common.table_text import one_line

SHOWN = "this form"  # what messages call it
_HINT = "Nothing was saved; what you wrote is still in the form."
_PLACE = re.compile(r"\bline (\d+)(?=\)?$)")  # of another item, at the end of a message


@dataclass
class Line:
    """An item as the form has it: of the rubric, or ('' for an id) a new one.

    `answers` are as in a sheet, `a|b`. `is_in_force`: whether it shall be. `was`: of fields that
    were changed, what the newest version has.
    """

    item_id: str = ""
    kind: str = "question"
    text: str = ""
    answers: str = ""
    weight: str = "1"
    facet_id: str = ""
    is_in_force: bool = True
    messages: list[str] = field(default_factory=list)
    was: dict[str, Any] = field(default_factory=dict)


@dataclass
class FormPart:
    """A bank's items; `base` is the fingerprint of what the form was made from."""

    bank: str
    base: str
    items: list[Line] = field(default_factory=list)
    dropped: list[Line] = field(default_factory=list)
    new: list[Line] = field(default_factory=list)

    def lines(self) -> Iterable[Line]:
        return (*self.items, *self.dropped, *self.new)


@dataclass
class Form:
    """What is edited of a query, and the version it was made from."""

    query_id: str
    version: int
    reason: str = ""
    parts: list[FormPart] = field(default_factory=list)

    def lines(self) -> Sequence[Line]:
        return [line for part in self.parts for line in part.lines()]


def of_rubric(rubric: Rubric, query_id: str, version: int) -> Form:
    """The form of a query as a version has it."""
    form = Form(query_id, version)
    for section in rubric.sections(version, query_id):
        items, dropped = (
            list(map(_line, items_of)) for items_of in (section.in_force, section.dropped)
        )
        form.parts.append(FormPart(section.bank, section.fingerprint(), items, dropped))
    return form


def _line(item: RubricItem) -> Line:
    answers, weight = join_answers(item.gold_answers), number(item.weight)
    about = (item.item_id, item.kind, item.text, answers, weight, item.facet_id, item.is_in_force)
    return Line(*about)


def of_fields(sent: Mapping[str, str], query_id: str) -> Form:
    """The form as a browser sent it. Raises `BadInput` for what no form of ours sends."""
    version = sent.get("version", "")
    if not (version.isdecimal() and len(version) < 10):
        raise BadInput("this form does not say which version it was made from", "Reload the page.")
    form = Form(query_id, int(version), " ".join(one_line(sent.get("reason", "")).split()))
    while (bank := sent.get(f"{len(form.parts)}.bank")) is not None:
        at = str(len(form.parts))
        items, dropped, new = (
            list(_sent_lines(sent, f"{at}.{place}")) for place in ("item", "gone", "new")
        )
        new = [line for line in new if line.text.strip() or line.answers.strip()]
        form.parts.append(FormPart(bank, sent.get(f"{at}.base", ""), items, dropped, new))
    return form


def _sent_lines(sent: Mapping[str, str], at: str) -> Iterable[Line]:
    n = 0
    while f"{at}.{n}.id" in sent:
        item_id, kind, text, answers, weight, facet_id = (
            sent.get(f"{at}.{n}.{name}", "").replace("\r\n", "\n")  # as browsers end lines
            for name in ("id", "kind", "text", "answers", "weight", "facet")
        )
        if at.endswith(".gone"):
            is_in_force = f"{at}.{n}.restore" in sent
        else:
            is_in_force = f"{at}.{n}.drop" not in sent
        kind = kind or "question"
        yield Line(item_id, kind, text, answers, weight.strip(), facet_id, is_in_force)
        n += 1


def is_behind(form: Form, rubric: Rubric) -> bool:
    """Whether the query is no longer as the form was made from."""
    return any(
        part.bank not in rubric.banks
        or part.base != rubric.section(rubric.newest, form.query_id, part.bank).fingerprint()
        for part in form.parts
    )


def edits_of(form: Form, rubric: Rubric) -> list[Edit]:
    """The edits that a form makes; `line` of each is the place (from 1) of what was changed in
    `form.lines()`. Raises `Rejected` for what no edit can be made of."""
    problems, edits, place = Problems(SHOWN, _HINT), [], 0
    for part in form.parts:
        section = rubric.section(form.version, form.query_id, part.bank)
        items = {item.item_id: item for item in (*section.in_force, *section.dropped)}
        for line in part.lines():
            place += 1
            try:
                edits.append(_edit(section, items.get(line.item_id), line, place))
            except ValueError as error:
                problems.add(place, str(error))
    problems.raise_if_any()
    return [edit for edit in edits if edit]


def _edit(section: Section, item: RubricItem | None, line: Line, place: int) -> Edit | None:
    if line.item_id and item is None:
        raise ValueError("this item is not one of the query's")
    if item and not line.is_in_force:
        drop = Edit("drop", section.query_id, section.bank, item, place)
        return drop if item.is_in_force else None
    text, answers = checked_text(line.text), cleaned(split_answers(checked_text(line.answers)))
    if item:  # a browser cannot send every character back as it was
        if _seen(text) == _seen(item.text):
            text = item.text
        if _seen(line.answers) == _seen(join_answers(item.gold_answers)):
            answers = item.gold_answers
    weight = read_weight(line.weight or ("" if item else "1"))
    kind = item.kind if item else line.kind
    fields = Fields(weight, kind, text.strip(), answers)
    return edit_of(section, item, fields, place, "" if item else line.facet_id)


def _seen(text: str) -> str:
    return "\n".join(text.replace("\0", "\ufffd").splitlines()).strip()


def note_problems(form: Form, error: BadInput) -> list[str]:
    """Put each message at the item that it is about; returns those that are about none."""
    if not isinstance(error, Rejected):
        return [f"{error.message}. {error.hint}" if error.hint else error.message]
    general, lines = [], form.lines()
    for problem in error.problems:
        message = _PLACE.sub(lambda found: repr(lines[int(found[1]) - 1].text), problem.message)
        if not problem.line:
            general.append(message)
        elif message not in (messages := lines[problem.line - 1].messages):
            messages.append(message)
    if error.total > len(error.problems):
        general.append(f"There are {error.total - len(error.problems):,} more like these.")
    return general


def brought_forward(form: Form, rubric: Rubric) -> Form:
    """The form on the newest version, with what its person changed in it.

    What another edit reworded meanwhile is the same item; what it dropped is offered as a new one.
    """
    fresh = of_rubric(rubric, form.query_id, rubric.newest)
    fresh.reason = form.reason
    mine = {part.bank: part for part in form.parts}
    for part in fresh.parts:
        if part.bank not in mine:
            continue
        before, now = (
            {item.item_id: item for item in (*section.in_force, *section.dropped)}
            for version in (form.version, rubric.newest)
            for section in [rubric.section(version, form.query_id, part.bank)]
        )
        for line in (*mine[part.bank].items, *mine[part.bank].dropped):
            item = before.get(line.item_id)
            changes = _changes(line, _line(item)) if item else {}
            if not item or not changes:
                continue
            same = [
                each
                for each in (*part.items, *part.dropped)
                if each.item_id == line.item_id or _origin(now[each.item_id]) == _origin(item)
            ]
            into = next((each for each in same if each.is_in_force), None)
            if into:
                vars(into).update(changes)
            elif line.is_in_force and "text" in changes:
                part.new.append(replace(line, item_id="", messages=[]))
            elif "is_in_force" in changes and same:
                same[0].is_in_force = line.is_in_force
        part.new += mine[part.bank].new
    return fresh


def mark_changes(form: Form, rubric: Rubric) -> int:
    """Say at each item of the form what it was before; returns how many are changed or new."""
    newest = of_rubric(rubric, form.query_id, rubric.newest)
    before = {(part.bank, line.item_id): line for part in newest.parts for line in part.lines()}
    for part in form.parts:
        for line in (*part.items, *part.dropped):
            if was := before.get((part.bank, line.item_id)):
                line.was = {name: getattr(was, name) for name in _changes(line, was)}
    return sum(bool(line.was) or not line.item_id for line in form.lines())


def _origin(item: RubricItem) -> tuple[str, str]:
    return item.facet_id, item.origin_item_id


def _changes(line: Line, was: Line) -> dict[str, Any]:
    """What a person changed of an item: the fields' names and what is in them now."""
    changes: dict[str, Any] = {
        name: getattr(line, name)
        for name in ("text", "answers", "weight")
        if _seen(getattr(line, name)) != _seen(getattr(was, name))
    }
    if line.is_in_force != was.is_in_force:
        changes["is_in_force"] = line.is_in_force
    return changes
