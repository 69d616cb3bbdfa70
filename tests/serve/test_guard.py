"""What the server refuses: other hosts and sites, people without the right, forged cookies and
forms, requests that are too large, and secrets that are guessed."""

import socket

import httpx
import pytest

from tests.serve.server import Server


@pytest.fixture(scope="module")
def nobody(server):
    return server.browser()


@pytest.fixture(scope="module")
def reader(server):
    return server.browser("rita", "reader")


PAGES = ["/", "/c/demo/review/", "/c/demo/review/q/", "/c/demo/review/q/cards"]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_shown_to_who_is_not_signed_in(nobody, path):
    answer = nobody.get(path)

    assert answer.status_code == 401
    assert "demo" not in answer.text.replace(path, "")


@pytest.mark.parametrize("path", PAGES[1:])
def test_a_reader_does_not_review(reader, path):
    answer = reader.get(path)

    assert answer.status_code == 403
    assert "rita is a reader here" in answer.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "127.0.0.1@evil", "[::2]:80"],
)
def test_a_name_that_somebody_points_here_is_not_served(reader, host):
    assert reader.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1"},  # another port
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_of_other_sites_are_refused(server, headers):
    sender = server.browser("carl", "reader")
    answer = sender.post("/leave", headers=headers)

    assert answer.status_code == 403
    assert sender.get("/").status_code == 200  # still signed in


@pytest.mark.parametrize("token", [None, "", "x", "0" * 64, "\u20ac"])
def test_a_form_without_its_token_is_refused(server, token):
    sender = server.browser("tom", "reader")
    del sender.headers["x-token"]
    sent = {} if token is None else {"token": token}

    assert sender.post("/leave", data=sent).status_code == 403
    assert sender.post("/leave", json=sent).status_code == 403


def test_another_persons_token_does_not_fit(server):
    one, other = server.browser("one", "reader"), server.browser("other", "reader")

    assert one.post("/leave", data={"token": other.headers["x-token"]}).status_code == 403


@pytest.mark.parametrize(
    "change",
    [
        lambda cookie: cookie[:-1] + ("A" if cookie[-1] != "A" else "B"),
        lambda cookie: "." + cookie.partition(".")[2],
        lambda cookie: "WyJyb290Iiwib3BlcmF0b3IiXQ." + cookie.partition(".")[2],
        lambda cookie: cookie.rpartition(".")[0],
        lambda cookie: "x" * 5000,
        lambda cookie: "null",
    ],
)
def test_a_changed_cookie_is_nobodys(server, change):
    signed_in = server.browser("cora", "reader")
    name = f"gradelake_{server.port}"
    forged = httpx.Client(base_url=server.url, cookies={name: change(signed_in.cookies[name])})

    assert forged.get("/").status_code == 401


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


def test_secrets_cannot_be_guessed_for_long(demo_lake):
    server = Server(demo_lake)
    try:
        guesser = server.browser()
        codes = [
            guesser.post("/enter", data={"secret": f"guess {n}"}).status_code for n in range(12)
        ]
        assert codes == [403] * 10 + [429] * 2
    finally:
        server.end()


@pytest.mark.parametrize("secret", ["", " ", "x" * 100_000, "\0", "' or 1=1 --"])
def test_odd_secrets_are_nobodys(server, nobody, secret):
    assert nobody.post("/enter", data={"secret": secret}).status_code in (403, 413, 429)


@pytest.mark.parametrize("length", ["1000001", "99999999999999999999", "-1", "1e3", "\u0661"])
def test_what_is_too_large_is_not_read(server, length):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        head = f"POST /enter HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n"
        connection.sendall(f"{head}content-length: {length}\r\n\r\n".encode())
        said = connection.recv(200)
    assert said.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))


def test_what_becomes_too_large_is_cut_off(reader):
    answer = reader.post("/leave", content=(b"x" * 100_000 for _ in range(20)))

    assert answer.status_code in (403, 413)


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
def test_paths_lead_nowhere_else(server, path):
    signed_in = server.browser("pat", "operator")
    answer = signed_in.get(path)

    assert answer.status_code in (400, 404)
    assert "Traceback" not in answer.text
    assert "SELECT" not in answer.text.upper()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"])
def test_other_methods_do_nothing(reader, method):
    assert reader.request(method, "/").status_code in (403, 405)


def test_every_answer_has_the_policy(reader):
    for path in ("/", "/enter", "/nothing", "/static/serve/serve.css"):
        headers = reader.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_secrets_are_in_no_page_file_or_line_of_the_terminal(demo_lake):
    server = Server(demo_lake)
    secret = server.people.add("sec", "reader")
    client = server.browser()
    client.post("/enter", data={"secret": secret})
    client.get(f"/nothing?secret={secret}")
    said = server.end()

    assert secret not in said
    files = [file for file in demo_lake.rglob("*") if file.is_file()]
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_a_proxy_may_name_who_asks_only_where_that_is_asked_for(server, demo_lake):
    assert server.browser().get("/", headers={"x-user": "rita"}).status_code == 401
    behind = Server(demo_lake, "--trust-header", "x-user")
    try:
        client = behind.browser()
        behind.people.add("rita", "reader")
        assert client.get("/", headers={"x-user": "rita"}).status_code == 200
        assert client.get("/", headers={"x-user": "mallory"}).status_code == 401
        twice = [("x-user", "rita"), ("x-user", "rita")]
        assert client.get("/", headers=twice).status_code == 401
        assert client.post("/enter", data={"secret": "x"}).status_code == 404
    finally:
        behind.end()
