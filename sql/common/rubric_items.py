"""The id of a rubric item: the same wherever the item was made."""

import hashlib


def item_id_of(query_id: str, facet_id: str, text: str) -> str:
    """`query_id[/facet_id]/md5(stripped text)`: the RUBRIC workbench's published scheme."""
    parts = [query_id, facet_id, hashlib.md5(text.strip().encode()).hexdigest()]
    return "/".join(part for part in parts if part)
