"""Search engines that are asked over HTTP; each recipe of the page against its own stand-in."""

import _thread
import itertools
import json
import re
import socketserver
import threading
import time
import tomllib
from urllib.request import Request as Asking

import pytest
from werkzeug import Request, Response

from gradelake.ingest.engines import asking
from gradelake.ingest.engines.search import search as run_search
from gradelake.ingest.engines.settings import values_at
from gradelake.nightly import alert
from gradelake.open_lake import OpenLake
from gradelake.sql.common.servers import reply_within
from tests.documentation.pages import blocks
from tests.grading.misbehaving import Asked, Reply, Server, refuse, sent
from tests.ingest.conftest import said

RECIPES = {
    name: settings
    for block in blocks("ingest/ENGINES.md")
    if block.language == "toml"
    for name, settings in tomllib.loads(block.text)["collections"]["shop"]["engines"].items()
}
PRODUCTS = {  # sku -> title, description
    "7": ("Sky lamp", "A light that is blue as the sky"),
    "8": ("Bees", "Do they find home"),
    "9": ("Home", "A home for blue bees"),
    "10": ("Tea", "Green"),
}
TOPICS = {"q1": "why is the sky blue", "q2": 'how do "bees" find home?'}
SECRET = "Bearer of-nobody-0123456789"


def found(query: str, depth: int) -> list[tuple[str, float]]:
    """(sku, score), best first: as many words as query and description have in common."""
    words = set(re.findall(r"\w+", query.lower()))
    scores = {sku: len(words & {*text.lower().split()}) for sku, (_, text) in PRODUCTS.items()}
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [(sku, score + 0.5) for sku, score in ranked if score][:depth]


def elastic(request: Request) -> dict:
    assert request.args.to_dict() == {"allow_partial_search_results": "false"}
    (clause,) = request.json["query"].values()
    query = clause["query"] if "fields" in clause else clause["description"]
    hits = [
        {"_index": "products", "_id": sku, "_score": score, "_source": source(sku)}
        for sku, score in found(query, request.json["size"])
    ]
    total = {"value": len(hits), "relation": "eq"}
    return {"took": 3, "timed_out": False, "hits": {"total": total, "hits": hits}}


def source(sku: str) -> dict:
    return dict(zip(("title", "description"), PRODUCTS[sku], strict=True))


def solr(request: Request) -> dict:
    fields = request.args["fl"].split(",")
    assert fields == ["id", "score", "title", "description"]
    docs = [
        {"id": sku, "score": score, **{key: [text] for key, text in source(sku).items()}}
        for sku, score in found(request.args["q"], int(request.args["rows"]))
    ]
    return {"responseHeader": {"status": 0}, "response": {"numFound": len(docs), "docs": docs}}


def vespa(request: Request) -> dict:
    hits = [
        {"id": f"id:shop:product::{sku}", "relevance": score, "fields": {"sku": sku, **source(sku)}}
        for sku, score in found(request.json["query"], request.json["hits"])
    ]
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": len(hits)}}
    return {"root": root | ({"children": hits} if hits else {})}


def service(request: Request) -> dict:
    ranked = found(request.args["q"], int(request.args["n"]))
    return {"results": [{"sku": int(sku), "name": PRODUCTS[sku][0]} for sku, _ in ranked]}


STAND_INS = {"elasticsearch": elastic, "opensearch": elastic, "solr": solr, "vespa": vespa}
STAND_INS |= {"service": service, "b": service}


@pytest.fixture
def shop(tiny, httpserver, monkeypatch):
    """A project that asks the recipe `name`, with changes, from a server that `answers`."""
    monkeypatch.setattr(asking, "PAUSE", 0.01)
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    tiny.write("topics.tsv", [f"{query_id}\t{text}" for query_id, text in TOPICS.items()])
    tiny.configure(judgments=None, passages=None, runs=None)

    def configure(name="b", answers=None, **changes):
        settings = {"per_second": 1000.0, "concurrency": 1, **RECIPES[name], **changes}
        settings["url"] = re.sub(r"^https?://[^/]*", httpserver.url_for(""), settings["url"])
        tiny.configure(engines={name: {k: v for k, v in settings.items() if v is not None}})
        httpserver.clear()

        def handler(request: Request) -> Response:
            answer = (answers or STAND_INS[name])(request)
            return answer if isinstance(answer, Response) else Response(json.dumps(answer))

        httpserver.expect_request(re.compile(".*")).respond_with_handler(handler)
        return tiny

    return configure


def asked(httpserver) -> list[str]:
    return [request.args["q"] for request, _ in httpserver.log]


def search(project, *more: str, exits: int = 0) -> str:
    done = project.gradelake("search", "tiny", *more, code=exits)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_makes_a_system_of_what_its_engine_answers(shop, name):
    project = shop(name)
    shown = search(project) + project.gradelake("ingest", "tiny").stdout
    assert f"{name}: 2 answers, kept in engines/tiny/{name}.jsonl" in shown
    if name == "b":
        (transcript,) = (each for each in blocks("ingest/ENGINES.md") if each.language == "console")
        lines = [line for step in transcript.steps() for line in step.shown]
        assert [
            line for line in lines if line.replace("shop", "tiny").rstrip(".") not in shown
        ] == []
    expected = {query_id: found(text, 20) for query_id, text in TOPICS.items()}
    for query_id, ranked in expected.items():
        scores = [score for _, score in ranked]
        # ties keep the engine's order
        if "score" not in RECIPES[name] or len({*scores}) < len(scores):
            scores = [-float(rank) for rank, _ in enumerate(ranked, start=1)]
        ranked = [(query_id, sku, score) for (sku, _), score in zip(ranked, scores, strict=True)]
        assert [row for row in project.run_of(name) if row[0] == query_id] == ranked
    texts = dict(project.rows("select passage_id, text from lake.raw.passages"))
    n = 1 if name in ("service", "b") else 2
    assert texts == {sku: "\n".join(PRODUCTS[sku][:n]) for sku in ("7", "8", "9")}


def test_what_fails_is_named_and_asked_again_alone_and_answers_stay(shop, httpserver):
    bees, sky = TOPICS["q2"], TOPICS["q1"]
    replies = [Response("slow down", 429, {"Retry-After": "0.2"}), Response("oh", 500)]
    at = []

    def stumbling(request: Request):
        at.append(time.monotonic())
        if request.args["q"] == bees:
            return Response("no such query", 404)
        return replies.pop(0) if replies else service(request)

    project = shop(answers=stumbling)
    shown = search(project, exits=3)
    assert "b: query q2: HTTP 404: no such query" in shown
    assert asked(httpserver) == [sky, sky, sky, bees]
    assert at[1] - at[0] >= 0.2
    kept = project.folder / "engines/tiny/b.jsonl"
    (line,) = map(json.loads, kept.read_text().splitlines())
    assert (line["query_id"], line["query"], line["status"]) == ("q1", sky, 200)
    assert json.loads(line["answer"])["results"][0] == {"sku": 7, "name": "Sky lamp"}
    outcome = project.ingest()
    assert [w for w in outcome.warnings if "1 query has no answer" in w], outcome.warnings
    kept.write_text(kept.read_text() + '{"query_id": "q2", "ans')  # killed while it wrote
    shop()
    assert "b: 1 answer, 1 were there" in search(project)
    assert asked(httpserver) == [bees]
    search(project)
    search(project, "b", "--again")
    assert asked(httpserver) == [bees, sky, bees]
    assert len(kept.read_text().splitlines()) == 4
    assert project.ingest().exit_code == 0
    assert {row[0] for row in project.run_of("b")} == {"q1", "q2"}


def test_ctrl_c_leaves_the_answers_that_are_there_and_waits_for_no_other(shop, httpserver):
    ended, was_waited_for = threading.Event(), []

    def interrupted(request: Request):
        if request.args["q"] == TOPICS["q2"]:
            while not (project.folder / "engines/tiny/b.jsonl").exists():
                time.sleep(0.01)
            _thread.interrupt_main()
            was_waited_for.append(not ended.wait(20))
        return service(request)

    project = shop(answers=interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_search(project.project, "tiny", ["b"])
    ended.set()
    shop()
    assert "b: 1 answer, 1 were there" in search(project)
    assert {*asked(httpserver)} == {TOPICS["q2"]}
    assert was_waited_for == [False]


def test_several_queries_are_asked_at_once_within_the_rate_limit_and_from_python(shop):
    project, server, together = shop(), Server(), threading.Barrier(3)
    project.write("topics.tsv", [f"q{n}\tlamp {n}" for n in range(7)])

    def once_three_are_there(_: Asked) -> Reply:
        together.wait(10)
        return sent({"results": [{"sku": 7}]})

    server.on("lamp 6", refuse(404))
    server.on("", once_three_are_there)
    changes = {"url": f"{server.url}/{{query}}", "concurrency": 3, "per_second": 20.0}
    project.settings["engines"]["b"] |= changes
    try:
        with OpenLake(project.project) as lake:
            (done,) = lake.search("tiny", "b")["engines"]
            assert (done["answered"], list(done["failed"])) == (6, ["q6"])
            server.on("lamp 6", sent({"results": []}))
            (again,) = lake.search("tiny")["engines"]
    finally:
        server.stop()
    assert (again["there"], again["answered"], again["without_hits"]) == (6, 1, 1)
    assert server.most_open == 3
    assert server.asked[6].at - server.asked[0].at > 0.2  # six times 1/20
    assert project.ingest().exit_code == 0
    assert sorted(project.run_of("b")) == [(f"q{n}", "7", -1.0) for n in range(6)]


def test_an_answer_counts_while_the_query_and_how_it_is_asked_are_the_same(shop, httpserver):
    project = shop()
    search(project)
    assert project.ingest().exit_code == 0
    before = project.run_of("b")
    shop(depth=1)
    outcome = project.ingest()
    assert "has no answer to the topics as they are asked now" in said(outcome)
    assert project.run_of("b") == before
    search(project)
    project.ingest()
    assert project.run_of("b") == [("q1", "7", -1.0), ("q2", "8", -1.0)]
    project.write("topics.tsv", ["q1\tgreen tea", f"q2\t{TOPICS['q2']}"])
    search(project)
    assert asked(httpserver)[2:] == ["green tea"]
    project.ingest()
    assert project.run_of("b") == [("q1", "10", -1.0), ("q2", "8", -1.0)]
    shop(depth=1, id="number")  # other paths are tried on the answers that are there
    assert "hit 1 has no id at 'number': its keys are sku, name" in said(project.ingest())


@pytest.mark.parametrize(
    ("reply", "n_asked"),
    [
        (Reply(hang_up=True), 3),
        (Reply(b"{}", stated_length=10), 3),
        (Reply(b'{"results": []}', drip=0.1), 3),  # for longer than the timeout
        (Reply(b" " * 99_999, endless=True), 2),
        (Reply(b"<html>"), 2),
        (Reply(b'{"results": [], "errors": [{"message": "no such index"}]}'), 2),
        (Reply(b'{"error": "caf\xc3\xa9"}'), 2),
        (Reply(b'{"results": [{"sku": "caf\xe9"}, {"sku": "caf\xe8"}]}'), 2),
        (Reply(b'{"results": [{"sku": 7' + b"7" * 5000 + b"}]}"), 2),
        (Reply(b"", 429, {"Retry-After": "inf"}), 3),
        (Reply(b"", 503, {"Retry-After": "9" * 400}), 3),
    ],
)
def test_an_answer_that_breaks_off_or_has_no_end_is_none(shop, reply, n_asked):
    server, project = Server(), shop()
    server.on("", reply, sent({"results": [{"sku": 7}]}))
    project.settings["engines"]["b"] |= {"url": f"{server.url}/?q={{query}}", "timeout": 0.7}
    try:
        shown = search(project, exits=0 if n_asked == 3 else 3)
    finally:
        server.stop()
    assert len(server.asked) == n_asked
    assert ("query q1: the answer is " in shown) == (n_asked == 2)


@pytest.mark.parametrize(
    ("first", "part"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Header: ", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
)
def test_whatever_trickles_in_a_reply_ends_in_time(monkeypatch, first, part):
    class Trickle(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(1 << 16)
            for n in itertools.count():
                self.request.sendall(part if n else first)
                time.sleep(0.02)

    class Server(socketserver.ThreadingTCPServer):
        def handle_error(self, *_):
            pass  # whom it answered has gone

    monkeypatch.setattr(alert, "_WEBHOOK_SECONDS", 0.3)
    with Server(("127.0.0.1", 0), Trickle) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        began = time.monotonic()
        with (
            pytest.raises(TimeoutError, match=r"^timed out after 0\.3 s$"),
            reply_within(0.3, Asking(url)) as reply,
        ):
            reply.read()
        if b"\r\n\r\n" not in first:  # an alert waits for the headers alone
            (sent,) = alert.Alerts(None, url).send({})
            assert sent["reason"] == "timed out after 0.3 s"
        assert time.monotonic() - began < 5
        server.shutdown()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('{"results": [{"sku": "café"}]}'.encode(), "application/json"),
        ('{"results": [{"sku": "café"}]}'.encode("latin-1"), "application/json;charset=latin-1"),
        ('{"results": [{"sku": "café"}]}'.encode("utf-8-sig"), "application/json"),
        ('{"results": [{"sku": "café"}]}'.encode("utf-16"), "application/json"),
    ],
)
def test_an_answer_is_read_in_its_own_charset(shop, content, kind):
    project = shop(answers=lambda _: Response(content, content_type=kind))
    search(project)
    project.ingest()
    assert {passage for _, passage, _ in project.run_of("b")} == {"café"}


def test_scores_that_no_number_holds_are_none(shop):
    hits = ",".join(f'{{"sku": {n}, "score": {n}{"9" * 4000}}}' for n in (1, 2))
    project = shop(answers=lambda _: Response(f'{{"results": [{hits}]}}'), score="score")
    search(project)
    project.ingest()
    assert [row[2] for row in project.run_of("b") if row[0] == "q1"] == [-1.0, -2.0]


@pytest.mark.parametrize("how", ["redirect", "refusal"])
def test_secrets_and_queries_go_nowhere_else(shop, httpserver, how):
    def answers(request: Request):
        token = request.headers["Authorization"]
        if how == "refusal":
            return Response(f"who is {token}?", 401)
        return Response("", 302, {"Location": f"http://127.0.0.1:1/{token.split()[1]}"})

    project = shop(answers=answers)
    shown = search(project, exits=1)
    assert (
        "redirects to 'http://127.0.0.1:1/***'" if how == "redirect" else "who is ***?"
    ) in shown
    assert "1 query not asked" in shown
    assert len(asked(httpserver)) == 1
    shop(answers=lambda request: service(request) | {"you": request.headers["Authorization"]})
    search(project)
    kept = (project.folder / "engines/tiny/b.jsonl").read_text()
    assert '\\"you\\": \\"***\\"' in kept
    assert SECRET.split()[1] not in kept + shown


def test_an_engine_that_fails_again_and_again_is_given_up(shop, httpserver):
    project = shop(answers=lambda _: Response("no", 404))
    project.write("topics.tsv", [f"q{n}\tquery {n}" for n in range(7)])
    assert "b: given up; 2 queries not asked" in search(project, exits=1)
    assert len(asked(httpserver)) == 5
    shop(answers=lambda _: Response("later", 429, {"Retry-After": "3600"}))
    assert "it asks to wait 1 h 0 min" in search(project, exits=1)
    assert len(asked(httpserver)) == 1


def test_a_text_of_the_collection_stays_and_an_engine_adds_what_it_lacks(shop):
    project = shop()
    project.write("passages.tsv", ["7\tOur own text."])
    project.configure(passages="passages.tsv")
    project.ingest()
    search(project)
    project.ingest()
    texts = dict(project.rows("select passage_id, text from lake.raw.passages"))
    assert texts == {"7": "Our own text.", "8": "Bees", "9": "Home"}


def test_no_more_is_asked_in_a_second_than_the_settings_allow(shop, httpserver):
    at = []
    answers = lambda request: at.append(time.monotonic()) or service(request)  # noqa: E731
    search(shop(answers=answers, per_second=4.0))
    assert at[1] - at[0] > 0.2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"url": "ftp://host/{query}"}, "is not an address"),
        ({"url": "http://me:pw@host/{query}"}, "it holds a password"),
        ({"url": "http://host/{text}"}, "there is no slot {text} Slots are {query}"),
        ({"url": "http://{query}.host/"}, "is not an address"),
        ({"url": "http://host/"}, "asks every query the same Put {query} into url or body."),
        ({"body": '{"q": {query}}x'}, "is not JSON once its slots are filled"),
        ({"headers": {"X-Key": "s3cret"}}, "must name a variable of the environment"),
        ({"headers": {"X-Key": "env:NOT_THERE"}}, "NOT_THERE holds nothing"),
        ({"hits": "hits[?]"}, "'hits[?]' is not a path"),
        ({"per_secnd": 2}, "Did you mean 'per_second'?"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_with_their_line(tiny, changes, told):
    settings = {"url": "http://host/?q={query}", "hits": "$", "id": "id", **changes}
    tiny.configure(engines={"b": settings})
    done = tiny.gradelake("search", "tiny", code=2)
    assert told in " ".join(done.stderr.split()), done.stderr
    assert "s3cret" not in done.stderr


def test_a_path_finds_all_that_stands_there():
    value = {"a": [{"b": 1}, {"b": None}, {"d": [5, 6]}], "e": {"f": "g"}}
    assert values_at(value, "$.a[*].b") == [1]
    assert values_at(value, "a[2].d[1]") == [6]
    assert values_at(value, "a[*].d[*]") == [5, 6]
    assert values_at(value, "e.f") == ["g"]
    assert values_at(value, "e.x[0].y") == []
    assert values_at([value], "$[0].e.f") == ["g"]
    with pytest.raises(ValueError, match="is not a path"):
        values_at(value, "a[")
