"""What the server refuses: other hosts and sites, people without the right, forged cookies and
forms, requests that are too large, secrets that are guessed, and texts that would be HTML."""

import json
import re
import socket
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient

from gradelake.serve.guard import Guard
from gradelake.serve.pages import on_other_error
from gradelake.serve.people import ROLES, People
from gradelake.serve.running import in_address
from gradelake.serve.sessions import Sessions
from gradelake.sql.common.project import Project
from tests.projects import project
from tests.serve.hostile import ITEM, PASSAGES, QUERIES, XSS, Seen
from tests.serve.server import Server, token


@pytest.fixture(scope="module")
def nobody(server):
    return server.browser()


@pytest.fixture(scope="module")
def reader(server):
    return server.browser("rita", "reader")


# of a collection and a query that are not there, and for whom
PAGES = {
    "reader": ("/", "/c/x/", "/c/x/board", "/c/x/ask/", "/c/x/ask/leaderboard", "/c/x/rubric/q"),
    "assessor": ("/c/x/review/", "/c/x/review/q/", "/c/x/review/q/cards", "/c/x/review/q/next"),
    "editor": ("/sql", "/jobs/0", "/jobs/0/state"),
    "operator": ("/c/x/grading/q", "/c/x/grading/", "/people"),
}
FORMS = {
    "assessor": ("/c/x/review/q/answers", "/c/x/review/q/undo", "/c/x/review/q/conflicts/answers"),
    "editor": ("/c/x/rubric/q", "/c/x/build", "/c/x/review/", "/c/x/review/q/remove"),
    "operator": ("/jobs/0/stop", "/c/x/grading/q", "/people", "/people/remove"),
}


@pytest.mark.slow
def test_each_page_and_form_is_for_who_is_signed_in_and_may(server, nobody, reader):
    clients = [server.browser(f"a-{role}", role) for role in ROLES]
    for method, pages in (("GET", PAGES), ("POST", FORMS)):
        for needed, paths in pages.items():
            for path in paths:
                sent = {} if method == "POST" else None
                codes = [client.request(method, path, json=sent).status_code for client in clients]
                n_refused = ROLES.index(needed)
                assert [code == 403 for code in codes] == [n < n_refused for n in range(4)], path
                assert nobody.request(method, path).status_code in (401, 403), path
    answer = reader.get("/c/demo/review/")
    assert "You are signed in as rita, reader; this is for assessors." in answer.text
    assert "demo" not in nobody.get("/").text


def test_a_name_that_somebody_points_here_is_not_served(reader):
    for host in (
        *("evil.example", "127.0.0.1.evil.example", "localhost.", "", "127.0.0.1@evil"),
        "[::2]:80",
    ):
        assert reader.get("/", headers={"host": host}).status_code == 400, host


def test_forms_of_other_sites_are_refused(server):
    sender = server.browser("carl", "reader")
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1"},  # another port
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        assert sender.post("/leave", headers=headers).status_code == 403, headers
    assert sender.get("/").status_code == 200  # still signed in


def test_a_form_without_its_token_is_refused(server):
    sender = server.browser("tom", "reader")
    other = sender.headers.pop("x-token")
    for sent in ({}, *({"token": each} for each in ("", "x", "0" * 64, "\u20ac"))):
        assert sender.post("/leave", data=sent).status_code == 403, sent
        assert sender.post("/leave", json=sent).status_code == 403, sent
    one = server.browser("one", "reader")
    assert one.post("/leave", data={"token": other}).status_code == 403  # somebody else's


def test_a_changed_cookie_is_nobodys(server):
    signed_in = server.browser("cora", "reader")
    name = f"gradelake_{server.port}"
    cookie = signed_in.cookies[name]
    for forged in (
        cookie[:-2] + ("A" if cookie[-2] != "A" else "B") + cookie[-1],  # which has spare bits
        "." + cookie.partition(".")[2],
        "WyJyb290Iiwib3BlcmF0b3IiXQ." + cookie.partition(".")[2],
        cookie.rpartition(".")[0],
        "x" * 5000,
        "null",
    ):
        assert httpx.get(f"{server.url}/", cookies={name: forged}).status_code == 401, forged


def test_a_cookie_of_before_signing_in_is_not_kept(server):
    """Nobody can give a victim a session that they know."""
    name = f"gradelake_{server.port}"
    victim = server.browser()
    victim.cookies.set(name, "chosen-by-somebody-else", domain="127.0.0.1")
    secret = server.people.add("vic", "reader")
    first = victim.post("/enter", data={"secret": secret}).headers["set-cookie"]
    second = victim.post("/enter", data={"secret": secret}).headers["set-cookie"]

    assert "chosen-by-somebody-else" not in first
    assert first.partition(";")[0] != second.partition(";")[0]
    assert "HttpOnly" in first
    assert "SameSite=lax" in first


def test_who_is_removed_or_has_a_new_link_is_out_at_once(server):
    ann, bob = server.browser("ann2", "reader"), server.browser("bob2", "reader")
    server.people.remove("ann2")
    server.people.add("bob2", "reader")

    assert ann.get("/").status_code == 401
    assert bob.get("/").status_code == 401


def test_a_cookie_that_somebody_kept_lets_nobody_in_after_its_sign_out(demo_lake):
    with Server(demo_lake) as server:
        here = server.browser("una", "reader")
        name, secret = f"gradelake_{server.port}", server.people.add("una", "reader")
        there = server.browser()
        for browser in (here, there):
            whole_link = f"https://lake.example/enter#{secret}"
            assert browser.post("/enter", data={"secret": whole_link}).status_code == 303
        kept = here.cookies[name]
        assert here.post("/leave", data={"token": token(here)}).status_code == 303
        assert httpx.get(f"{server.url}/", cookies={name: kept}).status_code == 401
        assert there.get("/").status_code == 200, "another session of hers"
        people = People(Project.find(demo_lake))  # as a server that starts anew reads them
        assert Sessions(people, server.port).person(kept) is None
        assert Sessions(people, server.port).person(there.cookies[name])


@pytest.mark.slow
def test_secrets_cannot_be_guessed_for_long_and_stand_nowhere(demo_lake):
    server = Server(demo_lake)
    try:
        guesser = server.browser()
        codes = [
            guesser.post("/enter", data={"secret": f"guess {n}"}).status_code for n in range(12)
        ]
        assert codes == [403] * 10 + [429] * 2
        # behind a proxy everybody comes from there: who has a link is not locked out
        secret = server.people.add("late", "reader")
        late = server.browser()
        assert late.post("/enter", data={"secret": secret}).status_code == 303
        assert late.get(f"/nothing?secret={secret}").status_code == 404
        assert guesser.post("/enter", data={"secret": "guess 13"}).status_code == 429
    finally:
        printed = server.end()
    assert secret not in printed
    files = [file for file in demo_lake.rglob("*") if file.is_file()]
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_odd_secrets_are_nobodys(nobody):
    for secret in ("", " ", "x" * 100_000, "\0", "' or 1=1 --"):
        answer = nobody.post("/enter", data={"secret": secret})
        assert answer.status_code in (403, 413, 429), secret[:20]


def test_who_signs_in_goes_where_they_wanted_to_and_to_no_other_server(server):
    name, secret = f"gradelake_{server.port}-asked", server.people.add("wanda", "reader")
    for path in ("/c/demo/board?release=r1", "/c/demo/passages/a%2Fb"):
        wanda = server.browser()
        assert wanda.get(path, headers={"accept": "text/html"}).status_code == 401
        assert wanda.get("/favicon.ico", headers={"accept": "image/*"}).status_code >= 401
        entered = wanda.post("/enter", data={"secret": secret})
        assert entered.headers["location"] == path
        assert wanda.post("/enter", data={"secret": secret}).headers["location"] == "/"
    for elsewhere in ("//evil.example", "https://evil.example", "/%5Cevil.example", "/ x", "x"):
        eve = server.browser()
        eve.cookies.set(name, quote(elsewhere, safe="%"), domain="127.0.0.1")
        entered = eve.post("/enter", data={"secret": secret})
        assert entered.headers["location"] == "/", elsewhere


def test_what_is_too_large_is_not_read(server):
    for length in ("1000001", "99999999999999999999", "-1", "1e3", "\u0661"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            head = f"POST /enter HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n"
            connection.sendall(f"{head}content-length: {length}\r\n\r\n".encode())
            answer = connection.recv(200)
        assert answer.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400")), length


def test_a_number_where_a_form_has_a_text_is_refused_in_words(server):
    sender = server.browser("nora", "editor")
    for path, sent in (("/c/demo/review/", {"of": 5}), ("/c/demo/rubric/q", {"version": 1})):
        answer = sender.post(path, json=sent)
        assert (answer.status_code, "is a text" in answer.text) == (400, True), path


def test_what_becomes_too_large_is_cut_off(reader):
    answer = reader.post("/leave", content=(b"x" * 100_000 for _ in range(20)))

    assert answer.status_code in (403, 413)


def test_an_operator_adds_renews_and_removes_people_and_only_the_page_has_the_link(server):
    olga = server.browser("olga", "operator")
    token_of = {"token": olga.headers["x-token"]}

    def post(path: str, **fields: str) -> httpx.Response:
        return olga.post(path, data=token_of | fields)

    def link(answer: httpx.Response) -> str:
        found = re.search(r'id="link" value="(\S+)/enter#(\S+)"', answer.text)
        assert found
        assert found[1] == server.url
        return found[2]

    first = link(post("/people", name="nova", role="editor"))
    nova = server.browser()
    assert nova.post("/enter", data={"secret": first}).status_code == 303
    assert nova.get("/sql").status_code == 200
    again = post("/people", name="nova", role="reader")  # a second of the name takes nobody's link
    assert (again.status_code, "in the list already" in again.text) == (400, True)
    assert nova.get("/sql").status_code == 200
    second = link(post("/people", name="nova", role="reader", again="yes"))
    assert nova.get("/").status_code == 401
    assert nova.post("/enter", data={"secret": second}).status_code == 303
    assert nova.get("/sql").status_code == 403
    kept = [file.read_bytes() for file in server.folder.rglob("*") if file.is_file()]
    assert not any(secret.encode() in content for secret in (first, second) for content in kept)
    assert second not in olga.get("/people").text

    for wrong in ({"name": "a b"}, {"name": "king", "role": "king"}, {"name": "olga"}):
        answer = post("/people", **({"role": "reader"} | wrong))
        assert (answer.status_code, 'aria-describedby="wrong"' in answer.text) == (400, True), wrong
    assert post("/people/remove", name="olga").status_code == 400
    assert post("/people/remove", name="nova").status_code == 303
    assert nova.get("/").status_code == 401
    assert "nova" not in olga.get("/people").text


def test_paths_lead_nowhere_else_and_other_methods_do_nothing(server, reader):
    signed_in = server.browser("pat", "operator")
    for path in (
        "/static/serve/../../people.py",
        "/static/serve/%2e%2e/people.py",
        "/static/serve/..%2fpeople.py",
        "/static/serve//etc/passwd",
        "/static/report/%2e%2e/%2e%2e/report/page.py",
        "/.gradelake-people.json",
        "/gradelake.toml",
        "/c/%2e%2e/review/",
        "/c/demo'%20or%201=1--/review/",
        "/c/demo/review/%00/",
        "/c/demo/review/..%2f..%2f/",
        "/c/demo/review/x'%3bdrop%20table%20raw.grades--/cards",
    ):
        answer = signed_in.get(path)
        assert answer.status_code in (400, 404), path
        assert "Traceback" not in answer.text
        assert "SELECT" not in answer.text.upper()
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"):
        assert reader.request(method, "/").status_code in (403, 405), method


def test_every_answer_has_the_policy(reader):
    for path in ("/", "/enter", "/nothing", "/static/report/report.css"):
        headers = reader.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_a_file_of_people_that_cannot_be_used_lets_nobody_in_and_says_so(server):
    file = server.people.file
    client = server.browser("rita2", "operator")
    kept = file.read_bytes()
    for spoilt in ("chmod", "content", "folder"):
        try:
            if spoilt == "chmod":
                file.chmod(0o644)
            elif spoilt == "content":
                file.write_text('{"people": [1]}')
            else:
                file.unlink()
                file.mkdir(mode=0o700)
            paths = ("/", "/enter", "/nothing", "/c/demo/board", "/static/serve/x")
            answers = [client.get(path) for path in paths]
            answers.append(client.post("/enter", data={"secret": "x"}))
        finally:
            if file.is_dir():
                file.rmdir()
            file.write_bytes(kept)
            file.chmod(0o600)
        for answer in answers:
            assert answer.status_code == 503
            assert answer.text == "Nobody can sign in: the server's terminal says why."
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            assert answer.headers["x-content-type-options"] == "nosniff"
        assert client.get("/").status_code == 200


@pytest.fixture
def own_people(tmp_path) -> People:
    return People(project(tmp_path))


def test_what_nobody_foresaw_has_words_and_the_policy_and_tells_nothing(own_people, capsys):
    async def broken(scope, receive, send):
        raise ZeroDivisionError("<secret>")

    guard = Guard(broken, Sessions(own_people, 1), frozenset(["testserver"]), on_other_error)
    answer = TestClient(guard).get("/")

    assert answer.status_code == 500
    assert answer.json()["error"] == "Something went wrong here."
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<secret>" in capsys.readouterr().err


def test_a_full_disk_is_said_in_words(own_people):
    async def full(scope, receive, send):
        raise OSError(28, "No space left on device")

    guard = Guard(full, Sessions(own_people, 1), frozenset(["testserver"]), on_other_error)
    answer = TestClient(guard).get("/")

    assert answer.status_code == 503
    assert "no space is left on the disk" in answer.json()["error"]


def test_who_has_the_name_of_who_started_the_server_enters_beside_them(own_people):
    sessions = Sessions(own_people, 1)
    own, theirs = own_people.guest("ann", "operator"), own_people.add("ann", "reader")
    for secret, role in ((own, "operator"), (theirs, "reader")):
        person = own_people.of_secret(secret)
        assert person
        assert person.role == role
        assert sessions.person(sessions.begin(person)) == person
    own_people.remove("ann")
    assert own_people.of_secret(theirs) is None
    assert own_people.of_secret(own)


def test_addresses_are_as_browsers_write_them():
    for host, shown in {
        "127.0.0.1": "127.0.0.1",
        "Lake.Example.org": "lake.example.org",
        "::1": "[::1]",
        "[::1]": "[::1]",
        "0:0:0:0:0:0:0:1": "[::1]",
        "2001:DB8::00FF": "[2001:db8::ff]",
        "::": "[::]",
    }.items():
        assert in_address(host) == shown


@pytest.mark.slow
def test_it_listens_on_ipv6_and_goes_by_that_name(demo_lake):
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        pytest.skip("this machine has no IPv6")
    with Server(demo_lake, "--host", "::1") as server:
        assert server.url.startswith("http://[::1]:")
        assert server.browser("six", "reader").get("/").status_code == 200
        assert httpx.get(f"{server.url}/", headers={"host": "[::2]"}).status_code == 400


@pytest.mark.slow
def test_a_proxy_may_name_who_asks_only_where_that_is_asked_for(server, demo_lake):
    assert server.browser().get("/", headers={"x-user": "rita"}).status_code == 401
    with Server(demo_lake, "--trust-header", "x-user") as behind:
        client = behind.browser()
        behind.people.add("rita", "reader")
        assert client.get("/", headers={"x-user": "rita"}).status_code == 200
        assert client.get("/", headers={"x-user": "mallory"}).status_code == 401
        twice = [("x-user", "rita"), ("x-user", "rita")]
        assert client.get("/", headers=twice).status_code == 401
        assert client.post("/enter", data={"secret": "x"}).status_code == 404


@pytest.fixture(scope="module")
def operator(odd):
    return odd.browser("olga", "operator")


RUBRIC = f"/c/odd/rubric/{quote(QUERIES[0], safe='')}"
TEXT = f"why is 0 blue {XSS}"
# a page, or a statement, and what it shows
SHOWN = [
    ("/c/odd/rubric/", (TEXT, QUERIES[2])),
    (RUBRIC, (TEXT, f"Is it blue? {XSS}", f"hue {XSS}")),
    (f"/c/odd/rubric/{quote(QUERIES[2], safe='')}", (QUERIES[2],)),
    (f"/c/odd/grading/{quote(QUERIES[2], safe='')}", (QUERIES[2],)),
    ("/c/odd/ask/verify_grades", (QUERIES[2], PASSAGES[2])),
    ("/c/odd/ask/rubric", (f"Is it blue? {XSS}",)),
    ("/c/odd/ask/rubric_history", (f"Who? {XSS}", f"because {XSS}")),
    ("from lake.raw.queries", (TEXT,)),
    ("from lake.raw.passages", (f"sky is blue, 0. {XSS}",)),
    ("from lake.raw.rubric_items", (ITEM,)),
    ("from lake.raw.grade_reviews", (f"note {XSS}",)),
]


@pytest.mark.slow
def test_what_is_stored_is_text_on_every_page(operator):
    for shows, stored in SHOWN:
        is_page = shows.startswith("/")
        answer = operator.get(shows if is_page else f"/sql?sql={shows}")
        assert answer.status_code == 200, shows
        seen = Seen(answer.text)
        assert seen.is_clean
        for each in stored:
            assert any(each in text for text in seen.texts), (shows, each)


@pytest.mark.slow
def test_what_an_address_or_a_form_holds_is_text(operator):
    for path in (
        f"/c/{XSS}/board",
        f"/c/{XSS}/review/",
        f"/c/odd/review/{XSS}/",
        f"/c/odd/rubric/{XSS}",
        f"/c/odd/grading/{XSS}",
        f"/c/odd/ask/{XSS}",
        f"/c/odd/ask/leaderboard?measure={XSS}",
        f"/c/odd/ask/leaderboard?{XSS}=1",
        f"/c/odd/ask/?filter={XSS}",
        f"/sql?sql={XSS}",
        f"/sql?sql=select '{XSS.replace(chr(39), chr(34))}'",
        f'/sql?sql=select 1 as "{XSS.replace(chr(34), chr(39))}"',
        f"/sql?sql=select 1&release={XSS}",
        f"/c/odd/board?release={XSS}",
        f"/c/odd/rubric/?grader={XSS}",
        f"/jobs/{XSS}",
        f"/{XSS}",
    ):
        at, _, asked = path.partition("?")
        answer = operator.get(f"{quote(at)}?{quote(asked, safe='=&')}")
        assert answer.status_code in (200, 400, 404), path
        assert Seen(answer.text).is_clean
    for path, sent in (
        (RUBRIC, {"version": XSS}),
        (RUBRIC, {"version": "1", "0.bank": XSS, "reason": XSS}),
        (RUBRIC, {"version": "1", "0.bank": "questions", "0.new.0.id": "", "0.new.0.text": XSS}),
        (f"/c/odd/grading/{quote(QUERIES[0], safe='')}", {"grader": XSS}),
        (f"/c/{quote(XSS, safe='')}/build", {"query": XSS}),
        ("/enter", {"secret": XSS}),
    ):
        answer = operator.post(path, data={"token": operator.headers["x-token"], **sent})
        assert answer.status_code in (200, 400, 403, 404, 409), (path, sent)
        assert Seen(answer.text).is_clean


def test_cards_are_data_that_no_browser_takes_for_a_page(odd):
    ann = odd.browser("ann")
    answer = ann.get("/c/odd/review/first/cards")

    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    card, *_ = answer.json()["cards"]
    assert XSS in card["passage"]
    assert Seen(ann.get("/c/odd/review/first/").text).is_clean


@pytest.mark.slow
def test_the_name_of_somebody_that_was_written_by_hand_is_text(odd):
    secret = odd.people.add("eve", "operator")
    content = json.loads(odd.people.file.read_text())
    content["people"][XSS] = content["people"].pop("eve")
    odd.people.file.write_text(json.dumps(content))
    eve = odd.browser()
    eve.post("/enter", data={"secret": secret})
    for path in ("/", "/enter", "/c/odd/review/", "/c/odd/review/first/"):
        seen = Seen(eve.get(path).text)
        assert seen.is_clean
        assert any(XSS in text for text in seen.texts)
