"""What the bar of a page asks the server: who is signed in, what waits for them, and its search."""

from itertools import chain
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gradelake.serve.pages import at, route
from gradelake.serve.people import Person
from gradelake.sql.ask import book

_LONGEST = 200  # characters that are searched for
_HAS_CARDS = """
    select 1 from lake.raw.review_cards
    where collection = ? and assessor = ?
    limit 1
"""
_WAITING = """
    select count(*) from lake.intermediate.int_review_cards
    where collection = ? and assessor = ? and not is_answered
"""
# of each kind the five whose id or text is nearest to the words: each word is in one of them
_FOUND = """
    with things as (
        select collection, 'system' as kind, system as id, null as text from lake.raw.systems
        union all
        select collection, 'query', query_id, text from lake.raw.queries
        union all
        select collection, 'passage', passage_id, text
        from lake.raw.passages
        semi join lake.marts.pool using (collection, passage_id)
        union all
        select collection, 'item', item_id, any_value(text)
        from lake.marts.rubric_items_effective
        group by all
    )

    select collection, kind, id, left(text, 120) as text
    from things
    where
        ($collection = '' or collection = $collection)
        and list_bool_and(list_transform(
            string_split(lower($words), ' '),
            lambda word: contains(lower(concat(id, ' ', text)), word)
        ))
    qualify row_number() over (
        partition by kind
        order by
            lower(id) != lower($words), not starts_with(lower(id), lower($words)), id, collection
    ) <= 5
    order by list_position(['system', 'query', 'passage', 'item'], kind), id, collection
"""
_PAGES = {"system": "systems", "query": "queries", "passage": "passages", "item": "items"}


def mine(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Who asks, and how many cards wait for them in a collection."""
    state, collection = request.app.state, request.query_params.get("collection", "")
    whose = (collection, person.name)
    with state.readers.live() as lake:  # most people have none, which is told at once
        waiting = lake.value(_WAITING, *whose) if lake.value(_HAS_CARDS, *whose) else 0
    # no token: a proxy says who they are, and nobody signs out here
    token = None if state.trust_header else state.sessions.token(request.state.token_of)
    may = {"may_review": person.may("assessor"), "adds_people": person.may("operator")}
    return JSONResponse({"name": person.name, "waiting": waiting, "token": token} | may)


def found(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Systems, queries, passages, items and questions that have every word, as links."""
    asked = request.query_params
    collection, words = asked.get("collection", ""), " ".join(asked.get("words", "").split())
    if not 0 < len(words) <= _LONGEST:
        raise HTTPException(400, f"Search for 1 to {_LONGEST} characters.")
    with request.app.state.readers.release(asked.get("release")) as lake:
        rows = lake.objects(_FOUND, collection=collection, words=words)
    for row in rows:
        thing = f"{_PAGES[row['kind']]}/{quote(row['id'], safe='')}"
        row["href"] = f"{at(row['collection'])}/{thing}"
    return JSONResponse(rows + (_questions(collection, words) if collection else []))


def _questions(collection: str, words: str) -> list[dict[str, Any]]:
    """The questions of the query book."""
    there, entries = f"{at(collection)}/ask", chain(*book.grouped().values())
    return [
        {"kind": "question", "id": one.name, "text": one.question, "href": f"{there}/{one.name}"}
        for one in entries
        if one.has(words)
    ][:5]


routes = [route("/bar.json", "reader", mine), route("/search.json", "reader", found)]
