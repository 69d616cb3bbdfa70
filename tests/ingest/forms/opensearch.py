"""OpenSearch and Elasticsearch: judgment lists, rank_eval, answers to searches, UBI's log."""

from pathlib import Path
from typing import Any

from tests.ingest.forms.folder import CLICKS, JUDGMENTS, NOTHING, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, JUDGED, RANKED, SOLD, json_lines, judged, ranked
from tests.projects import write


def _hits(system: str, query: str) -> list[dict[str, Any]]:
    return [
        {
            "_index": "products",
            "_id": passage,
            "_score": score,
            "_source": {"title": SOLD[passage][0], "description": SOLD[passage][1]},
        }
        for of, passage, _, score in ranked(system)
        if of == query
    ]


def _answer(system: str, query: str) -> dict[str, Any]:
    hits = _hits(system, query)
    return {
        "took": 4,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits), "relation": "eq"},
            "max_score": hits[0]["_score"],
            "hits": hits,
        },
        "status": 200,
    }


def _judgments(folder: Path) -> None:
    """The search relevance workbench's list, ratings between 0 and 1 as texts; answers to searches
    that somebody kept with what was asked."""
    ratings = [
        {
            "query": text,
            "ratings": [
                {"docId": passage, "rating": f"{grade / 3:.3f}"}
                for passage, grade in JUDGED[query].items()
            ],
        }
        for query, text in ASKED.items()
    ]
    source = {
        "id": "b54f791a-3b02-49cb-a06c-46ab650b2ade",
        "timestamp": "2026-03-05T12:00:00.000Z",
        "name": "Camping",
        "status": "COMPLETED",
        "type": "LLM_JUDGMENT",
        "metadata": {"querySetId": "5f0115ad", "size": 10},
        "judgmentRatings": ratings,
    }
    hit = {"_index": "search-relevance-judgment", "_id": source["id"], "_source": source}
    write(folder / "judgments.json", {"took": 1, "timed_out": False, "hits": {"hits": [hit]}})
    for system in RANKED:
        rows = [{"query": ASKED[query], **_answer(system, query)} for query in ASKED]
        json_lines(folder / f"{system}.jsonl", rows)


def _import(folder: Path) -> None:
    """What is sent to make such a list, with whole numbers."""
    body = {
        "name": "Camping",
        "description": "Rated by the shop",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {
                "query": text,
                "ratings": [{"docId": own, "rating": g} for own, g in JUDGED[query].items()],
            }
            for query, text in ASKED.items()
        ],
    }
    write(folder / "judgments.json", body)
    for system in RANKED:
        write(folder / f"{system}.json", {text: _answer(system, q) for q, text in ASKED.items()})


def _rank_eval(folder: Path) -> None:
    """A request, and what two settings of the search answer to it."""
    requests = [
        {
            "id": query,
            "request": {"query": {"match": {"title": text}}},
            "ratings": [
                {"_index": "products", "_id": own, "rating": g} for own, g in JUDGED[query].items()
            ],
        }
        for query, text in ASKED.items()
    ]
    body = {"requests": requests, "metric": {"dcg": {"k": 10, "normalize": True}}}
    write(folder / "rank_eval.json", body)
    for system in RANKED:
        details = {
            query: {
                "metric_score": 0.5,
                "unrated_docs": [],
                "hits": [
                    {"hit": hit, "rating": JUDGED[query].get(hit["_id"])}
                    for hit in _hits(system, query)
                ],
                "metric_details": {"dcg": {"dcg": 1.0, "ideal_dcg": 2.0}},
            }
            for query in ASKED
        }
        answer = {"metric_score": 0.5, "details": details, "failures": {}}
        write(folder / f"{system}.json", answer)
    write(folder / "topics.tsv", ASKED)


def _msearch(folder: Path) -> None:
    """Answers in the order of the topics, which is all that says what was asked."""
    write(folder / "topics.tsv", ASKED)
    write(folder / "ratings.qrels", JUDGED)
    for system in RANKED:
        responses = [_answer(system, query) for query in ASKED]
        write(folder / f"{system}.json", {"took": 30, "responses": responses})


def _ubi(folder: Path) -> None:
    """Searches and what happened then; each search shows all, and one of ten is clicked."""
    searches, events = [], []
    for query, text in ASKED.items():
        of_search = {"application": "shop", "query_id": f"1065c70f-{query}", "client_id": "c-1"}
        ranking = RANKED["strong"][query]
        searches.append(
            {
                **of_search,
                "user_query": text,
                "query_response_id": f"65d0f0f2-{query}",
                "query_response_hit_ids": ranking,
                "query_attributes": {},
                "timestamp": "2026-03-05T12:00:00.000Z",
            }
        )
        for ordinal, passage in enumerate(ranking, start=1):
            event = {
                **of_search,
                "session_id": "s-1",
                "user_query": text,
                "message_type": "INFO",
                "timestamp": "2026-03-05T12:00:05.000Z",
                "event_attributes": {
                    "object": {"object_id": passage, "object_id_field": "sku"},
                    "position": {"ordinal": ordinal},
                    "session_id": "s-1",
                },
            }
            events.append({"action_name": "impression", **event})
            if ordinal == 2:
                events.append({"action_name": "click", **event})
    json_lines(folder / "ubi_queries.ndjson", searches)
    json_lines(folder / "ubi_events.ndjson", events)
    write(
        folder / "ratings.csv",
        [
            {"query": ASKED[query], "doc_id": passage, "rating": grade}
            for query, passage, grade in judged()
        ],
    )
    for system in RANKED:
        json_lines(
            folder / f"{system}.jsonl",
            [{"query": ASKED[query], **_answer(system, query)} for query in ASKED],
        )


_SEARCHES = (QUERIES, PASSAGES, RUNS)
FOLDERS = (
    Folder(
        "opensearch",
        _judgments,
        {"judgments.json": (QUERIES, JUDGMENTS), "*.jsonl": _SEARCHES},
        ids=False,
    ),
    Folder(
        "opensearch-import",
        _import,
        {"judgments.json": (QUERIES, JUDGMENTS), "strong.json": _SEARCHES, "weak.json": _SEARCHES},
        ids=False,
    ),
    Folder(
        "rank-eval",
        _rank_eval,
        {
            "topics.tsv": QUERIES,
            "rank_eval.json": JUDGMENTS,
            "strong.json": (PASSAGES, RUNS),
            "weak.json": (PASSAGES, RUNS),
        },
    ),
    Folder(
        "msearch",
        _msearch,
        {
            "topics.tsv": QUERIES,
            "ratings.qrels": JUDGMENTS,
            "strong.json": NOTHING,
            "weak.json": NOTHING,
        },
        systems=(),
        rows={"passages": 0},
    ),
    Folder(
        "ubi",
        _ubi,
        {
            "ubi_queries.ndjson": QUERIES,
            "ubi_events.ndjson": CLICKS,
            "ratings.csv": (QUERIES, JUDGMENTS),
            "*.jsonl": _SEARCHES,
        },
        rows={"clicks": len(ASKED) * 10},
        ids=False,
    ),
)
