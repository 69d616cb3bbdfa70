"""A rubric's items as they are in force, and the short ids that people read and write."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_MD5 = re.compile(r"[0-9a-f]{32}")
SHORTEST = 8  # characters of a short id, at least


@dataclass(frozen=True)
class RubricItem:
    """An item in one version of a rubric. `text` is '' when only its grades are known."""

    bank: str
    query_id: str
    facet_id: str
    item_id: str
    kind: str
    text: str
    gold_answers: tuple[str, ...]
    weight: float
    origin: str
    origin_item_id: str
    is_in_force: bool = True
    action: str | None = None  # what the version did to it
    previous_item_id: str | None = None  # what the version reworded it from

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.query_id, self.bank, self.facet_id, self.item_id


@dataclass(frozen=True)
class Section:
    """What people edit as one list: the items of a query in a bank, and those dropped so far."""

    query_id: str
    bank: str
    in_force: tuple[RubricItem, ...]
    dropped: tuple[RubricItem, ...]
    facets: dict[str, str] = field(default_factory=dict)  # of the query: id -> text

    def short_ids(self) -> dict[str, str]:
        """item id -> short id, of all items of the section."""
        return short_ids(item.item_id for item in (*self.in_force, *self.dropped))

    def fingerprint(self) -> str:
        """Eight characters that change when anything of the section does."""
        content = [
            [(i.item_id, i.kind, i.text, i.gold_answers, i.weight) for i in items]
            for items in (self.in_force, self.dropped)
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:8]


def short_ids(item_ids: Iterable[str]) -> dict[str, str]:
    """item id -> the shortest unique beginning of its md5, of 8 characters or more.

    Ids that end in no md5 are shortened to what follows their last slash, and where that is not
    unique not at all.
    """
    item_ids = list(dict.fromkeys(item_ids))
    tails = [item_id.rsplit("/", 1)[-1] for item_id in item_ids]
    found = {}
    for item_id, tail in zip(item_ids, tails, strict=True):
        if tails.count(tail) > 1:
            found[item_id] = item_id
        elif _MD5.fullmatch(tail):
            found[item_id] = next(
                tail[:n]
                for n in range(SHORTEST, len(tail) + 1)
                if sum(other.startswith(tail[:n]) for other in tails) == 1
            )
        else:
            found[item_id] = tail
    return found


def cleaned(answers: Iterable[str]) -> tuple[str, ...]:
    """Gold answers as a bank keeps them: stripped, each once, none empty."""
    return tuple(dict.fromkeys(answer for a in answers if (answer := a.strip())))


def number(weight: float) -> str:
    """A weight as people write it: 2, 0.5."""
    return repr(float(weight)).removesuffix(".0")
