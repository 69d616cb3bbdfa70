"""A person reviews in a form: by keys, in Chromium, without a network, and sends the file back."""

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.browser import Look, look_twice
from tests.command_line import gradelake
from tests.moved_demo import HOSTILE
from tests.places import REPOSITORY

pytestmark = pytest.mark.slow

N = 4  # cards
NASTY = HOSTILE + " \u2028 ]]> <!-- {{ 7 * 7 }} \\u003cb> <b>bold</b>"
REFUSED = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('', 'SecurityError'); } })"""
PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Any</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src 'unsafe-inline' file:; style-src file:">
<link rel="stylesheet" href="{form}/card.css"><main id="review"></main>
<script src="{form}/card.js"></script><script>{store}</script></html>"""
# a store that shows the grader's grade once there is an answer, as one with a server may
STORE = """
window.asked = [];
const others = [{ assessor: "bob", grade: 2 }];
window.answered = new Map();
reviewCards(document.getElementById("review"), {
  async load() {
    return { collection: "c", grader: "judge", assessor: "ann", title: "Any", blind: BLIND,
      scale: SCALE, cards: ["a", "b", "c"].map((id) => ({ id, query_id: id, passage_id: id,
        item_id: id, query: "Query", item: "Item", kind: "nugget", passage: `Passage ${id}`,
        own: null, ...(BLIND ? {} : { grade: 3, answer: "because", others }) })),
      ...(BLIND ? {} : { names: ["", "", "a little"] }) };
  },
  async next() { return [{ words: "Next: 15 to resolve", href: "#" }]; },
  async answer(id, { grade, note }) {
    if (window.fails) throw new Error("no server");
    window.asked.push([id, grade, note]);
    const stays = BLIND && !window.answered.has(id);
    window.answered.set(id, { grade, note });
    const seen = BLIND ? { grade: 3, answer: "because", others } : {};
    return { own: { grade, note }, stays, ...seen };
  },
  async undo(id) {
    window.asked.push([id]);
    return { own: BLIND ? window.answered.get(id) : null };
  },
}).then(() => { document.documentElement.dataset.ready = "yes"; });
"""


@pytest.fixture(scope="module")
def folder(graded_demo, tmp_path_factory) -> Path:
    """The graded demo, where every passage would like to be HTML."""
    folder = shutil.copytree(graded_demo, tmp_path_factory.mktemp("reviewed") / "demo")
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        transaction.run("update {lake}.raw.passages set text = text || ?", NASTY)
    return folder


@pytest.fixture(scope="module")
def form(folder, tmp_path_factory) -> Path:
    who = ("--grader", "lexical", "--assessor", "ann")
    file = tmp_path_factory.mktemp("form") / "form.html"
    gradelake(folder, "export", "review", "demo", *who, "--sample", N, "-o", file)
    return file


def opened(context: BrowserContext, file: Path) -> Page:
    """The file in a tab of a browser that may have had it open before."""
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    return page


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def test_answers_by_keys_outlive_the_tab_and_come_into_the_lake(browser, folder, form):
    context = browser.new_context()
    page = opened(context, form)
    assert page.inner_text("h2") == f"Card 1 of {N}"
    page.wait_for_timeout(200)
    press(page, "3 n")
    page.keyboard.type("unsure n 5")  # digits and letters of a note are no keys
    press(page, "Enter s 0 u 4")  # the second is skipped, the third answered, and again
    assert page.inner_text(".count") == f"2 of {N} answered"
    assert page.inner_text("h2") == f"Card 4 of {N}"

    page.close()
    page = opened(context, form)
    assert page.inner_text(".count") == f"2 of {N} answered"
    assert page.inner_text("h2") == f"Card 2 of {N}"
    assert page.input_value("textarea") == "unsure n 5", "the note in work is there, too"
    press(page, "1 2")
    assert page.inner_text("h2") == "All cards are answered"
    with page.expect_download() as download:
        page.click("#save")
    file = download.value.path()
    assert download.value.suggested_filename.startswith("demo-lexical-")
    assert f"{N} of {N} answers are in demo-lexical-" in page.inner_text("#saved")
    done = gradelake(folder, "import", "reviews", "demo", file, "--json")
    assert json.loads(done.stdout)["written"] == N
    with Lake.live(Project.find(folder)) as lake:
        said = lake.rows(
            "select blind_grade, note, seconds >= 0.2 from lake.raw.grade_reviews "
            "where assessor = 'ann' order by reviewed_at"
        )
    assert said[0] == (3, None, True)
    assert [row[:2] for row in said[1:]] == [(4, None), (1, "unsure n 5"), (2, None)]


def test_texts_are_shown_as_they_are_and_run_nothing(browser, form):
    look = Look(browser, form, 1280)
    passages = json.loads(look.page.text_content("#passages")).values()
    shown = set()
    for _ in range(N):
        shown.add(look.page.locator("dd.text").text_content())
        press(look.page, "s")
    assert shown == set(passages)
    assert any(text.endswith(NASTY) for text in shown)
    assert look.page.locator("#review img, #review script, #review b").count() == 0
    assert look.page.evaluate("window.broken") is None
    assert look.said == []
    assert look.asked == []


def test_the_page_refuses_other_scripts_and_the_network(browser, form):
    look = Look(browser, form, 1280)
    assert look.runs("eval('1 + 1')") is None
    script = "Object.assign(document.createElement('script'), { text: 'window.broken = 1' })"
    look.page.evaluate(f"document.body.append({script})")
    assert look.page.evaluate("window.broken") is None
    assert look.runs("fetch('https://example.org').catch(() => 'no')") == "no"
    assert any("Content Security Policy" in line for line in look.said)


def test_axe_finds_nothing_and_nothing_scrolls_sideways(browser, form):
    look = Look(browser, form, 1280)
    for keys in ("n", "Escape 3 u", "Enter 1 2 5"):  # a note, an answer again, the end
        press(look.page, keys)
        look_twice(look.page)
    assert look.page.inner_text("h2") == "All cards are answered"


def test_a_browser_that_keeps_nothing_says_so_and_still_saves(browser, form):
    context = browser.new_context()
    context.add_init_script(REFUSED)
    page = opened(context, form)
    assert "keeps nothing for this page" in page.inner_text("#warning")
    press(page, "3 4")
    with page.expect_download() as download:
        page.click("#save")
    answers = json.loads(download.value.path().read_text())["answers"]
    assert [answer["grade"] for answer in answers] == [3, 4]


def card_page(browser, tmp_path: Path, blind: bool, scale: list[int]) -> Look:
    """card.js as a page of its own loads it, with a store that reveals."""
    store = STORE.replace("BLIND", json.dumps(blind)).replace("SCALE", json.dumps(scale))
    folder = (REPOSITORY / "grading" / "review" / "form").as_uri()
    file = tmp_path / "page.html"
    file.write_text(PAGE.format(form=folder, store=store), encoding="utf-8")
    return Look(browser, file, 1280)


def test_after_a_blind_answer_the_graders_is_shown_and_ones_own_may_change(browser, tmp_path):
    look = card_page(browser, tmp_path, True, [*range(6)])
    page = look.page
    assert "Grade" not in page.inner_text("dl")
    press(page, "5")
    page.wait_for_selector("text=Your grade is 5")
    assert "3  (of 0 to 5, by judge)" in page.locator("dl").text_content()
    assert "bob: 2" in page.inner_text("dl")
    press(page, "Enter")
    assert page.inner_text("h2") == "Card 2 of 3"
    press(page, "1")
    page.wait_for_selector("text=Your grade is 1")
    press(page, "2")  # another, once the grade has been seen
    page.wait_for_selector("text=Card 3 of 3")
    press(page, "u")  # what was said blind is not taken back
    page.wait_for_selector("text=Your grade is 2")
    press(page, "Enter")
    page.evaluate("window.fails = true")
    press(page, "4")
    page.wait_for_selector("text=Not saved: no server")
    assert page.inner_text("h2") == "Card 3 of 3"
    assert page.inner_text(".count") == "2 of 3 answered"
    asked = [["a", 5, None], ["b", 1, None], ["b", 2, None], ["b"]]
    assert page.evaluate("window.asked") == asked
    assert look.said == []


def test_who_resolves_a_conflict_answers_by_the_same_keys_below_the_names(browser, tmp_path):
    look = card_page(browser, tmp_path, False, [*range(6)])
    page = look.page
    assert "because" in page.inner_text("dl")
    assert page.inner_text(".ask") == "Which grade is right, 0 to 5?"
    buttons = page.get_by_role("group", name="Your grade").get_by_role("button")
    shown = [" ".join(text.split()) for text in buttons.all_inner_texts()]
    assert shown == ["0", "1", "bob 2 a little", "judge 3", "4", "5"]
    press(page, "?")
    keys = page.locator(".help li").all_inner_texts()
    assert (keys[2], keys[6]) == ("2 2 a little", "x Only that 3 is wrong")
    press(page, "? a d 3 2")  # the computer's grade has no key of its own
    page.wait_for_selector("text=Card 3 of 3")
    press(page, "u")
    page.wait_for_selector("text=Card 2 of 3")
    press(page, "x")
    page.wait_for_selector("text=Card 3 of 3")
    assert page.evaluate("window.asked") == [
        ["a", 3, None],
        ["b", 2, None],
        ["b"],
        ["b", None, None],
    ]
    press(page, "0")
    page.get_by_role("link", name="Next: 15 to resolve").wait_for()


def test_scales_above_9_have_buttons_and_long_ones_a_field(browser, tmp_path):
    look = card_page(browser, tmp_path, True, [*range(11)])
    press(look.page, "1")
    assert look.page.inner_text(".count") == "0 of 3 answered"
    look.page.click("button:text-is('10')")
    look.page.wait_for_selector("text=Your grade is 10")
    look = card_page(browser, tmp_path, True, [*range(101)])
    look.page.fill("input", "101")
    press(look.page, "Enter")
    assert "whole number from 0 to 100" in look.page.inner_text(".status")
    look.page.fill("input", "77")
    look.page.focus("input")
    press(look.page, "Enter")
    look.page.wait_for_selector("text=Your grade is 77")
