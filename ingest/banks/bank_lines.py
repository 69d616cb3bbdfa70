"""The lines of a bank in the workbench's form: made of items, and what a file's lines hold beside.

What an item of the lake does not tell (a facet's title, `info`, `hash`, keys that nobody knows)
waits in `raw.brought_along` for an export, a row per line: its keys, and by item those of `items`.
"""

import json
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from gradelake.ingest.banks.bank_items import Draft, Item

Lines = dict[tuple[str, str], dict[str, Any]]  # (query_id, part) -> what its line brought along


def part_of(item: Item) -> str:
    """Which line of its query an item stands in."""
    return f"{item.kind.split(':')[0]}/{item.facet_id}"


def keep(lines: Lines, item: Item, draft: Draft) -> None:
    """Note what an item does not tell of what a file says of it and its line; the first counts."""
    if draft.bank is None:
        return
    if (key := (item.query_id, part_of(item))) not in lines:
        known = {"items": draft.bank.get("items"), **_topic(item)}
        lines[key] = _beside(draft.bank, known) | {"items": {}}
    lines[key]["items"].setdefault(item.item_id, _beside(draft.source or {}, _written(item)))


def rows(lines: Lines, items: Iterable[Item]) -> list[tuple[str, str, str]]:
    """(query_id, part, content) of the lines that these items stand in."""
    kept: Lines = {}
    for item in items:
        if line := lines.get(key := (item.query_id, part_of(item))):
            own = kept.setdefault(key, line | {"items": {}})
            if beside := line["items"].get(item.item_id):
                own["items"][item.item_id] = beside
    return [(*key, json.dumps(line, ensure_ascii=False)) for key, line in kept.items()]


def text_of(items: Iterable[Item], queries: dict[str, str], collection: str, brought: Lines) -> str:
    """JSON lines, one object per query, facet and kind, of items that are sorted by these."""
    written = []
    for (query_id, _, _), group in groupby(items, attrgetter("query_id", "facet_id", "kind")):
        of_line = list(group)
        about = {"query_text": queries.get(query_id, ""), "test_collection": collection}
        line = brought.get((query_id, part_of(of_line[0])), {})
        beside = line.get("items", {})
        objects = [_written(item) | beside.get(item.item_id, {}) for item in of_line]
        line = _topic(of_line[0]) | about | line | {"items": objects}
        written.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(written)


def criteria_of(items: Iterable[Item], queries: dict[str, str], brought: Lines) -> str:
    """JSON lines, one object per query, of criteria that are sorted by it."""
    written = []
    for query_id, group in groupby(items, attrgetter("query_id")):
        line = {"qid": query_id, "query": queries.get(query_id, ""), "criteria": []}
        for item in group:
            _, tier, type_ = item.kind.split(":")
            beside = brought.get((query_id, part_of(item)), {}).get("items", {})
            criterion = {"text": item.text, "type": type_, "tier": tier, "weight": item.weight}
            line["criteria"].append(criterion | beside.get(item.item_id, {}))
        written.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(written)


def _topic(item: Item) -> dict[str, Any]:
    return {"query_id": item.query_id} | ({"facet_id": item.facet_id} if item.facet_id else {})


def _written(item: Item) -> dict[str, Any]:
    """An item's object; `weight` is ours, which the workbench passes over."""
    kind = item.kind.split(":")[0]
    fields = _topic(item) | {f"{kind}_id": item.item_id, f"{kind}_text": item.text}
    if kind == "criterion":
        fields["kind"] = item.kind
    if item.gold_answers:
        fields["gold_answers"] = item.gold_answers
    if item.weight != 1:
        fields["weight"] = item.weight
    return fields


def _beside(stated: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The keys of an object that others do not tell; null is absent, as the workbench has it."""
    return {
        key: value
        for key, value in stated.items()
        if value is not None and not (key in known and known[key] == value)
    }
