"""The report, live: the address of each thing, whatever its id holds; a release of one's choice."""

import re
import shutil
import time
from math import ceil
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient

from gradelake.serve import app, boards
from gradelake.serve.people import People
from gradelake.serve.readers import Readers
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import a_night, gradelake
from tests.lakes import start_lake
from tests.projects import USUAL, project
from tests.serve.hostile import ITEM, PASSAGES, QUERIES, SYSTEM, UNASKED, XSS, Seen
from tests.serve.server import Server, token


@pytest.fixture(scope="module")
def reader(odd):
    return odd.browser("bo", "reader")


def encoded(part: str) -> str:
    return quote(part, safe="")


def board(client: httpx.Client, path: str = "/c/odd/board") -> httpx.Response:
    """A board when it is made."""
    for _ in range(120):
        answer = client.get(path)
        if answer.status_code != 202:
            return answer
        assert "Preparing this leaderboard" in answer.text
        time.sleep(0.5)
    raise AssertionError(path)


def test_the_board_is_the_report_under_its_own_policy(reader):
    answer = board(reader)

    assert answer.status_code == 200
    assert '<h2 id="leaderboard-title">Leaderboard</h2>' in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy.replace("'unsafe-eval'", "")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert Seen(answer.text).is_clean
    assert board(reader, "/c/odd/").text == board(reader, "/c/odd/board?release=r1").text


def test_a_board_is_sent_again_only_where_it_is_another(reader, odd):
    first = board(reader)
    assert first.headers["cache-control"] == "private, no-cache"
    etag = {"if-none-match": first.headers["etag"]}

    again = reader.get("/c/odd/systems/plain", headers=etag)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]
    several = {"if-none-match": f'"x", {first.headers["etag"]}'}
    assert reader.get("/c/odd/board", headers=several).status_code == 304
    assert reader.get("/c/odd/board", headers={"if-none-match": 'W/"x"'}).text == first.text
    assert odd.browser().get("/c/odd/board", headers=etag).status_code == 401
    assert reader.get("/c/odd/board?release=r9", headers=etag).status_code == 404


def test_a_board_is_zipped_where_that_is_asked_for(reader):
    zipped = reader.get("/c/odd/board", headers={"accept-encoding": "gzip"})
    plain = reader.get("/c/odd/board", headers={"accept-encoding": "identity"})

    assert zipped.headers["content-encoding"] == "gzip"
    assert int(zipped.headers["content-length"]) < 0.8 * int(plain.headers["content-length"])
    assert "content-encoding" not in plain.headers
    assert zipped.text == plain.text


def test_the_bar_of_a_board_leads_to_every_page(reader):
    page = board(reader).text
    (bar,) = re.findall(r'<header class="bar".*?</header>', page, re.DOTALL)
    at = "/c/odd"
    tabs = ["", "systems", "queries", "judges", "rubric/", "review/", "ask/"]
    assert Seen(bar).links[3:10] == [f"{at}/{each}" for each in tabs]
    for path in dict.fromkeys(Seen(bar).links):
        assert reader.get(path).status_code == (403 if "review" in path else 200), path


def test_each_thing_has_an_address_at_which_the_board_is(reader):
    """What the board then shows: test_board_addresses.py."""
    expected = board(reader).text
    for path in (
        *(f"queries/{encoded(each)}" for each in QUERIES),
        *(f"passages/{encoded(each)}?query={encoded(QUERIES[0])}" for each in PASSAGES),
        f"systems/{encoded(SYSTEM)}",
        f"items/{encoded(ITEM)}",
        f"compare?a={encoded(SYSTEM)}&b=plain",
        "labels",
        "board/grid?query=x",
        "systems/plain?release=r1&measure=AP",
    ):
        answer = board(reader, f"/c/odd/{path}")
        assert (answer.status_code, answer.text == expected) == (200, True), path
    for passage_id in PASSAGES:  # without a query: the first that it is for
        answer = reader.get(f"/c/odd/passages/{encoded(passage_id)}?release=r1&measure=AP")
        at, _, state = answer.headers["location"].partition("?")
        assert (answer.status_code, at) == (303, f"/c/odd/passages/{encoded(passage_id)}")
        asked = {"query": min(QUERIES), "release": "r1", "measure": "AP"}
        assert httpx.QueryParams(state) == httpx.QueryParams(asked)


def test_what_is_not_there_is_said_to_be_not_there(reader):
    for path in (
        "/c/odd/board?release=r9",
        "/c/odd/systems/plain?release=r9",
        "/c/odd%2Fsystems%2Fx",
        "/c/odd/systems/",
        "/c/odd/systems/a/b",
        "/c/odd/queries/",
        "/c/odd/passages/a/b",
        "/c/odd/things/x",
        "/c/odd/items/",
        "/c/odd/compare/x",
        "/c/odd/board/x",
        "/c/odd/board/grid/x",
        f"/c/odd/passages/{encoded(UNASKED)}",
        "/c/odd/passages/%00",
        "/c/odd/passages/%ff%fe",
        "/c/odd/systems/nobody",
        "/c/odd/queries/nothing",
        f"/c/odd/passages/nothing?query={encoded(QUERIES[0])}",
        f"/c/odd/passages/{encoded(PASSAGES[0])}?query=nothing",
        "/c/odd/items/nothing",
        "/c/odd/compare?a=plain&b=nobody",
        f"/c/odd/queries/{encoded(QUERIES[0])}?a=plain&b=nobody",
        "/c/odd/labels?a=assessor:me&b=nobody",
        "/c/odd/rubric/nothing",
        "/c/nowhere/board",
        f"/c/{encoded(XSS)}/board",
        "/c/nowhere/",
    ):
        answer = reader.get(path)
        assert (answer.status_code, "Not found" in answer.text) == (404, True), path
        assert Seen(answer.text).is_clean


@pytest.mark.slow
def test_a_lake_with_nothing_in_it_or_not_built_yet_has_a_first_page(tmp_path):
    files = {
        "topics.tsv": {"q": "why"},
        "passages.tsv": {"p": "so"},
        "me.qrels": {"q": {"p": 1}},
        "runs/one.run": {"q": ["p"]},
    }
    project(tmp_path, {"few": USUAL}, files=files)
    start_lake(tmp_path)
    with Server(tmp_path) as server:
        reader = server.browser("bo", "reader")
        first = reader.get("/")
        assert (first.status_code, "The lake has no collection yet" in first.text) == (200, True)
        gradelake(tmp_path, "ingest", "few")
        first = reader.get("/")
        assert first.status_code == 200
        assert "Nothing is published yet. Open a collection" in first.text
        assert "/c/few/" in Seen(first.text).links
        for path in ("/c/few/board", "/c/few/ask/", "/c/few/queries/q"):
            steps = reader.get(path)
            assert steps.status_code == 404
            assert "✓ Queries, and rankings of systems" in " ".join(
                "".join(Seen(steps.text).texts).split()
            )
            assert "Build now" not in steps.text
        editor = server.browser("ed", "editor")
        assert "Build now" in editor.get("/c/few/").text
        job = editor.post("/c/few/build", data={"token": editor.headers["x-token"]})
        assert job.status_code == 303
        for _ in range(300):
            if editor.get("/c/few/").status_code in (200, 202):
                break
            time.sleep(0.2)
        assert editor.get("/c/few/").status_code in (200, 202)


def test_no_form_stands_in_a_paragraph_which_a_browser_would_end_before_it(reader):
    for path in ("/", "/c/odd/ask/", "/c/odd/ask/leaderboard", "/c/odd/rubric/", "/c/odd/ask/x"):
        html = reader.get(path).text
        assert "Sign out" in html
        assert not re.search(r"<p\b[^>]*>(?:(?!</p>).)*<form", html, re.DOTALL), path


def test_an_address_leads_to_no_other_site(odd, reader):
    for path in ("/c/odd/systems//evil.example", "/c//evil.example/systems/x", "//evil.example/"):
        answer = reader.get(f"{odd.url}{path}")
        assert "//evil.example" not in answer.headers.get("location", "")[:16]


def test_a_missing_slash_is_added_without_scheme_or_host(reader):
    for path, to in (("/c/odd/ask", "./ask/"), ("/c/odd", "./odd/")):
        answer = reader.get(path, headers={"x-forwarded-proto": "https"})
        assert (answer.status_code, answer.headers["location"]) == (307, to)
        assert reader.get(path, follow_redirects=True).status_code in (200, 202)


@pytest.mark.slow
def test_a_board_is_made_before_anybody_asks_and_the_first_page_says_what_it_says(
    odd_lake, tmp_path, monkeypatch
):
    folder = shutil.copytree(odd_lake, tmp_path / "odd")
    monkeypatch.setattr(app, "_QUIET", 0)
    project = Project.read(folder / "gradelake.toml")
    people = People(project)
    url = "http://127.0.0.1:8137"
    with TestClient(app.make_app(project, people, 8137), url) as client:
        client.post("/enter", data={"secret": people.add("bob", "assessor")})

        def first_page(*shown: str) -> str:
            for _ in range(600):
                page = client.get("/").text
                if all(words in page for words in (*shown, '<p class="verdict">')):
                    return page
                time.sleep(0.1)
            raise AssertionError(page)

        page = first_page("release r1.")
        assert (
            "is ahead by nDCG@10 with the labels of assessor:me; not significantly worse: " in page
        )
        cards = client.get("/c/odd/review/first/cards").json()["cards"]
        answer = {"id": cards[0]["id"], "grade": 0, "seconds": 90}
        headers = {"x-token": token(client)}
        client.post("/c/odd/review/first/answers", json=answer, headers=headers).raise_for_status()
        left = len(cards) - 1
        waiting = (
            f"{counted(left, 'cards', 'wait')} in queue first of odd, "
            f"about {counted(ceil(1.5 * left), 'minutes')}"
        )
        page = first_page("release r1.", waiting)
        assert page.index(waiting) < page.index('<p class="verdict">')
        assert "/c/odd/review/first/" in Seen(page).links
        for path in Seen(page).links:
            assert not path.startswith("/c/") or client.get(path).status_code in (200, 202), path
        assert client.get("/c/odd/board").status_code == 200
        gradelake(folder, "import", "labels", "odd", "me.qrels", "--judge", "again")
        a_night(folder)
        page = first_page("release night-", "graded, ")
        assert re.search(
            r"night-[\d-]+ ended at [\d: -]+ UTC: \d+ pairs graded, [\d,]+ leader", page
        )
        nothing = "nothing on the day of the last night; nothing in the last 30 days"
        assert f"Grading cost {nothing}" in page
        # ten million tokens each, at 0.15 USD for a million: today, ten days ago, and long ago
        with Lake.writer(project) as lake, lake.transaction("test", "tokens") as transaction:
            transaction.run("update {lake}.raw.graders set model = 'gpt-4o-mini-2024-07-18'")
            transaction.run(
                "insert into {lake}.raw.replies by name select uuid()::varchar as reply_id, "
                "grader_id, collection, 'grade' as purpose, '' as round, run_id, '' as chunk_id, "
                "query_id, passage_id, item_id, 1 as attempt, 'answered' as state, "
                "false as constrained_probabilities, 10000000 as prompt_tokens, "
                "0 as cached_tokens, 0 as completion_tokens, 0 as cut_characters, 0 as seconds, "
                "false as in_batch, ?::timestamp - to_days(case passage_id when ? then 0 "
                "when ? then 10 else 40 end) as asked_at, true as is_read "
                "from {lake}.raw.grades natural join {lake}.raw.graders where engine = 'lexical'",
                utc_now(),
                *PASSAGES[:2],
            )
            own = "select count(*) from lake.raw.grades natural join lake.raw.graders "
            own += "where engine = 'lexical' and passage_id = ?"  # others were imported
            now, before = (1.5 * lake.value(own, each) for each in PASSAGES[:2])
        cost = f"{now:.2f} USD on the day of the last night; {now + before:.2f} USD in the last 30"
        first_page(f"Grading cost {cost} days.")
        with Lake.writer(project) as lake, lake.transaction("test", "no price") as transaction:
            transaction.run("update {lake}.raw.graders set model = 'without-a-price'")
        first_page("an unknown amount on the day of the last night; an unknown amount in the last")
        assert client.get("/c/odd/board").status_code == 200


@pytest.mark.slow
def test_what_somebody_asks_for_is_made_first_and_the_servers_end_waits_for_none(
    odd_lake, monkeypatch
):
    worked, policy = [], '<meta http-equiv="Content-Security-Policy" content="x">'

    def slow_report(project, lake, collection, request, progress):
        for _ in progress("working", range(5 if collection == "asked" else 10_000), 0):
            worked.append(collection)
            time.sleep(0.01)
        return policy, {"sentences": []}

    monkeypatch.setattr(boards, "make_report", slow_report)
    monkeypatch.setattr(boards, "_NAMES", "select unnest(['early', 'last'])")
    project = Project.read(odd_lake / "gradelake.toml")
    reports, readers = boards.Reports(project), Readers(project)
    reports.make_early(readers)
    while "early" not in worked:
        time.sleep(0.01)
    assert reports.made("r1", "asked").plain == policy.encode()
    asked = [place for place, each in enumerate(worked) if each == "asked"]
    assert "last" not in worked
    assert worked[asked[0] : asked[-1]].count("early") <= 1  # what was at work
    assert reports.made("r1", "last") is None  # though "early" is not made
    reports.close()
    began = time.monotonic()
    for maker in (reports._maker, reports._early_maker):
        maker.shutdown(wait=True)
    assert time.monotonic() - began < 1
    readers.close()
