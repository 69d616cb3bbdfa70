"""Signing in and out, and the first page: what there is to look at and to do."""

from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gradelake.serve.pages import asked_cookie, asked_for, at, page, route
from gradelake.serve.people import Person
from gradelake.serve.sessions import DAYS
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import NothingPublished

_COLLECTIONS = """
    select
        collection,
        (
            select count(*) from lake.raw.queries as queries
            where queries.collection = collections.collection
        ) as n_queries,
        (
            select count(*) from lake.raw.systems as systems
            where systems.collection = collections.collection
        ) as n_systems
    from lake.raw.collections as collections
    order by collection
"""
# pace: seconds a card, which half of theirs took less than, or of everybody's
_TASKS = """
    with pace as (
        select
            coalesce(median(seconds) filter (where assessor = $assessor), median(seconds)) as card
        from lake.raw.grade_reviews
    )

    select
        collection,
        queue,
        n_assigned - n_answered as n,
        ceil(n * pace.card / 60)::integer as minutes
    from lake.marts.review_queues
    cross join pace
    where assessor = $assessor and n_answered < n_assigned
    order by made_at, collection, queue
"""
_NIGHTS = """
    select
        night,
        started_at,
        finished_at,
        pairs_graded,
        leaderboards_moved,
        error
    from lake.marts.nights
    where finished_at is not null
    order by finished_at desc
    limit 1
"""
# what grading cost, by currency; none where it is not known, as of a model without a price
_COSTS = """
    select
        collection,
        if(cost is null, null, currency) as currency,
        sum(cost) as cost
    from lake.marts.grading_cost
    where model != '' and day between $since::date and $until::date
    group by all
    order by currency nulls last
"""


async def enter(request: Request) -> Response:
    """The page that a link opens. The link's secret stands behind #, so browsers send it to nobody;
    the page's script sends it on, and takes it out of the address."""
    return page(request, "enter", title="Sign in", refused=None)


async def entered(request: Request) -> Response:
    """A secret for a cookie. The secret is the form's own token: nobody is signed in yet."""
    state = request.app.state
    if state.trust_header:
        raise HTTPException(404)
    async with request.form(max_files=0, max_fields=10) as form:
        secret = str(form.get("secret", "")).rpartition("#")[2].strip()  # perhaps a whole link
    people = state.sessions.people
    person = await run_in_threadpool(people.of_secret, secret)
    if person is None:  # behind a proxy all have one address: a right secret always enters
        address = request.client.host if request.client else ""
        refused = HTTPException(403, "This link is invalid or has expired: ask for a new one.")
        try:
            state.attempts.check(address)
            state.attempts.fail(address)
        except HTTPException as error:
            refused = error
        # the same page: its script signs in whoever opens the right link in this tab
        answer = page(
            request, "enter", refused.status_code, title="Sign in", refused=refused.detail
        )
        answer.headers.update(refused.headers or {})
        return answer
    response = RedirectResponse(asked_for(request), 303)
    response.set_cookie(
        state.sessions.cookie,
        state.sessions.begin(person),
        max_age=DAYS * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.headers.get("origin", request.url.scheme).startswith("https"),
    )
    if asked_cookie(request) in request.cookies:
        response.delete_cookie(asked_cookie(request))
    return response


def leave(request: Request, person: Person, sent: dict) -> Response:
    """Sign out."""
    sessions = request.app.state.sessions
    sessions.end(request.cookies.get(sessions.cookie, ""))
    response = RedirectResponse("/enter", 303)
    response.delete_cookie(sessions.cookie)
    return response


def home(request: Request, person: Person, sent: dict) -> Response:
    """What there is to do for whoever asks, then each collection's overview of the newest release;
    before there is one, the collections of the working catalog."""
    readers = request.app.state.readers
    nights, tasks = [], []
    costs: dict[str, list[dict[str, Any]]] = {}  # when -> rows
    with ExitStack() as stack:
        try:
            lake = stack.enter_context(readers.release())
        except NothingPublished:
            lake = stack.enter_context(readers.live())
        collections, release = lake.objects(_COLLECTIONS), lake.release or ""
    if release:
        with readers.live() as lake:
            nights = lake.objects(_NIGHTS)
            for night in nights:
                of_night = {"since": night["started_at"], "until": night["finished_at"]}
                costs["on the day of the last night"] = lake.objects(_COSTS, **of_night)
            month = {"since": (now := utc_now()) - timedelta(29), "until": now}
            costs["in the last 30 days"] = lake.objects(_COSTS, **month)
            if person.may("assessor"):
                tasks = lake.objects(_TASKS, assessor=person.name)
    sentences = request.app.state.reports.sentences
    for one in collections:
        one |= {"path": at(name := one["collection"]), "says": sentences.get((release, name), [])}
    about = {"collections": collections, "tasks": tasks, "nights": nights, "costs": costs}
    return page(request, "home", title="Gradelake", release=release, **about)


routes = [
    Route("/enter", enter, methods=["GET"]),
    Route("/enter", entered, methods=["POST"]),
    route("/leave", "reader", leave, "POST"),
    route("/", "reader", home),
]
