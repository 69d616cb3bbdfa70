"""Rubric versions in plain Python: edits applied to a bank, and what follows from raw grades."""

import csv
import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tests.oracle import Qrels, Run


@dataclass(frozen=True)
class Item:
    query: str
    kind: str
    text: str
    weight: float = 1.0
    is_in_force: bool = True


Rubric = dict[str, Item]  # by item id
Grades = dict[tuple[str, str], dict[str, int]]  # (query, passage) -> item id -> grade


def item_id(query: str, text: str) -> str:
    return f"{query}/{hashlib.md5(text.strip().encode()).hexdigest()}"


def read_bank(file: Path, kind: str) -> Rubric:
    """A bank in the workbench's form, a line per query."""
    items = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        for item in json.loads(line)["items"]:
            text = item["question_text" if kind == "question" else "nugget_text"]
            items[item_id(item["query_id"], text)] = Item(item["query_id"], kind, text)
    return items


def versions(bank: Rubric, edits_file: Path) -> dict[int, Rubric]:
    """version -> the items in force in it."""
    by_version = defaultdict(list)
    with edits_file.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            by_version[int(row["rubric_version"])].append(row)
    items = dict(bank)
    states = {0: bank}
    for version in sorted(by_version):
        for row in by_version[version]:
            weight = float(row["weight"]) if row["weight"] else None
            if row["action"] == "add":
                new = Item(row["query_id"], row["kind"], row["text"], weight or 1.0)
            else:
                old = items[row["item_id"]]
                new = replace(old, weight=old.weight if weight is None else weight)
            match row["action"]:
                case "drop":
                    items[row["item_id"]] = replace(new, is_in_force=False)
                case "reweight":
                    items[row["item_id"]] = new
                case "restore":
                    items[row["item_id"]] = replace(new, is_in_force=True)
                case "reword":
                    items[row["item_id"]] = replace(old, is_in_force=False)
                    items[item_id(new.query, row["text"])] = replace(new, text=row["text"])
                case "add":
                    items[item_id(new.query, row["text"])] = new
        states[version] = {key: item for key, item in items.items() if item.is_in_force}
    return states


def of_kind(rubric: Rubric, kind: str) -> Rubric:
    return {key: item for key, item in rubric.items() if item.kind == kind}


def items_of(rubric: Rubric, query: str) -> list[str]:
    return [key for key, item in rubric.items() if item.query == query]


def labels(rubric: Rubric, grades: Grades, nth_best: int) -> dict[tuple[str, str], tuple]:
    """(query, passage) -> label, items, items without a grade; of passages with a grade."""
    found = {}
    for (query, passage), by_item in grades.items():
        wanted = items_of(rubric, query)
        values = sorted((by_item[key] for key in wanted if key in by_item), reverse=True)
        if values:
            label = values[nth_best - 1] if len(values) >= nth_best else 0
            found[query, passage] = (label, len(wanted), len(wanted) - len(values))
    return found


def as_qrels(found: dict[tuple[str, str], tuple]) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for (query, passage), (label, *_) in found.items():
        qrels[query][passage] = label
    return dict(qrels)


def top(run: Run, query: str, k: int) -> list[str]:
    """The first k passages as trec_eval orders them."""
    scores = run.get(query, {})
    ranked = sorted(scores, key=lambda p: (np.float32(scores[p]), p.encode()), reverse=True)
    return ranked[:k]


def cover(rubric: Rubric, grades: Grades, run: Run, query: str, tau: int, k: int) -> tuple:
    """Cover@k(tau) of a query, plain and by weight."""
    wanted = items_of(rubric, query)
    covered = {
        key
        for passage in top(run, query, k)
        for key in wanted
        if grades.get((query, passage), {}).get(key, -1) >= tau
    }
    weight = sum(rubric[key].weight for key in covered)
    return len(covered) / len(wanted), weight / sum(rubric[key].weight for key in wanted)


def cause(before: Rubric, after: Rubric, by_item: dict[str, int], has_risen: bool) -> str:
    """The item that came in (or left) with the greatest grade on a passage."""
    changed = after.keys() - before.keys() if has_risen else before.keys() - after.keys()
    return min((key for key in changed if key in by_item), key=lambda key: (-by_item[key], key))
