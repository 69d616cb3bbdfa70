"""The id and the kind of a rubric item: the same wherever the item was made."""

import hashlib
from collections.abc import Mapping

KINDS = "question, nugget or criterion:TIER:TYPE (TIER: mandatory or optional)"
KIND = r"question|nugget|criterion:(?:mandatory|optional):[a-z][a-z0-9_-]*"
OF_CRITERIA = "criterion:"
WEIGHTS = {"mandatory": 5.0, "optional": 2.0}  # of criteria that do not say it


def plural(kind: str) -> str:
    """`questions`, `nuggets` or `criteria`."""
    return "criteria" if kind.startswith("criterion") else f"{kind}s"


def criteria_of(nuggets: Mapping[str, float]) -> list[tuple[str, str, float]]:
    """(kind, text, weight) of the criteria that nuggets and their weights become: a vital one (1 or
    more) is mandatory, an okay one optional."""
    tiers = {text: "mandatory" if w >= 1 else "optional" for text, w in nuggets.items()}
    return [(f"criterion:{tier}:explicit", text, WEIGHTS[tier]) for text, tier in tiers.items()]


def item_id_of(query_id: str, facet_id: str, text: str) -> str:
    """`query_id[/facet_id]/md5(stripped text)`: the RUBRIC workbench's published scheme."""
    parts = [query_id, facet_id, hashlib.md5(text.strip().encode()).hexdigest()]
    return "/".join(part for part in parts if part)
