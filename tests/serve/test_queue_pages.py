"""Queues over HTTP: who may add and remove them, what is refused, and judging in the browser."""

import re

import pytest

from tests.serve.server import reviews

pytestmark = pytest.mark.slow
AT = "/c/demo/review"
LABELS = "labels/judge:lexical_direct"


def form(client, **fields: str) -> dict[str, str]:
    """What the page's form sends, with ann and bob as its people."""
    people = {"assessor:ann": "on", "assessor:bob": "on"}
    filled = {"size": "6", "overlap": "2", "seed": "1", "of": "grader/lexical", "source": ""}
    return {"token": client.headers["x-token"]} | filled | people | fields


@pytest.fixture(scope="module")
def editor(server):
    server.people.add("ann", "assessor")
    server.people.add("bob", "assessor")
    return server.browser("edna", "editor")


def test_an_editor_adds_a_queue_sees_progress_and_removes_it(server, editor, demo_lake):
    assert editor.post(f"{AT}/", data=form(editor, name="doubts", tau="3")).status_code == 303

    page = editor.get(f"{AT}/").text
    assert "6 cards of lexical. Sampling: sample. 2 reviewers per card." in page
    assert re.findall(
        r'<th scope="row">(\w+)</th><td class="n">(\d+)</td><td class="n">(\d+)', page
    )[-2:] == [("ann", "0", "6"), ("bob", "0", "6")]
    ann = server.browser("ann")
    card = ann.get(f"{AT}/doubts/cards").json()["cards"][0]
    ann.post(f"{AT}/doubts/answers", json={"id": card["id"], "grade": 0})
    assert len(reviews(demo_lake, "ann")) == 1
    assert '<th scope="row">ann</th><td class="n">1</td>' in editor.get(f"{AT}/").text

    # what systems rank high, whole queries for each of them
    pool = {"name": "pool", "of": "pool/", "depth": "1", "size": "", "overlap": "1"}
    queries = {"queries": "hash-collisions, volcano-prediction"}
    assert editor.post(f"{AT}/", data=form(editor, **pool, **queries)).status_code == 303
    dealt = [
        {card["query_id"] for card in who.get(f"{AT}/pool/cards").json()["cards"]}
        for who in (ann, server.browser("bob"))
    ]
    assert [len(each) for each in dealt] == [1, 1]
    assert set.union(*dealt) == {"hash-collisions", "volcano-prediction"}
    assert "cards of the pool." in editor.get(f"{AT}/").text

    sent = {"token": editor.headers["x-token"]}
    assert editor.post(f"{AT}/doubts/remove", data=sent).status_code == 303
    assert "doubts" not in editor.get(f"{AT}/").text
    assert len(reviews(demo_lake, "ann")) == 1
    assert editor.post(f"{AT}/doubts/remove", data=sent).status_code == 303  # it is gone: well


def wrong_fields(page: str) -> dict[str, str]:
    """What a page says is wrong, by field; each field is told of it."""
    found = dict(re.findall(r'<span class="worse" id="wrong-([\w-]+)">(.*?)</span>', page))
    assert all(f'aria-describedby="wrong-{name}"' in page for name in found)
    return found


def test_a_form_that_cannot_be_comes_back_as_it_was_with_each_error_at_its_field(editor):
    for fields, field, words in (
        ({"name": "no/name"}, "name", "the queue&#39;s name"),
        ({"name": "<b>x</b>"}, "name", "the queue&#39;s name"),
        ({"of": ""}, "of", "a queue is of"),
        ({"of": "labels/nobody"}, "of", "no label set"),
        ({"of": LABELS, "source": "spurious"}, "source", "cannot be chosen from"),
        ({"of": LABELS, "tau": "3"}, "tau", "means nothing"),
        ({"of": "pool/", "tau": "3", "size": ""}, "tau", "means nothing"),
        ({"of": "pool/", "queries": "hash-collisions,nope", "size": ""}, "queries", "nope"),
        ({"tau": "9"}, "tau", "marts are computed at"),
        ({"size": "many"}, "size", "&#39;many&#39; is not a whole number from 1 to 2,000"),
        ({"size": "2001"}, "size", "is not a whole number"),
        ({"overlap": "4"}, "assessors", "You asked for 4 reviewers per card but selected 2"),
        ({"overlap": "3", "assessor:<i>": "on"}, "assessors", "--assessor"),
    ):
        answer = editor.post(f"{AT}/", data=form(editor, **({"name": "wrong"} | fields)))
        found = wrong_fields(answer.text)
        assert (answer.status_code, list(found)) == (400, [field]), fields
        assert words in found[field]
        assert "<b>" not in answer.text
        assert "<i>" not in answer.text
        assert 'name="assessor:ann" checked' in answer.text
    all_at_once = {"name": "a b", "of": "grader/x", "size": "0", "overlap": "9", "seed": "-"}
    answer = editor.post(f"{AT}/", data=form(editor, **all_at_once))
    assert list(wrong_fields(answer.text)) == ["name", "of", "size", "assessors", "seed"]
    assert "wrong:" not in editor.get(f"{AT}/").text
