"""Two servers of one lake: what either acknowledged is in it once, though one is killed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import gradelake
from tests.postgres_server import new_database, postgres_server
from tests.serve.server import Server, reviews

pytestmark = pytest.mark.slow
AT = "/c/demo/review/all"


@pytest.fixture
def folder(graded_demo, tmp_path) -> Iterator[Path]:
    """The graded demo on PostgreSQL, with a queue for two people."""
    with postgres_server() as database:
        demo, folder = tmp_path / "demo", tmp_path / "team"
        shutil.copytree(graded_demo, demo)
        shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("lake"))
        config = folder / "gradelake.toml"
        catalog = f'catalog = "{new_database(database, "team")}"'
        config.write_text(config.read_text().replace("[lake]\n", f"[lake]\n{catalog}\n"))
        gradelake(demo, "lake", "copy", str(config))
        people = ("--assessor", "ann", "--assessor", "bob")
        options = ("--grader", "lexical", "--size", "30", "--tau", "3", *people)
        gradelake(folder, "queue", "add", "demo", "all", *options)
        yield folder


def test_both_take_answers_and_the_living_brings_in_those_of_the_dead(folder):
    said: dict[str, dict[tuple, int]] = {"ann": {}, "bob": {}}
    people = {}

    def enter(name: str, server: Server) -> int:
        """Deal somebody their cards on a server; returns how many it shows as answered."""
        client = server.browser(name)
        cards = client.get(f"{AT}/cards").json()["cards"]
        people[name] = client, [card for card in cards if not card["own"]]
        return len(cards) - len(people[name][1])

    def answer(name: str, n: int) -> None:
        client, cards = people[name]
        for _ in range(n):
            card, grade = cards.pop(0), len(said[name]) % 6
            sent = client.post(f"{AT}/answers", json={"id": card["id"], "grade": grade})
            assert sent.status_code == 200, sent.text
            said[name][card["query_id"], card["passage_id"], card["item_id"]] = grade

    def in_lake_once(name: str) -> None:
        found = reviews(folder, name)
        assert [row[:3] for row in found] == list(said[name])
        assert {row[:3]: row[5] for row in found} == said[name]

    first, second = Server(folder), Server(folder)
    try:
        enter("ann", first)
        enter("bob", second)
        for _ in range(5):
            answer("ann", 2)
            answer("bob", 2)
        first.kill()
        answer("bob", 3)
        in_lake_once("ann")  # no server was started since
        in_lake_once("bob")

        assert enter("ann", second) == 10  # and goes on there
        answer("ann", 5)
        answer("bob", 5)
        second.kill()
        first = Server(folder)
        in_lake_once("ann")
        in_lake_once("bob")
        assert enter("ann", first) == 15
        assert enter("bob", first) == 18
    finally:
        first.end()
        second.end()
