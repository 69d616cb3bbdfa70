"""The lines of a bank as they came: kept whole by an import, given back by an export.

They wait in `raw.brought_along`, a row for each line, in the file's order: its form, the line, and
what stood in its list, as pairs of an item's id and what was given of it. An export in another form
lays what the lake knows over them. What `gradelake generate` knows of its items beside the rows
stands there too, without a form.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from gradelake.ingest.banks.bank_formats import format_of
from gradelake.ingest.banks.bank_items import Draft, Item

Object = dict[str, Any]
# form -> the key of its list of items
LISTS = {"workbench": "items", "criteria": "criteria", "nuggetizer": "nuggets"}


@dataclass
class Line:
    """One object of a file, and what stood in its list: (item's id, what was given)."""

    query_id: str
    part: str
    bank: Object
    given: list[tuple[str, Object]] = field(default_factory=list)

    @property
    def form(self) -> str | None:
        return format_of(self.bank)

    def content(self, kept: set[str]) -> str:
        """JSON, with those of its items that are kept."""
        line = {key: value for key, value in self.bank.items() if key != LISTS.get(self.form or "")}
        given = [pair for pair in self.given if pair[0] in kept]
        return json.dumps({"form": self.form, "line": line, "given": given}, ensure_ascii=False)


Lines = dict[int, Line]  # by the identity of their object, which they hold


def part_of(item: Item) -> str:
    """Where in its query an item stands."""
    return f"{item.kind.split(':')[0]}/{item.facet_id}"


def keep(lines: Lines, item: Item, draft: Draft) -> None:
    """Note what a file says of an item and its line."""
    if draft.bank is None:
        return
    made = Line(item.query_id, part_of(item), draft.bank)
    line = lines.setdefault(id(draft.bank), made)
    line.given.append((item.item_id, draft.source or {}))


def rows(lines: Lines, items: Iterable[Item]) -> list[tuple[str, str, str, int]]:
    """(query_id, part, content, place) of the lines that these items stand in."""
    kept = {item.item_id for item in items}
    found: dict[tuple[str, str], tuple[str, str, str, int]] = {}
    for place, line in enumerate(lines.values(), start=1):
        if kept.isdisjoint(item_id for item_id, _ in line.given):
            continue
        key = line.query_id, line.part
        if key in found:  # two lines of one query
            key = line.query_id, f"{line.part}#{place}"
        found[key] = (*key, line.content(kept), place)
    return list(found.values())


@dataclass(frozen=True)
class Form:
    """How a bank is written as JSON lines: what the lake knows of a line, and of an item."""

    name: str
    line: Callable[[Item], Object]
    item: Callable[[Item], Object]
    together: Callable[[Item], Any]  # what items of one line share
    has_others: bool = False  # lines of other forms, which readers of this one pass over


def text_of(form: Form, items: Iterable[Item], brought: Iterable[tuple[str, str, str]]) -> str:
    """JSON lines of items: in the lines that they came in, of (query_id, part, content); then the
    others, a line for what is together."""
    left: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        left.setdefault((item.query_id, item.item_id), []).append(item)
    noted = {}
    written = []
    for query_id, part, text in brought:
        content = json.loads(text)
        if "form" not in content:
            noted[query_id, part] = content
            continue
        if content["form"] != form.name and not form.has_others:
            continue
        ids = dict.fromkeys(item_id for item_id, _ in content["given"])
        found = {
            item_id: left[query_id, item_id].pop(0)
            for item_id in ids
            if left.get((query_id, item_id))
        }
        if found:
            written.append(_as_it_came(form, content, found))
    others = [item for of_id in left.values() for item in of_id]
    if form.name == "nuggetizer":
        others = once_each(others)
    for _, group in groupby(others, form.together):
        of_line = list(group)
        key = of_line[0].query_id, part_of(of_line[0])
        written.append(_of_rows(form, of_line, noted.get(key, {})))
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in written)


def _as_it_came(form: Form, content: Object, items: dict[str, Item]) -> Object:
    is_own = content["form"] == form.name
    first = next(iter(items.values()))
    line = content["line"] if is_own else form.line(first) | content["line"]
    objects = [
        given if is_own else given | form.item(items[item_id])
        for item_id, given in content["given"]
        if item_id in items
    ]
    return {**line, LISTS[form.name]: objects}


def _of_rows(form: Form, items: list[Item], noted: Object) -> Object:
    """A line of items, with what was noted of them."""
    given = dict(noted.get("given", ()))
    objects = [form.item(item) | given.get(item.item_id, {}) for item in items]
    return {**form.line(items[0]), **noted.get("line", {}), LISTS[form.name]: objects}


def form_of(name: str, queries: dict[str, str], collection: str) -> Form:
    """The workbench's form, nuggetizer's or that of criteria."""

    def workbench(item: Item) -> Object:
        about = {"query_text": queries.get(item.query_id, ""), "test_collection": collection}
        return _topic(item) | about

    def by_query(item: Item) -> Object:
        return {"qid": item.query_id, "query": queries.get(item.query_id, "")}

    if name == "workbench":
        together = attrgetter("query_id", "facet_id", "kind")
        return Form(name, workbench, _workbench_item, together, has_others=True)
    item = {"criteria": _criterion, "nuggetizer": _nugget}[name]
    return Form(name, by_query, item, attrgetter("query_id"))


def _topic(item: Item) -> Object:
    return {"query_id": item.query_id} | ({"facet_id": item.facet_id} if item.facet_id else {})


def _workbench_item(item: Item) -> Object:
    """A line of `items`; `weight` is ours, which the workbench passes over."""
    kind = item.kind.split(":")[0]
    fields = _topic(item) | {f"{kind}_id": item.item_id, f"{kind}_text": item.text}
    if kind == "criterion":
        fields["kind"] = item.kind
    if item.gold_answers:
        fields["gold_answers"] = item.gold_answers
    if item.weight != 1:
        fields["weight"] = item.weight
    return fields


def _criterion(item: Item) -> Object:
    _, tier, type_ = item.kind.split(":")
    return {"text": item.text, "type": type_, "tier": tier, "weight": item.weight}


def _nugget(item: Item) -> Object:
    return {"text": item.text, "importance": "vital" if item.weight >= 1 else "okay"}


def once_each(items: Iterable[Item]) -> list[Item]:
    """A query's nuggets, each text once in any facet with its greatest weight, vital ones first."""
    by_text: dict[tuple[str, str], Item] = {}
    for item in items:
        known = by_text.setdefault((item.query_id, item.text), item)
        if item.weight > known.weight:
            by_text[item.query_id, item.text] = item
    return sorted(by_text.values(), key=lambda item: (item.query_id, -item.weight))
