"""Reviewing over HTTP: what is blind stays blind, what is acknowledged is never lost."""

import json
from pathlib import Path

import pytest

from tests.command_line import gradelake
from tests.reading import live
from tests.serve.server import reviews

pytestmark = pytest.mark.slow
QUEUE = "/c/demo/review/first"


@pytest.fixture(scope="module")
def queue(demo_lake) -> str:
    people = (part for name in ("ann", "bob", "cy") for part in ("--assessor", name))
    options = ("--grader", "lexical", "--size", "12", "--tau", "3", *people)
    gradelake(demo_lake, "queue", "add", "demo", "first", *options)
    return QUEUE


def test_the_graders_grade_comes_after_the_persons_own(server, queue, demo_lake):
    ann = server.browser("ann")
    deck = ann.get(f"{queue}/cards").json()
    assert deck["blind"]
    assert deck["scale"] == [0, 1, 2, 3, 4, 5]
    assert not any({"grade", "answer", "others"} & set(card) for card in deck["cards"])
    first, second = deck["cards"][:2]

    seen = ann.post(
        f"{queue}/answers", json={"id": first["id"], "grade": 1, "note": "  a\nnote", "seconds": 3}
    ).json()
    other = (seen["grade"] + 1) % 6
    for grade in (1, other):  # 1 was said before the grade was shown
        ann.post(f"{queue}/answers", json={"id": first["id"], "grade": grade, "note": "b"})
    ann.post(f"{queue}/answers", json={"id": second["id"], "grade": 0})

    (row, _) = reviews(demo_lake, "ann")
    ids = (first["query_id"], first["passage_id"], first["item_id"])
    assert row == (*ids, "disagree", other, 1, "b", None)
    shown = {card["id"]: card for card in ann.get(f"{queue}/cards").json()["cards"]}
    assert shown[first["id"]]["own"]["blind_grade"] == 1
    assert shown[first["id"]]["grade"] == seen["grade"]
    assert [id_ for id_, card in shown.items() if "grade" in card] == [first["id"], second["id"]]
    # who has seen the grade may change what they said, and not take it back
    state = ann.post(f"{queue}/undo", json={"id": first["id"]}).json()
    assert (state["own"]["grade"], state["own"]["blind_grade"]) == (other, 1)
    assert len(reviews(demo_lake, "ann")) == 2


def test_answers_that_cannot_be_are_refused_and_kept_nowhere(server, queue, demo_lake):
    bob = server.browser("bob")
    card = bob.get(f"{queue}/cards").json()["cards"][0]
    for sent in (
        {},
        {"grade": 6},
        {"grade": -1},
        {"grade": "3"},
        {"grade": True},
        {"grade": 2.0},
        {"grade": 3, "note": "x" * 2001},
        {"grade": 3, "note": ["x"]},
        {"grade": 3, "seconds": "1"},
        {"grade": 3, "seconds": 1e999},
        {"grade": 3, "seconds": -5},
        {"grade": 3, "seconds": 10**400},
        {"grade": 3, "note": "half of an emoji: \ud83d"},  # no lake could hold it
        {"grade": 3, "note": "\0"},
    ):
        body = json.dumps({"id": card["id"], **sent}).encode()
        as_json = {"content-type": "application/json"}
        answer = bob.post(f"{queue}/answers", content=body, headers=as_json)
        assert answer.status_code == 400, sent
    assert reviews(demo_lake, "bob") == []


def test_nobody_answers_for_others_or_cards_that_are_not_theirs(server, queue):
    ann, eve = server.browser("ann"), server.browser("eve")

    assert "asks nothing of" in eve.get(f"{queue}/cards").text
    unknown = ann.post(f"{queue}/answers", json={"id": "0" * 20, "grade": 3})
    assert unknown.status_code == 404
    assert "no longer in the queue" in unknown.text


def queue_of(folder: Path, name: str, seed: int, *people: str) -> None:
    """3 cards of nuggets, which no other test here asks about; of another seed, others."""
    asked = (part for who in people for part in ("--assessor", who))
    cards = ("--grader", "lexical_nuggets", "--size", 3, "--seed", seed)
    gradelake(folder, "queue", "add", "demo", name, *cards, *asked)


def answer_all(server, at: str, name: str, *grades: int) -> None:
    client = server.browser(name)
    for card, grade in zip(client.get(f"{at}/cards").json()["cards"], grades, strict=True):
        client.post(f"{at}/answers", json={"id": card["id"], "grade": grade})
    reviews(server.folder, name)


def test_people_differ_and_somebody_else_settles(server, demo_lake):
    queue_of(demo_lake, "q", 1, "kim", "leo")
    at = "/c/demo/review/q"
    answer_all(server, at, "kim", 0, 5, 2)
    answer_all(server, at, "leo", 0, 1, 2)
    dora = server.browser("dora")
    assert "Resolve 1 disagreement</a>" in dora.get("/c/demo/review/").text
    for name in ("kim", "leo"):  # who differs does not settle
        assert "Resolve" not in server.browser(name).get("/c/demo/review/").text
    deck = dora.get(f"{at}/conflicts/cards").json()
    (card,) = deck["cards"]
    assert not deck["blind"]
    assert card["others"] == [{"assessor": "kim", "grade": 5}, {"assessor": "leo", "grade": 1}]
    own = (card["grade"] + 1) % 6
    answer = {"id": card["id"], "grade": own}
    assert dora.post(f"{at}/conflicts/answers", json=answer).status_code == 200
    (row,) = reviews(demo_lake, "dora")
    assert row[3:] == ("disagree", own, None, None, True)
    (again,) = dora.get(f"{at}/conflicts/cards").json()["cards"]
    assert again["own"]["grade"] == own
    ((lowest, highest, settled_by),) = live(demo_lake).rows(
        "select lowest, highest, settled_by from lake.marts.review_conflicts"
    )
    assert (lowest, highest, settled_by) == (1, 5, "dora")


def test_who_has_still_to_answer_a_card_blind_cannot_see_it_as_a_conflict(server, demo_lake):
    queue_of(demo_lake, "one", 2, "max", "ned")
    queue_of(demo_lake, "other", 2, "pia", "max")
    at = "/c/demo/review/one"
    answer_all(server, at, "max", 0, 0, 0)
    answer_all(server, at, "ned", 5, 5, 5)

    found = {
        name: len(server.browser(name).get(f"{at}/conflicts/cards").json()["cards"])
        for name in ("cy", "pia")
    }
    assert found == {"cy": 3, "pia": 0}
