"""What only shows when a bank's items are seen together: repeats, topics unlike the others."""

import re
from collections import defaultdict
from collections.abc import Iterable

from gradelake.ingest.banks.bank_items import Findings, Item
from gradelake.sql.common.rubric_items import plural

# a topic is pointed out when it has this many times the items of the middle one,
UNUSUAL = 3
MANY = 10  # and at least so many
MIN_TOPICS = 5  # fewer say nothing about what is usual

# English words that no complete question or nugget ends in
_BREAK = re.compile(
    r"(\.\.\.|[,;:(\u2026\u2013\u2014-]"
    r"|\b(the|an?|and|or|of|is|are|was|were|has|have|been|that|which|than|from|with|can|will"
    r"|into|their|its|as|by|only|where))$",
    re.IGNORECASE,
)


def _grouped(items: Iterable[Item], *fields: str) -> dict[tuple, list[Item]]:
    found: dict[tuple, list[Item]] = defaultdict(list)
    for item in items:
        found[tuple(getattr(item, name) for name in fields)].append(item)
    return found


def once_each(items: Iterable[Item], findings: Findings) -> list[Item]:
    """Repeated items once. Items of one id that differ are all left out: which is meant?"""
    kept = []
    for same in _grouped(items, "query_id", "facet_id", "item_id").values():
        first = same[0]
        differ = " and ".join(
            name.replace("_", " ")
            for name in ("text", "kind", "gold_answers", "weight")
            if len({str(getattr(item, name)) for item in same}) > 1
        )
        if not differ:
            kept.append(first)
            if len(same) > 1:
                findings.note(
                    "repeated",
                    first.line,
                    f"{first.item_id!r} ({first.text!r}) is listed {len(same)} times"
                    f"{_where(same)}: kept once",
                )
        else:
            findings.leave_out(
                "conflict",
                first.line,
                f"{first.item_id!r} ({first.text!r}) is listed {len(same)} times{_where(same)} "
                f"with different {differ}: all are left out",
                n=len(same),
            )
    return kept


def _where(same: list[Item]) -> str:
    lines = sorted({item.line for item in same if item.line})
    return f" (lines {', '.join(map(str, lines))})" if len(lines) > 1 else ""


def note_shared_ids(items: Iterable[Item], findings: Findings) -> None:
    """Point out ids that several queries or facets use: grades name the id alone."""
    for (item_id,), same in _grouped(items, "item_id").items():
        if len(same) > 1:
            places = ", ".join("/".join(filter(None, (i.query_id, i.facet_id))) for i in same)
            findings.note(
                "shared",
                same[1].line,
                f"id {item_id!r} is used {len(same)} times ({places}): its grades count for each",
            )


def note_broken_texts(items: Iterable[Item], findings: Findings) -> None:
    """Point out texts that end in the middle of a sentence, by query."""
    broken = (item for item in items if _BREAK.search(item.text))
    for (query_id,), texts in _grouped(broken, "query_id").items():
        n = len(texts)
        what = "1 text seems" if n == 1 else f"{n} texts seem"
        findings.note(
            "broken",
            texts[0].line,
            f"{what} broken off in query {query_id!r}: {texts[0].text!r}{', ...' if n > 1 else ''}",
        )


def note_unusual_topics(items: list[Item], findings: Findings) -> None:
    """Point out queries (or facets) with far more items than the middle one has."""
    topics = _grouped(items, "query_id", "facet_id")
    if len(topics) < MIN_TOPICS:
        return
    counts = sorted(map(len, topics.values()))
    limit = max(UNUSUAL * counts[len(counts) // 2], MANY)
    usual = [n for n in counts if n < limit]
    for (query_id, facet_id), (item, *more) in topics.items():
        if (n := 1 + len(more)) >= limit:
            others = f"{usual[0]}" if usual[0] == usual[-1] else f"{usual[0]} to {usual[-1]}"
            facet = f", facet {facet_id!r}," if facet_id else ""
            findings.note(
                "unusual",
                item.line,
                f"topic {query_id}{facet} has {n} {plural(item.kind)} where others have {others}: "
                "check it",
            )


def of_known_queries(items: list[Item], known: set[str], findings: Findings) -> list[Item]:
    """The items whose query the collection has; the others are left out and counted."""
    unknown = (item for item in items if item.query_id not in known)
    for (query_id,), without in _grouped(unknown, "query_id").items():
        n = len(without)
        findings.leave_out(
            "unknown",
            without[0].line,
            f"the collection has no query {query_id!r}: its {n} "
            f"{'item is' if n == 1 else 'items are'} left out",
            n=n,
        )
    return [item for item in items if item.query_id in known]
