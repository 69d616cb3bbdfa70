"""What differs between two versions of a rubric."""

from collections import defaultdict
from dataclasses import dataclass

from gradelake.ingest.rubric.items import RubricItem
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.sql.common.word_diff import word_diff

KINDS = ("dropped", "added", "reworded", "reanswered", "reweighted", "restored")


@dataclass(frozen=True)
class ItemDifference:
    """One item that differs: `old` None where it is new, `new` None where it is gone."""

    kind: str  # one of KINDS
    old: RubricItem | None
    new: RubricItem | None

    @property
    def item(self) -> RubricItem:
        found = self.new or self.old
        assert found is not None  # one of the two is there
        return found

    def as_object(self) -> dict:
        return {
            "query_id": self.item.query_id,
            "bank": self.item.bank,
            "change": self.kind,
            "item_kind": self.item.kind,
            **{
                f"{which}_{name}": item and getattr(item, name)
                for name in ("item_id", "text", "weight", "gold_answers")
                for which, item in (("old", self.old), ("new", self.new))
            },
        }


@dataclass(frozen=True)
class Diff:
    """What differs between two versions of a rubric."""

    rubric: Rubric
    first: int
    second: int
    found: list[ItemDifference]

    def as_object(self) -> dict:
        return {
            "collection": self.rubric.collection,
            "from": self.first,
            "to": self.second,
            "counts": {kind: sum(each.kind == kind for each in self.found) for kind in KINDS},
            "differences": [each.as_object() for each in self.found],
        }


def differences(rubric: Rubric, first: int, second: int) -> list[ItemDifference]:
    """What changes from one version to another, by query and bank.

    Raises `BadInput` for a version that there is not. An item that is gone and one that is new
    with the same origin are one rewording. An item is restored when it is new and was in force
    before the first version.
    """
    rubric.check_version(first)
    rubric.check_version(second)
    old = {item.key: item for item in rubric.items(first)}
    new = {item.key: item for item in rubric.items(second)}
    earlier = {item.key for item in rubric.dropped(first)} if first < second else set()
    found = [
        ItemDifference(
            "reanswered" if new[key].gold_answers != item.gold_answers else "reweighted",
            item,
            new[key],
        )
        for key, item in old.items()
        if key in new
        and (new[key].weight, new[key].kind, new[key].gold_answers)
        != (item.weight, item.kind, item.gold_answers)
    ]
    gone: dict[tuple, list[RubricItem]] = defaultdict(list)
    for key, item in old.items():
        if key not in new:
            gone[_origin(item)].append(item)
    for key, item in new.items():
        if key in old:
            continue
        if before := gone[_origin(item)]:
            found.append(ItemDifference("reworded", before.pop(0), item))
        else:
            found.append(ItemDifference("restored" if key in earlier else "added", None, item))
    found += [ItemDifference("dropped", item, None) for items in gone.values() for item in items]
    return sorted(
        found,
        key=lambda d: (
            d.item.query_id,
            d.item.bank,
            KINDS.index(d.kind),
            d.item.text,
            d.item.item_id,
        ),
    )


def _origin(item: RubricItem) -> tuple:
    return item.query_id, item.bank, item.facet_id, item.origin_item_id


def marked(old: str, new: str) -> str:
    """The new text with what changed in it, word by word: `the [-old-]{+new+} text`."""
    signs = {"": "{}", "del": "[-{}-]", "ins": "{{+{}+}}"}
    return "".join(signs[what].format(words) for what, words in word_diff(old, new))
