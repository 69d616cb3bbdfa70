"""Algolia's searches and events; what Google Analytics exports of a list of items."""

from pathlib import Path

from gradelake.ingest.reading.csv_tables import written
from tests.ingest.forms.folder import CLICKS, JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, JUDGED, RANKED, SOLD, json_lines, result_tables
from tests.projects import write


def _algolia(folder: Path) -> None:
    """Answers to searches, a line each, and the clicks on those of one index."""
    for system in RANKED:
        answers = [
            {
                "hits": [
                    {"objectID": own, "name": SOLD[own][0], "description": SOLD[own][1]}
                    for own in RANKED[system][query]
                ],
                "nbHits": 10,
                "page": 0,
                "hitsPerPage": 20,
                "query": text,
                "params": "clickAnalytics=true",
                "index": system,
                "queryID": f"{system}-{query}",
                "processingTimeMS": 1,
            }
            for query, text in ASKED.items()
        ]
        json_lines(folder / f"{system}.ndjson", answers)
    events = [
        {
            "eventType": "click",
            "eventName": "Product Clicked",
            "index": "strong",
            "userToken": "user-1",
            "timestamp": 1772712000000,
            "queryID": f"strong-{query}",
            "objectIDs": [RANKED["strong"][query][place]],
            "positions": [place + 1],
        }
        for query in ASKED
        for place in (0, 2)
    ]
    json_lines(folder / "events.ndjson", events)
    rows = [
        {"query": ASKED[query], "objectID": own, "rating": grade}
        for query, grades in JUDGED.items()
        for own, grade in grades.items()
    ]
    write(folder / "ratings.csv", rows)


_ABOVE = """\
# ----------------------------------------
# Free form 1
# Account: Shop
# Property: Camping
# 20260301-20260331
# ----------------------------------------
#
"""


def _analytics(folder: Path) -> None:
    """Its head is in lines that begin with #."""
    rows = [
        [
            "Search term",
            "Item ID",
            "Item list position",
            "Items viewed in list",
            "Items clicked in list",
        ]
    ]
    rows += [
        [ASKED[query], own, str(place), "200", str(20 - place)]
        for query, passages in RANKED["strong"].items()
        for place, own in enumerate(passages, start=1)
    ]
    write(folder / "Free_form_1.csv", _ABOVE + written(rows))
    products = [{"sku": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    write(folder / "products.csv", products)
    rated = [
        {"search_term": ASKED[query], "sku": own, "rating": grade}
        for query, grades in JUDGED.items()
        for own, grade in grades.items()
    ]
    write(folder / "ratings.csv", rated)
    result_tables(folder)


FOLDERS = (
    Folder(
        "algolia",
        _algolia,
        {
            "strong.ndjson": (QUERIES, PASSAGES, RUNS),
            "weak.ndjson": (QUERIES, PASSAGES, RUNS),
            "events.ndjson": CLICKS,
            "ratings.csv": (QUERIES, JUDGMENTS),
        },
        rows={"clicks": 2 * len(ASKED)},
        ids=False,
    ),
    Folder(
        "analytics",
        _analytics,
        {
            "Free_form_1.csv": CLICKS,
            "products.csv": PASSAGES,
            "ratings.csv": (QUERIES, JUDGMENTS),
            "strong.csv": (QUERIES, RUNS),
            "weak.csv": (QUERIES, RUNS),
        },
        rows={"clicks": 10 * len(ASKED)},
        ids=False,
    ),
)
