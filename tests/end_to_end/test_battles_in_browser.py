"""Three people and a judge battle 60 pairs, each person in a browser; the server is killed once."""

import hashlib
import json
import random
from collections import Counter

import pytest
from playwright.sync_api import expect
from sklearn.metrics import cohen_kappa_score

from tests.command_line import gradelake
from tests.end_to_end.test_review_in_browser import entered
from tests.reading import live
from tests.serve.server import Server, reviews

pytestmark = pytest.mark.slow
SYSTEMS, QUERIES, PAIRS = 6, 5, 60
PEOPLE = ("ann", "bob", "cy")
TOML = """
[collections.arena]
queries = "topics.tsv"
responses = ["answers.jsonl"]

[graders.fights]
engine = "lexical"
prompt = "battle"

[graders.meets]
engine = "lexical"
prompt = "answer_criteria"
"""
CRITERION = {"text": "Says why <b>otters</b>", "type": "explicit", "tier": "mandatory"}


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """Answers that battle each other once, and a judge's verdicts."""
    folder, dice = tmp_path_factory.mktemp("arena"), random.Random(9)
    words = ["heron", "otter", "beetle", "salmon", "badger", "swift", "river", "marsh"]
    topics = {f"q{n}": " ".join(dice.sample(words, 3)) for n in range(QUERIES)}
    (folder / "topics.tsv").write_text("".join(f"{q}\t{text}\n" for q, text in topics.items()))
    rows = [
        {"system": f"s{n}", "query_id": q, "text": f"{' '.join(dice.choices(words, k=9))} by {n}."}
        for q in topics
        for n in range(SYSTEMS)
    ]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "gradelake.toml").write_text(TOML)
    (folder / "seeds").mkdir()
    seed = "opponents,orders,seed\n4,1,1\n"
    (folder / "seeds" / "evaluation_battles.csv").write_text(seed)
    gradelake(folder, "ingest", "arena")
    gradelake(folder, "grade", "arena", "--grader", "fights")
    people = (part for name in PEOPLE for part in ("--assessor", name))
    asked = ("queue", "add", "arena", "battles", "--grader", "fights", "--overlap", "2")
    gradelake(folder, *asked, "--size", PAIRS, *people)
    (folder / "criteria.jsonl").write_text(json.dumps({"qid": "q0", "criteria": [CRITERION]}))
    gradelake(folder, "import", "bank", "arena", "criteria.jsonl", "--name", "criteria")
    gradelake(folder, "grade", "arena", "--grader", "meets", "--limit", "1")
    asked = ("queue", "add", "arena", "criteria", "--grader", "meets", "--overlap", "1")
    gradelake(folder, *asked, "--size", "1", "--assessor", "dora")
    return folder


def is_turned(who: str, card: tuple[str, str, str]) -> bool:
    """Whether somebody sees the second answer of the judge's as the first."""
    return hashlib.md5("/".join((who, *card)).encode()).hexdigest() < "8"


def test_three_people_and_a_judge_battle_and_a_killed_server_loses_nothing(browser, arena):
    server, said, shown = Server(arena), {}, {}
    port = server.port
    for n, name in enumerate(PEOPLE):
        page = entered(browser, server, name)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{server.url}/c/arena/review/battles/")
        facts = page.locator("dl")
        expect(facts.locator("dt")).to_have_text(["Query", "First answer", "Second answer"])
        first, second = (facts.locator("dd").nth(place).bounding_box() for place in (1, 2))
        assert first["y"] == second["y"]
        assert first["x"] + first["width"] <= second["x"], "side by side"
        said[name], shown[name] = [], []
        for place in range(PAIRS * 2 // 3):
            if (place, name) == (7, "bob"):
                server.kill()
                page.keyboard.press("3")
                expect(page.locator(".status")).to_contain_text("Not saved", timeout=10_000)
                server = Server(arena, port=port)
            said[name].append((place * (n + 2) + n) % 4)
            first = facts.locator("dd").nth(1).inner_text()
            page.keyboard.press(str(said[name][-1]))
            page.get_by_role("button", name="Keep it").wait_for()
            shown[name].append((first, int(facts.locator("dd").nth(3).inner_text()[0])))
            page.keyboard.press("Enter")
        assert page.inner_text("h2") == "All cards are answered"
    # a criterion of an answer, in the words of its rubric
    page = entered(browser, server, "dora")
    page.goto(f"{server.url}/c/arena/review/criteria/")
    expect(page.locator("dt")).to_have_text(["Query", "Criterion", "Answer"])
    expect(page.locator("dd.item")).to_have_text(CRITERION["text"])
    page.keyboard.press("2")
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Keep it").wait_for(state="detached")
    assert [row[5] for row in reviews(arena, "dora")] == [2]
    found = {name: reviews(arena, name) for name in PEOPLE}
    editor = entered(browser, server, "ed", "editor")
    editor.goto(f"{server.url}/c/arena/review/")
    progress = editor.inner_text("main")
    server.end()
    listed = gradelake(arena, "queue", "list").stdout.splitlines()
    # what they said is of the answers, in whichever order each person saw them
    texts = dict(live(arena).rows("select passage_id, text from lake.raw.passages"))
    judged = live(arena).rows(
        "select query_id, passage_id, item_id, grade from lake.raw.grades where item_id in "
        "(select passage_id from lake.raw.answers)"
    )
    verdict = {tuple(row[:3]): row[3] for row in judged}
    turned = {(name, row[:3]): is_turned(name, row[:3]) for name in found for row in found[name]}
    assert 0.3 < sum(turned.values()) / len(turned) < 0.7
    for name, rows in found.items():
        for row, pressed, on_card in zip(rows, said[name], shown[name], strict=True):
            card, is_other = row[:3], turned[name, row[:3]]
            facing = [3, 1, 2, 0] if is_other else [0, 1, 2, 3]
            assert row[5] == facing[pressed]
            assert on_card == (texts[card[2 if is_other else 1]], facing[verdict[card]])
    assert max(Counter(row[:3] for rows in found.values() for row in rows).values()) == 2
    assert len({row[:3] for rows in found.values() for row in rows}) == PAIRS

    outcome = {3: "first", 0: "second", 1: "tie", 2: "tie"}
    by = {name: {row[:3]: outcome[row[5]] for row in rows} for name, rows in found.items()}
    by |= {None: {tuple(row[:3]): outcome[row[3]] for row in judged}}
    told = live(arena).rows(
        "select assessor, other_assessor, n_battles, n_same, kappa "
        "from lake.marts.battle_agreement where reveal = 'before'"
    )
    assert len(told) == 6
    for one, other, n, n_same, kappa in told:
        both = sorted(set(by[one]) & set(by[other]))
        mine, theirs = ([by[who][card] for card in both] for who in (one, other))
        assert (n, n_same) == (len(both), sum(a == b for a, b in zip(mine, theirs, strict=True)))
        assert kappa == pytest.approx(cohen_kappa_score(mine, theirs))
        words = (
            f"{one} and {other or 'fights'} gave {n_same} of {n} cards of fights the same verdict"
        )
        assert f"{words}; kappa: {kappa:.3f}." in progress
        assert f"{words}; kappa: {kappa:.3f}" in listed
