"""Three people review one queue, each in their own browser, while the server is killed twice."""

import json
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sklearn.metrics import cohen_kappa_score

from tests.browser import look_twice
from tests.command_line import gradelake
from tests.reading import live
from tests.serve.server import Server, reviews

pytestmark = pytest.mark.slow
PEOPLE = ("ann", "bob", "cy")
SIZE, EACH = 24, 16  # cards, and those of each person: two answer each
AT = "/c/demo/review/cards"
QUEUE = ("queue", "add", "demo")
NARRATIVE, GUIDELINES = "Only <b>causes</b> count.", "# <i>Off topic</i> is 0"


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("reviewed") / "demo")
    topics = [line.split("\t") for line in (folder / "topics.tsv").read_text().splitlines()]
    rows = ({"query_id": query, "text": text, "narrative": NARRATIVE} for query, text in topics)
    (folder / "topics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "guide.md").write_text(GUIDELINES)
    toml = (folder / "gradelake.toml").read_text().replace('"topics.tsv"', '"topics.jsonl"', 1)
    named = '[collections.demo]\nguidelines = "guide.md"'
    (folder / "gradelake.toml").write_text(toml.replace("[collections.demo]", named))
    gradelake(folder, "ingest", "demo")
    people = (part for name in PEOPLE for part in ("--assessor", name))
    gradelake(folder, *QUEUE, "cards", "--grader", "lexical", "--size", SIZE, *people)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server(folder) as server:
        yield server


def entered(browser, server: Server, name: str, role: str = "assessor") -> Page:
    """A browser of one's own, in which a link was opened."""
    page = browser.new_context().new_page()
    page.goto(f"{server.url}/enter#{server.people.add(name, role)}")
    expect(page).to_have_url(f"{server.url}/")  # the secret is not in it any more
    return page


def to_cards(page: Page, url: str) -> None:
    page.goto(f"{url}{AT}/")
    page.wait_for_selector("h2")


def n_left(page: Page) -> int:
    answered, _, total = page.inner_text(".count").removesuffix(" answered").partition(" of ")
    return int(total) - int(answered)


def answer(page: Page, grade: int) -> None:
    """The person's grade, and to stay with it, once the page says that it is saved."""
    answered, of = page.inner_text(".count").split(" ", 1)
    page.keyboard.press(str(grade))
    saved = f"{int(answered) + 1} {of}"
    expect(page.locator(".count")).to_have_text(saved, timeout=10_000)
    page.get_by_role("button", name="Keep it").wait_for()
    page.keyboard.press("Enter")


def test_every_acknowledged_answer_is_in_the_lake_once(browser, folder):
    server = Server(folder)
    port = server.port
    pages = {name: entered(browser, server, name) for name in PEOPLE}
    said: dict[str, list[int]] = {name: [] for name in PEOPLE}
    for n, (name, page) in enumerate(pages.items()):
        to_cards(page, server.url)
        assert n_left(page) == EACH
        for place in range(EACH):
            if place in (5, 11) and name == "ann":  # killed, and started again, in front of people
                server.kill()
                page.keyboard.press("5")
                expect(page.locator(".status")).to_contain_text("Not saved", timeout=10_000)
                server = Server(folder, port=port)
            if place == 8 and name == "bob":  # closes the tab in the middle
                page.close()
                page = pages[name] = page.context.new_page()
                to_cards(page, server.url)
                assert n_left(page) == EACH - 8
            grade = (place * (n + 2) + n) % 6
            answer(page, grade)
            said[name].append(grade)
        assert page.inner_text("h2") == "All cards are answered"

    found = {name: reviews(folder, name) for name in PEOPLE}
    assert {name: len(rows) for name, rows in found.items()} == dict.fromkeys(PEOPLE, EACH)
    for name, rows in found.items():
        assert [row[5] for row in rows] == said[name]
        assert max(Counter(row[:3] for row in rows).values()) == 1
    kappas = {
        (one, other): kappa
        for one, other, kappa in live(folder).rows(
            "select assessor, other_assessor, kappa from lake.marts.assessor_agreement "
            "where tau = 4 and reveal = 'before'"
        )
    }
    by_card = {name: {row[:3]: row[5] >= 4 for row in rows} for name, rows in found.items()}
    for one, other in combinations(PEOPLE, 2):
        both = sorted(set(by_card[one]) & set(by_card[other]))
        assert len(both) == EACH // 2
        answers = [[by_card[name][card] for card in both] for name in (one, other)]
        assert kappas[one, other] == pytest.approx(cohen_kappa_score(*answers))
    server.end()


def test_a_pool_is_judged_by_narrative_and_guidelines_beside_no_label(browser, folder, server):
    pool = ("pool", "--from", "pool", "--depth", "1", "--queries", "hash-collisions")
    gradelake(folder, *QUEUE, *pool, "--assessor", "otto", "--overlap", "1")
    page = entered(browser, server, "otto")
    page.goto(f"{server.url}/c/demo/review/pool/")
    facts = page.locator("dl")
    expect(facts.locator("dt")).to_have_text(["Query", "Narrative", "Passage", "Scale"])
    expect(facts.locator("dd").nth(1)).to_have_text(NARRATIVE)
    page.get_by_text("Guidelines").click()
    expect(page.locator(".guidelines")).to_have_text(GUIDELINES)
    query, passage = page.locator(".ids").inner_text().split(", passage ")

    page.keyboard.press("3")
    expect(page.locator(".status")).to_have_text("Saved: 3.")
    page.keyboard.press("u")
    expect(page.locator(".ids")).to_have_text(f"{query}, passage {passage}")
    expect(facts.locator("dt")).to_have_text(["Query", "Narrative", "Passage", "Scale"])
    page.keyboard.press("1")
    expect(page.locator(".status")).to_have_text("Saved: 1.")

    reviews(folder, "otto")  # until it is in the lake
    judged = (
        "select query_id, passage_id, relevance from lake.raw.judgments where assessor = 'otto'"
    )
    assert live(folder).rows(judged) == [(query, passage, 1)]


def test_a_passage_is_judged_before_its_label_is_shown_and_what_is_said_last_counts(
    browser, folder, server
):
    judge, names = "judge:lexical_direct", ["not relevant", "related", "answers it", "perfect"]
    asked = ("--label-set", judge, "--label-names", ",".join(names), "--size", "6")
    who = ("--overlap", "1", "--assessor", "nina")
    gradelake(folder, *QUEUE, "pairs", *asked, *who)
    page = entered(browser, server, "nina")
    page.goto(f"{server.url}/c/demo/review/pairs/")
    facts, ids = page.locator("dl"), page.locator(".ids")
    buttons = page.get_by_role("group", name="Your judgment").get_by_role("button")
    expect(buttons).to_have_text([f"{n} {name}" for n, name in enumerate(names)])
    expect(facts.locator("dt")).to_have_text(["Query", "Narrative", "Passage", "Scale"])  # no label
    query, passage = ids.inner_text().split(", passage ")
    label = live(folder).value(
        "select label from lake.marts.relevance_labels "
        "where label_set = ? and query_id = ? and passage_id = ?",
        *(judge, query, passage),
    )

    buttons.nth(3).click()

    expect(facts.locator("dd").last).to_have_text(f"{label} (by {judge})")
    page.keyboard.press("1")  # another, now that the label is known
    expect(page.locator("h2")).to_have_text("Card 2 of 6")
    expect(facts.locator("dt")).to_have_text(["Query", "Narrative", "Passage", "Scale"])
    page.keyboard.press("u")
    expect(ids).to_have_text(f"{query}, passage {passage}")
    expect(page.locator(".ask")).to_contain_text("Your judgment is 1.")
    page.keyboard.press("2")
    expect(page.locator(".status")).to_have_text("Saved: 2.")
    page.reload()
    expect(page.locator(".count")).to_have_text("1 of 6 answered")

    ((*card, _, _, _, blind, _, _),) = reviews(folder, "nina")
    assert (card, blind) == ([query, passage], 3)
    judged = live(folder).rows(
        "select query_id, passage_id, relevance from lake.raw.judgments where assessor = 'nina'"
    )
    assert judged == [(query, passage, 2)]


def test_the_right_link_signs_in_from_a_tab_that_told_of_a_wrong_one(browser, server):
    page = browser.new_context().new_page()
    page.goto(f"{server.url}/c/demo/ask/")
    page.goto(f"{server.url}/enter#wrong")
    expect(page.get_by_role("alert")).to_contain_text("This link is invalid or has expired")
    page.goto(f"{server.url}/enter#{server.people.add('ruth', 'reader')}")
    expect(page).to_have_url(f"{server.url}/c/demo/ask/")


def test_an_operator_adds_two_people_and_a_queue_and_sees_it_done(browser, graded_demo, tmp_path):
    folder = shutil.copytree(graded_demo, tmp_path / "demo")  # where nobody has reviewed anything
    with Server(folder) as server:
        _add_and_see_done(browser, folder, server)


def _add_and_see_done(browser, folder: Path, server: Server) -> None:
    olga = browser.new_context().new_page()
    olga.goto(f"{server.url}/enter#{server.people.add('olga', 'operator')}")
    olga.get_by_role("link", name="People").click()
    links = {}
    for name in ("zoe", "yan"):
        olga.get_by_label("Name", exact=True).fill(name)
        olga.get_by_role("button", name="Add", exact=True).click()
        olga.context.grant_permissions(["clipboard-read", "clipboard-write"])
        olga.get_by_role("button", name="Copy").click()
        expect(olga.get_by_role("button", name="Copied")).to_be_visible()
        links[name] = olga.evaluate("navigator.clipboard.readText()")
    look_twice(olga)
    olga.goto(f"{server.url}/people")
    assert "/enter#" not in olga.content()  # shown once
    olga.goto(f"{server.url}/c/demo/review/")
    for queue, size, who in (("few", 8, ("zoe", "yan")), ("mine", 1, ("olga",))):
        olga.get_by_label("Name", exact=True).fill(queue)
        olga.get_by_label("Task").select_option("lexical")
        olga.get_by_label("Cards", exact=True).fill(str(size))
        olga.get_by_label("Reviewers per card").fill(str(len(who)))
        for name in who:
            olga.get_by_label(name).check()
        olga.get_by_role("button", name="Add", exact=True).click()
        expect(olga.get_by_role("heading", name=queue)).to_be_visible()

    grades = {"zoe": [n % 6 for n in range(8)], "yan": [n % 6 if n % 4 else 3 for n in range(8)]}
    zoe = browser.new_context().new_page()
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    yan = browser.new_context(**phone).new_page()
    for name, page in (("zoe", zoe), ("yan", yan)):
        page.goto(links[name])
        page.goto(f"{server.url}/c/demo/review/few/")
        page.wait_for_selector("h2")
    for grade in grades["zoe"]:
        answer(zoe, grade)
    expect(zoe.get_by_role("heading", name="All cards are answered")).to_be_visible()
    buttons = yan.locator(".panel button")
    for n, grade in enumerate(grades["yan"], start=1):
        boxes = [box for each in buttons.all() if (box := each.bounding_box())]
        assert all(box["height"] >= 48 and box["y"] + box["height"] <= 844 for box in boxes)
        yan.get_by_role("button", name=f"{grade} ").tap()
        yan.get_by_role("button", name="Keep it").tap()
        expect(yan.locator(".count")).to_have_text(f"{n} of 8 answered")
    expect(yan.locator("h2")).to_have_text("All cards are answered")

    found = {name: {row[:3]: row[5] for row in reviews(folder, name)} for name in grades}
    assert {name: list(said.values()) for name, said in found.items()} == grades
    olga.goto(f"{server.url}/c/demo/review/")
    expect(olga.get_by_text("Done: everybody has answered 8 of 8 cards")).to_be_visible()
    n_differ = sum(found["zoe"][card] != grade for card, grade in found["yan"].items())
    answers = [[found[name][card] >= 4 for card in found["zoe"]] for name in ("yan", "zoe")]
    same = f"yan and zoe gave {8 - n_differ} of 8 cards of lexical the same grade"
    kappa = f"kappa from grade 4 on: {cohen_kappa_score(*answers):.3f}"
    expect(olga.get_by_text(f"{same}; {kappa}")).to_be_visible()
    olga.get_by_role("link", name="Review 1 card").click()
    answer(olga, 3)
    own = {row[:3] for row in reviews(folder, "olga")}  # what she reviews herself is not hers
    left = sum(found["zoe"][card] != found["yan"][card] for card in found["zoe"].keys() - own)
    olga.get_by_role("link", name=f"Next: {left} to resolve in few").click()
    expect(olga.locator("h2")).to_have_text(f"Card 1 of {left}")
    olga.keyboard.press("2")
    expect(olga.locator(".count")).to_have_text(f"1 of {left} answered")
    look_twice(olga)


def test_axe_finds_nothing_where_one_signs_in_and_on_a_card(browser, folder, server):
    who = ("--size", 2, "--overlap", 1, "--assessor", "eve")
    gradelake(folder, *QUEUE, "looked", "--grader", "lexical", *who)
    page = browser.new_context().new_page()
    heard: list[str] = []
    page.on("console", lambda line: heard.append(line.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{server.url}/enter")
    look_twice(page)
    page.goto(f"{server.url}/enter#{server.people.add('eve', 'editor')}")
    expect(page).to_have_url(f"{server.url}/")
    page.goto(f"{server.url}/c/demo/review/looked/")
    page.wait_for_load_state("networkidle")
    answer(page, 3)
    look_twice(page)
    assert heard == []
