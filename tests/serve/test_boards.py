"""The report, live: the address of each thing, whatever its id holds; a release of one's choice."""

import re
import time
from urllib.parse import quote, unquote

import httpx
import pytest

from tests.serve.hostile import PASSAGES, QUERIES, SYSTEM, UNASKED, XSS, Seen


@pytest.fixture(scope="module")
def reader(odd):
    return odd.browser("rita", "reader")


def encoded(part: str) -> str:
    return quote(part, safe="")


def board(client: httpx.Client, path: str = "/c/odd/board") -> httpx.Response:
    """A board when it is made."""
    for _ in range(120):
        answer = client.get(path)
        if answer.status_code != 202:
            return answer
        assert "are being made" in answer.text
        time.sleep(0.5)
    raise AssertionError(path)


def opened(answer: httpx.Response) -> list[str]:
    """What a thing's address opens: the view of the board, and the ids there."""
    assert answer.status_code == 303, answer.text
    at, _, view = answer.headers["location"].partition("#")
    assert at.startswith("/c/odd/board")
    return [unquote(part) for part in view.partition("?")[0].split("/")]


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


def test_a_board_leads_back_to_the_servers_pages_and_the_file_has_no_such_links(reader, odd_lake):
    html = board(reader).text
    (nav,) = re.findall(r'<nav aria-label="Gradelake">.*?</nav>', html)

    assert Seen(nav).links == ["/", "/c/odd/ask/", "/c/odd/rubric/"]
    assert html.index('class="skip"') < html.index(nav) < html.index("<h1>")
    for path in Seen(nav).links:
        assert reader.get(path).status_code == 200
    assert 'aria-label="Gradelake"' not in html.replace(nav, "")


@pytest.mark.parametrize("query_id", QUERIES)
def test_a_query_has_an_address(reader, query_id):
    answer = reader.get(f"/c/odd/queries/{encoded(query_id)}")

    assert opened(answer) == ["query", query_id]


@pytest.mark.parametrize("passage_id", PASSAGES)
def test_a_passage_has_an_address_for_a_query_or_for_the_first(reader, passage_id):
    at = f"/c/odd/passages/{encoded(passage_id)}"

    assert opened(reader.get(at)) == ["passage", min(QUERIES), passage_id]
    for query_id in QUERIES:
        answer = reader.get(at, params={"query": query_id})
        assert opened(answer) == ["passage", query_id, passage_id]


def test_a_system_a_comparison_and_label_sets_have_addresses(reader):
    assert opened(reader.get(f"/c/odd/systems/{encoded(SYSTEM)}")) == ["system", SYSTEM]
    assert opened(reader.get("/c/odd/labels")) == ["labels"]
    compared = reader.get("/c/odd/compare", params={"a": SYSTEM, "b": "plain"})
    assert opened(compared) == ["compare"]
    state = compared.headers["location"].partition("?")[2]
    assert httpx.QueryParams(state) == httpx.QueryParams({"a": SYSTEM, "b": "plain"})


def test_a_release_and_what_was_chosen_come_along(reader):
    answer = reader.get("/c/odd/systems/plain?release=r1&measure=AP")
    at, _, view = answer.headers["location"].partition("#")

    assert at == "/c/odd/board?release=r1"
    assert view == "system/plain?measure=AP"
    assert reader.get("/c/odd/board?release=r9").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/c/odd%2Fsystems%2Fx",
        "/c/odd/systems/",
        "/c/odd/systems/a/b",
        "/c/odd/queries/",
        "/c/odd/passages/a/b",
        "/c/odd/things/x",
        f"/c/odd/passages/{encoded(UNASKED)}",
        "/c/odd/passages/%00",
        "/c/odd/passages/%ff%fe",
        "/c/nowhere/board",
        f"/c/{encoded(XSS)}/board",
        "/c/nowhere/",
    ],
)
def test_what_is_not_there_is_said_to_be_not_there(reader, path):
    answer = reader.get(path)

    assert answer.status_code == 404
    assert "Not here" in answer.text
    assert Seen(answer.text).is_clean


def test_an_address_leads_to_no_other_site(odd, reader):
    for path in ("/c/odd/systems//evil.example", "/c//evil.example/systems/x", "//evil.example/"):
        answer = reader.get(f"{odd.url}{path}")
        assert "//evil.example" not in answer.headers.get("location", "")[:16]


def test_a_missing_slash_is_added_without_scheme_or_host(reader):
    for path, to in (("/c/odd/ask", "./ask/"), ("/c/odd", "./odd/")):
        answer = reader.get(path, headers={"x-forwarded-proto": "https"})
        assert (answer.status_code, answer.headers["location"]) == (307, to)
        assert reader.get(path, follow_redirects=True).status_code in (200, 202)
