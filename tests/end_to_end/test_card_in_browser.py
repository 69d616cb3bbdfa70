"""A card in Chromium, by keys and buttons, over a store that only says what it was asked."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import Look
from tests.places import REPOSITORY

pytestmark = pytest.mark.slow

PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Any</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src 'unsafe-inline' file:; style-src file:">
<link rel="stylesheet" href="{static}/card.css"><main id="review"></main>
<script src="{static}/card.js"></script><script>{store}</script></html>"""
# a store that shows the grader's grade once there is an answer, as one with a server may
STORE = """
window.asked = [];
const others = [{ assessor: "bob", grade: 2 }];
window.answered = new Map();
reviewCards(document.getElementById("review"), {
  async load() {
    return { grader: "judge", title: "Any", what: "grade", blind: BLIND, scale: SCALE,
      words: { item: "Key fact", text: "Passage" }, is_of_two: false, shows_topic: false,
      names: BLIND ? [] : ["", "", "a little"],
      cards: ["a", "b", "c"].map((id) => ({ id, query_id: id, passage_id: id, item_id: id,
        query: "Query", item: "Item", passage: `Passage ${id}`,
        own: null, ...(BLIND ? {} : { grade: 3, answer: "because", others }) })) };
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


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def card_page(browser, tmp_path: Path, blind: bool, scale: list[int]) -> Look:
    """card.js as a page of its own loads it, with a store that reveals."""
    store = STORE.replace("BLIND", json.dumps(blind)).replace("SCALE", json.dumps(scale))
    folder = (REPOSITORY / "gradelake" / "serve" / "static").as_uri()
    file = tmp_path / "page.html"
    file.write_text(PAGE.format(static=folder, store=store), encoding="utf-8")
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
